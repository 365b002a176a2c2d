"""What the solvers have in common: the line of play in hand, and positions met before.

Positions are compared where a trick begins, by 64 bits mixed from all that tells in the rest of
the hand; that two of one search have the same by chance is less likely than a fault of the machine.
Scores are n times the equity in coins (B-18), which are integers, so that ties are ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, highest, lowest, nth, without_lowest
from bestia_env.games import game_named
from bestia_env.rng import stream
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import apply, legal, rulebook_of
from bestia_env.rules.table import NO_CARD, equity
from bestia_env.rules.tricks import suit_of

EXACT, AT_LEAST, AT_MOST = range(3)
_PLACE = np.uint64(6)  # bits for each seat in a key: tricks 3, revoked 1, of the game 2


class Room(NamedTuple):
    """Where a solver works: rows of the line of play, by ply from the root; then the table.

    Attributes:
        states: (plies + 1,) records.
        left: (plies + 1,) uint64, the cards not tried yet.
        keys: (plies + 1,) uint64, the position's key.
        scores: (plies + 1, n) int64, those of the best card so far.
        low: (plies + 1,) int64, what the coalition's opponent has elsewhere.
        high: (plies + 1,) int64, what the coalition has elsewhere.
        search: (1,) int64, the number of this search; what others left in the table is void.
        slot_search: (slots,) int64, the search that filled the slot.
        slot_keys: (slots,) uint64, of which position.
        slot_scores: (slots, n) int64, its scores.
        slot_bounds: (slots,) int8, EXACT, AT_LEAST or AT_MOST.
    """

    states: np.ndarray
    left: np.ndarray
    keys: np.ndarray
    scores: np.ndarray
    low: np.ndarray
    high: np.ndarray
    search: np.ndarray
    slot_search: np.ndarray
    slot_keys: np.ndarray
    slot_scores: np.ndarray
    slot_bounds: np.ndarray


def make_room(game: str, num_players: int, slot_bits: int = 16) -> Room:
    """Room for either solver, to be used for any number of hands.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        slot_bits: the table has 2**slot_bits slots, 0 to 28.

    Raises:
        ValueError: an argument is out of range.
    """
    chosen = game_named(game)
    chosen.check_seats(num_players)
    if not 0 <= slot_bits <= 28:
        raise ValueError(f"slot_bits must be from 0 to 28, not {slot_bits!r}")
    plies, slots = num_players * chosen.tricks(num_players) + 1, 1 << slot_bits
    return Room(
        np.zeros(plies, chosen.dtype),
        np.zeros(plies, np.uint64),
        np.zeros(plies, np.uint64),
        np.zeros((plies, num_players), np.int64),
        np.zeros(plies, np.int64),
        np.zeros(plies, np.int64),
        np.zeros(1, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.uint64),
        np.zeros((slots, num_players), np.int64),
        np.zeros(slots, np.int8),
    )


@jit
def begin(states, i, room):
    """Put states[i] at the root, where every legal card is tried, and void the table."""
    room.states[0] = states[i]
    room.left[0] = legal(room.states[0])
    room.search[0] += 1


@jit
def play_next(room, ply):
    """Play the lowest card not tried yet; the position after it stands at the next ply."""
    card = lowest(room.left[ply])
    room.left[ply] = without_lowest(room.left[ply])
    room.states[ply + 1] = room.states[ply]
    apply(room.states[ply + 1], card)


@jit
def card_tried(room, ply):
    """The card that was played last at this ply."""
    return room.states[ply + 1].play_card[nth(room.states[ply].plays)]


@jit
def score(s, seat):
    """The seat's equity in a settled hand, times n."""
    return np.int64(round(s.num_players * equity(s, seat)))


@jit
def copy_row(source, i, target, j):
    """target[j] = source[i], for which numba would make an array between."""
    for seat in range(source.shape[1]):
        target[j, seat] = source[i, seat]


# Cards that differ in name only.


@jit
def distinct_cards(s):
    """The legal cards of the seat to act, of those that are as good as each other the lowest.

    These are neighbours in suit, held by one seat, among the cards that may still take a trick;
    nothing but their order tells, except under the maxims, which name the ace and the highest.
    """
    cards = legal(s)
    if _maxims_hold(s):
        return cards
    rivals = _rivals(s)
    distinct, left = ZERO, cards
    while left != ZERO:
        if not _follows_another(s, lowest(left), cards, rivals):
            distinct |= bit(lowest(left))
        left = without_lowest(left)
    return distinct


@jit
def _rivals(s):
    """All cards held, and the best of the trick."""
    rivals = ZERO if s.best == NO_CARD else bit(s.best)
    for seat in range(s.num_players):
        rivals |= s.hands[nth(seat)]
    return rivals


@jit
def _follows_another(s, card, cards, rivals):
    """Is the next lower card of the suit among these cards?"""
    ranks, lower = s.pack.size // 4, rivals & (bit(card) - ONE)
    if lower == ZERO:
        return False
    return has(cards, highest(lower)) and suit_of(highest(lower), ranks) == suit_of(card, ranks)


# The table.


@jit
def find_slot(room, ply):
    """The slot that holds the position at this ply, or -1; notes the position's key."""
    if room.states[ply].led != NO_CARD:
        return -1
    room.keys[ply] = _key(room.states[ply])
    slot = _slot(room, ply)
    known = room.slot_search[slot] == room.search[0] and room.slot_keys[slot] == room.keys[ply]
    return slot if known else -1


@jit
def remember(room, ply, bound):
    """Keep the scores of the position at this ply, if a trick begins there."""
    if room.states[ply].led != NO_CARD:
        return
    slot = _slot(room, ply)
    room.slot_search[slot] = room.search[0]
    room.slot_keys[slot] = room.keys[ply]
    copy_row(room.scores, ply, room.slot_scores, slot)
    room.slot_bounds[slot] = bound


@jit
def _slot(room, ply):
    return np.int64(room.keys[ply] & np.uint64(room.slot_keys.size - 1))


@jit
def _key(s):
    """64 bits of what tells in the rest of the hand, where a trick begins."""
    key, marks = np.uint64(s.turn), ZERO
    for seat in range(s.num_players):
        key = stream(key, s.hands[nth(seat)])
        mark = s.tricks[nth(seat)] | (s.revoked[nth(seat)] << 3) | (_mark(s, seat) << 4)
        marks = (marks << _PLACE) | np.uint64(mark)
    return stream(key, marks)


# What each game adds.


def _maxims_hold(s):
    """Do the maxims tell some cards from their neighbours?"""
    return _maxims_hold_of(s)(s)


def _mark(s, seat):
    """What the game alone notes of a seat in the tricks, from 0 to 3."""
    return _mark_of(s)(s, seat)


def _maxims_hold_of(s):
    return _maxims_hold_beast if rulebook_of(s) is beast else _maxims_hold_bestia


def _mark_of(s):
    return _mark_beast if rulebook_of(s) is beast else _mark_bestia


@overload(_maxims_hold)
def _maxims_hold_compiled(s):
    implementation = _maxims_hold_of(s)
    return lambda s: implementation(s)


@overload(_mark)
def _mark_compiled(s, seat):
    implementation = _mark_of(s)
    return lambda s, seat: implementation(s, seat)


@jit
def _maxims_hold_beast(s):
    return False


@jit
def _maxims_hold_bestia(s):
    return s.maxims != bestia.MAXIMS_OFF


@jit
def _mark_beast(s, seat):
    return np.int64(s.front == seat)


@jit
def _mark_bestia(s, seat):
    return np.int64(s.breaches[nth(seat)])
