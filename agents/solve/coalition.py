"""One seat against all others, who know all cards and want nothing but its ruin.

Alpha-beta: a card is given up once it is worse for its player than one found before. What the seat
scores so it can be sure of, however the others play. In Beast a hand is worth but two or three
different scores, and the search asks for each whether it is reached; what it has found out serves
for all positions that differ in what did not tell only.
"""

from __future__ import annotations

from agents.solve import coalition_beast, coalition_bestia
from agents.solve.needs import ask
from agents.solve.outcomes_beast import next_worth, seats_worth
from agents.solve.past import NEVER
from agents.solve.search import (
    begin,
    distinct_cards,
    likely_card,
    play_next,
    void_table,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, lowest, nth, without_lowest
from bestia_env.rules.dispatch import by_game, legal


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
        room.facts[0].seat = seats[i]
        num_nodes += _solve(states, i, room, roots[i])
    return num_nodes


@jit
def _solve(states, i, room, root):
    begin(states, i, room)
    _prepare(room, root)
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
        elif ply > 0:
            ply -= 1
            _remember(room, ply)
            _back_up(room, ply, root)
        elif not _ask_more(room, root):
            _write_values(room, root)
            return num_nodes


# What is asked: once for the score; where all depends on who wins, once for every score but the
# least whether a card brings as much.


@jit
def _prepare(room, root):
    """Before anything is asked every card brings the least."""
    facts, f = room.facts[0], room.frames[0]
    facts.wanted = bit(facts.seat)
    f.most = next_worth(room, facts.seat, -NEVER) if facts.few else -NEVER
    f.left, cards = ZERO, f.left
    while cards != ZERO:
        root[nth(lowest(cards))] = f.most
        cards = without_lowest(cards)


@jit
def _ask_more(room, root):
    """Ask of the cards that have brought what was asked last, if there is more; is there?"""
    facts, f = room.facts[0], room.frames[0]
    f.least, f.most = f.most, next_worth(room, facts.seat, f.most) if facts.few else NEVER
    f.left = _cards_worth(root, distinct_cards(room, 0), f.least)
    if f.least == f.most or f.left == ZERO:
        return False
    void_table(room)
    if facts.few:
        ask(room, seats_worth(room, facts.seat, f.most))
    _open(room, 0, f.least, f.most)
    return True


@jit
def _cards_worth(root, cards, worth):
    found = ZERO
    while cards != ZERO:
        if root[nth(lowest(cards))] == worth:
            found |= bit(lowest(cards))
        cards = without_lowest(cards)
    return found


@jit
def _write_values(room, root):
    """Write the score of the root, and of cards that are as good as the one below them."""
    distinct = distinct_cards(room, 0)
    ours, cards = room.frames[0].turn == room.facts[0].seat, legal(room.states[0])
    below, best = lowest(cards), -NEVER if ours else NEVER
    while cards != ZERO:
        card = lowest(cards)
        if not has(distinct, card):
            root[nth(card)] = root[nth(below)]
        found = root[nth(card)]
        best = max(best, found) if ours else min(best, found)
        cards, below = without_lowest(cards), card
    room.scores[0, 0] = best


@jit
def _is_ours(room, f):
    """Does the trick go to where the side that is to act would have it?"""
    if f.turn == room.facts[0].seat:
        return f.best_seat == f.turn
    return not has(room.facts[0].wanted, f.best_seat)


@jit
def _open(room, ply, low, high):
    f = room.frames[nth(ply)]
    f.low, f.high = max(low, f.least), min(high, f.most)
    f.score = -NEVER if f.turn == room.facts[0].seat else NEVER


@jit
def _is_known(room, ply):
    """Write the score after the card just tried, if it is known or known to be of no use."""
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    g.least, g.most, g.told, g.need = -NEVER, NEVER, ZERO, ZERO
    return g.laid == 0 and known_at_trick(room.states[0], room, f, g)


@jit
def _remember(room, ply):
    """Note what has been found out about the position after the card just tried."""
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    if g.laid > 0:
        return
    g.score = min(max(g.score, g.least), g.most)
    low = g.score if g.score > f.low else g.least
    high = g.score if g.score < f.high else g.most
    remember(room.states[0], room, g, low, high)


@jit
def _back_up(room, ply, root):
    """Take the score of the card just tried; give up the others if they cannot matter.

    At the root the window stays open, so that the score of every card is exact.
    """
    f, g = room.frames[nth(ply)], room.frames[nth(ply + 1)]
    found, won = g.score, g.score >= f.high
    if ply == 0:
        root[nth(f.card)] = found
        return
    if f.turn == room.facts[0].seat:
        f.score = max(f.score, found)
        f.low = max(f.low, f.score)
    else:
        f.score = min(f.score, found)
        f.high = min(f.high, f.score)
    add_reasons(room.states[0], room, f, g, won)
    if f.low >= f.high:
        f.left = ZERO


@by_game(coalition_beast.is_known, coalition_bestia.is_known)
def known_at_trick(s, room, f, g):
    """Write the score of g, where a trick begins, if it is known or known to be of no use."""


@by_game(coalition_beast.remember, coalition_bestia.remember)
def remember(s, room, g, low, high):
    """Keep bounds of the score of g."""


@by_game(coalition_beast.add_reasons, coalition_bestia.add_reasons)
def add_reasons(s, room, f, g, won):
    """Note what the score of f rests on, the card just tried having led to g."""
