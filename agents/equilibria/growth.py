"""The tree of one hand of either game, grown by its own rules.

The hand is the first of a session: the last seat deals, the pot is the opening one, and all is
told from there. What is alike is left out:

- trumps are the first suit, since the suits have no other names in the rules and all see the
  upcard: the hands of another trump suit are the same with two suits exchanged;
- any seat may be the dealer, the others follow in order of play;
- cards are dealt as sets, first the upcard, then a hand for each seat; those that stay in the pack
  are never dealt. The new cards of an exchange (BESTIA-17) are dealt when all have answered;
- a decision with one legal action is none.

An information set is what a seat may know, byte for byte: its VIEW. That sets remember all that
their owner did is checked when the tree is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.equilibria.exchange import exchange_pool, exchanging
from agents.equilibria.tree import CHANCE, NONE, TERMINAL, Tree
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, bit, has, lowest, member, nth, size, without_lowest
from bestia_env.engine import new_states, start_sessions
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, equity
from bestia_env.rules.tricks import suit_cards, suit_of
from bestia_env.view import look

MAX_NODES = 1 << 25  # a gigabyte or two
_UPCARD = 63  # among those who are to be dealt cards
_TRUMP = 0
NODES, ENDS, SETS, SLOTS, DEPTH = range(5)  # what `Growth.count` counts
_PRIME, _OFFSET = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)
_MIX = np.uint64(32)


class Nodes(NamedTuple):
    """The arrays of a `Tree`, with room for more."""

    player: np.ndarray
    row: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    chance: np.ndarray


class Sets(NamedTuple):
    """Information sets, with room for more.

    Attributes:
        views: (I,) records.
        content: the same memory, (I, bytes) uint8.
        keys: (I,) uint64, mixed from the content.
        player: (I,) int8.
        first_slot: (I + 1,) int32.
    """

    views: np.ndarray
    content: np.ndarray
    keys: np.ndarray
    player: np.ndarray
    first_slot: np.ndarray


class Line(NamedTuple):
    """The line of play in hand, by depth.

    Attributes:
        states: (depths,) records.
        node: (depths,) int64.
        pending: (depths,) int64, an action to be carried out first, or NONE.
        opened: (depths,) bool, are the node's children made?
        next: (depths,) int64, the child to be visited next.
        left: (depths,) uint64, the legal actions, of which children come in order.
        waiting: (depths,) uint64, the seats that are to be dealt cards, and `_UPCARD`.
        pool: (depths,) uint64, the cards that are dealt from.
        choice: (depths,) uint64, the packet dealt last, as places in the pool.
    """

    states: np.ndarray
    node: np.ndarray
    pending: np.ndarray
    opened: np.ndarray
    next: np.ndarray
    left: np.ndarray
    waiting: np.ndarray
    pool: np.ndarray
    choice: np.ndarray


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and what its information sets know.

    Attributes:
        tree: the tree; utilities are equities in pots (B-18, divided by P).
        views: (I,) records, the VIEW of each information set.
        index: from views to information sets.
        num_deals: of all hands and the upcard.
    """

    tree: Tree
    views: np.ndarray
    index: Index
    num_deals: int


class Index(NamedTuple):
    """Where to find an information set.

    Attributes:
        slots: (2**k,) int32, information sets in places of their keys, NONE where there is none.
        sets: the information sets.
    """

    slots: np.ndarray
    sets: Sets


def grow(game: str, num_players: int, rules: Any, max_nodes: int = MAX_NODES) -> Grown:
    """The whole tree of a hand.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        rules: `BeastRules` or `BestiaRules`.
        max_nodes: more are too many.

    Raises:
        ValueError: so many cannot play by these rules, or there are too many nodes.
    """
    root = opening(game, num_players, rules)
    cards, each = int(root["pack_size"][0]), int(root["cards_each"][0])
    most = max(64, math.comb(cards, each))  # children of a node
    deals = _num_deals(num_players, root[0])
    _check_nodes(max(most, deals), max_nodes)
    line = _line(root)
    nodes, utilities = _nodes(2 * most + 2), np.empty((1 << 12, num_players))
    sets, actions = _sets(root.dtype, 1 << 8), np.empty(1 << 10, np.int16)
    places, count = np.full(1 << 10, NONE, np.int32), np.zeros(5, np.int64)
    count[NODES], scratch = 1, _sets(root.dtype, 1)
    while not _grow(line, nodes, utilities, sets, actions, places, scratch, most, count):
        _check_nodes(count[NODES], max_nodes)
        nodes = Nodes(*(_roomy(array, count[NODES] + most) for array in nodes))
        utilities = _roomy(utilities, count[ENDS])
        sets = _roomy_sets(sets, count[SETS])
        actions = _roomy(actions, count[SLOTS] + 64)
        if 4 * count[SETS] > len(places):
            places = np.full(4 * len(places), NONE, np.int32)
            _fill(places, sets.keys, count[SETS])
    _check_nodes(count[NODES], max_nodes)
    return _grown(num_players, nodes, utilities, sets, actions, places, count, deals)


