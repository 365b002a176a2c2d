"""How a hand of Bestia ends, and what that is worth: all depends on tricks, and on fines."""

from __future__ import annotations

from agents.solve.past import (
    MASK,
    NEVER,
    past_of,
    place,
    some_of,
    total_of,
    tricks_of,
    with_breach,
    with_revoke,
    with_trick,
)
from bestia_env._jit import jit
from bestia_env.bits import has, nth, size
from bestia_env.rules.bestia import (
    MAXIMS_OFF,
    PENALTY,
    is_in,
    obedient_cards,
    part_of_pot,
    sound_cards,
)
from bestia_env.rules.table import match


@jit
def playing_seats(s):
    """Those who take part."""
    return s.playing


@jit
def note_past(s):
    """The past of a record."""
    past = past_of(s)
    for seat in range(s.num_players):
        for _ in range(s.breaches[nth(seat)]):
            past = with_breach(past, seat)
    return past


@jit
def add_trick(s, past, winner):
    """The past after one more trick."""
    return with_trick(past, winner)


@jit
def judge(s, past, card):
    """The past after the seat to act has played a card (I-16, I-17)."""
    obedient = obedient_cards(s, s.turn)
    if not has(obedient, card):
        return with_revoke(past, s.turn)
    if s.maxims == PENALTY and not has(sound_cards(s, s.turn, obedient), card):
        return with_breach(past, s.turn)
    return past


@jit
def find_worth(s, states, i, room):
    """room.worth[seat, t] is the seat's score with t tricks, but for its part of all fines."""
    facts = room.facts[0]
    facts.fine = match(s)
    facts.judged = s.revoke_allowed or s.maxims == PENALTY
    facts.by_name = s.maxims != MAXIMS_OFF
    facts.few = False
    n = s.num_players
    for seat in range(n):
        bete = match(s) if is_in(s, seat) else 0
        for tricks in range(facts.tricks + 1):
            gains = s.gains[nth(seat)] + part_of_pot(s) * tricks - (bete if tricks == 0 else 0)
            room.worth[nth(seat), nth(tricks)] = n * gains - s.carried


@jit
def score(s, room, past, seat):
    """The seat's score when the hand ends so, revokes and breaches apart."""
    facts = room.facts[0]
    betes = facts.num_playing - size(some_of(past))
    return room.worth[nth(seat), nth(tricks_of(past, seat))] + facts.fine * betes


@jit
def write_bounds(room, g, left, sure, seat):
    """Bounds of the seat's score where a trick begins, by the tricks it may still take."""
    facts, mine = room.facts[0], tricks_of(g.past, seat)
    low = tricks_of(sure, seat)
    high = left - (total_of(sure) - low) if has(facts.playing, seat) else 0
    others = g.past & ~(MASK << place(seat))
    g.least, g.most = NEVER, -NEVER
    num_others = facts.num_playing - has(facts.playing, seat)
    some = size(some_of(others))
    some_sure = size(some_of(others | (sure & ~(MASK << place(seat)))))
    for more in range(low, high + 1):
        rest = left - more
        most_some = min(some + rest, num_others)
        least_some = max(some_sure, 1 if some == 0 and rest > 0 else 0)
        own = room.worth[nth(seat), nth(mine + more)]
        me = has(facts.playing, seat) and mine + more == 0
        g.least = min(g.least, own + facts.fine * (num_others - most_some + me))
        g.most = max(g.most, own + facts.fine * (num_others - least_some + me))
