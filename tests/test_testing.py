"""The shipped checks pass the environments, and find what is wrong with variants."""

import copy

import numpy as np
import pytest

from bestia_env import BestiaRules, beast_v0, bestia_v0, testing
from tests.sessions import TABLES

MODULES = {"beast": beast_v0, "bestia": bestia_v0}


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_tables_pass(game, num_players):
    testing.check_table(lambda: MODULES[game].env(num_players=num_players, num_hands=2), 1)


@pytest.mark.parametrize("reward", ["equity", "coins"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **k: beast_v0.raw_env(revoke="penalty", losing_counterer="carry", **k),
        lambda **k: beast_v0.env(num_players=6, carry_stakes="full", match_limit=20, **k),
        lambda **k: bestia_v0.raw_env(rules=BestiaRules.circle(), num_players=3, **k),
        lambda **k: bestia_v0.env(revoke="penalty", maxims="penalty", all_pass="dealer_takes", **k),
    ],
)
def test_tables_pass_with_options(make, reward):
    testing.check_table(lambda: make(reward=reward, num_hands=3), 2, seed=5)


class AceOpens(bestia_v0.raw_env):
    """A fair variant: in the auction, who holds no ace may not knock."""

    def observe(self, agent):
        seen = super().observe(agent)
        held = seen["observation"][self.observation_pieces["hand"]].reshape(4, 10)
        if seen["action_mask"][41] and not held[:, 9].any():
            seen["action_mask"][41] = 0
        return seen


def test_a_fair_variant_passes():
    testing.check_table(AceOpens, 3)


# Variants with one thing wrong each; `PARTS` says which check finds it, and in what words.


