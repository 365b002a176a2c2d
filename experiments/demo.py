"""Train a learner for each game, then pit it against every baseline: `make demo`.

Both learners train at once, which takes some minutes. Then each plays one against a
field and at mixed tables with all baselines of its game, on duplicate deals that the training has
never seen. Tables, plots and policies go to `runs/demo/`. Interrupted, it goes on where it was.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.command_line import ends_cleanly, runs_folder
from experiments.run_folder import read_metrics

GAMES = ("bestia", "beast")
EVALUATION_SEED = 20_000_000  # the training's deals come from another seed


@dataclass(frozen=True)
class Arguments:
    """Train a learner for each game and pit it against every baseline."""

    out: Path | None = None
    """Where everything goes; runs/demo if none is given."""
    bestia_steps: int = 4_000_000
    """The learner's decisions in Bestia."""
    beast_steps: int = 4_000_000
    """The learner's decisions in Beast."""
    deals: int = 20_000
    """Duplicate deals for each cell of the tables, each played in every seat rotation."""
    seed: int = 0
    """Of the training."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then it goes below runs/smoke."""

    @property
    def folder(self) -> Path:
        """Where everything goes."""
        return self.out or runs_folder(self.smoke) / "demo"


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        check(arguments)
        demonstrate(arguments)


def check(arguments: Arguments) -> None:
    """Check all arguments, and that the results can be written, before anything begins.

    Raises:
        ValueError: an argument is out of range.
        OSError: the folder cannot be written to.
    """
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("bestia_steps", arguments.bestia_steps, least=1)
    check_coins("beast_steps", arguments.beast_steps, least=1)
    check_coins("deals", arguments.deals, least=2)
    check_coins("seed", arguments.seed, least=0, most=2**32 - 1)
    check_writable(arguments.folder)


def demonstrate(arguments: Arguments) -> None:
    """Train, compare, and print where everything is; exits with the code of a failed training."""
    runs = [Run(game, arguments) for game in GAMES]
    print(f"seed {arguments.seed}; training one learner for each game, both at once")
    if code := train(runs):
        sys.exit(code)
    for run in runs:
        print(f"\n{run.game}: the learner and all baselines, {run.deals:,} duplicate deals a cell")
        run.compare()
    for run in runs:
        print(f"\n{run.verdict()}")
        print(f"learning curve, tables, pictures, policy: {run.folder}/")


class Run:
    """One game's part."""

    def __init__(self, game: str, arguments: Arguments) -> None:
        self.game = game
        self.folder = arguments.folder / game
        self.policy = f"net:{self.folder}/training/policy.safetensors"
        self.steps = 1024 if arguments.smoke else getattr(arguments, f"{game}_steps")
        self.deals = 50 if arguments.smoke else arguments.deals
        self._command = [
            *(sys.executable, "-m", "experiments.train_ppo", "--game", game),
            *("--run-dir", str(self.folder / "training"), "--seed", str(arguments.seed)),
            *(["--smoke"] if arguments.smoke else ["--total-steps", str(self.steps)]),
            *([] if arguments.smoke else ["--final-deals", "0"]),
        ]

    def start(self) -> subprocess.Popen[str]:
        """Begin the training, or go on with it."""
        return subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def records(self) -> list[dict[str, Any]]:
        """The training's log, a record an update."""
        return read_metrics(self.folder / "training" / "metrics.jsonl")

    def compare(self) -> None:
        """Play against every baseline; writes tables and pictures beside the training."""
        from agents.policies import default_specs
        from experiments import arena

        arena.main(
            [
                *("--game", self.game, "--jobs", "2", "--deals", str(self.deals)),
                *("--seed", str(EVALUATION_SEED), "--out", str(self.folder / "arena")),
                *("--policies", self.policy, *default_specs(self.game)),
            ]
        )
        plot_curve(self.game, self.records(), self.folder / "learning_curve.png")

    def verdict(self) -> str:
        """Which baselines the learner beats, from the arena's file."""
        facts = json.loads((self.folder / "arena" / "arena.json").read_text(encoding="utf-8"))
        specs, row = facts["policies"][1:], facts["matrix"][0][1:]
        scores = {
            f"{spec} {cell['mean']:+.4f} ± {cell['half_width']:.4f}": cell["mean"]
            > cell["half_width"]
            for spec, cell in zip(specs, row, strict=True)
        }
        beaten = [score for score, beats in scores.items() if beats]
        others = [score for score, beats in scores.items() if not beats]
        return (
            f"{self.game}, the learner among copies of each baseline, pots per hand:\n"
            f"  beats {'; '.join(beaten) or 'none'}\n"
            f"  does not beat: {'; '.join(others) or 'none is left'}"
        )


def train(runs: list[Run]) -> int:
    """Train all learners at once and show how far they are; returns a failure's exit code, or 0."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[words]}"),
        TimeElapsedColumn(),
    )
    processes = [run.start() for run in runs]
    try:
        with Progress(*columns) as progress:
            tasks = [progress.add_task(r.game, total=r.steps, words="starting") for r in runs]
            while _going_on(processes):
                for run, task in zip(runs, tasks, strict=True):
                    progress.update(task, **_news(run))
                time.sleep(0.5)
            for run, task in zip(runs, tasks, strict=True):
                progress.update(task, **_news(run))
        return _failure(runs, processes)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()  # or else it may still hold its folder when we are gone
            if process.stderr:
                process.stderr.close()


def _going_on(processes: list[subprocess.Popen[str]]) -> bool:
    """Is one still training, and has none failed?"""
    codes = [process.poll() for process in processes]
    return None in codes and all(code in (None, 0) for code in codes)


def _news(run: Run) -> dict[str, Any]:
    records = run.records()
    if not records:
        return {}
    last = records[-1]
    left = max(0.0, (run.steps - last["steps"]) / last["steps_per_second"])
    words = (
        f"{last['steps_per_second']:,.0f} steps/s, {last['reward_mean']:+.3f} pots/hand, "
        f"{left:.0f} s left"
    )
    return {"completed": min(last["steps"], run.steps), "words": words}


def _failure(runs: list[Run], processes: list[subprocess.Popen[str]]) -> int:
    for run, process in zip(runs, processes, strict=True):
        if process.poll():
            print(f"{run.game}: {process.communicate()[1].strip()}", file=sys.stderr)
            return max(process.returncode, 1)
    return 0


def plot_curve(game: str, records: list[dict[str, Any]], path: Path) -> None:
    """Draw the learner's reward while it trained."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    names = ("steps", "reward_mean", "reward_half_width")
    shown = [record for record in records if record.keys() >= set(names)]
    steps, reward, half = ([record[name] for record in shown] for name in names)
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(steps, reward, color="#2166ac")
    axes.fill_between(
        steps,
        [mean - width for mean, width in zip(reward, half, strict=True)],
        [mean + width for mean, width in zip(reward, half, strict=True)],
        color="#2166ac",
        alpha=0.2,
        linewidth=0,
    )
    axes.axhline(0, color="#555555", linewidth=0.8)
    axes.set_title(f"{game.capitalize()}, 4 players: the learner among baselines and past selves")
    axes.set_xlabel("decisions of the learner")
    axes.set_ylabel("pots per hand in training (95 % of an update)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.demo", description=__doc__))
