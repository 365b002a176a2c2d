"""Train one network for all seats by masked PPO in self-play.

    python -m experiments.train_ppo --game bestia --run-dir runs/bestia

Beside the clipped loss (Schulman et al. 2017) there are an entropy bonus, a pull towards a magnet
(MMD, Sokota et al. 2023, and its kin), and a critic that sees all cards (as in PerfectDou, Yang et
al. 2022); the policy never does.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from experiments import training
from experiments.self_play_training import SelfPlayArguments, SelfPlayLearner

if TYPE_CHECKING:
    import torch

    from agents.networks import Network
    from agents.self_play import Decisions
    from agents.sparse import SparseRows
    from experiments.ppo_loss import Targets


@dataclass(frozen=True)
class Arguments(SelfPlayArguments):
    """Train one network for all seats by masked PPO in self-play."""

    MODULE: ClassVar = "experiments.train_ppo"
    RANGES: ClassVar[training.Ranges] = (
        *SelfPlayArguments.RANGES,
        (("magnet_every",), 1, 10**9),
        (("entropy", "kl", "gae_lambda", "magnet_decay"), 0, 1),
        (("clip",), 1e-9, 1),
    )

    start: str = ""
    """The spec of a network, whose weights are the first; those drawn by the seed if none is
    given."""
    oracle: bool = True
    """Let the critic see all cards while training."""
    entropy: float = 0.01
    """The entropy bonus at the start; it falls to zero in a straight line."""
    magnet: Literal["uniform", "ema", "refresh"] = "ema"
    """What the policy is drawn to: all legal actions alike, an exponential moving average of its
    weights, or a copy taken now and then."""
    kl: float = 0.0
    """The weight of the divergence from the magnet at the start; it falls like the entropy's."""
    magnet_decay: float = 0.98
    """Of the moving average, an update."""
    magnet_every: int = 50
    """Updates between two copies."""
    gae_lambda: float = 0.98
    """Of the generalised advantage estimate; gamma is 1."""
    clip: float = 0.2
    """PPO's clipping range."""

    def first_network(self) -> Network | None:
        """What the policy starts from; None for weights drawn by the seed.

        Raises:
            ValueError: `start` names no network, or one of another shape.
        """
        from agents.policies import parse_policy

        if not self.start:
            return None
        network = parse_policy(self.start, self.game, self.num_players).network
        if network is None:
            raise ValueError(f"start must be the spec of a network, not {self.start!r}")
        shape = {"hidden": [*self.hidden], "activation": "relu", "sort_suits": self.sort_suits}
        for name, value in shape.items():
            if network.architecture[name] != value:
                raise ValueError(
                    f"{self.start} has {name} {network.architecture[name]}, the training {value}"
                )
        return network


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, Ppo)


class Ppo(SelfPlayLearner):
    """The learner."""

    def __init__(self, arguments: Arguments) -> None:
        import torch

        from experiments.perceptron import perceptron, set_weights

        super().__init__(arguments)
        first = arguments.first_network()
        sizes = self.num_inputs, arguments.hidden, self.num_actions
        self.actor, self.magnet = perceptron(*sizes, 0.01), perceptron(*sizes, 0.01)
        if first is not None:
            set_weights(self.actor, first)
        self.magnet.load_state_dict(self.actor.state_dict())
        seen = self.num_inputs + self.tables.num_others * arguments.oracle
        self.critic = perceptron(seen, arguments.hidden, 1, 1.0)
        self.optimizers = {
            network: torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
            for network in (self.actor, self.critic)
        }
        self._beside = ThreadPoolExecutor(1)  # the critic learns beside the actor

    def network(self) -> Network:
        """The policy so far."""
        from experiments.perceptron import network_of

        a = self.arguments
        return network_of(self.actor, a.game, a.num_players, a.sort_suits)

    def parts(self) -> dict[str, Any]:
        """What is trained, by name."""
        return {
            "actor": self.actor,
            "critic": self.critic,
            "magnet": self.magnet,
            "actor_optimizer": self.optimizers[self.actor],
            "critic_optimizer": self.optimizers[self.critic],
        }

    def learn(self, decisions: Decisions) -> dict[str, float]:
        """Epochs of minibatches over the decisions of an update."""
        import torch

        from agents.self_play import advantages

        self._move_magnet()
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = self.left * self.arguments.learning_rate
        seen = decisions.seen if self.arguments.oracle else decisions.observations
        with torch.no_grad():
            values = self.critic(seen)[:, 0]
        gains = advantages(values.numpy(), decisions, self.arguments.gae_lambda)
        returns = values + torch.from_numpy(gains)
        targets = self._targets(decisions, (gains - gains.mean()) / (gains.std() + 1e-8))
        parts = [*self.minibatches(decisions.num_rows)]
        fitting = self._beside.submit(self._fit_critic, seen, returns, parts)
        record = self._improve_actor(decisions.observations, targets, parts)
        record["value_loss"] = fitting.result()
        record["explained_variance"] = 1 - float(gains.var() / returns.numpy().var())
        return {**record, "learning_rate": self.left * self.arguments.learning_rate}

    def _targets(self, decisions: Decisions, gains: np.ndarray) -> Targets:
        from experiments.ppo_loss import Targets

        magnet = self._magnet_logits(decisions.observations)
        return Targets(decisions.legal, decisions.actions, decisions.log_probs, gains, magnet)

    def _magnet_logits(self, observations: SparseRows) -> np.ndarray:
        """(N, A) float32, or no rows if there is no pull."""
        import torch

        if self.arguments.kl == 0:
            return np.empty((0, self.num_actions), np.float32)
        if self.arguments.magnet == "uniform":
            return np.zeros((observations.num_rows, self.num_actions), np.float32)
        with torch.no_grad():
            return self.magnet(observations).numpy()

    def _improve_actor(
        self, observations: SparseRows, targets: Targets, parts: list[slice]
    ) -> dict[str, float]:
        from experiments.ppo_loss import STATISTICS, Weights, policy_loss

        arguments = self.arguments
        weights = Weights(arguments.clip, self.left * arguments.entropy, self.left * arguments.kl)
        records = []
        for part in parts:
            logits = self.actor(observations.part(part))
            loss, record = policy_loss(logits, targets.part(part), weights)
            self._descend(self.actor, loss)
            records.append(record)
        named = [name for name in STATISTICS if name != "kl" or arguments.kl > 0]
        return {name: sum(record[name] for record in records) / len(records) for name in named}

    def _fit_critic(self, seen: SparseRows, returns: torch.Tensor, parts: list[slice]) -> float:
        losses = []
        for part in parts:
            loss = (self.critic(seen.part(part))[:, 0] - returns[part]).square().mean()
            self._descend(self.critic, 0.5 * loss)
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def _descend(self, network: torch.nn.Sequential, loss: torch.Tensor) -> None:
        from torch import nn

        optimizer = self.optimizers[network]
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 0.5, foreach=True)
        optimizer.step()

    def _move_magnet(self) -> None:
        import torch

        arguments = self.arguments
        if arguments.magnet == "ema":
            with torch.no_grad():
                for old, new in zip(self.magnet.parameters(), self.actor.parameters(), strict=True):
                    old.lerp_(new, 1 - arguments.magnet_decay)
        elif self.updates % arguments.magnet_every == 0:
            self.magnet.load_state_dict(self.actor.state_dict())


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
