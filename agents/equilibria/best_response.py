"""Exact best responses and NashConv, for any number of players and any behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.equilibria.tree import Tree, counterfactual, plan
from bestia_env._jit import jit


@dataclass(frozen=True)
class Exploitability:
    """How much each seat could gain by leaving a behaviour alone.

    Attributes:
        values: what each seat has when all follow the behaviour.
        best: what each seat has with its best response while the others follow it.
    """

    values: tuple[float, ...]
    best: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """What each seat gains by its best response; never below 0 but for rounding."""
        return tuple(best - value for best, value in zip(self.best, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """The sum of all gains: 0 in an equilibrium."""
        return sum(self.gains)


def exploitability(tree: Tree, table: np.ndarray) -> Exploitability:
    """Measure a behaviour exactly.

    Args:
        tree: the game.
        table: (S,) the probability of every slot.

    Raises:
        ValueError: the table is no behaviour of this tree.
    """
    plans = _plans(tree, table)
    worth = np.zeros(tree.num_slots + 1)
    values, best = [], []
    for seat in range(tree.num_players):
        counterfactual(tree.sequences, seat, plans, worth)
        values.append(float(worth[-1] + _own_part(tree, seat, plans, worth)))
        best.append(float(_respond(tree.sequences, seat, worth, plans)))
        plan(tree.sequences, seat, tree.checked(table), plans)
    return Exploitability(tuple(values), tuple(best))


def best_response(tree: Tree, table: np.ndarray, seat: int) -> np.ndarray:
    """The behaviour in which the seat answers the others' with its best, (S,) float64.

    Of actions that are worth the same the first is taken, also where the seat never comes.

    Raises:
        ValueError: the table is no behaviour of this tree, or there is no such seat.
    """
    if seat not in range(tree.num_players):
        raise ValueError(f"seat must be from 0 to {tree.num_players - 1}, not {seat!r}")
    plans, worth = _plans(tree, table), np.zeros(tree.num_slots + 1)
    counterfactual(tree.sequences, seat, plans, worth)
    answer = tree.checked(table).copy()
    _respond(tree.sequences, seat, worth, answer)
    return answer


def _plans(tree: Tree, table: np.ndarray) -> np.ndarray:
    """(S + 1,) the plans of all seats."""
    table, plans = tree.checked(table), np.empty(tree.num_slots + 1)
    for seat in range(tree.num_players):
        plan(tree.sequences, seat, table, plans)
    return plans


def _own_part(tree: Tree, seat: int, plans: np.ndarray, worth: np.ndarray) -> float:
    mine = tree.set_player[tree.slot_set] == seat
    return float(plans[:-1][mine] @ worth[:-1][mine])


@jit
def _respond(sequences, seat, worth, answer):
    """Sum up the seat's slots from below, of each set the best; writes the choice, returns all."""
    for k in range(sequences.bounds[seat + 1] - 1, sequences.bounds[seat] - 1, -1):
        own = sequences.sets[k]
        first, after = sequences.first_slot[own], sequences.first_slot[own + 1]
        best = first
        for slot in range(first + 1, after):
            if worth[slot] > worth[best]:
                best = slot
        for slot in range(first, after):
            answer[slot] = slot == best
        worth[sequences.parent[own]] += worth[best]
    return worth[worth.size - 1]
