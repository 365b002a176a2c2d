"""One seat against all others, who know all cards and want nothing but its ruin.

Alpha-beta: a card is given up once it is worse for its player than one found before. What the seat
scores so it can be sure of, however the others play.
"""

from __future__ import annotations

from agents.solve.search import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    begin,
    card_tried,
    distinct_cards,
    find_slot,
    play_next,
    remember,
    score,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO
from bestia_env.rules.table import NOBODY

_MOST = 1 << 62  # more than any score


@jit
def solve_coalition(states, i, seat, room, root):
    """Solve states[i], which is in the tricks; the seat's score is left in room.scores[0, 0].

    Args:
        states: records with all hands known; they stay as they are.
        i: which of them.
        seat: which plays against all others.
        room: `Room` for this table.
        root: (cards,) int64; those of legal cards are written, n times the seat's equity in coins.

    Returns:
        How many cards were played.
    """
    begin(states, i, room)
    _open(room, 0, seat, -_MOST, _MOST)
    ply = num_nodes = 0
    while True:
        if room.left[ply] != ZERO:
            num_nodes += 1
            play_next(room, ply)
            if _is_known(room, ply, seat):
                _back_up(room, ply, seat, root)
            else:
                ply += 1
                room.left[ply] = distinct_cards(room.states[ply])
                _open(room, ply, seat, room.low[ply - 1], room.high[ply - 1])
        elif ply == 0:
            return num_nodes
        else:
            ply -= 1
            remember(room, ply + 1, _bound(room, ply))
            _back_up(room, ply, seat, root)


@jit
def _open(room, ply, seat, low, high):
    room.low[ply], room.high[ply] = low, high
    room.scores[ply, 0] = -_MOST if room.states[ply].turn == seat else _MOST


@jit
def _is_known(room, ply, seat):
    """Write the score after the card just tried, if it is known or known to be of no use."""
    s = room.states[ply + 1]
    if s.turn == NOBODY:
        room.scores[ply + 1, 0] = score(s, seat)
        return True
    slot = find_slot(room, ply + 1)
    if slot < 0:
        return False
    room.scores[ply + 1, 0] = found = room.slot_scores[slot, 0]
    bound = room.slot_bounds[slot]
    if bound == EXACT:
        return True
    return found >= room.high[ply] if bound == AT_LEAST else found <= room.low[ply]


@jit
def _bound(room, ply):
    """What the score after the card just tried is, seen in the window in which it was sought."""
    found = room.scores[ply + 1, 0]
    if found >= room.high[ply]:
        return AT_LEAST
    return AT_MOST if found <= room.low[ply] else EXACT


@jit
def _back_up(room, ply, seat, root):
    """Take the score of the card just tried; give up the others if they cannot matter.

    At the root the window stays open, so that the score of every card is exact.
    """
    found, best = room.scores[ply + 1, 0], room.scores[ply, 0]
    if room.states[ply].turn == seat:
        best = max(best, found)
    else:
        best = min(best, found)
    room.scores[ply, 0] = best
    if ply == 0:
        root[card_tried(room, 0)] = found
    else:
        _narrow(room, ply, seat, best)


@jit
def _narrow(room, ply, seat, best):
    if room.states[ply].turn == seat:
        room.low[ply] = max(room.low[ply], best)
    else:
        room.high[ply] = min(room.high[ply], best)
    if room.low[ply] >= room.high[ply]:
        room.left[ply] = ZERO
