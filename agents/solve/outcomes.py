"""How a hand ends, and what that is worth, in either game.

Scores are n times the equity in coins (B-18), which are integers, so that ties are ties.
"""

from __future__ import annotations

import numpy as np

from agents.solve import outcomes_beast, outcomes_bestia
from agents.solve.certain import sure_tricks
from agents.solve.outcomes_beast import may_win
from agents.solve.past import fines_of, front_of, tricks_of, with_front
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, lowest, nth
from bestia_env.rules.dispatch import by_game
from bestia_env.rules.table import NOBODY, seat_after

FACTS = np.dtype(
    (
        np.record,
        [
            ("kept", np.int64),  # how many patterns have been
            ("void", np.int64),  # and how many of them before this search
            ("search", np.uint64),  # the number of this search
            ("stamp", np.uint64),  # in its keys, so that what others left is void
            ("seat", np.int64),  # who plays against all others
            ("wanted", np.uint64),  # the set of seats whose tricks please it
            ("tricks", np.int64),  # in a hand
            ("playing", np.uint64),  # the set of seats that do
            ("num_playing", np.int64),
            ("fine", np.int64),  # coins that a revoke, a breach or a bête costs
            ("judged", np.bool_),  # are there cards that cost a fine?
            ("few", np.bool_),  # does who wins the hand tell all of its outcome?
            ("by_name", np.bool_),  # do the names of cards tell, beside their order?
        ],
    )
)
"""What holds in all of a hand."""


@jit
def score(room, past, seat):
    """The seat's score when the hand ends so."""
    s, facts = room.states[0], room.facts[0]
    found = plain_score(s, room, past, seat)
    if facts.judged:
        count = 0
        for other in range(s.num_players):
            count += fines_of(past, other)
        found += facts.fine * (count - s.num_players * fines_of(past, seat))
    return found


@jit
def is_over(room, g, left):
    """Is the hand over? In Beast it ends with a majority of the tricks (B-15)."""
    front = front_of(g.past)
    return left == 0 or (front != NOBODY and 2 * tricks_of(g.past, front) >= room.facts[0].tricks)


# Which outcome a seat prefers (max^n).


@jit
def is_better(room, seat, found, best):
    """More for the seat; if that is the same, less for the first after it whose score differs."""
    if room.facts[0].few:
        return has(room.better[nth(seat), nth(front_of(best))], front_of(found))
    gain = score(room, found, seat) - score(room, best, seat)
    if gain != 0:
        return gain > 0
    for _ in range(room.states[0].num_players - 1):
        seat = seat_after(room.states[0], seat)
        gain = score(room, found, seat) - score(room, best, seat)
        if gain != 0:
            return gain < 0
    return False


@jit
def find_preferences(room):
    """If outcomes are few, note for each who winners are that a seat prefers to w, and alike to w.

    The sets stand in room.better[seat, w] and room.better[n, w].
    """
    facts, n = room.facts[0], room.states[0].num_players
    if not facts.few:
        return
    facts.few = False
    for winner in range(n):
        room.better[nth(n), nth(winner)] = bit(n) - ONE
        best = with_front(ZERO, winner)
        for seat in range(n):
            better = ZERO
            for other in range(n):
                found = with_front(ZERO, other)
                if is_better(room, seat, found, best):
                    better |= bit(other)
                elif is_better(room, seat, best, found):
                    room.better[nth(n), nth(winner)] &= ~bit(other)
            room.better[nth(seat), nth(winner)] = better
            room.better[nth(n), nth(winner)] &= ~better
    facts.few = True


@jit
def preferred(room, seat, outcome):
    """The set of winners that the seat prefers to this outcome, or all if outcomes are many."""
    return room.better[nth(seat), nth(front_of(outcome))] if room.facts[0].few else ~ZERO


@jit
def likewise(room, outcome):
    """The set of winners that make no difference to this outcome, or none if outcomes are many."""
    if room.facts[0].few:
        return room.better[nth(room.states[0].num_players), nth(front_of(outcome))]
    return ZERO


@jit
def is_settled(room, g, left):
    """Write the outcome, if nothing that may still happen makes a difference to it."""
    if not room.facts[0].few:
        return False
    g.possible &= may_win(room, g, left, sure_tricks(room, g))
    g.outcome = with_front(g.past, lowest(g.possible))
    return g.possible & ~likewise(room, g.outcome) == ZERO


@by_game(outcomes_beast.playing_seats, outcomes_bestia.playing_seats)
def playing_seats(s):
    """The set of seats that play."""


@by_game(outcomes_beast.note_past, outcomes_bestia.note_past)
def note_past(s):
    """The past of a record."""


@by_game(outcomes_beast.add_trick, outcomes_bestia.add_trick)
def add_trick(s, past, winner):
    """The past after one more trick."""


@by_game(outcomes_beast.judge, outcomes_bestia.judge)
def judge(s, past, card):
    """The past after the seat to act has played a card that may cost a fine."""


@by_game(outcomes_beast.find_worth, outcomes_bestia.find_worth)
def find_worth(s, states, i, room):
    """Write what outcomes are worth, and the facts on fines; s is room.states[0]."""


@by_game(outcomes_beast.score, outcomes_bestia.score)
def plain_score(s, room, past, seat):
    """The seat's score when the hand ends so, revokes and breaches apart."""
