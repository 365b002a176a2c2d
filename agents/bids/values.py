"""What bids are worth, from the sums of many deals: by a table, or by the best responses to it.

A seat's own bids were not drawn when the sums were made, so that they serve for any bidding of its
own, always against the others' of the time. A later bid of the same seat is reached by the quiet
bid before it.
"""

from __future__ import annotations

import numpy as np

from agents.bids.traversal import Sums


def worths_of_bids(sums: Sums, parents: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Pots after each bid, summed over deals, if the seat bids by `chances` later on.

    Args:
        sums: of some deals.
        parents: (nodes,), see `bestia.parents`.
        chances: (nodes, classes) of the loud bid.

    Returns:
        (nodes, classes, 2) float64, quiet and loud.
    """
    worths = sums.worths.reshape(*chances.shape, 2).copy()
    later = parents >= 0
    np.add.at(worths[..., 0], parents[later], worth_of_turn(worths, chances)[later])
    return worths


def worth_of_turn(worths: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(nodes, classes): the worth of being asked, by the chances of the loud bid."""
    return worths[..., 0] + chances * (worths[..., 1] - worths[..., 0])


def agent_worths(
    sums: Sums, parents: np.ndarray, askers: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    """(agents,) pots of every agent in sum over the deals, if it alone bids by these chances."""
    first = parents < 0
    worth = worth_of_turn(worths_of_bids(sums, parents, chances), chances).sum(axis=1)
    return sums.unasked + np.bincount(askers[first], worth[first])
