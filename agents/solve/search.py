"""What the solvers have in common: the line of play in hand, and positions met before.

The line of play is a stack of frames, one for each card played, that hold no more than the tricks
need; which cards are legal, which of two takes a trick, and what a hand is worth say the rulebooks
(see `agents.solve.outcomes`). The last trick is not searched, since everybody has one card left.

Positions are compared where a trick begins, by 64 bits mixed from all that tells in the rest of
the hand: who holds the highest card left of each suit, the next, and so on. That two of one search
have the same bits by chance is less likely than a fault of the machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.solve.outcomes import (
    FACTS,
    add_trick,
    find_worth,
    judge,
    note_past,
    playing_seats,
)
from agents.solve.partitions import PATTERN, who_took
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, first_from, lowest, nth, or_else, size, without_lowest
from bestia_env.games import game_named
from bestia_env.rng import stream
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import NO_CARD, check_coins
from bestia_env.rules.tricks import (
    beats,
    cards_that_beat,
    suit_cards,
    suit_of,
    table_cards,
    trick_cards,
)

FRAME = np.dtype(
    (
        np.record,
        [
            ("left", np.uint64),  # the cards not tried yet
            ("held", np.uint64),  # the cards in all hands
            ("past", np.uint64),  # tricks taken and so on, see `agents.solve.outcomes`
            ("key", np.uint64),  # of the position, where a trick begins
            ("top_key", np.uint64),  # and of who holds the highest cards
            ("card", np.int64),  # the card tried last
            ("turn", np.int64),
            ("trick", np.int64),  # the number of the trick, from 0
            ("laid", np.int64),  # how many cards lie in it
            ("cards", np.uint64),  # which
            ("led", np.int64),  # the card led, or NO_CARD
            ("best", np.int64),  # the card that is winning the trick, and whose it is
            ("best_seat", np.int64),
            ("won", np.uint64),  # the card that took the last trick, if its rank told
            # Of the search.
            ("told", np.uint64),  # the cards whose ranks tell in the score
            ("holders", np.uint64, (4,)),  # see `agents.solve.partitions`
            ("need", np.uint64),  # what of the past tells in the score, see `agents.solve.needs`
            ("ahead", np.uint64, (2,)),  # the same of the position
            ("possible", np.uint64),  # the ways it may end, if they are few (max^n of Beast)
            ("outcome", np.uint64),  # how the hand ends by the best card so far (max^n)
            ("score", np.int64),  # what it brings (coalition)
            ("least", np.int64),  # bounds of what the position is worth
            ("most", np.int64),
            ("low", np.int64),  # what the coalition's opponent has elsewhere
            ("high", np.int64),  # what the coalition has elsewhere
        ],
    )
)
"""A position in the line of play."""

SLOT = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),
            ("outcome", np.uint64),  # of max^n
            ("low", np.int64),  # the coalition's bounds
            ("high", np.int64),
        ],
    )
)
"""A position met before."""


class Room(NamedTuple):
    """Where a solver works.

    Attributes:
        scores: (1, n) int64, what the position solved last is worth: n times the equity in coins.
        states: (1,) a record, for the rulebook.
        frames: (plies + 1,) FRAME, from the root.
        facts: (1,) FACTS, what holds in all of the hand.
        dealt: (n,) uint64, the cards that each seat holds at the root.
        owner: (cards,) int64, who does.
        after: (n,) int64, the next seat that plays.
        worth: (rows, columns) int64, see `agents.solve.outcomes`.
        better: (n + 1, n) uint64, likewise.
        pairs: (n,) uint64, see `agents.solve.needs`.
        slots: (slots,) SLOT, the table.
        chains: (slots,) int64, see `agents.solve.partitions`.
        patterns: (slots,) PATTERN, the table of the coalition in Beast.
    """

    scores: np.ndarray
    states: np.ndarray
    frames: np.ndarray
    facts: np.ndarray
    dealt: np.ndarray
    owner: np.ndarray
    after: np.ndarray
    worth: np.ndarray
    better: np.ndarray
    pairs: np.ndarray
    slots: np.ndarray
    chains: np.ndarray
    patterns: np.ndarray


def make_room(game: str, num_players: int, slot_bits: int = 15) -> Room:
    """Room for either solver, to be used for any number of hands.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        slot_bits: the table has 2**slot_bits slots, 0 to 28.

    Raises:
        ValueError: an argument is out of range.
    """
    chosen = game_named(game)
    chosen.check_seats(num_players)
    check_coins("slot_bits", slot_bits, least=0, most=28)
    tricks = chosen.tricks(num_players)
    return Room(
        np.zeros((1, num_players), np.int64),
        np.zeros(1, chosen.dtype),
        np.zeros(num_players * tricks + 2, FRAME),
        np.zeros(1, FACTS),
        np.zeros(num_players, np.uint64),
        np.zeros(chosen.pack.size, np.int64),
        np.zeros(num_players, np.int64),
        np.zeros((num_players, max(num_players, tricks + 1)), np.int64),
        np.zeros((num_players + 1, num_players), np.uint64),
        np.zeros(num_players, np.uint64),
        np.zeros(1 << slot_bits, SLOT),
        np.zeros(1 << slot_bits, np.int64),
        np.zeros(1 << slot_bits if game == "beast" else 1, PATTERN),
    )


@jit
def begin(states, i, room):
    """Put states[i] at the root, where every legal card is tried, and void the table."""
    room.states[0] = states[i]
    s, facts, f = room.states[0], room.facts[0], room.frames[0]
    _seat_players(s, room)
    void_table(room)
    facts.tricks = s.trick + size(s.hands[nth(s.turn)])
    f.past = note_past(s)
    f.turn, f.trick, f.laid, f.cards = s.turn, s.trick, table_cards(s), trick_cards(s)
    f.led, f.best, f.best_seat = s.led, s.best, s.best_seat
    f.left = legal(s)
    find_worth(s, states, i, room)


@jit
def void_table(room):
    """Let nothing that has been found out so far count."""
    facts = room.facts[0]
    facts.search += ONE
    facts.stamp = stream(facts.search, ZERO)
    facts.void = facts.kept


@jit
def _seat_players(s, room):
    """Who holds which card, and who plays after whom."""
    facts, held = room.facts[0], ZERO
    facts.playing = playing_seats(s)
    facts.num_playing = size(facts.playing)
    for seat in range(s.num_players):
        cards = s.hands[nth(seat)]
        room.dealt[nth(seat)] = cards
        room.after[nth(seat)] = first_from(facts.playing, seat + 1)
        held |= cards
        while cards != ZERO:
            room.owner[nth(lowest(cards))] = seat
            cards = without_lowest(cards)
    room.frames[0].held = held


@jit
def play_next(room, ply, card):
    """Play a card not tried yet; the position after it stands at the next ply."""
    s, f, g = room.states[0], room.frames[nth(ply)], room.frames[nth(ply + 1)]
    f.left = f.left & ~bit(card)
    f.card = card
    g.past = f.past
    if room.facts[0].judged:
        _recall(room, f)
        g.past = judge(s, f.past, card)
    g.held = f.held & ~bit(card)
    g.trick = f.trick
    g.laid = f.laid + 1
    g.cards = bit(card) if f.led == NO_CARD else f.cards | bit(card)
    _lay(room, f.turn, card, f, g)
    if g.laid == room.facts[0].num_playing:
        _gather(room, g)
    else:
        g.turn = room.after[nth(f.turn)]


@jit
def _lay(room, seat, card, f, g):
    """The card beside those of f; g becomes the trick that they make."""
    s = room.states[0]
    wins = f.led == NO_CARD or beats(card, f.best, ranks_of(s), s.trump)
    g.led = card if f.led == NO_CARD else f.led
    g.best = card if wins else f.best
    g.best_seat = seat if wins else f.best_seat


@jit
def _gather(room, g):
    """The winner takes the trick and leads."""
    g.won = who_took(g, ranks_of(room.states[0]))
    g.past = add_trick(room.states[0], g.past, g.best_seat)
    g.trick += 1
    g.turn = g.best_seat
    g.laid = 0
    g.led = g.best = NO_CARD


@jit
def tricks_left(room, f):
    """How many tricks are still to be taken."""
    return room.facts[0].tricks - f.trick


@jit
def play_last_trick(room, g):
    """Everybody plays the one card left; `told` is what told in that trick.

    Returns:
        Who took it; g still tells who took the trick before, and by which card.
    """
    won, taker, g.cards = g.won, g.turn, g.held
    for _ in range(room.facts[0].num_playing):
        cards = room.dealt[nth(g.turn)] & g.held
        _lay(room, g.turn, lowest(cards), g, g)
        g.turn = room.after[nth(g.turn)]
    _gather(room, g)
    last, g.turn = g.turn, taker
    g.told, g.won = g.won, won
    return last


@jit
def ranks_of(s):
    """Cards in a suit of the whole pack."""
    return s.pack.size // 4


# Cards to try.


@jit
def likely_card(room, f, ours):
    """A card not tried yet: to win the trick or, if it is ours, to leave it so; the lowest such.

    It leads the one that ranks highest.
    """
    s = room.states[0]
    if f.led == NO_CARD:
        return _highest_rank(f.left, ranks_of(s))
    winning = f.left & cards_that_beat(f.best, ranks_of(s), s.trump)
    return lowest(or_else(f.left & ~winning if ours else winning, f.left))


@jit
def _highest_rank(cards, ranks):
    best = lowest(cards)
    while cards != ZERO:
        card = lowest(cards)
        best = card if card % ranks > best % ranks else best
        cards = without_lowest(cards)
    return best


@jit
def _recall(room, f):
    """Set up the table of f, as far as the rulebook asks for it when it names the legal cards."""
    s = room.states[0]
    s.turn, s.trick, s.led, s.best = f.turn, f.trick, f.led, f.best
    s.hands[nth(f.turn)] = room.dealt[nth(f.turn)] & f.held


@jit
def distinct_cards(room, ply):
    """The legal cards of the seat to act, of those that are as good as each other the lowest.

    These are neighbours in suit, held by one seat, among the cards that may still take a trick;
    nothing but their order tells, except under the maxims, which name the ace and the highest.
    """
    f = room.frames[nth(ply)]
    _recall(room, f)
    cards = legal(room.states[0])
    if without_lowest(cards) == ZERO or room.facts[0].by_name:
        return cards
    rivals = f.held if f.best == NO_CARD else f.held | bit(f.best)
    distinct, below, left = bit(lowest(cards)), lowest(cards), without_lowest(cards)
    while left != ZERO:
        card = lowest(left)
        if not _are_neighbours(below, card, rivals, ranks_of(room.states[0])):
            distinct |= bit(card)
        left, below = without_lowest(left), card
    return distinct


@jit
def _are_neighbours(lower, higher, rivals, ranks):
    """Are both of one suit, and no rival between them?"""
    between = rivals & (bit(higher) - ONE) & ~(bit(lower) | (bit(lower) - ONE))
    return between == ZERO and suit_of(lower, ranks) == suit_of(higher, ranks)


# The table.


@jit
def slot_of(room, g):
    """The slot for the position of g; notes the position's key."""
    g.key = _key(room, g)
    return slot_again(room, g)


@jit
def slot_again(room, g):
    """As `slot_of`, once the key is noted."""
    return room.slots[(g.key ^ room.facts[0].stamp) & np.uint64(room.slots.size - 1)]


@jit
def _key(room, g):
    """64 bits of what tells in the rest of the hand, where a trick begins, and of the search."""
    s, facts = room.states[0], room.facts[0]
    key = stream(g.past, np.uint64(g.turn))
    if facts.by_name:
        return stream(key, g.held) ^ facts.stamp
    ranks = ranks_of(s)
    plain = ZERO
    for suit in range(4):
        cards = g.held & suit_cards(suit, ranks)
        if suit == s.trump:
            key = stream(key, _holders(room, cards))
        else:
            plain += stream(ZERO, _holders(room, cards))
    return stream(key, plain) ^ facts.stamp


@jit
def _holders(room, cards):
    """Whose these cards of a suit are, from the lowest; no two lists give the same number."""
    holders = ZERO
    while cards != ZERO:
        holders = holders * np.uint64(11) + np.uint64(room.owner[nth(lowest(cards))] + 1)
        cards = without_lowest(cards)
    return holders
