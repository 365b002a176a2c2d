"""Gymnasium's AsyncVectorEnv: single-seat environments in processes of their own.

    python -m experiments.examples.async_vector_env --context spawn --num-envs 2

Ran with gymnasium 1.4.0. Needs nothing beyond bestia_env's own dependencies (and tyro).

One learner's seat at each table; the others play in the same process. Workers that are spawned
import the project anew, so the environment is named with its module, `"bestia_env:bestia_env/…"`,
and an opponent must be an object that can be pickled, of a class that can be imported.

What it cannot do here: be fast. A move takes microseconds, the way to another process and back many
times as long, and a worker that is spawned some seconds to start. `gymnasium.make_vec`, this
project's own vector environment, plays the same hands without processes, as the first lines of what
is printed show: with two tables ten times as fast and more, and the distance grows with the number
of tables. Processes pay only for opponents that think for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
import tyro
from gymnasium.vector import AsyncVectorEnv, VectorEnv

from experiments.examples.score_sheet import Clock, Outcome, VectorSheet


@dataclass(frozen=True)
class Arguments:
    """Random legal actions at one seat of each table."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    num_hands: int = 3
    """In an episode."""
    num_envs: int = 2
    """Tables, each in a process."""
    steps: int = 500
    """At every table."""
    context: Literal["spawn", "forkserver", "fork"] = "spawn"
    """How the processes start."""
    seed: int = 0


class Maker:
    """Makes the environment in the worker; lambdas cannot be sent to a process that is spawned."""

    def __init__(self, arguments: Arguments) -> None:
        self.id = f"bestia_env:bestia_env/{arguments.game.title()}-v0"
        self.keywords: dict[str, Any] = {
            "num_players": arguments.num_players,
            "num_hands": arguments.num_hands,
            "reward": "coins",
        }

    def __call__(self) -> gymnasium.Env:
        """A table of its own."""
        return gymnasium.make(self.id, **self.keywords)


def play(env: VectorEnv, steps: int, seed: int) -> Outcome:
    """Play random legal actions."""
    env, rng = VectorSheet(env), np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    gains, returns, clock = np.zeros(env.num_envs), [], Clock()
    for _ in range(steps):
        masks = infos["action_mask"]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        _, rewards, over, _, infos = env.step(actions)
        gains += rewards
        returns += gains[over].tolist()
        gains[over] = 0
    return clock.outcome(env.moves, env.illegal, returns, env.sessions)


def run(arguments: Arguments) -> Outcome:
    """Play in processes, then the same hands in this project's own vector environment."""
    maker = Maker(arguments)
    env = AsyncVectorEnv([maker] * arguments.num_envs, context=arguments.context)
    try:
        outcome = play(env, arguments.steps, arguments.seed)
    finally:
        env.close()
    own = gymnasium.make_vec(maker.id, arguments.num_envs, **maker.keywords)
    print(f"the project's own, {play(own, arguments.steps, arguments.seed)}\nprocesses, ", end="")
    return outcome


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
