"""Positions that a search need not tell apart (partition search: Ginsberg 2001).

What has been found out about a position often depends on the ranks of few cards: those that took
a trick from others of their suit. It holds wherever all seats have as many cards of each suit, the
past is the same, and the highest cards of each suit, down to the lowest that told, are held by the
same seats: the cards below may be dealt in any way. Nor need the past be the same, where all
depends on who wins the hand, see `agents.solve.needs`.

Patterns are written one after the other, round and round. Those whose keys share a chain hang on
it from the newest to the oldest that has not been written over; so all of a chain is there, as far
as their numbers fall.
"""

from __future__ import annotations

import numpy as np

from agents.solve.needs import has_needed
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, highest, lowest, nth, size, without_lowest
from bestia_env.rng import stream
from bestia_env.rules.table import NO_CARD
from bestia_env.rules.tricks import suit_cards, suit_of

PATTERN = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),  # of all but who holds which, or who holds the highest, too
            ("low", np.int64),  # bounds of the score
            ("high", np.int64),
            ("holders", np.uint64, (4,)),  # who holds the cards of each suit, see `note_holders`
            ("told", np.uint64, (4,)),  # which bits of it tell
            ("need", np.uint64),  # and what of the past, see `agents.solve.needs`
            ("next", np.int64),  # the number of the pattern before it in the chain
        ],
    )
)
"""What has been found out about positions that are alike."""

_SEAT, _LENGTH, _SUIT = np.uint64(4), np.uint64(3), np.uint64(18)  # bits
_TOP = np.uint64(15)  # the bits of the highest card of a suit


@jit
def note_holders(room, g):
    """Write who holds the cards of each suit, four bits for each card, and the keys."""
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
    past = np.uint64(g.trick) if room.facts[0].few else g.past
    g.key = stream(stream(past, np.uint64(g.turn)), lengths) ^ room.facts[0].stamp
    g.top_key = stream(g.key, _tops(g))


@jit
def _tops(g):
    """Who holds the highest card of each suit."""
    tops = ZERO
    for suit in range(4):
        tops = (tops << _SEAT) | (g.holders[nth(suit)] & _TOP)
    return tops


@jit
def is_found(room, f, g):
    """Write the score of g if a pattern leaves no more to ask in the window of f."""
    facts = room.facts[0]
    oldest = max(facts.void, facts.kept - room.patterns.size) + 1
    for key in (g.top_key, g.key):
        number = room.chains[_chain(room, key)]
        while number >= oldest:
            pattern = room.patterns[_place(room, number)]
            if pattern.key == key and _is_enough(pattern, f):
                won = pattern.low >= f.high
                if has_needed(g.ahead[nth(won)], pattern.need) and _fits(pattern, g):
                    g.score = pattern.low if won else pattern.high
                    g.told, g.need = _cards_told(room, pattern, g), pattern.need
                    return True
            number = pattern.next
    return False


@jit
def _is_enough(pattern, f):
    return pattern.low >= f.high or pattern.high <= f.low or pattern.low == pattern.high


@jit
def _chain(room, key):
    return key & np.uint64(room.chains.size - 1)


@jit
def _place(room, number):
    return np.uint64(number) & np.uint64(room.patterns.size - 1)


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
    room.facts[0].kept += 1
    number = room.facts[0].kept
    pattern = room.patterns[_place(room, number)]
    pattern.low, pattern.high, pattern.need = low, high, g.need
    key = g.top_key
    for suit in range(4):
        cards = g.held & suit_cards(suit, room.states[0].pack.size // 4)
        pattern.holders[nth(suit)] = g.holders[nth(suit)]
        count = _count_told(cards, g.told & cards)
        pattern.told[nth(suit)] = (ONE << np.uint64(4 * count)) - ONE
        if count == 0 and cards != ZERO:
            key = g.key
    pattern.key = key
    pattern.next, room.chains[_chain(room, key)] = room.chains[_chain(room, key)], number


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


@jit
def as_good(room, f, told):
    """The cards not tried yet that are worth what the card tried last is.

    They are of its suit, and like it lower than any card that told in its score. If that is their
    neighbour in the same hand they would be told by it, and are tried.
    """
    ranks = room.states[0].pack.size // 4
    suit = suit_cards(suit_of(f.card, ranks), ranks)
    like, line = f.left & suit, told & suit
    if like == ZERO or line == ZERO:
        return like
    first = lowest(line)
    if f.card >= first:
        return ZERO
    like &= bit(first) - ONE
    hand = room.dealt[nth(f.turn)] & f.held
    if has(hand, first):
        rivals = (f.held if f.best == NO_CARD else f.held | bit(f.best)) & ~hand & suit
        rivals &= bit(first) - ONE
        apart = bit(highest(rivals)) - ONE if rivals != ZERO else ZERO
        return like & apart if has(apart, f.card) else ZERO
    return like
