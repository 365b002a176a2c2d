"""AgileRL: its PPO at one seat of each table of the project's own vector environment.

    make test-agilerl
    .venv-agilerl/bin/python -m experiments.examples.agilerl_ppo --game bestia --updates 20

Ran with agilerl 2.58.0, tensordict 0.13.0, gymnasium 1.4.0, torch 2.13.0, pettingzoo 1.27.0.

`collect_rollouts` takes the mask from `infos["action_mask"]` and stores it with every decision, and
the loss uses it: the environment fits as it is, in the mode "SameStep".

What AgileRL cannot do here:

* Use its GAE: 2.58.0 looks for the end of an episode one step too late, so that what a hand pays
  never reaches the decisions before the last. Hence Monte Carlo returns (`use_gae`), with which it
  gains 0.6 coins a hand after 20 updates; with GAE nothing.
* Be installed beside this project by pip: it wants `pettingzoo<1.27`, this project at least 1.27.
  With 1.27 put in afterwards, against its own bounds, this recipe runs.
* Be imported as it installs itself: `import agilerl.algorithms` needs `peft` and `transformers`,
  which are in its extras alone.
* Learn at all seats as it should: its multi-agent algorithms take parallel environments. By
  `turn_based_aec_to_parallel` IPPO plays legal moves, if the mask stands in the infos as a list
  (arrays fail) and is not empty where a seat is not to act; but it learns from those moves as well,
  which are never made.

Its speciality, a population of agents whose hyperparameters evolve, is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import torch
import tyro
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from gymnasium.vector import VectorEnv

from experiments.examples.score_sheet import Clock, Outcome, VectorSheet, mean


@dataclass(frozen=True)
class Arguments:
    """PPO by AgileRL among players who choose at random."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    num_envs: int = 256
    """Tables."""
    num_steps: int = 32
    """Decisions at each table for an update."""
    updates: int = 20
    seed: int = 0


def make_learner(env: VectorEnv, num_steps: int) -> PPO:
    """PPO that learns after so many steps of all tables."""
    return PPO(
        env.single_observation_space,
        env.single_action_space,
        num_envs=env.num_envs,
        learn_step=env.num_envs * num_steps,
        batch_size=1024,
        lr=1e-3,
        gamma=1.0,
        rollout_buffer_config={"use_gae": False},
    )


def run(arguments: Arguments) -> Outcome:
    """Train."""
    a = arguments
    torch.set_num_threads(1)  # with networks this small, more get in each other's way
    torch.manual_seed(a.seed)
    name = f"bestia_env:bestia_env/{a.game.title()}-v0"
    options: dict[str, Any] = {"num_players": a.num_players, "autoreset_mode": "SameStep"}
    env = VectorSheet(gymnasium.make_vec(name, a.num_envs, **options), a.num_players)
    agent = make_learner(env, a.num_steps)
    env.reset(seed=a.seed)  # the rollouts go on with these seeds
    clock, returns = Clock(), list[float]()
    state: dict[str, Any] = {}
    for _ in range(a.updates):
        ended, *now = collect_rollouts(agent, env, **state)
        state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), now, strict=True))
        returns += ended
        agent.learn()
    tenth = len(returns) // 10
    print(f"coins a hand at first {mean(returns[:tenth])}, at last {mean(returns[-tenth:])}")
    return clock.outcome(env.moves, env.illegal, returns, env.sessions)


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
