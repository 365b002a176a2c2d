"""Measure the shipped policies against every baseline, both ways, at several pots.

    python -m experiments.measure_shipped

A policy sits alone among copies of each baseline, and each baseline alone among copies of the
policy, on duplicate deals that neither training nor selection has seen. Results are written after
every baseline; interrupted, the same command goes on where it was.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.estimates import Z_95
from experiments.command_line import ends_cleanly

if TYPE_CHECKING:
    from agents.shipped import Shipped

MARGIN = 0.02  # pots per hand that a policy should win, and by five standard errors
LEAK = 0.01  # pots per hand that a baseline should not win among copies of the policy


@dataclass(frozen=True)
class Arguments:
    """Measure the shipped policies against every baseline."""

    policies: tuple[str, ...] = ()
    """Names such as bestia-4; all that are shipped if none are given."""
    pots: tuple[int, ...] = (1, 2, 4, 8)
    """Pots played for, in opening pots."""
    deals: int = 50_000
    """Duplicate deals for each figure."""
    seed: int = 30_000_000
    """Of the deals."""
    jobs: int = 1
    """Processes. The numbers do not depend on it."""
    out: Path = Path("experiments/results/shipped.json")
    """Where the figures go; those of the same policies, deals and seed are kept."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        rows = measure(arguments)
    print("\n".join(tables(rows)))
    print(f"* the policy wins less than {MARGIN}, or the baseline may win more than {LEAK}")
    print(f"written to {arguments.out}")


def measure(arguments: Arguments) -> list[dict[str, Any]]:
    """All figures, a row for each policy, pot and baseline.

    Raises:
        ValueError: an argument is out of range.
        OSError: the file cannot be written to.
    """
    from rich.progress import track

    from agents.checkpoints import write_whole
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("deals", arguments.deals, least=2)
    check_coins("jobs", arguments.jobs, least=1)
    for pot in arguments.pots:
        check_coins("pots", pot, least=1, most=10**6)
    work = list(_work(arguments))
    if not work:
        raise ValueError("no policy is shipped, or no pot is given: there is nothing to measure")
    check_writable(arguments.out.parent)
    known = {_key(row): row for row in _saved(arguments.out)}
    for row, policy in track(work, "measuring", transient=True):
        if _key(row) not in known:
            known[_key(row)] = {**row, **_figures(arguments, row, policy)}
            text = json.dumps([*known.values()], indent=1)
            write_whole(arguments.out, f"{text}\n".encode())
    return [known[_key(row)] for row, _ in work]


def _work(arguments: Arguments) -> Iterator[tuple[dict[str, Any], Shipped]]:
    """What each figure is of."""
    from agents.policies import default_specs
    from agents.shipped import shipped, shipped_named

    for name in arguments.policies or shipped():
        policy = shipped_named(name)
        digest = _digest(policy)
        for pot in arguments.pots:
            for spec in default_specs(policy.game):
                yield (
                    {
                        "policy": name,
                        "weights": digest,
                        "pot": pot,
                        "baseline": spec,
                        "deals": arguments.deals,
                        "seed": arguments.seed,
                    },
                    policy,
                )


def _key(row: dict[str, Any]) -> tuple:
    return tuple(row[name] for name in ("policy", "weights", "pot", "baseline", "deals", "seed"))


def _digest(policy: Shipped) -> str:
    return hashlib.sha256(policy.path.read_bytes()).hexdigest()[:16]


def _saved(path: Path) -> list[dict[str, Any]]:
    """The rows of an earlier run, but for those of policies that are no longer shipped."""
    from agents.shipped import shipped

    current = {_digest(policy) for policy in shipped().values()}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        sound = [row for row in rows if _key(row) and row["gain"] and row["leak"]]
        return [row for row in sound if row["weights"] in current]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{path} holds no figures of this kind: delete it") from None


def _figures(arguments: Arguments, row: dict[str, Any], shipped: Shipped) -> dict[str, Any]:
    from agents.arena import one_against_field
    from agents.policies import parse_policy

    learner = shipped.policy
    baseline = parse_policy(row["baseline"], shipped.game, shipped.num_players)
    gain, leak = (
        one_against_field(
            one,
            field,
            row["deals"],
            row["seed"],
            num_players=shipped.num_players,
            pot=row["pot"],
            jobs=arguments.jobs,
        )
        for one, field in ((learner, baseline), (baseline, learner))
    )
    return {"gain": dataclasses.asdict(gain), "leak": dataclasses.asdict(leak)}


def tables(rows: list[dict[str, Any]]) -> list[str]:
    """The figures as Markdown tables, two for each game and pot; * marks those that miss an aim."""
    lines: list[str] = []
    for game, pot in dict.fromkeys((_game(row), row["pot"]) for row in rows):
        shown = [row for row in rows if (_game(row), row["pot"]) == (game, pot)]
        for kind, title in (("gain", "policy among copies of"), ("leak", "one among policies")):
            lines += [f"{game.capitalize()}, pot {pot}: {title}", *_table(shown, kind), ""]
    return lines


def _game(row: dict[str, Any]) -> str:
    return row["policy"].partition("-")[0]


def _table(rows: list[dict[str, Any]], kind: str) -> list[str]:
    """A row for each baseline, a column for each policy."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    cells = {(row["baseline"], row["policy"]): cell(row[kind], kind) for row in rows}
    lines = [f"| | {' | '.join(policies)} |", "|---" * (len(policies) + 1) + "|"]
    for baseline in dict.fromkeys(row["baseline"] for row in rows):
        scores = [cells[baseline, policy] for policy in policies]
        lines.append(f"| {baseline} | {' | '.join(scores)} |")
    return lines


def cell(estimate: dict[str, float], kind: str) -> str:
    """An interval; * where the aim is missed.

    Args:
        estimate: in pots per hand.
        kind: "gain" of the policy, or "leak", what a baseline gains among its copies.
    """
    mean, half = estimate["mean"], estimate["half_width"]
    if kind == "gain":
        misses = mean < max(MARGIN, 5 / Z_95 * half)
    else:
        misses = mean + half >= LEAK
    return f"{mean:+.4f} ± {half:.4f}{'*' if misses else ''}"


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.measure_shipped", description=__doc__))
