"""Train a learner by every algorithm, and play them, search, solved bids and all baselines.

    python -m experiments.league            # or: make league

Four players at mixed tables. PPO's learner is the shipped policy; the others are trained here, one
after the other, under `runs/league/`. What a best responder gains from each stands beside its
score, as far as `experiments.best_response` has measured it. Who sees all cards is not ranked.
Interrupted, the same command goes on where it was.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.command_line import (
    RESULTS,
    ends_cleanly,
    hands_progress,
    results_folder,
    runs_folder,
)

if TYPE_CHECKING:
    from agents.arena import Standing
    from agents.duplicate import Table
    from agents.policies import Policy

GAMES = ("bestia", "beast")
NUM_PLAYERS = 4
TRAININGS = {
    "dmc": ("experiments.train_dmc", "--total-steps", "6000000"),
    "q": ("experiments.train_q", "--total-steps", "5000000"),
    "sb3": ("experiments.train_maskable_ppo", "--total-steps", "2500000"),
}
SEARCHERS = ("pimc:worlds=40", "ismcts:iterations=500")
CEILING = "cheat"
LEAST_DEALS = 50  # so that everybody sits at some tables
SMOKE: dict[str, Any] = {"deals": LEAST_DEALS, "ceiling_deals": LEAST_DEALS}
SAVE_EVERY = 20.0  # seconds
MAX_BYTES = 1 << 28


@dataclass(frozen=True)
class Arguments:
    """Train a learner by every algorithm, and play all against all."""

    deals: int = 20_000
    """Duplicate deals at mixed tables."""
    ceiling_deals: int = 1_000
    """As many more at which one who sees all cards sits as well."""
    seed: int = 50_000_000
    """Of the deals; the trainings have seed 0."""
    jobs: int = 2
    """Processes that play. The numbers do not depend on it."""
    runs: Path | None = None
    """Where the trainings and the scores go; runs/league if none is given."""
    out: Path | None = None
    """Where the standings go; experiments/results/league.json if none is given."""
    show: bool = False
    """Play nothing; show the standings that were written, with what is known of gains by now."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then both go below runs/smoke."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    from experiments import best_response

    with ends_cleanly("the same command goes on where it was"):
        gains = best_response.saved(RESULTS / best_response.FILE)
        rows, out = written(arguments) if arguments.show else hold(arguments)
        print("\n".join(table(rows, gains)))
    print("* by a training shorter than its own, or than 8 million decisions if it had none")
    print(f"written to {out}")


def written(arguments: Arguments) -> tuple[list[dict[str, Any]], Path]:
    """The standings of an earlier run, and the file.

    Raises:
        ValueError: there is no such file, or it holds no standings.
    """
    out = _out(arguments)
    try:
        rows = json.loads(out.read_text(encoding="utf-8"))
        table(rows, [])
    except FileNotFoundError:
        raise ValueError(f"there are no standings {out}: play the league first") from None
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"{out} holds no standings of this version: play the league anew"
        ) from None
    return rows, out


def _out(arguments: Arguments) -> Path:
    return arguments.out or results_folder(arguments.smoke) / "league.json"


def hold(arguments: Arguments) -> tuple[list[dict[str, Any]], Path]:
    """Train, play and write; returns the standings of all games, and the file.

    Raises:
        ValueError: an argument is out of range, or what an earlier run left is damaged.
        OSError: a folder cannot be written to.
    """
    from agents.checkpoints import write_whole
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("deals", arguments.deals, least=LEAST_DEALS)
    check_coins("ceiling_deals", arguments.ceiling_deals, least=LEAST_DEALS)
    check_coins("jobs", arguments.jobs, least=1)
    check_coins("seed", arguments.seed, least=0)
    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **SMOKE)
    runs = arguments.runs or runs_folder(arguments.smoke) / "league"
    out = _out(arguments)
    for folder in (runs, out.parent):
        check_writable(folder)
    rows = [row for game in GAMES for row in play(game, arguments, runs)]
    write_whole(out, f"{json.dumps(rows, indent=1)}\n".encode())
    for game, name in itertools.product(GAMES, ("ranked", "ceiling")):
        _scores(runs, game, name).unlink(missing_ok=True)
    return rows, out


def play(game: str, arguments: Arguments, runs: Path) -> list[dict[str, Any]]:
    """The standings of one game, best first, and the ceiling after them.

    It exits with the code of a failed training.
    """
    from agents.policies import parse_policy

    ranked = _players(game, arguments, runs)
    ceiling = parse_policy(CEILING, game, NUM_PLAYERS)
    tables = {"ranked": (ranked, arguments.deals)}
    tables["ceiling"] = ([*ranked, ceiling], arguments.ceiling_deals)
    print(f"{game}: {', '.join(policy.spec for policy in ranked)}", flush=True)
    hands = (arguments.deals + arguments.ceiling_deals) * NUM_PLAYERS
    with hands_progress(hands) as progress:
        found = {
            name: _standings(policies, deals, arguments, _scores(runs, game, name), progress)
            for name, (policies, deals) in tables.items()
        }
    rows = [
        _row(one, standing, arguments.seed)
        for one, standing in zip(ranked, found["ranked"], strict=True)
    ]
    rows.sort(key=lambda row: -row["mean"])
    last = _row(ceiling, found["ceiling"][-1], arguments.seed)
    return [*rows, {**last, "ceiling": True}]


def _scores(runs: Path, game: str, name: str) -> Path:
    """Where the scores of tables are kept until all are played."""
    return runs / f"{game}-{name}.npz"


# Who plays.


