"""Play a session and write down its hands: `python -m experiments.record --help`.

The file holds a hand a line, in the format that `bestia_env.records` describes; any of them can be
played over, or turned into a page by `python -m experiments.replay`. The same command with the
same seed writes the same file.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from experiments.command_line import ends_cleanly

if TYPE_CHECKING:
    from agents.policies import Policy
    from bestia_env.records import Record

MOST_HANDS = 100_000


@dataclass(frozen=True)
class Arguments:
    """Play a session of hands, the pot carried on and the deal passing, and write them down."""

    game: Literal["beast", "bestia"]
    """The game."""
    num_players: int = 4
    """Seats: 4 to 6 in Beast, 3 to 10 in Bestia."""
    policies: tuple[str, ...] = ()
    """Who plays, from seat 0: specs such as bold, threshold:0.4 or net:FILE, repeated in turn
    until all seats are taken; the baselines if none are given."""
    hands: int = 10
    """Hands in the session."""
    seed: int | None = None
    """Of deals and of the policies' chances; a fresh one, printed, if none is given."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE, such as maxims=penalty force=true."""
    out: Path = Path("runs/hands.jsonl")
    """The file to write; one of that name is replaced."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    parsed = tyro.cli(Arguments, prog="python -m experiments.record", args=arguments)
    with ends_cleanly("nothing was written"):
        # Heavy imports come after this line: --help and misspelt flags are answered at once.
        from agents.reports import check_writable
        from agents.rules import parse_rules
        from bestia_env.files import check_replaceable
        from bestia_env.games import game_named
        from bestia_env.records import write_records
        from bestia_env.rules.table import check_coins

        check_coins("hands", parsed.hands, least=1, most=MOST_HANDS)
        seed = secrets.randbits(32) if parsed.seed is None else parsed.seed
        check_coins("seed", seed, least=0)
        rules = parse_rules(parsed.game, parsed.rules)
        game_named(parsed.game).check_num_players(parsed.num_players, rules)
        players = seat_policies(parsed)
        check_writable(parsed.out.parent)
        check_replaceable(parsed.out)
        print(f"seed {seed}")
        records = play_session(players, rules, parsed.hands, seed)
        write_records(parsed.out, records)
        print(_summary(records[-1]))
        print(f"wrote {parsed.out}: {parsed.hands} hands")


def seat_policies(parsed: Arguments) -> list[Policy]:
    """Who plays each seat.

    Raises:
        ValueError: there is no such policy, or more are given than there are seats.
    """
    from agents.policies import default_specs, parse_policy

    n = parsed.num_players
    specs = parsed.policies or default_specs(parsed.game)[:n]
    if len(specs) > n:
        raise ValueError(f"policies must be at most {n}, one for each seat, not {len(specs)}")
    policies = [parse_policy(_recordable(spec), parsed.game, n) for spec in specs]
    return [policies[seat % len(policies)] for seat in range(n)]


def _recordable(spec: str) -> str:
    """A rule of several lines as one of statements, since a record has room for one line."""
    from bestia_env.records import MAX_NAME

    line = "; ".join(part.partition("#")[0].strip() for part in spec.splitlines() if part.strip())
    line = line if len(spec.splitlines()) > 1 else spec
    if not line.isprintable() or len(line) > MAX_NAME:
        raise ValueError(
            f"a policy to be recorded must be of at most {MAX_NAME} printable characters, "
            f"not {len(line)}: {line[:40]!r}; a longer rule may stand in a file, rule:FILE"
        )
    return line


def play_session(players: Sequence[Policy], rules: Any, num_hands: int, seed: int) -> list[Record]:
    """The hands of a session.

    Args:
        players: a policy for every seat, all of one game.
        rules: of the game.
        num_hands: at least 1.
        seed: of deals and of the policies' chances.

    Raises:
        ValueError: a policy chose an action that is not legal.
    """
    import numpy as np

    from agents.matches import seed_players, tag
    from bestia_env import beast_v0, bestia_v0
    from bestia_env.rng import seed_sequence_keys

    module = {"beast": beast_v0, "bestia": bestia_v0}[players[0].game]
    table = module.raw_env(len(players), rules, num_hands)
    table.reset(seed=seed)
    specs, key = tuple(policy.spec for policy in players), seed_sequence_keys(seed, 2)[1]
    tags = np.array([tag(policy) for policy in players], np.uint64)
    rngs, seated = np.zeros((1, len(players)), np.uint64), np.arange(len(players))[None]
    records = []
    for hand in range(num_hands):
        seed_players(rngs, seated, tags, key, hand)
        _play_hand(table, players, rngs[0])
        records.append(replace(table.last_record, seed=seed, players=specs))
    return records


def _play_hand(table: Any, players: Sequence[Policy], rngs: Any) -> None:
    """Play the hand in progress; rngs (n,) uint64, every player's generator, move on."""
    from bestia_env import engine
    from bestia_env.view import look

    views = table.states.copy()
    while True:
        seat = int(table.states["turn"][0])
        look(table.states, 0, seat, views, 0)
        legal = int(engine.legal_actions(table.states, 0))
        table.step(players[seat].act(views, legal, rngs[seat : seat + 1]))
        if table.hand_over:
            return


def _summary(last: Record) -> str:
    """What the players have at the end."""
    assert last.players is not None and last.gains is not None
    rows = zip(last.players, last.coins, last.gains, strict=True)
    lines = [f"seat {i}  {coins + gain:+6}  {name}" for i, (name, coins, gain) in enumerate(rows)]
    return "\n".join([*lines, f"pot     {last.pot_after:6}"])


if __name__ == "__main__":
    main()
