"""Many hands at once, one seat of each a learner's, as a Gymnasium `VectorEnv`.

All hands advance in one compiled call a step, the opponents' moves with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numba
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bestia_env import engine
from bestia_env._jit import jit
from bestia_env.aec import REWARDS, checked_choice, checked_num_hands
from bestia_env.bits import has, nth
from bestia_env.deals import checked_seed, is_integer
from bestia_env.games import Game, game_named
from bestia_env.observe import layout
from bestia_env.rng import stream
from bestia_env.rules.dispatch import deal, legal, open_pot
from bestia_env.rules.table import NOBODY, equity, match, open_session, pass_the_deal
from bestia_env.single import ILLEGAL_ACTION, OPPONENTS_STREAM, checked_seat
from bestia_env.suits import SuitSorter
from bestia_env.vector.checks import check_legal, checked_actions, checked_count
from bestia_env.view import look


class _Seats(NamedTuple):
    """One learner's seat at each of B tables, as the kernels take it.

    Attributes:
        states: (B,) records.
        views: (1,) record, where an opponent looks.
        keys: (B, K) uint64, keys of the sessions to come.
        used: (B,) int64, how many of them are gone.
        moves: (B,) uint64, generators of the opponents' moves.
        rewards: (B,) float64, the learner's since its last action, in coins.
        over: (B,) bool, is the session over?
        waiting: (B,) bool, is it to begin, but for want of a key?
    """

    states: np.ndarray
    views: np.ndarray
    keys: np.ndarray
    used: np.ndarray
    moves: np.ndarray
    rewards: np.ndarray
    over: np.ndarray
    waiting: np.ndarray


_KEYS = 64  # keys drawn at a time
_IDLE = -1  # in place of an action
_NO_TABLE = -1
_NUMBERS = ("coins", "pot", "hand_number", "tricks")

Act = Callable[[Any, Any, Any], int]


@jit
def uniform(view, legal, rng):
    """Any legal action, all alike: the opponent that is the default."""
    return engine.random_member(legal, rng)


class SeatVectorEnv(VectorEnv):
    """B single-seat environments with the opponents inside the kernels.

    Sub-environment i is the single-seat environment seeded with `seed + i`, bit for bit.
    Infos hold arrays over the sub-environments: "action_mask" (B, A) int8, "coins", "pot",
    "hand_number" and "tricks" (B,) int64, and for each a "_" + name, as Gymnasium has it.

    `BeastVectorEnv` and `BestiaVectorEnv` say of which game.
    """

    game_name: str

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 4,
        rules: Any = None,
        num_hands: int = 1,
        reward: str = "equity",
        seat: int = 0,
        opponents: Act | None = None,
        illegal_action: str = "penalise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        sort_suits: bool = False,
        **options: Any,
    ) -> None:
        """Seat the learner and the opponents at every table.

        Args:
            num_envs: B.
            num_players: seats.
            rules: `BeastRules` or `BestiaRules`; every option may also be a keyword.
            num_hands: hands in an episode.
            reward: "equity" or "coins" (B-18), in coins.
            seat: the learner's; the first dealer is drawn, so that every position comes up.
            opponents: a function `act(view, legal, rng)` compiled by numba, which plays all other
                seats; its arguments are those of `bestia_env.single.Policy.act` but for the view,
                which is a record, whose `viewer` is the seat. It must not make arrays. Uniformly
                random if None. One given is compiled into the kernels once in a process, which
                takes some seconds.
            illegal_action: "penalise" annuls the hand and ends the episode, "raise" raises a
                ValueError before anything changes.
            autoreset_mode: `gymnasium.vector.AutoresetMode`, or its value as a string.
            sort_suits: show the suits, and number the actions, as `bestia_env.suits` sorts them;
                opponents see them as they are.
            **options: options of the rules, each replacing that of `rules`.

        Raises:
            ValueError: an argument has a value that is not allowed.
            TypeError: there is no such option.
        """
        game = game_named(self.game_name)
        self.game: Game = game
        self.rules = game.make_rules(rules, options)
        game.check_num_players(num_players, self.rules)
        self.num_envs, self.num_players = checked_count(num_envs), int(num_players)
        self.num_hands = checked_num_hands(num_hands)
        self.reward = checked_choice("reward", reward, REWARDS)
        self.seat = checked_seat(seat, num_players)
        self.illegal_action = checked_choice("illegal_action", illegal_action, ILLEGAL_ACTION)
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self._opponents = _checked_opponents(opponents)
        self._layout = layout(game.name, self.num_players)
        self._suits = SuitSorter(game.name, self.num_players, self.num_envs, sort_suits)
        high = self._layout.high
        self.single_observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        states = engine.new_states(game.name, self.num_players, self.rules, self.num_envs)
        self._seats = _Seats(
            states,
            np.zeros(1, states.dtype),
            np.zeros((self.num_envs, _KEYS), np.uint64),
            np.full(self.num_envs, _KEYS),
            np.zeros(self.num_envs, np.uint64),
            np.zeros(self.num_envs),
            np.ones(self.num_envs, bool),
            np.zeros(self.num_envs, bool),
        )
        self._generators: list[np.random.Generator] = []

    @property
    def observation_pieces(self) -> dict[str, slice]:
        """The place of every piece of the observation by its name."""
        return dict(self._layout.slices)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal at every table, and let the others play up to the learner's first decision.

        Args:
            seed: of sub-environment 0, the i-th taking `seed + i`; or one for each; or None.
            options: `reset_mask`, (B,) bool: the sub-environments to reset, the others stay. Other
                keys are ignored: deals come from the seed alone.

        Returns:
            Observations (B, D) float32, and infos.

        Raises:
            ValueError: an argument is malformed; nothing has changed then.
        """
        seeds = _checked_seeds(seed, self.num_envs)
        chosen = self._reset_mask(options)
        if not self._generators:
            self._generators = [seeding.np_random(None)[0] for _ in range(self.num_envs)]
            self._seats.used[:] = _KEYS
        for i in np.flatnonzero(chosen):
            if seeds[i] is not None:
                self._generators[i] = seeding.np_random(seeds[i])[0]
                self._seats.used[i] = _KEYS
        self._begin(chosen)
        return self._look(np.ones(self.num_envs, bool))

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out the learners' actions, and let the others play up to their next decisions.

        Args:
            actions: (B,) integers; those of sub-environments that begin anew are ignored.

        Returns:
            Observations (B, D) float32, rewards (B,) float64 in coins, terminated (B,) bool,
            truncated (B,) bool, all False, and infos.

        Raises:
            ValueError: the shape or an action is wrong; nothing has changed then.
            RuntimeError: an episode is over, in mode DISABLED; or an opponent chose an illegal
                action. After that, or whatever an opponent raised, call `reset`.
        """
        self._check_begun()
        seats, idle = self._seats, self._seats.over.copy()
        if self.autoreset_mode != AutoresetMode.NEXT_STEP and idle.any():
            over = int(np.argmax(idle))
            raise RuntimeError(f"the episode of sub-environment {over} is over: reset it first")
        actions = checked_actions(actions, self.num_envs)
        self._check(actions, idle)
        meant = self._suits.original(np.where(idle, 0, actions))
        self._run(np.where(idle, _IDLE, meant))
        rewards, terminated = np.where(idle, 0.0, seats.rewards), seats.over & ~idle
        seats.rewards[:] = 0
        final: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._begin(idle)
        elif self.autoreset_mode == AutoresetMode.SAME_STEP and terminated.any():
            final = self._final(terminated)
            self._begin(terminated)
        observations, infos = self._look(np.ones(self.num_envs, bool))
        truncated = np.zeros(self.num_envs, bool)
        return observations, rewards, terminated, truncated, {**final, **infos}

    def action_masks(self) -> np.ndarray:
        """The legal actions of every learner, (B, A) bool; none where the episode is over.

        Raises:
            RuntimeError: no episode is in progress.
        """
        self._check_begun()
        return self._look(np.ones(self.num_envs, bool))[1]["action_mask"].astype(bool)

    # How it is done.

    def _check_begun(self) -> None:
        if not self._generators:
            raise RuntimeError("no episode is in progress: call reset() first")

    def _begin(self, chosen: np.ndarray) -> None:
        """New sessions at the tables chosen, up to the learners' first decisions."""
        seats = self._seats
        seats.waiting[:] = chosen
        seats.over[chosen] = True
        while seats.waiting.any():
            for i in np.flatnonzero(seats.waiting & (seats.used == _KEYS)):
                seats.keys[i] = self._generators[i].bit_generator.random_raw(_KEYS)
                seats.used[i] = 0
            self._run(np.full(self.num_envs, _IDLE))

    def _run(self, actions: np.ndarray) -> None:
        rest = (self._seats, actions, self.seat, self.num_hands, self.reward == "equity")
        # If the opponents fail, or are interrupted, nothing goes on from here.
        act, generators, self._generators = self._opponents, self._generators, []
        failed = _run_uniform(*rest) if act is None else _run(act, *rest)
        if failed != _NO_TABLE:
            raise RuntimeError(
                f"the opponents chose an action that is not legal in sub-environment {failed}, "
                f"at seat {self._seats.states['turn'][failed]}: call reset() first"
            )
        self._generators = generators

    def _look(self, chosen: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Observations and infos at the tables chosen, zeros at the others."""
        observations = np.zeros((self.num_envs, self._layout.size), np.float32)
        masks = np.zeros((self.num_envs, self.game.num_actions), np.int8)
        numbers = np.zeros((len(_NUMBERS), self.num_envs), np.int64)
        public = np.zeros(2 * self.num_players + 2, np.int64)
        at = self._layout.offsets
        _look(self._seats.states, self.seat, at, chosen, observations, masks, numbers, public)
        observations, masks = self._suits.show(observations, masks)
        infos = {**dict(zip(_NUMBERS, numbers, strict=True)), "action_mask": masks}
        flags = {f"_{name}": chosen.copy() for name in infos}
        return observations, {**infos, **flags}

    def _final(self, chosen: np.ndarray) -> dict[str, Any]:
        """What was seen last at the tables chosen, as Gymnasium's mode SAME_STEP has it."""
        seen, infos = self._look(chosen)
        last = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(chosen):
            last[i] = seen[i]
        flags = {"_final_obs": chosen.copy(), "_final_info": chosen.copy()}
        return {"final_obs": last, "final_info": infos, **flags}

    def _check(self, actions: np.ndarray, idle: np.ndarray) -> None:
        """Raise a ValueError for an action outside the space, or an illegal one if so wished."""
        wrong = ~idle & ((actions < 0) | (actions >= self.game.num_actions))
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"an action must be an integer from 0 to {self.game.num_actions - 1}, "
                f"not {actions[i]} in sub-environment {i}"
            )
        if self.illegal_action == "raise":
            masks = self._look(~idle)[1]["action_mask"]
            check_legal(self.game, actions, masks, idle)

    def _reset_mask(self, options: dict[str, Any] | None) -> np.ndarray:
        if not isinstance(options, Mapping | None):
            raise ValueError(f"options must be None or a dict, not {options!r}")
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(
                f"reset_mask must be booleans of shape ({self.num_envs},), one of them True, "
                f"not {mask!r}"
            )
        if not self._generators and not mask.all():
            raise ValueError("the first reset must be of all sub-environments")
        return mask


