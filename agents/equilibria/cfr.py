"""Counterfactual regret minimisation on the sequence form of a tree.

CFR+ (Tammelin 2014): regrets never fall below zero, seats are updated in turn, and later rounds
weigh more in the average. Its average converges to an equilibrium for two players of a zero-sum
game; for more there is no guarantee, and the caller measures what came out.

With `predictive` set each seat plays as if its last regrets came once more (Farina, Kroer and
Sandholm 2021).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agents.equilibria.best_response import Exploitability, exploitability
from agents.equilibria.tree import Tree, counterfactual, plan
from bestia_env._jit import jit


class Regrets(NamedTuple):
    """Where the solver works; all by slot.

    Attributes:
        table: (S,) float64, the current behaviour.
        plans: (S + 1,) float64, the current plans of all seats.
        worth: (S + 1,) float64, see `counterfactual`.
        regret: (S,) float64, at least 0.
        hope: (S,) float64, the regrets to be matched.
        sums: (S + 1,) float64, the weighted sum of all plans.
    """

    table: np.ndarray
    plans: np.ndarray
    worth: np.ndarray
    regret: np.ndarray
    hope: np.ndarray
    sums: np.ndarray


class Solver:
    """A tree being solved.

    Attributes:
        rounds: so many have been played.
    """

    def __init__(self, tree: Tree, *, predictive: bool = False, power: int = 1) -> None:
        """Begin with the uniform behaviour.

        Args:
            tree: the game.
            predictive: expect the last regrets to come again?
            power: round k weighs k**power in the average.
        """
        self.tree, self.rounds = tree, 0
        self._predictive, self._power = predictive, power
        slots = tree.num_slots
        self._regrets = Regrets(
            tree.uniform(),
            np.ones(slots + 1),
            np.zeros(slots + 1),
            np.zeros(slots),
            np.zeros(slots),
            np.zeros(slots + 1),
        )
        for seat in range(tree.num_players):
            plan(tree.sequences, seat, self._regrets.table, self._regrets.plans)

    def run(self, rounds: int) -> None:
        """Update every seat so many times."""
        for _ in range(rounds):
            self.rounds += 1
            weight = float(self.rounds) ** self._power
            for seat in range(self.tree.num_players):
                counterfactual(self.tree.sequences, seat, self._regrets.plans, self._regrets.worth)
                _update(self.tree.sequences, seat, self._regrets, weight, self._predictive)

    def average(self) -> np.ndarray:
        """The average behaviour so far, (S,) float64; uniform where a seat never came."""
        table = np.empty(self.tree.num_slots)
        _average(self.tree.first_slot, self._regrets.sums, table)
        return table

    def current(self) -> np.ndarray:
        """The behaviour of the next round, (S,) float64."""
        return self._regrets.table.copy()


@jit
def _update(sequences, seat, regrets, weight, predictive):
    """One round for one seat, whose slots are worth what `counterfactual` says."""
    first, after = sequences.bounds[seat], sequences.bounds[seat + 1]
    for k in range(after - 1, first - 1, -1):
        own = sequences.sets[k]
        _regret(
            regrets,
            sequences.first_slot[own],
            sequences.first_slot[own + 1],
            sequences.parent[own],
            predictive,
        )
    for k in range(first, after):
        own = sequences.sets[k]
        before = regrets.plans[sequences.parent[own]]
        for slot in range(sequences.first_slot[own], sequences.first_slot[own + 1]):
            regrets.plans[slot] = before * regrets.table[slot]
            regrets.sums[slot] += weight * regrets.plans[slot]


@jit
def _regret(regrets, first, after, parent, predictive):
    """Add to the regrets of one set, and match them; without any the behaviour stays as it is.

    Any would do then, but a start anew from the uniform one keeps three players from settling.
    """
    value = 0.0
    for slot in range(first, after):
        value += regrets.table[slot] * regrets.worth[slot]
    regrets.worth[parent] += value
    total = 0.0
    for slot in range(first, after):
        now = regrets.worth[slot] - value
        regrets.regret[slot] = max(regrets.regret[slot] + now, 0.0)
        hope = max(regrets.regret[slot] + now, 0.0) if predictive else regrets.regret[slot]
        regrets.hope[slot] = hope
        total += hope
    if total > 0:
        for slot in range(first, after):
            regrets.table[slot] = regrets.hope[slot] / total


@jit
def _average(first_slot, sums, table):
    for own in range(first_slot.size - 1):
        first, after = first_slot[own], first_slot[own + 1]
        total = 0.0
        for slot in range(first, after):
            total += sums[slot]
        for slot in range(first, after):
            table[slot] = sums[slot] / total if total > 0 else 1 / (after - first)


class Measured(NamedTuple):
    """A behaviour that a solver has come to.

    Attributes:
        rounds: played.
        seconds: taken, measuring left out.
        which: "average" of all rounds or "last", whichever is better.
        exploitability: of it.
    """

    rounds: int
    seconds: float
    which: str
    exploitability: Exploitability

    @property
    def nash_conv(self) -> float:
        """The sum of what all could gain."""
        return self.exploitability.nash_conv


def solve(
    solver: Solver,
    aim: float,
    seconds: float,
    progress: Callable[[Measured], None] | None = None,
    every: int = 25,
) -> tuple[np.ndarray, list[Measured]]:
    """Run until a behaviour's NashConv is at most the aim, or the time is over.

    Where three players settle on pure actions the last behaviour may be an equilibrium to the last
    digit long before the average is; both are measured.

    Args:
        solver: begins or goes on.
        aim: NashConv, in the unit of the tree's utilities.
        seconds: to run at most, measuring left out.
        progress: called with every measurement.
        every: rounds before the first measurement; later ones come after a quarter more rounds.

    Returns:
        The best behaviour, (S,) float64, and all measurements.
    """
    history: list[Measured] = []
    best, spent, pause = solver.current(), 0.0, every
    while not history or (history[-1].nash_conv > aim and spent < seconds):
        started = time.perf_counter()
        solver.run(pause)
        spent += time.perf_counter() - started
        table, measured = _measure(solver, spent)
        if not history or measured.nash_conv < min(past.nash_conv for past in history):
            best = table
        history.append(measured)
        if progress is not None:
            progress(measured)
        pause = max(every, solver.rounds // 4)
    return best, history


def _measure(solver: Solver, seconds: float) -> tuple[np.ndarray, Measured]:
    """The better of the average and the last behaviour."""
    tables = {"average": solver.average(), "last": solver.current()}
    found = {
        which: Measured(solver.rounds, seconds, which, exploitability(solver.tree, table))
        for which, table in tables.items()
    }
    which = min(found, key=lambda which: found[which].nash_conv)
    return tables[which], found[which]
