"""Measure what every baseline scores among copies of every other, for `agents.stand_ins`.

    python -m experiments.measure_stand_ins

To be run again when a change of the rules or the baselines changes how hands go: until then the
arena does without the pairs that no longer play as they did.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from experiments.command_line import ends_cleanly


@dataclass(frozen=True)
class Arguments:
    """Measure what every baseline scores among copies of every other."""

    games: tuple[Literal["beast", "bestia"], ...] = ("beast", "bestia")
    """The games."""
    num_players: int = 4
    """Seats."""
    deals: int = 2_000_000
    """Deals for each pair."""
    jobs: int = 1
    """Processes. The numbers do not depend on it."""
    out: Path = Path("agents/stand_ins.json")
    """The file; what it holds of other tables stays."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the tables that were measured are written"):
        _check(arguments)
        for game in arguments.games:
            name = f"{game}-{arguments.num_players}"
            table = measure(game, arguments.num_players, arguments.deals, arguments.jobs)
            _write(arguments.out, {**_saved(arguments.out), name: table})
            print(f"{name}: {len(table['pairs'])} pairs written to {arguments.out}")


def _check(arguments: Arguments) -> None:
    """Raise an error if something is wrong, before anything is played."""
    from agents.duplicate import Table
    from agents.reports import check_writable
    from agents.stand_ins import CHECKED
    from bestia_env.files import check_replaceable
    from bestia_env.rules.table import check_coins

    for game in arguments.games:
        Table(game, arguments.num_players)
    check_coins("deals", arguments.deals, least=CHECKED)
    check_coins("jobs", arguments.jobs, least=1)
    check_writable(arguments.out.parent)
    check_replaceable(arguments.out)
    _saved(arguments.out)


def _saved(path: Path) -> dict[str, Any]:
    """The tables of earlier runs."""
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))
        for name, table in tables.items():
            _lines(name, table)
        return dict(tables)
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{path} holds no tables of stand-ins: delete it") from None


def _write(path: Path, tables: dict[str, Any]) -> None:
    from bestia_env.files import write_whole

    lines = ",\n".join(_lines(name, tables[name]) for name in sorted(tables))
    write_whole(path, f"{{\n{lines}\n}}\n".encode())


def measure(game: str, num_players: int, num_deals: int, jobs: int) -> dict[str, Any]:
    """What `agents.stand_ins.known_pairs` reads of a table.

    Raises:
        ValueError: an argument is out of range.
    """
    from agents.arena import duel, one_against_field
    from agents.duplicate import Table
    from agents.stand_ins import CHECKED, SEED, pairs, policies_of

    rows = []
    table = Table(game, num_players, seed=SEED)
    for pair in pairs(game):
        players = policies_of(pair, game, num_players)
        score = one_against_field(
            *players, num_deals, SEED, num_players=num_players, jobs=jobs, control=False
        )
        checked = float(duel(table, *players, 0, CHECKED).sum())
        facts = {"mean": score.mean, "half_width": score.half_width, "checked": checked}
        rows.append({**pair._asdict(), **facts})
    return {"deals": num_deals, "pairs": rows}


def _lines(name: str, table: dict[str, Any]) -> str:
    """A table as JSON, a line for each pair."""
    rows = ",\n".join(f"  {json.dumps(row)}" for row in table["pairs"])
    return f'"{name}": {{"deals": {table["deals"]}, "pairs": [\n{rows}\n]}}'


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.measure_stand_ins", description=__doc__))
