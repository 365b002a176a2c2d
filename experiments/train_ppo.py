"""Train one network for all seats by masked PPO in self-play.

    python -m experiments.train_ppo --game bestia --run-dir runs/bestia

Whole hands are played in one kernel on another thread, by the network of the update before, while
torch learns from the last ones. Baselines and past selves join a share of the hands. Beside the
clipped loss (Schulman et al. 2017) there are an entropy bonus, a pull towards a magnet (MMD,
Sokota et al. 2023, and its kin), and a critic that sees all cards (as in PerfectDou, Yang et al.
2022); the policy never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from experiments import training

if TYPE_CHECKING:
    import numpy as np
    import torch

    from agents.networks import Network
    from agents.self_play import Decisions

MASKED = -1e4  # added to the logits of illegal actions


@dataclass(frozen=True)
class Arguments(training.TrainingArguments):
    """Train one network for all seats by masked PPO in self-play."""

    MODULE: ClassVar = "experiments.train_ppo"
    SMOKE: ClassVar = {
        "total_steps": 1024,
        "steps_per_update": 256,
        "batch_size": 64,
        "hidden": (16,),
        "checkpoint_every": 256,
        "final_deals": 50,
    }
    RANGES: ClassVar = (
        (("steps_per_update", "batch_size", "epochs"), 1, 10**9),
        (("past_every", "past_size", "magnet_every"), 1, 10**9),
        (("entropy", "kl", "gae_lambda", "magnet_decay"), 0, 1),
        (("learning_rate", "clip"), 1e-9, 1),
        (("threads",), 1, 1024),
    )

    total_steps: int = 10_000_000
    """The learner's decisions, of all its seats, rounded up to whole updates."""
    opponents: tuple[str, ...] = ()
    """Specs of the baselines, each with =WEIGHT if it is not 1; all of them if none are given."""
    baselines: float = 0.3
    """The share of hands with copies of a baseline."""
    past: float = 0.1
    """The share of hands with copies of a past self."""
    past_every: int = 20
    """Updates between two past selves."""
    past_size: int = 10
    """Past selves that are kept, the latest."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers, of the policy and of the critic alike."""
    oracle: bool = True
    """Let the critic see all cards while training."""
    steps_per_update: int = 32_768
    """Decisions between two updates, rounded up to whole hands."""
    batch_size: int = 4096
    """Decisions in a minibatch, about."""
    epochs: int = 4
    """Passes over the decisions of an update."""
    learning_rate: float = 1e-3
    """At the start; it falls to zero in a straight line."""
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
    threads: int = 1
    """Of torch; the hands have one of their own."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range."""
        super().check()
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden must be widths of at least 1, not {self.hidden}")


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, Ppo)


