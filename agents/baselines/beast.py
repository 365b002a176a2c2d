"""Rule-of-thumb players of Beast.

All but `random` play their cards alike and judge their chances alike; they differ in how good a
chance they want before they declare. A Player or Counterer leads trumps from the top, cashes
sure cards, and wins every trick that he can as cheaply as he can, for the first to the most tricks
wins. The undeclared seats hold together, since all that matters to them is that no declarer wins
(BEAST-39, BEAST-40): they hold up their high cards for tricks that a declarer would take, and
leave the others to whichever of them has more.
"""

from __future__ import annotations

import math

import numpy as np

from agents.baselines import Baseline
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, highest, lowest, member, size, without_lowest
from bestia_env.rng import below
from bestia_env.rules.beast import (
    AT_COUNTER,
    AT_DECLARE,
    AT_DISCARD,
    AT_TAKE,
    AT_TRICKS,
    BOTH_LOSE,
    COUNTER,
    LEAVE,
    LEFT,
    MIN_PLAYERS,
    PASS,
    PLAY,
    RANKS,
    SAID_PASS,
    SHOW,
    TAKE,
    obedient_cards,
)
from bestia_env.rules.table import NO_CARD, NOBODY, eldest, match
from bestia_env.rules.tricks import cards_that_beat, suit_cards, suit_of, table_cards

CERTAIN, NEAR_SURE, BEST, MODEST = 0.95, 0.8, 0.55, 0.4  # chances of winning

BASELINES = (
    Baseline("random", "anything that no rule punishes, all alike"),
    Baseline("cautious", "declares near-sure hands only (a chance of 0.8), and never takes blind"),
    Baseline("threshold", "declares at this estimated chance of winning, for even stakes", BEST),
    Baseline("trapper", "leaves it to others to play, however strong, then counters (BEAST-21)"),
    Baseline("spoiler", "hardly ever declares, and sees to it that no declarer wins (BEAST-40)"),
    Baseline("bold", "declares modest hands (a chance of 0.4), and often takes blind"),
)
RANDOM, CAUTIOUS, THRESHOLD, TRAPPER, SPOILER, BOLD = range(len(BASELINES))

# How much of a match a Counterer counts on to lose when he does not win, by `losing_counterer`. In
# the default game it is little: he pays only if a third seat wins, and then the pot stays as well.
# Found by duels: one seat with other numbers does no better in a field of THRESHOLD.
_COUNTERER_PAYS = np.array([0.1, 1.0, 0.8])

# The log odds of winning are a sum of these: a constant; for each trump held that has 0, 1 … 5, or
# more trumps out above it; for each side ace, king and queen; for the eldest; for each seat that
# would not play. Fitted to forced declarations by `experiments.calibrate_beast`.
_ABOVE, _HONOURS, _ELDEST, _PASSED = 1, 8, 11, 12
# (situation, players - 4, weight); the situations are Player, Counterer.
WEIGHTS = np.array(
    [
        [
            [-4.69, 2.78, 2.2, 1.92, 1.75, 1.63, 1.55, 1.39, 1.34, 0.86, 0.51, 0.24, 0.28],
            [-5.7, 3.04, 2.26, 1.87, 1.65, 1.54, 1.44, 1.3, 1.48, 0.75, 0.33, 0.14, 0.19],
            [-6.43, 3.15, 2.16, 1.74, 1.52, 1.4, 1.33, 1.2, 1.62, 0.53, 0.2, -0.03, 0.12],
        ],
        [
            [-5.23, 3.11, 2.26, 1.76, 1.59, 1.51, 1.41, 1.27, 1.25, 0.77, 0.44, -0.06, 0.06],
            [-6.13, 3.19, 2.19, 1.8, 1.58, 1.45, 1.34, 1.2, 1.34, 0.64, 0.29, -0.28, 0.03],
            [-6.72, 2.91, 2.07, 1.71, 1.47, 1.33, 1.25, 1.11, 1.45, 0.49, 0.2, -0.38, 0.0],
        ],
    ]
)
# The chance of a dealer who takes the upcard blind, by players - 4 and the upcard's strength.
TAKER = np.array(
    [
        [0.425, 0.431, 0.432, 0.439, 0.448, 0.454, 0.463, 0.473, 0.489, 0.511, 0.544, 0.599, 0.7],
        [0.33, 0.337, 0.341, 0.342, 0.347, 0.356, 0.361, 0.372, 0.39, 0.412, 0.448, 0.519, 0.631],
        [0.266, 0.271, 0.274, 0.276, 0.281, 0.286, 0.292, 0.304, 0.315, 0.341, 0.373, 0.435, 0.569],
    ]
)

