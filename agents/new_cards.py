"""Luck of the new cards of Bestia's exchange, the one chance event after the deal.

Whoever exchanges is dealt new cards from the stock, or from what was gathered (I-06 to I-08).
Given all that came before, every way to deal them from these cards is as likely as any other. So
they are drawn again a few times, the tricks of each draw and of the cards that were dealt are
played out by a baseline in all seats, and what a seat wins there with the cards dealt, less what
it wins with those drawn, has a mean of exactly zero, whoever played and whatever the baseline is
worth. It is the term of AIVAT (see `agents.control_variates`) for that event.

No card comes twice, nor one that was dealt, while there are others: the dealt cards and the draws
are then parts of one shuffle, any of which might as well have been dealt, and tell more together.
"""

from __future__ import annotations

import numpy as np

from agents.baselines.bestia import SOUND, act
from agents.equilibria.exchange import exchange_pool
from agents.replays import said
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, first_from, has, member, nth, size
from bestia_env.rng import below, stream
from bestia_env.rules.bestia import AT_TRICKS, apply, deal, legal, open_pot
from bestia_env.rules.table import NOBODY, eldest, settled_score

DRAWS = 3
_BEFORE, _HAND = range(2)  # the records to work in


def luck_of_new_cards(states: np.ndarray, key: np.uint64, first_hand: int) -> np.ndarray:
    """What the new cards have brought every seat, by the baseline's play.

    Args:
        states: (B,) records of settled hands of Bestia, dealt from their own keys, none a force.
        key: of the draws, uint64, of which nothing else is drawn.
        first_hand: the number of the first hand.

    Returns:
        (B, n) float64, in n-ths of a coin; 0 where no new cards were dealt, or to a lone taker.
    """
    luck = np.zeros((states.size, int(states[0].num_players)))
    rng = np.empty(1, np.uint64)
    _add_luck(states, np.uint64(key), first_hand, rng, np.empty(2, states.dtype), luck)
    return luck


@jit
def _add_luck(states, key, first_hand, rng, work, luck):
    for i in range(states.size):
        if states[i].exchanged != ZERO and size(states[i].playing) > 1:
            rng[0] = stream(key, first_hand + i)
            _bid_again(states, i, work)
            pool = exchange_pool(work[_BEFORE])
            left = pool & ~_new_cards(work[_BEFORE])
            for draw in range(DRAWS + 1):
                work[_HAND] = work[_BEFORE]
                if draw > 0:
                    left = draw_new_cards(work[_HAND], pool, left, rng)
                _play_out(work[_HAND], rng)
                share = 1.0 if draw == 0 else -1.0 / DRAWS
                for seat in range(luck.shape[1]):
                    luck[i, seat] += share * settled_score(work[_HAND], seat)


@jit
def _bid_again(states, i, work):
    """The hand from its deal up to the tricks, once more: all its cards hang on its key."""
    work[_BEFORE] = states[i]
    s = work[_BEFORE]
    open_pot(s, states[i].carried)
    deal(s)
    while s.phase != AT_TRICKS:
        apply(s, said(states[i], s.phase, s.turn))


@jit
def _new_cards(s):
    """The set of all that have just been dealt."""
    cards = ZERO
    for seat in range(s.num_players):
        if has(s.exchanged, seat):
            cards |= s.hands[nth(seat)]
    return cards


@jit
def draw_new_cards(s, pool, left, rng):
    """Deal all who exchanged other new cards.

    Args:
        s: the hand before its first trick.
        pool: the cards that they may be, a set.
        left: those of them to draw from, or from all again if they are too few.
        rng: (1,) uint64, moves on.

    Returns:
        What is left to draw from.
    """
    if size(left) < s.cards_each * size(s.exchanged):
        left = pool
    seat = eldest(s)
    for _ in range(size(s.exchanged)):
        seat = first_from(s.exchanged, seat)
        s.hands[nth(seat)] = ZERO
        for _ in range(s.cards_each):
            card = bit(member(left, below(rng, size(left))))
            s.hands[nth(seat)] |= card
            left &= ~card
        seat += 1
    return left


@jit
def _play_out(s, rng):
    """The baseline draws no lots, and reads no more than a view shows: none need be made."""
    while s.turn != NOBODY:
        s.viewer = s.turn
        apply(s, act(SOUND, 0.0, s, legal(s), rng))
