"""What trainings by self-play share: their arguments, the hands, and where they leave off.

Hands are played in one kernel on another thread, by the network of the update before, while torch
learns from the last ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from experiments import training

if TYPE_CHECKING:
    import numpy as np

    from agents.networks import Network
    from agents.self_play import Decisions


@dataclass(frozen=True)
class SelfPlayArguments(training.TrainingArguments):
    """What every training by self-play takes."""

    SMOKE: ClassVar = {
        "total_steps": 1024,
        "steps_per_update": 256,
        "batch_size": 64,
        "hidden": (16,),
        "checkpoint_every": 256,
        "final_deals": 50,
    }
    RANGES: ClassVar[training.Ranges] = (
        (("steps_per_update",), 1, 10**7),
        (("batch_size", "epochs", "past_every"), 1, 10**9),
        (("past_size",), 1, 1000),
        (("alone", "joined"), 0, 1),
        (("learning_rate",), 1e-9, 1),
        (("threads",), 1, 1024),
    )

    total_steps: int = 10_000_000
    """The learner's decisions, of all its seats, rounded up to whole updates."""
    alone: float = 0.9
    """The share of hands in which the learner sits alone among copies of an opponent."""
    joined: float = 0.05
    """The share of hands in which a single opponent joins the learners."""
    shared: bool = False
    """Let the learner's seats share alike what they win together, as a coalition does; each sees
    its own cards only."""
    cards: str = ""
    """The spec of a baseline or a network that plays the cards, while only bids are learned; the
    learner plays them if none is given. Evaluations are of the learner all the same, cards too."""
    opponents: tuple[str, ...] = ()
    """Specs of opponents, and `past` for past selves, each with =WEIGHT if it is not 1; all
    baselines and `past` if none are given."""
    past_every: int = 20
    """Updates between two past selves."""
    past_size: int = 10
    """Past selves that are kept, the latest."""
    pots: tuple[str, ...] = ("1",)
    """Pots in opening pots, each with =WEIGHT if it is not 1."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    steps_per_update: int = 16_384
    """Decisions between two updates, rounded up to whole hands."""
    batch_size: int = 2048
    """Decisions in a minibatch, about."""
    epochs: int = 3
    """Passes over the decisions of an update."""
    learning_rate: float = 2e-3
    """At the start; it falls to zero in a straight line."""
    threads: int = 1
    """Of torch; the hands have one of their own."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range."""
        super().check()
        training.check_widths(self.hidden)


class SelfPlayLearner(ABC):
    """A `training.Learner`, but for what it learns and how.

    Attributes:
        arguments: of the training.
        steps: decisions learned from so far.
        updates: how many there were.
        num_inputs: D.
        num_actions: A.
        past: parameters of past selves, the latest last.
    """

    def __init__(self, arguments: Any) -> None:
        import torch

        from agents.company import PAST, Company
        from agents.policies import default_specs
        from agents.self_play import SelfPlay

        self.arguments, self.steps, self.updates = arguments, 0, 0
        opponents = training.weighted("opponents", arguments.opponents) or dict.fromkeys(
            [*default_specs(arguments.game), PAST], 1.0
        )
        self.tables = SelfPlay(
            arguments.game,
            arguments.num_players,
            company=Company(
                arguments.alone, arguments.joined, opponents, arguments.shared, arguments.cards
            ),
            rules=arguments.parsed_rules(),
            pots=training.weighted_pots(arguments.pots),
            sort_suits=arguments.sort_suits,
            seed=arguments.seed,
        )
        self.num_inputs, self.num_actions = self.tables.num_inputs, self.tables.num_actions
        torch.set_num_threads(arguments.threads)
        torch.manual_seed(arguments.seed)
        self.past: list[np.ndarray] = []
        self._meets_past = opponents.get(PAST, 0.0) > 0
        self._thread = ThreadPoolExecutor(1)
        self._next_hand = 0
        self._playing: tuple[Network, Future[tuple[Decisions, int]]] | None = None

    # What a training by self-play says of itself.

    @abstractmethod
    def network(self) -> Network:
        """The policy so far."""

    @abstractmethod
    def learn(self, decisions: Decisions) -> dict[str, float]:
        """Learn from decisions, and say what there is to say about it."""

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """What is trained: whatever has a `state_dict`, by name."""

    # An update.

    @property
    def left(self) -> float:
        """How much of the training is left, from 1 to 0."""
        return max(0.0, 1 - self.steps / self.arguments.total_steps)

    def update(self) -> dict[str, float]:
        """Learn from the hands that were played last, while the next are played."""
        if self._playing is None:
            self._play(self.network())
        assert self._playing is not None
        decisions, self._next_hand = self._playing[1].result()
        network = self.network()
        if self._meets_past and self.updates and self.updates % self.arguments.past_every == 0:
            self.past = [*self.past, network.packed.parameters][-self.arguments.past_size :]
        self._play(network)
        record = self.learn(decisions)
        self.steps += decisions.num_rows
        self.updates += 1
        return {**against_opponents(decisions), **record}

    def _play(self, network: Network) -> None:
        future = self._thread.submit(
            self.tables.play,
            network,
            self.arguments.steps_per_update,
            self._next_hand,
            tuple(self.past),
        )
        self._playing = network, future

    def minibatches(self, count: int) -> Iterator[slice]:
        """For every epoch, parts of about `batch_size` in random order.

        Hands are independent and stand one after the other, so nothing is gained by shuffling.
        """
        import torch

        parts = max(1, round(count / self.arguments.batch_size))
        bounds = torch.linspace(0, count, parts + 1).long().tolist()
        for _ in range(self.arguments.epochs):
            for part in torch.randperm(parts).tolist():
                yield slice(bounds[part], bounds[part + 1])

    # Leaving off and going on.

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results."""
        import torch

        assert self._playing is not None
        player = self._playing[0]
        return {
            "parts": {name: part.state_dict() for name, part in self.parts().items()},
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

        for name, part in self.parts().items():
            part.load_state_dict(state["parts"][name])
        self.updates, self._next_hand = state["updates"], state["next_hand"]
        self.past = [parameters.numpy() for parameters in state["past"]]
        torch.set_rng_state(state["torch_rng"])
        a = self.arguments
        weights = tuple((matrix.numpy(), bias.numpy()) for matrix, bias in state["player"])
        self._play(Network(a.game, a.num_players, weights, "relu", a.sort_suits))


def against_opponents(decisions: Decisions) -> dict[str, float]:
    """The learner's mean return in pots where others sat too, of every seat that had a choice."""
    from agents.estimates import Moments
    from agents.self_play import LAST, LEARNER

    met = (decisions.following == LAST) & (decisions.fields != LEARNER)
    reward = Moments.of(decisions.returns[met].astype(float)).estimate()
    return {"reward_mean": reward.mean, "reward_half_width": reward.half_width}
