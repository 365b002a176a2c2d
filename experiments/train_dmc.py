"""Train one network for all seats by deep Monte Carlo, in the manner of DouZero (Zha et al. 2021).

    python -m experiments.train_dmc --game bestia --run-dir runs/bestia-dmc

The network says what each action is worth, and learns it from nothing but what hands came to pay.
Where DouZero plays the best action but for a random one now and then, here actions are drawn by
their worth, `exp(worth / temperature)`: a bidder who always does the same is easily read. The
policy that comes out plays at the last temperature.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from experiments import training
from experiments.self_play_training import SelfPlayArguments, SelfPlayLearner

if TYPE_CHECKING:
    import torch

    from agents.networks import Network
    from agents.self_play import Decisions
    from agents.sparse import SparseRows


@dataclass(frozen=True)
class Arguments(SelfPlayArguments):
    """Train one network for all seats by deep Monte Carlo."""

    MODULE: ClassVar = "experiments.train_dmc"
    RANGES: ClassVar[training.Ranges] = (
        *SelfPlayArguments.RANGES,
        (("temperature", "last_temperature"), 1e-3, 100),
    )

    epochs: int = 2
    """Passes over the decisions of an update."""
    temperature: float = 0.1
    """Pots: how much worse an action is that is drawn e times less often, at the start."""
    last_temperature: float = 0.01
    """The same at the end; it falls by the same factor in every update."""


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, Dmc)


class Dmc(SelfPlayLearner):
    """The learner."""

    def __init__(self, arguments: Arguments) -> None:
        import torch

        from experiments.perceptron import perceptron

        super().__init__(arguments)
        self.values = perceptron(self.num_inputs, arguments.hidden, self.num_actions, 0.01)
        self.optimizer = torch.optim.Adam(self.values.parameters(), fused=True)

    def network(self) -> Network:
        """The policy so far: the worth of actions divided by the temperature."""
        from experiments.perceptron import network_of

        a = self.arguments
        temperature = a.temperature * (a.last_temperature / a.temperature) ** (1 - self.left)
        return network_of(self.values, a.game, a.num_players, a.sort_suits, 1 / temperature)

    def learn(self, decisions: Decisions) -> dict[str, float]:
        """Learn what the actions taken came to pay."""
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = self.left * self.arguments.learning_rate
        actions = torch.from_numpy(decisions.actions)[:, None]
        returns = torch.from_numpy(decisions.returns)
        losses = [
            self._step(decisions.observations.part(part), actions[part], returns[part])
            for part in self.minibatches(decisions.num_rows)
        ]
        return {"value_loss": sum(losses) / len(losses)}

    def _step(
        self, observations: SparseRows, actions: torch.Tensor, returns: torch.Tensor
    ) -> float:
        worth = self.values(observations).gather(1, actions)[:, 0]
        loss = (worth - returns).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def parts(self) -> dict[str, Any]:
        """What is trained, by name."""
        return {"values": self.values, "optimizer": self.optimizer}


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
