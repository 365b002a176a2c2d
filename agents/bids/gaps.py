"""How far bids are from an equilibrium: what each seat would gain by the best response to them.

The sum of these gains over all seats, NashConv (Lanctot and others, 2017), is 0 in an equilibrium.
It is bounded from both sides. A response that is chosen on some deals and tried on others gains no
more than the best one in the mean; the response that is best on the very deals on which it is
tried gains no less. More deals bring both together.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agents.bids.solver import Game, by_family
from agents.bids.traversal import Sums
from agents.bids.values import agent_worths, worth_of_turn
from agents.estimates import Estimate, Moments

PARTS = 20  # each is tried by a response that was chosen on all the others
FAMILY_VISITS = 100.0


class Gap(NamedTuple):
    """How much all seats together could gain, in pots per hand.

    Attributes:
        low: by responses chosen on other deals; the interval is from so many parts of the deals.
        high: by responses chosen on the same deals.
        worths: of every agent in order of play, as all bid now; agents are the seats, and in Beast
            the dealer once more before he has looked.
        num_deals: deals.
    """

    low: Estimate
    high: float
    worths: np.ndarray
    num_deals: int


def gap(
    game: Game,
    chances: np.ndarray,
    num_deals: int,
    first: int,
    progress: Callable[[int], None] = lambda deals: None,
) -> Gap:
    """Bound NashConv of bids (nodes, classes) on so many deals, from deal `first` on."""
    edges = np.linspace(first, first + num_deals, PARTS + 1).astype(int).tolist()
    parts = []
    for start, stop in itertools.pairwise(edges):
        parts.append(game.walk(chances, start, stop))
        progress(stop - start)
    every = functools.reduce(Sums.plus, parts)
    gains = [
        _gain(game, part, response(game, every.plus(part, -1), chances), chances) / (stop - start)
        for part, (start, stop) in zip(parts, itertools.pairwise(edges), strict=True)
    ]
    worths = agent_worths(every, game.parents, game.askers, chances) / num_deals
    high = _gain(game, every, _best(game, every), chances) / num_deals
    return Gap(Moments.of(np.array(gains)).estimate(), high, worths, num_deals)


def _gain(game: Game, sums: Sums, response: np.ndarray, chances: np.ndarray) -> float:
    """What the seats gain together by a response, each alone, in sum over the deals."""
    responses = agent_worths(sums, game.parents, game.askers, response)
    return float((responses - agent_worths(sums, game.parents, game.askers, chances)).sum())


def _best(game: Game, sums: Sums) -> np.ndarray:
    """(nodes, classes): the chances of the response that is best on these deals."""
    worths = sums.worths.reshape(*game.shape, 2).copy()
    later = game.parents >= 0
    np.add.at(worths[..., 0], game.parents[later], worths[later].max(axis=-1))
    return (worths[..., 1] > worths[..., 0]).astype(float)


def response(game: Game, sums: Sums, chances: np.ndarray) -> np.ndarray:
    """The best response for other deals: it bids otherwise only where these speak clearly for it.

    Args:
        game: of bids.
        sums: of many deals in which all bid by `chances`.
        chances: (nodes, classes) of the loud bid.

    Returns:
        (nodes, classes) float64, 0, 1, or as before.
    """
    worths = sums.worths.reshape(*game.shape, 2).copy()
    visits = sums.visits.reshape(game.shape)
    later = game.parents >= 0
    better = _clearly_better(worths, visits, chances, game.families)
    turns = worth_of_turn(worths, better)
    np.add.at(worths[..., 0], game.parents[later], turns[later])
    better[~later] = _clearly_better(worths, visits, chances, game.families)[~later]
    return better


def _clearly_better(
    worths: np.ndarray, visits: np.ndarray, chances: np.ndarray, families: np.ndarray
) -> np.ndarray:
    """The better bid for sure where it is better by a standard error, of about a pot by hand."""
    gain = worths[..., 1] - worths[..., 0]
    means = by_family(gain, families) / np.maximum(by_family(visits, families), 1)
    gain = gain + FAMILY_VISITS * means[:, families]
    clear = np.abs(gain) > np.sqrt(visits + FAMILY_VISITS)
    return np.where(clear, gain > 0, chances)