def _players(game: str, arguments: Arguments, runs: Path) -> list[Policy]:
    """Baselines, learners, solved bids and search, all by names that hold in any checkout."""
    from agents.policies import default_specs, parse_policy

    shipped = f"{game}-{NUM_PLAYERS}"
    specs = [*default_specs(game), f"net:{shipped}", f"bids:{shipped}", *SEARCHERS]
    players = [parse_policy(spec, game, NUM_PLAYERS) for spec in specs]
    for name, training in TRAININGS.items():
        path = _trained(game, name, training, runs, arguments.smoke)
        learner = parse_policy(f"net:{path}", game, NUM_PLAYERS)
        players.append(dataclasses.replace(learner, spec=f"{game}-{name}"))
    return players


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


# What is played.


def _standings(
    policies: Sequence[Policy],
    deals: int,
    arguments: Arguments,
    path: Path,
    progress: Callable[[int], None],
) -> Sequence[Standing]:
    """Play mixed tables, or go on with them; what is done so far is kept in a file."""
    from agents.arena import Luck, mixed_tables, standings
    from agents.duplicate import Played, Table

    table = Table(policies[0].game, NUM_PLAYERS, seed=arguments.seed)
    setting = _setting(table, policies, deals)
    scores = _load(path, setting)
    progress(sum(map(len, scores)) * NUM_PLAYERS)
    played = mixed_tables(
        table, policies, deals, begun=len(scores), jobs=arguments.jobs, progress=progress
    )
    saved = time.perf_counter()
    try:
        for piece in played:
            scores.append(piece.scores)
            if time.perf_counter() - saved > SAVE_EVERY:
                _save(path, setting, scores)
                saved = time.perf_counter()
    finally:
        _save(path, setting, scores)
    return standings(table, len(policies), map(Played, scores), Luck(table, deals))


def _setting(table: Table, policies: Sequence[Policy], deals: int) -> str:
    """All that the scores depend on."""
    from experiments.responders import Victim

    digests = [(policy.spec, Victim(policy, NUM_PLAYERS).digest) for policy in policies]
    return json.dumps([table.words, table.seed, deals, digests])


def _save(path: Path, setting: str, scores: Sequence[np.ndarray]) -> None:
    from bestia_env.files import write_arrays

    numbered = {str(place): piece for place, piece in enumerate(scores)}
    write_arrays(path, setting=setting, **numbered)


def _load(path: Path, setting: str) -> list[np.ndarray]:
    """The scores of the pieces that were played for the same setting."""
    from bestia_env.files import read_arrays

    try:
        parts = read_arrays(path, MAX_BYTES)
        is_same = str(parts.pop("setting")) == setting
        return [parts[str(place)] for place in range(len(parts))] if is_same else []
    except FileNotFoundError:
        return []
    except KeyError:
        raise ValueError(f"{path} is damaged: delete it") from None


# What is written and shown.


def _row(policy: Policy, standing: Standing, seed: int) -> dict[str, Any]:
    """Where a policy stands, and what its training took."""
    from experiments.responders import Victim

    score = standing.score
    return {
        "game": policy.game,
        "policy": policy.spec,
        "digest": Victim(policy, NUM_PLAYERS).digest,
        "seed": seed,
        "mean": score.mean,
        "half_width": score.half_width,
        "num_deals": score.num_deals,
        "rating": dataclasses.asdict(standing.rating),
        **_cost(policy),
    }


def _cost(policy: Policy) -> dict[str, Any]:
    from agents.checkpoints import load_checkpoint

    if policy.file is None or policy.chooser is not None:
        return {}
    _, sidecar = load_checkpoint(policy.file)
    return {name: sidecar[name] for name in ("command", "steps", "seconds")}


def table(rows: list[dict[str, Any]], gains: Sequence[dict[str, Any]]) -> list[str]:
    """The standings of all games in Markdown.

    Args:
        rows: of all games.
        gains: of best responders, as `experiments.best_response` saves them.
    """
    lines = []
    for game in GAMES:
        here = [row for row in rows if row["game"] == game]
        lines += [
            f"| {game.capitalize()}, {NUM_PLAYERS} players | pots per hand | rating "
            "| best responder gains | training |",
            "|---|---|---|---|---|",
            *(_line(row, gains) for row in here if "ceiling" not in row),
            "",
            *(_ceiling_line(row) for row in here if "ceiling" in row),
            "",
        ]
    return lines


def _line(row: dict[str, Any], gains: Sequence[dict[str, Any]]) -> str:
    rating = row["rating"]
    points = f"{rating['points']:+.0f} ({rating['low']:+.0f} to {rating['high']:+.0f})"
    cost = "none"
    if "steps" in row:
        cost = f"{row['steps'] / 1e6:.1f} M decisions, {row['seconds'] / 60:.1f} min"
    return f"| {row['policy']} | {_interval(row)} | {points} | {_gain(row, gains)} | {cost} |"


def _gain(row: dict[str, Any], gains: Sequence[dict[str, Any]]) -> str:
    """What one best responder gains among its copies; * after a short training."""
    from experiments.best_response import best_known, is_short

    best = best_known(gains, row["game"], NUM_PLAYERS, row["digest"])
    if best is None:
        return "not measured"
    return f"{_interval(best['gain'])}{'*' if is_short(best) else ''}"


def _ceiling_line(row: dict[str, Any]) -> str:
    return (
        f"{row['policy']}, which sees all cards, has {_interval(row)} pots per hand where it sits "
        f"among these ({row['num_deals']:,} deals)."
    )


def _interval(found: dict[str, Any]) -> str:
    return f"{found['mean']:+.4f} ± {found['half_width']:.4f}"


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.league", description=__doc__))
