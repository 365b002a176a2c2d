"""Features of the cards held and of the table that both games share."""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, highest, lowest, nth, size, without_lowest
from bestia_env.rng import unit
from bestia_env.rules.table import eldest, match
from bestia_env.rules.tricks import pairs, suit_cards

# Places in the tables of features: OF_HAND and OF_TABLE, in their order.
TRUMPS, SIDES, TOP_TRUMP, SECOND_TRUMP, THIRD_TRUMP, TOP_SIDE, VOIDS, SURE_TRICKS = range(8)
SEAT, BEHIND, PLAYERS, UPCARD, POT, MATCH, RANDOM, SHARED = range(8, 16)
NO_RANK = -1


@jit
def shared_feature(k, rank, v, others, behind, opening_pot, ranks, rng):
    """The k-th feature of OF_HAND and OF_TABLE.

    Args:
        k: its place.
        rank: the strength in parentheses, 0 where there is none.
        v: the VIEW of the seat to act, a record.
        others: the strengths of trumps that other hands may hold, a set.
        behind: seats that are asked the same later.
        opening_pot: in coins.
        ranks: cards of a suit.
        rng: (1,) uint64, the player's generator.
    """
    if k <= SURE_TRICKS:
        return np.float64(_of_hand(k, rank, v, others, ranks))
    if k == SEAT:
        return np.float64((v.viewer - eldest(v)) % v.num_players)
    if k == BEHIND:
        return np.float64(behind)
    if k == PLAYERS:
        return np.float64(v.num_players)
    if k == UPCARD:
        return np.float64(v.upcard % ranks)
    if k == POT:
        return v.pot / opening_pot
    if k == MATCH:
        return match(v) / v.pot
    return unit(rng)


@jit
def _of_hand(k, rank, v, others, ranks):
    held = v.hands[nth(v.viewer)]
    trumps = strengths(held, v.trump, ranks)
    side = held & ~suit_cards(v.trump, ranks)
    if k == TRUMPS:
        return size(trumps >> nth(rank))
    if k == SIDES:
        return _sides_from(rank, side, ranks)
    if k == SURE_TRICKS:
        return size(trumps) - pairs(trumps, others, ranks)
    if k == VOIDS:
        return _voids(held, v.in_use, ranks)
    if k == TOP_SIDE:
        return _top_rank(side, ranks)
    return _rank_from_top(trumps, k - TOP_TRUMP)


@jit
def strengths(cards, suit, ranks):
    """The strengths of the cards of one suit, as a set."""
    return (cards & suit_cards(suit, ranks)) >> np.uint64(suit * ranks)


@jit
def _rank_from_top(held, place):
    """The strength at a place of a set, counted from the highest as 0; NO_RANK beyond the last."""
    if place >= size(held):
        return NO_RANK
    for _ in range(size(held) - 1 - place):
        held = without_lowest(held)
    return lowest(held)


@jit
def _sides_from(rank, side, ranks):
    count = 0
    for suit in range(4):
        count += size(strengths(side, suit, ranks) >> nth(rank))
    return count


@jit
def _top_rank(cards, ranks):
    top = NO_RANK
    for suit in range(4):
        held = strengths(cards, suit, ranks)
        if held != ZERO:
            top = max(top, highest(held))
    return top


@jit
def _voids(held, in_use, ranks):
    voids = 0
    for suit in range(4):
        is_in_use = strengths(in_use, suit, ranks) != ZERO
        voids += is_in_use and strengths(held, suit, ranks) == ZERO
    return voids
