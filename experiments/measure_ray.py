"""Throughput of training and arena on Ray by number of workers.

    .venv-rllib/bin/python -m experiments.measure_ray

Beside Ray's workers stands what the project's own processes do, on the same machine and the same
work. Each figure is taken after a round in which everything was compiled and started.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from experiments.command_line import RESULTS, ends_cleanly, provenance

MODULE = "experiments.measure_ray"
STEPS_PER_UPDATE = 16_384
POLICIES = {"bestia": ("tight", "sound"), "beast": ("cautious", "bold")}


@dataclass(frozen=True)
class Arguments:
    """Measure throughput of training and arena by number of workers."""

    game: Literal["bestia", "beast"] = "bestia"
    """The game, with four players."""
    workers: tuple[int, ...] = (1, 2)
    """Numbers of workers."""
    updates: int = 8
    """Updates of a training, after a first that is not counted."""
    deals: int = 1_000_000
    """Duplicate deals that the arena plays."""
    out: Path = RESULTS / "ray.json"
    """The file for the figures."""


def main() -> None:
    """Run the command line."""
    import tyro

    arguments = tyro.cli(Arguments, prog=f"python -m {MODULE}", description=__doc__)
    with ends_cleanly("nothing was written"):
        measure(arguments)


def measure(arguments: Arguments) -> dict[str, Any]:
    """Measure, print and save.

    Raises:
        ValueError: a number is out of range, or Ray is not installed.
        OSError: the file cannot be written.
    """
    from bestia_env.files import write_whole
    from bestia_env.rules.table import check_coins

    for workers in arguments.workers:
        check_coins("workers", workers, least=1)
    check_coins("updates", arguments.updates, least=1)
    check_coins("deals", arguments.deals, least=2)
    rows = []
    for workers in arguments.workers:
        for kind in (_training, _ray_arena, _own_arena):
            rows.append({**kind(arguments, workers), "load_average": os.getloadavg()[0]})
            print(json.dumps(rows[-1]), flush=True)
    figures = {
        "command": shlex.join(["python", "-m", MODULE, *sys.argv[1:]]),
        "cpus": os.cpu_count(),
        "rows": rows,
        **provenance([]),
    }
    write_whole(arguments.out, f"{json.dumps(figures, indent=2)}\n".encode())
    return figures


def _training(arguments: Arguments, workers: int) -> dict[str, Any]:
    """Decisions a second of `experiments.train_rllib`, the median of the updates."""
    from agents.cluster import connected
    from experiments import train_rllib

    with connected(num_cpus=workers), TemporaryDirectory() as folder:
        learner = train_rllib.RllibPpo(
            train_rllib.Arguments(
                Path(folder),
                game=arguments.game,
                workers=workers,
                steps_per_update=STEPS_PER_UPDATE,
            )
        )
        learner.update()
        rates = []
        for _ in range(arguments.updates):
            before = learner.steps
            seconds = _timed(learner.update)
            rates.append((learner.steps - before) / seconds)
        learner.algorithm.stop()
    return _row("training", "ray", workers, "decisions a second", statistics.median(rates))


def _ray_arena(arguments: Arguments, workers: int) -> dict[str, Any]:
    """Hands a second of the arena on Ray."""
    from agents.cluster import connected

    with connected(num_cpus=workers) as cluster:
        return _row("arena", "ray", workers, "hands a second", _hands(arguments, cluster))


def _own_arena(arguments: Arguments, workers: int) -> dict[str, Any]:
    """Hands a second of the arena in processes, their start counted since it cannot be told off."""
    return _row("arena", "processes", workers, "hands a second", _hands(arguments, workers))


def _hands(arguments: Arguments, jobs: Any) -> float:
    from agents.duplicate import Table, pieces_of, play_pieces
    from agents.policies import parse_policy

    table = Table(arguments.game, 4, seed=1)
    policies = [parse_policy(spec, arguments.game, 4) for spec in POLICIES[arguments.game]]

    def play(deals: int) -> None:
        for _ in play_pieces(table, policies, pieces_of((0, 1, 1, 1), deals), jobs, None, False):
            pass

    play(8_192)
    return 4 * arguments.deals / _timed(lambda: play(arguments.deals))


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _row(what: str, backend: str, workers: int, unit: str, rate: float) -> dict[str, Any]:
    return {
        "what": what,
        "backend": backend,
        "workers": workers,
        "unit": unit,
        "rate": round(rate),
    }


if __name__ == "__main__":
    main()
