"""Fit the chances of winning by which the baselines of Beast declare.

    python -m experiments.calibrate_beast

In a field of `threshold` players one seat, drawn anew for every hand, is made to declare where it
may, whatever it holds; whether it then wins the hand is regressed on what it held and heard. The
field itself goes by the tables in force: paste the printed ones into agents/baselines/beast.py and
run again, until they stand still (which takes about three runs after the card play has changed).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tyro

from agents.baselines import beast as players
from bestia_env._jit import jit
from bestia_env.engine import new_states, start_session
from bestia_env.rng import below, seed_sequence_keys, stream
from bestia_env.rules.beast import (
    AT_COUNTER,
    AT_DECLARE,
    AT_TAKE,
    COUNTER,
    PLAY,
    RANKS,
    TAKE,
    apply,
    legal,
)
from bestia_env.rules.table import NOBODY
from bestia_env.view import look

DECLARATIONS = {AT_TAKE: TAKE, AT_DECLARE: PLAY, AT_COUNTER: COUNTER}
PLAYER_COUNTS = (4, 5, 6)
WEIGHTS = players.WEIGHTS.shape[-1]


@dataclass
class Args:
    """Fit the chances of winning by which the baselines of Beast declare."""

    rows: int = 400_000
    """forced declarations for each fit"""
    seed: int = 1
    """of the deals"""


@dataclass
class Sample:
    """Forced declarations of one kind.

    Attributes:
        features: (rows, WEIGHTS) float64, what the weights are multiplied by.
        upcards: (rows,) int64, their strengths.
        won: (rows,) float64, 1 where the declarer won the hand, else 0.
    """

    features: np.ndarray
    upcards: np.ndarray
    won: np.ndarray


def sample(num_players: int, phase: int, rows: int, seed: int) -> Sample:
    """So many declarations that were forced in a phase: AT_TAKE, AT_DECLARE or AT_COUNTER."""
    out = Sample(np.empty((rows, WEIGHTS)), np.empty(rows, np.int64), np.empty(rows))
    hands = np.concatenate([new_states("beast", num_players) for _ in range(2)])
    key, rng = seed_sequence_keys(seed, 2)[:, None]
    _force(
        *(hands[:1], hands[1:], key, rng, phase, DECLARATIONS[phase]),
        *(np.eye(WEIGHTS), out.features, out.upcards, out.won),
    )
    return out


@jit
def _force(states, views, key, rng, phase, declaration, units, features, upcards, won):
    """Play hands until every row is filled; key and rng are (1,) uint64."""
    s = states[0]
    row = hand = 0
    while row < won.size:
        start_session(states, 0, stream(key[0], hand), NOBODY, 0)
        seat = below(rng, s.num_players)
        if phase == AT_TAKE:
            seat = np.int64(s.dealer)
        forced = _play(states, views, rng, seat, phase, declaration, units, features[row])
        if forced:
            upcards[row] = s.upcard % RANKS
            won[row] = s.gains[seat] > 0
            row += 1
        hand += 1


@jit
def _play(states, views, rng, seat, phase, declaration, units, features):
    """Play the hand in states[0]; was the seat, when first asked in the phase, made to declare?"""
    s, v = states[0], views[0]
    forced = False
    while s.turn != NOBODY:
        look(states, 0, s.turn, views, 0)
        action = players.act(players.THRESHOLD, players.BEST, v, legal(s), rng)
        if s.turn == seat and s.phase == phase and not forced:
            forced = True
            action = declaration
            for k in range(features.size):  # a sum of weights that are 0 but for one
                features[k] = players.log_odds(v, units[k])
        apply(s, action)
    return forced


def fit(features: np.ndarray, won: np.ndarray) -> np.ndarray:
    """The weights (F,) of a logistic regression, by Newton's method."""
    weights = np.zeros(features.shape[1])
    ridge = 1e-3 * np.eye(weights.size)  # for features that never differ
    for _ in range(12):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (won - chance) - ridge @ weights
        curvature = (features.T * (chance * (1 - chance))) @ features + ridge
        weights += np.linalg.solve(curvature, slope)
    return weights


def fit_weights(phase: int, args: Args) -> np.ndarray:
    """The weights (3, WEIGHTS) for 4, 5 and 6 players."""
    samples = [sample(n, phase, args.rows, args.seed) for n in PLAYER_COUNTS]
    return np.array([fit(s.features, s.won) for s in samples])


def taker_chances(args: Args) -> np.ndarray:
    """How often a dealer wins who took blind, (3, 13), by players and the upcard's strength."""
    samples = [sample(n, AT_TAKE, args.rows, args.seed) for n in PLAYER_COUNTS]
    return np.array([np.bincount(s.upcards, s.won) / np.bincount(s.upcards) for s in samples])


def main() -> None:
    """Print the tables as they stand in agents/baselines/beast.py."""
    args = tyro.cli(Args, prog="python -m experiments.calibrate_beast")
    weights = np.array([fit_weights(phase, args) for phase in (AT_DECLARE, AT_COUNTER)])
    print(f"WEIGHTS = np.array({weights.round(2).tolist()})")
    print(f"TAKER = np.array({taker_chances(args).round(3).tolist()})")


if __name__ == "__main__":
    main()
