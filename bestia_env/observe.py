"""What a seat may know as a flat vector of floats, laid out by a table of named pieces.

Seats are relative to the observer: 0 is the observer, 1 the next in order of play. The kernels
take a state or a VIEW alike, and read no more than a view holds: a test compares both.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, lowest, nth, without_lowest
from bestia_env.cards import FRENCH, ITALIAN
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import by_game
from bestia_env.rules.table import NO_CARD, NOBODY
from bestia_env.rules.tricks import suit_of, table_cards
from bestia_env.view import cards_known

DIGIT = 4096  # coins are exact as digits to this base
POT_DIGITS = 5  # up to 2**60 coins
STAKE_DIGITS = 4
LOG_SCALE = 4.0


@dataclass(frozen=True)
class Piece:
    """A named part of the observation.

    Attributes:
        name: its name, the key of `observation_pieces`.
        shape: its shape before it is flattened in C order.
        meaning: what it tells.
        high: the greatest value; the least is 0.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    high: float = 1.0

    @property
    def size(self) -> int:
        """How many floats it takes."""
        return math.prod(self.shape)


def _table_pieces(n: int, phases: int, cards: int, tricks: int) -> list[Piece]:
    """The pieces that both games share, for n players."""
    return [
        Piece("phase", (phases,), "what is being decided, one-hot; the last is a hand over"),
        Piece("to_act", (n,), "the seat to act, one-hot"),
        Piece("dealer", (n,), "the dealer, one-hot"),
        Piece("hand", (cards,), "own cards"),
        Piece("trump", (4,), "the suit of trumps and of the upcard, one-hot"),
        Piece("upcard", (cards // 4,), "the rank of the upcard, one-hot"),
        Piece(
            "played", (cards,), f"cards played in this hand, the k-th of all at k / {n * tricks}"
        ),
        Piece("leaders", (tricks, n), "who led each trick; the others followed in order of play"),
        Piece("trick", (cards,), "cards of the current trick"),
        Piece("led", (4,), "the suit led, one-hot"),
        Piece("winning", (n,), "the seat that is winning the trick, one-hot"),
        Piece("tricks", (n,), f"tricks taken by each seat / {tricks}"),
        Piece("voids", (n, 4), "suits that a seat has shown not to hold"),
        Piece("revoked", (1,), "has the observer revoked in this hand?"),
        Piece(
            "pot_log",
            (1,),
            f"log2(1 + P / opening pot) / {LOG_SCALE:g}",
            high=math.log2(1 + DIGIT**POT_DIGITS) / LOG_SCALE,
        ),
        Piece("pot_digits", (POT_DIGITS,), f"P in coins to base {DIGIT}, each / {DIGIT}"),
    ]


def _beast_pieces(n: int) -> list[Piece]:
    return [
        *_table_pieces(n, phases=len(beast.Phase), cards=beast.CARDS, tricks=n + 1),
        Piece("discard", (beast.CARDS,), "the observer's own discard, one-hot"),
        Piece("upcard_is", (2,), "the upcard was left; was taken"),
        Piece("said", (n, 3), "in the declaration round: PASS, PLAY, SHOW"),
        Piece("countered", (n, 3), "in the counter round: PASS, COUNTER, SHOW"),
        Piece("stakes", (3,), "this hand's stakes, one-hot: none, one from the dealer, full"),
    ]


def _bestia_pieces(n: int) -> list[Piece]:
    return [
        *_table_pieces(n, phases=len(bestia.Phase), cards=bestia.CARDS, tricks=bestia.CARDS_EACH),
        Piece("thrown", (bestia.CARDS,), "own cards laid down for good"),
        Piece("auction", (n, 2), "PASS, KNOCK"),
        Piece("offer", (n, 2), "REFUSE, EXCHANGE"),
        Piece("playing", (n,), "seats in the tricks, known once the exchange is done"),
        Piece("gathered", (1,), "did the dealer gather cards for the exchange?"),
        Piece("forced", (1,), "is this a force hand? Once it is over: is the next?"),
        Piece("breaches", (1,), "the observer's breaches of the maxims / 3"),
        Piece("stake_digits", (STAKE_DIGITS,), f"stake in coins to base {DIGIT}, each / {DIGIT}"),
    ]


# Places in the tables above.
PHASE, TO_ACT, DEALER, HAND, TRUMP, UPCARD, PLAYED, LEADERS = range(8)
TRICK, LED, WINNING, TRICKS, VOIDS, REVOKED, POT_LOG, POT, OWN = range(8, 17)
DISCARD, UPCARD_IS, SAID, COUNTERED, STAKES = range(OWN, OWN + 5)
THROWN, AUCTION, OFFER, PLAYING, GATHERED, FORCED, BREACHES, STAKE = range(OWN, OWN + 8)


@dataclass(frozen=True)
class Layout:
    """The observation of one game for one number of players.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        pieces: the table, in order.
    """

    game: str
    num_players: int
    pieces: tuple[Piece, ...]

    @functools.cached_property
    def slices(self) -> dict[str, slice]:
        """The place of every piece by its name."""
        ends = np.cumsum([piece.size for piece in self.pieces]).tolist()
        return {
            piece.name: slice(end - piece.size, end)
            for piece, end in zip(self.pieces, ends, strict=True)
        }

    @functools.cached_property
    def offsets(self) -> np.ndarray:
        """Where each piece begins, (pieces,) int64, for the kernels."""
        return np.array([place.start for place in self.slices.values()], np.int64)

    @functools.cached_property
    def size(self) -> int:
        """The length D of the vector."""
        return sum(piece.size for piece in self.pieces)

    @functools.cached_property
    def high(self) -> np.ndarray:
        """The greatest values, (D,) float32."""
        return np.repeat(
            np.array([piece.high for piece in self.pieces], np.float32),
            [piece.size for piece in self.pieces],
        )

    @functools.cached_property
    def hash(self) -> str:
        """Changes with anything that a trained network relies on."""
        table = [(piece.name, piece.shape, piece.meaning) for piece in self.pieces]
        return hashlib.sha256(repr((self.game, self.num_players, table)).encode()).hexdigest()[:16]

    def array(self, observation: np.ndarray, name: str) -> np.ndarray:
        """A piece of an observation, in its own shape."""
        shape = next(piece.shape for piece in self.pieces if piece.name == name)
        return observation[self.slices[name]].reshape(shape)


@functools.cache
def layout(game: str, num_players: int) -> Layout:
    """The layout of a game's observation.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
    """
    table = _beast_pieces if game == "beast" else _bestia_pieces
    return Layout(game, num_players, tuple(table(num_players)))


# The kernels.


@jit
def _relative(s, observer, seat):
    seat = np.int64(seat) - np.int64(observer)
    return seat + s.num_players * (seat < 0)


# Branches that are hard to predict cost more than a few stores: hence flags instead of ifs.


@jit
def _flag(bits, index):
    """1 if the index is in the set, else 0."""
    return np.int64((bits >> np.uint64(index)) & ONE)


@jit
def _write_set(bits, start, out):
    while bits != ZERO:
        out[nth(start + lowest(bits))] = 1
        bits = without_lowest(bits)


@jit
def _write_coins(coins, digits, start, out):
    for i in range(digits):
        if coins == 0:
            break
        out[nth(start + i)] = (coins % DIGIT) / DIGIT
        coins //= DIGIT


@jit
def _log(pot, opening_pot):
    if pot == opening_pot:
        return 1 / LOG_SCALE  # the usual case, without a logarithm
    return math.log2(1 + pot / opening_pot) / LOG_SCALE


@jit
def _write_table(s, me, at, out, ranks, tricks, opening_pot):
    out[:] = 0
    out[nth(at[PHASE] + s.phase)] = 1
    if s.turn != NOBODY:
        out[nth(at[TO_ACT] + _relative(s, me, s.turn))] = 1
    out[nth(at[DEALER] + _relative(s, me, s.dealer))] = 1
    _write_set(cards_known(s, me), at[HAND], out)
    out[nth(at[TRUMP] + s.trump)] = 1
    out[nth(at[UPCARD] + s.upcard - s.trump * ranks)] = 1
    if s.plays > 0:
        _write_plays(s, me, at, out, ranks, tricks)
    out[nth(at[REVOKED])] = s.revoked[me]
    out[nth(at[POT_LOG])] = _log(s.pot, opening_pot)
    _write_coins(s.pot, POT_DIGITS, at[POT], out)


@jit
def _write_plays(s, me, at, out, ranks, tricks):
    n = s.num_players
    share = 1 / tricks
    for seat in range(n):
        relative = _relative(s, me, seat)
        out[nth(at[TRICKS] + relative)] = s.tricks[seat] * share
        for suit in range(4):
            out[nth(at[VOIDS] + 4 * relative + suit)] = _flag(s.voids[seat], suit)
    table, step = s.plays - table_cards(s), 1 / (n * tricks)
    for k in range(s.plays):
        out[nth(at[PLAYED] + s.play_card[k])] = (k + 1) * step
    for k in range(table, s.plays):
        out[nth(at[TRICK] + s.play_card[nth(k)])] = 1
    for trick in range(min(s.trick + 1, tricks)):
        start = nth(s.trick_start[nth(trick)])
        leader = _relative(s, me, s.play_seat[start])
        out[nth(at[LEADERS] + n * trick + leader)] = start < nth(s.plays)
    if s.led != NO_CARD:
        out[nth(at[LED] + suit_of(s.led, ranks))] = 1
        out[nth(at[WINNING] + _relative(s, me, s.best_seat))] = 1


@jit
def _write_word(said, start, out):
    out[nth(start + max(said - 1, 0))] = said != beast.SAID_NOTHING


@jit
def _write_beast(s, me, at, out):
    n = s.num_players
    _write_table(s, me, at, out, beast.RANKS, n + 1, 2 * n + 1)
    if me == s.dealer:
        _write_set(s.discard, at[DISCARD], out)
    if s.upcard_is != beast.UNDECIDED:
        out[nth(at[UPCARD_IS] + s.upcard_is - beast.LEFT)] = 1
    for seat in range(n):
        relative = _relative(s, me, seat)
        _write_word(s.said[seat], at[SAID] + 3 * relative, out)
        _write_word(s.countered[seat], at[COUNTERED] + 3 * relative, out)
    out[nth(at[STAKES] + s.stakes)] = 1


@jit
def _write_bestia(s, me, at, out):
    _write_table(s, me, at, out, bestia.RANKS, bestia.CARDS_EACH, s.stake)
    _write_set(s.thrown[me], at[THROWN], out)
    for seat in range(s.num_players):
        relative = _relative(s, me, seat)
        out[nth(at[AUCTION] + 2 * relative)] = _flag(s.passed, seat)
        out[nth(at[AUCTION] + 2 * relative + 1)] = _flag(s.knocked, seat)
        out[nth(at[OFFER] + 2 * relative)] = _flag(s.refused, seat)
        out[nth(at[OFFER] + 2 * relative + 1)] = _flag(s.exchanged, seat)
        out[nth(at[PLAYING] + relative)] = _flag(s.playing, seat)
    out[nth(at[GATHERED])] = s.gathered
    out[nth(at[FORCED])] = s.forced
    out[nth(at[BREACHES])] = s.breaches[me] / bestia.CARDS_EACH
    _write_coins(s.stake, STAKE_DIGITS, at[STAKE], out)


@by_game(_write_beast, _write_bestia)
def write_observation(s, seat, at, out):
    """Write what a seat may know as a vector.

    Args:
        s: a state record of either game, or the seat's view of it.
        seat: the observer.
        at: `Layout.offsets`.
        out: (D,) float32, written whole.
    """


@jit
def write_mask(legal, out):
    """Write a set of actions as a mask, (A,) int8."""
    out[:] = 0
    _write_set(legal, 0, out)


# The full information, for critics that see all cards while training.


def state_pieces(game: str, num_players: int) -> tuple[Piece, ...]:
    """The table of `state()`: seats are absolute, and nothing is hidden."""
    n, cards = num_players, (FRENCH if game == "beast" else ITALIAN).size
    size = layout(game, num_players).size
    return (
        Piece("observation", (size,), "the observation of seat 0"),
        Piece("hands", (n, cards), "the cards that every seat holds"),
        Piece("laid_down", (n, cards), "every seat's discard, or cards laid down for good"),
    )


@jit
def _laid_down_beast(s, seat):
    return s.discard if seat == s.dealer else ZERO


@jit
def _laid_down_bestia(s, seat):
    return s.thrown[seat]


@by_game(_laid_down_beast, _laid_down_bestia)
def laid_down(s, seat):
    """The cards that the seat put away face down in this hand."""


@jit
def write_state(states, i, at, out):
    """Write states[i] as a vector, out: (D,) float32; `at` is `Layout.offsets`."""
    s = states[i]
    n, cards = s.num_players, s.pack.size
    size = out.size - 2 * n * cards
    write_observation(s, 0, at, out[:size])
    out[size:] = 0
    for seat in range(n):
        _write_set(s.hands[seat], size + seat * cards, out)
        _write_set(laid_down(s, seat), size + (n + seat) * cards, out)
