"""PPO in one file, in the manner of CleanRL, on the project's own vector environment.

    python -m experiments.examples.cleanrl_ppo --game bestia --updates 100

Ran with gymnasium 1.4.0, torch 2.13.0. Needs the extra `train`. CleanRL itself is not used: it is
files to copy and change, and its releases pin Gymnasium 0.29.

What to change in such a file: the mask comes with `infos["action_mask"]` and is kept with every
observation, since the policy of then must be compared with that of now over the same actions;
`autoreset_mode="SameStep"`, because in Gymnasium's default a step after each end is a dummy, whose
action must not be learned from; gamma is 1, as a hand is short and pays at its end.

What it cannot do here: learn at all seats at once; for that see `TablesEnv` and
`python -m experiments.train_ppo`, which is faster as well. Vector wrappers of Gymnasium that read
episodes (`RecordEpisodeStatistics`) work, but this file needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn
from torch.distributions import Categorical

from experiments.examples.score_sheet import Clock, Outcome, VectorSheet, mean

RATE, EPOCHS, MINIBATCH, LAMBDA, CLIP, ENTROPY = 1e-3, 4, 1024, 0.95, 0.2, 0.01


@dataclass(frozen=True)
class Arguments:
    """PPO at one seat of each table, among players who choose at random."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    num_envs: int = 256
    """Tables."""
    num_steps: int = 32
    """Decisions at each table for an update."""
    updates: int = 50
    seed: int = 0


class Agent(nn.Module):
    """Actor and critic."""

    def __init__(self, size: int, actions: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, actions))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple:
        """Distributions over legal actions, and values."""
        logits = self.actor(observations).masked_fill(~masks, -1e9)
        return Categorical(logits=logits), self.critic(observations).squeeze(-1)


def run(arguments: Arguments) -> Outcome:
    """Train; the whole algorithm stands here."""
    a = arguments
    torch.set_num_threads(1)  # with networks this small, more get in each other's way
    torch.manual_seed(a.seed)
    name = f"bestia_env:bestia_env/{a.game.title()}-v0"
    options: dict[str, Any] = {"num_players": a.num_players, "autoreset_mode": "SameStep"}
    env = VectorSheet(gymnasium.make_vec(name, a.num_envs, **options), a.num_players)
    observations, infos = env.reset(seed=a.seed)
    agent = Agent(observations.shape[1], infos["action_mask"].shape[1])
    optimiser = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    gains, returns, clock = np.zeros(a.num_envs), [], Clock()
    for _ in range(a.updates):
        rows = []
        for _ in range(a.num_steps):
            seen, masks = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"] > 0)
            with torch.no_grad():
                policy, values = agent(seen, masks)
            actions = policy.sample()
            observations, rewards, over, _, infos = env.step(actions.numpy())
            paid, ended = torch.from_numpy(rewards).float(), torch.from_numpy(over)
            rows.append((seen, masks, actions, policy.log_prob(actions), values, paid, ended))
            gains += rewards
            returns += gains[over].tolist()
            gains[over] = 0
        *batch, values, paid, ended = (torch.stack(column) for column in zip(*rows, strict=True))
        with torch.no_grad():
            value, error = agent(torch.from_numpy(observations), masks)[1], 0.0
        advantages = torch.zeros_like(values)
        for t in reversed(range(a.num_steps)):
            goes_on = 1.0 - ended[t].float()
            error = paid[t] + goes_on * (value + LAMBDA * error) - values[t]
            advantages[t], value = error, values[t]
        batch = [column.flatten(0, 1) for column in (*batch, advantages, advantages + values)]
        for _ in range(EPOCHS):
            for some in torch.randperm(a.num_envs * a.num_steps).split(MINIBATCH):
                seen, masks, actions, before, advantage, target = (x[some] for x in batch)
                policy, value = agent(seen, masks)
                ratio = (policy.log_prob(actions) - before).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                loss += 0.5 * (value - target).square().mean() - ENTROPY * policy.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimiser.step()
    tenth = len(returns) // 10
    print(f"coins a hand at first {mean(returns[:tenth])}, at last {mean(returns[-tenth:])}")
    return clock.outcome(env.moves, env.illegal, returns, env.sessions)


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
