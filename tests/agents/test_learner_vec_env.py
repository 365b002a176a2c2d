import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv

from agents import mixtures
from agents.baselines.dispatch import act as baseline_act
from agents.learner_vec_env import LearnerVecEnv
from bestia_env import engine
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.rules import beast
from bestia_env.rules.dispatch import legal
from bestia_env.view import look
from bestia_env.words import decode

GAMES = ("beast", "bestia")
COUNT = 24


def any_legal(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def rollout(env: VecEnv, steps: int, seed: int = 0) -> list[tuple]:
    """Observations before, masks, actions, rewards, dones and infos of every step."""
    rng = np.random.default_rng(seed)
    taken, observations = [], env.reset()
    for _ in range(steps):
        masks = get_action_masks(env)
        actions = any_legal(masks, rng)
        after, rewards, dones, infos = env.step(actions)
        taken.append((observations, masks, actions, rewards, dones, infos))
        observations = after
    return taken


def same(one: list[tuple], other: list[tuple]) -> bool:
    return all(
        np.array_equal(a, b) for x, y in zip(one, other) for a, b in zip(x[:5], y[:5])
    )  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_it_is_what_sb3_asks_for(game):
    env = LearnerVecEnv(game, 4, COUNT, seed=1)
    assert is_masking_supported(env)
    assert not env.has_attr("no_such_thing")
    assert env.get_attr("render_mode", [0, 2]) == [None, None]
    assert env.env_is_wrapped(type, indices=3) == [False]
    ended = 0
    for observations, masks, _, rewards, dones, infos in rollout(env, 40):
        assert observations.dtype == np.float32
        assert all(env.observation_space.contains(row) for row in observations)
        assert masks.dtype == bool
        assert masks.shape == (COUNT, env.action_space.n)
        assert (masks.sum(axis=1) > 1).all()
        assert rewards.dtype == np.float32
        assert not rewards[~dones].any()
        for i in range(COUNT):
            assert dones[i] == ("terminal_observation" in infos[i])
        for i in np.flatnonzero(dones):
            assert infos[i]["TimeLimit.truncated"] is False
            last = decode(infos[i]["terminal_observation"], game=game, num_players=4)
            assert last["phase"] == "OVER"
            assert env.observation_space.contains(infos[i]["terminal_observation"])
        ended += dones.sum()
    assert ended == env.hands > COUNT
    with pytest.raises(AttributeError, match="no method reset_deck"):
        env.env_method("reset_deck")
    with pytest.raises(AttributeError, match="share game"):
        env.set_attr("game", "whist")
    env.close()


def test_arrays_handed_out_are_never_written_again():
    env = LearnerVecEnv("bestia", 4, COUNT, seed=1)
    taken = rollout(env, 12)
    copies = [[np.array(part) for part in step[:5]] for step in taken]
    rollout(env, 12)
    assert same(taken, copies)


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_gives_the_same_rollout(game):
    env = LearnerVecEnv(game, 4, COUNT, seed=5)
    first = rollout(env, 30)
    assert same(first, rollout(LearnerVecEnv(game, 4, COUNT, seed=5), 30))
    assert not same(first, rollout(env, 30))  # without a seed it goes on
    env.seed(5)
    assert same(first, rollout(env, 30))
    env.seed(6)
    assert not same(first, rollout(env, 30))


def test_a_snapshot_goes_on_as_if_nothing_had_happened():
    env = LearnerVecEnv("beast", 4, COUNT, seed=2)
    rollout(env, 7)
    snapshot = env.snapshot()
    other = LearnerVecEnv("beast", 4, COUNT)
    other.restore(snapshot)
    rng, twin = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(20):
        one = env.step(any_legal(env.action_masks(), rng))
        two = other.step(any_legal(other.action_masks(), twin))
        assert all(np.array_equal(a, b) for a, b in zip(one[:3], two[:3]))
    assert env.hands == other.hands


# The score, by a slow replay of every hand from the outside.


class Replay:
    """Plays on a copy of one table, one action at a time, in plain Python."""

    def __init__(self, env: LearnerVecEnv, i: int) -> None:
        tables = env.tables
        self.env, self.seat = env, int(tables.seats[i])
        self.states = tables.states[i : i + 1].copy()
        self.opponents, self.rng = tables.opponents[i].copy(), tables.moves[i : i + 1].copy()
        self.pot, self.carried = int(self.states[0].pot), int(self.states[0].carried)

    def go_on(self, action: int) -> bool:
        """The learner's action and all that follow up to its next choice; is the hand over?"""
        over = engine.act(self.states, 0, action) == engine.HAND_SETTLED
        while not over and not self.learner_has_choice():
            over = engine.act(self.states, 0, self.next_action()) == engine.HAND_SETTLED
        return over

    def learner_has_choice(self) -> bool:
        s = self.states[0]
        return s.turn == self.seat and int(legal(s)).bit_count() > 1

    def next_action(self) -> int:
        """The opponent's action, or the learner's only one."""
        s, views = self.states[0], self.states.copy()
        if s.turn == self.seat:
            return int(legal(s)).bit_length() - 1
        look(self.states, 0, s.turn, views, 0)
        mixture, who = self.env._mixture, self.opponents[s.turn]
        kind, parameter = mixture.kinds[who], mixture.parameters[who]
        return baseline_act(kind, parameter, views[0], legal(s), self.rng)


@pytest.mark.parametrize("reward", ["equity", "coins"])
@pytest.mark.parametrize("pots", [{1: 1.0}, {1: 1.0, 3: 1.0, 8: 1.0}])
@pytest.mark.parametrize("game", GAMES)
def test_rewards_are_those_of_the_score_sheet(game, pots, reward):
    env = LearnerVecEnv(
        game, 4, COUNT, seed=9, pots=pots, reward=reward, sort_suits=False, same_opponents=0.3
    )
    env.reset()
    replays = [Replay(env, i) for i in range(COUNT)]
    sizes, checked, rng = set(), 0, np.random.default_rng(0)
    for _ in range(60):
        actions = any_legal(env.action_masks(), rng)
        _, rewards, dones, _ = env.step(actions)
        for i, replay in enumerate(replays):
            assert replay.go_on(actions[i]) == dones[i]
            if not dones[i]:
                assert replay.states[0].tobytes() == env.tables.states[i].tobytes()
                continue
            score = score_sheet(game, replay)
            if reward == "equity":
                score += (replay.states[0].pot - replay.carried) / 4
            assert rewards[i] == np.float32(score / replay.pot)
            sizes.add(replay.pot // env.rules.opening_pot(4))
            checked += 1
            replays[i] = Replay(env, i)
    assert checked > 100
    assert sizes == set(pots)


def score_sheet(game: str, replay: Replay) -> int:
    """The learner's coins in a hand just settled, by the rulebook's tables."""
    s, seat, pot = replay.states[0], replay.seat, replay.pot
    if game == "bestia":
        coins = -3 * (seat == s.dealer)
        playing = [other for other in range(4) if int(s.playing) >> other & 1]
        if playing == [seat]:
            return coins + pot
        if len(playing) > 1 and seat in playing:
            return coins + (pot // 3 * int(s.tricks[seat]) or -pot)
        return coins
    coins = 0 if replay.carried else -2 - (seat == s.dealer)
    declared = {s.player, s.counterer} - {-1}
    showed = [o for o in range(4) if 3 in (s.said[o], s.countered[o])]
    winner = showed[0] if showed else s.front
    if winner == seat and seat in declared:
        return coins + pot * (1 + (seat == s.counterer))
    if not declared or seat not in declared:
        return coins
    return coins if seat == s.counterer and winner == s.player else coins - pot


@pytest.mark.parametrize(
    ("game", "option"),
    [("beast", {"carry_stakes": word}) for word in ("none", "dealer_one", "full")]
    + [("bestia", {"dealer_stake": word}) for word in ("always", "only_if_empty")],
)
def test_pots_are_whole_multiples_whatever_stakes_are_added(game, option):
    rules = game_named(game).make_rules(None, option)
    env = LearnerVecEnv(game, 4, COUNT, seed=2, pots={1: 1.0, 3: 1.0, 8: 1.0}, rules=rules)
    rollout(env, 20)
    opening = rules.opening_pot(4)
    assert set(env.tables.pots.tolist()) == {opening, 3 * opening, 8 * opening}


def test_every_hand_moves_the_learner_one_seat_on():
    env = LearnerVecEnv("bestia", 5, COUNT, seed=3)
    env.reset()
    seats, seen = env.tables.seats.copy(), set()
    rng = np.random.default_rng(0)
    for _ in range(40):
        _, _, dones, _ = env.step(any_legal(env.action_masks(), rng))
        np.testing.assert_array_equal(env.tables.seats, (seats + dones) % 5)
        seats = env.tables.seats.copy()
        seen |= set(zip(seats.tolist(), env.tables.states["dealer"].tolist()))
    assert len(seen) == 25


def test_hands_that_end_without_the_learner_are_skipped():
    """Whoever shows before the learner's first turn ends the hand."""
    count = 20_000
    env = LearnerVecEnv("beast", 4, count, seed=0, opponents=["random"])
    env.reset()
    dealt = (env.tables.seats - np.arange(count)) % 4
    assert set(dealt) == {1, 2}  # two hands where one was skipped
    assert (dealt == 2).sum() < 200
    assert env.hands == 0
    assert (env.tables.states["turn"] == env.tables.seats).all()


def test_suits_relabelled_make_no_difference_to_the_game():
    plain = LearnerVecEnv("beast", 4, COUNT, seed=4, sort_suits=False)
    other = LearnerVecEnv("beast", 4, COUNT, seed=4)
    rng, table = np.random.default_rng(0), layout("beast", 4)
    plain.reset()
    seen = other.reset()
    for _ in range(30):
        assert (seen[:, table.slices["trump"]] == [1, 0, 0, 0]).all()
        actions = any_legal(other.action_masks(), rng)
        originals = other._labels.original[other.tables.orders, actions]
        seen, rewards, dones, _ = other.step(actions)
        _, expected, ended, _ = plain.step(originals)
        np.testing.assert_array_equal(rewards, expected)
        np.testing.assert_array_equal(dones, ended)


def test_opponents_are_drawn_by_their_weights(monkeypatch):
    two = {"random": 3.0, "other": 1.0}
    monkeypatch.setattr(
        mixtures, "parse_baseline", lambda spec, _: Fake(kind=0, parameter=0.0, spec=spec)
    )
    env = LearnerVecEnv("bestia", 4, 4000, seed=0, opponents=two)
    env.reset()
    share = env.tables.opponents.mean()
    assert abs(share - 0.25) < 4 * (0.25 * 0.75 / 16_000) ** 0.5
    assert (np.ptp(env.tables.opponents, axis=1) > 0).any()
    alike = LearnerVecEnv("bestia", 4, 4000, seed=0, opponents=two, same_opponents=1.0)
    alike.reset()
    assert (np.ptp(alike.tables.opponents, axis=1) == 0).all()
    assert abs(alike.tables.opponents.mean() - 0.25) < 4 * (0.25 * 0.75 / 4000) ** 0.5


class Fake:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    def same_as(self, other):
        return False


def test_actions_are_carried_out_once_and_on_the_hand_they_were_meant_for():
    env = LearnerVecEnv("bestia", 4, 3, seed=0)
    env.reset()
    for forget in (lambda: env.step_wait(), env.reset, lambda: env.restore(env.snapshot())):
        env.step_async(env.action_masks().argmax(axis=1))
        forget()
        before = env.snapshot()
        with pytest.raises(RuntimeError, match="call step_async"):
            env.step_wait()
        for name, array in env.snapshot().items():
            np.testing.assert_array_equal(array, before[name])


def test_a_snapshot_of_fewer_tables_is_refused():
    small, env = LearnerVecEnv("bestia", 4, 1, seed=0), LearnerVecEnv("bestia", 4, 3, seed=0)
    small.reset(), env.reset()
    with pytest.raises(ValueError, match=r"masks of shape \(1, 44\), not \(3, 44\)"):
        env.restore(small.snapshot())


def test_rules_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="rules of bestia must be BestiaRules, not int"):
        LearnerVecEnv("bestia", rules=3)


@pytest.mark.parametrize("action", [-1, 44, 10**9, "illegal"])
def test_an_illegal_action_is_refused_and_changes_nothing(action):
    env = LearnerVecEnv("bestia", 4, 3, seed=0)
    env.reset()
    before, actions = env.snapshot(), env.action_masks().argmax(axis=1)
    actions[1] = env.action_masks()[1].argmin() if action == "illegal" else action
    with pytest.raises(ValueError, match=f"action {actions[1]} is not legal at table 1: the legal"):
        env.step(actions)
    for name, array in env.snapshot().items():
        np.testing.assert_array_equal(array, before[name])
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(3,\)"):
        env.step(actions[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "whist"}, "game must be one of beast, bestia, not 'whist'"),
        ({"num_players": 11}, "num_players of bestia must be"),
        ({"num_envs": 0}, "num_envs must be an integer of at least 1, not 0"),
        ({"reward": "joy"}, "reward must be one of equity, coins, not 'joy'"),
        ({"same_opponents": 1.5}, "same_opponents must be from 0 to 1, not 1.5"),
        ({"opponents": ["wizard"]}, "unknown policy 'wizard' for bestia"),
        ({"seed": 1.5}, "seed must be None or an integer of at least 0, not 1.5"),
        ({"sort_suits": "no"}, "sort_suits must be True or False, not 'no'"),
        ({"pots": {True: 1}}, "pots must be whole multiples .*, not True"),
        ({"same_opponents": "all"}, "same_opponents must be from 0 to 1, not 'all'"),
        ({"opponents": {"random": "a"}}, "weight of 'random' must be a number from 0, not 'a'"),
        ({"opponents": {"random": -1}}, "weight of 'random' must be a number from 0, not -1"),
        ({"opponents": {"random": float("nan")}}, "weight of 'random' must be a number from 0"),
        ({"opponents": ["random", "random"]}, "must be different"),
        ({"same_opponents": float("nan")}, "same_opponents must be from 0 to 1, not nan"),
        ({"opponents": {"random": 0}}, "the weights must have a sum above 0"),
        ({"pots": {0: 1}}, "whole multiples of the opening pot, 1 to 1000000, not 0"),
        ({"pots": {1.5: 1}}, "whole multiples of the opening pot, 1 to 1000000, not 1.5"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LearnerVecEnv(**{"game": "bestia", "num_envs": 4, **options})


def test_masks_of_the_learner_are_the_games():
    env = LearnerVecEnv("beast", 4, COUNT, seed=8, sort_suits=False)
    rollout(env, 11)
    for i in range(COUNT):
        bits = int(legal(env.tables.states[i]))
        assert list(np.flatnonzero(env.action_masks()[i])) == [
            action for action in range(beast.NUM_ACTIONS) if bits >> action & 1
        ]
    assert game_named("beast").num_actions == beast.NUM_ACTIONS
