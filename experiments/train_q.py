"""Train linear Q-learning in self-play, small enough to be read in a lesson.

    python -m experiments.train_q --game bestia --run-dir runs/bestia-q

The worth of an action, in pots, is a weighted sum of what the seat knows: a row of weights for each
action, a weight for each number of the observation. Whenever a seat is to act again, its action
before should have been worth what its best one is now; when the hand is settled, what it paid
(Watkins 1989). All seats learn at once, each from its own decisions and never from its neighbours'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from experiments import training

if TYPE_CHECKING:
    from agents.networks import Network


@dataclass(frozen=True)
class Arguments(training.TrainingArguments):
    """Train linear Q-learning in self-play."""

    MODULE: ClassVar = "experiments.train_q"
    SMOKE: ClassVar = {
        "total_steps": 1024,
        "num_envs": 16,
        "steps_per_update": 32,
        "checkpoint_every": 512,
        "final_deals": 50,
    }
    RANGES: ClassVar[training.Ranges] = (
        (("num_envs", "steps_per_update"), 1, 10**6),
        (("learning_rate",), 1e-9, 1),
        (("exploration",), 0, 1),
    )

    total_steps: int = 5_000_000
    """Decisions of all seats, rounded up to whole updates."""
    num_envs: int = 256
    """Tables that are played at once."""
    steps_per_update: int = 64
    """Steps of every table; then new hands are dealt at all of them."""
    learning_rate: float = 0.3
    """How far weights move at the start, for a decision of unit length; falls to zero."""
    exploration: float = 0.2
    """The chance of any action at all at the start; it falls to zero."""


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, LinearQ)


class LinearQ:
    """The learner.

    Attributes:
        steps: decisions so far.
        weights: (A, D + 1) float32, pots; the last column is a constant.
    """

    def __init__(self, arguments: Arguments) -> None:
        from bestia_env.vector import TablesEnv

        self.arguments, self.steps = arguments, 0
        self.env = TablesEnv(
            arguments.game,
            arguments.num_envs,
            arguments.num_players,
            arguments.parsed_rules(),
            sort_suits=arguments.sort_suits,
        )
        self.pot = self.env.rules.opening_pot(arguments.num_players)
        self.weights = np.zeros((self.env.num_actions, self.env.layout.size + 1), np.float32)

    def update(self) -> dict[str, float]:
        """Deal anew at all tables, and learn from some steps of each."""
        left = max(0.0, 1 - self.steps / self.arguments.total_steps)
        rng = np.random.default_rng((self.arguments.seed, self.steps))
        tables = self.env.reset(seed=int(rng.integers(2**63)))
        num_envs, n = self.env.num_envs, self.env.num_players
        at = np.arange(num_envs)
        known = np.zeros((num_envs, n, self.weights.shape[1]), np.float32)  # at its last decision
        action = np.full((num_envs, n), -1)  # what each seat did then, -1 for nothing yet
        errors = [np.zeros(0)]
        hands = 0
        for _ in range(self.arguments.steps_per_update):
            features = np.hstack([tables.observations, np.ones((num_envs, 1), np.float32)])
            worth = np.where(tables.masks, features @ self.weights.T, -np.inf)
            again = action[at, tables.seats] >= 0
            i, seat = at[again], tables.seats[again]
            errors += [self.learn(known[i, seat], action[i, seat], worth[i].max(axis=1), left)]
            known[at, tables.seats] = features
            action[at, tables.seats] = self.choose(worth, left, rng)
            tables = self.env.step(action[at, tables.seats])
            i, seat = np.nonzero((tables.ended > 0)[:, None] & (action >= 0))
            paid = tables.rewards[i, seat] / self.pot
            errors += [self.learn(known[i, seat], action[i, seat], paid, left)]
            action[tables.ended > 0] = -1
            hands += int(np.count_nonzero(tables.ended))
        self.steps += num_envs * self.arguments.steps_per_update
        found = np.concatenate(errors)
        return {"hands": hands, "error": float(np.sqrt(found @ found / max(1, found.size)))}

    def choose(self, worth: np.ndarray, left: float, rng: np.random.Generator) -> np.ndarray:
        """The best action, or now and then any legal one: (B,) from the worth of each, (B, A)."""
        lot = np.where(np.isfinite(worth), rng.random(worth.shape), -1)
        explores = rng.random(len(worth)) < left * self.arguments.exploration
        return np.where(explores, lot.argmax(axis=1), worth.argmax(axis=1))

    def learn(
        self, known: np.ndarray, actions: np.ndarray, targets: np.ndarray, left: float
    ) -> np.ndarray:
        """Move the worth of actions towards their targets; returns how far off they were.

        Args:
            known: (K, D + 1) float32, what was known.
            actions: (K,) what was done.
            targets: (K,) what it should have been worth, pots.
            left: how much of the training is left.
        """
        errors = targets - np.einsum("kd,kd->k", known, self.weights[actions])
        rate = left * self.arguments.learning_rate / np.einsum("kd,kd->k", known, known)
        chosen = np.zeros((len(self.weights), len(actions)), np.float32)
        chosen[actions, np.arange(len(actions))] = rate * errors
        times = np.bincount(actions, minlength=len(self.weights))
        self.weights += chosen @ known / np.maximum(1, times)[:, None]
        return errors

    def network(self) -> Network:
        """The policy so far, a network without hidden layers that takes the best action."""
        from agents.networks import Network

        a = self.arguments
        layer = np.ascontiguousarray(self.weights[:, :-1]), self.weights[:, -1].copy()
        return Network(a.game, a.num_players, (layer,), sort_suits=a.sort_suits, greedy=True)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results."""
        import torch

        return {"weights": torch.from_numpy(self.weights)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self.weights = state["weights"].numpy()


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
