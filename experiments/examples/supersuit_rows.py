"""SuperSuit: several tables as one vector environment, a row for each seat of each table.

    python -m experiments.examples.supersuit_rows --game beast --num-players 5

Ran with SuperSuit 3.11.0, pettingzoo 1.27.0, gymnasium 1.4.0.

`turn_based_aec_to_parallel` makes a parallel environment of a table's turns, and SuperSuit's
`pettingzoo_env_to_vec_env_v1` rows of its seats, `concat_vec_envs_v1` one environment of several
tables. Dict observations come batched. The mask tells whose turn it is: all zeros for everybody
else, whose actions are ignored. So num_players rows hold one decision.

What SuperSuit cannot do here:

* Take the AEC environment itself, or make it parallel by `aec_to_parallel`: only turn by turn.
* Wrap a Dict by `flatten_v0`, `dtype_v0`, `reshape_v0`, `normalize_obs_v0`, `frame_stack_v2`,
  `agent_indicator_v0`, `pad_observations_v0` or `black_death_v3`, which refuse it; of
  `max_observation_v0` comes an array of objects. `observation_lambda_v0` can take the vector out
  of the Dict, but the mask is lost with it.
* Keep to the rules under `sticky_actions_v0`, `frame_skip_v0` or `delay_observations_v0`: an action
  is played again that is not legal any more, or the mask comes too late, and nearly every session
  ends with an illegal move. `clip_reward_v0` clips coins.
* At the end of a session the row holds the next one's observation and infos; of the last only
  `terminal_observation` is left, not the coins. Rewards are float32, ends uint8.
* `observation_space` is that of one row, and infos are a list, so Gymnasium's vector wrappers
  refuse the environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import supersuit
import tyro
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from experiments.examples.score_sheet import Clock, Outcome, ScoreSheet


@dataclass(frozen=True)
class Arguments:
    """Random legal actions on a vector environment of SuperSuit."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    num_hands: int = 3
    """In a session."""
    tables: int = 8
    steps: int = 500
    """Moves at every table."""
    seed: int = 0


def make_rows(arguments: Arguments) -> supersuit.vector.ConcatVecEnv:
    """Tables times seats rows, each table with a score sheet of its own."""
    num_players, num_hands = arguments.num_players, arguments.num_hands
    sheet = ScoreSheet(arguments.game, num_players=num_players, num_hands=num_hands)
    rows = supersuit.pettingzoo_env_to_vec_env_v1(turn_based_aec_to_parallel(sheet))
    return supersuit.concat_vec_envs_v1(rows, arguments.tables)


def run(arguments: Arguments) -> Outcome:
    """Play."""
    env, rng = make_rows(arguments), np.random.default_rng(arguments.seed)
    sheets = [seats.par_env.aec_env for seats in env.vec_envs]
    observations, _ = env.reset(seed=arguments.seed)
    gains, returns, scores, clock = np.zeros(env.num_envs), [], [], Clock()
    for _ in range(arguments.steps):
        masks = observations["action_mask"]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        observations, rewards, ended, _, _ = env.step(actions)
        gains += rewards
        tables = gains.reshape(arguments.tables, -1)
        for table in np.flatnonzero(ended.reshape(tables.shape).all(axis=1)):
            returns.append(tables[table].copy())
            scores.append(sheets[table].sessions[-1])
            tables[table] = 0
    moves, illegal = sum(s.moves for s in sheets), sum(s.illegal for s in sheets)
    return clock.outcome(moves, illegal, returns, scores)


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
