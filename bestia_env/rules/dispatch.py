"""The verbs of the rulebooks, for a record of either game.

`deal(s)`, `legal(s)`, `apply(s, action)` and the others call the rulebook to which the record `s`
belongs; numba makes that choice while it compiles, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numba
from numba.extending import overload

from bestia_env.rules import beast, bestia

_RULEBOOKS = {numba.from_dtype(rules.HAND): rules for rules in (beast, bestia)}


def rulebook_of(s) -> ModuleType | None:
    """The rules module of a state record, or of a record's numba type."""
    if isinstance(s, numba.types.Type):
        return _RULEBOOKS.get(s)
    return _RULEBOOKS[numba.from_dtype(s.dtype)]




def deal(s):
    """Stakes and deal of the first hand of a session, from its key."""
    rulebook_of(s).deal(s)


@overload(deal)
def _deal(s):
    implementation = rulebook_of(s).deal
    return lambda s: implementation(s)


def legal(s):
    """The legal actions of the seat to act, as a set of bits (uint64)."""
    return rulebook_of(s).legal(s)


@overload(legal)
def _legal(s):
    implementation = rulebook_of(s).legal
    return lambda s: implementation(s)


def apply(s, action):
    """Carry out a legal action of the seat to act."""
    rulebook_of(s).apply(s, action)


@overload(apply)
def _apply(s, action):
    implementation = rulebook_of(s).apply
    return lambda s, action: implementation(s, action)
