"""The bidding of Beast as a table reads it: buckets of hands, and places in the bidding.

Hands are far too many to tell all apart. A bucket knows which of the six highest trumps a hand
holds, counted without the upcard, and how many lower ones; how many side aces, kings and queens;
and how many side suits it lacks. What else matters is left out.

A table decides whether to take blind, by the upcard alone; to declare; and to counter. Whoever
plays the cards discards, and bids where a sure hand may be shown (BEAST-20).
"""

from __future__ import annotations

import hashlib

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, nth, size
from bestia_env.rules.beast import (
    AT_COUNTER,
    AT_DECLARE,
    AT_TAKE,
    COUNTER,
    LEAVE,
    PASS,
    PLAY,
    RANKS,
    SHOW,
    TAKE,
    TAKEN,
    legal,
)
from bestia_env.rules.table import NOBODY, eldest
from bestia_env.rules.tricks import suit_cards

PLAYERS = range(4, 7)
HIGH = 6  # trumps that are told apart
LOW = 4  # how many counts of lower ones are told apart, from none on
ACES, KINGS, QUEENS, VOIDS = 4, 3, 2, 3  # how many counts of each are told apart, from none on
CLASSES = (1 << HIGH) * LOW * ACES * KINGS * QUEENS * VOIDS
"""How many buckets there are; some are empty."""
FAMILIES = np.arange(CLASSES) // (QUEENS * VOIDS)
"""(CLASSES,) the same without queens and voids."""
CLASSES_HASH = hashlib.sha256(
    repr((RANKS, HIGH, LOW, ACES, KINGS, QUEENS, VOIDS, "groups 12 10 7")).encode()
).hexdigest()[:16]
"""Changes with what a table relies on."""
GROUPS = 4  # of upcards that a dealer has taken
_SUIT = np.uint64((1 << RANKS) - 1)
_LOWER = np.uint64(RANKS - 1 - HIGH)  # trumps below the high ones, the upcard apart


def check_players(num_players: int) -> None:
    """Raise a ValueError unless so many may have a table of bids."""
    if num_players not in PLAYERS:
        raise ValueError(
            f"bids of beast are solved for {PLAYERS[0]} to {PLAYERS[-1]} players, not {num_players}"
        )


@jit
def hand_class(s, seat):
    """The bucket of the cards that a seat holds."""
    held = s.hands[nth(seat)]
    trumps = (held >> np.uint64(s.trump * RANKS)) & _SUIT
    below = bit(s.upcard % RANKS) - np.uint64(1)
    trumps = (trumps & below) | ((trumps & ~below) >> np.uint64(1))
    low = size(trumps & ((bit(RANKS - 1) - np.uint64(1)) >> np.uint64(HIGH)))
    number = np.int64(trumps >> _LOWER) * LOW + min(low, LOW - 1)
    number = number * ACES + _side(s, held, RANKS - 1)
    number = number * KINGS + min(_side(s, held, RANKS - 2), KINGS - 1)
    number = number * QUEENS + min(_side(s, held, RANKS - 3), QUEENS - 1)
    return number * VOIDS + min(_voids(s, held), VOIDS - 1)


@jit
def _side(s, held, strength):
    """How many side cards of this strength there are."""
    count = 0
    for suit in range(4):
        count += suit != s.trump and has(held, suit * RANKS + strength)
    return count


@jit
def _voids(s, held):
    """How many side suits the hand lacks."""
    count = 0
    for suit in range(4):
        count += suit != s.trump and held & suit_cards(suit, RANKS) == ZERO
    return count


# Places in the bidding. A node is a place in the declaration round; or the place of the Player and
# of the seat that may counter, counted from the Player; the same with the upcard's group where the
# dealer has taken it; or the dealer's first decision.


def num_nodes(num_players: int) -> int:
    """How many nodes there are."""
    return num_players + (num_players + GROUPS) * (num_players - 1) + 1


def num_entries(num_players: int) -> int:
    """The entries of a table: nodes × buckets."""
    return num_nodes(num_players) * CLASSES


@jit
def bidding(s):
    """Is the hand still before its tricks?"""
    return s.phase <= AT_COUNTER


@jit
def decides(s):
    """To take, to declare or to counter, unless a sure hand may be shown."""
    if s.phase == AT_TAKE:
        return True
    return (s.phase == AT_DECLARE or s.phase == AT_COUNTER) and not has(legal(s), SHOW)


@jit
def quiet(s):
    """What a seat does that stays out."""
    return LEAVE if s.phase == AT_TAKE else PASS


@jit
def loud(s):
    """What a seat does that comes in."""
    return TAKE if s.phase == AT_TAKE else PLAY if s.phase == AT_DECLARE else COUNTER


@jit
def entry(s, hand):
    """The entry of a table for the seat to act that holds a hand of this bucket."""
    # Before the dealer looks there are no buckets but the ranks of the upcard.
    return node(s) * CLASSES + (s.upcard % RANKS if s.phase == AT_TAKE else hand)


@jit
def node(s):
    """The node of the seat to act."""
    n = s.num_players
    if s.phase == AT_TAKE:
        return n + (n + GROUPS) * (n - 1)
    if s.phase == AT_DECLARE:
        return (s.turn - eldest(s)) % n
    after = (s.turn - s.player) % n - 1
    if s.upcard_is == TAKEN:
        return n + (n + _group(s.upcard % RANKS)) * (n - 1) + after
    return n + (s.player - eldest(s)) % n * (n - 1) + after


@jit
def _group(strength):
    """Aces; kings and queens; knaves to nines; the others."""
    return 0 if strength >= 12 else 1 if strength >= 10 else 2 if strength >= 7 else 3


@jit
def agent(s):
    """Who decides: the seat to act, but a dealer who has not looked is as another, the n-th.

    What the dealer sees later is not what the first decision was made by, so that the same entry
    is reached from many.
    """
    return s.num_players if s.phase == AT_TAKE else s.turn


def num_agents(num_players: int) -> int:
    """How many agents there are."""
    return num_players + 1


def askers(num_players: int) -> np.ndarray:
    """(nodes,) int64, the agent that is asked, counted from the eldest as 0."""
    n = num_players
    after = np.arange(n - 1)
    left = [(player + 1 + after) % n for player in range(n)]
    return np.concatenate([np.arange(n), *left, *[after] * GROUPS, [n]])


def parents(num_players: int) -> np.ndarray:
    """(nodes,) int64, where the same agent has passed before, -1 where it was not asked."""
    n = num_players
    found = np.full(num_nodes(n), -1)
    for player in range(n):
        for after in range(n - 1):
            seat = (player + 1 + after) % n
            if seat < player:
                found[n + player * (n - 1) + after] = seat
    return found


@jit
def outcome(s):
    """A number for what has been said when the bidding is over."""
    n = s.num_players + 1
    said = (s.player - NOBODY) * n + s.counterer - NOBODY
    return np.int64(said + n * n * (s.upcard_is == TAKEN))


def num_outcomes(num_players: int) -> int:
    """One more than the greatest outcome."""
    return 2 * (num_players + 1) ** 2
