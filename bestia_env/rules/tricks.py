"""Tricks: who must follow, who is winning, and the record of cards played."""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, nth, or_else
from bestia_env.rules.table import NO_CARD, NOBODY


@jit
def suit_of(card, ranks):
    """The suit of a card."""
    return np.int64(nth(card) // np.uint64(ranks))


@jit
def suit_cards(suit, ranks):
    """All cards of a suit."""
    return ((ONE << np.uint64(ranks)) - ONE) << np.uint64(suit * ranks)


@jit
def follow(held, suit):
    """The cards of the suit led, or any card when there is none (BEAST-24, BEAST-26)."""
    return or_else(held & suit, held)


@jit
def beats(card, best, ranks, trump):
    """Does `card` take the trick from `best`? (BEAST-27, BESTIA-27)."""
    suit, best_suit = suit_of(card, ranks), suit_of(best, ranks)
    return (suit == best_suit and card > best) or (suit != best_suit and suit == trump)


@jit
def cards_that_beat(best, ranks, trump):
    """All cards that take the trick from `best`."""
    suit = suit_of(best, ranks)
    higher = suit_cards(suit, ranks) & ~(bit(best) | (bit(best) - ONE))
    return higher if suit == trump else higher | suit_cards(trump, ranks)


@jit
def show_void(s, seat, suit, shown):
    """Note that the seat holds none of the suit, if it has shown so.

    Where a revoke is allowed nothing is ever shown (B-13). There is no branch here because it
    would be hard to predict.
    """
    s.voids[nth(seat)] |= np.uint8((shown and not s.revoke_allowed) << suit)


@jit
def lay_card(s, seat, card, ranks):
    """Move the card from the hand to the trick."""
    s.hands[nth(seat)] &= ~bit(card)
    s.play_card[nth(s.plays)] = card
    s.play_seat[nth(s.plays)] = seat
    s.plays += 1
    if s.led == NO_CARD:
        s.led = card
    wins = s.best == NO_CARD or beats(card, s.best, ranks, s.trump)
    s.best = card if wins else s.best
    s.best_seat = seat if wins else s.best_seat


@jit
def gather_trick(s):
    """The winner takes the trick; returns his seat. He leads the next (BEAST-28, BESTIA-28)."""
    winner = s.best_seat
    s.tricks[nth(winner)] += 1
    s.trick += 1
    s.led = s.best = NO_CARD
    s.best_seat = NOBODY
    if s.trick < s.trick_start.size:
        s.trick_start[nth(s.trick)] = s.plays
    return winner


@jit
def table_cards(s):
    """How many cards lie in the current trick."""
    return s.plays - s.trick_start[nth(s.trick)] if s.trick < s.trick_start.size else 0


@jit
def trick_cards(s):
    """The cards of the current trick."""
    cards = ZERO
    for i in range(s.plays - table_cards(s), s.plays):
        cards |= bit(s.play_card[nth(i)])
    return cards


@jit
def pairs(mine, others, ranks):
    """How many of the others' strengths can each beat one lower of mine: ν of B-12.

    Sets of strengths of one suit; so many of mine less ν are sure to win if the suit is trump.
    """
    waiting = found = 0
    for strength in range(ranks):
        if has(mine, strength):
            waiting += 1
        elif has(others, strength) and waiting > 0:
            waiting -= 1
            found += 1
    return found
