"""Measure the speed of engine, environments and arena, beside peers in the same run.

    python -m experiments.benchmark            # or: make bench
    python -m experiments.benchmark --only batch aec

Every figure is the median of several timings taken in turn (A B C, A B C, …), so that a drift of
the machine's speed touches all alike. Peers that are not installed are skipped with a note.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.reports import check_writable
from bestia_env.files import check_replaceable
from experiments.benchmark_figures import (
    BATCH,
    Figure,
    aec_figures,
    arena_figures,
    batch_figures,
    clone_figures,
    learning_figures,
    playout_figures,
    search_figures,
    solve_figures,
    vector_figures,
)
from experiments.benchmark_peers import peer_figures
from experiments.command_line import ends_cleanly

OURS = {
    "playouts": playout_figures,
    "batch": batch_figures,
    "clone": clone_figures,
    "vector": vector_figures,
    "learning": learning_figures,
    "aec": aec_figures,
    "arena": arena_figures,
    "solve": solve_figures,
    "search": search_figures,
}
GROUPS = (*OURS, "start", "peers")


@dataclass
class Args:
    """Measure speed on one core."""

    runs: int = 5
    """timings of each figure, of which the median is reported"""
    seconds: float = 1.0
    """about how long one timing takes"""
    only: tuple[str, ...] = GROUPS
    """groups to measure: playouts, batch, clone, vector, learning, aec, arena, solve, search,
    start, peers"""
    out: Path | None = None
    """where the figures go; for all groups experiments/results/benchmark.json, else nowhere"""


# From import to the first step, in processes of their own.

_FIRST_STEP = """
import time; start = time.perf_counter()
from bestia_env import {game}_v0
env = {game}_v0.env(); env.reset(seed=0)
env.step(env.last()[0]["action_mask"].nonzero()[0][0])
print(time.perf_counter() - start)
"""


def start_seconds(runs: int) -> dict[str, float]:
    """Seconds from import to the first step: once with an empty cache, then the median warm."""
    seconds = {}
    for game in ("bestia", "beast"):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-W", "ignore", "-c", _FIRST_STEP.format(game=game)]
            times = [
                float(
                    subprocess.run(command, env=environment, capture_output=True, check=True).stdout
                )
                for _ in range(runs + 1)
            ]
        name = f"import to first step, {game.capitalize()}"
        seconds[f"{name}, cold cache"] = times[0]
        seconds[f"{name}, warm cache"] = statistics.median(times[1:])
    return seconds


def main(args: Args) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("nothing was written"):
        measure(args)


def measure(args: Args) -> None:
    """Measure, print a Markdown table, and write the JSON.

    Raises:
        ValueError: an argument is out of range.
        OSError: the file cannot be written to.
    """
    unknown = [group for group in args.only if group not in GROUPS]
    if unknown:
        raise ValueError(f"--only takes {', '.join(GROUPS)}, not {unknown[0]!r}")
    if args.runs < 1 or not 0 < args.seconds < math.inf:
        raise ValueError("--runs must be at least 1, and --seconds above 0 and finite")
    everything = set(args.only) == set(GROUPS)
    out = args.out or (Path("experiments/results/benchmark.json") if everything else None)
    if out is not None:
        check_writable(out.parent)
        check_replaceable(out)
    figures, notes = _figures(args.only)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _time(figures, args)
    seconds = start_seconds(args.runs) if "start" in args.only else {}
    report = _report(args, figures, seconds, notes)
    print("\n".join(table(report)))
    if out is not None:
        _write(out, report)


def _figures(groups: tuple[str, ...]) -> tuple[list[Figure], list[str]]:
    figures = [figure for group, make in OURS.items() if group in groups for figure in make()]
    peers, notes = peer_figures() if "peers" in groups else ([], [])
    return figures + peers, notes


def _time(figures: list[Figure], args: Args) -> None:
    from rich.progress import track

    for figure in track(figures, "warming up", transient=True):
        figure.calibrate(args.seconds)
    for _ in track(range(args.runs), "measuring", transient=True):
        for figure in figures:
            figure.measure()


def table(report: dict[str, Any]) -> list[str]:
    """The figures in Markdown, from what is saved as JSON."""
    lines = ["| | median | range | aim |", "|---|---|---|---|"]
    for figure in report["figures"]:
        spread = f"{_short(min(figure['values']))} – {_short(max(figure['values']))}"
        aim = "" if figure["aim"] is None else f"{_short(figure['aim'])} {figure['unit']}"
        median = f"{_short(figure['median'])} {figure['unit']}"
        lines.append(f"| {figure['name']} | {median} | {spread} | {aim} |")
    for name, value in report["seconds"].items():
        aim = "60 s" if "cold" in name else "1.5 s"
        lines.append(f"| {name} | {value:.2f} s | | {aim} |")
    medians = {figure["name"]: figure["median"] for figure in report["figures"]}
    return [*lines, "", *_ratios(medians), *report["notes"]]


_COMPARED = {
    "playouts, Bestia, 4 players": (
        "OpenSpiel euchre, C++ bots",
        "OpenSpiel euchre, from Python",
        "RLCard bridge",
    ),
    f"batch of {BATCH}, Bestia, 4 players, observations and masks": (
        f"pgx leduc_holdem, batch of {BATCH}, CPU",
    ),
    f"LearnerVecEnv of sb3, {BATCH}, Bestia, 4 players": (
        "DummyVecEnv of sb3, 16, Bestia, 4 players",
    ),
    **{
        f"{work}, {ours}, {game}, 4 players": (
            f"{work}, MaskablePPO on DummyVecEnv, {game}, 4 players",
        )
        for game in ("Bestia", "Beast")
        for work, ours in (("acting", "SelfPlay"), ("training", "train_ppo"))
    },
    "AEC env, Bestia, 4 players": ("PettingZoo tictactoe_v3, env()",),
}


def _ratios(medians: dict[str, float]) -> list[str]:
    return [
        f"{ours} is {medians[ours] / medians[peer]:.1f} times {peer}."
        for ours, peers in _COMPARED.items()
        for peer in peers
        if ours in medians and peer in medians
    ]


def _short(value: float) -> str:
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _command(args: Args) -> str:
    words = ["--runs", str(args.runs), "--seconds", f"{args.seconds:g}", "--only", *args.only]
    return shlex.join(["python", "-m", "experiments.benchmark", *words])


def _report(
    args: Args, figures: list[Figure], seconds: dict[str, float], notes: list[str]
) -> dict[str, Any]:
    return {
        "command": _command(args),
        "runs": args.runs,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "figures": [
            {
                "name": f.name,
                "unit": f.unit,
                "median": f.median,
                "values": f.values,
                "aim": f.target,
            }
            for f in figures
        ],
        "seconds": seconds,
        "notes": notes,
    }


def _write(out: Path, report: dict[str, Any]) -> None:
    from agents.checkpoints import write_whole

    write_whole(out, f"{json.dumps(report, indent=2)}\n".encode())
    print(f"written to {out}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Args, prog="python -m experiments.benchmark"))
