"""Small games of known size, to be solved exactly: reductions with names (B-19, I-24).

They are for research and no games that people play. Each keeps what makes its game: in Beast
taking, declaring, countering and showing, in Bestia knocking, passing and the exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestia_env.rules.beast import BeastRules
from bestia_env.rules.bestia import BestiaRules


@dataclass(frozen=True)
class Reduction:
    """A reduction of a game, for so many players.

    Attributes:
        name: its name, such as "beast2-tiny".
        game: "beast" or "bestia".
        num_players: seats.
        rules: `BeastRules` or `BestiaRules`, to be given to whatever takes rules.
        idea: what there is to it, in a line.
        nodes: about how many decisions and ends of hands its tree has, over all deals and, in
            Bestia, all new cards.
    """

    name: str
    game: str
    num_players: int
    rules: Any
    idea: str
    nodes: int


def _beast(name: str, num_players: int, ranks: int, cards: int, nodes: int, idea: str) -> Reduction:
    rules = BeastRules(ranks=ranks, suits=2, cards=cards)
    return Reduction(name, "beast", num_players, rules, idea, nodes)


def _bestia(
    name: str, num_players: int, ranks: int, cards: int, nodes: int, idea: str
) -> Reduction:
    stake = 6 if cards == 2 else 3
    rules = BestiaRules(stake=stake, ranks=ranks, suits=2, cards=cards)
    return Reduction(name, "bestia", num_players, rules, idea, nodes)


_ALL = (
    _beast("beast2-tiny", 2, 3, 1, 4_400, "one trick: the ace of trumps may be shown"),
    _beast("beast2-small", 2, 3, 2, 13_000, "two tricks, of which the first decides"),
    _beast("beast2-medium", 2, 4, 2, 120_000, "two tricks, and cards that nobody sees"),
    _beast("beast2-large", 2, 4, 3, 630_000, "three tricks as in the full game for two"),
    _beast("beast3-tiny", 3, 2, 1, 2_000, "one trick from aces and kings, all of them dealt"),
    _beast("beast3-small", 3, 3, 1, 29_000, "one trick: a third seat may beat both declarers"),
    _beast("beast3-medium", 3, 4, 1, 130_000, "one trick, and cards that nobody sees"),
    _beast("beast3-large", 3, 4, 2, 1_000_000, "two tricks with everything that Beast has"),
    _bestia("bestia2-tiny", 2, 2, 1, 680, "one trick from aces and threes"),
    _bestia("bestia2-small", 2, 3, 1, 6_600, "one trick, and a stock of three to exchange from"),
    _bestia("bestia2-medium", 2, 4, 2, 290_000, "two tricks, exchanged from the stock"),
    _bestia("bestia3-tiny", 3, 2, 1, 2_700, "one trick; no stock, so an exchange gathers"),
    _bestia("bestia3-small", 3, 3, 1, 63_000, "one trick, and a stock of two to exchange from"),
    _bestia("bestia3-medium", 3, 4, 1, 860_000, "one trick, and a stock of four"),
    _bestia(
        "bestia3-large",
        3,
        4,
        2,
        4_000_000,
        "two tricks; an exchange gathers, two at most get new cards",
    ),
)
REDUCTIONS = {reduction.name: reduction for reduction in _ALL}
"""The reductions by their names, from the smallest on for each game and number of players."""


def reduction_named(name: str) -> Reduction:
    """The reduction of this name.

    Raises:
        ValueError: there is none.
    """
    try:
        return REDUCTIONS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"reduction must be one of {', '.join(REDUCTIONS)}, not {name!r}"
        ) from None
