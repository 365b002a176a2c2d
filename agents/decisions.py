"""What an action is worth: the same deal played on from one decision, once for each action.

One seat is asked, the others play by a policy of the field. Up to the decision the asked seat does
what keeps it in the way of being asked, whatever it holds: to be offered new cards it passes, to
counter it neither takes nor plays. From the decision on it plays by a policy of its own. Hands are
dealt as they fall, so means are over what the others may really hold, given what they have said.

Each deal is asked about at one seat only, so that observations are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.bidding.language import Expressions
from agents.bidding.machine import STACK, Program, evaluate
from agents.duplicate import Table
from agents.matches import act_turns, choose, deal_copies, play, score_seats, seed_players, tag
from agents.policies import Policy
from bestia_env._jit import jit
from bestia_env.bits import has
from bestia_env.engine import new_states
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import legal
from bestia_env.view import look

FIELD, ASKED = range(2)  # places in the list of who plays


@dataclass(frozen=True)
class Decision:
    """A decision of the bidding.

    Attributes:
        name: what it is called.
        phase: in which it is made.
        actions: that may be chosen, the quiet one first.
        before: earlier phases, with what the asked seat does there to be asked here.
    """

    name: str
    phase: int
    actions: tuple[int, ...]
    before: tuple[tuple[int, int], ...] = ()

    @property
    def is_of_dealer(self) -> bool:
        """Is only the dealer asked? (BEAST-08)."""
        return self.phase == beast.AT_TAKE and self.actions[0] == beast.LEAVE


DECISIONS = {
    "bestia": (
        Decision("knock", bestia.AT_AUCTION, (bestia.PASS, bestia.KNOCK)),
        Decision(
            *("exchange", bestia.AT_OFFER, (bestia.REFUSE, bestia.EXCHANGE)),
            before=((bestia.AT_AUCTION, bestia.PASS),),
        ),
    ),
    "beast": (
        Decision("take", beast.AT_TAKE, (beast.LEAVE, beast.TAKE)),
        Decision(
            *("play", beast.AT_DECLARE, (beast.PASS, beast.PLAY, beast.SHOW)),
            before=((beast.AT_TAKE, beast.LEAVE),),
        ),
        Decision(
            *("counter", beast.AT_COUNTER, (beast.PASS, beast.COUNTER, beast.SHOW)),
            before=((beast.AT_TAKE, beast.LEAVE), (beast.AT_DECLARE, beast.PASS)),
        ),
    ),
}


def decision_named(name: str, game: str) -> Decision:
    """A decision of a game.

    Raises:
        ValueError: there is none of this name.
    """
    for decision in DECISIONS[game]:
        if decision.name == name:
            return decision
    names = ", ".join(decision.name for decision in DECISIONS[game])
    raise ValueError(f"decision of {game} must be one of {names}, not {name!r}")


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        table: at which table.
        decision: which decision.
        players: who plays: the field, and who the asked seat goes on as.
        classes: the expressions by which hands are told apart.
        seat: of the asked, counted from the eldest as 0; None for all in turn.
    """

    table: Table
    decision: Decision
    players: tuple[Policy, Policy]
    classes: Expressions
    seat: int | None = None


class Answers(NamedTuple):
    """What came of it, a row for each hand in which the seat was asked.

    Attributes:
        classes: (K, F) float64, the values of the expressions.
        chosen: (K,) int64, the place of the action that the asked seat's own policy takes.
        worth: (K, A) float64, equity in pots per hand after each action, NaN where not legal.
        change: (K, A) float64, coins in pots that the seat gets or pays from the decision on; more
            than 0 for a trick of Bestia or a hand won, less for a bête or a match.
    """

    classes: np.ndarray
    chosen: np.ndarray
    worth: np.ndarray
    change: np.ndarray


