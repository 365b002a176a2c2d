"""Means with honest intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_POTS = (
    "Pots per hand: coins won less coins paid, stakes paid before included, and an equal share of "
    "what the pot grew by, in parts of the pot played for"
)
PER_DEAL = f"{_POTS}; the mean over all hands dealt"
PER_DECISION = (
    f"{_POTS}; the mean over the hands in which the seat comes to this decision, not over all "
    "hands dealt as in the arena"
)
Z_95 = 1.959964  # 95 % of a normal distribution lie within so many standard deviations


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval.

    Attributes:
        mean: of independent observations, one for each deal.
        half_width: of the interval, by the normal approximation.
        num_deals: how many observations.
        factor: how many times as many observations it would have taken without control variates.
    """

    mean: float
    half_width: float
    num_deals: int
    factor: float = 1.0

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half_width

    @property
    def p_value(self) -> float:
        """The two-sided p-value for a true mean of zero, by the normal approximation."""
        if self.half_width == 0:
            return float(self.mean == 0)
        return math.erfc(abs(self.mean) / self.half_width * Z_95 / math.sqrt(2))

    def __str__(self) -> str:
        mean = f"{self.mean:+.4f}"
        return f"{'+0.0000' if mean == '-0.0000' else mean} ± {self.half_width:.4f}"


@dataclass(frozen=True)
class Moments:
    """Sums of observations, which add up over pieces of the work."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, observations: np.ndarray) -> Moments:
        """The sums of an array of observations, (k,) float64."""
        return cls(observations.size, float(observations.sum()), float((observations**2).sum()))

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count, self.total + other.total, self.squares + other.squares
        )

    def estimate(self) -> Estimate:
        """The mean with its interval, which takes at least two observations to be finite."""
        if self.count < 2:
            return Estimate(self.total / self.count if self.count else 0.0, math.inf, self.count)
        mean = self.total / self.count
        variance = max(self.squares - self.total * mean, 0.0) / (self.count - 1)
        return Estimate(mean, Z_95 * math.sqrt(variance / self.count), self.count)


@dataclass(frozen=True)
class Proportion:
    """How often something happened, with its 95 % interval.

    Attributes:
        count: how often it did.
        num_deals: how often it could.
    """

    count: int
    num_deals: int

    @property
    def mean(self) -> float:
        """The share, NaN of nothing."""
        return self.count / self.num_deals if self.num_deals else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Its ends, which are honest near 0 and 1 too (E. B. Wilson, 1927)."""
        if not self.num_deals:
            return 0.0, 1.0
        share, z = self.mean, Z_95**2 / self.num_deals
        spread = math.sqrt(z * (share * (1 - share) + z / 4))
        return (
            max(0.0, (share + z / 2 - spread) / (1 + z)),
            min(1.0, (share + z / 2 + spread) / (1 + z)),
        )

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.mean:.1%} ({low:.1%} to {high:.1%})"


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of a family of tests so that any false alarm is as rare as in one.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted
