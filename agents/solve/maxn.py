"""Every seat plays for its own score (max^n: Luckhardt and Irani 1986).

Of the cards that score most for the seat to act it plays one that leaves the seat after it the
least, then the seat after that, and so on. So the scores of a position are unique: they depend on
neither the names of the suits nor the order in which cards are tried.
"""

from __future__ import annotations

from agents.solve.outcomes import score
from agents.solve.search import (
    begin,
    distinct_cards,
    play_last_trick,
    play_next,
    slot_again,
    slot_of,
    tricks_left,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO, nth
from bestia_env.rules.table import seat_after


@jit
def solve_maxn(states, i, room, root):
    """Solve states[i], which is in the tricks; its own scores are left in room.scores[0].

    Args:
        states: records with all hands known; they stay as they are.
        i: which of them.
        room: `Room` for this table.
        root: (cards, n) int64; the rows of legal cards are written, n times the equity in coins.

    Returns:
        How many cards were played.
    """
    begin(states, i, room)
    room.frames[0].outcome = ZERO
    ply = num_nodes = 0
    while True:
        if room.frames[nth(ply)].left != ZERO:
            num_nodes += 1
            play_next(room, ply)
            if _is_known(room, ply + 1):
                _back_up(room, ply, root)
            else:
                ply += 1
                room.frames[nth(ply)].left = distinct_cards(room, ply)
                room.frames[nth(ply)].outcome = ZERO
        elif ply == 0:
            _write_scores(room, room.frames[0].outcome, room.scores, 0)
            return num_nodes
        else:
            _remember(room, ply)
            ply -= 1
            _back_up(room, ply, root)


@jit
def _write_scores(room, outcome, scores, row):
    for seat in range(room.states[0].num_players):
        scores[nth(row), nth(seat)] = score(room, outcome, seat)


@jit
def _is_known(room, ply):
    """Write the outcome of a hand that is settled, or of a position that was solved before."""
    g = room.frames[nth(ply)]
    if g.laid > 0:
        return False
    if tricks_left(room, g) == 1:
        play_last_trick(room, g)
    if tricks_left(room, g) == 0:
        g.outcome = g.past
        return True
    slot = slot_of(room, g)
    g.outcome = slot.outcome
    return slot.key == g.key


@jit
def _remember(room, ply):
    g = room.frames[nth(ply)]
    if g.laid == 0:
        slot = slot_again(room, g)
        slot.key, slot.outcome = g.key, g.outcome


@jit
def _back_up(room, ply, root):
    """Take the outcome of the card just tried, if it is the best so far."""
    f, found = room.frames[nth(ply)], room.frames[nth(ply + 1)].outcome
    if ply == 0:
        _write_scores(room, found, root, f.card)
    if f.outcome == ZERO or (found != f.outcome and _is_better(room, f.turn, found, f.outcome)):
        f.outcome = found


@jit
def _is_better(room, seat, found, best):
    """More for the seat to act; if that is the same, less for the first whose score differs."""
    gain = score(room, found, seat) - score(room, best, seat)
    if gain != 0:
        return gain > 0
    for _ in range(room.states[0].num_players - 1):
        seat = seat_after(room.states[0], seat)
        gain = score(room, found, seat) - score(room, best, seat)
        if gain != 0:
            return gain < 0
    return False
