"""Train a linear policy by REINFORCE in self-play: a learner of one's own in a hundred lines.

python -m docs.extend.train_reinforce --game bestia --run-dir runs/reinforce
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from agents.networks import Network
from bestia_env.vector import TablesEnv, seat_advantages
from experiments import training


@dataclass(frozen=True)
class Arguments(training.TrainingArguments):
    """Train a linear policy by REINFORCE in self-play."""

    MODULE: ClassVar = "docs.extend.train_reinforce"
    SMOKE: ClassVar = {"total_steps": 4096, "num_envs": 32, "final_deals": 50}
    RANGES: ClassVar[training.Ranges] = (
        (("num_envs", "steps_per_update"), 1, 10**6),
        (("learning_rate",), 1e-9, 1e6),
    )

    num_envs: int = 512
    """Tables that are played at once."""
    steps_per_update: int = 64
    """Steps of every table; then new hands are dealt at all of them."""
    learning_rate: float = 20.0
    """How far the weights move along the gradient."""


class Reinforce:
    """The learner: a row of weights for each action, (A, D + 1), the last column a constant."""

    def __init__(self, arguments: Arguments) -> None:
        a = self.arguments = arguments
        self.steps = 0
        self.env = TablesEnv(
            a.game, a.num_envs, a.num_players, a.parsed_rules(), sort_suits=a.sort_suits
        )
        self.pot = self.env.rules.opening_pot(a.num_players)
        self.weights = np.zeros((self.env.num_actions, self.env.layout.size + 1), np.float32)

    def update(self) -> dict[str, float]:
        """Play on at all tables; then make what paid more likely."""
        # All chances of an update come from the seed and the steps so far: so a training that was
        # stopped goes on as if it had not been.
        rng = np.random.default_rng((self.arguments.seed, self.steps))
        tables = self.env.reset(seed=int(rng.integers(2**63)))
        rows = []
        for _ in range(self.arguments.steps_per_update):
            seen = np.hstack([tables.observations, np.ones_like(tables.observations[:, :1])])
            chances = self.chances(seen, tables.masks)
            actions = (chances.cumsum(axis=1) > rng.random((len(seen), 1))).argmax(axis=1)
            seats, tables = tables.seats, self.env.step(actions)
            rows.append((seats, tables.rewards / self.pot, tables.ended, seen, chances, actions))
        seats, rewards, ended, seen, chances, actions = map(np.array, zip(*rows))
        self.steps += seats.size
        # With a value of zero and lambda of one, an advantage is what the hand came to pay.
        paid, known = seat_advantages(np.zeros(seats.shape), seats, rewards, ended, lam=1.0)
        self.climb(seen[known], chances[known], actions[known], paid[known])
        return {"hands": int((ended > 0).sum()), "spread": float(paid[known].std())}

    def chances(self, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The chance of every action, (B, A), 0 where it is not legal."""
        odds = np.where(masks, seen @ self.weights.T, -np.inf)
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def climb(
        self, seen: np.ndarray, chances: np.ndarray, actions: np.ndarray, paid: np.ndarray
    ) -> None:
        """Move along the gradient of the log-chances, each weighted by what it paid."""
        direction = -chances
        direction[np.arange(len(actions)), actions] += 1
        direction *= (paid - paid.mean())[:, None]
        self.weights += self.arguments.learning_rate * (direction.T @ seen / len(seen))

    def network(self) -> Network:
        """The policy so far: a network without hidden layers, which draws its actions."""
        a = self.arguments
        layer = np.ascontiguousarray(self.weights[:, :-1]), self.weights[:, -1].copy()
        return Network(a.game, a.num_players, (layer,), sort_suits=a.sort_suits)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results."""
        return {"weights": self.weights.tolist()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self.weights = np.array(state["weights"], np.float32)


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file."""
    return training.run(arguments, Reinforce)


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
