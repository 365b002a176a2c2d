"""Views told anew: another seat deals, another suit is trumps, another pot is played for.

The rules know seats by their order from the dealer and suits by whether they are trumps, and all
that a hand can gain is a multiple of the pot (but for `match_limit`, if it is reached). So every
view is as good as one in which the last seat deals, the first suit is trumps, and the pot is the
opening one: its normal form.
"""

from __future__ import annotations

import numpy as np

_SEATS = ("turn", "viewer", "dealer", "best_seat", "play_seat", "player", "counterer", "front")
_BY_SEAT = ("hands", "thrown", "tricks", "voids", "revoked", "said", "countered", "breaches")
_SEAT_SETS = ("passed", "knocked", "refused", "exchanged", "playing")
_CARDS = ("upcard", "led", "best", "play_card")
_CARD_SETS = ("hands", "thrown", "discard")
_SESSION = ("coins", "hand_number", "carried", "pot", "gains", "stakes")


def normal_form(views: np.ndarray, opening: np.ndarray) -> np.ndarray:
    """The views as if the last seat dealt, and so on.

    Args:
        views: (K,) records of one table.
        opening: (1,) records, the first hand of a session in which the last seat deals.
    """
    n = int(opening[0]["num_players"])
    told = retold(views, n - 1 - views["dealer"].astype(np.int64), views["trump"].astype(np.int64))
    for name in _present(_SESSION, views):
        told[name] = opening[0][name]
    return told


def retold(views: np.ndarray, turns: np.ndarray, trumps: np.ndarray) -> np.ndarray:
    """The views with every seat moved on by so many, and a suit exchanged for the first.

    Args:
        views: (K,) records of one table.
        turns: (K,) int64, how far.
        trumps: (K,) int64, which suit.
    """
    told, n, ranks = views.copy(), int(views["num_players"][0]), views["pack"].shape[1] // 4
    unplayed = np.arange(views["play_card"].shape[1]) >= views["plays"][:, None]
    for name in _present(_SEATS, views):
        told[name] = _moved(views[name], turns, n)
    for name in _present(_BY_SEAT, views):
        places = (np.arange(n) - turns[:, None]) % n
        told[name][:, :n] = np.take_along_axis(views[name], places, axis=1)
    for name in _present(_SEAT_SETS, views):
        told[name] = _moved_set(views[name], turns, n)
    for name in _present(_CARD_SETS, views):
        told[name] = _exchanged_set(told[name], trumps, ranks)
    for name in _present(_CARDS, views):
        told[name] = _exchanged(views[name], trumps, ranks)
    told["voids"] = _exchanged_set(told["voids"], trumps, 1)
    told["trump"] = _exchanged(views["trump"], trumps, 1)
    for name in ("play_card", "play_seat"):
        told[name][unplayed] = 0
    return told


def exchanged_actions(actions: np.ndarray, trumps: np.ndarray, pack_size: int) -> np.ndarray:
    """Actions (K,) with a suit (K,) exchanged for the first; what is no card stays."""
    cards = _exchanged(actions, trumps, pack_size // 4)
    return np.where(actions < pack_size, cards, actions)


def _present(names: tuple[str, ...], views: np.ndarray) -> list[str]:
    """Of the fields' names those of this game."""
    return [name for name in names if name in (views.dtype.names or ())]


def _column(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """(K,) as (K, 1) where it has to go with (K, m)."""
    return values.reshape(-1, *([1] * (like.ndim - 1)))


def _moved(seats: np.ndarray, turns: np.ndarray, n: int) -> np.ndarray:
    return np.where(seats < 0, seats, (seats + _column(turns, seats)) % n)


def _moved_set(seats: np.ndarray, turns: np.ndarray, n: int) -> np.ndarray:
    up = (turns % n).astype(np.uint64)
    return (seats << up | seats >> (np.uint64(n) - up)) & np.uint64((1 << n) - 1)


def _exchanged(cards: np.ndarray, trumps: np.ndarray, ranks: int) -> np.ndarray:
    suit, rank = np.divmod(cards.astype(np.int64), ranks)
    trumps = _column(trumps, cards)
    suit = np.where(suit == trumps, 0, np.where(suit == 0, trumps, suit))
    return np.where(cards < 0, cards, suit * ranks + rank)


def _exchanged_set(cards: np.ndarray, trumps: np.ndarray, ranks: int) -> np.ndarray:
    """By exchanging the bits that differ."""
    wide, up = cards.astype(np.uint64), (_column(trumps, cards) * ranks).astype(np.uint64)
    differ = (wide ^ (wide >> up)) & np.uint64((1 << ranks) - 1)
    return (wide ^ differ ^ (differ << up)).astype(cards.dtype)
