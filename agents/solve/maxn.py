"""Every seat plays for its own score (max^n: Luckhardt and Irani 1986).

Of the cards that score most for the seat to act it plays one that leaves the seat after it the
least, then the seat after that, and so on. So the scores of a position are unique: they depend on
neither the names of the suits nor the order in which cards are tried.
"""

from __future__ import annotations

from agents.solve.search import (
    EXACT,
    begin,
    card_tried,
    copy_row,
    distinct_cards,
    find_slot,
    play_next,
    remember,
    score,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO
from bestia_env.rules.table import NOBODY, seat_after

_NOTHING = -(1 << 62)


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
    _clear(room, 0)
    ply = num_nodes = 0
    while True:
        if room.left[ply] != ZERO:
            num_nodes += 1
            play_next(room, ply)
            if _is_known(room, ply + 1):
                _back_up(room, ply, root)
            else:
                ply += 1
                room.left[ply] = distinct_cards(room.states[ply])
                _clear(room, ply)
        elif ply == 0:
            return num_nodes
        else:
            remember(room, ply, EXACT)
            ply -= 1
            _back_up(room, ply, root)


@jit
def _clear(room, ply):
    """Mark that no card has been tried: less than any score."""
    room.scores[ply, :] = _NOTHING


@jit
def _is_known(room, ply):
    """Write the scores of a hand that is settled, or of a position that was solved before."""
    s = room.states[ply]
    if s.turn == NOBODY:
        for seat in range(s.num_players):
            room.scores[ply, seat] = score(s, seat)
        return True
    slot = find_slot(room, ply)
    if slot >= 0:
        copy_row(room.slot_scores, slot, room.scores, ply)
    return slot >= 0


@jit
def _back_up(room, ply, root):
    """Take the scores of the card just tried, if it is the best so far."""
    if ply == 0:
        copy_row(room.scores, 1, root, card_tried(room, 0))
    if _is_better(room, ply):
        copy_row(room.scores, ply + 1, room.scores, ply)


@jit
def _is_better(room, ply):
    """More for the seat to act; if that is the same, less for the first whose score differs."""
    s = room.states[ply]
    seat = s.turn
    found, best = room.scores[ply + 1, seat], room.scores[ply, seat]
    if found != best:
        return found > best
    for _ in range(s.num_players - 1):
        seat = seat_after(s, seat)
        found, best = room.scores[ply + 1, seat], room.scores[ply, seat]
        if found != best:
            return found < best
    return False
