"""The verbs of the rulebooks, for a record of either game.

Each verb calls the rulebook to which the record `s` belongs. In compiled code that choice is made
while compiling, from the record's type, and costs nothing.
"""

from __future__ import annotations

from types import ModuleType

import numba
from numba.extending import overload

from bestia_env.rules import beast, bestia

_BY_DTYPE = {rules.HAND: rules for rules in (beast, bestia)}
_BY_TYPE = {numba.from_dtype(rules.HAND): rules for rules in (beast, bestia)}


def rulebook_of(s) -> ModuleType:
    """The rules module of a state record, or of the numba type of one."""
    return _BY_TYPE[s] if isinstance(s, numba.types.Type) else _BY_DTYPE[s.dtype]


def deal(s):
    """Stakes and deal of a hand, from the session's key and the hand's number."""
    rulebook_of(s).deal(s)


def deal_next(s):
    """Pass the deal, and deal the next hand of the session."""
    rulebook_of(s).deal_next(s)


def deal_stacked(s, pack, heap):
    """As `deal`, from a pack and a heap in given orders."""
    rulebook_of(s).deal_stacked(s, pack, heap)


def over(s):
    """The phase of a hand that is over."""
    return rulebook_of(s).OVER


def open_pot(s, pot):
    """Set the pot carried into the first hand of a session, 0 for none."""
    rulebook_of(s).open_pot(s, pot)


def legal(s):
    """The legal actions of the seat to act, as a set of bits (uint64)."""
    return rulebook_of(s).legal(s)


def apply(s, action):
    """Carry out a legal action of the seat to act."""
    rulebook_of(s).apply(s, action)


@overload(deal)
def _deal(s):
    implementation = rulebook_of(s).deal
    return lambda s: implementation(s)


@overload(deal_next)
def _deal_next(s):
    implementation = rulebook_of(s).deal_next
    return lambda s: implementation(s)


@overload(deal_stacked)
def _deal_stacked(s, pack, heap):
    implementation = rulebook_of(s).deal_stacked
    return lambda s, pack, heap: implementation(s, pack, heap)


@overload(over)
def _over(s):
    phase = rulebook_of(s).OVER
    return lambda s: phase


@overload(open_pot)
def _open_pot(s, pot):
    implementation = rulebook_of(s).open_pot
    return lambda s, pot: implementation(s, pot)


@overload(legal)
def _legal(s):
    implementation = rulebook_of(s).legal
    return lambda s: implementation(s)


@overload(apply)
def _apply(s, action):
    implementation = rulebook_of(s).apply
    return lambda s, action: implementation(s, action)
