"""The rows of strategy charts: classes of hands, and of upcards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Values = tuple[float, ...]


@dataclass(frozen=True)
class Grid:
    """Rows of a chart.

    Attributes:
        title: over it.
        decision: which decision it shows.
        by: expressions by which hands are told apart.
        rows: names of the rows.
        row: the row of a hand, from the values of the expressions.
        has_seats: is the seat told apart too? Else only the dealer is asked.
    """

    title: str
    decision: str
    by: tuple[str, ...]
    rows: tuple[str, ...]
    row: Callable[[Values], int]
    has_seats: bool = True


RANKS = ("2", "4", "5", "6", "7", "fante", "cavallo", "re", "3", "ace")
UPCARDS = ("2 to 9", "10", "jack", "queen", "king", "ace")


def _bestia_row(values: Values) -> int:
    trumps, top, aces = (int(value) for value in values[:3])
    if trumps == 0:
        return min(aces, 2)
    if trumps == 1:
        return 3 + top
    return 13 + (top >= RANKS.index("fante")) if trumps == 2 else 15


def _beast_row(values: Values) -> int:
    trumps, honours = (int(value) for value in values[:2])
    before = (0, 1, 3, 6, 10)[min(trumps, 4)]
    return before + (honours if trumps < 4 else 0)


def _upcard_row(values: Values) -> int:
    return max(int(values[0]) - 7, 0)


BESTIA_ROWS = (
    *("no trump", "no trump, one ace", "no trump, two aces"),
    *(f"one trump: {rank}" for rank in RANKS),
    *("two, up to the 7", "two, fante or higher", "three trumps"),
)
BEAST_ROWS = (
    "no trump",
    *(f"1 trump, {h} honour{'s' * (h != 1)}" for h in range(2)),
    *(f"{t} trumps, {h} honour{'s' * (h != 1)}" for t in (2, 3) for h in range(t + 1)),
    "4 trumps or more",
)
GRIDS = {
    "bestia": (
        Grid(
            "Knock, exchange or pass",
            "knock",
            ("trumps", "top_trump", "sides(ace)"),
            BESTIA_ROWS,
            _bestia_row,
        ),
    ),
    "beast": (
        Grid(
            "Play (honours: jack or higher)",
            "play",
            ("trumps", "trumps(jack)"),
            BEAST_ROWS,
            _beast_row,
        ),
        Grid("Counter", "counter", ("trumps", "trumps(jack)"), BEAST_ROWS, _beast_row),
        Grid("Take the upcard", "take", ("upcard",), UPCARDS, _upcard_row, has_seats=False),
    ),
}
