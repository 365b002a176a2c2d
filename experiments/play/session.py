"""One table: a person and policies, hand after hand.

A session is its settings and all actions so far; from these it is played again, to the same
state, whenever it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from agents.policies import Policy
from bestia_env import engine
from bestia_env.aec import BeastTable, BestiaTable, TableEnv
from bestia_env.records import Record, check
from bestia_env.rng import seed_sequence_keys, stream
from bestia_env.view import look
from experiments import narration
from experiments.play.advising import Question
from experiments.play.messages import Refusal
from experiments.play.settings import Settings
from experiments.play.words import ME

_ENVS = {"beast": BeastTable, "bestia": BestiaTable}
_ENDLESS = 2**62  # hands


class Outdated(Refusal):
    """The table has moved on since the page was drawn that sent this."""


class Session:
    """A table in play. Whoever uses it from several threads holds a lock.

    Attributes:
        settings: what it was set up with.
        game: the game.
        hands: the actions of every hand so far, the last one in progress or just over.
        log: of that last hand, in sentences.
        records: of the hands that are over.
        equities: what each of them was worth to the person, in coins (B-18).
    """

    def __init__(self, settings: Settings, hands: Sequence[Sequence[int]] = ((),)) -> None:
        """Seat everybody, and play all hands again.

        Raises:
            ValueError: an action among `hands` is not legal.
        """
        self.settings = settings
        env: TableEnv = _ENVS[settings.game](
            settings.num_players, settings.rules, num_hands=_ENDLESS
        )
        env.reset(seed=settings.seed, options={"pot": settings.pot})
        self.game, self._env = env.game, env
        self._chances = seed_sequence_keys(settings.seed, 1)[0]
        self._opponents: dict[int, Policy] = {}
        self._settled: np.ndarray | None = None  # the hand just over, until the next is begun
        self.hands: list[list[int]] = [[]]
        self.log = [self._dealt()]
        self.records: list[Record] = []
        self.equities: list[float] = []
        self._play_again(hands)

    def _play_again(self, hands: Sequence[Sequence[int]]) -> None:
        for number, actions in enumerate(hands):
            if number:
                self._begin_hand()
            for action in actions:
                self._step(action)

    @property
    def names(self) -> list[str]:
        """What the seats are called on the page."""
        others = range(1, self.settings.num_players)
        return [self.settings.name, *(f"player_{seat}" for seat in others)]

    @property
    def states(self) -> np.ndarray:
        """(1,) record, the hand in progress or just over."""
        return self._env.states if self._settled is None else self._settled

    @property
    def is_over(self) -> bool:
        """Is the hand over, and the next not begun?"""
        return self._settled is not None

    @property
    def seen(self) -> int:
        """The number of actions so far, beginnings of hands after the first included."""
        return sum(map(len, self.hands)) + len(self.hands) - 1

    @property
    def legal(self) -> list[int]:
        """The person's legal actions; none if others are to act or the hand is over."""
        s = self.states[0]
        actions = int(engine.legal_actions(self.states, 0)) if s.turn == ME else 0
        return [action for action in range(self.game.num_actions) if actions >> action & 1]

    def _view(self, seat: int) -> np.ndarray:
        """(1,) record, what a seat may know."""
        views = np.empty_like(self.states)
        look(self.states, 0, seat, views, 0)
        return views

    # What the person does.

    def act(self, action: int, seen: int) -> None:
        """Carry out an action of the person's; then let the others act, see `others_act`.

        Args:
            action: an action.
            seen: the number of actions that it answers to.

        Raises:
            Outdated: there have been other actions since, or the hand is over.
            Refusal: it is not legal.
        """
        self.check_seen(seen)
        if self.states[0].turn != ME:
            what = "the hand is over: begin the next" if self.is_over else "others are to act"
            raise Outdated(409, what)
        try:
            self._step(action)
        except ValueError as error:
            raise Refusal(400, str(error), "action") from None

    def begin_next_hand(self, seen: int) -> None:
        """Deal the next hand once one is over.

        Raises:
            Outdated: there have been other actions since, or the hand is not over.
        """
        self.check_seen(seen)
        if not self.is_over:
            raise Outdated(409, "the hand is not over")
        self._begin_hand()

    def check_seen(self, seen: int) -> None:
        """Raise Outdated unless so many actions have been carried out."""
        if seen != self.seen:
            raise Outdated(
                409, f"the table has moved on: it has seen {self.seen} actions, not {seen}", "seen"
            )

    def question(self, seen: int) -> Question:
        """The choice that the person has, for advice.

        Raises:
            Outdated: it is another by now, or there is none.
        """
        self.check_seen(seen)
        if not self.legal:
            raise Outdated(409, "there is nothing to choose now")
        return Question(self.game, self.settings, self._view(ME), self.legal)

    # What the others do.

    def others_act(self) -> Iterator[None]:
        """Let the policies act, one after another, up to the person's turn or the hand's end.

        Yields:
            None, after every action.

        Raises:
            Refusal: a policy cannot be loaded (any more).
        """
        while not self.is_over and self.states[0].turn != ME:
            self._step(self._choice(int(self.states[0].turn)))
            yield

    def _choice(self, seat: int) -> int:
        """What the policy in a seat does; its chances depend on the seed and `seen` alone."""
        self._opponents = self._opponents or self.settings.opponents()
        chances = np.uint64(stream(self._chances, seat))
        rng = np.array([stream(chances, self.seen)], np.uint64)
        legal = int(engine.legal_actions(self.states, 0))
        return self._opponents[seat].act(self._view(seat), legal, rng)

    # One action, whoever's.

    def _step(self, action: int) -> None:
        """Carry it out; the environment deals the next hand at once, so the end is kept here.

        Raises:
            ValueError: the action is not legal; nothing has changed.
        """
        if self.is_over:
            raise ValueError("the hand is over")
        before = self.states.copy()
        self._env.step(action)
        self.hands[-1].append(action)
        if self._env.hand_over:
            self._settle()
        self._tell(before, action)

    def _tell(self, before: np.ndarray, action: int) -> None:
        seat = int(before[0].turn)
        deed, hidden = narration.deed(self.game, before, action)
        told = deed if seat == ME or hidden is None else hidden
        effects = narration.effects(self.game, before, self.states, self.names)
        self.log += [f"{self.names[seat]} {told}", *effects]

    def _settle(self) -> None:
        record = self._env.last_record
        assert record is not None
        self._settled = check(record)
        self.records.append(replace(record, players=(self.settings.name, *self.settings.policies)))
        self.equities.append(self._env.rewards[self._env.possible_agents[ME]])

    def _begin_hand(self) -> None:
        if not self.is_over:
            raise ValueError("the hand is not over")
        self._settled = None
        self.hands.append([])
        self.log = [self._dealt()]

    def _dealt(self) -> str:
        number = self.states[0].hand_number + 1
        return f"Hand {number}: {narration.dealt(self.game, self.states, self.names)}"
