"""Train a learner by MaskablePPO, at one seat of each table among a mixture of baselines.

    python -m experiments.train_maskable_ppo --game bestia --run-dir runs/bestia

The run folder holds `arguments.json`, `metrics.jsonl` (a line an update), `tensorboard/`,
`checkpoint.pt`, and in the end `policy.safetensors` with its sidecar `policy.json`: a policy by
the spec `net:RUN_DIR/policy.safetensors`. Killed at any moment, the same command goes on from the
last checkpoint and ends as if nothing had happened. The same seed gives the same curve.
"""

from __future__ import annotations

import dataclasses
import io
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.run_folder import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from sb3_contrib import MaskablePPO

    from agents.learner_vec_env import LearnerVecEnv
    from agents.networks import Network

MODULE = "experiments.train_maskable_ppo"


@dataclass(frozen=True)
class Arguments:
    """Train a learner by MaskablePPO against a mixture of baselines."""

    run_dir: Path
    """Where everything goes; a folder of the same run is gone on with."""
    game: Literal["bestia", "beast"] = "bestia"
    """Which game."""
    num_players: int = 4
    """Seats, the learner's included."""
    total_steps: int = 2_500_000
    """The learner's decisions, rounded up to whole updates."""
    num_envs: int = 1024
    """Tables that are played at once."""
    seed: int = 0
    """Of everything: deals, opponents, weights, minibatches."""
    opponents: tuple[str, ...] = ()
    """Specs of the opponents, each with =WEIGHT if it is not 1; all baselines if none are given."""
    same_opponents: float = 1.0
    """The share of hands in which all opponents are copies of one."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE."""
    reward: Literal["equity", "coins"] = "equity"
    """What a hand pays, divided by its pot."""
    pots: tuple[str, ...] = ("1",)
    """Pots in opening pots, each with =WEIGHT if it is not 1."""
    sort_suits: bool = True
    """Let the network see trumps as the first suit, and the others in a fixed order."""
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
    checkpoint_every: int = 200_000
    """Steps between two checkpoints."""
    eval_deals: int = 20_000
    """Duplicate deals against each baseline when the training is done; 0 for none."""
    smoke: bool = False
    """A tiny budget, to see whether all runs."""


SMOKE: dict[str, Any] = {
    "total_steps": 512,
    "num_envs": 16,
    "hidden": (16,),
    "steps_per_update": 8,
    "batch_size": 64,
    "checkpoint_every": 256,
    "eval_deals": 50,
}
COUNTS = ("total_steps", "num_envs", "steps_per_update", "batch_size", "epochs", "checkpoint_every")
RANGES = (
    (COUNTS, 1, 10**12),
    (("seed",), 0, 2**32 - 1),
    (("eval_deals",), 0, 10**12),
    (("entropy", "gae_lambda", "same_opponents"), 0, 1),
    (("learning_rate", "clip"), 1e-9, 1),
)  # names, least and greatest values


