"""Suits relabelled, so that deals which differ only by their suits' names look the same.

Trumps come first, then the suit led, then the others by the cards held, highest first, and where
those are alike by all else that is known of the suits. A relabelled observation is a valid
observation of the same deal with its suits renamed; two deals that differ by the names of their
suits alone have the same.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from bestia_env._jit import jit
from bestia_env.games import game_named
from bestia_env.observe import Layout, layout

SUITS = 4
ORDERS = np.array(list(itertools.permutations(range(SUITS))))
"""(24, 4): the new label of every suit, in each order."""
_BY_SUIT = ("trump", "led", "voids")  # pieces whose last axis is the suits
_FIRST = ("trump", "led", "hand")  # what suits are sorted by before all else


class Relabelling(NamedTuple):
    """Where things go under each of the 24 orders.

    Attributes:
        observation: (24, D) int64, the new place of every float.
        action: (24, A) int64, the new number of every action.
        original: (24, A) int64, the action that each new number stands for.
        of_suit: (4, K) int64, where the observation tells of each suit, the weightiest first.
        at: `Layout.offsets`.
        enabled: False leaves all suits as they are.
    """

    observation: np.ndarray
    action: np.ndarray
    original: np.ndarray
    of_suit: np.ndarray
    at: np.ndarray
    enabled: bool


def relabelling(game: str, num_players: int, enabled: bool = True) -> Relabelling:
    """The relabelling for a game's observations and actions.

    Raises:
        ValueError: `enabled` is neither True nor False.
    """
    if not isinstance(enabled, bool | np.bool_):
        raise ValueError(f"sort_suits must be True or False, not {enabled!r}")
    table, chosen = layout(game, num_players), game_named(game)
    places = _places_by_suit(table, chosen.pack.size)
    observation = np.tile(np.arange(table.size), (len(ORDERS), 1))
    for order, row in zip(ORDERS, observation, strict=True):
        row[places] = places[order]
    cards = np.array([_new_cards(order, chosen.pack.size) for order in ORDERS])
    others = np.tile(np.arange(chosen.pack.size, chosen.num_actions), (len(ORDERS), 1))
    action = np.hstack([cards, others])
    return Relabelling(
        observation, action, np.argsort(action, axis=1), places, table.offsets, enabled
    )


def _places_by_suit(table: Layout, cards: int) -> np.ndarray:
    """(4, K) where an observation tells of each suit; the cards held from the highest down."""
    pieces = sorted(table.pieces, key=lambda piece: (*_FIRST, piece.name).index(piece.name))
    places = []
    for piece in pieces:
        if piece.name in _BY_SUIT or piece.shape[-1] == cards:
            own = np.arange(piece.size).reshape(-1, SUITS, piece.shape[-1] // SUITS)
            own = own[..., ::-1] if piece.name == "hand" else own
            places.append(table.slices[piece.name].start + own.swapaxes(0, 1).reshape(SUITS, -1))
    return np.hstack(places)


def _new_cards(order: np.ndarray, cards: int) -> np.ndarray:
    """(cards,) the new number of every card."""
    suit, strength = np.divmod(np.arange(cards), cards // SUITS)
    return order[suit] * (cards // SUITS) + strength


@jit
def suit_order(labels, observation):
    """The row of `ORDERS` that sorts the suits of an observation (D,); 0 if not enabled."""
    if not labels.enabled:
        return 0
    first, second = _place(labels, observation, 0), _place(labels, observation, 1)
    third_after_fourth = _comes_before(labels, observation, 3, 2)
    # The number of a permutation in lexicographic order.
    return 6 * first + 2 * (second - (second > first)) + third_after_fourth


@jit
def _place(labels, observation, suit):
    """How many suits come before this one."""
    before = 0
    for other in range(SUITS):
        before += other != suit and _comes_before(labels, observation, other, suit)
    return before


@jit
def _comes_before(labels, observation, suit, other):
    """Suits of which the same is known keep their order, which makes no difference."""
    for k in range(labels.of_suit.shape[1]):
        mine = observation[labels.of_suit[suit, k]]
        others = observation[labels.of_suit[other, k]]
        if mine != others:
            return mine > others
    return suit < other


@jit
def relabel(labels, order, observation, mask, new_observation, new_mask):
    """Write an observation (D,) and a mask (A,) with the suits in another order."""
    for i in range(observation.size):
        new_observation[labels.observation[order, i]] = observation[i]
    for action in range(mask.size):
        new_mask[labels.action[order, action]] = mask[action]


class SuitSorter:
    """The suits of many tables as a learner sees them, and its actions as the tables number them.

    Attributes:
        orders: (B,) int64, the rows of `ORDERS` under which the suits were last shown.
    """

    def __init__(self, game: str, num_players: int, count: int, enabled: bool) -> None:
        self._labels = relabelling(game, num_players, enabled)
        self.orders = np.zeros(count, np.int64)

    def show(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The observations (B, D) and masks (B, A) with suits relabelled, if that is enabled."""
        if not self._labels.enabled:
            return observations, masks
        shown, allowed = np.empty_like(observations), np.empty_like(masks)
        _show(self._labels, observations, masks, self.orders, shown, allowed)
        return shown, allowed

    def original(self, actions: np.ndarray) -> np.ndarray:
        """The tables' numbers of actions (B,) of the action space, as they were last shown."""
        return self._labels.original[self.orders, actions]


@jit
def _show(labels, observations, masks, orders, shown, allowed):
    for i in range(orders.size):
        orders[i] = suit_order(labels, observations[i])
        relabel(labels, orders[i], observations[i], masks[i], shown[i], allowed[i])
