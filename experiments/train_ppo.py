"""Train one network for all seats by masked PPO in self-play.

    python -m experiments.train_ppo --game bestia --run-dir runs/bestia

Beside the clipped loss (Schulman et al. 2017) there are an entropy bonus, a pull towards a magnet
(MMD, Sokota et al. 2023, and its kin), and a critic that sees all cards (as in PerfectDou, Yang et
al. 2022); the policy never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from experiments import training
from experiments.self_play_training import SelfPlayArguments, SelfPlayLearner

if TYPE_CHECKING:
    import torch

    from agents.networks import Network
    from agents.self_play import Decisions

NEVER = -1e30  # the logit of what is not legal; an infinity would make NaN of 0 times itself


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


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, Ppo)


class Ppo(SelfPlayLearner):
    """The learner."""

    def __init__(self, arguments: Arguments) -> None:
        import torch

        from experiments.perceptron import perceptron

        super().__init__(arguments)
        sizes = self.num_inputs, arguments.hidden, self.num_actions
        self.actor, self.magnet = perceptron(*sizes, 0.01), perceptron(*sizes, 0.01)
        self.magnet.load_state_dict(self.actor.state_dict())
        seen = self.num_inputs + self.tables.num_others * arguments.oracle
        self.critic = perceptron(seen, arguments.hidden, 1, 1.0)
        self.optimizer = torch.optim.Adam(
            [*self.actor.parameters(), *self.critic.parameters()], eps=1e-5, fused=True
        )

    def network(self) -> Network:
        """The policy so far."""
        from experiments.perceptron import network_of

        a = self.arguments
        return network_of(self.actor, a.game, a.num_players, a.sort_suits)

    def parts(self) -> dict[str, Any]:
        """What is trained, by name."""
        names = ("actor", "critic", "magnet", "optimizer")
        return {name: getattr(self, name) for name in names}

    def learn(self, decisions: Decisions) -> dict[str, float]:
        """Epochs of minibatches over the decisions of an update."""
        import torch

        from agents.self_play import advantages

        arguments = self.arguments
        self._move_magnet()
        for group in self.optimizer.param_groups:
            group["lr"] = self.left * arguments.learning_rate
        batch = Batch(decisions, arguments.oracle)
        with torch.no_grad():
            values = self.critic(batch.seen)[:, 0]
            gains = torch.from_numpy(advantages(values.numpy(), decisions, arguments.gae_lambda))
            batch.targets = values + gains
            batch.advantages = (gains - gains.mean()) / (gains.std(correction=0) + 1e-8)
            if arguments.kl > 0:
                batch.magnet = self._magnet_log_probs(batch)
        records = [self._step(batch, part) for part in self.minibatches(decisions.num_rows)]
        record = {
            name: sum(record[name] for record in records) / len(records) for name in records[0]
        }
        record["explained_variance"] = 1 - (gains.var() / batch.targets.var()).item()
        return {**record, "learning_rate": self.left * arguments.learning_rate}

    def _magnet_log_probs(self, batch: Batch) -> torch.Tensor:
        import torch

        if self.arguments.magnet == "uniform":
            return torch.log_softmax(NEVER * batch.illegal, 1)
        return batch.log_probs_of(self.magnet, slice(0, len(batch.illegal)))

    def _step(self, batch: Batch, part: slice) -> dict[str, float]:
        import torch
        from torch import nn

        arguments = self.arguments
        log_probs = batch.log_probs_of(self.actor, part)
        probs = log_probs.exp()
        chosen = log_probs.gather(1, batch.chosen[part])[:, 0]
        drift = chosen - batch.log_probs[part]
        ratio, gain = drift.exp(), batch.advantages[part]
        clipped = ratio.clamp(1 - arguments.clip, 1 + arguments.clip)
        policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
        entropy = -(probs * log_probs).sum(1).mean()
        error = self.critic(batch.seen.part(part))[:, 0] - batch.targets[part]
        value_loss = error.square().mean()
        loss = policy_loss - self.left * arguments.entropy * entropy + 0.5 * value_loss
        record = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        if arguments.kl > 0:
            record["kl"] = (probs * (log_probs - batch.magnet[part])).sum(1).mean()
            loss = loss + self.left * arguments.kl * record["kl"]
        self.optimizer.zero_grad()
        loss.backward()
        for network in (self.actor, self.critic):
            nn.utils.clip_grad_norm_(network.parameters(), 0.5, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            record["approx_kl"] = (ratio - 1 - drift).mean()
            record["clip_fraction"] = ((ratio - 1).abs() > arguments.clip).float().mean()
        return {name: value.item() for name, value in record.items()}

    def _move_magnet(self) -> None:
        import torch

        arguments = self.arguments
        if arguments.magnet == "ema":
            with torch.no_grad():
                for old, new in zip(self.magnet.parameters(), self.actor.parameters(), strict=True):
                    old.lerp_(new, 1 - arguments.magnet_decay)
        elif self.updates % arguments.magnet_every == 0:
            self.magnet.load_state_dict(self.actor.state_dict())


class Batch:
    """The decisions of an update, as they are learned from.

    Few actions are ever legal, so all that is said of actions is said of the legal ones alone, of
    which there are at most L.

    Attributes:
        observations: N rows of length D.
        seen: N rows of length D, or D + others, what the critic sees.
        legal: (N, L) int64, the legal actions in ascending order, then others.
        illegal: (N, L) bool, are they others?
        chosen: (N, 1) int64, the place among them of the action taken.
        log_probs: (N,) float32, under the network that played.
        advantages: (N,) float32, normalised.
        targets: (N,) float32, pots, for the critic.
        magnet: (N, L) float32, log-probabilities of the magnet.
    """

    advantages: torch.Tensor
    targets: torch.Tensor
    magnet: torch.Tensor

    def __init__(self, decisions: Decisions, oracle: bool) -> None:
        import torch

        from experiments.perceptron import sparse_rows

        self.observations = self.seen = sparse_rows(decisions.observations)
        if oracle:
            self.seen = sparse_rows(decisions.observations, decisions.others)
        masks = torch.from_numpy(decisions.masks)
        most = int(masks.sum(1).max())
        self.legal = masks.byte().argsort(dim=1, descending=True, stable=True)[:, :most]
        self.illegal = masks.gather(1, self.legal).logical_not()
        actions = torch.from_numpy(decisions.actions)[:, None]
        self.chosen = (self.legal == actions).byte().argmax(1, keepdim=True)
        self.log_probs = torch.from_numpy(decisions.log_probs)

    def log_probs_of(self, actor: torch.nn.Sequential, part: slice) -> torch.Tensor:
        """(K, L) log-probabilities of the legal actions under a network."""
        import torch

        logits = actor(self.observations.part(part)).gather(1, self.legal[part])
        return torch.log_softmax(logits.masked_fill(self.illegal[part], NEVER), 1)


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
