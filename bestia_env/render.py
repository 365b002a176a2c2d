"""A hand as text: a table for a terminal, as one seat sees it or with all cards open."""

from __future__ import annotations

import itertools
import sys
import textwrap
from abc import ABC, abstractmethod

import numpy as np

from bestia_env.games import Game, game_named
from bestia_env.rules import beast, bestia
from bestia_env.rules.table import NOBODY
from bestia_env.rules.tricks import beats
from bestia_env.view import look

WIDTH = 80
_PLAIN = str.maketrans("♣♦♥♠▒◄→─·×ê", "cdhs?<>--xe")
_SYMBOLS = "".join(map(chr, _PLAIN))


def render_text(
    state: np.ndarray, game: str, seat: int | None = None, ascii_only: bool | None = None
) -> str:
    """A hand as a table of at most 80 columns.

    Args:
        state: (1,) of the game's HAND dtype, a state or a view.
        game: "beast" or "bestia".
        seat: show what this seat may know; None for all that the record holds, which is
            everything in a state and what its viewer may know in a view.
        ascii_only: whether to do without Unicode; None to ask the encoding of `sys.stdout`.

    Returns:
        Lines without a newline at the end. Hidden cards are ▒▒ (or ??), ◄ (or <) is the seat to
        act, D the dealer; cards that a seat has laid away are in brackets.

    Raises:
        ValueError: no such game, a state of the other one, or no such seat at the table.
    """
    chosen = game_named(game)
    if state.dtype != chosen.dtype:
        raise ValueError(f"state must hold a record of {game}: its dtype is another")
    record = state[0] if seat is None else _view(state, seat)[0]
    text = str(_TABLES[game](record, chosen))
    return text.translate(_PLAIN) if _is_plain(ascii_only) else text


def _view(state: np.ndarray, seat: int) -> np.ndarray:
    if not 0 <= seat < state[0].num_players:
        raise ValueError(f"seat must be from 0 to {state[0].num_players - 1}, not {seat!r}")
    views = np.empty_like(state)
    look(state, 0, seat, views, 0)
    return views


def _is_plain(ascii_only: bool | None) -> bool:
    return not _stdout_shows_symbols() if ascii_only is None else ascii_only


