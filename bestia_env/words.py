"""An observation in words."""

from __future__ import annotations

import numpy as np

from bestia_env.cards import FRENCH, ITALIAN
from bestia_env.observe import DIGIT, Layout, layout
from bestia_env.rules import beast, bestia


def describe(observation: np.ndarray, *, game: str, num_players: int) -> str:
    """Say in words what an observation tells, one fact a line.

    Args:
        observation: (D,) float32, as `observe` returns it under "observation".
        game: "beast" or "bestia".
        num_players: seats.

    Raises:
        ValueError: the vector is not of the length that this game and number of players has.
    """
    facts = decode(observation, game=game, num_players=num_players)
    return "\n".join(f"{name}: {_words(value)}" for name, value in facts.items())


def _words(value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_words(item) for item in value) or "none"
    return "none" if value is None else str(value)


def decode(observation: np.ndarray, *, game: str, num_players: int) -> dict[str, object]:
    """The facts that an observation tells, by name; arguments and errors as for `describe`."""
    table = layout(game, num_players)
    observation = np.asarray(observation)
    if observation.shape != (table.size,):
        raise ValueError(
            f"an observation of {game} with {num_players} players has shape ({table.size},), "
            f"not {observation.shape}"
        )
    return _Decoder(table, observation).facts()


def seat_name(relative: int) -> str:
    """How a relative seat is called: `you`, `+1` for the next in order of play."""
    return "you" if relative == 0 else f"+{relative}"


class _Decoder:
    """Reads the pieces of one observation."""

    def __init__(self, table: Layout, observation: np.ndarray) -> None:
        self.table, self.observation = table, observation
        self.pack = FRENCH if table.game == "beast" else ITALIAN
        self.rules = beast if table.game == "beast" else bestia

    def facts(self) -> dict[str, object]:
        own = self._beast() if self.table.game == "beast" else self._bestia()
        return {**self._table(), **own}

    def _table(self) -> dict[str, object]:
        return {
            "phase": self.rules.Phase(self._one("phase") or 0).name,
            "to act": self._seat("to_act"),
            "dealer": self._seat("dealer"),
            "hand": self._cards("hand"),
            "trump": self._suit("trump"),
            "upcard": self._upcard(),
            "played": self._plays(),
            "current trick": self._cards("trick"),
            "suit led": self._suit("led"),
            "winning": self._seat("winning"),
            "tricks": [
                f"{seat_name(seat)} {round(float(share) * self._tricks_in_hand())}"
                for seat, share in enumerate(self._array("tricks"))
            ],
            "voids": [
                f"{seat_name(seat)} {self.pack.suits[suit]}"
                for seat, suit in np.argwhere(self._array("voids"))
            ],
            "revoked": self._flag("revoked"),
            "pot": self._coins("pot_digits"),
        }

    def _beast(self) -> dict[str, object]:
        return {
            "discard": self._cards("discard"),
            "upcard is": (None, "left", "taken")[self._one_or_none("upcard_is") + 1],
            "said": self._acts("said", ("PASS", "PLAY", "SHOW")),
            "countered": self._acts("countered", ("PASS", "COUNTER", "SHOW")),
            "stakes": ("none", "one from the dealer", "full")[self._one("stakes") or 0],
        }

    def _bestia(self) -> dict[str, object]:
        return {
            "thrown": self._cards("thrown"),
            "auction": self._acts("auction", ("PASS", "KNOCK")),
            "offer": self._acts("offer", ("REFUSE", "EXCHANGE")),
            "playing": [
                seat_name(seat) for seat in np.flatnonzero(self._array("playing")).tolist()
            ],
            "gathered": self._flag("gathered"),
            "forced": self._flag("forced"),
            "breaches": round(float(self._array("breaches")[0]) * bestia.CARDS_EACH),
            "stake": self._coins("stake_digits"),
        }

    def _array(self, name: str) -> np.ndarray:
        return self.table.array(self.observation, name)

    def _one_or_none(self, name: str) -> int:
        places = np.flatnonzero(self._array(name))
        return int(places[0]) if places.size else -1

    def _one(self, name: str) -> int | None:
        place = self._one_or_none(name)
        return place if place >= 0 else None

    def _seat(self, name: str) -> str | None:
        seat = self._one(name)
        return None if seat is None else seat_name(seat)

    def _suit(self, name: str) -> str | None:
        suit = self._one(name)
        return None if suit is None else self.pack.suits[suit]

    def _cards(self, name: str) -> list[str]:
        return [self.pack.name(int(card)) for card in np.flatnonzero(self._array(name))]

    def _flag(self, name: str) -> bool:
        return bool(self._array(name)[0])

    def _coins(self, name: str) -> int:
        digits = [round(float(share) * DIGIT) for share in self._array(name)]
        return sum(digit * DIGIT**i for i, digit in enumerate(digits))

    def _acts(self, name: str, words: tuple[str, ...]) -> list[str]:
        return [f"{seat_name(seat)} {words[act]}" for seat, act in np.argwhere(self._array(name))]

    def _upcard(self) -> str:
        ranks = len(self.pack.ranks)
        return self.pack.name((self._one("trump") or 0) * ranks + (self._one("upcard") or 0))

    def _plays(self) -> list[str]:
        """Who played what, in order: each trick goes round from its leader."""
        order = self._array("played")
        cards = sorted(np.flatnonzero(order).tolist(), key=lambda card: order[card])
        leaders = np.argmax(self._array("leaders"), axis=1)
        rounds = [seat for leader in leaders for seat in self._round(int(leader))]
        return [
            f"{seat_name(seat)} {self.pack.name(card)}"
            for seat, card in zip(rounds, cards, strict=False)
        ]

    def _round(self, leader: int) -> list[int]:
        """The seats that play to a trick, in order from its leader."""
        n = self.table.num_players
        seats = [(leader + i) % n for i in range(n)]
        if self.table.game == "beast":
            return seats
        return [seat for seat in seats if self._array("playing")[seat]]

    def _tricks_in_hand(self) -> int:
        return self.table.num_players + 1 if self.table.game == "beast" else bestia.CARDS_EACH
