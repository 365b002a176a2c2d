"""Policies compared on the same deals against the same field, difference by difference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agents.arena import Luck, luck_of_place, mean_of
from agents.control_variates import StandIn
from agents.duplicate import (
    PIECE,
    Piece,
    Played,
    Progress,
    Table,
    check_policies,
    played,
)
from agents.estimates import Estimate, holm
from agents.policies import Policy
from agents.processes import in_order
from bestia_env.rules.table import check_coins


@dataclass(frozen=True)
class Difference:
    """How much better one policy does than another.

    Attributes:
        a: the one's place in the list.
        b: the other's.
        score: pots per hand of a less those of b, deal by deal.
        p_value: for a true difference of zero, by Holm over all pairs.
    """

    a: int
    b: int
    score: Estimate
    p_value: float


@dataclass(frozen=True)
class Paired:
    """What a comparison found.

    Attributes:
        table: what was played.
        specs: the policies.
        field: of which copies filled the table.
        scores: pots per hand of each policy, alone among copies of the field.
        differences: of every two policies.
    """

    table: Table
    specs: tuple[str, ...]
    field: str
    scores: tuple[Estimate, ...]
    differences: tuple[Difference, ...]

    @property
    def ranking(self) -> list[int]:
        """The places of the policies, the best score first."""
        return sorted(range(len(self.specs)), key=lambda a: -self.scores[a].mean)

    def difference(self, a: int, b: int) -> Difference:
        """Of a less b, in either order."""
        for found in self.differences:
            if (found.a, found.b) == (a, b):
                return found
            if (found.a, found.b) == (b, a):
                turned = replace(found.score, mean=-found.score.mean)
                return Difference(a, b, turned, found.p_value)
        raise ValueError(f"a pair must be of two different policies, not {a} and {b}")


def compare_paired(
    table: Table,
    policies: Sequence[Policy],
    field: Policy,
    num_deals: int,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    control: bool = True,
) -> Paired:
    """Play every policy alone among copies of the field, all on the same deals.

    Args:
        table: what is played.
        policies: at least two.
        field: fills the other seats.
        num_deals: deals, each played in every seat rotation.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.
        control: take luck off the scores and the differences?

    Raises:
        ValueError: an argument is out of range, or a policy cannot sit at the table.
    """
    if len(policies) < 2:
        raise ValueError(f"a comparison takes at least two policies, not {len(policies)}")
    check_coins("deals", num_deals, least=2)
    check_coins("jobs", jobs, least=1)
    everybody = (*policies, field)
    check_policies(table, everybody)
    k, n = len(policies), table.num_players
    pairs = list(itertools.combinations(range(k), 2))
    pieces = _pieces(k, n, num_deals)
    found = in_order(played, (table, everybody, control), pieces, jobs, Piece((0,) * n, 0, 1))
    by_piece = [[_counted(next(found), n, progress) for _ in range(k)] for _ in pieces[::k]]
    by_policy = list(zip(*by_piece, strict=True))  # (policy, piece)
    scores = [[piece.scores[:, 0] for piece in own] for own in by_policy]
    drawn = [luck_of_place(own, 0) for own in by_policy]
    luck = Luck(table, num_deals) if control else None
    told = [luck.stand_ins(policy, field) if luck else [] for policy in policies]
    estimates = [
        mean_of(
            [x - y for x, y in zip(scores[a], scores[b])],
            luck,
            _either(told[a], told[b]),
            _less(drawn[a], drawn[b]),
        )
        for a, b in pairs
    ]
    p_values = holm([estimate.p_value for estimate in estimates])
    return Paired(
        table,
        tuple(policy.spec for policy in policies),
        field.spec,
        tuple(mean_of(*columns) for columns in zip(scores, [luck] * k, told, drawn)),
        tuple(Difference(*pair, e, p) for pair, e, p in zip(pairs, estimates, p_values)),
    )


def _either(told: Sequence[StandIn], others: Sequence[StandIn]) -> list[StandIn]:
    """What either tells, and what both tell once."""
    return [*told, *(one for one in others if all(one is not t for t in told))]


def _less(
    drawn: Sequence[np.ndarray] | None, others: Sequence[np.ndarray] | None
) -> list[np.ndarray] | None:
    return None if drawn is None or others is None else [x - y for x, y in zip(drawn, others)]


def num_hands(table: Table, num_policies: int, num_deals: int) -> int:
    """How many hands `compare_paired` plays."""
    return num_policies * num_deals * table.num_players


def _pieces(k: int, n: int, num_deals: int) -> list[Piece]:
    """The same deals for one policy after the other, then the next deals."""
    lineups = [(a, *[k] * (n - 1)) for a in range(k)]
    return [
        Piece(lineup, start, min(start + PIECE, num_deals))
        for start in range(0, num_deals, PIECE)
        for lineup in lineups
    ]


def _counted(played: Played, n: int, progress: Progress | None) -> Played:
    if progress is not None:
        progress(len(played.scores) * n)
    return played
