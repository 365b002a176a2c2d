"""Every seat plays for its own score (max^n: Luckhardt and Irani 1986).

Of the cards that score most for the seat to act it plays one that leaves the seat after it the
least, then the seat after that, and so on. So the scores of a position are unique: they depend on
neither the names of the suits nor the order in which cards are tried.

In Beast all depends on who wins the hand. A seat stops where it has found the winner that it likes
best of those still possible, or one such that the seat before it will play another card.
"""

from __future__ import annotations

from agents.solve.outcomes import (
    find_preferences,
    is_better,
    is_over,
    is_settled,
    likewise,
    preferred,
    score,
)
from agents.solve.search import (
    begin,
    distinct_cards,
    likely_card,
    play_last_trick,
    play_next,
    slot_again,
    slot_of,
    tricks_left,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO, nth


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
    find_preferences(room)
    room.frames[0].possible = ~ZERO
    room.frames[0].outcome = ZERO
    ply = num_nodes = 0
    while True:
        f = room.frames[nth(ply)]
        if f.left != ZERO:
            num_nodes += 1
            play_next(room, ply, likely_card(room, f, False))
            if _is_known(room, ply):
                _back_up(room, ply, root)
            else:
                ply += 1
                room.frames[nth(ply)].left = distinct_cards(room, ply)
                room.frames[nth(ply)].outcome = ZERO
        elif ply == 0:
            _write_scores(room, f.outcome, room.scores, 0)
            return num_nodes
        else:
            ply -= 1
            _remember(room, ply)
            _back_up(room, ply, root)


@jit
def solve_maxn_batch(states, room, roots):
    """Solve every state, as `solve_maxn` does.

    Args:
        states: (B,) records.
        room: `Room` for this table.
        roots: (B, cards, n) int64.

    Returns:
        How many cards were played.
    """
    num_nodes = 0
    for i in range(states.size):
        num_nodes += solve_maxn(states, i, room, roots[i])
    return num_nodes


@jit
def _write_scores(room, outcome, scores, row):
    for seat in range(room.states[0].num_players):
        scores[nth(row), nth(seat)] = score(room, outcome, seat)


@jit
def _is_known(room, ply):
    """Write the outcome after the card just tried, if it is known."""
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    g.possible = f.possible
    if g.laid > 0:
        return False
    if tricks_left(room, g) == 1:
        play_last_trick(room, g)
    if is_over(room, g, tricks_left(room, g)):
        g.outcome = g.past
        return True
    if is_settled(room, g, tricks_left(room, g)):
        return True
    slot = slot_of(room, g)
    g.outcome = slot.outcome
    return slot.key == g.key


@jit
def _remember(room, ply):
    """Keep the outcome after the card just tried, unless it is known to be of no use only."""
    g = room.frames[nth(ply + 1)]
    if g.laid == 0 and not _is_useless(room, ply + 1):
        slot = slot_again(room, g)
        slot.key, slot.outcome = g.key, g.outcome


@jit
def _back_up(room, ply, root):
    """Take the outcome of the card just tried, if it is the best so far."""
    f, found = room.frames[nth(ply)], room.frames[nth(ply + 1)].outcome
    if ply == 0:
        _write_scores(room, found, root, f.card)
    if f.outcome == ZERO or (found != f.outcome and is_better(room, f.turn, found, f.outcome)):
        f.outcome = found
    if ply > 0 and (not _may_improve(room, f) or _is_useless(room, ply)):
        f.left = ZERO


@jit
def _may_improve(room, f):
    """May another card be better still?"""
    return preferred(room, f.turn, f.outcome) & f.possible != ZERO


@jit
def _is_useless(room, ply):
    """Is whatever may become of this position no better than what the seat before it has?

    The seat to act takes nothing worse for itself than what it has found. (So much pruning is right
    in max^n, whatever the scores; further up it is not.)
    """
    f, before = room.frames[nth(ply)], room.frames[nth(ply - 1)]
    if ply <= 1 or before.outcome == ZERO:
        return False
    ahead = preferred(room, f.turn, f.outcome) | likewise(room, f.outcome)
    return ahead & f.possible & preferred(room, before.turn, before.outcome) == ZERO
