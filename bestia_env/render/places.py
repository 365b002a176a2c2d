"""Where everything lies in the picture of a table: a canvas of 640 by 512, in its units."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 512
HEADER = 44  # its height
OWN_TOP = 402  # the strip of the seat at the bottom begins here
MIDDLE = (320, 266)
_STEEP = 1.6  # how much a panel's height counts for that of the card played

# The middles of the panels from the right-hand neighbour to the seat opposite or the last before
# it, by number of players; those on the left mirror them.
_RIGHT_HALF = {
    2: ((320, 95),),
    3: ((530, 142),),
    4: ((552, 244), (320, 95)),
    5: ((552, 264), (440, 92)),
    6: ((552, 292), (552, 152), (320, 92)),
    7: ((570, 324), (570, 190), (410, 92)),
    8: ((570, 334), (570, 216), (462, 92), (320, 92)),
    9: ((570, 346), (570, 240), (570, 134), (392, 92)),
    10: ((570, 346), (570, 240), (570, 134), (446, 92), (320, 92)),
}


@dataclass(frozen=True)
class Place:
    """Where a seat's panel lies, and the card that it plays: the middle of each."""

    x: float
    y: float
    played: tuple[float, float]


@dataclass(frozen=True)
class Sizes:
    """How large things are at a table.

    Attributes:
        width: of a panel.
        height: of a panel.
        card: the height of the cards in it.
        ring: half axes of the ellipse on which the cards played lie.
    """

    width: float
    height: float
    card: float
    ring: tuple[float, float]


_ROOMY = Sizes(160, 93, 57, (128, 86))
_USUAL = Sizes(160, 84, 48, (128, 92))
_NARROW = Sizes(124, 84, 45, (164, 94))
_SIZES = {2: _ROOMY, 3: _ROOMY, 4: _ROOMY, 5: _USUAL, 6: _USUAL}


@dataclass(frozen=True)
class Plan:
    """The table for one number of players.

    Attributes:
        sizes: of panels and cards.
        places: of all seats but the one at the bottom, anticlockwise from its right.
        own: the place of the card that the seat at the bottom plays.
    """

    sizes: Sizes
    places: list[Place]
    own: tuple[float, float]


def plan(num_players: int) -> Plan:
    """The table for so many players, from 2 to 10."""
    sizes = _SIZES.get(num_players, _NARROW)
    right = list(_RIGHT_HALF[num_players])
    left = [(WIDTH - x, y) for x, y in reversed(right) if x != MIDDLE[0]]
    places = [Place(x, y, _towards(x, y, sizes.ring)) for x, y in right + left]
    return Plan(sizes, places, _towards(*_BOTTOM, sizes.ring))


_BOTTOM = (MIDDLE[0], HEIGHT)


def _towards(x: float, y: float, ring: tuple[float, float]) -> tuple[float, float]:
    """The point of the ring in the direction of (x, y)."""
    dx, dy = x - MIDDLE[0], (y - MIDDLE[1]) * _STEEP
    length = math.hypot(dx, dy)
    return MIDDLE[0] + ring[0] * dx / length, MIDDLE[1] + ring[1] * dy / length
