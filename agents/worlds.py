"""Worlds: whole states in which a seat may be, drawn at random.

Search and advice play out hands whose hidden cards they do not know. `determinize` fills these in,
all ways that are consistent with what the seat may know being equally likely; nothing is read into
what others have said, which is the business of `agents.reading`. Known are

- the cards that the viewer holds, has put away and has seen, and how many every seat holds;
- the voids shown (none where a revoke is allowed, B-13);
- in Beast, that a dealer who took the upcard holds it, has discarded it or has played it;
- in Bestia, which cards were gathered for an exchange and may have been dealt again (I-08), and
  that every card played was legal: `must_head` and `maxims="mask"` tell more than voids.

Voids are met by counting: a table says in how many ways the seats that have shown some can hold so
many cards of each suit. All else is dealt from a shuffled pack; a world that contradicts the last
two points is dealt anew.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, lowest, member, nth, size, without_lowest
from bestia_env.games import game_named
from bestia_env.rng import below, draw, seed_sequence_keys, unit
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import apply, by_game, legal, rulebook_of
from bestia_env.rules.table import NO_CARD, NOBODY, next_cards
from bestia_env.rules.tricks import suit_cards
from bestia_env.view import is_blind

_BINOMIAL = np.array([[float(math.comb(n, k)) for k in range(14)] for n in range(14)])


class Room(NamedTuple):
    """Where `determinize` works.

    Attributes:
        counts: (n,) int64, how many cards each seat is dealt from the shuffled pack.
        seats: (n,) int64, the seats that have shown voids.
        held: (n + 1,) int64, how many cards the first so many of them hold.
        suits: (4,) int64, how many cards of each suit are hidden.
        ways: (n + 1, (ranks + 1)**3) float64, in how many ways the first so many of them can hold
            so many cards of suits 0, 1 and 2; row 0 is not used.
    """

    counts: np.ndarray
    seats: np.ndarray
    held: np.ndarray
    suits: np.ndarray
    ways: np.ndarray


def make_room(game: str, num_players: int) -> Room:
    """Room for the worlds of a game, "beast" or "bestia", at a table of so many."""
    cells = (game_named(game).module.RANKS + 1) ** 3
    return Room(
        np.zeros(num_players, np.int64),
        np.zeros(num_players, np.int64),
        np.zeros(num_players + 1, np.int64),
        np.zeros(4, np.int64),
        np.zeros((num_players + 1, cells)),
    )


def draw_worlds(view: np.ndarray, num_worlds: int, seed: int | None) -> np.ndarray:
    """Worlds in which the viewer of a view may be.

    Args:
        view: (1,) records, the VIEW of a seat in a hand that is not over.
        num_worlds: how many.
        seed: of the draws; None for a fresh one.

    Returns:
        (num_worlds,) states of the same dtype.
    """
    worlds = np.empty(num_worlds, view.dtype)
    game = "beast" if rulebook_of(view[0]) is beast else "bestia"
    room = make_room(game, int(view[0].num_players))
    determinize_batch(view, seed_sequence_keys(seed, 1), worlds, room)
    return worlds


@jit
def determinize_batch(views, rng, worlds, room):
    """Draw a world of views[0] for every place in `worlds`; arguments as for `determinize`."""
    hidden = _unseen(views[0])
    levels = _count(views[0], hidden, room)
    for j in range(worlds.size):
        _draw_world(views, 0, hidden, levels, rng, worlds, j, room)


@jit
def determinize(views, i, rng, worlds, j, room):
    """Write into worlds[j] a whole state in which the viewer of views[i] may be.

    It can be played to its end by `rules.dispatch.apply`. The order of the pack, and of cards
    gathered later, is drawn when it is needed from the state's own generator.

    Args:
        views: records; views[i] is the VIEW of a seat in a hand that is not over, see `view.look`.
        i: which of them.
        rng: (1,) uint64, which moves on.
        worlds: records of the same dtype.
        j: which of them is written.
        room: `Room`.
    """
    hidden = _unseen(views[i])
    levels = _count(views[i], hidden, room)
    _draw_world(views, i, hidden, levels, rng, worlds, j, room)


@jit
def _draw_world(views, i, hidden, levels, rng, worlds, j, room):
    w = worlds[j]
    while True:
        worlds[j] = views[i]
        w.key, w.rng[0] = draw(rng), draw(rng)
        _deal_hidden(w, hidden, levels, room)
        if _complete(w):
            break
    w.viewer = NOBODY


@jit
def _deal_hidden(w, hidden, levels, room):
    """Cards for the seats that have shown voids, then for all others; the rest is the pack."""
    if levels > 0:
        hidden = _deal_by_suits(w, hidden, levels, room)
    w.dealt = w.settled = w.pack_size - size(hidden)
    for place in range(w.dealt, w.pack_size):
        w.pack[nth(place)] = lowest(hidden)
        hidden = without_lowest(hidden)
    for seat in range(w.num_players):
        w.hands[nth(seat)] |= next_cards(w, room.counts[nth(seat)])


@jit
def _draw_cards(rng, cards, count):
    """A random set of so many of some cards."""
    drawn = ZERO
    for _ in range(count):
        left = cards & ~drawn
        drawn |= bit(member(left, below(rng, size(left))))
    return drawn


@jit
def _played_by(v, seats):
    """The cards that a set of seats has played in this hand."""
    cards = ZERO
    for k in range(v.plays):
        if has(seats, v.play_seat[nth(k)]):
            cards |= bit(v.play_card[nth(k)])
    return cards


# Voids.


@jit
def _count(v, hidden, room):
    """Count the hidden cards, and the ways to hold them; returns how many seats showed voids."""
    levels = 0
    for seat in range(v.num_players):
        count = _num_hidden(v, seat)
        shown = count > 0 and v.voids[nth(seat)] > 0
        room.counts[nth(seat)] = 0 if shown else count
        if shown:
            room.seats[nth(levels)] = seat
            levels += 1
            room.held[nth(levels)] = room.held[nth(levels - 1)] + count
    if levels > 0:
        for suit in range(4):
            room.suits[nth(suit)] = size(hidden & suit_cards(suit, _ranks(v)))
        for level in range(1, levels + 1):
            _count_ways(v, level, room)
    return levels


@jit
def _ranks(v):
    return v.pack.size // 4


@jit
def _count_ways(v, level, room):
    """Fill a row of the table from the one before."""
    for a in range(room.suits[0] + 1):
        for b in range(room.suits[1] + 1):
            for c in range(room.suits[2] + 1):
                ways, _, _, _ = _ways_to(v, level, a, b, c, math.inf, room)
                room.ways[level, _cell(room, a, b, c)] = ways


@jit
def _cell(room, a, b, c):
    """The place of so many cards of suits 0, 1 and 2 in a row of the table."""
    return (a * (room.suits[1] + 1) + b) * (room.suits[2] + 1) + c


@jit
def _ways_to(v, level, a, b, c, enough, room):
    """In how many ways the first seats can hold a, b and c cards of suits 0, 1 and 2.

    Args:
        v: a record, for its `voids`.
        level: how many seats; the row before is filled.
        a: cards of suit 0.
        b: cards of suit 1.
        c: cards of suit 2.
        enough: stop at the way of this number.
        room: with the table.

    Returns:
        The ways, and how many cards of the three suits the last seat holds in the latest of them.
    """
    voids = np.uint64(v.voids[nth(room.seats[level - 1])])
    count = room.held[level] - room.held[level - 1]
    d = room.held[level] - a - b - c
    total, x, y, z = 0.0, 0, 0, 0
    if d < 0 or d > room.suits[3]:
        return total, x, y, z
    for i in range(_most(voids, 0, a, count) + 1):
        for j in range(_most(voids, 1, b, count - i) + 1):
            for k in range(_most(voids, 2, c, count - i - j) + 1):
                rest = count - i - j - k
                if rest > _most(voids, 3, d, rest) or total > enough:
                    continue
                ways = _ways_before(room, level, a - i, b - j, c - k)
                if ways > 0:
                    ways *= _choices(room, 0, a - i, i) * _choices(room, 1, b - j, j)
                    ways *= _choices(room, 2, c - k, k) * _choices(room, 3, d - rest, rest)
                    total += ways
                    x, y, z = i, j, k
    return total, x, y, z


@jit
def _most(voids, suit, cards, count):
    """How many cards of a suit the seat may hold."""
    return 0 if has(voids, suit) else min(cards, count)


@jit
def _ways_before(room, level, a, b, c):
    if level == 1:
        return 1.0 if a + b + c == 0 else 0.0
    return room.ways[level - 1, _cell(room, a, b, c)]


@jit
def _choices(room, suit, gone, count):
    """In how many ways a seat takes cards of a suit when others have taken theirs."""
    return _BINOMIAL[room.suits[suit] - gone, count]


@jit
def _deal_by_suits(w, hidden, levels, room):
    """Deal to the seats that have shown voids; returns the cards that are left."""
    a, b, c = _draw_totals(w, levels, room)
    for level in range(levels, 0, -1):
        enough = unit(w.rng) * room.ways[level, _cell(room, a, b, c)]
        _, x, y, z = _ways_to(w, level, a, b, c, enough, room)
        rest = room.held[level] - room.held[level - 1] - x - y - z
        cards = _draw_suit(w, hidden, 0, x) | _draw_suit(w, hidden, 1, y)
        cards |= _draw_suit(w, hidden, 2, z) | _draw_suit(w, hidden, 3, rest)
        w.hands[nth(room.seats[level - 1])] = cards
        hidden &= ~cards
        a, b, c = a - x, b - y, c - z
    return hidden


@jit
def _draw_totals(w, levels, room):
    """Draw how many cards of suits 0, 1 and 2 all these seats hold together."""
    row, cells = room.ways[levels], _cell(room, room.suits[0], room.suits[1], room.suits[2]) + 1
    total = 0.0
    for cell in range(cells):
        total += row[cell]
    left, drawn = unit(w.rng) * total, 0
    for cell in range(cells):
        if left >= 0 and row[cell] > 0:
            left -= row[cell]
            drawn = cell
    c, drawn = drawn % (room.suits[2] + 1), drawn // (room.suits[2] + 1)
    return drawn // (room.suits[1] + 1), drawn % (room.suits[1] + 1), c


@jit
def _draw_suit(w, cards, suit, count):
    return _draw_cards(w.rng, cards & suit_cards(suit, _ranks(w)), count)


# Cards played.


@jit
def _replay(w):
    """Play the cards of the hand again; returns whether all were legal for those who played them.

    Whoever owes for a revoke or a breach in this world will then be found to owe (B-13, I-17).
    """
    plays = w.plays
    if plays == 0:
        return True
    _take_back(w)
    for k in range(plays):
        if not has(legal(w), w.play_card[nth(k)]):
            return False
        apply(w, w.play_card[nth(k)])
    return True


@jit
def _take_back(w):
    """Take all cards played back into the hands."""
    for k in range(w.plays):
        w.hands[nth(w.play_seat[nth(k)])] |= bit(w.play_card[nth(k)])
    w.turn = w.play_seat[0]
    w.plays = w.trick = 0
    w.led = w.best = NO_CARD
    w.best_seat = NOBODY
    w.tricks[:] = 0
    w.voids[:] = 0
    w.revoked[:] = 0


# What each game hides.


@jit
def _everybody(v):
    return bit(v.num_players) - ONE


@jit
def _unseen_beast(v):
    seen = v.hands[nth(v.viewer)] | v.discard | _played_by(v, _everybody(v))
    if v.upcard_is != beast.TAKEN:
        seen |= bit(v.upcard)
    return v.in_use & ~seen


@jit
def _num_hidden_beast(v, seat):
    if seat == v.viewer and not is_blind(v, seat):
        return 0
    taken = seat == v.dealer and v.phase == beast.AT_DISCARD
    return v.cards_each + taken - size(_played_by(v, bit(seat)))


@jit
def _complete_beast(w):
    if w.upcard_is == beast.TAKEN and w.viewer != w.dealer:
        if w.phase != beast.AT_DISCARD:
            w.discard = next_cards(w, 1)
        dealers = w.hands[nth(w.dealer)] | w.discard | _played_by(w, bit(w.dealer))
        if not has(dealers, w.upcard):
            return False
    if not w.revoke_allowed:
        return True
    w.front = NOBODY
    return _replay(w)


@jit
def _unseen_bestia(v):
    seen = v.hands[nth(v.viewer)] | _played_by(v, _everybody(v))
    if not v.gathered:
        seen |= bit(v.upcard)
    if not v.gathered or has(v.exchanged, v.viewer):
        seen |= v.thrown[nth(v.viewer)]
    return v.in_use & ~seen


@jit
def _num_hidden_bestia(v, seat):
    if seat == v.viewer:
        return 0
    if v.phase == bestia.AT_TRICKS:
        holds = bestia.is_in(v, seat)
    else:
        holds = not has(v.refused | v.exchanged, seat)
    return v.cards_each * holds - size(_played_by(v, bit(seat)))


@jit
def _complete_bestia(w):
    laid_down = w.passed if w.phase == bestia.AT_TRICKS else w.refused | w.exchanged
    laid_down &= ~bit(w.viewer)
    if w.gathered:
        _deal_thrown(w, laid_down & w.exchanged)
        if not _gather_again(w, laid_down & ~w.exchanged):
            return False
    else:
        _deal_thrown(w, laid_down)
    if not (w.revoke_allowed or w.must_head or w.maxims != bestia.MAXIMS_OFF):
        return True
    w.breaches[:] = 0
    return _replay(w)


@jit
def _deal_thrown(w, seats):
    while seats != ZERO:
        w.thrown[nth(lowest(seats))] = next_cards(w, w.cards_each)
        seats = without_lowest(seats)


@jit
def _gather_again(w, seats):
    """Which gathered cards these seats had thrown; returns False if some cannot be gathered.

    The upcard and the cards that the viewer threw were gathered, if he got no new ones. They are
    in the hands of those who did by now, or have been played by them, or are left over.
    """
    known = bit(w.upcard)
    if not has(w.exchanged, w.viewer):
        known |= w.thrown[nth(w.viewer)]
    kept = _played_by(w, w.knocked)
    for seat in range(w.num_players):
        if has(w.knocked, seat):
            kept |= w.hands[nth(seat)]
        if has(w.exchanged, seat):
            kept |= w.thrown[nth(seat)]
    heap = w.in_use & ~kept & ~known
    while seats != ZERO:
        cards = _draw_cards(w.rng, heap, w.cards_each)
        w.thrown[nth(lowest(seats))] = cards
        heap &= ~cards
        seats = without_lowest(seats)
    return kept & known == ZERO


@by_game(_unseen_beast, _unseen_bestia)
def _unseen(v):
    """The cards that the viewer of v cannot place."""


@by_game(_num_hidden_beast, _num_hidden_bestia)
def _num_hidden(v, seat):
    """How many cards the seat holds that the viewer of v cannot see."""


@by_game(_complete_beast, _complete_bestia)
def _complete(w):
    """Deal what others have put away; returns whether w.viewer may be in this world."""
