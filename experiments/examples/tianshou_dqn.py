"""Tianshou: one seat learns by DQN among players who choose at random.

    python -m experiments.examples.tianshou_dqn --game beast --rounds 40

Ran with tianshou 2.0.1, pettingzoo 1.27.0, gymnasium 1.4.0, torch 2.13.0.

`PettingZooEnv` shows the seat to move its observation and mask, which DQN and the random players
keep to, and stores the rewards of all seats with every move. `MultiAgentOffPolicyAlgorithm` hands
each seat its own moves and rewards.

What Tianshou cannot do here: what it takes for the state after a move is what the next seat sees,
so DQN must not look there. `n_step_return_horizon` is therefore longer than any hand: each move is
worth what its own seat is paid at the end, as in Monte Carlo methods. PPO has no such way out: it
takes the rewards that came with a seat's own moves alone, and those of the settlement come with the
last move, whoever made it (gamma and lambda 1, four seats: fewer than a tenth of the returns were
right). A training step is not announced to the policies of single seats, so exploration in training
has to be set by `eps_inference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import tyro
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm as RandomPlayer
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from experiments.examples.score_sheet import Clock, Outcome, ScoreSheet, mean

LONGEST = 100  # moves in a hand; none is as long


@dataclass(frozen=True)
class Arguments:
    """DQN by Tianshou at seat 0."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    rounds: int = 20
    """Of sessions, each followed by updates."""
    sessions: int = 50
    """Of one hand, in each round; and in the last, which shows what was learned."""
    tables: int = 8
    """That are played in turn."""
    seed: int = 0


def make_learner(env: PettingZooEnv, horizon: int = LONGEST) -> DQN:
    """DQN for one seat."""
    vector = env.observation_space["observation"]
    net = Net(state_shape=vector.shape, action_shape=env.action_space.n, hidden_sizes=(64, 64))
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space)
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=horizon,
    )


def run(arguments: Arguments) -> Outcome:
    """Train, then play without exploring."""
    torch.set_num_threads(1)  # with networks this small, more get in each other's way
    torch.manual_seed(arguments.seed)
    np.random.seed(arguments.seed)  # whence Tianshou's choices come
    scores: list[np.ndarray] = []
    sheets = [
        ScoreSheet(arguments.game, sessions=scores, num_players=arguments.num_players)
        for _ in range(arguments.tables)
    ]
    tables = [PettingZooEnv(sheet) for sheet in sheets]
    learner = make_learner(tables[0])
    others = [RandomPlayer(tables[0].action_space) for _ in range(arguments.num_players - 1)]
    seats = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=tables[0])
    env = DummyVectorEnv([lambda table=table: table for table in tables])
    env.seed(arguments.seed)
    collector = Collector(seats, env, VectorReplayBuffer(20_000, len(tables)))
    collector.reset()
    clock, returns = Clock(), list[np.ndarray]()
    for played in range(arguments.rounds + 1):
        training = played < arguments.rounds
        learner.policy.set_eps_inference(0.3 * (1 - played / arguments.rounds))
        gains = collector.collect(n_episode=arguments.sessions).returns
        returns.extend(gains)
        with policy_within_training_step(seats.policy):
            for _ in range(20 if training else 0):
                seats.update(collector.buffer, sample_size=256)
    print(f"the learner among random players: {mean(gains[:, 0])} coins a session")
    moves, illegal = sum(s.moves for s in sheets), sum(s.illegal for s in sheets)
    return clock.outcome(moves, illegal, returns, scores)


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