_SUIT = np.uint64((1 << RANKS) - 1)
_TWOS = np.uint64(sum(1 << (RANKS * suit) for suit in range(4)))
_ONE_SUIT, _TWO_SUITS = np.uint64(RANKS), np.uint64(2 * RANKS)


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
    if v.phase == AT_TRICKS:
        return _lead(v, legal) if v.led == NO_CARD else _follow(v, legal)
    if v.phase == AT_DISCARD:
        return _throw(v, legal)
    if kind == TRAPPER and v.phase == AT_DECLARE and v.viewer != v.dealer:
        return PASS  # the dealer speaks last: nobody is left to walk into his trap
    return _declare(kind, parameter, v, legal)


@jit
def unpunished(v, legal):
    """The legal actions that are no revoke: nobody here revokes, even where it is allowed."""
    return legal & obedient_cards(v, v.viewer) if v.phase == AT_TRICKS else legal


# Declarations.


@jit
def _declare(kind, parameter, v, legal):
    """Show, or declare with a good enough chance."""
    if has(legal, SHOW):
        return PLAY if has(legal, PLAY) and _profits_by_counterers(v) else SHOW
    if v.phase == AT_TAKE:
        return TAKE if _will(kind, parameter, v, declared_chance(v)) else LEAVE
    if not has(legal, PASS):
        return PLAY  # the dealer has taken
    if _will(kind, parameter, v, declared_chance(v)):
        return COUNTER if v.phase == AT_COUNTER else PLAY
    return PASS


@jit
def _profits_by_counterers(v):
    """Does a Player who is sure to win gain more if a Counterer loses to him? (B-01)."""
    return v.losing_counterer != BOTH_LOSE


@jit
def _will(kind, parameter, v, chance):
    """Is this chance of winning enough to declare?"""
    if kind == CAUTIOUS:
        return chance >= NEAR_SURE
    if kind == SPOILER:
        return chance >= CERTAIN
    wanted = parameter if kind == THRESHOLD else MODEST if kind == BOLD else BEST
    return _expects_as_much(v, chance, wanted)


@jit
def _expects_as_much(v, chance, wanted):
    """Is the chance worth as much here as the one wanted is for even stakes?"""
    gain, risk = float(v.pot), float(match(v))
    if v.phase == AT_COUNTER:
        gain += risk  # the Player's match (BEAST-35)
        risk *= _COUNTERER_PAYS[v.losing_counterer]
    return chance * gain * (1 - wanted) >= (1 - chance) * risk * wanted


@jit
def declared_chance(v):
    """The estimated chance, 0–1, that the seat wins the hand if it declares, or takes, now."""
    if v.phase == AT_TAKE:
        return TAKER[_table(v), v.upcard % RANKS]
    counters = 1 if v.phase == AT_COUNTER else 0
    return 1 / (1 + math.exp(-log_odds(v, WEIGHTS[counters, _table(v)])))


@jit
def _table(v):
    """The table whose numbers are used: for the few players of a reduction the smallest (B-19)."""
    return max(v.num_players - MIN_PLAYERS, 0)


@jit
def log_odds(v, weights):
    """The sum of the weights (13,) of what the viewer holds and has heard."""
    total = weights[0]
    trumps = _trump_strengths(v, v.hands[v.viewer])
    out = _trump_strengths(v, _unseen(v))
    while trumps != ZERO:
        above = size(out >> np.uint64(lowest(trumps)))
        total += weights[_ABOVE + min(above, 6)]
        trumps = without_lowest(trumps)
    side = v.hands[v.viewer] & ~suit_cards(v.trump, RANKS)
    for k in range(3):
        total += weights[_HONOURS + k] * size(side & (_TWOS << np.uint64(RANKS - 1 - k)))
    if v.viewer == eldest(v):
        total += weights[_ELDEST]
    return total + weights[_PASSED] * _passes(v)


