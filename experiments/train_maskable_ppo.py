"""Train a learner by MaskablePPO, at one seat of each table among a mixture of baselines.

    python -m experiments.train_maskable_ppo --game bestia --run-dir runs/bestia

The familiar door: the learner of sb3-contrib on a `VecEnv` whose tables advance in one kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from experiments import training

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

    from agents.learner_vec_env import LearnerVecEnv
    from agents.networks import Network


@dataclass(frozen=True)
class Arguments(training.TrainingArguments):
    """Train a learner by MaskablePPO against a mixture of baselines."""

    MODULE: ClassVar = "experiments.train_maskable_ppo"
    SMOKE: ClassVar = {
        "total_steps": 512,
        "num_envs": 16,
        "hidden": (16,),
        "steps_per_update": 8,
        "batch_size": 64,
        "checkpoint_every": 256,
        "final_deals": 50,
    }
    RANGES: ClassVar[training.Ranges] = (
        (("num_envs", "steps_per_update", "batch_size", "epochs"), 1, 10**12),
        (("entropy", "gae_lambda", "same_opponents"), 0, 1),
        (("learning_rate", "clip"), 1e-9, 1),
    )

    num_envs: int = 1024
    """Tables that are played at once."""
    opponents: tuple[str, ...] = ()
    """Specs of the opponents, each with =WEIGHT if it is not 1; all baselines if none are given."""
    same_opponents: float = 1.0
    """The share of hands in which all opponents are copies of one."""
    reward: Literal["equity", "coins"] = "equity"
    """What a hand pays, divided by its pot."""
    pots: tuple[str, ...] = ("1",)
    """Pots in opening pots, each with =WEIGHT if it is not 1."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers, of the policy and of the critic alike."""
    steps_per_update: int = 16
    """Steps of every table between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    epochs: int = 3
    """Passes over the decisions of an update."""
    learning_rate: float = 2e-3
    """At the start; it falls to zero in a straight line."""
    entropy: float = 0.01
    """The entropy bonus at the start; it falls to zero in a straight line."""
    gae_lambda: float = 0.98
    """Of the generalised advantage estimate; gamma is 1."""
    clip: float = 0.2
    """PPO's clipping range."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range; the environment checks the rest."""
        super().check()
        training.check_widths(self.hidden)
        size = self.num_envs * self.steps_per_update
        if size < 2:
            raise ValueError(f"num_envs times steps_per_update must be at least 2, not {size}")
        if self.batch_size == 1 or size % self.batch_size == 1:
            raise ValueError(
                f"batch_size must not leave a minibatch of a single one of the {size} decisions "
                f"of an update, as {self.batch_size} does: advantages are divided by their "
                "deviation in it"
            )


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's file. See `training.run`."""
    return training.run(arguments, Learner)


class Learner:
    """The model and its tables, as a `training.Learner`.

    Attributes:
        model: of sb3-contrib.
        env: the tables.
    """

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.env = make_env(arguments)
        self.model = make_model(arguments, self.env)

    @property
    def steps(self) -> int:
        """The learner's decisions so far."""
        return self.model.num_timesteps

    @steps.setter
    def steps(self, steps: int) -> None:
        self.model.num_timesteps = steps

    def update(self) -> dict[str, float]:
        """Play and learn; learning rate and entropy bonus fall in a straight line to zero."""
        arguments, hands = self.arguments, self.env.hands
        left = 1 - self.steps / arguments.total_steps
        self.model.lr_schedule = lambda _: left * arguments.learning_rate
        self.model.ent_coef = left * arguments.entropy
        size = arguments.num_envs * arguments.steps_per_update
        self.model.learn(size, reset_num_timesteps=False)
        return metrics(self.model, self.env.hands - hands)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results."""
        import numpy as np
        import torch

        _, keys, place, *_ = np.random.get_state()
        return {
            "policy": self.model.policy.state_dict(),
            "optimizer": self.model.policy.optimizer.state_dict(),
            "tables": {name: torch.from_numpy(a) for name, a in self.env.snapshot().items()},
            "observations": torch.from_numpy(self.model._last_obs),
            "starts": torch.from_numpy(self.model._last_episode_starts),
            "torch_rng": torch.get_rng_state(),
            "numpy_rng": (torch.from_numpy(keys), place),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        import numpy as np
        import torch

        self.model.policy.load_state_dict(state["policy"])
        self.model.policy.optimizer.load_state_dict(state["optimizer"])
        self.env.restore({name: tensor.numpy() for name, tensor in state["tables"].items()})
        self.model._last_obs = state["observations"].numpy()
        self.model._last_episode_starts = state["starts"].numpy()
        torch.set_rng_state(state["torch_rng"])
        keys, place = state["numpy_rng"]
        np.random.set_state(("MT19937", keys.numpy(), place, 0, 0.0))

    def network(self) -> Network:
        """The policy so far."""
        from agents.networks import network_of_sb3

        a = self.arguments
        return network_of_sb3(self.model.policy, a.game, a.num_players, a.sort_suits)


def make_env(arguments: Arguments) -> LearnerVecEnv:
    """The tables."""
    from agents.learner_vec_env import LearnerVecEnv

    return LearnerVecEnv(
        arguments.game,
        arguments.num_players,
        arguments.num_envs,
        opponents=training.weighted("opponents", arguments.opponents) or None,
        same_opponents=arguments.same_opponents,
        rules=arguments.parsed_rules(),
        reward=arguments.reward,
        pots=training.weighted_pots(arguments.pots),
        sort_suits=arguments.sort_suits,
        seed=arguments.seed,
    )


def make_model(arguments: Arguments, env: LearnerVecEnv) -> MaskablePPO:
    """The learner; its learning rate and entropy bonus are set before each update."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import Logger

    torch.set_num_threads(1)  # more only get in each other's way
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=arguments.steps_per_update,
        batch_size=arguments.batch_size,
        n_epochs=arguments.epochs,
        learning_rate=arguments.learning_rate,
        gamma=1.0,
        gae_lambda=arguments.gae_lambda,
        clip_range=arguments.clip,
        policy_kwargs={
            "net_arch": list(arguments.hidden),
            "activation_fn": torch.nn.ReLU,
        },
        seed=arguments.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    return model


def metrics(model: MaskablePPO, hands: int) -> dict[str, float]:
    """What there is to say about an update."""
    from agents.estimates import Moments

    rewards = model.rollout_buffer.rewards  # zero but at the end of a hand
    reward = Moments(hands, float(rewards.sum()), float((rewards**2).sum())).estimate()
    trained = model.logger.name_to_value
    return {
        "hands": hands,
        "reward_mean": reward.mean,
        "reward_half_width": reward.half_width,
        "entropy": -float(trained["train/entropy_loss"]),
        "policy_loss": float(trained["train/policy_gradient_loss"]),
        "value_loss": float(trained["train/value_loss"]),
        "explained_variance": float(trained["train/explained_variance"]),
        "approx_kl": float(trained["train/approx_kl"]),
        "clip_fraction": float(trained["train/clip_fraction"]),
        "learning_rate": float(trained["train/learning_rate"]),
    }


if __name__ == "__main__":
    training.main(Arguments, train, __doc__)
