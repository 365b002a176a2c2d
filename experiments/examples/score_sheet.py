"""What a recipe checks its framework against: illegal moves, and coins as the records have them.

A sheet lies between an environment and the framework that plays it, and takes nothing from the
rewards. Under PettingZoo each settled hand is played over from its record, and the coins that every
seat won there are added up; of Gymnasium's vector environments it reads the infos.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pettingzoo
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from pettingzoo.utils import BaseWrapper

from agents.estimates import Moments
from bestia_env import records
from bestia_env.rules.table import equity


class ScoreSheet(BaseWrapper):
    """A PettingZoo environment that keeps account of every session.

    Attributes:
        sessions: (n,) float64 for each session that has ended, every seat's coins or equity.
        moves: actions carried out.
        illegal: those of them that were not allowed by the mask.
    """

    def __init__(
        self, game: str, *, sessions: list[np.ndarray] | None = None, **keywords: Any
    ) -> None:
        """Make the environment.

        Args:
            game: "bestia" or "beast".
            sessions: where scores go, for tables that share a list in the order of their ends.
            **keywords: of the environment.
        """
        super().__init__(pettingzoo.make("aec", f"bestia_env/{game}-v0", **keywords))
        self.sessions: list[np.ndarray] = [] if sessions is None else sessions
        self.moves = self.illegal = 0

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a session, and with it a row of the sheet."""
        super().reset(seed=seed, options=options)
        self._row = np.zeros(len(self.possible_agents))

    def step(self, action: Any) -> None:
        """Note whether the action is legal, carry it out, and note what a settled hand paid."""
        agent, was_over = self.agent_selection, self.terminations[self.agent_selection]
        if not was_over:
            self.moves += 1
            self.illegal += int(not self.observe(agent)["action_mask"][action])
        super().step(action)
        if was_over:
            return
        if self.unwrapped.hand_over and (record := self.unwrapped.last_record) is not None:
            self._row += self._scores(records.check(record)[0])
        if all(self.terminations.values()):
            self.sessions.append(self._row)

    def _scores(self, settled: np.record) -> np.ndarray:
        seats = range(len(self.possible_agents))
        if self.unwrapped.reward == "equity":
            return np.array([equity(settled, seat) for seat in seats])
        return settled.gains[: len(seats)].astype(float)


class VectorSheet(VectorWrapper):
    """A vector environment, one learner's seat at each table, that keeps account likewise.

    It takes the scores from the infos: coins, and with `num_players` also the seat's share of the
    pot, which is what sessions that begin with an empty pot pay with `reward="equity"`.

    Attributes:
        sessions: float, the learner's score in each session that has ended.
        moves: actions carried out.
        illegal: those of them that were not allowed by the mask.
    """

    def __init__(self, env: VectorEnv, num_players: int | None = None) -> None:
        super().__init__(env)
        self._num_players = num_players
        self._next_step = env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        self.sessions: list[float] = []
        self.moves = self.illegal = 0

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begin."""
        observations, infos = super().reset(**keywords)
        self._masks, self._idle = infos["action_mask"], np.zeros(self.num_envs, bool)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Note whether the actions are legal, carry them out, and note what sessions paid."""
        allowed = self._masks[np.arange(self.num_envs), actions] > 0
        self.moves += int((~self._idle).sum())
        self.illegal += int((~self._idle & ~allowed).sum())
        observations, rewards, over, truncated, infos = super().step(actions)
        self._masks, self._idle = infos["action_mask"], over & self._next_step
        final = infos.get("final_info", infos)
        for i in np.flatnonzero(over):
            share = final["pot"][i] / self._num_players if self._num_players else 0.0
            self.sessions.append(final["coins"][i] + share)
        return observations, rewards, over, truncated, infos


class Outcome(NamedTuple):
    """What a recipe did.

    Attributes:
        steps: moves, or steps of all tables together.
        illegal: those of them that the mask did not allow.
        sessions: that have ended.
        difference: the greatest between a seat's return in the framework and on the sheet, coins.
        seconds: wall time from the first step to the last, learning included.
        cpu_seconds: likewise of all threads of this process.
    """

    steps: int
    illegal: int
    sessions: int
    difference: float
    seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        """In three lines."""
        return (
            f"{self.steps:,} steps in {self.sessions:,} sessions, {self.illegal} illegal\n"
            f"returns differ from the score sheet by at most {self.difference:.2g} coins\n"
            f"{self.steps / self.seconds:,.0f} steps/s, "
            f"{1e3 * self.cpu_seconds / self.steps:.3g} ms of CPU a step"
        )


class Clock:
    """Takes the time from when it is made."""

    def __init__(self) -> None:
        self._began, self._cpu_began = time.perf_counter(), time.process_time()

    def outcome(
        self, steps: int, illegal: int, returns: Sequence[Any], sheet: Sequence[Any]
    ) -> Outcome:
        """What was done until now; the returns and the sheet's scores are (sessions, …), coins.

        Raises:
            ValueError: they are not of as many sessions and seats, or of none.
        """
        seconds = time.perf_counter() - self._began, time.process_time() - self._cpu_began
        ours, theirs = np.array(sheet, float), np.array(returns, float)
        if ours.shape != theirs.shape or not ours.size:
            raise ValueError(f"returns have shape {theirs.shape}, the score sheet {ours.shape}")
        return Outcome(steps, illegal, len(ours), float(np.abs(ours - theirs).max()), *seconds)


def mean(scores: Sequence[float]) -> str:
    """The mean with its 95 % interval, as "+0.12 ± 0.05"."""
    values = np.array(scores, float)
    estimate = Moments(len(values), values.sum(), (values**2).sum()).estimate()
    return f"{estimate.mean:+.3f} ± {estimate.half_width:.3f}"
