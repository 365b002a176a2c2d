"""Turn a recorded hand into a page: `python -m experiments.replay --help`.

The page is one file that needs no server and no network: the table step by step, as it was or as
each seat saw it, and what policies thought of every decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from experiments.command_line import ends_cleanly, hands_progress

if TYPE_CHECKING:
    from bestia_env.records import Record

MOST_WORLDS = 10_000


@dataclass(frozen=True)
class Arguments:
    """Turn a recorded hand into one page of HTML."""

    hands: Annotated[Path, tyro.conf.Positional]
    """A file of recorded hands, a hand a line, such as experiments.record writes."""
    hand: int = 1
    """Which of them, from 1."""
    out: Path | None = None
    """The page; beside the file of hands, and named after it and the hand, if none is given."""
    policies: tuple[str, ...] = ()
    """More policies to ask at every decision, beside the player's own where the record names one:
    specs such as threshold:0.4, net:FILE or bids:bestia-4. Of searchers such as pimc the worth of
    actions takes minutes unless there are few worlds."""
    worth: int = 200
    """In how many worlds to play out each action, to tell what it is worth; 0 for not at all."""
    seed: int = 0
    """Of the worlds."""
    solve: bool = True
    """Show what each card was worth with all cards open, which no player could know; only in the
    view with all cards open."""
    seat: int | None = None
    """By whose view the page begins; with all cards open if none is given."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    parsed = tyro.cli(Arguments, prog="python -m experiments.replay", args=arguments)
    with ends_cleanly("nothing was written"):
        # Heavy imports come after this line: --help and misspelt flags are answered at once.
        from agents.reports import check_writable
        from bestia_env.files import check_replaceable, write_whole
        from bestia_env.records import check
        from experiments.hindsight import hindsights
        from experiments.replay_page import replay_page
        from experiments.thoughts import players_of, policy_to_ask, think

        record = _chosen(parsed)
        check(record)
        policies = [policy_to_ask(spec, record) for spec in parsed.policies]
        out = parsed.out or parsed.hands.with_name(f"{parsed.hands.stem}-{parsed.hand}.html")
        check_writable(out.parent)
        check_replaceable(out)
        with hands_progress(len(record.actions), "decisions") as progress:
            thoughts = think(
                record, players_of(record), policies, parsed.worth, parsed.seed, progress
            )
        found = hindsights(record) if parsed.solve else []
        write_whole(out, replay_page(record, thoughts, parsed.seat, found).encode())
        print(f"wrote {out}")


def _chosen(parsed: Arguments) -> Record:
    """The hand asked for.

    Raises:
        ValueError: an argument is out of range, or a line holds no hand.
        OSError: the file cannot be read.
    """
    from bestia_env.records import read_records
    from bestia_env.rules.table import check_coins

    check_coins("worth", parsed.worth, least=0, most=MOST_WORLDS)
    if parsed.worth == 1:
        raise ValueError("worth must be 0, or at least 2 worlds, not 1")
    check_coins("seed", parsed.seed, least=0)
    records = read_records(parsed.hands)
    if not records:
        raise ValueError(f"{parsed.hands} holds no hands")
    check_coins("hand", parsed.hand, least=1, most=len(records))
    record = records[parsed.hand - 1]
    if parsed.seat is not None:
        check_coins("seat", parsed.seat, least=0, most=record.num_players - 1)
    return record


if __name__ == "__main__":
    main()