def _stdout_shows_symbols() -> bool:
    """Can `sys.stdout` encode all symbols? A stream in memory has no encoding and takes all."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        _SYMBOLS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class _Table(ABC):
    """What both games show of a state or view `v`."""

    laid_away: str  # what cards in brackets are called
    phase_words: dict[str, str]

    def __init__(self, v: np.record, game: Game) -> None:
        self.v, self.game, self.pack = v, game, game.pack
        self.seats = range(v.num_players)
        self.is_over = v.phase == game.phases["OVER"]

    @abstractmethod
    def _upcard_fate(self) -> str:
        """What became of the upcard, such as `, left`."""

    @abstractmethod
    def _role(self, seat: int) -> str:
        """What the seat has said, or what that made it."""

    @abstractmethod
    def _number_held(self, seat: int) -> int:
        """How many cards the seat holds; everybody knows."""

    @abstractmethod
    def _away(self, seat: int) -> np.uint64:
        """The set of cards that the seat has laid away, as far as the record tells."""

    @abstractmethod
    def _penalties(self, seat: int) -> int:
        """How often the seat is to pay P for cards it should not have played."""

    @abstractmethod
    def _outcome(self) -> str:
        """How the hand ended."""

    def __str__(self) -> str:
        seats = _aligned([self._head(), *map(self._row, self.seats)])
        rule = "─" * max(map(len, seats))
        below = [*self._tricks(), *self._end()]
        return "\n".join([*self._title(), rule, *seats, *([rule, *below] if below else [])])

    def _title(self) -> list[str]:
        seen = [] if self.v.viewer == NOBODY else [f"seen by {_player(self.v.viewer)}"]
        hand = f"hand {self.v.hand_number + 1}"
        upcard = f"upcard {self.pack.symbol(self.v.upcard)}{self._upcard_fate()}"
        return [
            " · ".join([self.game.name.title(), hand, self._phase(), *seen]),
            " · ".join([f"pot {self.v.pot}", f"trump {self.pack.suits[self.v.trump]}", upcard]),
        ]

    def _phase(self) -> str:
        phase = self.game.phases(self.v.phase).name
        if phase == "TRICKS":
            return f"trick {self.v.trick + 1} of {self.game.tricks(len(self.seats))}"
        return self.phase_words[phase]

    def _head(self) -> list[str]:
        return ["seat", "", "role", f"cards ({self.laid_away})", "tricks", "coins", ""]

    def _row(self, seat: int) -> list[str]:
        v = self.v
        return [
            _player(seat),
            "D" if seat == v.dealer else "",
            self._role(seat),
            self._cards(seat),
            str(v.tricks[seat]),
            f"{v.coins[seat] + (0 if self.is_over else v.gains[seat]):+}",
            "◄" if seat == v.turn else "",
        ]

    def _cards(self, seat: int) -> str:
        """The cards held, hidden ones too, and in brackets those laid away."""
        held = self._symbols(self.v.hands[seat])
        hidden = ["▒▒"] * (self._number_held(seat) - len(held))
        away = self._symbols(self._away(seat))
        return " ".join([*held, *hidden, *([f"({' '.join(away)})"] if away else [])])

    def _symbols(self, cards: np.uint64) -> list[str]:
        held = int(cards)
        return [self.pack.symbol(card) for card in range(self.pack.size) if held >> card & 1]

    def _number_played(self, seat: int) -> int:
        return int(np.count_nonzero(self.v.play_seat[: self.v.plays] == seat))

    def _tricks(self) -> list[str]:
        """A line for each trick: the cards in order of play, and who takes it."""
        starts = [*self.v.trick_start[: self.v.trick + 1].tolist(), int(self.v.plays)]
        tricks = enumerate(itertools.starmap(range, itertools.pairwise(starts)))
        return [self._trick(number, plays) for number, plays in tricks if plays]

    def _trick(self, number: int, plays: range) -> str:
        v = self.v
        cards = [f"{v.play_seat[k]}:{self.pack.symbol(v.play_card[k])}" for k in plays]
        winner = _player(v.play_seat[self._winning_play(plays)])
        so_far = " so far" if number == v.trick else ""
        return f"trick {number + 1}  {'  '.join(cards)} → {winner}{so_far}"

    def _winning_play(self, plays: range) -> int:
        v, ranks = self.v, len(self.pack.ranks)
        best = plays[0]
        for k in plays[1:]:
            if beats(v.play_card[k], v.play_card[best], ranks, v.trump):
                best = k
        return best

    def _end(self) -> list[str]:
        """Penalties that are known, and once the hand is over, its outcome."""
        due = [f"{seat}:{self._penalties(seat)}" for seat in self.seats if self._penalties(seat)]
        lines = [f"penalties × P  {'  '.join(due)}"] if due else []
        if self.is_over:
            gains = "  ".join(f"{seat}:{self.v.gains[seat]:+}" for seat in self.seats)
            lines += [self._outcome(), f"coins in this hand  {gains}"]
        return [row for line in lines for row in textwrap.wrap(line, WIDTH, subsequent_indent="  ")]


class _BeastTable(_Table):
    laid_away = "discard"
    phase_words = {
        "TAKE": "take the upcard or leave it",
        "DISCARD": "discard",
        "CLAIM": "play or show",
        "DECLARE": "declaration round",
        "COUNTER": "counter round",
        "OVER": "over",
    }

    def _upcard_fate(self) -> str:
        return {beast.LEFT: ", left", beast.TAKEN: ", taken"}.get(self.v.upcard_is, "")

    def _role(self, seat: int) -> str:
        v = self.v
        if seat == v.player:
            return "Player"
        if seat == v.counterer:
            return "Counterer"
        said = v.said if v.player == NOBODY else v.countered
        return "passed" if said[seat] == beast.SAID_PASS else ""

    def _number_held(self, seat: int) -> int:
        is_to_discard = self.v.phase == beast.AT_DISCARD and seat == self.v.dealer
        return self.v.num_players + 1 + is_to_discard - self._number_played(seat)

    def _away(self, seat: int) -> np.uint64:
        return self.v.discard if seat == self.v.dealer else np.uint64(0)

    def _penalties(self, seat: int) -> int:
        return int(self.v.revoked[seat])

    def _outcome(self) -> str:
        v = self.v
        if v.player == NOBODY and v.said[v.dealer] == beast.SAID_PASS:
            return "nobody declares"
        if beast.SAID_SHOW in (*v.said, *v.countered):
            shower = v.player if v.counterer == NOBODY else v.counterer
            return f"{_player(shower)} shows a sure hand"
        return f"{_player(v.front)} wins" if self._is_won() else "annulled"

    def _is_won(self) -> bool:
        """Has somebody half of the tricks, or are all played? (B-15)."""
        tricks = self.game.tricks(len(self.seats))
        return bool(2 * max(self.v.tricks) >= tricks or self.v.trick == tricks)


class _BestiaTable(_Table):
    laid_away = "thrown"
    phase_words = {"AUCTION": "auction", "OFFER": "exchange", "OVER": "over"}

    def _upcard_fate(self) -> str:
        return ", gathered" if self.v.gathered else ""

    def _phase(self) -> str:
        force = "" if self.is_over or not self.v.forced else "force, "
        return force + super()._phase()

    def _role(self, seat: int) -> str:
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
        were_played = self.is_over and self.v.trick == bestia.CARDS_EACH
        return bool(were_played and bestia.is_bete(self.v, seat))

    def _is_auction_done(self) -> bool:
        return self.is_over or self.v.phase == bestia.AT_TRICKS

    def _number_held(self, seat: int) -> int:
        in_hand = self.v.playing if self._is_auction_done() else ~self._laid_down()
        return bestia.CARDS_EACH - self._number_played(seat) if _has(in_hand, seat) else 0

    def _laid_down(self) -> np.uint64:
        return self.v.refused | self.v.exchanged

    def _away(self, seat: int) -> np.uint64:
        return self.v.thrown[seat]

    def _penalties(self, seat: int) -> int:
        return int(self.v.revoked[seat] + self.v.breaches[seat])

    def _outcome(self) -> str:
        playing = [seat for seat in self.seats if _has(self.v.playing, seat)]
        bete = [_player(seat) for seat in playing if self._is_bete(seat)]
        if len(playing) == 1:
            outcome = f"{_player(playing[0])} takes the pot alone"
        elif self.v.trick == bestia.CARDS_EACH:
            outcome = f"bête: {', '.join(bete) or 'nobody'}"
        elif all(_has(self.v.refused, seat) for seat in self.seats):
            outcome = "nobody takes part"
        else:
            return "annulled"
        return outcome + ("; the next hand is a force" if self.v.forced else "")


_TABLES = {"beast": _BeastTable, "bestia": _BestiaTable}
_RIGHT = (4, 5)  # columns of numbers


def _player(seat: int) -> str:
    return f"player_{seat}"


def _has(seats: np.uint64, seat: int) -> bool:
    return bool(int(seats) >> seat & 1)


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(_padded, row, widths, itertools.count())).rstrip() for row in rows]


def _padded(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column in _RIGHT else cell.ljust(width)
