"""What text and picture tell of a hand: the facts in a state or view that are no single field."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from bestia_env.games import Game, game_named
from bestia_env.rules import beast, bestia
from bestia_env.rules.table import NOBODY, check_coins
from bestia_env.rules.tricks import beats
from bestia_env.view import look


def facts_of(
    state: np.ndarray, game: str, seat: int | None = None, names: Sequence[str] | None = None
) -> Facts:
    """What may be told of a hand.

    Args:
        state: (1,) of the game's HAND dtype, a state or a view.
        game: "beast" or "bestia".
        seat: tell what this seat may know; None for all that the record holds, which is
            everything in a state and what its viewer may know in a view.
        names: what the seats are called; `player_0` and so on if None.

    Raises:
        ValueError: no such game, a state of the other one, no such seat at the table, or not a
            name for each seat.
    """
    chosen = game_named(game)
    if not isinstance(state, np.ndarray) or state.shape != (1,):
        raise ValueError(f"state must be an array of shape (1,), not {type(state).__name__}")
    if state.dtype != chosen.dtype:
        raise ValueError(f"state must hold a record of {game}: its dtype is another")
    record = state[0] if seat is None else _view(state, seat)[0]
    return _FACTS[game](record, chosen, _checked_names(names, int(record.num_players)))


def _view(state: np.ndarray, seat: int) -> np.ndarray:
    check_coins("seat", seat, least=0, most=int(state[0].num_players) - 1)
    views = np.empty_like(state)
    look(state, 0, seat, views, 0)
    return views


def _checked_names(names: Sequence[str] | None, num_players: int) -> list[str]:
    if names is None:
        return [f"player_{seat}" for seat in range(num_players)]
    if isinstance(names, str) or not isinstance(names, Sized) or len(names) != num_players:
        raise ValueError(f"names must be {num_players}, one for each seat, not {names!r}")
    return [" ".join(str(name).split()) for name in names]


@dataclass(frozen=True)
class Trick:
    """The cards of a trick so far.

    Attributes:
        number: from 0.
        plays: seat and card, in order of play.
        best: the place among them of the card that is winning.
        is_taken: have all played?
    """

    number: int
    plays: list[tuple[int, int]]
    best: int
    is_taken: bool

    @property
    def winner(self) -> int:
        """The seat that takes the trick, or would."""
        return self.plays[self.best][0]


class Facts(ABC):
    """What both games show of a state or view `v`."""

    laid_away: str  # what cards laid away are called
    phase_words: dict[str, str]

    def __init__(self, v: np.record, game: Game, names: list[str]) -> None:
        self.v, self.game, self.pack, self.names = v, game, game.pack, names
        self.seats = range(v.num_players)
        self.viewer = None if v.viewer == NOBODY else int(v.viewer)
        self.turn = None if v.turn == NOBODY else int(v.turn)
        self.is_over = bool(v.phase == game.phases["OVER"])

    @abstractmethod
    def upcard_fate(self) -> str:
        """What became of the upcard: `left`, `taken`, `gathered`, or nothing yet."""

    @abstractmethod
    def role(self, seat: int) -> str:
        """What the seat has said, or what that made it."""

    @abstractmethod
    def number_held(self, seat: int) -> int:
        """How many cards the seat holds; everybody knows."""

    @abstractmethod
    def away(self, seat: int) -> list[int]:
        """The cards that the seat has laid away, as far as the record tells."""

    @abstractmethod
    def penalties(self, seat: int) -> int:
        """How often the seat is to pay P for cards it should not have played."""

    @abstractmethod
    def outcome(self) -> str:
        """How the hand ended."""

    def phase(self) -> str:
        """What is being decided, or the number of the trick."""
        phase = self.game.phases(self.v.phase).name
        if phase == "TRICKS":
            return f"trick {self.v.trick + 1} of {self.v.cards_each}"
        return self.phase_words[phase]

    def held(self, seat: int) -> list[int]:
        """The cards that the seat holds, as far as the record tells."""
        return self._cards(self.v.hands[seat])

    def number_hidden(self, seat: int) -> int:
        """How many more it holds."""
        return self.number_held(seat) - len(self.held(seat))

    def coins(self, seat: int) -> int:
        """Net coins since the session began, the stakes of this hand included."""
        return int(self.v.coins[seat] + (0 if self.is_over else self.v.gains[seat]))

    def tricks(self) -> Iterator[Trick]:
        """The tricks to which somebody has played, the current one included."""
        v = self.v
        starts = [*v.trick_start[: v.trick + 1].tolist(), int(v.plays)]
        for number, (start, end) in enumerate(itertools.pairwise(starts)):
            seats, cards = v.play_seat[start:end].tolist(), v.play_card[start:end].tolist()
            if cards:
                plays = list(zip(seats, cards, strict=True))
                yield Trick(number, plays, self._best(cards), is_taken=number < v.trick)

    def _best(self, cards: list[int]) -> int:
        """The place of the card that wins among those played to a trick."""
        best = 0
        for place, card in enumerate(cards):
            if beats(card, cards[best], len(self.pack.ranks), self.v.trump):
                best = place
        return best

    def _cards(self, cards: np.uint64) -> list[int]:
        return [card for card in range(self.pack.size) if int(cards) >> card & 1]

    def _number_played(self, seat: int) -> int:
        return int(np.count_nonzero(self.v.play_seat[: self.v.plays] == seat))


class BeastFacts(Facts):
    """What is told of a hand of Beast."""

    laid_away = "discard"
    phase_words = {
        "TAKE": "take the upcard or leave it",
        "DISCARD": "discard",
        "CLAIM": "play or show",
        "DECLARE": "declaration round",
        "COUNTER": "counter round",
        "OVER": "over",
    }

    def upcard_fate(self) -> str:
        """See `Facts`."""
        return {beast.LEFT: "left", beast.TAKEN: "taken"}.get(self.v.upcard_is, "")

    def role(self, seat: int) -> str:
        """See `Facts`."""
        v = self.v
        if seat == v.player:
            return "Player"
        if seat == v.counterer:
            return "Counterer"
        said = v.said if v.player == NOBODY else v.countered
        return "passed" if said[seat] == beast.SAID_PASS else ""

    def number_held(self, seat: int) -> int:
        """See `Facts`."""
        is_to_discard = self.v.phase == beast.AT_DISCARD and seat == self.v.dealer
        return int(self.v.cards_each) + is_to_discard - self._number_played(seat)

    def away(self, seat: int) -> list[int]:
        """See `Facts`."""
        return self._cards(self.v.discard) if seat == self.v.dealer else []

    def penalties(self, seat: int) -> int:
        """See `Facts`."""
        return int(self.v.revoked[seat])

    def outcome(self) -> str:
        """See `Facts`."""
        v = self.v
        if v.player == NOBODY and v.said[v.dealer] == beast.SAID_PASS:
            return "nobody declares"
        if beast.SAID_SHOW in (*v.said, *v.countered):
            shower = v.player if v.counterer == NOBODY else v.counterer
            return f"{self.names[shower]} shows a sure hand"
        return f"{self.names[v.front]} wins" if self._is_won() else "annulled"

    def _is_won(self) -> bool:
        """Has somebody half of the tricks, or are all played? (B-15)."""
        tricks = self.v.cards_each
        return bool(2 * max(self.v.tricks) >= tricks or self.v.trick == tricks)


class BestiaFacts(Facts):
    """What is told of a hand of Bestia."""

    laid_away = "thrown"
    phase_words = {"AUCTION": "auction", "OFFER": "exchange", "OVER": "over"}

    def upcard_fate(self) -> str:
        """See `Facts`."""
        return "gathered" if self.v.gathered else ""

    def phase(self) -> str:
        """See `Facts`."""
        force = "" if self.is_over or not self.v.forced else "force, "
        return force + super().phase()

    def role(self, seat: int) -> str:
        """See `Facts`."""
        v = self.v
        if self._is_bete(seat):
            return "bête"
        for role in ("knocked", "exchanged", "refused"):
            if _has(v[role], seat):
                return role
        if _has(v.passed, seat):
            return "out" if self._is_auction_done() else "passed"
        return "forced" if _has(v.playing, seat) else ""

    def _is_bete(self, seat: int) -> bool:
        were_played = self.is_over and self.v.trick == self.v.cards_each
        return bool(were_played and bestia.is_bete(self.v, seat))

    def _is_auction_done(self) -> bool:
        return self.is_over or self.v.phase == bestia.AT_TRICKS

    def number_held(self, seat: int) -> int:
        """See `Facts`."""
        in_hand = self.v.playing if self._is_auction_done() else ~self._laid_down()
        return int(self.v.cards_each) - self._number_played(seat) if _has(in_hand, seat) else 0

    def _laid_down(self) -> np.uint64:
        return self.v.refused | self.v.exchanged

    def away(self, seat: int) -> list[int]:
        """See `Facts`."""
        return self._cards(self.v.thrown[seat])

    def penalties(self, seat: int) -> int:
        """See `Facts`."""
        return int(self.v.revoked[seat] + self.v.breaches[seat])

    def outcome(self) -> str:
        """See `Facts`."""
        playing = [seat for seat in self.seats if _has(self.v.playing, seat)]
        bete = [self.names[seat] for seat in playing if self._is_bete(seat)]
        if len(playing) == 1:
            outcome = f"{self.names[playing[0]]} takes the pot alone"
        elif self.v.trick == self.v.cards_each:
            outcome = f"bête: {', '.join(bete) or 'nobody'}"
        elif all(_has(self.v.refused, seat) for seat in self.seats):
            outcome = "nobody takes part"
        else:
            return "annulled"
        return outcome + ("; the next hand is a force" if self.v.forced else "")


_FACTS = {"beast": BeastFacts, "bestia": BestiaFacts}


def _has(seats: np.uint64, seat: int) -> bool:
    return bool(int(seats) >> seat & 1)
