"""Train a learner by every algorithm, and play them and all baselines against each other.

    python -m experiments.league            # or: make league

Four players. PPO's learner is the shipped policy; the others are trained here, one after the other,
under `runs/league/`. Interrupted, the same command goes on where it was.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.command_line import ends_cleanly, results_folder, runs_folder

GAMES = ("bestia", "beast")
NUM_PLAYERS = 4
TRAININGS = {
    "dmc": ("experiments.train_dmc", "--total-steps", "6000000"),
    "q": ("experiments.train_q", "--total-steps", "5000000"),
    "sb3": ("experiments.train_maskable_ppo", "--total-steps", "2500000"),
}
SMOKE_DEALS = 50


@dataclass(frozen=True)
class Arguments:
    """Train a learner by every algorithm, and play all against all."""

    deals: int = 20_000
    """Duplicate deals for each cell of the matrix, and as many for the mixed tables."""
    seed: int = 50_000_000
    """Of the deals; the trainings have seed 0."""
    jobs: int = 2
    """Processes that play. The numbers do not depend on it."""
    runs: Path | None = None
    """Where the trainings and the arena's tables go; runs/league if none is given."""
    out: Path | None = None
    """Where the standings go; experiments/results/league.json if none is given."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then both go below runs/smoke."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        rows, out = hold(arguments)
    print("\n".join(table(rows)))
    print(f"written to {out}")


def hold(arguments: Arguments) -> tuple[list[dict[str, Any]], Path]:
    """Train, play and write; returns the standings of all games, and the file.

    Raises:
        ValueError: an argument is out of range.
        OSError: a folder cannot be written to.
    """
    from agents.checkpoints import write_whole
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("deals", arguments.deals, least=2)
    check_coins("jobs", arguments.jobs, least=1)
    check_coins("seed", arguments.seed, least=0)
    runs = arguments.runs or runs_folder(arguments.smoke) / "league"
    out = arguments.out or results_folder(arguments.smoke) / "league.json"
    for folder in (runs, out.parent):
        check_writable(folder)
    rows = [row for game in GAMES for row in play(game, arguments, runs)]
    write_whole(out, f"{json.dumps(rows, indent=1)}\n".encode())
    return rows, out


def play(game: str, arguments: Arguments, runs: Path) -> list[dict[str, Any]]:
    """The standings of one game, best first; exits with the code of a failed training."""
    from agents.policies import default_specs
    from experiments import arena

    networks = {f"{game}-{NUM_PLAYERS}": _shipped(game)}
    for name, training in TRAININGS.items():
        networks[f"{game}-{name}"] = _trained(game, name, training, runs, arguments.smoke)
    folder = runs / f"{game}-arena"
    specs = [f"net:{path}" for path in networks.values()]
    arena.main(
        [
            *("--game", game, "--num-players", str(NUM_PLAYERS), "--jobs", str(arguments.jobs)),
            *("--deals", str(SMOKE_DEALS if arguments.smoke else arguments.deals)),
            *("--seed", str(arguments.seed), "--out", str(folder)),
            *("--policies", *default_specs(game), *specs),
        ]
    )
    facts = json.loads((folder / "arena.json").read_text(encoding="utf-8"))
    names = dict(zip(specs, networks, strict=True))
    return [_row(game, names, facts, place) for place in facts["ranking"]]


def _shipped(game: str) -> Path:
    from agents.shipped import shipped_named

    return shipped_named(f"{game}-{NUM_PLAYERS}").path


def _trained(game: str, name: str, training: tuple[str, ...], runs: Path, smoke: bool) -> Path:
    """Train, or go on with it, or find it done."""
    module, *options = training
    run_dir = runs / f"{game}-{name}"
    options = ["--smoke"] if smoke else [*options, "--final-deals", "0"]
    words = ["-m", module, "--game", game, "--run-dir", str(run_dir), *options]
    print(shlex.join(["python", *words]), flush=True)
    if code := subprocess.run([sys.executable, *words]).returncode:
        sys.exit(code)
    return run_dir / "policy.safetensors"


def _row(
    game: str, networks: dict[str, str], facts: dict[str, Any], place: dict[str, Any]
) -> dict[str, Any]:
    """Where a policy stands, and what its training took."""
    spec = place["policy"]
    row = {
        "game": game,
        "policy": networks.get(spec, spec),
        "seed": facts["seed"],
        **{name: place[name] for name in ("mean", "half_width", "num_deals", "rating")},
    }
    return row | (_cost(spec) if spec in networks else {})


def _cost(spec: str) -> dict[str, Any]:
    from agents.checkpoints import load_checkpoint

    _, sidecar = load_checkpoint(spec.removeprefix("net:"))
    return {name: sidecar[name] for name in ("command", "steps", "seconds")}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The standings of all games in Markdown."""
    lines = []
    for game in GAMES:
        lines += [
            f"| {game.capitalize()}, {NUM_PLAYERS} players | pots per hand | rating | training |",
            "|---|---|---|---|",
            *(_line(row) for row in rows if row["game"] == game),
            "",
        ]
    return lines


def _line(row: dict[str, Any]) -> str:
    score, rating = f"{row['mean']:+.4f} ± {row['half_width']:.4f}", row["rating"]
    points = f"{rating['points']:+.0f} ({rating['low']:+.0f} to {rating['high']:+.0f})"
    cost = "none"
    if "steps" in row:
        cost = f"{row['steps'] / 1e6:.1f} M decisions, {row['seconds'] / 60:.1f} min"
    return f"| {row['policy']} | {score} | {points} | {cost} |"


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.league", description=__doc__))
