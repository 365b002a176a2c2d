"""What a learner's hands are drawn from: baselines to meet and pots to play for, by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.duplicate import Table
from agents.opponents import check_distinct
from agents.policies import parse_baseline
from bestia_env._jit import jit
from bestia_env.deals import is_integer
from bestia_env.rng import unit


class Mixture(NamedTuple):
    """Baselines, and how likely each is to be met.

    Attributes:
        kinds: (K,) int64.
        parameters: (K,) float64.
        chances: (K,) float64, cumulated, the last 1.
    """

    kinds: np.ndarray
    parameters: np.ndarray
    chances: np.ndarray


class Pots(NamedTuple):
    """Pots, and how likely each is to be played for.

    Attributes:
        coins: (K,) int64, carried in.
        chances: (K,) float64, cumulated, the last 1.
    """

    coins: np.ndarray
    chances: np.ndarray


def is_number(value: Any) -> bool:
    """Is it a number of Python or numpy? Truth values are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def weights(choices: Mapping | Sequence) -> dict:
    """Choices with their weights, all alike where none are given.

    Raises:
        ValueError: a choice is named twice, or a weight is not a number from 0, or all are 0, or
            their sum is not finite.
    """
    found = dict(choices) if isinstance(choices, Mapping) else dict.fromkeys(choices, 1.0)
    if len(found) < len(choices):
        raise ValueError(f"choices must be different, not {list(choices)}")
    for choice, weight in found.items():
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise ValueError(f"the weight of {choice!r} must be a number from 0, not {weight!r}")
    if not 0 < sum(found.values()) < np.inf:
        raise ValueError(f"the weights must have a sum above 0 that is finite: {found}")
    return found


def chances(weights: Mapping) -> np.ndarray:
    """(K,) float64, chances by weight, cumulated, the last 1; all the first's if all weigh 0."""
    sums = np.cumsum(np.array(list(weights.values()), float))
    return sums / sums[-1] if any(weights.values()) else np.ones(sums.size)


def baseline_mixture(opponents: Mapping[str, float], game: str) -> Mixture:
    """Baselines by spec, with their weights.

    Raises:
        ValueError: a spec names no baseline, or two name the same.
    """
    policies = [parse_baseline(spec, game) for spec in opponents]
    check_distinct(policies)
    return Mixture(
        np.array([policy.kind for policy in policies], np.int64),
        np.array([policy.parameter for policy in policies], np.float64),
        chances(opponents),
    )


def pot_mixture(multiples: Mapping[int, float], rules: Any, game: str, num_players: int) -> Pots:
    """The coins to carry in so that P, stakes included, is such a multiple of the opening pot.

    Raises:
        ValueError: a multiple is out of range.
    """
    for multiple in multiples:
        if not is_integer(multiple) or not 1 <= multiple <= 10**6:
            raise ValueError(
                f"pots must be whole multiples of the opening pot, 1 to 1000000, not {multiple!r}"
            )
    tables = [Table(game, num_players, rules, int(multiple)) for multiple in multiples]
    return Pots(np.array([table.carried for table in tables], np.int64), chances(multiples))


@jit
def drawn(rng, chances):
    """The place of a choice, drawn by its chances."""
    return np.searchsorted(chances, unit(rng), side="right")