def _check_nodes(nodes: int, most: int) -> None:
    if nodes > most:
        raise ValueError(f"the tree has more than {most} nodes")


def _num_deals(num_players: int, s: np.record) -> int:
    """Of all hands and the upcard, which is one of the first suit."""
    cards, each = int(s.pack_size), int(s.cards_each)
    hands = [math.comb(cards - 1 - seat * each, each) for seat in range(num_players)]
    return math.prod(hands) * ((int(s.in_use) & (1 << s.pack.size // 4) - 1).bit_count())


def opening(game: str, num_players: int, rules: Any) -> np.ndarray:
    """(1,) records: stakes are in, nothing is dealt yet, and the last seat deals."""
    states = new_states(game, num_players, rules)
    start_sessions(states, np.zeros(1, np.uint64), num_players - 1, 0)
    states["hands"] = 0
    return states


def _line(root: np.ndarray) -> Line:
    s = root[0]
    n = int(s.num_players)
    depths = n * int(s.cards_each) + 5 * n + 3  # cards; words and packets; one more each
    states = np.zeros(depths, root.dtype)
    states[0] = s
    line = Line(
        states,
        np.zeros(depths, np.int64),
        np.full(depths, NONE),
        np.zeros(depths, np.bool_),
        np.zeros(depths, np.int64),
        np.zeros(depths, np.uint64),
        np.zeros(depths, np.uint64),
        np.zeros(depths, np.uint64),
        np.zeros(depths, np.uint64),
    )
    line.waiting[0] = (1 << n) - 1 | 1 << _UPCARD
    line.pool[0] = s.in_use
    return line


def _nodes(room: int) -> Nodes:
    return Nodes(
        np.zeros(room, np.int8),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.ones(room),
    )


def _sets(dtype: np.dtype, room: int) -> Sets:
    views = np.zeros(room, dtype)
    return Sets(
        views,
        views.view(np.uint8).reshape(room, -1),
        np.zeros(room, np.uint64),
        np.zeros(room, np.int8),
        np.zeros(room + 1, np.int32),
    )


def _roomy(array: np.ndarray, used: int) -> np.ndarray:
    """The array, or a longer one if it is more than half full."""
    if 2 * used < len(array):
        return array
    longer = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _roomy_sets(sets: Sets, used: int) -> Sets:
    if 2 * used < len(sets.keys):
        return sets
    views = _roomy(sets.views, used)
    first_slot = np.zeros(len(views) + 1, np.int32)
    first_slot[: len(sets.first_slot)] = sets.first_slot
    return Sets(
        views,
        views.view(np.uint8).reshape(len(views), -1),
        _roomy(sets.keys, used),
        _roomy(sets.player, used),
        first_slot,
    )


def _grown(
    num_players: int,
    nodes: Nodes,
    utilities: np.ndarray,
    sets: Sets,
    actions: np.ndarray,
    places: np.ndarray,
    count: np.ndarray,
    num_deals: int,
) -> Grown:
    """Everything without the room for more."""
    num_nodes, num_ends, num_sets, num_slots = count[:4]
    tree = Tree(
        num_players,
        player=nodes.player[:num_nodes].copy(),
        row=nodes.row[:num_nodes].copy(),
        first_child=nodes.first_child[:num_nodes].copy(),
        num_children=nodes.num_children[:num_nodes].copy(),
        chance=nodes.chance[:num_nodes].copy(),
        utilities=utilities[:num_ends].copy(),
        first_slot=sets.first_slot[: num_sets + 1].copy(),
        slot_action=actions[:num_slots].copy(),
        set_player=sets.player[:num_sets].copy(),
    )
    kept = Sets(*(array[: num_sets + (k == 4)] for k, array in enumerate(sets)))
    return Grown(tree, kept.views, Index(places, kept), num_deals)


# The kernels.


@jit
def _grow(line, nodes, utilities, sets, actions, places, scratch, most, count):
    """Go on with the depth-first walk; returns False where there is no more room."""
    while count[DEPTH] >= 0:
        depth = count[DEPTH]
        if line.pending[depth] != NONE:
            _carry_out(line, depth)
        elif not line.opened[depth]:
            if not _has_room(nodes, utilities, sets, actions, places, most, count):
                return False
            _open(line, depth, nodes, utilities, sets, actions, places, scratch, count)
        elif line.next[depth] < nodes.num_children[line.node[depth]]:
            _visit(line, depth, nodes, count)
        else:
            count[DEPTH] -= 1
    return True


@jit
def _has_room(nodes, utilities, sets, actions, places, most, count):
    """Is there room for one more node's children, information set and utilities?"""
    return (
        count[NODES] + most < nodes.player.size
        and count[ENDS] + 1 < utilities.shape[0]
        and count[SETS] + 1 < sets.keys.size
        and count[SLOTS] + 64 < actions.size
        and 2 * (count[SETS] + 1) < places.size
    )


@jit
def _carry_out(line, depth):
    """The pending action; an exchange leaves cards to be dealt."""
    action = line.pending[depth]
    line.pending[depth] = NONE
    before = line.states[depth].phase
    apply(line.states[depth], action)
    line.waiting[depth] = exchanging(line.states[depth], before)
    if line.waiting[depth] != ZERO:
        line.pool[depth] = exchange_pool(line.states[depth])


@jit
def _open(line, depth, nodes, utilities, sets, actions, places, scratch, count):
    """Find out what the node is, and make its children."""
    s, node = line.states[depth], line.node[depth]
    if line.waiting[depth] != ZERO:
        _open_chance(line, depth, nodes, count)
    elif s.turn == NOBODY:
        nodes.player[node], nodes.row[node] = TERMINAL, count[ENDS]
        for seat in range(s.num_players):
            utilities[count[ENDS], seat] = equity(s, seat) / line.states[0].pot
        count[ENDS] += 1
        line.opened[depth] = True
    else:
        line.left[depth] = legal(s)
        if size(line.left[depth]) == 1:
            line.pending[depth] = lowest(line.left[depth])
        else:
            nodes.player[node] = s.turn
            nodes.row[node] = _set_of(line, depth, sets, actions, places, scratch, count)
            _make_children(line, depth, nodes, count, size(line.left[depth]), 1.0)


@jit
def _open_chance(line, depth, nodes, count):
    """A packet for the next who is to be dealt one; if there is but one, it is dealt at once."""
    upcard = has(line.waiting[depth], _UPCARD)
    cards = size(_packets_from(line, depth))
    each = 1 if upcard else np.int64(line.states[depth].cards_each)
    line.choice[depth] = bit(each) - ONE
    packets = _choose(cards, each)
    if packets == 1:
        _give(line, depth, line.choice[depth], line.pool[depth], line.waiting[depth], depth)
    else:
        nodes.player[line.node[depth]], nodes.row[line.node[depth]] = CHANCE, NONE
        _make_children(line, depth, nodes, count, packets, 1.0 / packets)


@jit
def _packets_from(line, depth):
    """The pool; of the upcard, that of the one suit that is trumps here."""
    if has(line.waiting[depth], _UPCARD):
        return line.pool[depth] & suit_cards(_TRUMP, _ranks(line.states[depth]))
    return line.pool[depth]


@jit
def _ranks(s):
    return s.pack.size // 4


@jit
def _choose(cards, each):
    """In how many ways so many can be chosen."""
    ways = 1
    for k in range(each):
        ways = ways * (cards - k) // (k + 1)
    return ways


@jit
def _make_children(line, depth, nodes, count, number, chance):
    node = line.node[depth]
    nodes.first_child[node], nodes.num_children[node] = count[NODES], number
    for child in range(count[NODES], count[NODES] + number):
        nodes.chance[child] = chance
        nodes.first_child[child] = nodes.num_children[child] = 0
    count[NODES] += number
    line.next[depth] = 0
    line.opened[depth] = True


@jit
def _visit(line, depth, nodes, count):
    """Go to the next child."""
    below = depth + 1
    line.states[below] = line.states[depth]
    line.node[below] = nodes.first_child[line.node[depth]] + line.next[depth]
    line.opened[below] = False
    line.pending[below] = NONE
    line.waiting[below] = ZERO
    if line.waiting[depth] != ZERO:
        _give(line, below, line.choice[depth], line.pool[depth], line.waiting[depth], depth)
        line.choice[depth] = _next_choice(line.choice[depth])
    else:
        line.pending[below] = lowest(line.left[depth])
        line.left[depth] = without_lowest(line.left[depth])
    line.next[depth] += 1
    count[DEPTH] = below


@jit
def _next_choice(choice):
    """The next set of as many places (Gosper)."""
    low = choice & (~choice + ONE)
    ripple = choice + low
    return ripple | (((choice ^ ripple) // low) >> np.uint64(2))


@jit
def _give(line, below, choice, pool, waiting, above):
    """Deal the chosen packet to the one who waits, at depth `below`."""
    s = line.states[below]
    source = _packets_from(line, above)
    packet = ZERO
    while choice != ZERO:
        packet |= bit(member(source, lowest(choice)))
        choice = without_lowest(choice)
    if has(waiting, _UPCARD):
        s.upcard = lowest(packet)
        s.trump = suit_of(s.upcard, _ranks(s))
        line.waiting[below] = waiting & ~bit(_UPCARD)
    else:
        s.hands[nth(lowest(waiting))] = packet
        line.waiting[below] = without_lowest(waiting)
    line.pool[below] = pool & ~packet


# Information sets.


@jit
def _set_of(line, depth, sets, actions, places, scratch, count):
    """The information set of the seat to act; a new one if nobody has been there."""
    look(line.states, depth, line.states[depth].turn, scratch.views, 0)
    key = content_key(scratch.content)
    place = find(places, sets, scratch.content, key)
    if places[place] == NONE:
        new = count[SETS]
        places[place] = new
        sets.views[new] = scratch.views[0]
        sets.keys[new] = key
        sets.player[new] = line.states[depth].turn
        left = line.left[depth]
        while left != ZERO:
            actions[count[SLOTS]] = lowest(left)
            count[SLOTS] += 1
            left = without_lowest(left)
        sets.first_slot[new + 1] = count[SLOTS]
        count[SETS] += 1
    return places[place]


@jit
def content_key(content):
    """64 bits mixed from the first row of content (Fowler, Noll and Vo; then folded)."""
    key = _OFFSET
    for i in range(content.shape[1]):
        key = (key ^ np.uint64(content[0, i])) * _PRIME
    return key ^ (key >> _MIX)


@jit
def find(places, sets, content, key):
    """The place of the information set with this content, or the free one where it belongs."""
    mask = np.uint64(places.size - 1)
    place = key & mask
    while places[place] != NONE:
        known = places[place]
        if sets.keys[known] == key and _same(sets.content, known, content):
            return np.int64(place)
        place = (place + ONE) & mask
    return np.int64(place)


def find_sets(index: Index, views: np.ndarray, sets: np.ndarray) -> None:
    """Write the information set of each of these views, (K,) int64, NONE if there is none."""
    content = np.ascontiguousarray(views).view(np.uint8).reshape(len(views), -1)
    _find_sets(index, content, sets)


@jit
def _find_sets(index, content, sets):
    for k in range(sets.size):
        row = content[k : k + 1]
        sets[k] = index.slots[find(index.slots, index.sets, row, content_key(row))]


@jit
def _same(contents, row, content):
    differ = 0
    for i in range(content.shape[1]):
        differ += contents[row, i] != content[0, i]
    return differ == 0


@jit
def _fill(places, keys, num_sets):
    """Put the information sets into a larger table."""
    mask = np.uint64(places.size - 1)
    for own in range(num_sets):
        place = keys[own] & mask
        while places[place] != NONE:
            place = (place + ONE) & mask
        places[place] = own
