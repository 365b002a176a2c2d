"""The worth of each action by class of hand, from the answers of `agents.decisions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.decisions import Answers, Question, ask
from agents.duplicate import check_policies
from agents.estimates import Estimate, Moments, Proportion
from agents.processes import in_order
from bestia_env.rules.table import check_coins

PIECE = 8192  # deals that are asked about at once; results depend on it in their last bits only
# What is summed up for each action of a class, beside the number of hands.
_SUMS = ("able", "worth", "worth²", "both", "gain", "gain²", "won", "lost", "chosen")


@dataclass(frozen=True)
class ClassWorth:
    """A class of hands.

    Attributes:
        values: of the expressions by which classes are told apart.
        count: hands.
        worth: of each action, in pots per hand, over the hands in which it is legal.
        gain: of each action over the quiet one, the first, on the same deals.
        won: how often the seat gains coins after each action: by a trick of Bestia, or the hand.
        lost: how often it pays: a bête, or a match.
        chosen: how often the seat's own policy takes each action.
    """

    values: tuple[float, ...]
    count: int
    worth: tuple[Estimate, ...]
    gain: tuple[Estimate, ...]
    won: tuple[Proportion, ...]
    lost: tuple[Proportion, ...]
    chosen: tuple[Proportion, ...]


@dataclass(frozen=True)
class Worth:
    """The worth of the actions of a decision.

    Attributes:
        question: what was asked.
        num_deals: deals, in some of which the seat was never asked.
        classes: sorted by their values.
        total: all hands as one class.
        sums: (A, sums) of every class by its values, what the classes were made from.
    """

    question: Question
    num_deals: int
    classes: tuple[ClassWorth, ...]
    total: ClassWorth
    sums: dict[tuple[float, ...], np.ndarray] = field(repr=False)

    def by(self, key: Callable[[tuple[float, ...]], tuple[float, ...]]) -> tuple[ClassWorth, ...]:
        """The classes merged by what a key makes of their values, and sorted by it."""
        return _classes(_merged(self.sums, key))

    def by_first(self, count: int) -> tuple[ClassWorth, ...]:
        """The classes as the first expressions alone tell them apart."""
        return self.by(lambda values: values[:count])


def worth_of_actions(
    question: Question,
    num_deals: int,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Worth:
    """Ask in so many deals.

    Args:
        question: what to ask.
        num_deals: deals, each asked about at one seat.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of deals as they are done.

    Raises:
        ValueError: an argument is out of range, or a policy cannot sit at the table.
    """
    check_coins("deals", num_deals, least=2)
    check_coins("jobs", jobs, least=1)
    check_question(question)
    starts = range(0, num_deals, PIECE)
    pieces = [(start, min(start + PIECE, num_deals)) for start in starts]
    sums: dict[tuple[float, ...], np.ndarray] = {}
    for piece, found in zip(pieces, in_order(_sums, (question,), pieces, jobs, (0, 1))):
        _add(sums, found)
        if progress is not None:
            progress(piece[1] - piece[0])
    total = _classes(_merged(sums, lambda values: ()))
    nothing = np.zeros((len(question.decision.actions), len(_SUMS)))
    return Worth(
        question, num_deals, _classes(sums), total[0] if total else _class((), nothing), sums
    )


def check_question(question: Question) -> None:
    """Raise a ValueError if a policy cannot sit at the table, or there is no such seat."""
    check_policies(question.table, question.players)
    last = question.table.num_players - 1
    if question.seat is not None:
        check_coins("seat", question.seat, least=0, most=last)
        if question.decision.is_of_dealer and question.seat != last:
            raise ValueError(f"seat must be {last}: only the dealer may take (BEAST-08)")


def _sums(question: Question, deals: tuple[int, int]) -> dict[tuple[float, ...], np.ndarray]:
    """(A, sums) of every class in some deals."""
    answers = ask(question, deals)
    values, places = np.unique(answers.classes, axis=0, return_inverse=True)
    sums = np.zeros((len(values), *answers.worth.shape[1:], len(_SUMS)))
    np.add.at(sums, places.reshape(-1), _terms(answers))
    return {tuple(row): part for row, part in zip(values.tolist(), sums, strict=True)}


def _terms(answers: Answers) -> np.ndarray:
    """(K, A, sums): what each hand adds."""
    able = ~np.isnan(answers.worth)
    both = able & able[:, :1]
    worth = np.where(able, answers.worth, 0)
    gain = np.where(both, worth - worth[:, :1], 0)
    chosen = answers.chosen[:, None] == np.arange(worth.shape[1])
    change = np.where(able, answers.change, 0)
    terms = (able, worth, worth**2, both, gain, gain**2, change > 0, change < 0, chosen)
    return np.stack([np.asarray(term, np.float64) for term in terms], axis=-1)


def _add(sums: dict[tuple[float, ...], np.ndarray], more: dict) -> None:
    for values, part in more.items():
        sums[values] = sums[values] + part if values in sums else part


def _merged(sums: dict, key: Callable[[tuple], tuple]) -> dict[tuple[float, ...], np.ndarray]:
    merged: dict[tuple[float, ...], np.ndarray] = {}
    for values, part in sums.items():
        _add(merged, {key(values): part})
    return merged


def _classes(sums: dict[tuple[float, ...], np.ndarray]) -> tuple[ClassWorth, ...]:
    return tuple(_class(values, sums[values]) for values in sorted(sums))


def _class(values: tuple[float, ...], sums: np.ndarray) -> ClassWorth:
    """Of the sums (A, sums) of a class; its quiet action is always legal."""
    count = int(sums[0, 0])
    columns = dict(zip(_SUMS, sums.T, strict=True))
    return ClassWorth(
        values,
        count,
        _estimates(columns["able"], columns["worth"], columns["worth²"]),
        _estimates(columns["both"], columns["gain"], columns["gain²"]),
        _proportions(columns["won"], columns["able"]),
        _proportions(columns["lost"], columns["able"]),
        _proportions(columns["chosen"], [count] * len(sums)),
    )


def _estimates(*columns: np.ndarray) -> tuple[Estimate, ...]:
    return tuple(
        Moments(int(count), float(total), float(squares)).estimate()
        for count, total, squares in zip(*columns, strict=True)
    )


def _proportions(counts: Sequence[float], totals: Sequence[float]) -> tuple[Proportion, ...]:
    return tuple(Proportion(int(c), int(t)) for c, t in zip(counts, totals, strict=True))
