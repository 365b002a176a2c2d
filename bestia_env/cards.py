"""The two packs: suits, ranks, and the names of cards.

A card is an int, suit * ranks + strength; suits are in alphabetical order, and the strength grows
from the lowest rank to the ace (RULEBOOK, "Cards, actions, and deals as data").
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral


@dataclass(frozen=True)
class Pack:
    """A pack of cards.

    Attributes:
        suits: names of the suits in order of id.
        symbols: one character for each suit, for terminals that show Unicode.
        ranks: short names of the ranks from lowest to highest.
        rank_names: the same in full.
    """

    suits: tuple[str, ...]
    symbols: str
    ranks: tuple[str, ...]
    rank_names: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many cards the pack has."""
        return len(self.suits) * len(self.ranks)

    def name(self, card: int) -> str:
        """The short name in plain ASCII, rank and first letter of the suit: `10h`, `Rc`."""
        suit, strength = divmod(self._checked(card), len(self.ranks))
        return self.ranks[strength] + self.suits[suit][0]

    def symbol(self, card: int) -> str:
        """The short name with the suit's symbol: `10♥`."""
        suit, strength = divmod(self._checked(card), len(self.ranks))
        return self.ranks[strength] + self.symbols[suit]

    def long_name(self, card: int) -> str:
        """The full name: `ten of hearts`, `re di coppe`."""
        suit, strength = divmod(self._checked(card), len(self.ranks))
        word = "of" if self is FRENCH else "di"
        return f"{self.rank_names[strength]} {word} {self.suits[suit]}"

    def card(self, name: str) -> int:
        """The id of the card with this short name, in either case.

        Raises:
            ValueError: the name is not that of a card of this pack.
        """
        by_name = {self.name(card).lower(): card for card in range(self.size)}
        try:
            return by_name[name.strip().lower()]
        except KeyError:
            ranks, suits = " ".join(self.ranks), " ".join(suit[0] for suit in self.suits)
            raise ValueError(
                f"unknown card {name!r}: a card is a rank ({ranks}) and a suit ({suits}), "
                f"such as {self.name(0)!r}"
            ) from None

    def cards(self, names: str) -> list[int]:
        """The ids of cards whose short names stand in a string, separated by spaces."""
        return [self.card(name) for name in names.split()]

    def _checked(self, card: int) -> int:
        if not isinstance(card, Integral) or not 0 <= card < self.size:
            raise ValueError(f"card must be from 0 to {self.size - 1}, not {card!r}")
        return int(card)


FRENCH = Pack(
    suits=("clubs", "diamonds", "hearts", "spades"),
    symbols="♣♦♥♠",
    ranks=("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"),
    rank_names=(
        *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
        *("jack", "queen", "king", "ace"),
    ),
)
"""The pack of Beast: 52 cards (BEAST-02)."""

ITALIAN = Pack(
    suits=("bastoni", "coppe", "denari", "spade"),
    symbols="bcds",  # Unicode has none; letters read better than look-alikes
    ranks=("2", "4", "5", "6", "7", "F", "C", "R", "3", "A"),
    rank_names=(
        *("due", "quattro", "cinque", "sei", "sette"),
        *("fante", "cavallo", "re", "tre", "asso"),
    ),
)
"""The pack of Bestia: 40 cards in the Spanish suits (BESTIA-04, BESTIA-05)."""
