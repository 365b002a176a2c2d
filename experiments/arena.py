"""Compare policies on duplicate deals: `python -m experiments.arena --help`.

Plays every policy against a field of every other, and all of them at mixed tables; prints both
tables and writes them as JSON, CSV and a picture. The same command with the same seed gives the
same numbers, whatever the number of jobs, and on a Ray cluster too:

    python -m experiments.arena --game bestia --backend ray --address HEAD:6379
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from experiments.command_line import ends_cleanly, hands_progress, provenance

if TYPE_CHECKING:
    from agents.duplicate import Table
    from agents.policies import Policy
    from agents.processes import Workers


@dataclass(frozen=True)
class Arguments:
    """Compare policies on duplicate deals, each played in every seat rotation."""

    game: Literal["beast", "bestia"]
    """The game."""
    num_players: int = 4
    """Seats: 4 to 6 in Beast, 3 to 10 in Bestia."""
    policies: tuple[str, ...] = ()
    """Specs such as threshold:0.4, net:FILE or 'knock if trumps >= 2'; all baselines if none."""
    deals: int = 50_000
    """Deals for each cell of the matrix, and as many for the mixed tables."""
    seed: int | None = None
    """Of deals and of the policies' chances; a fresh one, printed, if none is given."""
    jobs: int = 1
    """Processes. The numbers do not depend on it."""
    backend: Literal["processes", "ray"] = "processes"
    """Who plays: processes of this machine, or workers of Ray, which .venv-rllib has. The numbers
    do not depend on it."""
    address: str = ""
    """Of the head of a Ray cluster, whose CPUs all play then; a Ray of this machine's own with so
    many workers as there are jobs if none is given."""
    pot: int = 1
    """The pot played for in opening pots; more than 1 means a pot carried in."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE, such as maxims=penalty force=true."""
    raw: bool = False
    """Leave the luck of the deal in the scores; else what can be told of it is taken off."""
    out: Path | None = None
    """Folder for the results; one of its own under runs/arena if none is given."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parsed = tyro.cli(Arguments, prog="python -m experiments.arena", args=arguments)
    with ends_cleanly("nothing was written"):
        # Heavy imports come after this line: --help and misspelt flags are answered at once.
        table, policies, folder = _prepare(parsed)
        _run(parsed, arguments, table, policies, folder)


def _prepare(parsed: Arguments) -> tuple[Table, list[Policy], Path]:
    """Check all arguments, and that the results can be written, before anything is played.

    Raises:
        ValueError: an argument is out of range, or there is no such policy or option.
        OSError: the folder cannot be written to.
    """
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("deals", parsed.deals, least=2)
    check_coins("jobs", parsed.jobs, least=1)
    _check_backend(parsed)
    table, policies = _table(parsed), _policies(parsed)
    folder = parsed.out or _default_folder(table, policies, parsed.deals)
    check_writable(folder)
    return table, policies, folder


def _check_backend(parsed: Arguments) -> None:
    if parsed.address and parsed.backend != "ray":
        raise ValueError(f"address {parsed.address!r} takes --backend ray")
    if parsed.address and parsed.jobs != 1:
        raise ValueError(f"jobs must be 1 with an address, where all CPUs play, not {parsed.jobs}")


@contextlib.contextmanager
def _workers(parsed: Arguments) -> Iterator[int | Workers]:
    if parsed.backend == "processes":
        yield parsed.jobs
        return
    from agents.cluster import connected

    with connected(parsed.address, parsed.jobs) as cluster:
        yield cluster


def _run(
    parsed: Arguments,
    arguments: Sequence[str],
    table: Table,
    policies: list[Policy],
    folder: Path,
) -> None:
    """Compare, save and print; what is written does not wait for a pipe to take the tables."""
    from rich.console import Console

    from agents.arena import compare, num_hands
    from agents.reports import print_tables, save

    console = Console(highlight=False)
    console.print(f"seed {table.seed}")
    began = time.perf_counter()
    hands = num_hands(table, len(policies), parsed.deals)
    with _workers(parsed) as workers, hands_progress(hands) as progress:
        control = not parsed.raw
        result = compare(
            *(table, policies, parsed.deals), jobs=workers, progress=progress, control=control
        )
    seconds = time.perf_counter() - began
    facts = {
        "command": _command(arguments, table.seed),
        "hands": hands,
        "seconds": round(seconds, 3),
        "jobs": parsed.jobs,
        "backend": parsed.backend,
        **provenance(policies),
    }
    paths = save(folder, result, facts)
    print_tables(result, console)
    console.print(f"{hands:,} hands in {seconds:.1f} s, {hands / seconds:,.0f} a second")
    for path in paths:
        console.print(f"wrote {path}", soft_wrap=True)


def _table(parsed: Arguments) -> Table:
    from agents.duplicate import Table
    from agents.rules import parse_rules

    seed = secrets.randbits(32) if parsed.seed is None else parsed.seed
    rules = parse_rules(parsed.game, parsed.rules)
    return Table(parsed.game, parsed.num_players, rules, parsed.pot, seed)


def _policies(parsed: Arguments) -> list[Policy]:
    from agents.policies import default_specs, parse_policy

    specs = parsed.policies or tuple(default_specs(parsed.game))
    if len(specs) < 2:
        raise ValueError(f"a comparison takes at least two policies, not only {specs[0]!r}")
    policies = [parse_policy(spec, parsed.game, parsed.num_players) for spec in specs]
    for policy, other in itertools.combinations(policies, 2):
        if policy.same_as(other):
            raise ValueError(f"policy {other.spec!r} is the same as {policy.spec!r}")
    return policies


def _command(arguments: Sequence[str], seed: int) -> str:
    """The command that gives the same numbers again."""
    if not any(argument.startswith("--seed") for argument in arguments):
        arguments = [*arguments, "--seed", str(seed)]
    return shlex.join(["python", "-m", "experiments.arena", *arguments])


def _default_folder(table: Table, policies: list[Policy], deals: int) -> Path:
    """A folder of its own for every comparison, the same when it is run again."""
    setting = (table.rules, table.pot, [policy.spec for policy in policies], deals)
    digest = hashlib.sha256(repr(setting).encode()).hexdigest()[:6]
    name = f"{table.game}-{table.num_players}p-seed{table.seed}-{digest}"
    return Path("runs/arena") / name


if __name__ == "__main__":
    main()
