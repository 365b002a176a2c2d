"""What `reset(options=…)` says about the deals of a session, checked before anything changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestia_env.games import Game
from bestia_env.rules.table import MAX_COINS, NOBODY, check_coins


@dataclass(frozen=True)
class DealOptions:
    """The deals of a session as far as they are given.

    Attributes:
        decks: pack orders of the first hands, each (cards in use,) int8.
        heaps: heap orders of the first hands, each (cards in use,) int8 (Bestia, I-08).
        dealer: the seat that deals first, or -1 for a draw.
        pot: coins carried into the first hand.
    """

    decks: tuple[np.ndarray, ...] = ()
    heaps: tuple[np.ndarray, ...] = ()
    dealer: int = NOBODY
    pot: int = 0

    @classmethod
    def read(
        cls,
        options: dict[str, Any] | None,
        game: Game,
        num_players: int,
        num_hands: int,
        rules: Any = None,
    ) -> DealOptions:
        """Read the options `deck`, `heap`, `dealer` and `pot`; other keys are ignored.

        Orders are those of the cards in use by the rules, or of all cards without rules.

        Raises:
            ValueError: one of them is malformed.
        """
        if options is None:
            options = {}
        if not isinstance(options, Mapping):
            raise ValueError(f"options must be None or a dict, not {options!r}")
        return cls(
            decks=_orders("deck", options.get("deck"), game, num_hands, rules),
            heaps=_orders("heap", options.get("heap"), game, num_hands, rules),
            dealer=_dealer(options.get("dealer"), num_players),
            pot=_pot(options.get("pot"), rules or game.rules()),
        )

    def deck(self, hand_number: int) -> np.ndarray | None:
        """The pack order of a hand, or None for one from the seed."""
        return self.decks[hand_number] if hand_number < len(self.decks) else None

    def heap(self, hand_number: int) -> np.ndarray | None:
        """The heap order of a hand, or None for one from the seed."""
        return self.heaps[hand_number] if hand_number < len(self.heaps) else None


def is_integer(value: Any) -> bool:
    """Is it an integer of Python or numpy? Truth values are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_seed(seed: Any) -> int | None:
    """The seed as Gymnasium takes it, a Python int, or None.

    Raises:
        ValueError: it is neither None nor an integer of at least 0.
    """
    if seed is not None and not (is_integer(seed) and seed >= 0):
        raise ValueError(f"seed must be None or an integer of at least 0, not {seed!r}")
    return None if seed is None else int(seed)


def _orders(
    name: str, value: Any, game: Game, num_hands: int, rules: Any
) -> tuple[np.ndarray, ...]:
    """One order of all cards, or a sequence of such orders, one for each of the first hands."""
    if value is None:
        return ()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
        raise ValueError(f"{name} must be an order of all card ids, or some, not {value!r}")
    several = isinstance(value[0], Sequence | np.ndarray) and not isinstance(value[0], str | bytes)
    orders = tuple(_order(name, order, game, rules) for order in (value if several else [value]))
    if len(orders) > num_hands:
        raise ValueError(
            f"{name} must hold an order for at most num_hands = {num_hands} hands, "
            f"not {len(orders)}"
        )
    return orders


def _order(name: str, order: Any, game: Game, rules: Any) -> np.ndarray:
    in_use = game.cards_in_use(rules)
    size, last = len(in_use), game.pack.size - 1
    try:
        cards = np.asarray(order)
    except ValueError:
        cards = np.empty(0)
    if cards.ndim != 1 or cards.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, the card ids from 0 to {last}")
    if cards.size != size:
        raise ValueError(f"{name} must have {size} cards, not {cards.size}")
    wrong = [int(card) for card in cards if not 0 <= card <= last]
    if wrong:
        raise ValueError(f"{name} must hold the card ids from 0 to {last}, not {wrong[0]}")
    left_out = [int(card) for card in cards if card not in in_use]
    if left_out:
        name_of = game.pack.name
        raise ValueError(
            f"{name} must hold the cards in use, {' '.join(map(name_of, in_use))}, "
            f"not {name_of(left_out[0])} ({left_out[0]})"
        )
    values, counts = np.unique(cards, return_counts=True)
    if values.size != size:
        card = int(values[counts > 1][0])
        raise ValueError(
            f"{name} must have every card once; {game.pack.name(card)} ({card}) is twice"
        )
    return cards.astype(np.int8)


def _dealer(value: Any, num_players: int) -> int:
    if value is None:
        return NOBODY
    if not is_integer(value) or not 0 <= value < num_players:
        raise ValueError(f"dealer must be a seat from 0 to {num_players - 1}, not {value!r}")
    return int(value)


def _pot(value: Any, rules: Any) -> int:
    if value is None:
        return 0
    check_coins("pot", value, least=0, step=rules.pot_unit, most=MAX_COINS)
    return int(value)
