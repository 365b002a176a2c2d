"""Solve the bidding for a fixed play of the cards: `python -m experiments.solve_bids --help`.

Writes a table, which plays as `bids:FILE`, with bounds on how far it is from an equilibrium; with
`--bids` one of any policy's bids, judged on the same deals. What is learnt is kept in a run folder:
the same command goes on where it was stopped or killed, and gives the same table as if it had not
been.
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
from typing import TYPE_CHECKING, Any, NamedTuple

import tyro

from experiments.command_line import RUNS, ends_cleanly, hands_progress

if TYPE_CHECKING:
    import numpy as np

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
    bids: str | None = None
    """Whose bids are judged in the place of solved ones: the spec of a table, a network, a baseline
    or a rule."""
    asked_deals: int = 100_000
    """Deals in which it is asked, unless it is a table."""
    seed: int = 0
    """Of all deals and chances."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE."""
    run: Path | None = None
    """Folder for what is learnt so far; runs/bids/NAME if none is given."""
    out: Path | None = None
    """The table's file, which ends in .bids; NAME.bids in the run folder if none is given, or
    NAME-judged.bids with --bids."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parsed = tyro.cli(Arguments, prog="python -m experiments.solve_bids", args=arguments)
    with ends_cleanly("the same command goes on from here"):
        _run(parsed, shlex.join(["python", "-m", "experiments.solve_bids", *arguments]))


def _run(parsed: Arguments, command: str) -> None:
    from agents.bids.gaps import gap
    from agents.bids.table import ENDING, WHOLE, BidTable, rounded, save_table
    from agents.reports import check_writable
    from bestia_env.files import check_replaceable
    from bestia_env.rules.table import check_coins

    check_coins("warm", parsed.warm, least=0)
    check_coins("iterations", parsed.iterations, least=parsed.warm + 1)
    check_coins("deals", parsed.deals, least=1)
    check_coins("asked_deals", parsed.asked_deals, least=1)
    check_coins("judge_deals", parsed.judge_deals, least=100)
    bidder = _bidder(parsed)
    game, warm_game, cards = _games(parsed, bidder)
    folder = parsed.run or RUNS / "bids" / parsed.name
    stem = parsed.name if bidder is None else f"{parsed.name}-judged"
    path = parsed.out or folder / f"{stem}{ENDING}"
    if path.suffix != ENDING:
        raise ValueError(f"a table's name ends in {ENDING}, not {str(path)!r}")
    for parent in (folder, path.parent):
        check_writable(parent)
    check_replaceable(path)
    learnt = parsed.iterations * parsed.deals if bidder is None else parsed.asked_deals
    with hands_progress(learnt + parsed.judge_deals, "deals") as progress:
        if bidder is None:
            found = _solved(parsed, game, warm_game, folder / "solution.npz", progress)
        else:
            found = _asked(parsed, game, bidder, progress)
        shares = rounded(found.chances)
        began = time.perf_counter()
        judged = shares.reshape(game.shape) / WHOLE
        bounds = gap(game, judged, parsed.judge_deals, EVALUATED_FROM, progress)
        judging = time.perf_counter() - began
    facts = _facts(parsed, game, found, bounds, command, judging)
    save_table(path, BidTable(game.table.game, game.table.num_players, cards, shares, facts))
    for line in _report(game, bounds):
        print(line)
    print(f"wrote {path}, {path.stat().st_size:,} bytes")


def _bidder(parsed: Arguments) -> Policy | None:
    """Whose bids are judged, if they are not to be solved."""
    from agents.bids.table import BidTable, num_players_of
    from agents.policies import parse_policy

    if parsed.bids is None:
        return None
    policy = parse_policy(parsed.bids, *num_players_of(parsed.name))
    if policy.chooser is not None and not isinstance(policy.chooser, BidTable):
        raise ValueError(
            f"bids must be those of a table, a network, a baseline or a rule, not {parsed.bids!r}"
        )
    return policy


def _games(parsed: Arguments, bidder: Policy | None) -> tuple[Game, Game, str]:
    """What is solved, the same with fast cards, and the spec of who plays the cards."""
    from agents.bids.solver import Game
    from agents.bids.table import BidTable, num_players_of
    from agents.duplicate import Table
    from agents.policies import BEST_BASELINES
    from agents.rules import parse_rules

    name, players = num_players_of(parsed.name)
    solved_for = f"net:{parsed.name}"
    if bidder is not None and isinstance(bidder.chooser, BidTable):
        solved_for = bidder.chooser.cards
    cards = parsed.cards or solved_for
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


class Found(NamedTuple):
    """Bids to be judged.

    Attributes:
        chances: (nodes, classes) of the loud bid.
        facts: where they are from.
        seconds: that it took.
    """

    chances: np.ndarray
    facts: dict[str, Any]
    seconds: float


def _asked(parsed: Arguments, game: Game, bidder: Policy, progress: Callable[[int], None]) -> Found:
    """A policy's bids."""
    from agents.bids.imitation import chances_in

    began = time.perf_counter()
    chances = chances_in(game, bidder, parsed.asked_deals, 0, progress)
    facts = {"solver": f"bids of {bidder.spec}", "deals": parsed.asked_deals}
    return Found(chances, facts, time.perf_counter() - began)


