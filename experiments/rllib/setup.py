"""RLlib's configuration of PPO for a training of this project."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec

from experiments import training
from experiments.rllib.hands import HandsRunner, HandsToBatch
from experiments.rllib.module import ALL_SEATS, MaskedPerceptron
from experiments.rllib.seats import SeatsEnv, count_illegal

if TYPE_CHECKING:
    from experiments.train_rllib import Arguments

WAIT = 600  # seconds for hands: the first take a minute to compile
PROBE = 10  # seconds for a lost worker to answer again, in every update until it does
RESTARTS = 1_000_000  # as often as it takes


def make_config(arguments: Arguments) -> PPOConfig:
    """PPO on the new API stack: one module for all seats, one learner, workers that may be lost."""
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns of being the new stack
    a = arguments
    config = (
        PPOConfig()
        .environment(
            SeatsEnv,
            env_config=_tables(a) if a.batched else _table(a),
            disable_env_checking=True,  # it tries a random move, legal or not
        )
        .env_runners(
            num_env_runners=a.workers,
            sample_timeout_s=WAIT,
            batch_mode="complete_episodes",
        )
        .learners(num_learners=0)
        .fault_tolerance(
            restart_failed_env_runners=True,
            max_num_env_runner_restarts=RESTARTS,
            env_runner_health_probe_timeout_s=PROBE,
        )
        .multi_agent(policies={ALL_SEATS}, policy_mapping_fn=_module_of)
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    ALL_SEATS: RLModuleSpec(
                        module_class=MaskedPerceptron, model_config={"hidden": a.hidden}
                    )
                }
            )
        )
        .debugging(seed=a.seed, log_level="ERROR")
    )
    _set_learning(config, a)
    return _batched(config, a) if a.batched else config.callbacks(on_sample_end=count_illegal)


def _set_learning(config: PPOConfig, a: Arguments) -> None:
    config.training(
        gamma=1.0,
        lambda_=a.gae_lambda,
        lr=[[0, a.learning_rate], [a.total_steps, 0.0]],
        entropy_coeff=[[0, a.entropy], [a.total_steps, 0.0]],
        clip_param=a.clip,
        use_kl_loss=False,
        vf_loss_coeff=0.5,
        vf_clip_param=float("inf"),
        grad_clip=0.5,
        grad_clip_by="global_norm",
        train_batch_size_per_learner=a.steps_per_update,
        minibatch_size=min(a.batch_size, a.steps_per_update),
        num_epochs=a.epochs,
        shuffle_batch_per_epoch=not a.batched,  # whole hands are independent as they stand
    )


def _batched(config: PPOConfig, a: Arguments) -> PPOConfig:
    return config.env_runners(env_runner_cls=HandsRunner).learners(
        learner_connector=lambda *spaces: HandsToBatch(*spaces, gae_lambda=a.gae_lambda),
        add_default_connectors_to_learner_pipeline=False,
    )


def _module_of(agent: str, *others: Any, **keywords: Any) -> str:
    return ALL_SEATS


def _table(a: Arguments) -> dict[str, Any]:
    """What `SeatsEnv` takes."""
    return {"game": a.game, "num_players": a.num_players, "rules": a.parsed_rules()}


def _tables(a: Arguments) -> dict[str, Any]:
    """What `HandsRunner` takes."""
    return {
        **_table(a),
        "company": a.company(),
        "pots": training.weighted_pots(a.pots),
        "sort_suits": a.sort_suits,
        "seed": a.seed,
        "decisions": a.steps_per_update,
    }
