"""A game's parameters, checked, and what follows from them for every hand."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from bestia_env import engine
from bestia_env.deals import DealOptions
from bestia_env.games import Game, game_named
from bestia_env.observe import layout
from bestia_env.openspiel.draws import Draw
from bestia_env.rules.table import NOBODY

REWARDS = ("equity", "coins")
OWN_PARAMETERS = {"players": 4, "dealer": 0, "pot": 0, "reward": REWARDS[0], "per_pot": True}
"""Those beside the options of the rules, with their defaults."""
MOST_INTEGER = 2**31 - 1
_NO_KEY = np.uint64(0)


def parameters(game: Game) -> dict[str, Any]:
    """All parameters of a game of OpenSpiel, with their defaults."""
    return OWN_PARAMETERS | {field.name: field.default for field in fields(game.rules)}


def check_parameters(game: Game, given: Mapping[str, Any]) -> None:
    """Raise a ValueError unless OpenSpiel can hold these parameters, of their defaults' types."""
    defaults = parameters(game)
    for name, value in given.items():
        if name not in defaults:
            known = ", ".join(sorted(defaults))
            raise ValueError(f"unknown parameter {name!r} of {game.name}: choose among {known}")
        kind = type(defaults[name])
        if type(value) is not kind:
            raise ValueError(f"{name} must be of type {kind.__name__}, not {value!r}")
        if kind is int and not -MOST_INTEGER <= value <= MOST_INTEGER:
            raise ValueError(
                f"{name} must be at most {MOST_INTEGER} in size, as integers of OpenSpiel have "
                f"32 bits, not {value}"
            )


def copied(states: np.ndarray) -> np.ndarray:
    """A copy of records; `ndarray.copy` goes field by field, which takes 20 times as long."""
    return np.frombuffer(bytearray(states.tobytes()), states.dtype)


class Table:
    """What is the same in all hands of one game of OpenSpiel.

    Attributes:
        game: which of the two games.
        is_beast: is it Beast?
        action_names: short names of all actions, cards first.
        params: all parameters.
        rules: `BeastRules` or `BestiaRules`.
        num_players: seats.
        no_states: (0,) records.
        dealer: a seat, or -1 for a draw.
        pot: coins carried in.
        is_equity: does a seat's utility hold its share of the pot?
        cards_each: cards dealt to each seat.
        deal: the first deal, before its first card.
        layout: of the observation.
        whole_pot: P, in coins.
        stakes: what the seats stake, in coins, the dealer first.
        unit: what utilities are counted in, in coins.
    """

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        """Check the parameters.

        Raises:
            ValueError: one has a value that is not allowed.
        """
        self.game, self.params = game_named(name), params
        self.is_beast = name == "beast"
        self.action_names = [self.game.action_name(a) for a in range(self.game.num_actions)]
        options = {field.name: params[field.name] for field in fields(self.game.rules)}
        self.rules = self.game.make_rules(None, options)
        self.num_players: int = params["players"]
        self._blank = engine.new_states(name, self.num_players, self.rules)
        self.no_states = self._blank[:0]
        self.dealer, self.pot = self._checked_deal(params["dealer"], params["pot"])
        self.is_equity = _checked_reward(params["reward"]) == "equity"
        self.cards_each = self.game.tricks(self.num_players, self.rules)
        self.deal = self._deal()
        self.layout = layout(name, self.num_players)
        trial = self.dealt(0, self.deal.pool)[0]
        self.whole_pot = int(trial.pot)
        self.stakes = [-int(gain) for gain in trial.gains[: self.num_players]]
        self.unit = float(self.whole_pot) if params["per_pot"] else 1.0

    def __deepcopy__(self, memo: dict) -> Table:
        """All states of a game share it."""
        return self

    def __reduce__(self) -> tuple:
        return table_of, (self.game.name, tuple(sorted(self.params.items())))

    def _checked_deal(self, dealer: int, pot: int) -> tuple[int, int]:
        given = {"dealer": None if dealer == NOBODY else dealer, "pot": pot}
        options = DealOptions.read(given, self.game, self.num_players, 1, self.rules)
        return options.dealer, options.pot

    def _deal(self) -> Draw:
        hands = (self.cards_each,) * self.num_players
        sizes = (*hands, 1) if self.is_beast else (1, *hands)
        return Draw(tuple(self.game.cards_in_use(self.rules)), sizes)

    def dealt(self, dealer: int, order: Iterable[int]) -> np.ndarray:
        """A hand dealt from a pack in this order, (1,) record."""
        states, pack = copied(self._blank), np.array(order, np.int8)
        engine.start_stacked_session(states, 0, _NO_KEY, dealer, self.pot, pack, pack)
        return states

    def dealing_order(self, dealer: int) -> list[int]:
        """The seats in the order in which they get cards, the dealer last."""
        return [(dealer + 1 + place) % self.num_players for place in range(self.num_players)]

    def names(self, cards: Iterable[int]) -> str:
        """Short names of cards, separated by spaces."""
        return " ".join(self.action_names[card] for card in cards)

    @property
    def most_moves(self) -> int:
        """No hand has more moves of seats: every seat speaks twice and plays all its cards."""
        return self.num_players * (2 + self.cards_each)

    @property
    def most_chances(self) -> int:
        """No hand has more moves of chance."""
        exchange = self.num_players * self.cards_each * (not self.is_beast)
        return sum(self.deal.sizes) + exchange + (self.dealer == NOBODY)

    def utility_bounds(self) -> tuple[float, float]:
        """The least and the greatest utility; both occur under default rules."""
        bounds = _beast_bounds if self.is_beast else _bestia_bounds
        least, greatest = bounds(self, min(self.whole_pot, self.rules.match_limit))
        return least / self.unit, greatest / self.unit


@functools.cache
def table_of(name: str, params: tuple[tuple[str, Any], ...]) -> Table:
    """The table of a game, "beast" or "bestia", with such parameters, sorted by name."""
    return Table(name, dict(params))


def _checked_reward(reward: str) -> str:
    if reward not in REWARDS:
        raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {reward!r}")
    return reward


# Bounds in coins; `payment` is what a rule takes that costs P.


def _beast_bounds(table: Table, payment: int) -> tuple[float, float]:
    """The Player and a Counterer who beats him (BEAST-35); all may have revoked (B-13)."""
    fine = payment * (table.rules.revoke == "penalty")
    least = -payment - fine - max(table.stakes)
    greatest = table.whole_pot + payment - min(table.stakes)
    if not table.is_equity:
        return least, greatest
    n = table.num_players
    return least + (fine - table.pot) / n, greatest + ((n - 1) * fine - table.pot) / n


def _bestia_bounds(table: Table, payment: int) -> tuple[float, float]:
    """A bête alone; who takes every trick from all others (BESTIA-30, I-16, I-17)."""
    fines = payment * (1 + _most_fines(table))
    least = -fines - max(table.stakes)
    greatest = table.whole_pot - min(table.stakes)
    if not table.is_equity:
        return least, greatest
    n = table.num_players
    return least + (fines - table.pot) / n, greatest + ((n - 1) * fines - table.pot) / n


def _most_fines(table: Table) -> int:
    if table.rules.maxims == "penalty":
        return table.cards_each
    return int(table.rules.revoke == "penalty")
