"""A whole game as flat arrays, and its sequence form.

Nodes are numbered so that parents come before their children and the children of a node are
neighbours. A *slot* is an action of an information set; those of one set are neighbours as well. A
behaviour (a policy of every seat) is a table with the probability of each slot.

With perfect recall the last slot of a seat on the way to a node says all that the seat has done
there, so that the *plan* of a seat, the product of its probabilities down to each slot, gives its
part of the chance to reach the node. Solving and best responses need no more of the tree than the
last slots of all seats at the terminals: that is the sequence form (Koller, Megiddo and von
Stengel 1996), which holds for any number of players.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestia_env._jit import jit

CHANCE, TERMINAL = -1, -2
NONE = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """A game tree of N nodes, T of them terminal, with I information sets and S slots.

    Attributes:
        num_players: seats.
        player: (N,) int8, the seat to act, CHANCE or TERMINAL.
        row: (N,) int32, the information set of a decision, the place of a terminal in `utilities`,
            NONE of a chance node.
        first_child: (N,) int32; 0 if there is none.
        num_children: (N,) int32.
        chance: (N,) float64, the probability of a node whose parent is a chance node, else 1.
        utilities: (T, n) float64, what every seat has at the end.
        first_slot: (I + 1,) int32, where the slots of each information set begin; child k of a
            decision goes with slot k of its set.
        slot_action: (S,) int16, what the slots do, in numbers of the game.
        set_player: (I,) int8, whose the information sets are.

    Raises:
        ValueError: a player forgets what it did: a set is reached by different own actions.
    """

    num_players: int
    player: np.ndarray
    row: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    chance: np.ndarray
    utilities: np.ndarray
    first_slot: np.ndarray
    slot_action: np.ndarray
    set_player: np.ndarray

    def __post_init__(self) -> None:
        """Check perfect recall."""
        _ = self.sequences

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.player)

    @property
    def num_sets(self) -> int:
        """I, the information sets."""
        return len(self.set_player)

    @property
    def num_slots(self) -> int:
        """S, the actions of all information sets."""
        return len(self.slot_action)

    @functools.cached_property
    def slot_set(self) -> np.ndarray:
        """(S,) int64, the information set of every slot."""
        return np.repeat(np.arange(self.num_sets), np.diff(self.first_slot))

    @functools.cached_property
    def sequences(self) -> Sequences:
        """The sequence form."""
        return _sequences(self)

    def digest(self) -> str:
        """Changes with the tree: who acts when, what is possible, what it is worth."""
        arrays = (
            self.player,
            self.row,
            self.first_child,
            self.num_children,
            self.first_slot,
            self.slot_action,
            self.chance.round(12),
            self.utilities.round(12) + 0.0,  # no negative zeros
        )
        digest = hashlib.sha256(str(self.num_players).encode())
        for array in arrays:
            digest.update(array.tobytes())
        return digest.hexdigest()

    def uniform(self) -> np.ndarray:
        """The behaviour that takes every action alike, (S,) float64."""
        return 1 / np.diff(self.first_slot)[self.slot_set]

    def checked(self, table: np.ndarray) -> np.ndarray:
        """A behaviour as (S,) float64.

        Raises:
            ValueError: it is none of this tree.
        """
        table = np.ascontiguousarray(table, np.float64)
        if table.shape != (self.num_slots,):
            raise ValueError(f"a behaviour must have shape ({self.num_slots},), not {table.shape}")
        sums = np.add.reduceat(table, self.first_slot[:-1]) if table.size else table
        wrong = np.flatnonzero(~(np.abs(sums - 1) < 1e-6))
        if wrong.size or not (table >= 0).all():
            where = int(wrong[0]) if wrong.size else int(self.slot_set[np.argmin(table)])
            raise ValueError(f"information set {where} has probabilities that are none")
        return table


class Sequences(NamedTuple):
    """The sequence form; slot S stands for a seat's empty sequence, before it has acted.

    Attributes:
        last: (n, T) int32, the last slot of every seat on the way to each terminal.
        payoff: (n, T) float64, what every seat has there, times the probability of chance.
        parent: (I,) int32, the last slot of its owner before each information set; lower than all
            slots of the set unless it is S.
        sets: (I,) int32, the information sets by owner; parents before children.
        bounds: (n + 1,) int64, where those of each seat begin.
        first_slot: as in the tree.
    """

    last: np.ndarray
    payoff: np.ndarray
    parent: np.ndarray
    sets: np.ndarray
    bounds: np.ndarray
    first_slot: np.ndarray


def _sequences(tree: Tree) -> Sequences:
    n, empty = tree.num_players, tree.num_slots
    last = np.full((tree.num_nodes, n), empty, np.int32)
    reach = np.ones(tree.num_nodes)
    parent = np.full(tree.num_sets, NONE, np.int32)
    forgetful = _descend(
        tree.player,
        tree.row,
        tree.first_child,
        tree.num_children,
        tree.chance,
        tree.first_slot,
        last,
        reach,
        parent,
    )
    if forgetful != NONE:
        raise ValueError(f"information set {forgetful} is reached by different own actions")
    ends = np.flatnonzero(tree.player == TERMINAL)
    ends = ends[np.argsort(tree.row[ends], kind="stable")]
    sets = np.argsort(tree.set_player, kind="stable").astype(np.int32)
    bounds = np.searchsorted(tree.set_player[sets], np.arange(n + 1))
    payoff = tree.utilities.T * reach[ends]
    return Sequences(
        np.ascontiguousarray(last[ends].T),
        np.ascontiguousarray(payoff),
        parent,
        sets,
        bounds,
        tree.first_slot,
    )


@jit
def _descend(player, row, first_child, num_children, chance, first_slot, last, reach, parent):
    """Fill in last, reach and parent; returns an information set that forgets, or NONE."""
    for node in range(player.size):
        if player[node] == TERMINAL:
            continue
        if player[node] != CHANCE:
            own = last[node, player[node]]
            if parent[row[node]] == NONE:
                parent[row[node]] = own
            elif parent[row[node]] != own:
                return row[node]
        for k in range(num_children[node]):
            child = first_child[node] + k
            reach[child] = reach[node] * chance[child]
            for seat in range(last.shape[1]):
                last[child, seat] = last[node, seat]
            if player[node] != CHANCE:
                last[child, player[node]] = first_slot[row[node]] + k
    return NONE


@jit
def plan(sequences, seat, table, plans):
    """Write the seat's plan: the product of its probabilities down to each of its slots.

    Args:
        sequences: of the tree.
        seat: whose.
        table: (S,) float64, a behaviour.
        plans: (S + 1,) float64, of all seats; the last is 1.
    """
    plans[plans.size - 1] = 1
    for k in range(sequences.bounds[seat], sequences.bounds[seat + 1]):
        own = sequences.sets[k]
        before = plans[sequences.parent[own]]
        for slot in range(sequences.first_slot[own], sequences.first_slot[own + 1]):
            plans[slot] = before * table[slot]


@jit
def counterfactual(sequences, seat, plans, worth):
    """Write what each of the seat's slots gains by itself, if the seat plays to reach it.

    That is the sum of the payoffs at the terminals before which it is the seat's last slot, each
    times the chance that the others' plans let them be reached; the empty sequence is the last.

    Args:
        sequences: of the tree.
        seat: whose.
        plans: (S + 1,) float64, those of all seats.
        worth: (S + 1,) float64; the seat's slots and the last are written.
    """
    worth[worth.size - 1] = 0
    for k in range(sequences.bounds[seat], sequences.bounds[seat + 1]):
        own = sequences.sets[k]
        for slot in range(sequences.first_slot[own], sequences.first_slot[own + 1]):
            worth[slot] = 0
    n = sequences.last.shape[0]
    for end in range(sequences.last.shape[1]):
        gain = sequences.payoff[seat, end]
        for other in range(n):
            if other != seat:
                gain *= plans[sequences.last[other, end]]
        worth[sequences.last[seat, end]] += gain
