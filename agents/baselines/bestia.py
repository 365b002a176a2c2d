"""Rule-of-thumb players of Bestia.

All but `random` play their cards alike, by the source's maxims (BESTIA-32 to BESTIA-36); they
differ in when they knock and when they ask for new cards.
"""

from __future__ import annotations

import numpy as np

from agents.baselines import Baseline
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, highest, lowest, member, size, without_lowest
from bestia_env.rng import below
from bestia_env.rules.bestia import (
    AT_AUCTION,
    AT_OFFER,
    AT_TRICKS,
    CARDS,
    EXCHANGE,
    KNOCK,
    MAXIMS_OFF,
    PASS,
    RANKS,
    REFUSE,
    obedient_cards,
    sound_cards,
)
from bestia_env.rules.table import NO_CARD, match
from bestia_env.rules.tricks import cards_that_beat, suit_cards, suit_of, table_cards

BASELINES = (
    Baseline("random", "anything that no rule punishes, all alike"),
    Baseline("tight", "comes in only on a near-certain trick (a chance of 0.9), or for a free pot"),
    Baseline("threshold", "comes in at this estimated chance of a trick, knock or exchange", 0.6),
    Baseline("doctor", "always passes, and always goes to the doctor's (BESTIA-17, BESTIA-19)"),
    Baseline("bold", "comes in on any hope (a chance of 0.3): many tricks, many a bête"),
    Baseline("sound", "comes in when a fair share of the pot outweighs the bête at its chance"),
)
RANDOM, TIGHT, THRESHOLD, DOCTOR, BOLD, SOUND = range(len(BASELINES))
NEAR_CERTAIN, ANY_HOPE = 0.9, 0.3
_RANKS = np.uint64(RANKS)
_FIRST_SUIT = np.uint64((1 << RANKS) - 1)
_TWOS = np.uint64(sum(1 << card for card in range(0, CARDS, RANKS)))  # the lowest of every suit


@jit
def act(kind, parameter, v, legal, rng):
    """The action of a baseline.

    Args:
        kind: its place in `BASELINES`.
        parameter: its number, 0 if it takes none.
        v: the VIEW of the seat to act (v.viewer == v.turn), a record.
        legal: its legal actions, a set of bits, uint64.
        rng: (1,) uint64, its own generator.
    """
    legal = unpunished(v, legal)
    if kind == RANDOM:
        return member(legal, below(rng, size(legal)))
    if v.phase == AT_AUCTION:
        return KNOCK if _knocks(kind, parameter, v) else PASS
    if v.phase == AT_OFFER:
        return EXCHANGE if _exchanges(kind, parameter, v) else REFUSE
    return _card(v, legal)


@jit
def unpunished(v, legal):
    """The legal actions that are neither a revoke nor a breach (I-16, I-17)."""
    if v.phase != AT_TRICKS:
        return legal
    cards = legal & obedient_cards(v, v.viewer)
    return cards if v.maxims == MAXIMS_OFF else sound_cards(v, v.viewer, cards)


# Whether to come in.


@jit
def _knocks(kind, parameter, v):
    if kind == DOCTOR:
        return False
    # A knock counts on one trick. He will often take more, but who passes may get new cards yet.
    return chance_of_trick(v) >= _bar(kind, parameter, v, 1 / 3)


@jit
def _exchanges(kind, parameter, v):
    # Who takes a trick with new cards has met weak hands: half the pot is his on average.
    return kind == DOCTOR or chance_of_new_cards(v) >= _bar(kind, parameter, v, 1 / 2)


@jit
def _bar(kind, parameter, v, share):
    """The least chance of a trick at which the player comes in."""
    if kind == TIGHT:
        return NEAR_CERTAIN
    if kind == THRESHOLD:
        return parameter
    if kind == BOLD:
        return ANY_HOPE
    # SOUND breaks even, in pots: chance * share = (1 - chance) * cost. A bête goes into the next
    # pot, which belongs to all alike, and a limit (I-01) makes it cheap in a big pot.
    cost = match(v) / v.pot * (1 - 1 / v.num_players)
    return cost / (cost + share)


# The chance of at least one trick. The numbers are a logistic regression on hands of
# threshold:0.6 players at tables of 3 to 10, one of whom knocks whatever he holds; the slow test
# of this module repeats it.