def main() -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    import tyro

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = tyro.cli(Arguments, prog=f"python -m {MODULE}", description=__doc__)
    try:
        policy = train(arguments)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nstopped: the same command goes on from the last checkpoint", file=sys.stderr)
        sys.exit(130)
    print(f"policy spec: net:{policy}")


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's .safetensors file.

    Raises:
        ValueError: an argument is out of range, or the run folder belongs to other arguments or
            is damaged.
        OSError: the run folder cannot be written to, or is in use.
    """
    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **SMOKE, smoke=False)
    check(arguments)
    run = Run(arguments)
    if not run.is_finished():
        env = make_env(arguments)
        with run.open():
            model = make_model(arguments, env)
            seconds = learn(arguments, run, model, env, run.resume(model, env))
            export(arguments, run, model, seconds)
    report(run)
    return run.policy


def check(arguments: Arguments) -> None:
    """Raise a ValueError for a number that is out of range; the environment checks the rest."""
    for names, least, most in RANGES:
        for name in names:
            value = getattr(arguments, name)
            if not least <= value <= most:
                raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    if not arguments.hidden or min(arguments.hidden) < 1:
        raise ValueError(f"hidden must be widths of at least 1, not {arguments.hidden}")
    if arguments.eval_deals == 1:
        raise ValueError("eval_deals must be 0 or at least 2, not 1: one deal has no interval")
    _check_minibatches(arguments.num_envs * arguments.steps_per_update, arguments.batch_size)


def _check_minibatches(size: int, batch_size: int) -> None:
    """Advantages are divided by their deviation in the minibatch: a single one has none."""
    if size < 2:
        raise ValueError(f"num_envs times steps_per_update must be at least 2, not {size}")
    if batch_size == 1 or size % batch_size == 1:
        raise ValueError(
            f"batch_size must not leave a minibatch of a single one of the {size} decisions of "
            f"an update, as {batch_size} does"
        )


def make_env(arguments: Arguments) -> LearnerVecEnv:
    """The tables."""
    from agents.learner_vec_env import LearnerVecEnv
    from agents.rules import parse_rules

    return LearnerVecEnv(
        arguments.game,
        arguments.num_players,
        arguments.num_envs,
        opponents=weighted("opponents", arguments.opponents) or None,
        same_opponents=arguments.same_opponents,
        rules=parse_rules(arguments.game, arguments.rules),
        reward=arguments.reward,
        pots=weighted("pots", arguments.pots, multiple),
        sort_suits=arguments.sort_suits,
        seed=arguments.seed,
    )


def weighted(
    option: str, words: tuple[str, ...], parse: Callable[[str], Any] = str
) -> dict[Any, float]:
    """`("random=2", "tight")` as `{"random": 2.0, "tight": 1.0}`."""
    weights: dict[Any, float] = {}
    for word in words:
        name, equals, weight = word.partition("=")
        choice = parse(name)
        if choice in weights:
            raise ValueError(f"{option} must be different, but {name!r} is named twice")
        try:
            weights[choice] = float(weight) if equals else 1.0
        except ValueError:
            raise ValueError(f"{word!r}: the weight must be a number, not {weight!r}") from None
    return weights


def multiple(word: str) -> int:
    """A pot in opening pots."""
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"pots must be whole numbers of opening pots, not {word!r}") from None


def make_model(arguments: Arguments, env: LearnerVecEnv) -> MaskablePPO:
    """The learner; its learning rate and entropy bonus are set by `anneal`."""
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


# The training loop.


def learn(
    arguments: Arguments, run: Run, model: MaskablePPO, env: LearnerVecEnv, seconds: float
) -> float:
    """Update by update to the end; `seconds` were spent before, returns those spent in all."""
    size = arguments.num_envs * arguments.steps_per_update
    next_checkpoint = model.num_timesteps + arguments.checkpoint_every
    with run.logs(model.num_timesteps) as log, Display(arguments, model.num_timesteps) as display:
        while model.num_timesteps < arguments.total_steps:
            began, hands = time.perf_counter(), env.hands
            anneal(arguments, model)
            model.learn(size, reset_num_timesteps=False)
            duration = time.perf_counter() - began
            seconds += duration
            record = metrics(model, env.hands - hands, size / duration, seconds)
            log.write(record)
            display.show(record)
            if model.num_timesteps >= min(next_checkpoint, arguments.total_steps):
                run.save(model, env, seconds)
                next_checkpoint = model.num_timesteps + arguments.checkpoint_every
    return seconds


def anneal(arguments: Arguments, model: MaskablePPO) -> None:
    """Learning rate and entropy bonus fall in a straight line to zero."""
    left = 1 - model.num_timesteps / arguments.total_steps
    model.lr_schedule = lambda _: left * arguments.learning_rate
    model.ent_coef = left * arguments.entropy


def metrics(model: MaskablePPO, hands: int, speed: float, seconds: float) -> dict[str, float]:
    """What there is to say about an update."""
    from agents.estimates import Moments

    rewards = model.rollout_buffer.rewards  # zero but at the end of a hand
    reward = Moments(hands, float(rewards.sum()), float((rewards**2).sum())).estimate()
    trained = model.logger.name_to_value
    return {
        "steps": model.num_timesteps,
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
        "steps_per_second": speed,
        "seconds": seconds,
    }


class Display:
    """Progress: a bar on a terminal, else a line now and then."""

    def __init__(self, arguments: Arguments, steps: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.total = arguments.total_steps
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]} steps/s, {task.fields[reward]} pots/hand,"),
            TimeRemainingColumn(),
            TextColumn("left"),
            disable=not sys.stdout.isatty(),
        )
        self.task = self.progress.add_task(
            f"{arguments.game} {arguments.num_players}",
            total=self.total,
            completed=steps,
            speed="-",
            reward="-",
        )
        self.tenth = 10 * steps // self.total

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, record: dict[str, float]) -> None:
        """Show an update."""
        steps = min(int(record["steps"]), self.total)
        speed, reward = f"{record['steps_per_second']:,.0f}", f"{record['reward_mean']:+.3f}"
        self.progress.update(self.task, completed=steps, speed=speed, reward=reward)
        tenth = 10 * steps // self.total
        if self.progress.disable and tenth > self.tenth:
            print(f"{steps:,} steps, {speed} steps/s, {reward} pots/hand", flush=True)
        self.tenth = tenth


# What comes out.


def export(arguments: Arguments, run: Run, model: MaskablePPO, seconds: float) -> None:
    """Save the policy, evaluate it, and save it again with the result."""
    from agents.checkpoints import git_commit, versions
    from agents.networks import network_of_sb3, save_network
    from agents.rules import parse_rules

    network = network_of_sb3(
        model.policy, arguments.game, arguments.num_players, arguments.sort_suits
    )
    facts = {
        "command": command(arguments),
        "seed": arguments.seed,
        "steps": model.num_timesteps,
        "seconds": seconds,
        "versions": versions(),
        "git_commit": git_commit(),
        "rules": dataclasses.asdict(parse_rules(arguments.game, arguments.rules)),
        "reward": arguments.reward,
    }
    save_network(run.policy, network, **facts)
    save_network(run.policy, network, **facts, result=evaluate(arguments, network))


def command(arguments: Arguments) -> str:
    """The command line that these arguments stand for."""
    words = ["python", "-m", MODULE]
    for field in dataclasses.fields(arguments):
        value = getattr(arguments, field.name)
        if value == field.default:
            continue
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [flag, *map(str, value if isinstance(value, tuple) else [value])]
    return shlex.join(words)


def evaluate(arguments: Arguments, network: Network) -> list[dict[str, Any]]:
    """Pots per hand among copies of each baseline, on duplicate deals; empty for no deals."""
    from agents.arena import one_against_field
    from agents.policies import NETWORK, Policy, default_specs, parse_policy
    from agents.rules import parse_rules

    learner = Policy("learner", arguments.game, NETWORK, network=network)
    rows = []
    for spec in default_specs(arguments.game) if arguments.eval_deals else ():
        estimate = one_against_field(
            learner,
            parse_policy(spec, arguments.game, arguments.num_players),
            arguments.eval_deals,
            arguments.seed,
            num_players=arguments.num_players,
            rules=parse_rules(arguments.game, arguments.rules),
        )
        rows.append({"field": spec, **dataclasses.asdict(estimate)})
    return rows


def report(run: Run) -> None:
    """Print the evaluation."""
    from rich.console import Console
    from rich.table import Table

    result = run.result()
    if not result:
        return
    arguments = run.arguments
    table = Table(title=f"{arguments.game}, {arguments.num_players} players: the learner")
    table.add_column("among copies of")
    table.add_column("pots/hand", justify="right")
    table.add_column("95 %", justify="right")
    table.add_column("deals", justify="right")
    for row in result:
        table.add_row(
            row["field"],
            f"{row['mean']:+.4f}",
            f"± {row['half_width']:.4f}",
            f"{row['num_deals']:,}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
