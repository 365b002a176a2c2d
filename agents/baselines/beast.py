"""Rule-of-thumb players of Beast."""

from __future__ import annotations

from agents.baselines import Baseline
from bestia_env._jit import jit
from bestia_env.bits import member, size
from bestia_env.rng import below

BASELINES = (Baseline("random", "any legal action, all alike"),)
RANDOM = 0


@jit
def act(kind, parameter, v, legal, rng):
    """The action of a baseline.

    Args:
        kind: its place in `BASELINES`.
        parameter: its number, 0 if it takes none.
        v: the VIEW of the seat to act (v.viewer == v.turn), a record.
        legal: its legal actions, a set of bits, uint64.
        rng: (1,) uint64, its own generator.
    """
    return member(legal, below(rng, size(legal)))
