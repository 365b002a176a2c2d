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

MOST_CARDS = 20
"""Held by all, up to which tricks are solved where rules let cards be played that cost a fine.

There are too many ways to play then: 20 cards of Beast took 2 s, 28 of Bestia 8 s, and each card
more three times as long. Under other rules all took less than 1 s, 42 cards of Beast as well.
"""


@dataclass(frozen=True)
class Hindsight:
    """A decision in the tricks with all cards open.

    Attributes:
        num_cards: how many cards all hold together.
        solutions: by each of `agents.solve.values.AGAINST`, for the seat that decides; None if it
            would take long, see `MOST_CARDS`.
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
    is_bounded = _may_be_fined(record)
    before = list(states(record))[: len(record.actions)]
    return [
        _hindsight(state, room, is_bounded)
        if game.phases(state[0].phase).name == "TRICKS"
        else None
        for state in before
    ]


def _may_be_fined(record: Record) -> bool:
    """Do the rules let cards be played that cost a fine (B-13, I-17)?"""
    return "penalty" in (record.rules.revoke, getattr(record.rules, "maxims", "off"))


def _hindsight(state: np.ndarray, room: Room, is_bounded: bool) -> Hindsight:
    num_cards = sum(int(hand).bit_count() for hand in state[0].hands)
    if is_bounded and num_cards > MOST_CARDS:
        return Hindsight(num_cards, None)
    return Hindsight(num_cards, {against: solve(state, None, against, room) for against in AGAINST})
