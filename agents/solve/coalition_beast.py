"""What the coalition's search of Beast keeps: answers, with what they rest on.

The question is who wins the hand (`agents.solve.needs`), unless revokes cost coins as well.
"""

from __future__ import annotations

from agents.solve.certain import cashed_tricks, sure_tricks
from agents.solve.needs import UNKNOWN, answer, more_needed, need_before, write_ahead
from agents.solve.outcomes import is_over, score
from agents.solve.partitions import as_good, is_found, keep, note_holders, told_by_all
from agents.solve.search import play_last_trick, ranks_of, tricks_left
from bestia_env._jit import jit
from bestia_env.bits import ZERO, has
from bestia_env.rules.table import NOBODY
from bestia_env.rules.tricks import suit_cards


@jit
def is_known(s, room, f, g):
    """Write the score of g, where a trick begins, if it is known; and what that rests on."""
    left, taker = tricks_left(room, g), NOBODY
    if left == 1:
        left, taker = 0, play_last_trick(room, g)
    if not room.facts[0].few:
        if is_over(room, g, tricks_left(room, g)):
            g.score = score(room, g.past, room.facts[0].seat)
            return True
    elif _is_certain(room, f, g, left):
        if taker != NOBODY:
            g.need = need_before(room, g.need, g.score >= f.high, taker)
        return True
    note_holders(room, g)
    return is_found(room, f, g)


@jit
def _is_certain(room, f, g, left):
    """Write the score of g if nothing that may still be played can change the answer."""
    write_ahead(room, g)
    won = _certain_answer(room, g, left)
    g.score = f.high if won == 1 else f.low
    return won != UNKNOWN


@jit
def _certain_answer(room, g, left):
    """The answer if nothing that may still be played can change it, else UNKNOWN.

    By counting tricks; then with those that trumps make sure of, too; then with masters.
    """
    sure, trumps = ZERO, ZERO
    for step in range(3):
        if step == 1:
            sure = sure_tricks(room, g)
            trumps = g.held & suit_cards(room.states[0].trump, ranks_of(room.states[0]))
            trumps = trumps if sure != ZERO else ZERO
        elif step == 2:
            if not _may_cash(room, g):
                return UNKNOWN
            sure += cashed_tricks(room, g)
        won = answer(room, g, left, sure)
        # The seat that leads need not cash its masters, so the other side may not count on it.
        if won != UNKNOWN and (step < 2 or won == has(room.facts[0].wanted, g.turn)):
            g.told |= trumps
            return won
    g.told = ZERO
    return UNKNOWN


@jit
def _may_cash(room, g):
    """Does the seat that leads want its own tricks?"""
    return has(room.facts[0].wanted, g.turn) == (g.turn == room.facts[0].seat)


@jit
def remember(s, room, g, low, high):
    """Keep bounds of the score of g."""
    keep(room, g, low, high)


@jit
def add_reasons(s, room, f, g, won):
    """Note what the score of f rests on, the card just tried having led to g.

    A card that is enough by itself is reason enough. Else all are, and those that are worth what
    the one just tried is need not be tried. `won` is the answer, where all depends on who wins.
    """
    told, need = g.told, g.need
    if g.laid == 0:
        told |= g.won
        need = need_before(room, need, won, g.turn)
    if f.low >= f.high:
        f.told, f.need = told, need
    else:
        f.told |= told_by_all(room, f, told)
        f.need = more_needed(f.need, need)
        f.left &= ~as_good(room, f, told)
