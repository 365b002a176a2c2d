"""The bidding of Bestia as a table reads it: classes of hands, and places in the bidding.

The upcard is out of play where nobody can gather it, so that trumps count by their order among
the nine others, whatever it is; side suits are alike but for their names. Hands that differ in
nothing else are one class: the game is the same for both, and this loses nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import math

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import bit, has, lowest, nth, size, without_lowest
from bestia_env.rules.bestia import (
    AT_AUCTION,
    AT_OFFER,
    CARDS_EACH,
    EXCHANGE,
    KNOCK,
    PASS,
    RANKS,
    REFUSE,
)
from bestia_env.rules.table import eldest
from bestia_env.rules.tricks import suit_cards

PLAYERS = range(3, 7)  # with more the dealer may gather the upcard (I-07, I-08)
TRUMPS = RANKS - 1  # besides the upcard
OTHERS = TRUMPS + 3 * RANKS  # cards that a seat may be dealt
ALIKE = 6  # side cards below the re are much alike
QUIET, LOUD = (PASS, REFUSE), (KNOCK, EXCHANGE)  # by phase
_SUIT = np.uint64((1 << RANKS) - 1)
_CHOOSE = np.array([[math.comb(k, j) for k in range(OTHERS)] for j in range(CARDS_EACH + 1)])


def _suits(hand: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The strengths in trumps, then in each side suit, of a hand of places 0–38."""
    edges = [0, *range(TRUMPS, OTHERS + 1, RANKS)]
    return [
        tuple(card - first for card in hand if first <= card < stop)
        for first, stop in itertools.pairwise(edges)
    ]


def _numbered(keys: list) -> np.ndarray:
    """The place of each key among all that differ, sorted."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], np.int16)


def _canonical(hand: tuple[int, ...]) -> tuple:
    trumps, *sides = _suits(hand)
    return trumps, *sorted(sides, reverse=True)


def _rough(hand: tuple[int, ...]) -> tuple:
    """The same with side cards below the re all alike."""
    trumps, *sides = _suits(hand)
    sides = [tuple(max(strength, ALIKE) for strength in side) for side in sides]
    return trumps, *sorted(sides, reverse=True)


# All hands in the order of their numbers: of places a < b < c that is C(a,1) + C(b,2) + C(c,3).
_HANDS = sorted(itertools.combinations(range(OTHERS), CARDS_EACH), key=lambda hand: hand[::-1])
_CLASSES = _numbered([_canonical(hand) for hand in _HANDS])
CLASSES = int(_CLASSES.max()) + 1
"""How many classes of hands there are."""
FAMILIES = np.empty(CLASSES, np.int64)
"""(CLASSES,) the rough class of each, by which rare ones are judged."""
FAMILIES[_CLASSES] = _numbered([_rough(hand) for hand in _HANDS])
CLASSES_HASH = hashlib.sha256(_CLASSES.tobytes()).hexdigest()[:16]
"""Changes with what a table relies on."""
SHARES = np.bincount(_CLASSES) / len(_HANDS)
"""(CLASSES,) how often each is dealt."""


def check_players(num_players: int) -> None:
    """Raise a ValueError unless so many may have a table of bids."""
    if num_players not in PLAYERS:
        raise ValueError(
            f"bids of bestia are solved for {PLAYERS[0]} to {PLAYERS[-1]} players, not "
            f"{num_players}: with more the upcard may come back into play (I-08)"
        )


@jit
def hand_class(s, seat):
    """The class of the cards that a seat holds; -1 if it does not hold three."""
    held = s.hands[nth(seat)]
    if size(held) != CARDS_EACH:
        return -1
    places = _places(s, held)
    number = 0
    for k in range(1, CARDS_EACH + 1):
        number += _CHOOSE[k, lowest(places)]
        places = without_lowest(places)
    return np.int64(_CLASSES[number])


@jit
def _places(s, held):
    """The cards as a set of places: the other trumps from 0 on, then the side suits."""
    trumps = (held & suit_cards(s.trump, RANKS)) >> np.uint64(s.trump * RANKS)
    below = bit(s.upcard % RANKS) - np.uint64(1)
    places = (trumps & below) | ((trumps & ~below) >> np.uint64(1))
    first = TRUMPS
    for suit in range(4):
        if suit != s.trump:
            places |= ((held >> np.uint64(suit * RANKS)) & _SUIT) << np.uint64(first)
            first += RANKS
    return places


# Places in the bidding. A node is what has been said: in the auction by those before; at an offer
# by everybody in the auction, and by those before who have been offered.


def num_nodes(num_players: int) -> int:
    """How many nodes there are."""
    return 3**num_players - 1


def num_entries(num_players: int) -> int:
    """The entries of a table: nodes × classes."""
    return num_nodes(num_players) * CLASSES


@jit
def bidding(s):
    """Is the hand still in its auction or its offers?"""
    return s.phase == AT_AUCTION or s.phase == AT_OFFER


@jit
def decides(s):
    """Every bid is the table's."""
    return bidding(s)


@jit
def quiet(s):
    """What a seat does that stays out."""
    return PASS if s.phase == AT_AUCTION else REFUSE


@jit
def loud(s):
    """What a seat does that comes in."""
    return KNOCK if s.phase == AT_AUCTION else EXCHANGE


@jit
def entry(s, hand):
    """The entry of a table for the seat to act that holds a hand of this class."""
    return node(s) * CLASSES + hand


@jit
def node(s):
    """The node of the seat to act."""
    n, place = s.num_players, (s.turn - eldest(s)) % s.num_players
    said = np.int64(0)
    if s.phase == AT_AUCTION:
        for before in range(place):
            said += np.int64(has(s.knocked, _seat(s, before))) << before
        return (1 << place) - 1 + said
    for before in range(place):
        said = 3 * said + has(s.refused, _seat(s, before)) + 2 * has(s.exchanged, _seat(s, before))
    for behind in range(place + 1, n):
        said = 2 * said + has(s.passed, _seat(s, behind))
    return 3**place * 2 ** (n - place) - 1 + said


@jit
def _seat(s, place):
    return (eldest(s) + place) % s.num_players


def parents(num_players: int) -> np.ndarray:
    """(nodes,) int64, where the same seat has passed before, -1 in the auction.

    The nodes at which a seat is asked first come before those at which it is asked again.
    """
    n = num_players
    found = np.full(num_nodes(n), -1)
    for place in range(n):
        first, width = 3**place * 2 ** (n - place) - 1, 2 ** (n - 1 - place)
        for k in range(3**place):
            digits = [k // 3 ** (place - 1 - before) % 3 for before in range(place)]
            said = sum((digit == 0) << before for before, digit in enumerate(digits))
            found[first + k * width : first + (k + 1) * width] = (1 << place) - 1 + said
    return found


@jit
def agent(s):
    """Who decides: the seat to act."""
    return s.turn


def num_agents(num_players: int) -> int:
    """How many agents there are: the seats."""
    return num_players


def askers(num_players: int) -> np.ndarray:
    """(nodes,) int64, the place of the seat that is asked, counted from the eldest as 0."""
    n = num_players
    auction = [place for place in range(n) for _ in range(2**place)]
    offers = [place for place in range(n) for _ in range(3**place * 2 ** (n - 1 - place))]
    return np.array(auction + offers)


@jit
def outcome(s):
    """A number for what has been said when the bidding is over."""
    return np.int64(s.knocked | (s.exchanged << np.uint64(s.num_players)))


def num_outcomes(num_players: int) -> int:
    """One more than the greatest outcome."""
    return 4**num_players
