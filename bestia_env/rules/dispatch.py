"""The verbs of the rulebooks, for a record of either game, and how such verbs are made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
from numba.extending import lower_builtin, type_callable

from bestia_env._jit import jit
from bestia_env.rules import beast, bestia

F = TypeVar("F", bound=Callable)
_BY_DTYPE = {rules.HAND: rules for rules in (beast, bestia)}
_BY_TYPE = {numba.from_dtype(rules.HAND): rules for rules in (beast, bestia)}


def rulebook_of(s) -> ModuleType:
    """The rules module of a state record, or of the numba type of one."""
    return _BY_TYPE[s] if isinstance(s, numba.types.Type) else _BY_DTYPE[s.dtype]


def by_game(in_beast: Callable, in_bestia: Callable, of: int = 0) -> Callable[[F], F]:
    """Decorates the signature of what each game does in its own way.

    In compiled code the choice is made while compiling, from the record's type, and costs nothing.

    Args:
        in_beast: what is called with a record of Beast.
        in_bestia: what is called with a record of Bestia.
        of: the place of the record among the arguments, which are given in order.
    """
    ways = {beast: in_beast, bestia: in_bestia}

    def decorate(signature: F) -> F:
        @functools.wraps(signature)
        def call(*args):
            return ways[rulebook_of(args[of])](*args)

        def way_of(types: tuple) -> Any:
            return numba.typeof(ways[rulebook_of(types[of])])

        # An overload would do, but would be compiled once more, the whole way within it.
        @type_callable(call)
        def _type(context):
            @functools.wraps(signature)
            def typer(*types):
                return context.resolve_function_type(way_of(types), types, {}).return_type

            return typer

        @lower_builtin(call, numba.types.VarArg(numba.types.Any))
        def _lower(context, builder, types, args):
            return context.get_function(way_of(types.args), types)(builder, args)

        return cast(F, call)

    return decorate


@jit
def _over_beast(s):
    return beast.OVER


@jit
def _over_bestia(s):
    return bestia.OVER


@by_game(beast.deal, bestia.deal)
def deal(s):
    """Stakes and deal of a hand, from the session's key and the hand's number."""


@by_game(beast.deal_next, bestia.deal_next)
def deal_next(s):
    """Pass the deal, and deal the next hand of the session."""


@by_game(beast.deal_stacked, bestia.deal_stacked)
def deal_stacked(s, pack, heap):
    """As `deal`, from a pack and a heap in given orders."""


@by_game(_over_beast, _over_bestia)
def over(s):
    """The phase of a hand that is over."""


@by_game(beast.open_pot, bestia.open_pot)
def open_pot(s, pot):
    """Set the pot carried into the first hand of a session, 0 for none."""


@by_game(beast.legal, bestia.legal)
def legal(s):
    """The legal actions of the seat to act, as a set of bits (uint64)."""


@by_game(beast.apply, bestia.apply)
def apply(s, action):
    """Carry out a legal action of the seat to act."""
