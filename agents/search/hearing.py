"""Worlds in which the others' bids make sense, drawn in a kernel.

The others are supposed to bid by a field, a baseline, but for one bid in so many, in which they do
anything else: `ratio` is how likely a bid is that the field would not have made, against one that
it would. A world of `agents.worlds` is kept with the product of these for its bids, which is Bayes'
rule for such a field. `agents.reading` says which bids are read.
"""

from __future__ import annotations

import numpy as np

from agents.baselines.dispatch import act
from agents.replays import deal_again, has_caught_up, said
from agents.worlds import determinize_batch
from bestia_env._jit import jit
from bestia_env.rng import unit
from bestia_env.rules.dispatch import apply, legal
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
    deal_again(room.drawn, j, room.replay, 0)
    s = room.replay[0]
    while not has_caught_up(s, w):
        seat = np.int64(s.turn)
        action = said(w, s.phase, seat)
        if seat != viewer and not is_blind(s, seat):
            look(room.replay, 0, seat, room.looks, 0)
            expected = act(field.kind, field.parameter, room.looks[0], legal(s), rng)
            if expected != action and unit(rng) >= ratio:
                return False
        apply(s, action)
    return True
