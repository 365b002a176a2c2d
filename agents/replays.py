"""The bids of a hand heard once more, from the deal on, in a world where it may have been dealt.

A replay begins with `deal_again`. Until it `has_caught_up` with its world, whoever is to act does
what he `said`.
"""

from __future__ import annotations

from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, lowest, nth
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import by_game, deal


@jit
def deal_again(worlds, j, replays, k):
    """Write worlds[j] as it was dealt into replays[k], but for its pack.

    Args:
        worlds: records, states of which nothing is hidden.
        j: which of them.
        replays: records of the same dtype, other ones.
        k: which of them is written.
    """
    replays[k] = worlds[j]
    w, s = worlds[j], replays[k]
    s.pot = w.carried
    deal(s)
    s.upcard, s.trump = w.upcard, w.trump
    for seat in range(w.num_players):
        s.hands[nth(seat)] = _cards_dealt(w, seat)


@jit
def has_caught_up(s, w):
    """Has the replay s heard all bids of the world w? Each seat speaks once in a phase."""
    return s.phase == w.phase and (s.turn == w.turn or in_tricks(s))


@jit
def _cards_played(w, seat):
    cards = ZERO
    for k in range(w.plays):
        if w.play_seat[nth(k)] == seat:
            cards |= bit(w.play_card[nth(k)])
    return cards


# What each game adds.


@jit
def _cards_dealt_beast(w, seat):
    cards = w.hands[nth(seat)] | _cards_played(w, seat)
    if seat == w.dealer and w.upcard_is == beast.TAKEN:
        cards = (cards | w.discard) & ~bit(w.upcard)
    return cards


@jit
def _cards_dealt_bestia(w, seat):
    thrown = w.thrown[nth(seat)]
    return thrown if thrown != ZERO else w.hands[nth(seat)] | _cards_played(w, seat)


@jit
def _said_beast(w, phase, seat):
    """Nobody has shown, for that ends a hand (B-10, B-11)."""
    if phase == beast.AT_TAKE:
        return beast.TAKE if w.upcard_is == beast.TAKEN else beast.LEAVE
    if phase == beast.AT_DISCARD:
        return lowest(w.discard)
    if phase == beast.AT_COUNTER:
        return beast.COUNTER if w.counterer == seat else beast.PASS
    return beast.PLAY if w.player == seat else beast.PASS


@jit
def _said_bestia(w, phase, seat):
    if phase == bestia.AT_AUCTION:
        return bestia.KNOCK if has(w.knocked, seat) else bestia.PASS
    return bestia.EXCHANGE if has(w.exchanged, seat) else bestia.REFUSE


@jit
def _in_tricks_beast(s):
    return s.phase == beast.AT_TRICKS


@jit
def _in_tricks_bestia(s):
    return s.phase == bestia.AT_TRICKS


@by_game(_in_tricks_beast, _in_tricks_bestia)
def in_tricks(s):
    """Are the bids over and the cards being played?"""


@by_game(_said_beast, _said_bestia)
def said(w, phase, seat):
    """What the seat did in the world w when it was asked in a phase."""


@by_game(_cards_dealt_beast, _cards_dealt_bestia)
def _cards_dealt(w, seat):
    """The cards that the seat was dealt."""
