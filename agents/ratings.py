"""Ratings from the order in which players of a table came out: Plackett-Luce, free of order.

Every player has a worth w > 0, and comes out ahead of all others of a set S with probability
w / sum of w over S; the second is chosen so among the rest, and so on. The worths of greatest
likelihood are unique and do not depend on the order in which the tables were played, as those of
Elo and its kin do. Source: D. Hunter, MM algorithms for generalized Bradley-Terry models, 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

POINTS = 400 / np.log(10)  # Elo's scale: 400 points more are ten times the worth
_TOLERANCE = 1e-5
_MAX_ROUNDS = 1000


@dataclass(frozen=True)
class Rating:
    """A rating with its 95 % interval.

    Attributes:
        points: 400 log10 of the worth; a field's mean is 0. Whoever has 100 points more than
            another comes out ahead of him at 64 % of the tables.
        low: the lower end of the interval, by a bootstrap over deals.
        high: the upper end.
    """

    points: float
    low: float
    high: float


def fit_worths(
    rankings: np.ndarray,
    counts: np.ndarray,
    players: int,
    prior: float = 0.0,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """The log-worths of greatest likelihood.

    Args:
        rankings: (R, m) int, the players of a table, best first, m >= 2.
        counts: (R,) how often each of these was seen.
        players: how many there are, numbered from 0.
        prior: weight of a gamma distribution with its peak at 1 for all worths; above 0 it keeps
            finite the worth of one who was always first, or never ahead of anybody.
        start: (players,) log-worths to start from.

    Returns:
        (players,) float64 with mean 0.

    Raises:
        RuntimeError: the likelihood has no maximum, or it was not found.
    """
    stages = rankings.shape[1] - 1
    firsts = rankings[:, :stages].ravel()
    wins = prior + np.bincount(firsts, np.repeat(counts, stages).astype(float), players)

    def improve(logs: np.ndarray) -> np.ndarray:
        new = np.log(wins / (prior + _exposures(rankings, counts, np.exp(logs))))
        return new - np.log(np.exp(new).mean())  # at the maximum the worths have mean 1

    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return _fixed_point(improve, np.zeros(players) if start is None else start)


def _fixed_point(improve: Callable[[np.ndarray], np.ndarray], logs: np.ndarray) -> np.ndarray:
    """Where `improve` changes nothing any more; leaps where it creeps.

    Source: R. Varadhan and C. Roland, Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm (SQUAREM), 2008.
    """
    for _ in range(_MAX_ROUNDS):
        once = improve(logs)
        if not np.isfinite(once).all():
            raise RuntimeError("a player was never ahead of anybody: give a prior above 0")
        twice = improve(once)
        step, bend = once - logs, twice - 2 * once + logs
        if np.abs(step).max() < _TOLERANCE:
            return twice - twice.mean()
        stretch = np.linalg.norm(step) / np.linalg.norm(bend)
        leap = logs + 2 * stretch * step + stretch**2 * bend
        landed = improve(leap)
        logs = landed if np.abs(landed - leap).max() <= np.abs(step).max() else twice
    raise RuntimeError(f"the ratings did not settle within {_MAX_ROUNDS} rounds")


def _exposures(rankings: np.ndarray, counts: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """For each player the sum of 1 / (worth of those still to be placed) over his stages."""
    stages = rankings.shape[1] - 1
    left = np.cumsum(worth[rankings][:, ::-1], axis=1)[:, ::-1]
    until = np.cumsum(counts[:, None] / left[:, :stages], axis=1)
    until = np.concatenate([until, until[:, -1:]], axis=1)  # the last was there at the last choice
    return np.bincount(rankings.ravel(), until.ravel(), worth.size)


def rate(
    rankings: np.ndarray, players: int, seed: int, samples: int = 200, prior: float = 0.5
) -> list[Rating]:
    """Rate the players of many tables.

    Args:
        rankings: (D, m) int, for every deal its players, best first.
        players: how many there are in all.
        seed: of the bootstrap.
        samples: of the bootstrap: so often are as many deals drawn from those given.
        prior: as for `fit_worths`.
    """
    kinds, counts = np.unique(rankings, axis=0, return_counts=True)
    best = fit_worths(kinds, counts, players, prior)
    chances = np.random.default_rng(seed)
    fits = [
        fit_worths(kinds[drawn > 0], drawn[drawn > 0], players, prior, best)
        for drawn in chances.multinomial(counts.sum(), counts / counts.sum(), samples)
    ]
    low, high = np.quantile(fits, (0.025, 0.975), axis=0)
    return [Rating(*(POINTS * logs).tolist()) for logs in np.column_stack([best, low, high])]
