"""Draw what trainings scored against each baseline while they ran.

    python -m experiments.curves runs/bestia runs/bestia-seed1 --out curves.png

Runs of the same game and table share a panel; the colour is the baseline, a line is a run, its
band the 95 % interval of an evaluation. Needs runs with `--eval-every`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from experiments.command_line import ends_cleanly
from experiments.run_folder import read_metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#999999", "#56b4e9", "#0072b2", "#009e73", "#e69f00", "#d55e00")  # Okabe and Ito


@dataclass(frozen=True)
class Arguments:
    """Draw what trainings scored against each baseline while they ran."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Run folders."""
    out: Path = Path("curves.png")
    """The picture, .png or .svg."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it."""
    with ends_cleanly("nothing was written"):
        draw(arguments.runs, arguments.out)
    print(f"wrote {arguments.out}")


def draw(runs: tuple[Path, ...], out: Path) -> None:
    """Draw all runs.

    Raises:
        ValueError: a folder holds no run, or one without evaluations.
        OSError: the picture cannot be written.
    """
    from matplotlib.figure import Figure

    panels: dict[tuple[str, int], list[list[dict[str, Any]]]] = {}
    for run in runs:
        table, records = _read(run)
        panels.setdefault(table, []).append(records)
    columns = len(panels) if len(panels) <= 3 else 2
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.5 * columns, 4.8 * rows), layout="constrained")
    for place, ((game, players), curves) in enumerate(sorted(panels.items()), start=1):
        axes = figure.add_subplot(rows, columns, place)
        _panel(axes, curves)
        axes.set_title(f"{game.capitalize()}, {players} players")
    figure.supylabel("pots per hand among copies of a baseline", fontsize="medium")
    figure.savefig(out, dpi=120)


def _read(run: Path) -> tuple[tuple[str, int], list[dict[str, Any]]]:
    try:
        arguments = json.loads((run / "arguments.json").read_text(encoding="utf-8"))
        table = arguments["game"], arguments["num_players"]
    except (FileNotFoundError, ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{run} holds no training run") from None
    records = [
        record
        for record in read_metrics(run / "metrics.jsonl")
        if (specs := _specs(record)) and all(f"score_half_width/{s}" in record for s in specs)
    ]
    if not records:
        raise ValueError(f"{run} has no evaluations: train with --eval-every")
    return table, records


def _specs(record: dict[str, Any]) -> list[str]:
    """The baselines of an evaluation, none for other records."""
    return [name.removeprefix("score/") for name in record if name.startswith("score/")]


def _panel(axes: Axes, curves: list[list[dict[str, Any]]]) -> None:
    for spec, colour in zip(_specs(curves[0][0]), COLOURS, strict=True):
        for records in curves:
            steps = [record["steps"] for record in records]
            means = [record[f"score/{spec}"] for record in records]
            halves = [record[f"score_half_width/{spec}"] for record in records]
            low, high = (
                [mean + sign * half for mean, half in zip(means, halves, strict=True)]
                for sign in (-1, 1)
            )
            axes.plot(steps, means, color=colour, linewidth=1.5)
            axes.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot([], [], color=colour, label=spec)
    axes.axhline(0, color="#555555", linewidth=0.8)
    bottom, top = axes.get_ylim()
    axes.set_yscale("symlog", linthresh=0.02)
    axes.set_yticks([-0.3, -0.1, -0.02, -0.01, 0, 0.01, 0.02, 0.05, 0.1, 0.3])
    axes.set_ylim(min(bottom, -0.005), max(top, 0.05))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g}" if value else "0")
    axes.yaxis.set_minor_locator(_no_ticks())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M")
    axes.set_xlabel("decisions learned from")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


if __name__ == "__main__":
    main(tyro.cli(Arguments, prog="python -m experiments.curves", description=__doc__))
