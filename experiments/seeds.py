"""Train by a recipe with several seeds, and see how far the results lie apart.

    python -m experiments.seeds bestia-4 --seeds 0 1 2 3 4

The trainings go to `runs/seeds/`, one after the other; those that are done are kept. Interrupted,
the same command goes on where it was.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from experiments.command_line import ends_cleanly, results_folder, runs_folder
from experiments.reproduce import train

if TYPE_CHECKING:
    from agents.shipped import Shipped


@dataclass(frozen=True)
class Arguments:
    """Train by a recipe with several seeds, and see how far the results lie apart."""

    name: Annotated[str, tyro.conf.Positional]
    """Such as bestia-4."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Of the trainings, at least two."""
    deals: int = 50_000
    """Duplicate deals for each figure."""
    deals_seed: int = 30_000_000
    """Of the deals."""
    runs: Path | None = None
    """Where the trainings go; runs/seeds if none is given."""
    out: Path | None = None
    """Where the figures go; experiments/results/seeds-NAME.json if none is given."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then both go below runs/smoke."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        rows = compare(arguments)
    print("\n".join(table(rows, arguments.name, arguments.seeds)))


def compare(arguments: Arguments) -> list[dict[str, Any]]:
    """Train and measure, a row for each baseline; writes them.

    Raises:
        ValueError: an argument is out of range.
        OSError: the file cannot be written to.
    """
    from agents.checkpoints import write_whole
    from agents.policies import default_specs
    from agents.reports import check_writable
    from agents.shipped import shipped_named
    from bestia_env.rules.table import check_coins

    check_coins("deals", arguments.deals, least=2)
    if len({*arguments.seeds}) < max(2, len(arguments.seeds)):
        raise ValueError(f"seeds must be two or more and different, not {arguments.seeds}")
    shipped = shipped_named(arguments.name)
    runs_in = arguments.runs or runs_folder(arguments.smoke) / "seeds"
    out = arguments.out or results_folder(arguments.smoke) / f"seeds-{arguments.name}.json"
    for folder in (runs_in, out.parent):
        check_writable(folder)
    runs = [_trained(arguments, runs_in, seed) for seed in arguments.seeds]
    rows = [_row(arguments, shipped, runs, spec) for spec in default_specs(shipped.game)]
    facts = {
        "name": arguments.name,
        "seeds": arguments.seeds,
        "commands": [_command_of(run) for run in runs],
        "deals_seed": arguments.deals_seed,
        "rows": rows,
    }
    write_whole(out, f"{json.dumps(facts, indent=1)}\n".encode())
    return rows


def _trained(arguments: Arguments, runs: Path, seed: int) -> Path:
    options = ["--smoke"] if arguments.smoke else []
    folder = runs / f"{arguments.name}-{seed}"
    return train(arguments.name, folder, *options, "--seed", str(seed))


def _command_of(weights: Path) -> str:
    from agents.checkpoints import load_checkpoint

    return load_checkpoint(weights)[1]["command"]


def _row(arguments: Arguments, shipped: Shipped, weights: list[Path], spec: str) -> dict[str, Any]:
    """What each policy wins among copies of a baseline."""
    from agents.arena import one_against_field
    from agents.policies import parse_policy

    n = shipped.num_players
    field = parse_policy(spec, shipped.game, n)
    scores = [
        one_against_field(
            parse_policy(f"net:{path}", shipped.game, n),
            field,
            arguments.deals,
            arguments.deals_seed,
            num_players=n,
        )
        for path in weights
    ]
    return {"baseline": spec, "scores": [dataclasses.asdict(score) for score in scores]}


def table(rows: list[dict[str, Any]], name: str, seeds: tuple[int, ...]) -> list[str]:
    """The figures in Markdown: one policy for each seed, their mean, and the lowest and highest."""
    lines = [
        f"| {name} among copies of | {' | '.join(f'seed {seed}' for seed in seeds)} | all |",
        f"|---|{'---|' * (len(seeds) + 1)}",
    ]
    for row in rows:
        cells = [f"{score['mean']:+.4f} ± {score['half_width']:.4f}" for score in row["scores"]]
        means = [score["mean"] for score in row["scores"]]
        cells.append(f"{statistics.mean(means):+.4f} ({min(means):+.4f} to {max(means):+.4f})")
        lines.append(f"| {row['baseline']} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main(tyro.cli(Arguments, prog="python -m experiments.seeds", description=__doc__))
