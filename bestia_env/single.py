"""Gymnasium environments in which one seat learns and policies play the others.

They are rendered as the learner sees the table: as text, as pictures or in a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces

from bestia_env import engine
from bestia_env.aec import BeastTable, BestiaTable, IllegalActionError, TableEnv, checked_choice
from bestia_env.deals import DealOptions, checked_seed, is_integer
from bestia_env.games import game_named
from bestia_env.rng import stream
from bestia_env.view import look

ILLEGAL_ACTION = ("penalise", "raise")
OPPONENTS_STREAM = np.uint64(
    2**63
)  # the use of a session's key that seeds the opponents' generator


class Policy(Protocol):
    """Whoever plays a seat."""

    def act(self, view: np.ndarray, legal: np.uint64, rng: np.ndarray) -> int:
        """Choose an action.

        Args:
            view: (1,) record, what the seat to act may know (`bestia_env.view`).
            legal: its legal actions as a set of bits (`bestia_env.bits`).
            rng: (1,) uint64, a generator for `bestia_env.rng`, which moves on.
        """
        ...


class Uniform:
    """Any legal action, all alike."""

    def act(self, view: np.ndarray, legal: np.uint64, rng: np.ndarray) -> int:
        """Choose an action; see `Policy.act`."""
        return int(engine.random_member(legal, rng))


class SeatEnv(gymnasium.Env):
    """One seat's part in a session; `BeastEnv` and `BestiaEnv` say of which game."""

    table_class: ClassVar[type[TableEnv]]

    def __init__(
        self,
        num_players: int = 4,
        rules: Any = None,
        num_hands: int = 1,
        reward: str = "equity",
        render_mode: str | None = None,
        seat: int = 0,
        opponents: Policy | Sequence[Policy] | None = None,
        illegal_action: str = "penalise",
        **options: Any,
    ) -> None:
        """Seat the learner and the opponents.

        Args:
            num_players: seats.
            rules: `BeastRules` or `BestiaRules`; every option may also be a keyword.
            num_hands: hands in an episode.
            reward: "equity" or "coins" (B-18), in coins.
            render_mode: None; "human", a window that shows every act; "ansi", text; or "rgb_array",
                pictures: of what the learner sees.
            seat: the learner's; the first dealer is drawn, so that every position comes up.
            opponents: one policy for all other seats, or one for each in order of seat; uniformly
                random if None.
            illegal_action: "penalise" annuls the hand and ends the episode, "raise" raises a
                ValueError.
            **options: options of the rules, each replacing that of `rules`.

        Raises:
            ValueError: an argument has a value that is not allowed.
            TypeError: there is no such option.
            ImportError: the render mode needs the extra `human`, which is not installed.
        """
        rules = game_named(self.table_class.game_name).make_rules(rules, options)
        self._table = self.table_class(num_players, rules, num_hands, reward, render_mode)
        self.render_mode = self._table.render_mode
        self.illegal_action = checked_choice("illegal_action", illegal_action, ILLEGAL_ACTION)
        self.seat = self._table.seen_from = checked_seat(seat, num_players)
        self._agent = self._table.possible_agents[self.seat]
        self._opponents = _policies_by_seat(opponents, num_players, self.seat)
        self._rng = np.zeros(1, np.uint64)
        self._reward = 0.0  # since the learner's last action
        table_space = self._table.observation_space(self._agent)
        assert isinstance(table_space, spaces.Dict)
        self.observation_space = table_space["observation"]
        self.action_space = self._table.action_space(self._agent)

    @property
    def table(self) -> TableEnv:
        """The table at which the learner sits; its state is not for policies.

        `table.last_record` is the hand settled last as data (`bestia_env.records`).
        """
        return self._table

    @property
    def observation_pieces(self) -> dict[str, slice]:
        """The place of every piece of the observation by its name."""
        return self._table.observation_pieces

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal, and let the others play up to the learner's first decision.

        Sessions that end before the learner has one are passed over.

        Args:
            seed: of all deals and opponents.
            options: as for the AEC environment: `deck`, `heap`, `dealer`, `pot`.

        Returns:
            Observation (D,) float32, and infos with the mask of legal actions (A,) int8.

        Raises:
            ValueError: an option is malformed, or the deal given leaves the learner no decision.
        """
        seed = checked_seed(seed)
        deals = DealOptions.read(
            options,
            self._table.game,
            self._table.num_players,
            self._table.num_hands,
            self._table.rules,
        )
        super().reset(seed=seed)
        while True:
            self._reward = 0.0
            self._table.reset_from(self.np_random, deals)
            self._rng[0] = stream(self._table.states["key"][0], OPPONENTS_STREAM)
            self._let_others_play()
            if not self._over():
                return self._observation(), self._info()
            if deals.decks:
                raise ValueError("the deck given ends the session before the learner decides")

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action, and let the others play up to its next decision.

        Returns:
            Observation, reward (coins) of all hands settled since the learner's last action,
            terminated, truncated (never) and infos.

        Raises:
            ValueError: the action is not one of the action space; or it is not legal now and
                `illegal_action` is "raise".
            RuntimeError: the episode is over, or an opponent failed.
        """
        self._check_turn()
        try:
            self._step(action)
        except IllegalActionError:
            if self.illegal_action == "raise":
                raise
            self._table.annul()
            self._reward += self._table.rewards[self._agent]
        self._let_others_play()
        reward, self._reward = self._reward, 0.0
        return self._observation(), reward, self._over(), False, self._info()

    def action_masks(self) -> np.ndarray:
        """The legal actions of the learner, (A,) bool, as sb3-contrib's MaskablePPO asks for.

        Raises:
            RuntimeError: the episode is over.
        """
        self._check_turn()
        return self._table.observe(self._agent)["action_mask"].astype(bool)

    def render(self) -> Any:
        """The table as the learner sees it, in the render mode; see `TableEnv.render`."""
        return self._table.render()

    def _repr_svg_(self) -> str | None:
        """The same as a picture for notebooks; nothing before the first deal."""
        return self._table._repr_svg_()

    def close(self) -> None:
        """Close the window if there is one."""
        self._table.close()

    def _check_turn(self) -> None:
        """It is not the learner's after a policy has failed, either."""
        if not self._table.agents or self._over():
            raise RuntimeError("no episode is in progress: call reset() first")
        if self._table.agent_selection != self._agent:
            raise RuntimeError("an opponent failed to act: call reset() first")

    def _step(self, action: Any) -> None:
        self._table.step(action)
        self._reward += self._table.rewards[self._agent]

    def _let_others_play(self) -> None:
        table = self._table
        turn = table.states["turn"]
        while not self._over() and turn[0] != self.seat:
            seat = int(turn[0])
            views = np.empty_like(table.states)
            look(table.states, 0, seat, views, 0)
            legal = engine.legal_actions(table.states, 0)
            self._step(self._opponents[seat].act(views, legal, self._rng))

    def _over(self) -> bool:
        return self._table.terminations[self._agent]

    def _observation(self) -> np.ndarray:
        return self._table.observe(self._agent)["observation"]

    def _info(self) -> dict[str, Any]:
        mask = self._table.observe(self._agent)["action_mask"]
        return {**self._table.infos[self._agent], "action_mask": mask}


