"""The two games as data: what differs between their environments."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np

from bestia_env.cards import FRENCH, ITALIAN, Pack
from bestia_env.rules import beast, bestia

MIN_REDUCED = 2  # players of a reduction (B-19, I-24)


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
        """The numbers of players it can be played by, unless it is reduced."""
        return range(self.module.MIN_PLAYERS, self.module.MAX_PLAYERS + 1)

    @property
    def reduced_player_counts(self) -> range:
        """The numbers of players of its reductions (B-19, I-24); all that there are."""
        return range(MIN_REDUCED, self.player_counts.stop)

    def tricks(self, num_players: int, rules: Any = None) -> int:
        """Cards each, and tricks in a hand, by these rules or those of the full game."""
        return (rules or self.rules()).cards_each(num_players)

    def is_reduced(self, num_players: int, rules: Any) -> bool:
        """Do so many play by these rules with other cards than in the full game? (B-19, I-24)."""
        other_pack = rules.ranks * rules.suits != self.pack.size
        return other_pack or self.tricks(num_players, rules) != self.tricks(num_players)

    def cards_in_use(self, rules: Any = None) -> list[int]:
        """The cards of the pack by these rules, in order of id; all of them without rules."""
        ranks = len(self.pack.ranks)
        kept, suits = (ranks, len(self.pack.suits)) if rules is None else (rules.ranks, rules.suits)
        return [card for card in range(suits * ranks) if card % ranks >= ranks - kept]

    def __reduce__(self) -> tuple:
        """Copies and pickles stand for the game itself, since a module cannot be copied."""
        return game_named, (self.name,)

    def check_num_players(self, num_players: Any, rules: Any = None) -> None:
        """Raise a ValueError unless so many can play, by these rules or those of the full game."""
        rules = self.rules() if rules is None else rules
        is_reduced = _is_whole(num_players) and self.is_reduced(num_players, rules)
        self._check_count(
            num_players, self.reduced_player_counts if is_reduced else self.player_counts
        )
        self._check_cards(int(num_players), rules)

    def check_seats(self, num_players: Any) -> None:
        """Raise a ValueError unless so many can play by some rules, reductions included."""
        self._check_count(num_players, self.reduced_player_counts)

    def _check_count(self, num_players: Any, counts: range) -> None:
        if not _is_whole(num_players) or num_players not in counts:
            raise ValueError(
                f"num_players of {self.name} must be an integer from {counts[0]} to {counts[-1]}, "
                f"not {num_players!r}"
            )

    def _check_cards(self, num_players: int, rules: Any) -> None:
        """Raise a ValueError unless the pack suffices for so many, with an upcard."""
        each, most = self.tricks(num_players, rules), self.tricks(num_players)
        if each > most:
            raise ValueError(
                f"cards of {self.name} must be at most {most} with {num_players} players, "
                f"not {each}"
            )
        if num_players * each >= rules.ranks * rules.suits:
            raise ValueError(
                f"ranks and suits of {self.name} must make at least {num_players * each + 1} "
                f"cards, for {num_players} players with {each} each and the upcard, "
                f"not {rules.ranks} * {rules.suits} = {rules.ranks * rules.suits}"
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


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


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
