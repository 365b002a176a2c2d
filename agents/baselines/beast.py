"""Rule-of-thumb players of Beast."""

from __future__ import annotations

from dataclasses import dataclass

from bestia_env._jit import jit
from bestia_env.bits import member, size
from bestia_env.rng import below


@dataclass(frozen=True)
class Baseline:
    """A rule-of-thumb player.

    Attributes:
        name: its name in policy specs.
        idea: what it does, in one line.
        parameter: the default of its number, None if it has none.
    """

    name: str
    idea: str
    parameter: float | None = None


BASELINES = (Baseline("random", "any legal action, all alike"),)
RANDOM = 0


@jit
def act(kind, parameter, v, legal, rng):
    """The action of a baseline.

    Args:
        kind: its place in `BASELINES`.
        parameter: its number.
        v: the VIEW of the seat to act (v.viewer == v.turn).
        legal: its legal actions, a set of bits, uint64.
        rng: (1,) uint64, its own generator.
    """
    return member(legal, below(rng, size(legal)))
