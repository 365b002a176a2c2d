"""How fast the pot of a table grows when all play alike, and when a table explodes.

A hand turns a pot P into m P, stakes aside. If all hands were alike, pots of a long session would
have a finite mean only where E[m] < 1, and a finite variance only where E[m²] < 1 (H. Kesten,
Random difference equations and renewal theory for products of random matrices, 1973).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents.duplicate import Table, check_policies
from agents.estimates import Estimate, Moments
from agents.matches import deal_copies, play, seed_players, tag
from agents.policies import Policy
from agents.processes import in_order
from bestia_env.engine import new_states
from bestia_env.rules import beast
from bestia_env.rules.table import check_coins

PIECE = 8192  # deals that are played at once


@dataclass(frozen=True)
class Growth:
    """What a hand does to the pot when all seats play by one policy.

    Attributes:
        spec: of the policy.
        factor: E[m], the pot left after a hand in parts of P.
        square: E[m²].
        daring: seats that knock, or declare, in parts of all.
        playing: seats that play at their own risk in parts of all: in Bestia those too who take
            new cards; in Beast the same as `daring`.
    """

    spec: str
    factor: Estimate
    square: Estimate
    daring: Estimate
    playing: Estimate


def growth(
    table: Table,
    policy: Policy,
    num_deals: int,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Growth:
    """Play deals with the policy at every seat.

    Args:
        table: what is played.
        policy: sits everywhere.
        num_deals: deals, each a hand by itself.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.

    Raises:
        ValueError: an argument is out of range, or the policy cannot sit at the table.
    """
    check_coins("deals", num_deals, least=2)
    check_coins("jobs", jobs, least=1)
    check_policies(table, [policy])
    pieces = [(at, min(at + PIECE, num_deals)) for at in range(0, num_deals, PIECE)]
    sums = [Moments()] * 4
    for found in in_order(_play, (table, policy), pieces, jobs, (0, 1)):
        sums = [total + Moments.of(row) for total, row in zip(sums, found, strict=True)]
        if progress is not None:
            progress(found.shape[1])
    return Growth(policy.spec, *(total.estimate() for total in sums))


def _play(table: Table, policy: Policy, deals: tuple[int, int]) -> np.ndarray:
    """(4, D), of every hand: the factor, its square, the shares of seats that dare, and play."""
    n, (start, stop) = table.num_players, deals
    states = new_states(table.game, n, table.rules, stop - start)
    deal_copies(states, 1, table.keys.deals, start, table.carried)
    pots = states["pot"].astype(float)
    seated, chances = np.zeros((states.size, n), np.int64), np.empty((states.size, n), np.uint64)
    seed_players(chances, seated, np.array([tag(policy)], np.uint64), table.keys.players, start)
    play(states, [policy], seated, chances)
    factor = states["pot"] / pots
    return np.stack([factor, factor**2, *(seats / n for seats in _daring_and_playing(states))])


def _daring_and_playing(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) each: how many seats knocked, or declared; and how many played at their own risk."""
    if states.dtype == beast.HAND:
        declared = (states["player"] >= 0) * 1 + (states["counterer"] >= 0)
        return declared, declared
    return np.bitwise_count(states["knocked"]), np.bitwise_count(states["playing"])
