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
import json
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
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
RANGES = (
    (("total_steps", "num_envs", "steps_per_update", "batch_size", "epochs"), 1, 10**12),
    (("checkpoint_every",), 1, 10**12),
    (("seed",), 0, 2**32 - 1),
    (("eval_deals",), 0, 10**12),
    (("learning_rate", "entropy", "gae_lambda", "clip", "same_opponents"), 0, 1),
)  # names, least and greatest values
FREE = ("run_dir", "checkpoint_every")  # may differ when a run goes on


def main() -> None:
    """Read the command line, train, and say where the policy is."""
    import tyro

    arguments = tyro.cli(Arguments, description=__doc__)
    try:
        policy = train(arguments)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("\nstopped: the same command goes on from the last checkpoint")
    print(f"policy spec: net:{policy}")


def train(arguments: Arguments) -> Path:
    """Train, export and evaluate; returns the policy's .safetensors file.

    Raises:
        ValueError: an argument is out of range, or the run folder belongs to other arguments.
        OSError: the run folder cannot be written to.
    """
    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **SMOKE, smoke=False)
    check(arguments)
    run = Run(arguments)
    if not run.is_finished():
        env = make_env(arguments)
        run.open()
        model = make_model(arguments, env)
        seconds = run.resume(model, env)
        learn(arguments, run, model, env, seconds)
        export(arguments, run, model)
    report(run)
    return run.policy


def check(arguments: Arguments) -> None:
    """Raise a ValueError for a number that is out of range; the environment checks the rest."""
    for names, least, most in RANGES:
        for name in names:
            value = getattr(arguments, name)
            if not least <= value <= most:
                raise ValueError(f"{name} must be from {least:g} to {most:g}, not {value}")
    if not arguments.hidden or min(arguments.hidden) < 1:
        raise ValueError(f"hidden must be widths of at least 1, not {arguments.hidden}")
    if arguments.eval_deals == 1 or arguments.num_envs * arguments.steps_per_update == 1:
        raise ValueError("a single deal has no interval, and a single decision makes no update")


def make_env(arguments: Arguments) -> LearnerVecEnv:
    """The tables."""
    from agents.learner_vec_env import LearnerVecEnv
    from agents.rules import parse_rules

    return LearnerVecEnv(
        arguments.game,
        arguments.num_players,
        arguments.num_envs,
        opponents=weighted(arguments.opponents) or None,
        same_opponents=arguments.same_opponents,
        rules=parse_rules(arguments.game, arguments.rules),
        reward=arguments.reward,
        pots={multiple(size): weight for size, weight in weighted(arguments.pots).items()},
        sort_suits=arguments.sort_suits,
        seed=arguments.seed,
    )


def weighted(words: tuple[str, ...]) -> dict[str, float]:
    """`("random=2", "tight")` as `{"random": 2.0, "tight": 1.0}`."""
    weights = {}
    for word in words:
        name, equals, weight = word.partition("=")
        try:
            weights[name] = float(weight) if equals else 1.0
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
) -> None:
    """Update by update to the end; `seconds` were spent before."""
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


# The run folder.