class BeastVectorEnv(SeatVectorEnv):
    """Beast for one learner at every table; else as `bestia_env.single.BeastEnv`."""

    game_name = "beast"


class BestiaVectorEnv(SeatVectorEnv):
    """Bestia for one learner at every table; else as `bestia_env.single.BestiaEnv`."""

    game_name = "bestia"


def _checked_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        words = ", ".join(repr(allowed.value) for allowed in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {words}, not {mode!r}") from None


def _checked_opponents(opponents: Any) -> Any:
    if opponents is None:
        return None
    compiled = numba.config.DISABLE_JIT or numba.extending.is_jitted(opponents)
    function = getattr(opponents, "py_func", opponents)
    if not compiled or not callable(function) or len(signature(function).parameters) != 3:
        raise ValueError(
            "opponents must be None or a function act(view, legal, rng) compiled by numba, "
            f"not {opponents!r}"
        )
    return opponents


def _checked_seeds(seed: Any, count: int) -> list[int | None]:
    """A seed for every sub-environment, as Gymnasium hands them out."""
    if seed is None or is_integer(seed):
        first = checked_seed(seed)
        return [None if first is None else first + i for i in range(count)]
    several = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes)
    if not several or np.shape(seed) != (count,):
        raise ValueError(f"seed must be None, an integer, or {count} of them, not {seed!r}")
    return [checked_seed(one) for one in seed]


