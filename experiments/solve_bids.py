"""Solve the bidding for a fixed play of the cards: `python -m experiments.solve_bids --help`.

Writes a table, which plays as `bids:FILE`, with bounds on how far it is from an equilibrium. What
is learnt is kept in a run folder: the same command goes on where it was stopped or killed, and
gives the same table as if it had not been.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from experiments.command_line import RUNS, ends_cleanly, hands_progress

if TYPE_CHECKING:
    from agents.bids.gaps import Gap
    from agents.bids.solver import Game, Solution
    from agents.policies import Policy

SAVE_EVERY = 20.0  # seconds
EVALUATED_FROM = 10**12  # deals by which a table is judged; it is learnt on those from 0 on


@dataclass(frozen=True)
class Arguments:
    """Solve the bidding for a fixed play of the cards."""

    name: tyro.conf.Positional[str]
    """Game and players, such as bestia-4."""
    cards: str | None = None
    """Who plays the cards: a baseline or net:FILE; net:NAME if nobody is named."""
    warm_cards: str | None = None
    """Who plays the cards in the first iterations, a baseline; the game's best if none is named."""
    warm: int = 150
    """Iterations with these cards, which are fast; the mean of all tables begins after them."""
    iterations: int = 250
    """Iterations in all, each of which learns from so many deals."""
    deals: int = 20_000
    """Deals in each iteration."""
    judge_deals: int = 2_000_000
    """Deals on which the bounds are found."""
    seed: int = 0
    """Of all deals and chances."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE."""
    run: Path | None = None
    """Folder for what is learnt so far; runs/bids/NAME if none is given."""
    out: Path | None = None
    """The table's file, which ends in .bids; NAME.bids in the run folder if none is given."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parsed = tyro.cli(Arguments, prog="python -m experiments.solve_bids", args=arguments)
    with ends_cleanly("the same command goes on from here"):
        _run(parsed, shlex.join(["python", "-m", "experiments.solve_bids", *arguments]))


def _run(parsed: Arguments, command: str) -> None:
    from agents.bids.gaps import gap
    from agents.bids.solver import sharpened
    from agents.bids.table import ENDING, WHOLE, BidTable, rounded, save_table
    from agents.reports import check_writable
    from bestia_env.files import check_replaceable
    from bestia_env.rules.table import check_coins

    check_coins("warm", parsed.warm, least=0)
    check_coins("iterations", parsed.iterations, least=parsed.warm + 1)
    check_coins("deals", parsed.deals, least=1)
    check_coins("judge_deals", parsed.judge_deals, least=100)
    game, warm_game, cards = _games(parsed)
    folder = parsed.run or RUNS / "bids" / parsed.name
    path = parsed.out or folder / f"{parsed.name}{ENDING}"
    if path.suffix != ENDING:
        raise ValueError(f"a table's name ends in {ENDING}, not {str(path)!r}")
    for parent in (folder, path.parent):
        check_writable(parent)
    check_replaceable(path)
    with hands_progress(parsed.iterations * parsed.deals + parsed.judge_deals, "deals") as progress:
        solution, seconds = _solve(parsed, game, warm_game, folder / "solution.npz", progress)
        shares = rounded(sharpened(solution.average(game.families)))
        began = time.perf_counter()
        judged = shares.reshape(game.shape) / WHOLE
        found = gap(game, judged, parsed.judge_deals, EVALUATED_FROM, progress)
        judging = time.perf_counter() - began
    spent = {"solving": seconds, "judging": judging}
    facts = _facts(parsed, game, warm_game.cards.spec, found, command, spent)
    save_table(path, BidTable(game.table.game, game.table.num_players, cards, shares, facts))
    for line in _report(game, found):
        print(line)
    print(f"wrote {path}, {path.stat().st_size:,} bytes")


def _games(parsed: Arguments) -> tuple[Game, Game, str]:
    """What is solved, the same with fast cards, and the spec of who plays the cards."""
    from agents.arena import Table
    from agents.bids.solver import Game
    from agents.bids.table import num_players_of
    from agents.policies import BEST_BASELINES
    from agents.rules import parse_rules

    name, players = num_players_of(parsed.name)
    cards = parsed.cards or f"net:{parsed.name}"
    policy, fast = (
        _card_player(spec, name, players)
        for spec in (cards, parsed.warm_cards or BEST_BASELINES[name])
    )
    game = Game(Table(name, players, parse_rules(name, parsed.rules), 1, parsed.seed), policy)
    return game, game.with_cards(fast), cards


def _card_player(spec: str, game: str, num_players: int) -> Policy:
    from agents.policies import parse_policy

    policy = parse_policy(spec, game, num_players)
    if policy.program is not None or policy.chooser is not None:
        raise ValueError(f"cards must be played by a baseline or a network, not {spec!r}")
    return policy


def _solve(
    parsed: Arguments, game: Game, warm_game: Game, path: Path, progress: Callable[[int], None]
) -> tuple[Solution, float]:
    """Learn, from where an earlier run stopped if there is one; and the seconds of this one."""
    from agents.bids.solver import TREMBLE, Solution

    specs = warm_game.cards.spec, parsed.warm, game.cards.spec
    setting = json.dumps([game.table.words, *specs, parsed.deals, parsed.seed])
    solution = Solution.load(path, setting) or Solution.new(game.shape)
    if solution.iterations > parsed.iterations:
        raise ValueError(
            f"{path} has {solution.iterations} iterations already, more than {parsed.iterations}"
        )
    progress(solution.iterations * parsed.deals)
    began = saved = time.perf_counter()
    while solution.iterations < parsed.iterations:
        first = solution.iterations * parsed.deals
        chances = solution.chances(game.families)
        if solution.iterations == parsed.warm:
            solution.forget_average()
        player = game if solution.iterations >= parsed.warm else warm_game
        sums = player.walk(chances, first, first + parsed.deals, TREMBLE)
        solution.step(sums, game.parents, chances)
        progress(parsed.deals)
        if time.perf_counter() - saved > SAVE_EVERY or solution.iterations == parsed.iterations:
            solution.save(path, setting)
            saved = time.perf_counter()
    return solution, time.perf_counter() - began


def _facts(
    parsed: Arguments,
    game: Game,
    warm_cards: str,
    found: Gap,
    command: str,
    seconds: dict[str, float],
) -> dict:
    """How it was solved and what came of it, for the file's header."""
    from agents.checkpoints import git_commit, versions

    return {
        "rules": dataclasses.asdict(game.table.rules),
        "solver": "external-sampling MCCFR in batches, linear, smoothed over families",
        "command": command,
        "seed": parsed.seed,
        "iterations": parsed.iterations,
        "warm": [warm_cards, parsed.warm],
        "deals": parsed.iterations * parsed.deals,
        "nash_conv": {
            "low": found.low.mean,
            "low_half_width": found.low.half_width,
            "high": found.high,
            "deals": found.num_deals,
        },
        "worths": found.worths.tolist(),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "load": round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None,
        "commit": git_commit(),
        "versions": versions(),
    }


def _report(game: Game, found: Gap) -> list[str]:
    worths = " ".join(f"{worth:+.4f}" for worth in found.worths)
    return [
        f"{game.table.words}, cards by {game.cards.spec}",
        f"NashConv from {found.low} to {found.high:+.4f} pots, {found.num_deals:,} deals",
        f"worth of the seats from the eldest on: {worths}",
    ]


if __name__ == "__main__":
    main()
