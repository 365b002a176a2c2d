"""How a hand of Beast ends, and what that is worth: all depends on who wins it, and on revokes."""

from __future__ import annotations

from agents.solve.past import (
    NEVER,
    front_of,
    past_of,
    total_of,
    tricks_of,
    with_front,
    with_revoke,
    with_trick,
)
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, nth
from bestia_env.rules.beast import obedient_cards, settle_tricks
from bestia_env.rules.table import NOBODY, match, settled_score


@jit
def playing_seats(s):
    """Everybody (BEAST-19)."""
    return bit(s.num_players) - ONE


@jit
def note_past(s):
    """The past of a record."""
    return with_front(past_of(s), s.front)


@jit
def add_trick(s, past, winner):
    """The past after one more trick (BEAST-30)."""
    past, front = with_trick(past, winner), front_of(past)
    if front == NOBODY or tricks_of(past, winner) > tricks_of(past, front):
        return with_front(past, winner)
    return past


@jit
def judge(s, past, card):
    """The past after the seat to act has played a card (BEAST-25)."""
    return past if has(obedient_cards(s, s.turn), card) else with_revoke(past, s.turn)


@jit
def find_worth(s, states, i, room):
    """room.worth[w, seat] is the seat's score if w wins and nobody has revoked."""
    facts = room.facts[0]
    facts.fine = match(s)
    facts.judged = s.revoke_allowed
    facts.by_name = False
    facts.few = not s.revoke_allowed
    for winner in range(s.num_players):
        s.front = winner
        s.revoked[:] = 0
        settle_tricks(s)
        for seat in range(s.num_players):
            room.worth[nth(winner), nth(seat)] = settled_score(s, seat)
        room.states[0] = states[i]


@jit
def score(s, room, past, seat):
    """The seat's score when the hand ends so."""
    return room.worth[nth(front_of(past)), nth(seat)]


@jit
def seats_worth(room, seat, least):
    """The set of winners by whom the seat scores so much at least, nobody having revoked."""
    winners = ZERO
    for winner in range(room.states[0].num_players):
        if room.worth[nth(winner), nth(seat)] >= least:
            winners |= bit(winner)
    return winners


@jit
def next_worth(room, seat, worth):
    """The seat's next better score than `worth`, or `worth` if it has none."""
    better = NEVER
    for winner in range(room.states[0].num_players):
        if room.worth[nth(winner), nth(seat)] > worth:
            better = min(better, room.worth[nth(winner), nth(seat)])
    return better if better < NEVER else worth


@jit
def may_win(room, g, left, sure):
    """The set of seats that may still win; some that cannot may be among them."""
    s, front = room.states[0], front_of(g.past)
    free = left - total_of(sure)
    top = 0
    for seat in range(s.num_players):
        top = max(top, tricks_of(g.past, seat) + tricks_of(sure, seat))
    to_beat = tricks_of(g.past, front) if front != NOBODY else 0
    winners = ZERO
    for seat in range(s.num_players):
        most = tricks_of(g.past, seat) + tricks_of(sure, seat) + free
        if most >= top and (most > to_beat or seat == front):
            winners |= bit(seat)
    return winners
