"""Solve reduced games exactly, and write the equilibria with their certificates.

    python -m experiments.solve_reduced beast2-small bestia3-small

The whole tree of a hand is grown and solved by CFR+ (see `agents.equilibria.cfr`) until what all
players together could gain by leaving the equilibrium, NashConv, is as small as asked for, or the
time is over. What is written is measured again, as it stands in the file.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from experiments.command_line import SMOKE, ends_cleanly

if TYPE_CHECKING:
    from agents.equilibria.cfr import Measured
    from bestia_env.reductions import Reduction

MODULE = "experiments.solve_reduced"


@dataclass(frozen=True)
class Arguments:
    """Solve reduced games exactly."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Reductions such as beast2-small; all of `bestia_env.reductions` if none are given."""
    aim: float = 1e-6
    """NashConv, in pots per hand, at which to stop."""
    seconds: float = 120.0
    """To spend on each at most."""
    out: Path | None = None
    """The folder to write to; that of the shipped equilibria if none is given."""
    smoke: bool = False
    """A moment for each, to see whether all runs; then it goes below runs/smoke."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the games solved so far are written"):
        certificates = solve_all(arguments)
    print("\n".join(table(certificates)))


def solve_all(arguments: Arguments) -> list[dict[str, Any]]:
    """Solve and write; returns the certificates.

    Raises:
        ValueError: there is no such reduction, or a number is out of range.
        OSError: the folder cannot be written to.
    """
    from agents.checkpoints import git_commit
    from agents.equilibria.solutions import SOLUTIONS
    from agents.reports import check_writable
    from bestia_env.reductions import REDUCTIONS, reduction_named

    if not 0 <= arguments.aim <= 1:
        raise ValueError(f"aim must be from 0 to 1, not {arguments.aim}")
    if not 0 < arguments.seconds <= 86_400:
        raise ValueError(f"seconds must be above 0 and at most 86400, not {arguments.seconds}")
    reductions = [reduction_named(name) for name in arguments.names or REDUCTIONS]
    folder = arguments.out or (SMOKE / "equilibria" if arguments.smoke else SOLUTIONS)
    folder.mkdir(parents=True, exist_ok=True)
    check_writable(folder)
    commit = git_commit()  # before the first file is written
    return [_solve(reduction, arguments, folder, commit) for reduction in reductions]


def _solve(
    reduction: Reduction, arguments: Arguments, folder: Path, commit: str | None
) -> dict[str, Any]:
    """Solve one and write it; returns the certificate."""
    from agents.checkpoints import versions
    from agents.equilibria.cfr import Solver, solve
    from agents.equilibria.solutions import save, tree_of

    started = time.perf_counter()
    grown = tree_of(reduction)
    growing = time.perf_counter() - started
    seconds = 0.5 if arguments.smoke else arguments.seconds
    Solver(grown.tree, predictive=True).run(1)  # compiles, so that it counts for nothing
    solver = Solver(grown.tree, predictive=True, power=4)
    with _bar(reduction.name, seconds) as progress:
        found, history = solve(solver, arguments.aim, seconds, progress)
    best = min(history, key=lambda measured: measured.nash_conv)
    facts = {
        "method": f"predictive CFR+, {best.which} behaviour",
        "rounds": best.rounds,
        "seconds": round(history[-1].seconds, 2),
        "seconds_growing": round(growing, 2),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "command": f"python -m {MODULE} {reduction.name}",
        "commit": commit,
        "versions": {name: versions()[name] for name in ("python", "numpy", "numba")},
    }
    return save(reduction, grown, found, facts, folder).certificate


def _bar(name: str, seconds: float) -> Any:
    """A bar on the error stream that shows the seconds spent; yields what takes measurements."""
    import contextlib

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    @contextlib.contextmanager
    def bar() -> Any:
        columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(f"{name}: growing the tree", total=seconds)

            def show(measured: Measured) -> None:
                text = f"{name}: round {measured.rounds}, NashConv {measured.nash_conv:.1e}"
                progress.update(task, completed=measured.seconds, description=text)

            yield show

    return bar()


def table(certificates: list[dict[str, Any]]) -> list[str]:
    """The certificates in Markdown."""
    lines = [
        "| reduction | players | deals | nodes | information sets | rounds | seconds | NashConv |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for facts in certificates:
        sizes = [f"{facts[name]:,}" for name in ("deals", "nodes", "information_sets", "rounds")]
        lines.append(
            f"| {facts['name']} | {facts['num_players']} | {' | '.join(sizes)} "
            f"| {facts['seconds']:.1f} | {facts['nash_conv']:.1e} |"
        )
    return lines


if __name__ == "__main__":
    main(tyro.cli(Arguments, prog=f"python -m {MODULE}", description=__doc__))
