"""What actions are worth to a seat in one world, of which nothing is hidden.

After a bid the others bid on as a baseline does, who see no more than they may; so does the seat
itself. Cards are then played out likewise (ROLLOUT), or solved with all cards open: every seat for
itself (MAXN) or all others against the seat (COALITION). While too many cards are held to be solved
in a moment they are played as by ROLLOUT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.baselines.dispatch import act
from agents.policies import Policy
from agents.replays import in_tricks
from agents.solve import search as solver
from agents.solve.coalition import solve_coalition
from agents.solve.maxn import solve_maxn
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, nth, size, without_lowest
from bestia_env.games import game_named
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, settled_score
from bestia_env.view import look

ROLLOUT, MAXN, COALITION = range(3)
LEAVES = ("rollout", "maxn", "coalition")
MOST_SOLVED = 15  # cards held by all seats
_SLOT_BITS = 12  # a table that stays in the processor's cache


class Field(NamedTuple):
    """A baseline by its number, and the number that it takes."""

    kind: int
    parameter: float

    @classmethod
    def of(cls, policy: Policy) -> Field:
        """The baseline that a policy is."""
        return cls(int(policy.kind), float(policy.parameter))


class Room(NamedTuple):
    """Where worlds are played out.

    Attributes:
        line: (1,) records, the world in play.
        looks: (1,) records, the VIEW of the seat to act.
        values: (worlds, actions) float64, what each action is worth in each world, n-ths of a coin.
        by_seat: (cards, n) int64, for `solve_maxn`.
        by_card: (cards,) int64, for `solve_coalition`.
        solver: for either.
    """

    line: np.ndarray
    looks: np.ndarray
    values: np.ndarray
    by_seat: np.ndarray
    by_card: np.ndarray
    solver: solver.Room


def make_room(game: str, num_players: int, num_worlds: int) -> Room:
    """Room for so many worlds of a game at a table of so many."""
    chosen = game_named(game)
    return Room(
        np.zeros(1, chosen.dtype),
        np.zeros(1, chosen.dtype),
        np.zeros((num_worlds, chosen.num_actions)),
        np.zeros((chosen.pack.size, num_players), np.int64),
        np.zeros(chosen.pack.size, np.int64),
        solver.make_room(game, num_players, _SLOT_BITS),
    )


@jit
def value_actions(worlds, j, seat, choices, leaf, field, rng, room, row):
    """Write what each action is worth to the seat in worlds[j], in n-ths of a coin.

    Args:
        worlds: records of which nothing is hidden; they stay as they are.
        j: which of them.
        seat: for whom.
        choices: the legal actions, a set of bits.
        leaf: ROLLOUT, MAXN or COALITION.
        field: `Field` by which all bid on, and play out.
        rng: (1,) uint64, for those of the field who draw lots.
        room: `Room`; its values are written.
        row: where.
    """
    solves_all = _is_solved(worlds[j], leaf)  # every card in one search
    left = choices
    while left != ZERO:
        action = lowest(left)
        left = without_lowest(left)
        room.line[0] = worlds[j]
        if not solves_all:
            apply(room.line[0], action)
            _play_on(leaf, field, rng, room)
        if room.line[0].turn == NOBODY:
            room.values[row, action] = settled_score(room.line[0], seat)
            continue
        value = _solve(leaf, seat, room)
        if not solves_all:
            room.values[row, action] = value
            continue
        _copy_cards(leaf, seat, choices, room, row)
        left = ZERO


@jit
def _is_solved(s, leaf):
    """Are the cards played no further, since the solver takes them?"""
    if leaf == ROLLOUT or not in_tricks(s):
        return False
    cards = 0
    for seat in range(s.num_players):
        cards += size(s.hands[nth(seat)])
    return cards <= MOST_SOLVED


@jit
def _play_on(leaf, field, rng, room):
    """Let all bid on, and play their cards until they are solved."""
    s = room.line[0]
    while s.turn != NOBODY and not _is_solved(s, leaf):
        look(room.line, 0, np.int64(s.turn), room.looks, 0)
        apply(s, act(field.kind, field.parameter, room.looks[0], legal(s), rng))


@jit
def _solve(leaf, seat, room):
    if leaf == MAXN:
        solve_maxn(room.line, 0, room.solver, room.by_seat)
        return room.solver.scores[0, seat]
    solve_coalition(room.line, 0, seat, room.solver, room.by_card)
    return room.solver.scores[0, 0]


@jit
def _copy_cards(leaf, seat, choices, room, row):
    while choices != ZERO:
        card = lowest(choices)
        value = room.by_seat[card, seat] if leaf == MAXN else room.by_card[card]
        room.values[row, card] = value
        choices = without_lowest(choices)