def ask(question: Question, deals: tuple[int, int]) -> Answers:
    """Ask in the deals from deals[0] to deals[1] - 1.

    The answers depend on the table's seed and each deal's number alone.
    """
    states, seated, chances = _deal(question, *deals)
    asked = np.argmax(seated < 0, axis=1)
    _play_to(states, question, seated, chances, asked)
    reached = _is_asked(states, asked, question.decision.phase)
    states, seated, chances = states[reached], seated[reached], chances[reached]
    asked = asked[reached]
    own = np.take_along_axis(chances, asked[:, None], axis=1)[:, 0]
    classes = _values(question.classes.program, states, own.copy())
    chosen = choose(question.players[ASKED], states, own.copy())
    seated[np.arange(asked.size), asked] = ASKED
    outcomes = [
        _outcome(question, states, seated, chances, asked, action)
        for action in question.decision.actions
    ]
    places = np.argmax(chosen[:, None] == np.array(question.decision.actions), axis=1)
    worth, change = (np.stack(part, axis=1) for part in zip(*outcomes, strict=True))
    return Answers(classes, places, worth, change)


def _deal(question: Question, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States as dealt, who sits where, and the players' generators; nobody sits to be asked."""
    table, n = question.table, question.table.num_players
    states = new_states(table.game, n, table.rules, stop - start)
    deal_copies(states, 1, table.keys.deals, start, table.carried)
    place = np.arange(start, stop) % n if question.seat is None else question.seat
    if question.decision.is_of_dealer:
        place = n - 1
    asked = (states["dealer"] + 1 + place) % n
    seated = np.full((states.size, n), FIELD)
    seated[np.arange(states.size), asked] = ASKED
    chances = np.empty(seated.shape, np.uint64)
    tags = np.array([tag(policy) for policy in question.players], np.uint64)
    seed_players(chances, seated, tags, table.keys.players, start)
    seated[seated == ASKED] = -1
    return states, seated, chances


def _play_to(
    states: np.ndarray,
    question: Question,
    seated: np.ndarray,
    chances: np.ndarray,
    asked: np.ndarray,
) -> None:
    """Play until the seat is asked, or has been passed by."""
    play(states, question.players, seated, chances)
    for phase, action in question.decision.before:
        early = np.flatnonzero(_is_asked(states, asked, phase))
        act_turns(states, early, np.full(early.size, action))
        play(states, question.players, seated, chances)


def _is_asked(states: np.ndarray, asked: np.ndarray, phase: int) -> np.ndarray:
    return (states["turn"] == asked) & (states["phase"] == phase)


def _outcome(
    question: Question,
    states: np.ndarray,
    seated: np.ndarray,
    chances: np.ndarray,
    asked: np.ndarray,
    action: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Worth and change (K,) float64 after an action, both in pots; NaN where it is not legal."""
    worth, change = np.full((2, states.size), np.nan)
    able = np.flatnonzero(_may(states, action))
    played, seats, luck = states[able], asked[able], chances[able]
    before, pots = _of_seats(played["gains"], seats), played["pot"].astype(float)
    act_turns(played, np.arange(able.size), np.full(able.size, action))
    play(played, question.players, seated[able], luck)
    scores = np.empty(luck.shape, np.int64)
    score_seats(played, scores)
    worth[able] = _of_seats(scores, seats) / (luck.shape[1] * pots)
    change[able] = (_of_seats(played["gains"], seats) - before) / pots
    return worth, change


def _of_seats(numbers: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """(K,): of each row (K, n) what belongs to its seat."""
    return np.take_along_axis(numbers, seats[:, None], axis=1)[:, 0]


def _may(states: np.ndarray, action: int) -> np.ndarray:
    """(K,) bool: is the action legal?"""
    out = np.empty(states.size, np.bool_)
    _find_legal(states, action, out)
    return out


@jit
def _find_legal(states, action, out):
    for i in range(states.size):
        out[i] = has(legal(states[i]), action)


def _values(program: Program, states: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(K, F) float64: the values of a program's expressions for the seats to act."""
    values = np.empty((states.size, program.actions.size))
    if states.size:
        _evaluate(program, states, chances, states[:1].copy(), np.empty(STACK), values)
    return values


@jit
def _evaluate(program, states, chances, views, stack, values):
    for i in range(states.size):
        look(states, i, states[i].turn, views, 0)
        for k in range(values.shape[1]):
            values[i, k] = evaluate(program, k, views[0], chances[i : i + 1], stack)
