"""What all trainings have in common: arguments, the loop, logs, checkpoints, evaluation, result.

A run folder holds `arguments.json`, `metrics.jsonl` (a line an update), `tensorboard/`,
`checkpoint.pt`, and in the end `policy.safetensors` with its sidecar `policy.json`: a policy by
the spec `net:RUN_DIR/policy.safetensors`. Killed at any moment, the same command goes on from the
last checkpoint and ends as if nothing had happened. The same seed gives the same curve.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from experiments.command_line import ends_cleanly
from experiments.run_folder import Run

if TYPE_CHECKING:
    from agents.networks import Network

Ranges = tuple[tuple[tuple[str, ...], float, float], ...]  # names, least and greatest values
MOST_WIDTH = 10_000
EVALUATION_SEED = 1_000_000  # of the deals that the evaluations of a training play


@dataclass(frozen=True)
class TrainingArguments:
    """What every training takes."""

    MODULE: ClassVar[str]
    SMOKE: ClassVar[dict[str, Any]]
    RANGES: ClassVar[Ranges] = ()

    run_dir: Path
    """Where everything goes; a folder of the same run is gone on with."""
    game: Literal["bestia", "beast"] = "bestia"
    """Which game."""
    num_players: int = 4
    """Seats."""
    total_steps: int = 2_500_000
    """The learner's decisions, rounded up to whole updates."""
    seed: int = 0
    """Of everything: deals, company, weights, minibatches."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE."""
    sort_suits: bool = True
    """Let the network see trumps as the first suit, and the others in a fixed order."""
    checkpoint_every: int = 1_000_000
    """Steps between two checkpoints."""
    eval_every: int = 0
    """Steps between two evaluations while training; 0 for none."""
    eval_deals: int = 2_000
    """Duplicate deals against each baseline in these."""
    final_deals: int = 20_000
    """Duplicate deals against each baseline when the training is done; 0 for none."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; takes a run folder of its own."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range."""
        counts = ("total_steps", "checkpoint_every")
        ranges = (
            (counts, 1, 10**12),
            (("seed",), 0, 2**32 - 1),
            (("eval_every", "eval_deals", "final_deals"), 0, 10**12),
            *self.RANGES,
        )
        for names, least, most in ranges:
            for name in names:
                value = getattr(self, name)
                if not least <= value <= most:
                    raise ValueError(f"{name} must be from {least} to {most}, not {value}")
        for name in ("eval_deals", "final_deals"):
            if getattr(self, name) == 1:
                raise ValueError(f"{name} must be 0 or at least 2, not 1: one deal has no interval")

    def command(self) -> str:
        """The command line that these arguments stand for."""
        words = ["python", "-m", self.MODULE]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            flag = f"--{field.name.replace('_', '-')}"
            if isinstance(value, bool):
                words.append(flag if value else f"--no-{flag[2:]}")
            else:
                words += [flag, *map(str, value if isinstance(value, tuple) else [value])]
        return shlex.join(words)

    def parsed_rules(self) -> Any:
        """`BeastRules` or `BestiaRules`."""
        from agents.rules import parse_rules

        return parse_rules(self.game, self.rules)


class Learner(Protocol):
    """What a training script has to offer.

    Attributes:
        steps: decisions so far.
    """

    steps: int

    def update(self) -> dict[str, float]:
        """Play and learn for one update, and say what there is to say about it."""

    def state(self) -> dict[str, Any]:
        """All that is needed to go on with equal results, in numbers, tensors, lists and dicts."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""

    def network(self) -> Network:
        """The policy so far."""


def weighted(
    option: str, words: tuple[str, ...], parse: Callable[[str], Any] = str
) -> dict[Any, float]:
    """`("random=2", "tight")` as `{"random": 2.0, "tight": 1.0}`."""
    weights: dict[Any, float] = {}
    for word in words:
        name, equals, weight = word.rpartition("=") if "=" in word else (word, "", "")
        choice = parse(name)
        if choice in weights:
            raise ValueError(f"{option} must be different, but {name!r} is named twice")
        try:
            weights[choice] = float(weight) if equals else 1.0
        except ValueError:
            raise ValueError(f"{word!r}: the weight must be a number, not {weight!r}") from None
    return weights


def weighted_pots(words: tuple[str, ...]) -> dict[int, float]:
    """`("1", "8=0.5")`, in opening pots, as `{1: 1.0, 8: 0.5}`."""
    return weighted("pots", words, _multiple)


def _multiple(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"pots must be whole numbers of opening pots, not {word!r}") from None


def check_widths(hidden: tuple[int, ...]) -> None:
    """Raise a ValueError unless a network may have such layers."""
    if not hidden or not 1 <= min(hidden) <= max(hidden) <= MOST_WIDTH:
        raise ValueError(f"hidden must be widths from 1 to {MOST_WIDTH}, not {hidden}")


def main(arguments: type[TrainingArguments], train: Callable, description: str | None) -> None:
    """Run a command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    import tyro

    parsed = tyro.cli(arguments, prog=f"python -m {arguments.MODULE}", description=description)
    with ends_cleanly("the same command goes on from the last checkpoint, if there is one"):
        print(f"policy spec: net:{train(parsed)}")


