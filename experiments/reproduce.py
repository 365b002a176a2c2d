"""Train a shipped policy anew by its recipe, and compare: `make reproduce`.

    python -m experiments.reproduce bestia-4

The recipe is the command in `experiments/recipes/NAME.txt`. A training gives the same weights again
on one machine with one version of the code; the policies came from the commits that their sidecars
name. Elsewhere it gives others, and the table shows whether they are as good. Interrupted, the same
command goes on where it was.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from experiments.command_line import ends_cleanly, runs_folder

if TYPE_CHECKING:
    from agents.shipped import Shipped

RECIPES = Path(__file__).with_name("recipes")


@dataclass(frozen=True)
class Arguments:
    """Train a shipped policy anew by its recipe, and compare."""

    name: Annotated[str, tyro.conf.Positional] = "bestia-4"
    """Such as bestia-4."""
    run_dir: Path | None = None
    """Where the training goes; runs/reproduce/NAME if none is given."""
    deals: int = 20_000
    """Duplicate deals for each figure."""
    seed: int = 40_000_000
    """Of the deals."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then it goes below runs/smoke."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        reproduce(arguments)


def reproduce(arguments: Arguments) -> None:
    """Train and compare; exits with the code of a failed training.

    Raises:
        ValueError: there is no such policy, or no recipe for it.
    """
    from agents.policies import parse_policy
    from agents.shipped import shipped_named
    from bestia_env.rules.table import check_coins

    check_coins("deals", arguments.deals, least=2)
    shipped = shipped_named(arguments.name)
    folder = arguments.run_dir or runs_folder(arguments.smoke) / "reproduce" / arguments.name
    weights = train(arguments.name, folder, *(["--smoke"] if arguments.smoke else []))
    if weights.read_bytes() == shipped.path.read_bytes():
        print(f"the same weights as {shipped.path}, to the last bit")
    again = parse_policy(f"net:{weights}", shipped.game, shipped.num_players)
    _compare(arguments, shipped, again)


def train(name: str, folder: Path, *options: str) -> Path:
    """Train by a recipe and some more options, or find it done; returns the weights.

    Exits with the code of a training that fails.

    Raises:
        ValueError: there is no recipe of this name.
    """
    command = [*recipe(name), "--run-dir", str(folder), *options]
    print(shlex.join(["python", *command]), flush=True)
    if code := subprocess.run([sys.executable, *command]).returncode:
        sys.exit(code)
    return folder / "policy.safetensors"


def recipe(name: str) -> list[str]:
    """The words of a recipe's command, after `python`, but for the run folder.

    Raises:
        ValueError: there is none.
    """
    path = RECIPES / f"{name}.txt"
    if not path.exists():
        raise ValueError(f"there is no recipe {path}")
    return shlex.split(path.read_text(encoding="utf-8"))[1:]


def _compare(arguments: Arguments, shipped: Shipped, again) -> None:
    """Print what both win among copies of each baseline, and of each other."""
    from rich.console import Console
    from rich.table import Table

    from agents.arena import one_against_field
    from agents.policies import default_specs, parse_policy

    n, policies = shipped.num_players, (shipped.policy, again)
    specs = default_specs(shipped.game)
    fields = [[parse_policy(spec, shipped.game, n)] * 2 for spec in specs] + [[*policies[::-1]]]
    table = Table(title=f"{shipped.name}: pots per hand among copies of each")
    for column in ("field", "as shipped", "trained anew"):
        table.add_column(column, justify="left" if column == "field" else "right")
    for spec, pair in zip([*specs, "the other"], fields, strict=True):
        scores = [
            one_against_field(one, field, arguments.deals, arguments.seed, num_players=n)
            for one, field in zip(policies, pair, strict=True)
        ]
        table.add_row(spec, *map(str, scores))
    Console().print(table)


if __name__ == "__main__":
    main(tyro.cli(Arguments, prog="python -m experiments.reproduce", description=__doc__))
