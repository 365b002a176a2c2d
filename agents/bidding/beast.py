"""What a bidding rule may ask about in Beast, and what it may say."""

from __future__ import annotations

import numpy as np

from agents.baselines.beast import declared_chance
from agents.bidding.feature import OF_HAND, OF_TABLE, Feature
from agents.bidding.hand import SHARED, shared_feature
from bestia_env._jit import jit
from bestia_env.rules.beast import (
    AT_CLAIM,
    AT_COUNTER,
    AT_DECLARE,
    AT_TAKE,
    LEAVE,
    PASS,
    PLAY,
    RANKS,
    SAID_PASS,
    TAKEN,
    Action,
    opening_pot,
    trumps_unseen,
)
from bestia_env.rules.table import NOBODY, eldest

FEATURES = (
    *OF_HAND,
    *OF_TABLE,
    Feature("chance", "a rough chance of winning as a declarer, 0 to 1, as the baselines judge it"),
    Feature("passes", "seats that have passed in this round, of declaring or of countering"),
    Feature("taken", "1 if the dealer has taken the upcard, else 0"),
    Feature("player_seat", "the Player's seat as `seat` counts, -1 before there is one"),
)
CHANCE, PASSES, HAS_TAKEN, PLAYER_SEAT = range(SHARED, SHARED + 4)
ACTIONS = {action.name.lower(): int(action) for action in Action}
BLIND = ("take", "leave")  # actions that are chosen before the cards are seen (BEAST-08)
ALWAYS = ("show",)  # actions that are taken wherever legal if no statement names them
RANK_NAMES = (
    *(("2", "two"), ("3", "three"), ("4", "four"), ("5", "five"), ("6", "six"), ("7", "seven")),
    *(("8", "eight"), ("9", "nine"), ("10", "ten"), ("jack",), ("queen",), ("king",), ("ace",)),
)


@jit
def is_bid(v):
    """Does the seat to act decide by a bidding rule?"""
    return v.phase == AT_TAKE or (AT_CLAIM <= v.phase and v.phase <= AT_COUNTER)


@jit
def quiet(v):
    """What a seat does about which its rule says nothing."""
    return LEAVE if v.phase == AT_TAKE else PLAY if v.phase == AT_CLAIM else PASS


@jit
def feature(k, rank, v, rng):
    """The k-th of FEATURES in a view; see `shared_feature`."""
    if k < SHARED:
        opening, others = np.float64(opening_pot(v.num_players)), trumps_unseen(v, v.viewer)
        return shared_feature(k, rank, v, others, _behind(v), opening, RANKS, rng)
    if k == CHANCE:
        return declared_chance(v)
    if k == PASSES:
        return np.float64(_passes(v))
    if k == HAS_TAKEN:
        return np.float64(v.upcard_is == TAKEN)
    return np.float64(-1 if v.player == NOBODY else (v.player - eldest(v)) % v.num_players)


@jit
def _behind(v):
    """In a round: everybody but the seat itself, those who have passed, and the Player."""
    if v.phase == AT_DECLARE or v.phase == AT_COUNTER:
        return v.num_players - 1 - _passes(v) - (v.phase == AT_COUNTER)
    return 0


@jit
def _passes(v):
    passes = 0
    said = v.countered if v.phase == AT_COUNTER else v.said
    for seat in range(v.num_players):
        passes += said[seat] == SAID_PASS
    return passes