def run(arguments: Any, make_learner: Callable[[Any], Learner]) -> Path:
    """Train, export and evaluate; returns the policy's .safetensors file.

    Raises:
        ValueError: an argument is out of range, or the run folder belongs to other arguments or
            is damaged.
        OSError: the run folder cannot be written to, or is in use.
    """
    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **arguments.SMOKE, smoke=False)
    arguments.check()
    folder = Run(arguments)
    if not folder.is_finished():
        learner = make_learner(arguments)
        with folder.open():
            seconds = _learn(arguments, folder, learner)
            _export(arguments, folder, learner, seconds)
    _report(folder)
    return folder.policy


def _learn(arguments: TrainingArguments, folder: Run, learner: Learner) -> float:
    """Update by update to the end; returns the seconds spent, those before an interruption too."""
    seconds = folder.resume(learner)
    next_checkpoint = learner.steps + arguments.checkpoint_every
    with folder.logs(learner.steps) as log, Display(arguments, learner.steps) as display:
        while learner.steps < arguments.total_steps:
            began, before = time.perf_counter(), learner.steps
            record = {**learner.update()}
            duration = time.perf_counter() - began
            seconds += duration
            record["steps"] = learner.steps
            record["steps_per_second"] = (learner.steps - before) / duration
            record["seconds"] = seconds
            if _is_due(arguments.eval_every, before, learner.steps):
                record |= _scores(arguments, learner.network())
            log.write(record)
            display.show(record)
            if learner.steps >= min(next_checkpoint, arguments.total_steps):
                folder.save(learner, seconds)
                next_checkpoint = learner.steps + arguments.checkpoint_every
    return seconds


def _is_due(every: int, before: int, now: int) -> bool:
    return every > 0 and before // every < now // every


def _scores(arguments: TrainingArguments, network: Network) -> dict[str, float]:
    """An evaluation in the middle of the training, as numbers for the log."""
    scores = {}
    for row in evaluate(arguments, network, arguments.eval_deals):
        scores[f"score/{row['field']}"] = row["mean"]
        scores[f"score_half_width/{row['field']}"] = row["half_width"]
    return scores


class Display:
    """Progress: a bar on a terminal, else a line now and then."""

    def __init__(self, arguments: TrainingArguments, steps: int) -> None:
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
            TextColumn("{task.fields[words]},"),
            TimeRemainingColumn(),
            TextColumn("left"),
            disable=not sys.stdout.isatty(),
        )
        self.task = self.progress.add_task(
            f"{arguments.game} {arguments.num_players}",
            total=self.total,
            completed=steps,
            words="starting",
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
        words = f"{record['steps_per_second']:,.0f} steps/s"
        if "reward_mean" in record:
            words += f", {record['reward_mean']:+.3f} pots/hand"
        self.progress.update(self.task, completed=steps, words=words)
        tenth = 10 * steps // self.total
        if self.progress.disable and tenth > self.tenth:
            left = (self.total - steps) / record["steps_per_second"]
            print(f"{steps:,} steps, {words}, {left:.0f} s left", flush=True)
        self.tenth = tenth


# What comes out.


def _export(arguments: TrainingArguments, folder: Run, learner: Learner, seconds: float) -> None:
    """Save the policy, evaluate it, and save it again with the result."""
    from agents.checkpoints import git_commit, versions
    from agents.networks import save_network

    network = learner.network()
    facts = {
        "command": arguments.command(),
        "seed": arguments.seed,
        "steps": learner.steps,
        "seconds": seconds,
        "versions": versions(),
        "git_commit": git_commit(),
        "rules": dataclasses.asdict(arguments.parsed_rules()),
    }
    save_network(folder.policy, network, **facts)
    result = evaluate(arguments, network, arguments.final_deals)
    save_network(folder.policy, network, **facts, result=result)


def evaluate(
    arguments: TrainingArguments, network: Network, num_deals: int
) -> list[dict[str, Any]]:
    """Pots per hand among copies of each baseline, on duplicate deals; empty for no deals."""
    from agents.arena import one_against_field
    from agents.policies import NETWORK, Policy, default_specs, parse_policy

    learner = Policy("learner", arguments.game, NETWORK, network=network)
    rows = []
    for spec in default_specs(arguments.game) if num_deals else ():
        estimate = one_against_field(
            learner,
            parse_policy(spec, arguments.game, arguments.num_players),
            num_deals,
            EVALUATION_SEED,
            num_players=arguments.num_players,
            rules=arguments.parsed_rules(),
        )
        rows.append({"field": spec, **dataclasses.asdict(estimate)})
    return rows


def _report(folder: Run) -> None:
    """Print the evaluation."""
    from rich.console import Console
    from rich.table import Table

    result = folder.result()
    if not result:
        return
    arguments = folder.arguments
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
