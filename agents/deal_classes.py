"""Deals of Bestia by classes of hands, of which all chances are known exactly.

A packet is three cards: the hand of a seat, or the new cards that the next to exchange will get.
It is classed by what its cards are worth for a trick, as the baselines judge it. Any two packets
of a deal are as likely to be of any two classes as any other two, so that one enumeration of all
hands gives the chance of every class and of every pair of classes (I-06, BESTIA-12, BESTIA-13).
Of the hands the trumps are told too, how many and the highest, by which bidding rules often go.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np

from agents.baselines.bestia import SIDE, TRUMP
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, highest, lowest, size, without_lowest
from bestia_env.engine import new_states, start_session
from bestia_env.rng import stream
from bestia_env.rules.bestia import CARDS, CARDS_EACH, RANKS
from bestia_env.rules.table import NOBODY, next_cards
from bestia_env.rules.tricks import cards_that_beat, suit_cards, suit_of

NEW_PACKETS = 3  # more than three seldom ask for new cards
COMMON, RARE = 0.7, 0.06  # the shares of hands that are above the lowest and the highest bound
_SURE = 6.0  # the most that a card counts; the highest trump is a sure trick


class Classes(NamedTuple):
    """How packets are classed.

    Attributes:
        bounds: (C,) float64 ascending; a packet is of class c if its worth reaches c of them.
        chances: (C + 1,) float64, of every class.
        pairs: (C + 1, C + 1) float64, of every two classes for two packets of a deal.
    """

    bounds: np.ndarray
    chances: np.ndarray
    pairs: np.ndarray


def num_packets(num_players: int) -> int:
    """How many packets of a deal are classed."""
    return num_players + NEW_PACKETS


def trump_chances() -> np.ndarray:
    """(3, 10) float64: how often a hand has 1 to 3 trumps with a highest of such a strength."""
    others, ways = CARDS - RANKS, np.zeros((CARDS_EACH, RANKS))
    for upcard, top in itertools.permutations(range(RANKS), 2):
        lower = top - (upcard < top)
        for k in range(CARDS_EACH):
            ways[k, top] += math.comb(lower, k) * math.comb(others, CARDS_EACH - 1 - k)
    return ways / (RANKS * math.comb(CARDS - 1, CARDS_EACH))


@functools.cache
def classes(count: int) -> Classes:
    """Classes parted by `count` bounds, with their exact chances."""
    hands = _all_hands()
    worth = np.empty((RANKS, hands.size))
    _judge_all(hands, worth)
    possible = worth[worth >= 0]
    tails = np.geomspace(COMMON, RARE, count)
    bounds = np.unique(np.quantile(possible, 1 - tails, method="higher"))
    found = np.searchsorted(bounds, worth, side="right")
    pairs = np.zeros((bounds.size + 1, bounds.size + 1), np.int64)
    total = np.empty(bounds.size + 1, np.int64)
    containing = np.empty((CARDS, CARDS, total.size), np.int64)
    for upcard in range(RANKS):
        _count_pairs(hands, worth[upcard], found[upcard], total, containing, pairs)
    chances = pairs / pairs.sum()
    return Classes(bounds, chances.sum(axis=1), chances)


def _all_hands() -> np.ndarray:
    """Every set of three cards, uint64."""
    first, second, third = np.ogrid[:CARDS, :CARDS, :CARDS]
    ascending = np.argwhere((first < second) & (second < third)).astype(np.uint64)
    return (np.uint64(1) << ascending).sum(axis=1, dtype=np.uint64)


@jit
def _judge_all(hands, worth):
    """The worth (ranks, H) of every hand beside every upcard of suit 0; -1 if it holds that."""
    for upcard in range(worth.shape[0]):
        for k in range(hands.size):
            holds = hands[k] & bit(upcard) != ZERO
            worth[upcard, k] = -1.0 if holds else packet_worth(hands[k], upcard)


@jit
def packet_worth(packet, upcard):
    """What the cards add to the log-odds of a trick, at least 0; see `agents.baselines.bestia`."""
    total = 0.0
    unseen = ~(packet | bit(upcard))
    rest = packet
    for _ in range(size(packet)):
        card = lowest(rest)
        rest = without_lowest(rest)
        suit = suit_of(card, RANKS)
        above = size(cards_that_beat(card, RANKS, suit) & unseen)
        is_trump = suit == suit_of(upcard, RANKS)
        total += min(TRUMP[above], _SURE) if is_trump else SIDE[above]
    return total


@jit
def _count_pairs(hands, worth, found, total, containing, pairs):
    """Add the ordered pairs of disjoint hands by their classes, beside one upcard.

    Those that are disjoint from a hand are all, less those with a card of it, and so on: total
    counts the hands by class, containing[i, j] those with cards i and j, and containing[i, i]
    those with i.
    """
    total[:] = 0
    containing[:] = 0
    for k in range(hands.size):
        if worth[k] >= 0:
            a, b, c = _cards_of(hands[k])
            total[found[k]] += 1
            for i, j in ((a, a), (b, b), (c, c), (a, b), (a, c), (b, c)):
                containing[i, j, found[k]] += 1
    for k in range(hands.size):
        if worth[k] >= 0:
            a, b, c = _cards_of(hands[k])
            mine = found[k]
            for other in range(total.size):
                single = containing[a, a, other] + containing[b, b, other] + containing[c, c, other]
                double = containing[a, b, other] + containing[a, c, other] + containing[b, c, other]
                pairs[mine, other] += total[other] - single + double - (mine == other)


@jit
def _cards_of(hand):
    second = without_lowest(hand)
    return lowest(hand), lowest(second), lowest(without_lowest(second))


def class_deals(
    num_players: int, key: np.uint64, first_deal: int, count: int, bounds: np.ndarray
) -> np.ndarray:
    """The classes of the packets of some deals, and trumps of the hands, (count, packets + n) int8.

    The hands come first, from first hand to the dealer, then new cards in the order of dealing;
    then the trumps of each of the hands, 0 for none, or else 1 more than a place in all of
    `trump_chances`, row by row. Deals are those of `agents.matches.deal_copies` with the same key
    and number.
    """
    found = np.empty((count, num_packets(num_players) + num_players), np.int8)
    _class_deals(new_states("bestia", num_players), key, first_deal, bounds, found)
    return found


@jit
def _class_deals(states, key, first_deal, bounds, found):
    s = states[0]
    for i in range(found.shape[0]):
        start_session(states, 0, stream(key, first_deal + i), NOBODY, 0)
        packets = found.shape[1] - s.num_players
        for place in range(packets):
            seat = (s.dealer + 1 + place) % s.num_players
            dealt = place < s.num_players
            packet = s.hands[seat] if dealt else next_cards(s, CARDS_EACH)
            worth = packet_worth(packet, s.upcard)
            found[i, place] = np.searchsorted(bounds, worth, side="right")
            if dealt:
                found[i, packets + place] = _trumps(packet & suit_cards(s.trump, RANKS))


@jit
def _trumps(held):
    """The number of these trumps and the strength of the highest, as one number."""
    return 0 if held == ZERO else 1 + RANKS * (size(held) - 1) + highest(held) % RANKS