class BeastEnv(SeatEnv):
    """Beast for one learner; actions, observation, options as in `bestia_env.beast_v0`.

    The observation is the flat vector; infos hold the mask under "action_mask", and
    `action_masks()` gives it as booleans.
    """

    table_class = BeastTable
    metadata = BeastTable.metadata


class BestiaEnv(SeatEnv):
    """Bestia for one learner; actions, observation, options as in `bestia_env.bestia_v0`.

    The observation is the flat vector; infos hold the mask under "action_mask", and
    `action_masks()` gives it as booleans.
    """

    table_class = BestiaTable
    metadata = BestiaTable.metadata


def checked_seat(seat: Any, num_players: int) -> int:
    """The learner's seat; raises a ValueError if there is none such."""
    if not is_integer(seat) or not 0 <= seat < num_players:
        raise ValueError(f"seat must be from 0 to {num_players - 1}, not {seat!r}")
    return int(seat)


def _policies_by_seat(
    opponents: Policy | Sequence[Policy] | None, num_players: int, seat: int
) -> dict[int, Policy]:
    others = [other for other in range(num_players) if other != seat]
    if opponents is None:
        opponents = Uniform()
    if not isinstance(opponents, Sequence):
        opponents = [opponents] * len(others)
    if len(opponents) != len(others):
        raise ValueError(
            f"opponents must be one policy, or {len(others)} for {num_players} players, "
            f"not {len(opponents)}"
        )
    for policy in opponents:
        if isinstance(policy, type) or not callable(getattr(policy, "act", None)):
            raise ValueError(
                f"an opponent must have a method act(view, legal, rng), not {policy!r}"
            )
    return dict(zip(others, opponents, strict=True))
