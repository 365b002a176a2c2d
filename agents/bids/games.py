"""How a table reads the bidding of whichever game a record belongs to.

A table has an entry for everything that a seat may know when it bids, as far as it tells such
situations apart; the entry says how often the seat bids the loud one of two bids.
"""

from __future__ import annotations

from types import ModuleType

from numba.extending import overload

from agents.bids import beast, bestia
from bestia_env.rules.dispatch import rulebook_of

MODULES = {"beast": beast, "bestia": bestia}


def hand_class(s, seat):
    """The class of the cards that a seat holds when it bids, for a state or the seat's view."""
    return _module(s).hand_class(s, seat)


def bidding(s):
    """Is the hand still in its bidding?"""
    return _module(s).bidding(s)


def decides(s):
    """Does a table choose here? Otherwise whoever plays the cards does."""
    return _module(s).decides(s)


def agent(s):
    """Who decides, from 0 on; the seat to act, unless its later decisions are told apart."""
    return _module(s).agent(s)


def entry(s, hand):
    """The table's entry for the seat to act, whose hand is of this class."""
    return _module(s).entry(s, hand)


def quiet(s):
    """The quiet one of its two bids."""
    return _module(s).quiet(s)


def loud(s):
    """The loud one."""
    return _module(s).loud(s)


def outcome(s):
    """A number for all that has been said, when the bidding is over."""
    return _module(s).outcome(s)


@overload(hand_class)
def _hand_class(s, seat):
    implementation = _module(s).hand_class
    return lambda s, seat: implementation(s, seat)


@overload(bidding)
def _bidding(s):
    implementation = _module(s).bidding
    return lambda s: implementation(s)


@overload(decides)
def _decides(s):
    implementation = _module(s).decides
    return lambda s: implementation(s)


@overload(agent)
def _agent(s):
    implementation = _module(s).agent
    return lambda s: implementation(s)


@overload(entry)
def _entry(s, hand):
    implementation = _module(s).entry
    return lambda s, hand: implementation(s, hand)


@overload(quiet)
def _quiet(s):
    implementation = _module(s).quiet
    return lambda s: implementation(s)


@overload(loud)
def _loud(s):
    implementation = _module(s).loud
    return lambda s: implementation(s)


@overload(outcome)
def _outcome(s):
    implementation = _module(s).outcome
    return lambda s: implementation(s)


def _module(s) -> ModuleType:
    return MODULES[rulebook_of(s).__name__.rpartition(".")[2]]
