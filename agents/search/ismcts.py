"""Information-set Monte Carlo tree search with a single observer (Cowling and others 2012).

One tree is grown over worlds that may be, a new one for each walk down. A branch is an action, and
a walk takes only branches that are legal in its world: at each seat the one with the highest upper
confidence bound (UCB1), of which the second term counts the walks in which it could have been
taken. Where a legal action has no branch yet, one grows, and the rest is played out by a baseline.
All seats want their own equity. The action that was walked most often is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents import worlds
from agents.baselines.dispatch import act
from agents.matches import turn_views
from agents.search.hearing import draw_heard_worlds
from agents.search.leaves import Field
from agents.search.rooms import kept_by_thread
from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, lowest, member, size
from bestia_env.games import game_named
from bestia_env.rng import below
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, settled_score
from bestia_env.view import look

_NONE = -1
_WORLDS = 32  # drawn at a time


class Setting(NamedTuple):
    """How to search.

    Attributes:
        iterations: walks down the tree.
        explore: pots per hand, the weight of the second term of UCB1.
        ratio: how likely a bid is that the field would not make, against one that it would.
        field: by whom the others are supposed to have bid, and all play out.
    """

    iterations: int
    explore: float
    ratio: float
    field: Field


class Tree(NamedTuple):
    """Nodes in the order in which they grew, the root first; -1 is none.

    Attributes:
        child: (nodes,) int64, the branch that grew last.
        sibling: (nodes,) int64, the one that grew before from the same node.
        action: (nodes,) int64, that leads to the node.
        walks: (nodes,) int64, through the node.
        chances: (nodes,) int64, walks that came to where its action was legal.
        totals: (nodes, n) float64, what all walks through it were worth to each seat, in pots.
        path: (nodes,) int64, the nodes of the walk.
    """

    child: np.ndarray
    sibling: np.ndarray
    action: np.ndarray
    walks: np.ndarray
    chances: np.ndarray
    totals: np.ndarray
    path: np.ndarray


class Room(NamedTuple):
    """Where a search works; records as in `agents.search.pimc.Room`, and `line` for the walk."""

    asker: np.ndarray
    found: np.ndarray
    drawn: np.ndarray
    replay: np.ndarray
    looks: np.ndarray
    line: np.ndarray
    sampler: worlds.Room
    tree: Tree


@kept_by_thread
def make_room(game: str, num_players: int, iterations: int) -> Room:
    """Room for so many walks; one for all searches of a thread."""
    dtype, nodes = game_named(game).dtype, iterations + 1
    one, many = (np.zeros(count, dtype) for count in (1, _WORLDS))
    child, sibling, action, walks, chances, path = np.zeros((6, nodes), np.int64)
    tree = Tree(child, sibling, action, walks, chances, np.zeros((nodes, num_players)), path)
    sampler = worlds.make_room(game, num_players)
    return Room(one, many, many.copy(), one.copy(), one.copy(), one.copy(), sampler, tree)


@jit
def choose_batch(views, rngs, actions, setting, room):
    """Choose an action for the viewer of each view; arguments as for `pimc.choose_batch`."""
    for k in range(views.size):
        choices = legal(views[k])
        if size(choices) == 1:
            actions[k] = lowest(choices)
        else:
            room.asker[0] = views[k]
            actions[k] = _search(setting, rngs[k : k + 1], room)


@jit
def _search(setting, rng, room):
    tree, grown, found = room.tree, 1, 0
    _clear(tree, 0, _NONE)
    for k in range(setting.iterations):
        if k % _WORLDS == 0:
            found = draw_heard_worlds(
                room.asker, room.found, room, setting.ratio, setting.field, rng
            )
        room.line[0] = room.found[k % _WORLDS % found]  # all again if few make sense
        length, grows = _walk(setting, rng, room, grown)
        grown += grows
        _play_out(setting.field, rng, room)
        _back_up(length, room)
    return _most_walked(tree)


@jit
def _clear(tree, node, action):
    tree.child[node] = tree.sibling[node] = _NONE
    tree.action[node] = action
    tree.walks[node] = tree.chances[node] = 0
    tree.totals[node, :] = 0.0


@jit
def _walk(setting, rng, room, grown):
    """Walk down until a branch grows or the hand is over; nodes on the path, whether one grew."""
    s, tree, node, length = room.line[0], room.tree, 0, 1
    tree.path[0] = 0
    while s.turn != NOBODY:
        choices = legal(s)
        untried, best = _look_down(tree, node, choices, np.int64(s.turn), setting.explore)
        if untried != ZERO:
            best = grown
            _clear(tree, best, member(untried, below(rng, size(untried))))
            tree.sibling[best], tree.child[node] = tree.child[node], best
            tree.chances[best] = 1
        apply(s, tree.action[best])
        tree.path[length] = node = best
        length += 1
        if untried != ZERO:
            return length, 1
    return length, 0


@jit
def _look_down(tree, node, choices, seat, explore):
    """The legal actions that have no branch, and the best branch of those that are legal."""
    untried, best, most = choices, _NONE, -np.inf
    branch = tree.child[node]
    while branch != _NONE:
        if has(choices, tree.action[branch]):
            untried &= ~bit(tree.action[branch])
            tree.chances[branch] += 1
            walks = tree.walks[branch]
            bonus = explore * np.sqrt(np.log(tree.chances[branch]) / walks)
            if tree.totals[branch, seat] / walks + bonus > most:
                best, most = branch, tree.totals[branch, seat] / walks + bonus
        branch = tree.sibling[branch]
    return untried, best


@jit
def _play_out(field, rng, room):
    s = room.line[0]
    while s.turn != NOBODY:
        look(room.line, 0, np.int64(s.turn), room.looks, 0)
        apply(s, act(field.kind, field.parameter, room.looks[0], legal(s), rng))


@jit
def _back_up(length, room):
    s, tree = room.line[0], room.tree
    unit = s.num_players * room.asker[0].pot
    for k in range(length):
        node = tree.path[k]
        tree.walks[node] += 1
        for seat in range(s.num_players):
            tree.totals[node, seat] += settled_score(s, seat) / unit


@jit
def _most_walked(tree):
    best = branch = tree.child[0]
    while branch != _NONE:
        if tree.walks[branch] >= tree.walks[best]:
            best = branch
        branch = tree.sibling[branch]
    return tree.action[best]


@dataclass(frozen=True)
class Ismcts:
    """A searching player, a `Chooser`.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        setting: how to search.
        bids_only: it chooses all.
        draws: see `Chooser`.
    """

    game: str
    num_players: int
    setting: Setting
    bids_only: bool = False
    draws: int = 20

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Choose for the seats to act, see `Chooser`."""
        room = make_room(self.game, self.num_players, self.setting.iterations)
        actions = np.empty(hands.size, np.int64)
        choose_batch(turn_views(states, hands), chances, actions, self.setting, room)
        return actions
