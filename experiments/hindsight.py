"""What the cards of a recorded hand were worth with all cards open, solved exactly.

It is hindsight, a measure of play: no player could know it while hands are hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.solve.search import Room, make_room
from agents.solve.values import AGAINST, Solution, solve
from bestia_env.games import game_named
from bestia_env.records import Record, states

MOST_CARDS = {"beast": 24, "bestia": 50}
"""Of how many cards held by all the tricks are solved, for want of time."""


@dataclass(frozen=True)
class Hindsight:
    """A decision in the tricks with all cards open.

    Attributes:
        num_cards: how many cards all hold together.
        solutions: by each of `agents.solve.values.AGAINST`, for the seat that decides; None if
            they hold too many cards.
    """

    num_cards: int
    solutions: dict[str, Solution] | None

    def worths(self, against: str) -> dict[int, float]:
        """What each legal card is worth to the seat, in pots per hand; only if it is solved."""
        assert self.solutions is not None
        found = self.solutions[against]
        column = found.turn if against == "each" else 0
        return {card: float(values[column]) for card, values in found.values.items()}


def hindsights(record: Record) -> list[Hindsight | None]:
    """All decisions of a hand, None outside of the tricks.

    Args:
        record: a hand, to its end or not.

    Returns:
        For each action of the record what can be told of the decision.

    Raises:
        ValueError: the record is false (`bestia_env.records.check`).
    """
    game, room = game_named(record.game), make_room(record.game, record.num_players)
    before = list(states(record))[: len(record.actions)]
    return [
        _hindsight(state, MOST_CARDS[game.name], room)
        if game.phases(state[0].phase).name == "TRICKS"
        else None
        for state in before
    ]


def _hindsight(state: np.ndarray, most_cards: int, room: Room) -> Hindsight:
    num_cards = sum(int(hand).bit_count() for hand in state[0].hands)
    if num_cards > most_cards:
        return Hindsight(num_cards, None)
    return Hindsight(num_cards, {against: solve(state, None, against, room) for against in AGAINST})
