"""Suits relabelled, so that deals which differ only by their suits' names look alike to a network.

Trumps come first, then the suit led, then the others by the cards held, highest first. A relabelled
observation is a valid observation of the same deal with its suits renamed.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from bestia_env._jit import jit
from bestia_env.games import game_named
from bestia_env.observe import HAND, LED, TRUMP, layout

SUITS = 4
ORDERS = np.array(list(itertools.permutations(range(SUITS))))
"""(24, 4): the new label of every suit, in each order."""
_BY_SUIT = ("trump", "led", "voids")  # pieces whose last axis is the suits
_TRUMP_KEY, _LED_KEY = 1 << 21, 1 << 20


class Relabelling(NamedTuple):
    """Where things go under each of the 24 orders.

    Attributes:
        observation: (24, D) int64, the new place of every float.
        action: (24, A) int64, the new number of every action.
        original: (24, A) int64, the action that each new number stands for.
        at: `Layout.offsets`.
        ranks: cards in a suit.
        enabled: False leaves all suits as they are.
    """

    observation: np.ndarray
    action: np.ndarray
    original: np.ndarray
    at: np.ndarray
    ranks: int
    enabled: bool


def relabelling(game: str, num_players: int, enabled: bool = True) -> Relabelling:
    """The relabelling for a game's observations and actions."""
    table, chosen = layout(game, num_players), game_named(game)
    cards = np.array([_new_cards(order, chosen.pack.size) for order in ORDERS])
    observation = np.tile(np.arange(table.size), (len(ORDERS), 1))
    for piece in table.pieces:
        new = ORDERS if piece.name in _BY_SUIT else cards
        if piece.shape[-1] == new.shape[1]:
            rows = np.arange(0, piece.size, new.shape[1])
            place = table.slices[piece.name]
            moved = place.start + rows[:, None] + new[:, None, :]
            observation[:, place] = moved.reshape(len(ORDERS), -1)
    others = np.tile(np.arange(chosen.pack.size, chosen.num_actions), (len(ORDERS), 1))
    action = np.hstack([cards, others])
    ranks = chosen.pack.size // SUITS
    return Relabelling(
        observation, action, np.argsort(action, axis=1), table.offsets, ranks, enabled
    )


def _new_cards(order: np.ndarray, cards: int) -> np.ndarray:
    """(cards,) the new number of every card."""
    suit, strength = np.divmod(np.arange(cards), cards // SUITS)
    return order[suit] * (cards // SUITS) + strength


@jit
def suit_order(labels, observation):
    """The row of `ORDERS` that sorts the suits of an observation (D,); 0 if not enabled."""
    if not labels.enabled:
        return 0
    keys = (
        _suit_key(labels, observation, 0),
        _suit_key(labels, observation, 1),
        _suit_key(labels, observation, 2),
        _suit_key(labels, observation, 3),
    )
    first = _place(keys, 0)
    second = _place(keys, 1)
    # The number of a permutation in lexicographic order.
    return 6 * first + 2 * (second - (second > first)) + (_place(keys, 2) > _place(keys, 3))


@jit
def _suit_key(labels, observation, suit):
    key = _TRUMP_KEY * (observation[labels.at[TRUMP] + suit] > 0)
    key += _LED_KEY * (observation[labels.at[LED] + suit] > 0)
    start = labels.at[HAND] + suit * labels.ranks
    for strength in range(labels.ranks):
        key += (observation[start + strength] > 0) << strength
    return key


@jit
def _place(keys, suit):
    """How many suits come before this one."""
    before = 0
    for other in range(SUITS):
        before += keys[other] > keys[suit] or (keys[other] == keys[suit] and other < suit)
    return before


@jit
def relabel(labels, order, observation, mask, new_observation, new_mask):
    """Write an observation (D,) and a mask (A,) with the suits in another order."""
    for i in range(observation.size):
        new_observation[labels.observation[order, i]] = observation[i]
    for action in range(mask.size):
        new_mask[labels.action[order, action]] = mask[action]