# The kernels.


@jit
def _run(act, seats, actions, seat, num_hands, as_equity):
    """Play on at every table; returns one where an opponent erred, or _NO_TABLE."""
    for i in range(actions.size):
        if seats.waiting[i] or actions[i] != _IDLE:
            if not _play_on(act, seats, i, actions[i], seat, num_hands, as_equity):
                return i
    return _NO_TABLE


@jit
def _run_uniform(seats, actions, seat, num_hands, as_equity):
    """As `_run`; compiled code that is handed no function can be kept on disk."""
    return _run(uniform, seats, actions, seat, num_hands, as_equity)


# One loop, in which each verb of the rules stands once: all are inlined, and slow to compile.


@jit
def _play_on(act, seats, i, action, seat, num_hands, as_equity):
    """Up to the learner's next decision, or the session's end; do the opponents keep the rules?

    A table that is waiting begins sessions until the learner has a decision; it goes on waiting
    if the keys are used up.
    """
    s = seats.states[i]
    dealing = seats.waiting[i]
    learner = not dealing
    while True:
        if seats.waiting[i] and seats.over[i]:
            if seats.used[i] == seats.keys.shape[1]:
                return True
            _open(seats, i)
        if dealing:
            deal(s)
        elif not (0 <= action < 64 and has(legal(s), action)):
            if not learner:
                return False
            _annul(seats, i)
        elif engine.act(seats.states, i, action) == engine.HAND_SETTLED:
            _settle(seats, i, seat, num_hands, as_equity)
        learner = False
        dealing = s.turn == NOBODY and (seats.waiting[i] or not seats.over[i])
        if dealing:
            continue
        if seats.over[i] or s.turn == seat:
            seats.waiting[i] = False
            return True
        look(seats.states, i, s.turn, seats.views, 0)
        action = act(seats.views[0], legal(s), seats.moves[i : i + 1])


