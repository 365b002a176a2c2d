"""One seat against all others, who know all cards and want nothing but its ruin.

Alpha-beta: a card is given up once it is worse for its player than one found before. What the seat
scores so it can be sure of, however the others play. What has been found out about a position
serves, in Beast, for all that differ from it in cards that did not tell only.
"""

from __future__ import annotations

from agents.solve.outcomes import is_over, score, write_bounds
from agents.solve.partitions import is_found, keep, note_holders, told_by_all
from agents.solve.past import NEVER, sure_tricks
from agents.solve.search import (
    begin,
    distinct_cards,
    likely_card,
    play_last_trick,
    play_next,
    ranks_of,
    slot_again,
    slot_of,
    tricks_left,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO, nth
from bestia_env.rules.tricks import suit_cards


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
    room.facts[0].seat = seat
    return _solve(states, i, room, root)


@jit
def solve_coalition_batch(states, seats, room, roots):
    """Solve every state, as `solve_coalition` does.

    Args:
        states: (B,) records.
        seats: (B,) int64, who plays against all others.
        room: `Room` for this table.
        roots: (B, cards) int64.

    Returns:
        How many cards were played.
    """
    num_nodes = 0
    for i in range(states.size):
        num_nodes += solve_coalition(states, i, seats[i], room, roots[i])
    return num_nodes


@jit
def _solve(states, i, room, root):
    begin(states, i, room)
    room.frames[0].least, room.frames[0].most = -NEVER, NEVER
    _open(room, 0, -NEVER, NEVER)
    ply = num_nodes = 0
    while True:
        f = room.frames[nth(ply)]
        if f.left != ZERO:
            num_nodes += 1
            play_next(room, ply, likely_card(room, f, _is_ours(room, f)))
            if _is_known(room, ply):
                _back_up(room, ply, root)
            else:
                ply += 1
                room.frames[nth(ply)].left = distinct_cards(room, ply)
                _open(room, ply, f.low, f.high)
        elif ply == 0:
            room.scores[0, 0] = f.score
            return num_nodes
        else:
            ply -= 1
            _remember(room, ply)
            _back_up(room, ply, root)


@jit
def _is_ours(room, f):
    """Is the trick going to the side that is to act?"""
    seat = room.facts[0].seat
    return (f.best_seat == seat) == (f.turn == seat)


@jit
def _open(room, ply, low, high):
    f = room.frames[nth(ply)]
    f.low, f.high = max(low, f.least), min(high, f.most)
    f.score = -NEVER if f.turn == room.facts[0].seat else NEVER


@jit
def _is_known(room, ply):
    """Write the score after the card just tried, if it is known or known to be of no use."""
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    g.least, g.most, g.told = -NEVER, NEVER, ZERO
    if g.laid > 0:
        return False
    if tricks_left(room, g) == 1:
        play_last_trick(room, g)
    if is_over(room, g, tricks_left(room, g)):
        g.score = score(room, g.past, room.facts[0].seat)
        return True
    return _is_found(room, f, g) if room.facts[0].alike else _is_remembered(room, f, g)


@jit
def _is_remembered(room, f, g):
    """Write the score of g if bounds or the slot of the position leave no more to ask."""
    write_bounds(room, g, tricks_left(room, g), sure_tricks(room, g), room.facts[0].seat)
    if _is_decided(f, g):
        return True
    slot = slot_of(room, g)
    if slot.key == g.key:
        g.least, g.most = max(g.least, slot.low), min(g.most, slot.high)
    return _is_decided(f, g)


@jit
def _is_found(room, f, g):
    """Write the score of g if bounds or a pattern leave no more to ask; and which ranks told."""
    s, left, seat = room.states[0], tricks_left(room, g), room.facts[0].seat
    write_bounds(room, g, left, ZERO, seat)
    if _is_decided(f, g):
        return True
    least, most, sure = g.least, g.most, sure_tricks(room, g)
    if sure != ZERO:
        write_bounds(room, g, left, sure, seat)
        if _is_decided(f, g):
            g.told = g.held & suit_cards(s.trump, ranks_of(s))
            return True
        g.least, g.most = least, most
    note_holders(room, g)
    return is_found(room, f, g)


@jit
def _is_decided(f, g):
    """Write the score of g if its bounds leave no more to ask in the window of f."""
    g.score = g.least if g.least >= f.high else g.most
    return g.least == g.most or g.least >= f.high or g.most <= f.low


@jit
def _remember(room, ply):
    """Note what has been found out about the position after the card just tried."""
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    if g.laid > 0:
        return
    g.score = min(max(g.score, g.least), g.most)
    low = g.score if g.score > f.low else g.least
    high = g.score if g.score < f.high else g.most
    if room.facts[0].alike:
        keep(room, g, low, high)
    else:
        slot = slot_again(room, g)
        slot.key, slot.low, slot.high = g.key, low, high


@jit
def _back_up(room, ply, root):
    """Take the score of the card just tried; give up the others if they cannot matter.

    At the root the window stays open, so that the score of every card is exact.
    """
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    found, told = g.score, g.told | g.won if g.laid == 0 else g.told
    if f.turn == room.facts[0].seat:
        f.score = max(f.score, found)
    else:
        f.score = min(f.score, found)
    if ply == 0:
        root[nth(f.card)] = found
        return
    if f.turn == room.facts[0].seat:
        f.low = max(f.low, f.score)
    else:
        f.high = min(f.high, f.score)
    if f.low < f.high:
        f.told |= told_by_all(room, f, told)
    else:
        f.told, f.left = told, ZERO
