"""Positions that a search need not tell apart (partition search: Ginsberg 2001).

What has been found out about a position often depends on the ranks of few cards: those that took
a trick from others of their suit. It holds wherever all seats have as many cards of each suit, the
past is the same, and the highest cards of each suit, down to the lowest that told, are held by the
same seats: the cards below may be dealt in any way.
"""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, lowest, nth, size, without_lowest
from bestia_env.rng import stream
from bestia_env.rules.table import NO_CARD
from bestia_env.rules.tricks import suit_cards, suit_of

PATTERN = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),  # of all but who holds which
            ("low", np.int64),  # bounds of the score
            ("high", np.int64),
            ("holders", np.uint64, (4,)),  # who holds the cards of each suit, see `note_holders`
            ("told", np.uint64, (4,)),  # which bits of it tell
        ],
    )
)
"""What has been found out about positions that are alike."""

WAYS = 8
"""Places for patterns with one key."""
_SEAT, _LENGTH, _SUIT = np.uint64(4), np.uint64(3), np.uint64(18)  # bits


@jit
def note_holders(room, g):
    """Write who holds the cards of each suit, four bits for each card, and the key."""
    s, lengths = room.states[0], ZERO
    for suit in range(4):
        cards, holders = g.held & suit_cards(suit, s.pack.size // 4), ZERO
        if suit < 3:  # how long the last is follows from the others
            lengths = lengths << _SUIT
        while cards != ZERO:  # from the lowest, so that the highest has the lowest bits
            seat = np.uint64(room.owner[nth(lowest(cards))])
            holders = (holders << _SEAT) | seat
            if suit < 3:
                lengths += ONE << (seat * _LENGTH)
            cards = without_lowest(cards)
        g.holders[nth(suit)] = holders
    key = stream(g.past, np.uint64(g.turn))
    g.key = stream(key, lengths) ^ room.facts[0].stamp


@jit
def is_found(room, f, g):
    """Write the score of g if a pattern leaves no more to ask in the window of f."""
    first = _first_place(room, g)
    for place in range(first, first + WAYS):
        pattern = room.patterns[nth(place)]
        if pattern.key == g.key and _fits(pattern, g):
            if pattern.low >= f.high or pattern.low == pattern.high:
                g.score = pattern.low
                g.told = _cards_told(room, pattern, g)
                return True
            if pattern.high <= f.low:
                g.score = pattern.high
                g.told = _cards_told(room, pattern, g)
                return True
    return False


@jit
def _first_place(room, g):
    key = g.key ^ room.facts[0].stamp
    return np.int64(key & np.uint64(room.patterns.size // WAYS - 1)) * WAYS


@jit
def _fits(pattern, g):
    for suit in range(4):
        different = pattern.holders[nth(suit)] ^ g.holders[nth(suit)]
        if different & pattern.told[nth(suit)] != ZERO:
            return False
    return True


@jit
def _cards_told(room, pattern, g):
    """The cards of g whose ranks the pattern knows."""
    told = ZERO
    for suit in range(4):
        cards = g.held & suit_cards(suit, room.states[0].pack.size // 4)
        for _ in range(size(cards) - size(pattern.told[nth(suit)]) // 4):
            cards = without_lowest(cards)
        told |= cards
    return told


@jit
def keep(room, g, low, high):
    """Keep bounds of the score of g, for all positions that are alike in the cards that told."""
    facts = room.facts[0]
    facts.kept += 1
    pattern = room.patterns[nth(_first_place(room, g) + facts.kept % WAYS)]
    pattern.key, pattern.low, pattern.high = g.key, low, high
    for suit in range(4):
        cards = suit_cards(suit, room.states[0].pack.size // 4)
        pattern.holders[nth(suit)] = g.holders[nth(suit)]
        count = _count_told(g.held & cards, g.told & cards)
        pattern.told[nth(suit)] = (ONE << np.uint64(4 * count)) - ONE


@jit
def _count_told(cards, told):
    """How many cards of the suit are not below the lowest that told."""
    return 0 if told == ZERO else size(cards & ~(bit(lowest(told)) - ONE))


@jit
def who_took(g, ranks):
    """The card that has won the trick, if its rank told: if there were others of its suit."""
    suit = suit_cards(suit_of(g.best, ranks), ranks)
    return ZERO if g.cards & suit & ~bit(g.best) == ZERO else bit(g.best)


@jit
def told_by_all(room, f, told):
    """The cards that tell if the card tried last stands for others that are as good.

    If one of those told, so would the lowest of them, had another been played in its place.
    """
    ranks = room.states[0].pack.size // 4
    line = told & suit_cards(suit_of(f.card, ranks), ranks)
    if line == ZERO or lowest(line) <= f.card:
        return told
    hand = room.dealt[nth(f.turn)] & f.held
    rivals = f.held if f.best == NO_CARD else f.held | bit(f.best)
    between = (bit(lowest(line)) - ONE) & ~(bit(f.card) | (bit(f.card) - ONE))
    if has(hand, lowest(line)) and rivals & ~hand & between == ZERO:
        return told | bit(f.card)
    return told
