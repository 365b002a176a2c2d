"""Many hands at once, with a learner at every seat.

All hands advance in one compiled call a step. `TablesEnv` hands over whoever is to act, at every
table; `seat_advantages` gives each decision the later rewards of its own seat and of no other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestia_env import engine
from bestia_env._jit import jit
from bestia_env.aec import REWARDS, checked_choice, checked_num_hands
from bestia_env.bits import nth
from bestia_env.deals import checked_seed
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.table import NOBODY
from bestia_env.suits import SuitSorter
from bestia_env.vector.checks import check_legal, checked_actions, checked_count


class Tables(NamedTuple):
    """What there is to see at B tables of n seats, and what the last step brought.

    Attributes:
        seats: (B,) int8, the seat to act.
        observations: (B, D) float32, what it knows.
        masks: (B, A) int8, its legal actions.
        rewards: (B, n) float64, coins, every seat's of the hand that was settled, else 0.
        ended: (B,) int8, 0: the hand goes on; 1: it was settled, and the next of the session has
            been dealt; 2: so was the session, and the first hand of another has been dealt.
    """

    seats: np.ndarray
    observations: np.ndarray
    masks: np.ndarray
    rewards: np.ndarray
    ended: np.ndarray


class TablesEnv:
    """B tables of one game at which a learner may sit at every seat.

    Attributes:
        game: the game.
        num_players: seats, n.
        num_envs: tables, B.
        num_actions: A.
        layout: of the observations; D is its size.
        rules: `BeastRules` or `BestiaRules`.
        states: (B,) records, the hands in play; not for policies.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1024,
        num_players: int = 4,
        rules: Any = None,
        num_hands: int = 1,
        reward: str = "equity",
        sort_suits: bool = False,
        **options: Any,
    ) -> None:
        """Set the tables; nothing is dealt before `reset`.

        Args:
            game: "beast" or "bestia".
            num_envs: B.
            num_players: seats.
            rules: `BeastRules` or `BestiaRules`; every option may also be a keyword.
            num_hands: hands in a session.
            reward: in coins, a seat's net coins of a hand ("coins"), or those and an equal share of
                the pot's growth, so that all sum to zero ("equity", B-18).
            sort_suits: show the suits, and number the actions, as `bestia_env.suits` sorts them.
            **options: options of the rules, each replacing that of `rules`.

        Raises:
            ValueError: an argument has a value that is not allowed.
            TypeError: there is no such option.
        """
        self.game = game_named(game)
        self.rules = self.game.make_rules(rules, options)
        self.game.check_num_players(num_players, self.rules)
        self.num_envs, self.num_players = checked_count(num_envs), int(num_players)
        self.num_hands = checked_num_hands(num_hands)
        self.reward = checked_choice("reward", reward, REWARDS)
        self.layout, self.num_actions = layout(game, self.num_players), self.game.num_actions
        self.states = engine.new_states(game, self.num_players, self.rules, self.num_envs)
        self._keys = np.zeros(self.num_envs, np.uint64)
        self._legal = np.zeros(self.num_envs, np.uint64)
        self._suits = SuitSorter(game, self.num_players, self.num_envs, sort_suits)
        self._masks = np.zeros((self.num_envs, self.num_actions), np.int8)
        self._begun = False

    @property
    def observation_pieces(self) -> dict[str, slice]:
        """The place of every piece of the observation by its name."""
        return dict(self.layout.slices)

    def reset(self, seed: int | None = None) -> Tables:
        """Deal the first hand of a new session at every table.

        Args:
            seed: of all deals; None for a fresh one.

        Returns:
            Fresh arrays; there are no rewards yet.

        Raises:
            ValueError: the seed is neither None nor an integer of at least 0.
        """
        keys = seed_sequence_keys(checked_seed(seed), 2 * self.num_envs)
        first, self._keys = np.split(keys, 2)
        engine.start_sessions(self.states, first, NOBODY, 0)
        self._begun = True
        tables = self._empty()
        engine.observe_batch(
            self.states, self.layout.offsets, tables.observations, tables.masks, self._legal
        )
        return self._shown(tables)

    def step(self, actions: np.ndarray) -> Tables:
        """Carry out an action at every table; hands that are settled are followed by the next.

        Args:
            actions: (B,) integers.

        Returns:
            Fresh arrays.

        Raises:
            ValueError: the shape or an action is wrong; nothing has changed then.
            RuntimeError: `reset` was never called.
        """
        if not self._begun:
            raise RuntimeError("no hand is in progress: call reset() first")
        actions = checked_actions(actions, self.num_envs)
        check_legal(self.game, actions, self._masks, np.zeros(self.num_envs, bool))
        tables = self._empty()
        actions = self._suits.original(actions)
        engine.step_batch(
            *(self.states, actions, self._keys, self.num_hands, self.reward == "equity"),
            *(tables.rewards, tables.ended, self.layout.offsets),
            *(tables.observations, tables.masks, self._legal),
        )
        return self._shown(tables)

    def _shown(self, tables: Tables) -> Tables:
        observations, masks = self._suits.show(tables.observations, tables.masks)
        tables.seats[:] = self.states["turn"]
        self._masks[:] = masks
        return tables._replace(observations=observations, masks=masks)

    def _empty(self) -> Tables:
        count = self.num_envs
        return Tables(
            np.empty(count, np.int8),
            np.empty((count, self.layout.size), np.float32),
            np.empty((count, self.num_actions), np.int8),
            np.zeros((count, self.num_players)),
            np.zeros(count, np.int8),
        )


