"""The two games as data: what differs between their environments."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np

from bestia_env.cards import FRENCH, ITALIAN, Pack
from bestia_env.rules import beast, bestia


@dataclass(frozen=True)
class Game:
    """A game.

    Attributes:
        name: "beast" or "bestia".
        module: its rulebook.
        pack: its cards.
        rules: the dataclass of its options.
    """

    name: str
    module: ModuleType
    pack: Pack
    rules: type[Any]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its state records."""
        return self.module.HAND

    @property
    def actions(self) -> type[IntEnum]:
        """Its actions beside the cards."""
        return self.module.Action

    @property
    def phases(self) -> type[IntEnum]:
        """Its phases."""
        return self.module.Phase

    @property
    def num_actions(self) -> int:
        """The size of its action space."""
        return self.module.NUM_ACTIONS

    @property
    def player_counts(self) -> range:
        """The numbers of players it can be played by."""
        return range(self.module.MIN_PLAYERS, self.module.MAX_PLAYERS + 1)

    def tricks(self, num_players: int) -> int:
        """Cards each, and tricks in a hand."""
        return num_players + 1 if self.name == "beast" else bestia.CARDS_EACH

    def __reduce__(self) -> tuple:
        """Copies and pickles stand for the game itself, since a module cannot be copied."""
        return game_named, (self.name,)

    def check_num_players(self, num_players: Any) -> None:
        """Raise a ValueError unless so many can play."""
        whole = isinstance(num_players, int | np.integer) and not isinstance(num_players, bool)
        if not whole or num_players not in self.player_counts:
            counts = self.player_counts
            raise ValueError(
                f"num_players of {self.name} must be an integer from {counts[0]} to {counts[-1]}, "
                f"not {num_players!r}"
            )

    def make_rules(self, rules: Any, options: dict[str, Any]) -> Any:
        """The rules with single options replaced.

        Raises:
            ValueError: an option has a value that is not allowed.
            TypeError: there is no such option, or the rules are not this game's.
        """
        rules = self.rules() if rules is None else rules
        if not isinstance(rules, self.rules):
            raise TypeError(
                f"rules of {self.name} must be {self.rules.__name__}, not {type(rules).__name__}"
            )
        known = [field.name for field in fields(self.rules)]
        for option in options:
            if option not in known:
                raise TypeError(
                    f"unknown option {option!r} of {self.name}: choose among {', '.join(known)}"
                )
        return replace(rules, **options)

    def action_name(self, action: int) -> str:
        """What an action is called: a card's short name, or PASS, KNOCK and so on."""
        return self.pack.name(action) if action < self.pack.size else self.actions(action).name

    def action_names(self, mask: np.ndarray) -> str:
        """The names of all actions of a mask (A,), separated by spaces."""
        return " ".join(self.action_name(int(action)) for action in np.flatnonzero(mask))


GAMES = {
    "beast": Game("beast", beast, FRENCH, beast.BeastRules),
    "bestia": Game("bestia", bestia, ITALIAN, bestia.BestiaRules),
}


def game_named(name: str) -> Game:
    """The game of this name.

    Raises:
        ValueError: there is none.
    """
    try:
        return GAMES[name]
    except (KeyError, TypeError):
        raise ValueError(f"game must be one of {', '.join(GAMES)}, not {name!r}") from None
