"""Tricks that are certain from the cards in all hands, where a trick begins.

They are placed as tricks are in the past, see `agents.solve.past`.
"""

from __future__ import annotations

import numpy as np

from agents.solve.past import place, some_of
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, highest, lowest, nth, size, without_lowest
from bestia_env.rules.tricks import suit_cards

_MOST = 64  # cards of a suit, and more


@jit
def sure_tricks(room, g):
    """What trumps alone make sure of.

    A trump loses to a higher one in the same trick only: those of a seat that are left when as many
    as possible are paired with higher ones of others take a trick each, whatever anybody plays
    (B-12). A greedy pass from the lowest trump finds the pairs of all seats at once.
    """
    s = room.states[0]
    trumps = g.held & suit_cards(s.trump, s.pack.size // 4)
    waiting = ZERO
    while trumps != ZERO:
        holder = ONE << place(room.owner[nth(lowest(trumps))])
        waiting = waiting - (some_of(waiting) & ~holder) + holder
        trumps = without_lowest(trumps)
    return waiting


@jit
def cashed_tricks(room, g):
    """What the seat that leads takes if it begins with its masters of plain suits.

    A master is a card that no other hand holds a higher one of; it takes its trick while all who
    hold trumps must follow. Once they have drawn the suit from all others its other cards do, too.
    The ranks of these masters tell: they are noted as g.told.
    """
    s, cashed = room.states[0], 0
    for suit in range(4):
        mine = room.dealt[nth(g.turn)] & g.held & suit_cards(suit, s.pack.size // 4)
        if suit != s.trump and mine != ZERO:
            cashed += _cashed(room, g, mine, suit_cards(suit, s.pack.size // 4))
    return np.uint64(cashed) << place(g.turn)


@jit
def _cashed(room, g, mine, suit):
    """How many cards of a suit the seat that leads can cash."""
    others = g.held & suit & ~mine
    masters = mine
    if others != ZERO:
        masters = mine & ~((bit(highest(others)) - ONE) | bit(highest(others)))
    longest, count = 0, _MOST
    for seat in range(room.states[0].num_players):
        if seat != g.turn:
            length = size(room.dealt[nth(seat)] & others)
            longest = max(longest, length)
            count = min(count, length) if _has_trumps(room, g, seat) else count
    count = min(count, size(mine if longest <= size(masters) else masters))
    if masters == ZERO or count == 0:
        return 0
    if others != ZERO:
        g.told |= masters
    return count


@jit
def _has_trumps(room, g, seat):
    s = room.states[0]
    return room.dealt[nth(seat)] & g.held & suit_cards(s.trump, s.pack.size // 4) != ZERO
