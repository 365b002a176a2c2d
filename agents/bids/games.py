"""How a table reads the bidding of whichever game a record belongs to.

A table has an entry for everything that a seat may know when it bids, as far as it tells such
situations apart; the entry says how often the seat bids the loud one of two bids.
"""

from __future__ import annotations

from agents.bids import beast, bestia
from bestia_env.rules.dispatch import by_game

MODULES = {"beast": beast, "bestia": bestia}


@by_game(beast.hand_class, bestia.hand_class)
def hand_class(s, seat):
    """The class of the cards that a seat holds when it bids, for a state or the seat's view."""


@by_game(beast.bidding, bestia.bidding)
def bidding(s):
    """Is the hand still in its bidding?"""


@by_game(beast.decides, bestia.decides)
def decides(s):
    """Does a table choose here? Otherwise whoever plays the cards does."""


@by_game(beast.agent, bestia.agent)
def agent(s):
    """Who decides, from 0 on; the seat to act, unless its later decisions are told apart."""


@by_game(beast.entry, bestia.entry)
def entry(s, hand):
    """The table's entry for the seat to act, whose hand is of this class."""


@by_game(beast.quiet, bestia.quiet)
def quiet(s):
    """The quiet one of its two bids."""


@by_game(beast.loud, bestia.loud)
def loud(s):
    """The loud one."""


@by_game(beast.outcome, bestia.outcome)
def outcome(s):
    """A number for all that has been said, when the bidding is over."""
