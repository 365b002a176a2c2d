"""What a bidding rule may ask about in Bestia, and what it may say."""

from __future__ import annotations

import numpy as np

from agents.baselines.bestia import chance_of_new_cards, chance_of_trick
from agents.bidding.feature import OF_HAND, OF_TABLE, Feature
from agents.bidding.hand import SHARED, shared_feature, strengths
from bestia_env._jit import jit
from bestia_env.bits import bit, nth, size
from bestia_env.rules.bestia import AT_AUCTION, AT_OFFER, PASS, RANKS, REFUSE, Action

FEATURES = (
    *OF_HAND,
    *OF_TABLE,
    Feature("chance", "a rough chance of at least one trick, 0 to 1, as the baselines judge it"),
    Feature("knocks", "seats that have knocked"),
    Feature("passes", "seats that have passed in the auction"),
    Feature("exchanges", "seats that have asked for new cards"),
)
CHANCE, KNOCKS, PASSES, EXCHANGES = range(SHARED, SHARED + 4)
ACTIONS = {action.name.lower(): int(action) for action in Action}
BLIND: tuple[str, ...] = ()  # actions that are chosen before the cards are seen
ALWAYS: tuple[str, ...] = ()  # actions that are taken wherever legal if no statement names them
RANK_NAMES = (
    *(("2", "due", "two"), ("4", "quattro", "four"), ("5", "cinque", "five"), ("6", "sei", "six")),
    *(("7", "sette", "seven"), ("fante", "donna"), ("cavallo",), ("re",)),
    *(("3", "tre", "three"), ("ace", "asso")),
)


@jit
def is_bid(v):
    """Does the seat to act decide by a bidding rule?"""
    return v.phase == AT_AUCTION or v.phase == AT_OFFER


@jit
def quiet(v):
    """What a seat does about which its rule says nothing."""
    return PASS if v.phase == AT_AUCTION else REFUSE


@jit
def feature(k, rank, v, rng):
    """The k-th of FEATURES in a view; see `shared_feature`."""
    if k < SHARED:
        return shared_feature(k, rank, v, _others(v), _behind(v), np.float64(v.stake), RANKS, rng)
    if k == CHANCE:
        return chance_of_trick(v) if v.phase == AT_AUCTION else chance_of_new_cards(v)
    if k == KNOCKS:
        return np.float64(size(v.knocked))
    if k == PASSES:
        return np.float64(size(v.passed))
    return np.float64(size(v.exchanged))


@jit
def _others(v):
    """Strengths of the trumps that others may hold."""
    seen = v.hands[nth(v.viewer)] | bit(v.upcard)
    return strengths(v.in_use & ~seen, v.trump, RANKS)


@jit
def _behind(v):
    if v.phase == AT_AUCTION:
        return v.num_players - 1 - size(v.knocked) - size(v.passed)
    return size(v.passed & ~(v.refused | v.exchanged)) - 1
