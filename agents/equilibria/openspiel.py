"""Trees to OpenSpiel and from it, so that each can judge the other's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from agents.equilibria.tree import CHANCE, NONE, TERMINAL, Tree


def read_game(game: Any) -> Tree:
    """The tree of a sequential game of `pyspiel`, which should be small.

    Information sets are told apart by `information_state_string`.
    """
    return _Reader(game).tree()


class _Reader:
    """A game of OpenSpiel on its way into arrays."""

    def __init__(self, game: Any) -> None:
        self._num_players = game.num_players()
        self._player: list[int] = [0]
        self._row: list[int] = [NONE]
        self._first: list[int] = [0]
        self._children: list[int] = [0]
        self._chance: list[float] = [1.0]
        self._utilities: list[list[float]] = []
        self._sets: dict[tuple[int, str], tuple[int, list[int]]] = {}
        waiting = [(0, game.new_initial_state())]
        while waiting:
            node, state = waiting.pop()
            waiting += self._open(node, state)

    def _open(self, node: int, state: Any) -> list[tuple[int, Any]]:
        """Fill in a node; returns its children with their states, the last first."""
        if state.is_terminal():
            self._player[node], self._row[node] = TERMINAL, len(self._utilities)
            self._utilities.append(state.returns())
            return []
        if state.is_chance_node():
            self._player[node] = CHANCE
            outcomes = state.chance_outcomes()
        else:
            self._player[node] = state.current_player()
            actions = state.legal_actions()
            key = (self._player[node], state.information_state_string())
            self._row[node] = self._sets.setdefault(key, (len(self._sets), actions))[0]
            outcomes = [(action, 1.0) for action in actions]
        first = self._add(node, [chance for _, chance in outcomes])
        children = [(first + k, state.child(action)) for k, (action, _) in enumerate(outcomes)]
        return children[::-1]

    def _add(self, node: int, chances: list[float]) -> int:
        """Make a node's children; returns the first."""
        first, count = len(self._player), len(chances)
        self._first[node], self._children[node] = first, count
        self._player += [0] * count
        self._row += [NONE] * count
        self._first += [0] * count
        self._children += [0] * count
        self._chance += chances
        return first

    def tree(self) -> Tree:
        sizes = [len(actions) for _, actions in self._sets.values()]
        return Tree(
            self._num_players,
            np.array(self._player, np.int8),
            np.array(self._row, np.int32),
            np.array(self._first, np.int32),
            np.array(self._children, np.int32),
            np.array(self._chance),
            np.array(self._utilities),
            np.cumsum([0, *sizes]).astype(np.int32),
            np.array([a for _, actions in self._sets.values() for a in actions], np.int16),
            np.array([player for player, _ in self._sets], np.int8),
        )


def write_efg(tree: Tree, title: str) -> str:
    """The tree in Gambit's format, which `pyspiel.load_efg_game` reads.

    Information sets of each player are numbered from 1 in the order of the tree's, and an action
    is called by the number of its slot within its set.
    """
    names = " ".join(f'"{seat}"' for seat in range(tree.num_players))
    lines = [f'EFG 2 R "{title}" {{ {names} }} ""']
    numbers = set_numbers(tree)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        lines.append(_line(tree, node, numbers))
        first = int(tree.first_child[node])
        waiting += range(first + int(tree.num_children[node]) - 1, first - 1, -1)
    return "\n".join(lines) + "\n"


def set_numbers(tree: Tree) -> np.ndarray:
    """(I,) int64, the number of each information set among its player's, from 1."""
    numbers = np.zeros(tree.num_sets, np.int64)
    for seat in range(tree.num_players):
        mine = np.flatnonzero(tree.set_player == seat)
        numbers[mine] = np.arange(1, mine.size + 1)
    return numbers


def set_names(tree: Tree) -> list[str]:
    """What `write_efg` calls each information set; OpenSpiel's names of them end in it."""
    numbers = set_numbers(tree)
    return [f"{seat}:{number}" for seat, number in zip(tree.set_player, numbers, strict=True)]


def states_of(game: Any) -> dict[str, Any]:
    """A `pyspiel.State` of each information set of a game, by OpenSpiel's name of the set."""
    found: dict[str, Any] = {}
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        if not state.is_chance_node() and not state.is_terminal():
            found.setdefault(state.information_state_string(), state)
        waiting += [state.child(action) for action in state.legal_actions()]
    return found


def read_policy(tree: Tree, policy: Any, states: Mapping[str, Any]) -> np.ndarray:
    """The behaviour (S,) float64 of a `pyspiel.Policy` for the game that `write_efg` wrote.

    Args:
        tree: the game.
        policy: what it knows nothing of is uniform.
        states: see `states_of`.
    """
    table, sets = tree.uniform(), {name: own for own, name in enumerate(set_names(tree))}
    for name, state in states.items():
        first = int(tree.first_slot[sets[name.rpartition("-")[2]]])
        for k, chance in policy.action_probabilities(state).items():
            table[first + k] = chance
    return table


def write_policy(tree: Tree, table: np.ndarray, states: Iterable[str]) -> dict[str, list]:
    """A behaviour as the policy table that `pyspiel.TabularPolicy` takes.

    Args:
        tree: the game that `write_efg` wrote.
        table: (S,) the behaviour.
        states: the names of `states_of`.
    """
    sets, policy = {name: own for own, name in enumerate(set_names(tree))}, {}
    for state in states:
        own = sets[state.rpartition("-")[2]]
        chances = table[tree.first_slot[own] : tree.first_slot[own + 1]].tolist()
        policy[state] = list(enumerate(chances))
    return policy


def _line(tree: Tree, node: int, numbers: np.ndarray) -> str:
    player, row, count = int(tree.player[node]), int(tree.row[node]), int(tree.num_children[node])
    if player == TERMINAL:
        payoffs = " ".join(repr(float(value)) for value in tree.utilities[row])
        return f't "" {row + 1} "" {{ {payoffs} }}'
    if player == CHANCE:
        first = int(tree.first_child[node])
        chances = tree.chance[first : first + count].tolist()
        outcomes = " ".join(f'"{k}" {chance!r}' for k, chance in enumerate(chances))
        return f'c "" {node + 1} "" {{ {outcomes} }} 0'
    actions = " ".join(f'"{k}"' for k in range(count))
    return f'p "" {player + 1} {numbers[row]} "{player}:{numbers[row]}" {{ {actions} }} 0'