def seat_advantages(
    values: np.ndarray,
    seats: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
    gamma: float = 1.0,
    lam: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages (Schulman et al. 2016), along each seat's own decisions of a hand.

    What lies between two decisions of a seat is its environment, whoever acts there: the value
    after a decision is that of the same seat's next in this hand, however far away, and all seats
    get their rewards when the hand is settled, whoever moved last.

    Args:
        values: (T, B) the critic's value of each decision, in the eyes of its seat.
        seats: (T, B) integers, who decided.
        rewards: (T, B, n) every seat's rewards after each decision.
        ended: (T, B) is the hand settled by it?
        gamma: discount from one decision of a seat to its next.
        lam: decay of later errors.

    Returns:
        Advantages (T, B) float64, and a mask (T, B) bool: False where the hand goes on beyond
        T, whose return is not known yet; there the advantage is 0.

    Raises:
        ValueError: shapes do not fit each other, or a seat is out of range.
    """
    values, seats = np.asarray(values, np.float64), np.asarray(seats, np.int64)
    rewards, ended = np.asarray(rewards, np.float64), np.asarray(ended) != 0
    if values.ndim != 2 or not (values.shape == seats.shape == ended.shape == rewards.shape[:-1]):
        raise ValueError(
            "values, seats and ended must have one shape (T, B), and rewards (T, B, n), not "
            f"{values.shape}, {seats.shape}, {ended.shape} and {rewards.shape}"
        )
    num_players = rewards.shape[-1]
    if seats.size and not 0 <= seats.min() <= seats.max() < num_players:
        raise ValueError(f"seats must be from 0 to {num_players - 1}")
    advantages, known = np.zeros(values.shape), np.zeros(values.shape, bool)
    _seat_advantages(
        values, seats, rewards, ended, gamma, lam, np.zeros((3, num_players)), advantages, known
    )
    return advantages, known


@jit
def _seat_advantages(values, seats, rewards, ended, gamma, lam, later, advantages, known):
    """Backwards in time; `later` holds each seat's next reward, value and advantage."""
    for b in range(values.shape[1]):
        settled = False
        later[:] = 0
        for t in range(values.shape[0] - 1, -1, -1):
            if ended[t, b]:
                settled = True
                later[:] = 0
            if not settled:
                continue
            for seat in range(rewards.shape[2]):
                later[0, seat] += rewards[t, b, seat]
            seat = nth(seats[t, b])
            error = later[0, seat] + gamma * later[1, seat] - values[t, b]
            advantages[t, b] = error + gamma * lam * later[2, seat]
            known[t, b] = True
            later[0, seat] = 0
            later[1, seat] = values[t, b]
            later[2, seat] = advantages[t, b]