@jit
def _open(seats, i):
    """A new session with the next key, nothing dealt yet."""
    s = seats.states[i]
    key = seats.keys[i, seats.used[i]]
    seats.used[i] += 1
    seats.moves[i] = stream(key, OPPONENTS_STREAM)
    seats.rewards[i] = 0
    seats.over[i] = False
    open_session(s, key, NOBODY)
    open_pot(s, 0)


@jit
def _settle(seats, i, seat, num_hands, as_equity):
    """The learner's reward; the deal passes, or the session is over."""
    s = seats.states[i]
    seats.rewards[i] += equity(s, seat) if as_equity else np.float64(s.gains[nth(seat)])
    seats.over[i] = s.hand_number + 1 == num_hands
    if not seats.over[i]:
        pass_the_deal(s)


@jit
def _annul(seats, i):
    """The learner's fault: min(P, match_limit), and the end of the session."""
    seats.rewards[i] -= match(seats.states[i])
    engine.annul_hand(seats.states, i)
    seats.over[i] = True


@jit
def _look(states, seat, at, chosen, observations, masks, numbers, public):
    n = (public.size - 2) // 2
    for i in range(states.size):
        if chosen[i]:
            engine.observe(states, i, seat, at, observations[i], masks[i])
            engine.write_infos(states, i, public)
            numbers[0, i] = public[seat]
            numbers[1, i] = public[2 * n]
            numbers[2, i] = public[2 * n + 1]
            numbers[3, i] = public[n + seat]