class MaskOfBools(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        return {**seen, "action_mask": seen["action_mask"].astype(bool)}


class MaskTooLong(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        return {**seen, "action_mask": np.append(seen["action_mask"], np.int8(0))}


class MaskForAll(bestia_v0.raw_env):
    def observe(self, agent):
        return {**super().observe(agent), "action_mask": self.observe_turn()}

    def observe_turn(self):
        return super().observe(self.agent_selection)["action_mask"]


class MaskEmptyAtTheLead(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        if self.states["phase"][0] == 2 and self.states["led"][0] < 0:
            seen["action_mask"][:] = 0
        return seen


class SharedArray(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        self.buffer = getattr(self, "buffer", seen["observation"])
        self.buffer[:] = seen["observation"]
        return {**seen, "observation": self.buffer}


class OutOfBounds(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        seen["observation"] *= 1.01
        return seen


class StateOfAnotherShape(bestia_v0.raw_env):
    def state(self):
        return super().state()[1:]


class RewardsTwice(bestia_v0.raw_env):
    def _reward(self, coins):
        super()._reward([2 * reward for reward in coins])


class RewardsOfCoins(bestia_v0.raw_env):
    def _reward(self, coins):
        super()._reward([float(gain) for gain in self.states["gains"][0, : self.num_players]])


class RewardsOfNumpy(bestia_v0.raw_env):
    def _reward(self, coins):
        super()._reward(list(np.float32(coins)))


class RewardsOnTheWay(bestia_v0.raw_env):
    def step(self, action):
        super().step(action)
        if not self.hand_over:
            self._reward([3.0, -1.0, -1.0, -1.0])


class RewardsUnheard(bestia_v0.raw_env):
    def _accumulate_rewards(self):
        pass


class RewardsHeardTwice(bestia_v0.raw_env):
    def _begin_step(self):
        unheard = dict(self._cumulative_rewards)
        super()._begin_step()
        self._cumulative_rewards = unheard


class CoinFromNowhere(bestia_v0.raw_env):
    def _settle(self):
        self.states["coins"][0, 2] += 1
        super()._settle()


class Truncated(bestia_v0.raw_env):
    def _end(self):
        super()._end()
        self.truncations = dict.fromkeys(self.agents, True)


class OneByOne(bestia_v0.raw_env):
    def _end(self):
        super()._end()
        self.terminations["player_3"] = False


class DroppedOut(bestia_v0.raw_env):
    def step(self, action):
        super().step(action)
        if action == 42:
            self.agents = [agent for agent in self.agents if agent != self._left(agent)]

    def _left(self, agent):
        return agent if self.states["refused"][0] >> np.uint64(self._seats[agent]) & 1 else None


class NeverEnds(bestia_v0.raw_env):
    def _settle(self):
        self.num_hands += 1
        super()._settle()


class HandOverUnset(bestia_v0.raw_env):
    def _settle(self):
        super()._settle()
        self.hand_over = False


class LateKey(bestia_v0.raw_env):
    def _end(self):
        super()._end()
        self.infos["player_0"]["winner"] = 1


class SeedForgotten(bestia_v0.raw_env):
    def reset(self, seed=None, options=None):
        super().reset(np.random.SeedSequence().entropy % 2**32, options)


class DealsOnFromBefore(bestia_v0.raw_env):
    def reset(self, seed=None, options=None):
        super().reset(seed if self._np_random is None else None, options)


class CopyOfTheConstructor(bestia_v0.raw_env):
    def __reduce__(self):
        return type(self), ()


class PickleOfTheDeal(bestia_v0.raw_env):
    def __getstate__(self):
        return {**super().__getstate__(), "_np_random": np.random.default_rng(0)}


class CloneOfTheSameState(bestia_v0.raw_env):
    def clone(self):
        return copy.copy(self)


class ClonesReward(bestia_v0.raw_env):
    def clone(self):
        twin = copy.deepcopy(self)
        twin.reward = "coins"
        return twin


class SeesTheStock(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        seen["observation"][0] = self.states["pack"][0, 39] / 40
        return seen


class SeesTheNextHand(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        seen["observation"][0] = self.states["key"][0] % np.uint64(2)
        return seen


class SeesThrownCards(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        thrown = int(np.bitwise_or.reduce(self.states["thrown"][0]))
        seen["observation"][self.observation_pieces["thrown"]] = [
            thrown >> i & 1 for i in range(40)
        ]
        return seen


class MaskOfTheNeighbour(bestia_v0.raw_env):
    def observe(self, agent):
        seen = super().observe(agent)
        if (
            seen["action_mask"][41]
            and self.states["hands"][0, self._turn[0] - 1] % np.uint64(7) < 3
        ):
            seen["action_mask"][41] = 0
        return seen


class InfosOfCards(bestia_v0.raw_env):
    def _write_infos(self):
        super()._write_infos()
        for info in self.infos.values():
            info["first"] = int(self.states["hands"][0, 0])


class TextOfAllCards(bestia_v0.raw_env):
    def render_view(self, agent):
        return super().render_view(None)


class PenaltiesKnown(bestia_v0.raw_env):
    def __init__(self, **keywords):
        super().__init__(**keywords, revoke="penalty")

    def observe(self, agent):
        seen = super().observe(agent)
        seen["observation"][0] = self.states["revoked"][0].any()
        return seen


PARTS = [
    (MaskOfBools, testing.check_play, "must be int8, not bool"),
    (MaskTooLong, testing.check_play, "is not in its space"),
    (MaskForAll, testing.check_play, "is not to act, but may"),
    (MaskEmptyAtTheLead, testing.check_play, "is to act, but its mask is empty"),
    (SharedArray, testing.check_play, "share the memory of 'observation'"),
    (OutOfBounds, testing.check_play, "is not in its space"),
    (StateOfAnotherShape, testing.check_play, r"state\(\) is not in state_space"),
    (RewardsTwice, testing.check_play, "in the session, but its rewards came to"),
    (RewardsOfCoins, testing.check_play, "must sum to zero"),
    (RewardsOfNumpy, testing.check_play, "is no float"),
    (RewardsOnTheWay, testing.check_play, "where hand_over says no hand is settled"),
    (RewardsUnheard, testing.check_play, r"in the session, but its last\(\) came to"),
    (RewardsHeardTwice, testing.check_play, r"in the session, but its last\(\) came to"),
    (CoinFromNowhere, testing.check_play, "coins of the seats and the pot together were 0"),
    (Truncated, testing.check_play, "agents are truncated"),
    (OneByOne, testing.check_play, "do not terminate together"),
    (DroppedOut, testing.check_play, "agents must stay to the end"),
    (NeverEnds, testing.check_play, "has not ended after"),
    (HandOverUnset, testing.check_play, "where hand_over says no hand is settled"),
    (LateKey, testing.check_play, "keys of infos changed"),
    (SeedForgotten, testing.check_seed, r"differ after reset\(seed=0\)"),
    (DealsOnFromBefore, testing.check_seed, "is not the same the second time"),
    (CopyOfTheConstructor, testing.check_copies, "copy.deepcopy loses the session"),
    (PickleOfTheDeal, testing.check_copies, "do not go on alike"),
    (CloneOfTheSameState, testing.check_copies, r"by clone\(\) changes the original"),
    (ClonesReward, testing.check_copies, r"after clone\(\)"),
    (SeesTheStock, testing.check_hidden, "'observation' of player_. changes"),
    (SeesTheNextHand, testing.check_hidden, "'observation' of player_. changes"),
    (SeesThrownCards, testing.check_hidden, "'observation' of player_. changes"),
    (MaskOfTheNeighbour, testing.check_hidden, "'action_mask' of player_. changes"),
    (InfosOfCards, testing.check_hidden, "the infos of player_. change"),
    (TextOfAllCards, testing.check_hidden, "the text for player_. changes"),
    (PenaltiesKnown, testing.check_hidden, "'observation' of player_. changes"),
]


@pytest.mark.parametrize(("variant", "check", "words"), PARTS, ids=[p[0].__name__ for p in PARTS])
def test_a_fault_is_found(variant, check, words):
    with pytest.raises(AssertionError, match=words):
        check(lambda: variant(num_hands=3), 8)


@pytest.mark.parametrize("variant", [OneByOne, SeedForgotten, ClonesReward, SeesTheStock])
def test_a_table_is_checked_in_every_way(variant):
    with pytest.raises(AssertionError):
        testing.check_table(lambda: variant(num_hands=3), 4)


@pytest.mark.parametrize("variant", [v for v, check, _ in PARTS if check is testing.check_hidden])
def test_only_the_right_check_finds_what_is_hidden(variant):
    for check in (testing.check_play, testing.check_seed, testing.check_copies):
        check(lambda: variant(num_hands=2), 2)
