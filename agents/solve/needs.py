"""What of the past a proof needs, where all depends on who wins the hand (Beast).

A search for the coalition asks one question: will the hand be won by a seat of the wanted ones, or
by another? An answer depends on how far which seats are ahead, and often on no more than that one
seat of the side that wins is ahead enough of each seat of the other. So it is kept with what it
needs, and serves with any past that has as much (explanation-based generalization).

Seat a is ahead of b by 2 (tricks of a - tricks of b), and 1 more if a is the front: who has as many
tricks, and had them first, wins (BEAST-30). A need is a byte for each pair of a wanted seat and
another, in the question's direction: no less than so much, plus `_MID`; 0 is no need. No more than
8 pairs are possible, for all who have not declared are worth the same as winners, to everybody.
"""

from __future__ import annotations

import numpy as np

from agents.solve.past import front_of, total_of, tricks_of
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, has, nth
from bestia_env.rules.table import NOBODY

UNKNOWN = -1
_MID = np.uint64(32)
_LOWS, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_BYTE, _7, _8 = np.uint64(255), np.uint64(7), np.uint64(8)


@jit
def ask(room, wanted):
    """Begin with a question: will one of the wanted seats win?"""
    n, pair = room.states[0].num_players, ONE
    room.facts[0].wanted = wanted
    room.pairs[:] = ZERO
    for mine in range(n):
        for other in range(n):
            if has(wanted, mine) and not has(wanted, other):
                room.pairs[nth(mine)] |= pair
                room.pairs[nth(other)] |= pair
                pair <<= _8


@jit
def write_ahead(room, g):
    """Write how far all wanted seats are ahead of all others, and these of those."""
    wanted, front = room.facts[0].wanted, front_of(g.past)
    ahead = ZERO
    for seat in range(room.states[0].num_players):
        more = np.uint64(2 * tricks_of(g.past, seat)) * room.pairs[nth(seat)]
        ahead += more if has(wanted, seat) else ~more + ONE
    g.ahead[1], g.ahead[0] = _MID * _LOWS + ahead, _MID * _LOWS - ahead
    if front != NOBODY:
        g.ahead[nth(has(wanted, front))] += room.pairs[nth(front)]


@jit
def has_needed(ahead, need):
    """Is everybody ahead as much as needed?"""
    return ((ahead | _TOPS) - need) & _TOPS == _TOPS


@jit
def more_needed(need, other):
    """What is needed for both."""
    more = ((((need | _TOPS) - other) & _TOPS) >> _7) * _BYTE
    return (need & more) | (other & ~more)


@jit
def need_before(room, need, won, seat):
    """What was needed before a trick that the seat took; `won` is the answer.

    To be ahead by tricks alone after it, however little, is to be level before it.
    """
    some = ((need & ~_TOPS) + ~_TOPS & _TOPS) >> _7
    pairs = room.pairs[nth(seat)]
    change = ((some + some) - (need & some)) & (pairs * _BYTE)
    return need - change if has(room.facts[0].wanted, seat) == won else need + change


@jit
def answer(room, g, left, sure):
    """1 if a wanted seat is sure to win, 0 if another, else UNKNOWN; writes what that needs.

    That many tricks are left, and some are sure already.
    """
    free = left - total_of(sure)
    for seat in range(room.states[0].num_players):
        won = has(room.facts[0].wanted, seat)
        need = _lead_needed(room, seat, won, free, sure)
        if has_needed(g.ahead[nth(won)], need):
            g.need = need
            return np.int64(won)
    return UNKNOWN


@jit
def _lead_needed(room, seat, won, free, sure):
    """How much this seat must be ahead of those of the other side, to stay so."""
    need = ZERO
    for other in range(room.states[0].num_players):
        if has(room.facts[0].wanted, other) != won:
            most, mine = tricks_of(sure, other) + free, tricks_of(sure, seat)
            # Who is level now is ahead of who has yet to come level.
            least = min(2 * most if most > 0 else 1, 2 * (most + 1 - mine))
            need |= (np.uint64(least) + _MID) * (room.pairs[nth(seat)] & room.pairs[nth(other)])
    return need
