"""What each bid is worth with these cards here: `python -m experiments.advise --help`."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import tyro

from experiments.command_line import ends_cleanly

if TYPE_CHECKING:
    import numpy as np

    from agents.advice import Advice
    from agents.duplicate import Table
    from agents.policies import Policy


@dataclass(frozen=True)
class Arguments:
    """Say what each bid is worth with these cards, and how often the policy makes it."""

    game: Literal["beast", "bestia"]
    """The game."""
    upcard: str
    """The upcard, such as Rd."""
    hand: str = ""
    """The cards held, such as "Ad 3d 7c"; a t stands for the trump suit, as in "At 3t 7c". None
    for a dealer of Beast who may take blind."""
    history: str = ""
    """What has been said so far in order, such as "pass knock"; it tells whose turn it is."""
    num_players: int = 4
    """Seats."""
    policy: str | None = None
    """How all bid and play on. If none is named: the bids as solved for the table, or else the
    network, or else the best baseline."""
    worlds: int = 5000
    """How many deals are played out, such as fit the cards and what has been said."""
    pot: int = 1
    """The pot played for in opening pots."""
    seed: int = 0
    """Of the deals."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parsed = tyro.cli(Arguments, prog="python -m experiments.advise", args=arguments)
    with ends_cleanly("nothing was found"):
        _run(parsed)


def _run(parsed: Arguments) -> None:
    from agents.advice import advise
    from agents.duplicate import Table
    from agents.policies import parse_policy
    from agents.rules import parse_rules
    from agents.situations import view_of_bidder

    rules = parse_rules(parsed.game, parsed.rules)
    table = Table(parsed.game, parsed.num_players, rules, parsed.pot, parsed.seed)
    view = view_of_bidder(table, parsed.hand, parsed.upcard, parsed.history)
    spec = parsed.policy or _usual(parsed.game, parsed.num_players)
    policy = parse_policy(spec, parsed.game, parsed.num_players)
    found = advise(view, policy, parsed.worlds, parsed.seed)
    for line in _lines(table, policy, view, found):
        print(line)


def _usual(game: str, num_players: int) -> str:
    """The best policy that comes with the project for such a table."""
    from agents.bids.table import names
    from agents.policies import BEST_BASELINES
    from agents.shipped import shipped

    name = f"{game}-{num_players}"
    if name in names():
        return f"bids:{name}"
    return f"net:{name}" if name in shipped() else BEST_BASELINES[game]


def _lines(table: Table, policy: Policy, view: np.ndarray, found: list[Advice]) -> list[str]:
    """A table of the actions, the best first."""
    from agents.estimates import PER_DECISION
    from bestia_env.rules.dispatch import legal

    shares = policy.probabilities(view, int(legal(view[0])))
    place = (int(view[0].turn) - int(view[0].dealer) - 1) % table.num_players + 1
    lines = [
        f"{table.words}: seat {place} of {table.num_players} from the eldest on",
        "pots per hand with half of the 95 % interval",
        f"{'':10}{'worth':>20}{'less than the best':>20}  how often {policy.spec} does it",
    ]
    for advice in found:
        behind = "" if advice is found[0] else str(advice.behind)
        share = shares[advice.action]
        lines.append(f"{advice.name:10}{advice.worth!s:>20}{behind:>20}  {share:.0%}")
    if found[0].num_read < found[0].worth.num_deals:
        lines.append(
            f"only {found[0].num_read} of {found[0].worth.num_deals} deals fit what has been "
            "said: the policy hardly ever bids so"
        )
    return [*lines, *textwrap.wrap(f"{PER_DECISION}.", 100)]


if __name__ == "__main__":
    main()
