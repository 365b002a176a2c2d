"""Worlds in which the others' bids make sense, drawn in a kernel.

The others are supposed to bid by a field, a baseline, but for one bid in so many, in which they do
anything else: `ratio` is how likely a bid is that the field would not have made, against one that
it would. A world of `agents.worlds` is kept with the product of these for its bids, which is Bayes'
rule for such a field. `agents.reading` says which bids are read.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from agents.baselines.dispatch import act
from agents.worlds import determinize_batch
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, lowest, nth
from bestia_env.rng import unit
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import apply, deal, legal, rulebook_of
from bestia_env.view import is_blind, look

ROUNDS = 12  # of draws at most, each of as many worlds as are wanted


@jit
def draw_heard_worlds(view, worlds, room, ratio, field, rng):
    """Fill `worlds` from the front; returns how many were found, at least 1.

    Args:
        view: (1,) records, the VIEW of a seat.
        worlds: (W,) records, written.
        room: `agents.search.pimc.Room`, or another that has as much.
        ratio: from 0 to 1; where it is 1 nothing is read.
        field: the kind and the parameter of the baseline by which the others bid.
        rng: (1,) uint64, moved on.
    """
    viewer, wanted, found = np.int64(view[0].viewer), worlds.size, 0
    for _ in range(ROUNDS):
        determinize_batch(view, rng, room.drawn, room.sampler)
        for j in range(wanted):
            if found < wanted and _is_kept(room, j, viewer, ratio, field, rng):
                worlds[found] = room.drawn[j]
                found += 1
        if found == wanted:
            return found
    if found == 0:
        worlds[0] = room.drawn[0]
    return max(found, 1)


@jit
def _is_kept(room, j, viewer, ratio, field, rng):
    """Is the world room.drawn[j] kept? Each bid that the field would not make may cost it."""
    if ratio == 1:
        return True
    w = room.drawn[j]
    _deal_again(room, j)
    s = room.replay[0]
    while not _has_caught_up(s, w):
        seat = np.int64(s.turn)
        said = _said(w, s.phase, seat)
        if seat != viewer and not is_blind(s, seat):
            look(room.replay, 0, seat, room.looks, 0)
            expected = act(field.kind, field.parameter, room.looks[0], legal(s), rng)
            if expected != said and unit(rng) >= ratio:
                return False
        apply(s, said)
    return True


@jit
def _has_caught_up(s, w):
    """Has the replay heard all bids of the world? Each seat speaks once in a phase."""
    return s.phase == w.phase and (s.turn == w.turn or in_tricks(s))


@jit
def _deal_again(room, j):
    """Put the world at the deal into room.replay[0]; the pack is not its own."""
    room.replay[0] = room.drawn[j]
    w, s = room.drawn[j], room.replay[0]
    s.pot = w.carried
    deal(s)
    s.upcard, s.trump = w.upcard, w.trump
    for seat in range(w.num_players):
        s.hands[nth(seat)] = _cards_dealt(w, seat)


@jit
def _cards_played(w, seat):
    cards = ZERO
    for k in range(w.plays):
        if w.play_seat[nth(k)] == seat:
            cards |= bit(w.play_card[nth(k)])
    return cards


# What each game adds.


def in_tricks(s):
    """Are the bids over and the cards being played?"""
    return s.phase == rulebook_of(s).AT_TRICKS


def _cards_dealt(w, seat):
    """The cards that the seat was dealt in the world."""
    return _cards_dealt_of(w)(w, seat)


def _said(w, phase, seat):
    """What the seat did in the world when it was asked in a phase."""
    return _said_of(w)(w, phase, seat)


def _cards_dealt_of(w):
    return _cards_dealt_beast if rulebook_of(w) is beast else _cards_dealt_bestia


def _said_of(w):
    return _said_beast if rulebook_of(w) is beast else _said_bestia


@overload(in_tricks)
def _in_tricks(s):
    phase = rulebook_of(s).AT_TRICKS
    return lambda s: s.phase == phase


@overload(_cards_dealt)
def _cards_dealt_compiled(w, seat):
    implementation = _cards_dealt_of(w)
    return lambda w, seat: implementation(w, seat)


@overload(_said)
def _said_compiled(w, phase, seat):
    implementation = _said_of(w)
    return lambda w, phase, seat: implementation(w, phase, seat)


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
