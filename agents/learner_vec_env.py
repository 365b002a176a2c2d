"""One learner at many tables of baselines, as a Stable-Baselines3 `VecEnv`.

All tables advance in one compiled call a step: the learners' moves, the opponents' moves, the next
deals, observations and masks. A hand is an episode; each is the first of a session of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from agents.baselines.dispatch import act as baseline_act
from agents.mixtures import baseline_mixture, drawn, is_number, pot_mixture, weights
from agents.policies import default_specs
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, without_lowest
from bestia_env.deals import checked_seed
from bestia_env.engine import new_states, observe, start_session
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.rng import draw, seed_sequence_keys, unit
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, equity, seat_after
from bestia_env.suits import relabel, relabelling, suit_order
from bestia_env.vector.checks import check_legal, checked_actions, checked_count
from bestia_env.view import look

REWARDS = ("equity", "coins")
_DEAL = -1  # in place of an action: deal a new hand


class Tables(NamedTuple):
    """B hands in play, all that is needed to go on with them.

    Attributes:
        states: (B,) records.
        seats: (B,) int64, the learner's seat.
        opponents: (B, n) int64, what plays at each seat, as places in the mixture.
        pots: (B,) int64, P of each hand.
        deals: (B,) uint64, generators of deals, pots and opponents.
        moves: (B,) uint64, generators of the opponents' moves.
        orders: (B,) int64, how suits are relabelled in the last observation.
    """

    states: np.ndarray
    seats: np.ndarray
    opponents: np.ndarray
    pots: np.ndarray
    deals: np.ndarray
    moves: np.ndarray
    orders: np.ndarray


class Step(NamedTuple):
    """What a step leaves behind.

    Attributes:
        observations: (B, D) float32.
        masks: (B, A) bool.
        rewards: (B,) float32.
        dones: (B,) bool.
        last: (B, D) float32, the settled hand's last observation where `dones`.
    """

    observations: np.ndarray
    masks: np.ndarray
    rewards: np.ndarray
    dones: np.ndarray
    last: np.ndarray


class LearnerVecEnv(VecEnv):
    """B tables with a learner at one seat of each, for sb3 and sb3-contrib.

    The learner's seat moves on with every hand. It is asked only where it has a choice: a single
    legal action is carried out for it, and hands that end before any choice are never seen.
    Rewards come at a hand's settlement, in pots: the equity or the coins of the hand divided by P.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        opponents: the specs of the baselines and their weights.
        tables: the hands in play.
        hands: how many hands have been settled since the last reset, skipped ones not counted.
    """

    def __init__(
        self,
        game: str,
        num_players: int = 4,
        num_envs: int = 1024,
        *,
        opponents: Mapping[str, float] | Sequence[str] | None = None,
        same_opponents: float = 0.0,
        rules: object = None,
        reward: str = "equity",
        pots: Mapping[int, float] | None = None,
        sort_suits: bool = True,
        seed: int | None = None,
    ) -> None:
        """Set the tables; nothing is dealt before `reset`.

        Args:
            game: "beast" or "bestia".
            num_players: seats.
            num_envs: B.
            opponents: specs of baselines, with weights if a mapping; all baselines if None.
                One is drawn for every hand and seat.
            same_opponents: the share of hands in which all opponents are copies of one draw.
            rules: `BeastRules` or `BestiaRules`; the game's defaults if None.
            reward: "equity" or "coins".
            pots: sizes of the pot in opening pots, with weights; None for opening pots only.
            sort_suits: relabel suits as `bestia_env.suits` does.
            seed: of deals, opponents and their moves; `seed()` replaces it.

        Raises:
            ValueError: an argument is out of range; it says which and what is allowed.
            TypeError: the rules are not the game's.
        """
        chosen = game_named(game)
        self.game, self.num_players = game, num_players
        self.rules = chosen.make_rules(rules, {})
        states = new_states(game, num_players, self.rules, checked_count(num_envs))
        if reward not in REWARDS:
            raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {reward!r}")
        if not is_number(same_opponents) or not 0 <= same_opponents <= 1:
            raise ValueError(f"same_opponents must be from 0 to 1, not {same_opponents!r}")
        self.reward, self.same_opponents = reward, same_opponents
        self.opponents = weights(opponents or default_specs(game))
        self._mixture = baseline_mixture(self.opponents, game)
        self._pots = pot_mixture(weights(pots or {1: 1.0}), self.rules, game, num_players)
        self._labels = relabelling(game, num_players, sort_suits)
        self.tables = Tables(
            states,
            np.arange(num_envs) % num_players,
            np.zeros((num_envs, num_players), np.int64),
            np.zeros(num_envs, np.int64),
            np.zeros(num_envs, np.uint64),
            np.zeros(num_envs, np.uint64),
            np.zeros(num_envs, np.int64),
        )
        table = layout(game, num_players)
        self._scratch = (
            np.zeros(1, states.dtype),
            np.zeros(table.size, np.float32),
            np.zeros(chosen.num_actions, np.int8),
        )
        self.masks = np.zeros((num_envs, chosen.num_actions), bool)
        self.hands = 0
        self._actions: np.ndarray | None = None  # those that step_wait carries out
        super().__init__(
            num_envs,
            spaces.Box(np.zeros_like(table.high), table.high),
            spaces.Discrete(chosen.num_actions),
        )
        self.seed(seed)

    # What a VecEnv does.

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset; None for fresh randomness.

        Raises:
            ValueError: the seed is neither None nor an integer of at least 0.
        """
        self._seeds = [checked_seed(seed), *[None] * (self.num_envs - 1)]
        self._seeded = True
        return self._seeds

    def reset(self) -> np.ndarray:
        """Deal a new hand at every table; returns the observations (B, D)."""
        self._actions = None
        if self._seeded:
            keys = seed_sequence_keys(self._seeds[0], 2 * self.num_envs)
            self.tables.deals[:], self.tables.moves[:] = np.split(keys, 2)
            self.tables.seats[:] = np.arange(self.num_envs) % self.num_players
            self._seeded = False
        self.hands = 0
        return self._advance(np.full(self.num_envs, _DEAL)).observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the learners' actions, (B,) integers.

        Raises:
            ValueError: the shape is wrong, or an action is not legal.
        """
        actions = checked_actions(actions, self.num_envs)
        check_legal(game_named(self.game), actions, self.masks, np.zeros(self.num_envs, bool))
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carry them out: observations (B, D), rewards (B,) float32, dones (B,) bool, infos."""
        if self._actions is None:
            raise RuntimeError("there are no actions to carry out: call step_async() first")
        actions, self._actions = self._actions, None
        step = self._advance(actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(step.dones):
            infos[i] = {"terminal_observation": step.last[i], "TimeLimit.truncated": False}
        self.hands += int(np.count_nonzero(step.dones))
        return step.observations, step.rewards, step.dones, infos

    def action_masks(self) -> np.ndarray:
        """The legal actions at every table, (B, A) bool, a copy."""
        return self.masks.copy()

    def close(self) -> None:
        """Nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        """Is there such an attribute?"""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once for every table."""
        if attr_name == "render_mode":
            return [None for _ in self._get_indices(indices)]
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the tables share everything."""
        raise AttributeError(f"the tables share {attr_name}: set it on the LearnerVecEnv")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Of methods there is `action_masks` alone: a mask (A,) bool for every table."""
        if method_name != "action_masks":
            raise AttributeError(f"the tables have no method {method_name}, only action_masks")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False for _ in self._get_indices(indices)]

    # Leaving off and going on.

    def snapshot(self) -> dict[str, np.ndarray]:
        """All that is needed to go on from here with equal results, as arrays by name."""
        tables = {name: array.copy() for name, array in self.tables._asdict().items()}
        tables["states"] = tables["states"].view(np.uint8)
        return {**tables, "masks": self.action_masks(), "hands": np.array(self.hands)}

    def restore(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Go on from a snapshot of an environment made with the same arguments.

        Raises:
            ValueError: the snapshot is of another number of tables or another game.
        """
        if snapshot["masks"].shape != self.masks.shape:
            raise ValueError(
                f"the snapshot has masks of shape {snapshot['masks'].shape}, not {self.masks.shape}"
            )
        self._actions = None
        for name, array in self.tables._asdict().items():
            array[:] = snapshot[name].view(array.dtype) if name == "states" else snapshot[name]
        self.masks[:] = snapshot["masks"]
        self.hands = int(snapshot["hands"])
        self._seeded = False

    def _advance(self, actions: np.ndarray) -> Step:
        count, size = self.num_envs, self._scratch[1].size
        step = Step(
            np.empty((count, size), np.float32),
            self.masks,
            np.zeros(count, np.float32),
            np.zeros(count, bool),
            np.empty((count, size), np.float32),
        )
        _advance(
            self.tables,
            actions,
            self._mixture,
            self.same_opponents,
            self._pots,
            self.reward == "equity",
            self._labels,
            self._scratch,
            step,
        )
        return step


# The kernels.


@jit
def _advance(tables, actions, mixture, same, pots, as_equity, labels, scratch, step):
    """Play on at every table until its learner has a choice; actions of -1 deal a new hand."""
    for i in range(actions.size):
        action = actions[i]
        if action != _DEAL:
            action = labels.original[tables.orders[i], action]
        _play_on(tables, i, action, mixture, same, pots, as_equity, labels, scratch, step)


@jit
def _play_on(tables, i, action, mixture, same, pots, as_equity, labels, scratch, step):
    s = tables.states[i]
    asked = action != _DEAL  # has the learner had a choice in this hand?
    while True:
        if action == _DEAL:
            _deal(tables, i, mixture, same, pots)
        else:
            apply(s, action)
        over = s.turn == NOBODY
        if over and not asked:
            action = _DEAL
        elif over or _has_choice(s, tables.seats[i]):
            seen = step.last[i] if over else step.observations[i]
            _show(tables, i, labels, scratch, seen, step.masks[i])
            if not over:
                break
            step.dones[i] = True
            step.rewards[i] = _reward(s, tables.seats[i], as_equity) / tables.pots[i]
            asked = False
            action = _DEAL
        elif s.turn == tables.seats[i]:
            action = lowest(legal(s))
        else:
            action = _opponent_action(tables, i, mixture, scratch[0])


@jit
def _has_choice(s, seat):
    """Is it the seat's turn, with more than one legal action?"""
    return s.turn == seat and without_lowest(legal(s)) != ZERO


@jit
def _deal(tables, i, mixture, same, pots):
    """A new hand: pot, deal, the learner's seat, and who sits at the others."""
    rng = tables.deals[i : i + 1]
    pot = pots.coins[drawn(rng, pots.chances)]
    start_session(tables.states, i, draw(rng), NOBODY, pot)
    s = tables.states[i]
    tables.pots[i] = s.pot
    tables.seats[i] = seat_after(s, tables.seats[i])
    alike = unit(rng) < same
    for seat in range(s.num_players):
        if alike and seat > 0:
            tables.opponents[i, seat] = tables.opponents[i, 0]
        else:
            tables.opponents[i, seat] = drawn(rng, mixture.chances)


@jit
def _opponent_action(tables, i, mixture, views):
    s = tables.states[i]
    look(tables.states, i, s.turn, views, 0)
    who = tables.opponents[i, s.turn]
    rng = tables.moves[i : i + 1]
    return baseline_act(mixture.kinds[who], mixture.parameters[who], views[0], legal(s), rng)


@jit
def _reward(s, seat, as_equity):
    return equity(s, seat) if as_equity else np.float64(s.gains[seat])


@jit
def _show(tables, i, labels, scratch, observation, mask):
    """Write what the learner sees, its suits relabelled."""
    _, seen, allowed = scratch
    observe(tables.states, i, tables.seats[i], labels.at, seen, allowed)
    tables.orders[i] = suit_order(labels, seen)
    relabel(labels, tables.orders[i], seen, allowed, observation, mask)
