"""TorchRL: masked rollouts of all seats, and PPO on every seat's own decisions.

    python -m experiments.examples.torchrl_ppo --game bestia --updates 10

Ran with torchrl 0.14.1, tensordict 0.14.3, pettingzoo 1.27.0, gymnasium 1.4.0, torch 2.13.0.

`PettingZooWrapper` makes a row of each move: observations and rewards of all seats, and in `mask`
who is to act. `own_decisions` makes transitions of each seat out of it: from one of its decisions
to its next, with all that it was paid between. GAE and the PPO loss then are right.

What TorchRL cannot do here: use the rows as they come (from `rollout`, `Collector` or `SerialEnv`,
which all run). Its losses know nothing of `mask`: at a table of four, three of four of a seat's
rows hold an action that was never carried out, drawn from a mask that allows all, and what a hand
pays stands in the last row, whoever moved there. It needs `use_mask=True`, warns that it was tested
with PettingZoo 1.24.3, and makes rewards float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import tyro
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import ProbabilisticTensorDictModule as Choice
from tensordict.nn import ProbabilisticTensorDictSequential as Actor
from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import MarlGroupMapType
from torchrl.modules import MLP, MaskedCategorical
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from experiments.examples.score_sheet import Clock, Outcome, ScoreSheet, mean

OBSERVATION, MASK = ("agents", "observation", "observation"), ("agents", "action_mask")
ACTION, LOGITS, LOG_PROB = ("agents", "action"), ("agents", "logits"), ("agents", "log_prob")


@dataclass(frozen=True)
class Arguments:
    """PPO by TorchRL at all seats."""

    game: Literal["bestia", "beast"] = "bestia"
    num_players: int = 4
    updates: int = 10
    sessions: int = 50
    """Of one hand, for each update, and as many to see what was learned."""
    seed: int = 0


def own_decisions(rollout: TensorDictBase) -> TensorDictBase:
    """Of a session (T,) the transitions of each seat, one seat after another, (T,)."""
    parts, then = [], rollout["next", "agents"]
    for seat, acts in enumerate(rollout["agents", "mask"].T):
        at = acts.nonzero().squeeze(1)
        if not len(at):
            continue
        until = torch.cat([at[1:], torch.tensor([len(rollout)])])
        paid = [then["reward"][a:b, seat].sum(0) for a, b in zip(at, until, strict=True)]
        last = (until == len(rollout)).unsqueeze(1)
        part = TensorDict({"agents": rollout["agents"][at, seat]}, [len(at)])
        part["next", "agents", "observation"] = then["observation"][until - 1, seat]
        part["next", "reward"] = torch.stack(paid)
        part["next", "done"] = part["next", "terminated"] = last
        parts.append(part)
    return torch.cat(parts)


def make_learner(size: int, actions: int) -> tuple[Actor, GAE, ClipPPOLoss]:
    """Policy, advantages and loss, for observations (…, size) and masks (…, actions)."""
    net = TensorDictModule(MLP(size, actions, num_cells=[64, 64]), [OBSERVATION], [LOGITS])
    how = {"distribution_class": MaskedCategorical, "return_log_prob": True}
    choice = Choice({"logits": LOGITS, "mask": MASK}, [ACTION], log_prob_key=LOG_PROB, **how)
    actor = Actor(net, choice)
    critic = TensorDictModule(MLP(size, 1, num_cells=[64, 64]), [OBSERVATION], ["state_value"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    loss.set_keys(action=ACTION, sample_log_prob=LOG_PROB)
    return actor, GAE(gamma=1.0, lmbda=0.95, value_network=critic), loss


def run(arguments: Arguments) -> Outcome:
    """Train, then seat the learner among players who choose at random."""
    torch.set_num_threads(1)  # with networks this small, more get in each other’s way
    torch.manual_seed(arguments.seed)
    sheet = ScoreSheet(arguments.game, num_players=arguments.num_players)
    env = PettingZooWrapper(sheet, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)
    env.set_seed(arguments.seed)
    size, actions = env.observation_spec[OBSERVATION].shape[-1], env.action_spec[ACTION].space.n
    actor, advantages, loss = make_learner(size, actions)
    optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)

    def among_random(tensordict: TensorDictBase) -> TensorDictBase:
        table = actor(tensordict)
        anything = torch.multinomial(table[MASK].float(), 1).squeeze(1)
        anything[0] = table[ACTION][0]
        return table.set(ACTION, anything)

    clock, returns = Clock(), []
    for update in range(arguments.updates + 1):
        policy = actor if update < arguments.updates else among_random
        with torch.no_grad():
            sessions = [env.rollout(200, policy) for _ in range(arguments.sessions)]
        returns += [s["next", "agents", "reward"].sum(0).flatten().tolist() for s in sessions]
        data = advantages(torch.cat([own_decisions(s) for s in sessions]))
        for _ in range(4 if policy is actor else 0):
            for batch in data[torch.randperm(len(data))].split(256):
                optimiser.zero_grad()
                sum(v for name, v in loss(batch).items() if name.startswith("loss_")).backward()
                optimiser.step()
    gains = [row[0] for row in returns[-arguments.sessions :]]
    print(f"the learner among random players: {mean(gains)} coins a session")
    return clock.outcome(sheet.moves, sheet.illegal, returns, sheet.sessions)


if __name__ == "__main__":
    print(run(tyro.cli(Arguments)))
