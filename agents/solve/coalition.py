"""One seat against all others, who know all cards and want nothing but its ruin.

Alpha-beta: a card is given up once it is worse for its player than one found before. What the seat
scores so it can be sure of, however the others play. What has been found out about a position
serves, in Beast, for all that differ from it in cards that did not tell only.
"""

from __future__ import annotations

from agents.solve.certain import cashed_tricks, sure_tricks
from agents.solve.needs import UNKNOWN, answer, ask, more_needed, need_before, write_ahead
from agents.solve.outcomes import is_over, score, write_bounds
from agents.solve.outcomes_beast import next_worth, seats_worth
from agents.solve.partitions import as_good, is_found, keep, note_holders, told_by_all
from agents.solve.past import NEVER
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
    void_table,
)
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, lowest, nth, without_lowest
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import NOBODY
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
    if g.laid > 0:
        return False
    if room.facts[0].few:
        return _is_answered(room, f, g)
    if tricks_left(room, g) == 1:
        play_last_trick(room, g)
    if is_over(room, g, tricks_left(room, g)):
        g.score = score(room, g.past, room.facts[0].seat)
        return True
    if room.facts[0].alike:
        note_holders(room, g)
        return is_found(room, f, g)
    return _is_remembered(room, f, g)


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
def _is_answered(room, f, g):
    """Write the score of g if it is certain, or a pattern has it; and what that rests on."""
    left, taker = tricks_left(room, g), NOBODY
    if left == 1:
        left, taker = 0, play_last_trick(room, g)
    write_ahead(room, g)
    won = _certain_answer(room, g, left)
    if won == UNKNOWN:
        note_holders(room, g)
        return is_found(room, f, g)
    if taker != NOBODY:
        g.need = need_before(room, g.need, won, taker)
    g.score = f.high if won == 1 else f.low
    return True


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
    found, told, need = g.score, g.told, g.need
    if g.laid == 0:
        told |= g.won
        if room.facts[0].few:
            need = need_before(room, need, found >= f.high, g.turn)
    if ply == 0:
        root[nth(f.card)] = found
        return
    if f.turn == room.facts[0].seat:
        f.score = max(f.score, found)
        f.low = max(f.low, f.score)
    else:
        f.score = min(f.score, found)
        f.high = min(f.high, f.score)
    if f.low < f.high:
        f.told |= told_by_all(room, f, told)
        f.need = more_needed(f.need, need)
        if room.facts[0].alike:
            f.left &= ~as_good(room, f, told)
    else:
        f.told, f.need, f.left = told, need, ZERO