class Run:
    """A run folder."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.folder = arguments.run_dir
        self.policy = self.folder / "policy.safetensors"
        self.checkpoint = self.folder / "checkpoint.pt"
        self.metrics = self.folder / "metrics.jsonl"
        self._arguments_file = self.folder / "arguments.json"

    def open(self) -> None:
        """Make the folder ours.

        Raises:
            ValueError: it belongs to a run with other arguments, or to no run at all.
            OSError: it cannot be written to.
        """
        from agents.checkpoints import write_whole

        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_owner()
        for half_written in self.folder.glob(".*.tmp"):
            half_written.unlink()
        text = json.dumps(self._facts(), indent=2)
        write_whole(self._arguments_file, f"{text}\n".encode())

    def is_finished(self) -> bool:
        """Is everything done, the evaluation too?"""
        self._check_owner()
        sidecar = self.policy.with_suffix(".json")
        return sidecar.exists() and "result" in json.loads(sidecar.read_text(encoding="utf-8"))

    def _check_owner(self) -> None:
        if not self._arguments_file.exists():
            if self.folder.exists() and any(
                not file.name.startswith(".") for file in self.folder.iterdir()
            ):
                raise ValueError(f"{self.folder} is not empty and holds no training run")
            return
        before = json.loads(self._arguments_file.read_text(encoding="utf-8"))
        now = json.loads(json.dumps(self._facts()))
        names = sorted(
            name for name in {*before, *now} - {*FREE} if before.get(name) != now.get(name)
        )
        if names:
            words = ", ".join(f"{k} was {before.get(k)!r}, is {now.get(k)!r}" for k in names)
            raise ValueError(f"{self.folder} belongs to a run with other arguments: {words}")

    def _facts(self) -> dict[str, Any]:
        """The arguments, and the observation layout that they were used with."""
        from bestia_env.observe import layout

        facts = {**dataclasses.asdict(self.arguments), "run_dir": str(self.folder)}
        return {**facts, "layout": layout(self.arguments.game, self.arguments.num_players).hash}

    def save(self, model: MaskablePPO, env: LearnerVecEnv, seconds: float) -> None:
        """Write all that is needed to go on exactly as if nothing had happened."""
        import numpy as np
        import torch

        from agents.checkpoints import write_whole

        _, keys, place, *_ = np.random.get_state()
        everything = {
            "steps": model.num_timesteps,
            "seconds": seconds,
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "tables": {name: torch.from_numpy(a) for name, a in env.snapshot().items()},
            "observations": torch.from_numpy(model._last_obs),
            "starts": torch.from_numpy(model._last_episode_starts),
            "torch_rng": torch.get_rng_state(),
            "numpy_rng": (torch.from_numpy(keys), place),
        }
        content = io.BytesIO()
        torch.save(everything, content)
        write_whole(self.checkpoint, content.getvalue())

    def resume(self, model: MaskablePPO, env: LearnerVecEnv) -> float:
        """Go on from the checkpoint if there is one; returns the seconds spent before."""
        import numpy as np
        import torch

        if not self.checkpoint.exists():
            return 0.0
        saved = torch.load(self.checkpoint, weights_only=True)
        model.num_timesteps = saved["steps"]
        model.policy.load_state_dict(saved["policy"])
        model.policy.optimizer.load_state_dict(saved["optimizer"])
        env.restore({name: tensor.numpy() for name, tensor in saved["tables"].items()})
        model._last_obs = saved["observations"].numpy()
        model._last_episode_starts = saved["starts"].numpy()
        torch.set_rng_state(saved["torch_rng"])
        keys, place = saved["numpy_rng"]
        np.random.set_state(("MT19937", keys.numpy(), place, 0, 0.0))
        print(f"going on from step {model.num_timesteps:,}")
        return saved["seconds"]

    def logs(self, steps: int) -> Logs:
        """Logs that begin after so many steps; what they held beyond is dropped."""
        from agents.checkpoints import write_whole

        kept = [line for line in self.records() if line["steps"] <= steps]
        text = "".join(f"{json.dumps(line)}\n" for line in kept)
        write_whole(self.metrics, text.encode())
        return Logs(self.metrics, self.folder / "tensorboard", steps)

    def records(self) -> list[dict[str, float]]:
        """The lines of the log that are whole."""
        if not self.metrics.exists():
            return []
        lines = self.metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]


class Logs:
    """The metrics as JSON lines and for TensorBoard."""

    def __init__(self, metrics: Path, tensorboard: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.file = metrics.open("a", encoding="utf-8")
        self.writer = SummaryWriter(str(tensorboard), purge_step=steps + 1 if steps else None)

    def __enter__(self) -> Logs:
        return self

    def __exit__(self, *exception: object) -> None:
        self.file.close()
        self.writer.close()

    def write(self, record: dict[str, float]) -> None:
        """Write one update's line."""
        self.file.write(f"{json.dumps(record)}\n")
        self.file.flush()
        for name, value in record.items():
            if name != "steps":
                self.writer.add_scalar(f"train/{name}", value, int(record["steps"]))


# What comes out.


def export(arguments: Arguments, run: Run, model: MaskablePPO) -> None:
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
        "seconds": run.records()[-1]["seconds"],
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

    facts = json.loads(run.policy.with_suffix(".json").read_text(encoding="utf-8"))
    if not facts["result"]:
        return
    arguments = run.arguments
    table = Table(title=f"{arguments.game}, {arguments.num_players} players: the learner")
    table.add_column("among copies of")
    table.add_column("pots/hand", justify="right")
    table.add_column("95 %", justify="right")
    table.add_column("deals", justify="right")
    for row in facts["result"]:
        table.add_row(
            row["field"],
            f"{row['mean']:+.4f}",
            f"± {row['half_width']:.4f}",
            f"{row['num_deals']:,}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
