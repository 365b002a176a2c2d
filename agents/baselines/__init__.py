"""Rule-of-thumb players: compiled, honest (they see a VIEW only), one idea each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Baseline:
    """A rule-of-thumb player.

    Attributes:
        name: its name in policy specs.
        idea: what it does, in one line, with the source where there is one.
        parameter: the default of its number, None if it takes none.
        low: the least number that it takes.
        high: the greatest.
    """

    name: str
    idea: str
    parameter: float | None = None
    low: float = 0.0
    high: float = 1.0
