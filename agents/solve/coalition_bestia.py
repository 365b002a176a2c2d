"""What the coalition's search of Bestia keeps: bounds of the score of a position."""

from __future__ import annotations

from agents.solve.certain import sure_tricks
from agents.solve.outcomes import is_over, score
from agents.solve.outcomes_bestia import write_bounds
from agents.solve.past import NEVER
from agents.solve.search import play_last_trick, slot_again, slot_of, tricks_left
from bestia_env._jit import jit


@jit
def is_known(s, room, f, g):
    """Write the score of g, where a trick begins, if it is known or known to be of no use."""
    if tricks_left(room, g) == 1:
        play_last_trick(room, g)
    if is_over(room, g, tricks_left(room, g)):
        g.score = score(room, g.past, room.facts[0].seat)
        return True
    if room.facts[0].judged:
        g.least, g.most = -NEVER, NEVER
    else:
        write_bounds(room, g, tricks_left(room, g), sure_tricks(room, g), room.facts[0].seat)
    if _is_decided(f, g):
        return True
    slot = slot_of(room, g)
    if slot.key == g.key:
        g.least, g.most = max(g.least, slot.low), min(g.most, slot.high)
    return _is_decided(f, g)


@jit
def _is_decided(f, g):
    """Write the score of g if its bounds leave no more to ask in the window of f."""
    g.score = g.least if g.least >= f.high else g.most
    return g.least == g.most or g.least >= f.high or g.most <= f.low


@jit
def remember(s, room, g, low, high):
    """Keep bounds of the score of g."""
    slot = slot_again(room, g)
    slot.key, slot.low, slot.high = g.key, low, high


@jit
def add_reasons(s, room, f, g, won):
    """Nothing: scores hold for one position alone."""