# What a card adds to the log-odds, by the number of higher cards of its suit that others may hold.
TRUMP = np.array([99.0, 2.8, 2.3, 2.0, 1.8, 1.6, 1.5, 1.5, 1.3, 1.0])  # the highest: a sure trick
SIDE = np.array([0.9, 0.6, 0.4, 0.3, 0.2, 0.1, 0.1, 0.0, 0.0, 0.0])
BASE, PER_KNOCK, PER_PASS, PER_SEAT_BEHIND = -0.65, -0.65, -0.1, -0.25


@jit
def chance_of_trick(v):
    """The estimated chance of at least one trick, 0–1, for the seat that may knock in view v."""
    knocks, passes = size(v.knocked), size(v.passed)
    behind = v.num_players - 1 - knocks - passes
    field = PER_KNOCK * knocks + PER_PASS * passes + PER_SEAT_BEHIND * behind
    return 1 / (1 + np.exp(-(BASE + _worth_of_hand(v) + field)))


@jit
def _worth_of_hand(v):
    """What the cards held add to the log-odds of a trick."""
    worth = 0.0
    held = v.hands[v.viewer]
    for _ in range(size(held)):
        card = lowest(held)
        held = without_lowest(held)
        table = TRUMP if suit_of(card, RANKS) == v.trump else SIDE
        worth += table[unseen_above(v, card)]
    return worth


@jit
def unseen_above(v, card):
    """How many higher cards of its suit others may hold."""
    return size(cards_that_beat(card, RANKS, suit_of(card, RANKS)) & ~_seen(v))


@jit
def _seen(v):
    """The cards that the viewer knows nobody else to hold."""
    seen = v.hands[v.viewer] | v.thrown[v.viewer]
    if not v.gathered:  # or else the upcard may have been dealt again (I-08)
        seen |= bit(v.upcard)
    for i in range(v.plays):
        seen |= bit(v.play_card[i])
    return seen


# The same for three new cards, by the number of those who have taken new cards plus twice that of
# those who have knocked, for a knock is about as dangerous as two who take pot luck. Measured with
# the same players, but for five, which they do not meet: it lies between. Six stands for more. Up
# to two the chance hardly falls, since others follow.
NEW_CARDS = np.array([0.64, 0.64, 0.64, 0.55, 0.43, 0.33, 0.23])


@jit
def chance_of_new_cards(v):
    """The estimated chance of at least one trick, 0–1, for the seat that is offered new cards."""
    danger = size(v.exchanged) + 2 * size(v.knocked)
    if danger == 0 and size(v.passed & ~v.refused) == 1:
        return 1.0  # nobody else can come in any more (I-05)
    return NEW_CARDS[min(danger, 6)]


# The play of the cards.


@jit
def _card(v, cards):
    """The first trick saves from the bête, every trick may leave another player without one."""
    if v.led == NO_CARD:
        return _lead(v, cards)
    winning = cards & cards_that_beat(v.best, RANKS, v.trump)
    if winning == ZERO:
        return _weakest(cards)
    is_last = table_cards(v) + 1 == size(v.playing)
    return lowest(winning) if is_last else highest(winning)  # they are of one suit


@jit
def _lead(v, cards):
    """The highest trump if it is a sure trick or the first trick is over, or else a side card.

    Maxims 1 and 2 (BESTIA-32, BESTIA-34); other trumps wait in hand to ruff (BESTIA-33).
    """
    trumps = cards & suit_cards(v.trump, RANKS)
    side = cards & ~trumps
    if trumps != ZERO and (side == ZERO or v.trick > 0 or unseen_above(v, highest(trumps)) == 0):
        return highest(trumps)
    return _strongest(side)


@jit
def _strongest(cards):
    """The card of the highest rank; of the first suit, if there are more."""
    return lowest(cards & (_TWOS << np.uint64(highest(_ranks(cards)))))


@jit
def _weakest(cards):
    """The card of the lowest rank. Of a choice of suits none is trump, for who must trump does."""
    return lowest(cards & (_TWOS << np.uint64(lowest(_ranks(cards)))))


@jit
def _ranks(cards):
    """The ranks that occur in a set of cards, as the cards of the first suit."""
    for _ in range(3):
        cards |= cards >> _RANKS
    return cards & _FIRST_SUIT