class Ppo:
    """The learner.

    Attributes:
        steps: decisions learned from so far.
    """

    def __init__(self, arguments: Arguments) -> None:
        import torch

        from agents.mixtures import weights
        from agents.policies import default_specs
        from agents.self_play import Company, SelfPlay
        from bestia_env.games import game_named
        from bestia_env.observe import layout
        from experiments.perceptron import perceptron

        self.arguments, self.steps, self.updates = arguments, 0, 0
        specs = training.weighted("opponents", arguments.opponents)
        self.tables = SelfPlay(
            arguments.game,
            arguments.num_players,
            company=Company(
                arguments.baselines, arguments.past, weights(specs or default_specs(arguments.game))
            ),
            rules=arguments.parsed_rules(),
            pots=arguments.parsed_pots(),
            sort_suits=arguments.sort_suits,
            seed=arguments.seed,
        )
        torch.set_num_threads(arguments.threads)
        torch.manual_seed(arguments.seed)
        size, actions = (
            layout(arguments.game, arguments.num_players).size,
            game_named(arguments.game).num_actions,
        )
        self.actor = perceptron(size, arguments.hidden, actions, 0.01)
        seen = size + self.tables.num_others * arguments.oracle
        self.critic = perceptron(seen, arguments.hidden, 1, 1.0)
        self.optimizer = torch.optim.Adam(
            [*self.actor.parameters(), *self.critic.parameters()], eps=1e-5, foreach=True
        )
        self.magnet = perceptron(size, arguments.hidden, actions, 0.01)
        self.magnet.load_state_dict(self.actor.state_dict())
        self.past: list[np.ndarray] = []
        self._thread = ThreadPoolExecutor(1)
        self._next_hand = 0
        self._playing: tuple[Network, Future[tuple[Decisions, int]]] | None = None

    def network(self) -> Network:
        """The policy so far."""
        from experiments.perceptron import network_of

        a = self.arguments
        return network_of(self.actor, a.game, a.num_players, a.sort_suits)

    # An update.

    def update(self) -> dict[str, float]:
        """Learn from the hands that were played last, while the next are played."""
        if self._playing is None:
            self._play(self.network())
        assert self._playing is not None
        decisions, self._next_hand = self._playing[1].result()
        self._remember()
        self._play(self.network())
        left = max(0.0, 1 - self.steps / self.arguments.total_steps)
        record = self._learn(Batch(decisions, self.arguments.oracle), left)
        self.steps += len(decisions)
        self.updates += 1
        return {**against_baselines(decisions, self.arguments), **record}

    def _play(self, network: Network) -> None:
        future = self._thread.submit(
            self.tables.play,
            network,
            self.arguments.steps_per_update,
            self._next_hand,
            tuple(self.past),
        )
        self._playing = network, future

    def _learn(self, batch: Batch, left: float) -> dict[str, float]:
        import torch

        from agents.self_play import advantages

        arguments = self.arguments
        for group in self.optimizer.param_groups:
            group["lr"] = left * arguments.learning_rate
        with torch.no_grad():
            values = self.critic(batch.seen)[:, 0]
            found = advantages(values.numpy(), batch.decisions, arguments.gae_lambda)
            batch.advantages = torch.from_numpy(found)
            batch.targets = values + batch.advantages
            batch.advantages = normalised(batch.advantages)
            if arguments.kl > 0:
                batch.magnet = self._magnet_log_probs(batch)
        sums: dict[str, float] = {}
        count = 0
        for _ in range(arguments.epochs):
            for part in minibatches(len(batch.decisions), arguments.batch_size):
                for name, value in self._step(batch, part, left).items():
                    sums[name] = sums.get(name, 0.0) + value
                count += 1
        record = {name: value / count for name, value in sums.items()}
        spread = batch.targets.var().item()
        record["explained_variance"] = 1 - (batch.targets - values).var().item() / spread
        return {**record, "learning_rate": left * arguments.learning_rate}

    def _magnet_log_probs(self, batch: Batch) -> torch.Tensor:
        import torch

        if self.arguments.magnet == "uniform":
            return torch.log_softmax(batch.bias, 1)
        return torch.log_softmax(self.magnet(batch.observations) + batch.bias, 1)

    def _step(self, batch: Batch, part: slice, left: float) -> dict[str, float]:
        import torch
        from torch import nn

        arguments = self.arguments
        logits = self.actor(batch.observations[part]) + batch.bias[part]
        log_probs, probs = torch.log_softmax(logits, 1), torch.softmax(logits, 1)
        chosen = log_probs.gather(1, batch.actions[part])[:, 0]
        drift = chosen - batch.log_probs[part]
        ratio, gain = drift.exp(), batch.advantages[part]
        clipped = ratio.clamp(1 - arguments.clip, 1 + arguments.clip)
        policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
        entropy = -(probs * log_probs).sum(1).mean()
        error = self.critic(batch.seen[part])[:, 0] - batch.targets[part]
        value_loss = error.square().mean()
        loss = policy_loss - left * arguments.entropy * entropy + 0.5 * value_loss
        record = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        if arguments.kl > 0:
            record["kl"] = (probs * (log_probs - batch.magnet[part])).sum(1).mean()
            loss = loss + left * arguments.kl * record["kl"]
        self.optimizer.zero_grad()
        loss.backward()
        for network in (self.actor, self.critic):
            nn.utils.clip_grad_norm_(network.parameters(), 0.5, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            record["approx_kl"] = (ratio - 1 - drift).mean()
            record["clip_fraction"] = ((ratio - 1).abs() > arguments.clip).float().mean()
        return {name: value.item() for name, value in record.items()}

    def _remember(self) -> None:
        """Move the magnet, and keep past selves."""
        import torch

        arguments = self.arguments
        if arguments.magnet == "ema":
            with torch.no_grad():
                for old, new in zip(self.magnet.parameters(), self.actor.parameters(), strict=True):
                    old.lerp_(new, 1 - arguments.magnet_decay)
        elif self.updates % arguments.magnet_every == 0:
            self.magnet.load_state_dict(self.actor.state_dict())
        if self.updates % arguments.past_every == 0 < arguments.past * self.updates:
            self.past = [*self.past, self.network().packed.parameters][-arguments.past_size :]

    # Leaving off and going on.

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results."""
        import torch

        assert self._playing is not None
        player, future = self._playing
        future.result()  # nothing is left in the air
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "magnet": self.magnet.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "updates": self.updates,
            "past": [torch.from_numpy(parameters) for parameters in self.past],
            "player": [[torch.from_numpy(part) for part in layer] for layer in player.weights],
            "next_hand": self._next_hand,
            "torch_rng": torch.get_rng_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        import torch

        from agents.networks import Network

        for name in ("actor", "critic", "magnet", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        self.updates, self._next_hand = state["updates"], state["next_hand"]
        self.past = [parameters.numpy() for parameters in state["past"]]
        torch.set_rng_state(state["torch_rng"])
        a = self.arguments
        weights = tuple((matrix.numpy(), bias.numpy()) for matrix, bias in state["player"])
        self._play(Network(a.game, a.num_players, weights, "relu", a.sort_suits))


class Batch:
    """The decisions of an update, as tensors that share their memory.

    Attributes:
        decisions: the same as arrays.
        observations: (N, D) float32.
        seen: (N, D) or (N, D + others) float32, what the critic sees.
        bias: (N, A) float32, 0 for legal actions, else MASKED.
        actions: (N, 1) int64.
        log_probs: (N,) float32, under the network that played.
        advantages: (N,) float32, normalised.
        targets: (N,) float32, pots, for the critic.
        magnet: (N, A) float32, log-probabilities of the magnet.
    """

    advantages: torch.Tensor
    targets: torch.Tensor
    magnet: torch.Tensor

    def __init__(self, decisions: Decisions, oracle: bool) -> None:
        import torch

        self.decisions = decisions
        self.observations = torch.from_numpy(decisions.observations)
        self.seen = self.observations
        if oracle:
            self.seen = torch.cat([self.observations, torch.from_numpy(decisions.others)], 1)
        self.bias = torch.from_numpy(decisions.masks).logical_not() * MASKED
        self.actions = torch.from_numpy(decisions.actions)[:, None]
        self.log_probs = torch.from_numpy(decisions.log_probs)


def normalised(advantages: torch.Tensor) -> torch.Tensor:
    """Of mean 0 and deviation 1."""
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def minibatches(count: int, size: int) -> Iterator[slice]:
    """Parts of about this size in random order; hands are independent and stay whole but few."""
    import torch

    parts = max(1, round(count / size))
    bounds = torch.linspace(0, count, parts + 1).long().tolist()
    for part in torch.randperm(parts).tolist():
        yield slice(bounds[part], bounds[part + 1])


def against_baselines(decisions: Decisions, arguments: Arguments) -> dict[str, float]:
    """The learner's mean return where baselines sat, of every seat that had a choice: pots."""
    from agents.estimates import Moments
    from agents.policies import default_specs
    from agents.self_play import LAST, LEARNER

    baselines = len(arguments.opponents or default_specs(arguments.game))
    met = (decisions.following == LAST) & (decisions.fields != LEARNER)
    met &= decisions.fields <= baselines
    reward = Moments.of(decisions.returns[met].astype(float)).estimate()
    return {"reward_mean": reward.mean, "reward_half_width": reward.half_width}


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