@jit
def _passes(v):
    """How many seats have passed in the declaration round."""
    passes = 0
    for seat in range(v.num_players):
        if v.said[seat] == SAID_PASS:
            passes += 1
    return passes


# Cards.


@jit
def _lead(v, mine):
    """Trumps from the top as a declarer, sure cards as anybody; else the highest side card."""
    trumps = mine & suit_cards(v.trump, RANKS)
    side = mine & ~trumps
    sure = _sure_cards(mine, _unseen(v))
    declared = _has_declared(v, v.viewer)
    if sure & trumps or side == ZERO or (declared and size(trumps) >= 2):
        return highest(trumps)
    if sure:
        return lowest(sure)
    return _high(side if declared else _spare_ruffs(v, side))


@jit
def _spare_ruffs(v, cards):
    """The cards less the suits of which the Player has shown to hold none, if any are left."""
    for suit in range(4):
        rest = cards & ~suit_cards(suit, RANKS)
        if has(np.uint64(v.voids[v.player]), suit) and rest:
            cards = rest
    return cards


@jit
def _follow(v, obedient):
    """Win cheaply, or throw away; the undeclared win high ahead of a declarer."""
    winning = obedient & cards_that_beat(v.best, RANKS, v.trump)
    if winning == ZERO or _leaves_it(v):
        losing = obedient & ~winning
        return _throw(v, losing if losing else obedient)
    if _has_declared(v, v.viewer) or not _declarer_waits(v):
        return lowest(winning)
    sure = _sure_cards(winning, _unseen(v))
    return lowest(sure) if sure else highest(winning)


@jit
def _leaves_it(v):
    """Is an undeclared seat content to leave the trick to another that is winning it?"""
    if _has_declared(v, v.viewer) or _has_declared(v, v.best_seat):
        return False
    if _declarer_waits(v):
        return size(_unseen(v) & _higher(v.best)) <= 1
    return v.tricks[v.viewer] <= v.tricks[v.best_seat]  # tricks count most in one hand


@jit
def _throw(v, cards):
    """The lowest side card, else the lowest trump."""
    side = cards & ~suit_cards(v.trump, RANKS)
    return _low(side if side else cards)


@jit
def _has_declared(v, seat):
    return seat == v.player or seat == v.counterer


@jit
def _declarer_waits(v):
    """Is a declarer yet to play to this trick, seen by a seat that is not one?"""
    return _waits(v, v.player) or _waits(v, v.counterer)


@jit
def _waits(v, seat):
    return seat != NOBODY and (seat - v.viewer) % v.num_players < v.num_players - table_cards(v)


# Sets of cards.


@jit
def _unseen(v):
    """The cards that the viewer cannot place."""
    seen = v.hands[v.viewer] | v.discard
    if v.upcard_is == LEFT:
        seen |= bit(v.upcard)
    for i in range(v.plays):
        seen |= bit(v.play_card[i])
    return v.in_use & ~seen


@jit
def _sure_cards(cards, unseen):
    """The highest card of each suit, where no unseen card of the suit is higher."""
    sure = ZERO
    for suit in range(4):
        held = cards & suit_cards(suit, RANKS)
        if held > unseen & suit_cards(suit, RANKS):
            sure |= bit(highest(held))
    return sure


@jit
def _higher(card):
    """The cards of the same suit that are higher."""
    return suit_cards(suit_of(card, RANKS), RANKS) & ~(bit(card) | (bit(card) - ONE))


@jit
def _trump_strengths(v, cards):
    """The strengths of the trumps in a set of cards, as a set."""
    return (cards >> np.uint64(v.trump * RANKS)) & _SUIT


@jit
def _strengths(cards):
    """The strengths that occur in a set of cards, whatever the suit."""
    cards |= cards >> _TWO_SUITS
    return (cards | cards >> _ONE_SUIT) & _SUIT


@jit
def _low(cards):
    """A card of the lowest strength in the set."""
    return lowest(cards & (_TWOS << np.uint64(lowest(_strengths(cards)))))


@jit
def _high(cards):
    """A card of the highest strength in the set."""
    return lowest(cards & (_TWOS << np.uint64(highest(_strengths(cards)))))
