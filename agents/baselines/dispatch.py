"""The baselines of whichever game a view belongs to."""

from __future__ import annotations

from agents.baselines import Baseline, beast, bestia
from bestia_env.rules.dispatch import by_game

MODULES = {"beast": beast, "bestia": bestia}


def baselines(game: str) -> tuple[Baseline, ...]:
    """The baselines of a game; a baseline's kind is its place here."""
    return MODULES[game].BASELINES


@by_game(beast.act, bestia.act, of=2)
def act(kind, parameter, v, legal, rng):
    """The action of a baseline; arguments as for `bestia.act`."""


@by_game(beast.unpunished, bestia.unpunished)
def unpunished(v, legal):
    """The legal actions that cost no fine, of which the baselines choose."""