def _solved(
    parsed: Arguments, game: Game, warm_game: Game, path: Path, progress: Callable[[int], None]
) -> Found:
    """Bids learnt; the seconds are those of all runs together."""
    from agents.bids.solver import sharpened

    solution = _solve(parsed, game, warm_game, path, progress)
    facts = {
        "solver": "external-sampling MCCFR in batches, linear, smoothed over families",
        "iterations": parsed.iterations,
        "warm": [warm_game.cards.spec, parsed.warm],
        "deals": parsed.iterations * parsed.deals,
    }
    return Found(sharpened(solution.average(game.families)), facts, solution.seconds)


def _solve(
    parsed: Arguments, game: Game, warm_game: Game, path: Path, progress: Callable[[int], None]
) -> Solution:
    """Learn, from where an earlier run stopped if there is one."""
    from agents.bids.solver import TREMBLE, Solution

    specs = warm_game.cards.spec, parsed.warm, game.cards.spec
    setting = json.dumps([game.table.words, *specs, parsed.deals, parsed.seed])
    solution = Solution.load(path, setting) or Solution.new(game.shape)
    if solution.iterations > parsed.iterations:
        raise ValueError(
            f"{path} has {solution.iterations} iterations already, more than {parsed.iterations}"
        )
    progress(solution.iterations * parsed.deals)
    saved = time.perf_counter()
    while solution.iterations < parsed.iterations:
        first = solution.iterations * parsed.deals
        chances = solution.chances(game.families)
        if solution.iterations == parsed.warm:
            solution.forget_average()
        player = game if solution.iterations >= parsed.warm else warm_game
        sums = player.walk(chances, first, first + parsed.deals, TREMBLE)
        solution.step(sums, game.parents, chances)
        progress(parsed.deals)
        spent = time.perf_counter() - saved
        if spent > SAVE_EVERY or solution.iterations == parsed.iterations:
            solution.seconds += spent
            solution.save(path, setting)
            saved = time.perf_counter()
    return solution


def _facts(
    parsed: Arguments, game: Game, found: Found, bounds: Gap, command: str, judging: float
) -> dict[str, Any]:
    """How it was solved and what came of it, for the file's header."""
    from agents.checkpoints import git_commit, versions

    return {
        "rules": dataclasses.asdict(game.table.rules),
        **found.facts,
        "command": command,
        "seed": parsed.seed,
        "nash_conv": {
            "low": bounds.low.mean,
            "low_half_width": bounds.low.half_width,
            "high": bounds.high,
            "deals": bounds.num_deals,
        },
        "worths": bounds.worths.tolist(),
        "seconds": {"solving": round(found.seconds, 1), "judging": round(judging, 1)},
        "load": round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None,
        "commit": git_commit(),
        "versions": versions(),
    }


def _report(game: Game, bounds: Gap) -> list[str]:
    worths = " ".join(f"{worth:+.4f}" for worth in bounds.worths)
    return [
        f"{game.table.words}, cards by {game.cards.spec}",
        f"NashConv from {bounds.low} to {bounds.high:+.4f} pots, {bounds.num_deals:,} deals",
        f"worth of the seats from the eldest on: {worths}",
    ]


if __name__ == "__main__":
    main()
