"""Decoding an observation gives back what is so at the table, in every state of random play."""

from random import Random
from typing import Any

import pytest

from bestia_env.words import decode
from tests.sessions import TABLES, Table, members, random_session, walk


class Sight:
    """What the words should be, from the state."""

    def __init__(self, table: Table, seat: int) -> None:
        self.table, self.read, self.me = table, table.read, seat
        self.n, self.pack = table.session.num_players, table.game.pack

    def name(self, seat: int) -> str | None:
        relative = (seat - self.me) % self.n
        return None if seat < 0 else f"+{relative}" if relative else "you"

    def cards(self, cards: int) -> list[str]:
        return [self.pack.name(card) for card in sorted(members(cards))]

    def suit(self, card: int) -> str | None:
        return None if card < 0 else self.pack.suits[card // len(self.pack.ranks)]

    def by_seat(self, values: list[Any]) -> list[tuple[str | None, Any]]:
        """The values with the names of their seats, from the observer on."""
        turned = values[self.me :] + values[: self.me]
        return [(self.name(self.me + i), value) for i, value in enumerate(turned)]

    def plays(self) -> list[tuple[int, int]]:
        count = self.read("plays")
        return list(zip(self.read("play_seat")[:count], self.read("play_card")[:count]))

    def trick(self) -> list[int]:
        """The cards of the current trick, ascending."""
        each = len(members(self.read("playing"))) if self.table.game.name == "bestia" else self.n
        return sorted(card for _, card in self.plays()[self.read("trick") * (each or self.n) :])

    def facts(self) -> dict[str, Any]:
        read = self.read
        blind = self.table.phase == "TAKE" and self.me == read("dealer")
        return {
            "phase": self.table.phase,
            "to act": self.name(read("turn")),
            "dealer": self.name(read("dealer")),
            "hand": self.cards(0 if blind else read("hands")[self.me]),
            "trump": self.pack.suits[read("trump")],
            "upcard": self.pack.name(read("upcard")),
            "played": [f"{self.name(seat)} {self.pack.name(card)}" for seat, card in self.plays()],
            "current trick": [self.pack.name(card) for card in self.trick()],
            "suit led": self.suit(read("led")),
            "winning": self.name(read("best_seat")),
            "tricks": [f"{name} {tricks}" for name, tricks in self.by_seat(read("tricks"))],
            "voids": [
                f"{name} {self.pack.suits[suit]}"
                for name, suits in self.by_seat(read("voids"))
                for suit in sorted(members(suits))
            ],
            "revoked": bool(read("revoked")[self.me]),
            "pot": read("pot"),
            **(self.beast() if self.table.game.name == "beast" else self.bestia()),
        }

    def beast(self) -> dict[str, Any]:
        read = self.read
        words = ("", "PASS", "PLAY", "SHOW"), ("", "PASS", "COUNTER", "SHOW")
        said, countered = (
            [f"{name} {words[i][word]}" for name, word in self.by_seat(read(field)) if word]
            for i, field in enumerate(("said", "countered"))
        )
        return {
            "discard": self.cards(read("discard") if self.me == read("dealer") else 0),
            "upcard is": (None, "left", "taken")[read("upcard_is")],
            "said": said,
            "countered": countered,
            "stakes": ("none", "one from the dealer", "full")[read("stakes")],
        }

    def bestia(self) -> dict[str, Any]:
        read = self.read
        sets = {name: members(read(name)) for name in ("passed", "knocked", "refused", "exchanged")}
        names = self.by_seat(list(range(self.n)))

        def acts(first: str, second: str, words: tuple[str, str]) -> list[str]:
            told = [(name, seat in sets[first], seat in sets[second]) for name, seat in names]
            return [f"{name} {words[not a]}" for name, a, b in told if a or b]

        return {
            "thrown": self.cards(read("thrown")[self.me]),
            "auction": acts("passed", "knocked", ("PASS", "KNOCK")),
            "offer": acts("refused", "exchanged", ("REFUSE", "EXCHANGE")),
            "playing": [name for name, seat in names if seat in members(read("playing"))],
            "gathered": read("gathered"),
            "forced": read("forced"),
            "breaches": read("breaches")[self.me],
            "stake": read("stake"),
        }


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_words_tell_what_is_so(game: str, num_players: int) -> None:
    rng = Random(num_players)
    for _ in range(3):
        for table in walk(Table(random_session(rng, game, num_players, num_hands=2)), rng):
            seat = rng.randrange(num_players)
            table.observe(seat)
            told = decode(table.observation, game=game, num_players=num_players)
            assert told == Sight(table, seat).facts()
