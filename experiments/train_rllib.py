"""Train one network for all seats by masked PPO in self-play on Ray, on one machine or many.

    python -m experiments.train_rllib --game bestia --run-dir runs/ray --workers 2
    python -m experiments.train_rllib --run-dir runs/ray-64 --workers 64 --address HEAD:6379

Needs .venv-rllib (`make install-rllib`). Workers play whole hands in kernels, and one learner,
where this runs, learns; a worker that is lost is started anew and the training goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from experiments import training

if TYPE_CHECKING:
    from agents.networks import Network


@dataclass(frozen=True)
class Arguments(training.TrainingArguments):
    """Train one network for all seats by masked PPO in self-play on Ray's RLlib."""

    MODULE: ClassVar = "experiments.train_rllib"
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
        (("batch_size", "epochs"), 1, 10**9),
        (("workers",), 0, 10_000),
        (("alone", "joined", "entropy", "gae_lambda"), 0, 1),
        (("learning_rate", "clip"), 1e-9, 1),
        (("threads",), 1, 1024),
    )

    total_steps: int = 2_500_000
    """The learner's decisions, of all its seats, rounded up to whole updates."""
    workers: int = 1
    """Who play, each on a CPU; with 0 the learner plays too. Results depend on their number."""
    address: str = ""
    """Of the head of a Ray cluster; a Ray of this machine's own if none is given."""
    batched: bool = True
    """Play whole hands in kernels; else RLlib's own runners step a table each, which is thirty
    times slower and takes neither opponents nor sorted suits."""
    alone: float = 0.0
    """The share of hands in which the learner sits alone among copies of an opponent."""
    joined: float = 0.0
    """The share of hands in which a single opponent joins the learners."""
    opponents: tuple[str, ...] = ()
    """Specs of opponents, each with =WEIGHT if it is not 1; all baselines if none are given."""
    pots: tuple[str, ...] = ("1",)
    """Pots in opening pots, each with =WEIGHT if it is not 1."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    steps_per_update: int = 16_384
    """Decisions between two updates, rounded up to whole hands."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    epochs: int = 3
    """Passes over the decisions of an update."""
    learning_rate: float = 2e-3
    """At the start; it falls to zero in a straight line."""
    entropy: float = 0.01
    """The entropy bonus at the start; it falls likewise."""
    gae_lambda: float = 0.98
    """Of the generalised advantage estimate; gamma is 1."""
    clip: float = 0.2
    """PPO's clipping range."""
    threads: int = 1
    """Of torch, where the learner is."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range."""
        super().check()
        training.check_widths(self.hidden)
        stepped = not self.batched
        if stepped and (self.sort_suits or self.alone + self.joined > 0 or self.pots != ("1",)):
            raise ValueError(
                "RLlib's own runners take neither sorted suits nor opponents nor pots: give "
                "--no-sort-suits with --no-batched, or leave batched on"
            )

    def company(self) -> dict[str, Any]:
        """What `agents.company.Company` takes.

        Raises:
            ValueError: past selves are asked for.
        """
        from agents.company import PAST
        from agents.policies import default_specs

        opponents = training.weighted("opponents", self.opponents)
        if PAST in opponents:
            raise ValueError(f"opponents may not be {PAST!r}: workers keep no past selves")
        if self.alone + self.joined > 0 and not opponents:
            opponents = dict.fromkeys(default_specs(self.game), 1.0)
        return {"alone": self.alone, "joined": self.joined, "opponents": opponents}


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`.

    Raises:
        ValueError: as `training.run`, or Ray is not installed.
        ConnectionError: no cluster is at the address.
    """
    from agents.cluster import connected

    with connected(arguments.address, max(1, arguments.workers)):
        return training.run(arguments, RllibPpo)


class RllibPpo:
    """The learner, a `training.Learner`.

    Attributes:
        arguments: of the training.
        steps: decisions so far.
        algorithm: RLlib's.
    """

    def __init__(self, arguments: Arguments) -> None:
        import torch

        from experiments.rllib.setup import make_config

        self.arguments, self.steps = arguments, 0
        torch.set_num_threads(arguments.threads)
        self.algorithm = make_config(arguments).build_algo()

    def update(self) -> dict[str, float]:
        """Play and learn for one update.

        Raises:
            RuntimeError: every worker is lost.
        """
        result = self.algorithm.train()
        played = result.get("env_runners", {})
        decided = int(played.get("num_env_steps_sampled", 0))
        if not decided:
            raise RuntimeError("no worker played: all are lost, and none could be started anew")
        self.steps += decided
        return _record(played, result["learners"], self.num_restarts())

    def num_restarts(self) -> int:
        """How often a worker was started anew."""
        return int(self.algorithm.env_runner_group.num_remote_worker_restarts())

    def network(self) -> Network:
        """The policy so far."""
        from experiments.rllib.module import network_of

        a = self.arguments
        return network_of(self._module().get_state(), a.game, a.num_players, a.sort_suits)

    def _module(self) -> Any:
        from experiments.rllib.module import ALL_SEATS

        return self._learner().module[ALL_SEATS]

    def _learner(self) -> Any:
        return self.algorithm.learner_group._learner

    def state(self) -> dict[str, Any]:
        """All that is needed to go on."""
        import torch

        return {
            "module": self._module().state_dict(),
            "optimizers": {
                name: optimizer.state_dict()
                for name, optimizer in self._learner()._named_optimizers.items()
            },
            "updates": self._learner()._weights_seq_no,
            "steps": self.steps,
            "torch_rng": torch.get_rng_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        import torch

        learner = self._learner()
        self._module().load_state_dict(state["module"])
        for name, optimizer in learner._named_optimizers.items():
            optimizer.load_state_dict(state["optimizers"][name])
        learner._weights_seq_no = state["updates"]
        self.algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.algorithm.learner_group, inference_only=True
        )
        self._set_schedules(state["steps"])
        torch.set_rng_state(state["torch_rng"])

    def _set_schedules(self, steps: int) -> None:
        """RLlib's schedules go by what its metrics say was sampled."""
        from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME
        from ray.rllib.utils.metrics.metrics_logger import MetricsLogger

        from experiments.rllib.module import ALL_SEATS

        sampled = MetricsLogger(stats_cls_lookup=self.algorithm.config.stats_cls_lookup, root=False)
        sampled.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum")
        self.algorithm.metrics.aggregate([sampled.reduce()], key=ENV_RUNNER_RESULTS)
        self._learner().entropy_coeff_schedulers_per_module[ALL_SEATS].update(timestep=steps)


def _record(
    played: Mapping[str, Any], learned: Mapping[str, Any], restarts: int
) -> dict[str, float]:
    """What there is to say about an update, of all that RLlib says."""
    from experiments.rllib.module import ALL_SEATS

    learned = learned[ALL_SEATS]
    record = {
        "illegal_moves": played["illegal_moves"],
        "policy_loss": learned["policy_loss"],
        "value_loss": learned["vf_loss"],
        "explained_variance": learned["vf_explained_var"],
        "entropy": learned["entropy"],
        "learning_rate": learned["default_optimizer_learning_rate"],
        "worker_restarts": restarts,
    }
    for name in ("num_hands_sampled", "reward_mean"):
        if name in played:
            record[name] = played[name]
    return {name: float(value) for name, value in record.items()}


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
