"""The baselines of whichever game a view belongs to."""

from __future__ import annotations

from numba.extending import overload

from agents.baselines import Baseline, beast, bestia
from bestia_env.rules import beast as beast_rules
from bestia_env.rules.dispatch import rulebook_of

MODULES = {"beast": beast, "bestia": bestia}


def baselines(game: str) -> tuple[Baseline, ...]:
    """The baselines of a game; a baseline's kind is its place here."""
    return MODULES[game].BASELINES


def act(kind, parameter, v, legal, rng):
    """The action of a baseline; arguments as for `bestia.act`."""
    return _module(v).act(kind, parameter, v, legal, rng)


def unpunished(v, legal):
    """The legal actions that cost no fine, of which the baselines choose."""
    return _module(v).unpunished(v, legal)


@overload(act)
def _act(kind, parameter, v, legal, rng):
    implementation = _module(v).act
    return lambda kind, parameter, v, legal, rng: implementation(kind, parameter, v, legal, rng)


def _module(v):
    return beast if rulebook_of(v) is beast_rules else bestia
