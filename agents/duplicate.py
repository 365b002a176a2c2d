"""Duplicate deals: what is played, by whom, and playing it in pieces.

The score of a seat is its equity in a hand divided by P, the pot when the stakes are in: "pots per
hand". Every hand stands alone ("static mode"), so that the scores of different deals are
independent and the pot cannot grow without bound. A deal depends on the seed and its number alone;
the players of a table play it once in each of their n rotations around the seats, the dealer
staying where he is. A policy's mean over the rotations of a deal is one observation.

Generators of the players depend on the seed, the deal, the rotation, the seat and the policy, so
no two hands share their chances, and all numbers are the same however the work is divided.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from agents.matches import deal_copies, play, score_seats, seed_players, tag
from agents.new_cards import luck_of_new_cards
from agents.policies import Policy
from agents.processes import Workers, in_order
from bestia_env.engine import new_states, start_sessions
from bestia_env.games import game_named
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.table import check_coins

PIECE = 1024  # deals that are played at once; results depend on it in their last bits only
Progress = Callable[[int], None]


class Keys(NamedTuple):
    """Independent sources of chance, uint64.

    Attributes:
        deals: of the deals.
        players: of the players' chances.
        lineups: of who sits at mixed tables.
        ties: by which ties are broken.
        draws: of new cards drawn again to tell of their luck.
    """

    deals: np.uint64
    players: np.uint64
    lineups: np.uint64
    ties: np.uint64
    draws: np.uint64


class Played(NamedTuple):
    """What came of the deals of a piece, in pots per hand, meaned over the rotations.

    Attributes:
        scores: (D, n) float64, of every player of the line-up.
        luck: (D, n) float64, of which the new cards of an exchange brought them so much, with a
            mean of exactly 0; None where nothing is known of it.
    """

    scores: np.ndarray
    luck: np.ndarray | None = None


@dataclass(frozen=True)
class Table:
    """What is played: the game, the seats, the rules, the pot, and the seed of all deals.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        rules: `BeastRules` or `BestiaRules`, None for the game's defaults.
        pot: P in multiples of the opening pot; 1 is a fresh hand, more means a pot carried in.
        seed: of deals and of the players' chances.

    Raises:
        ValueError: an argument is out of range.
    """

    game: str
    num_players: int = 4
    rules: Any = None
    pot: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the arguments and fill in the rules."""
        game = game_named(self.game)
        object.__setattr__(self, "rules", game.make_rules(self.rules, {}))
        game.check_num_players(self.num_players, self.rules)
        check_coins("pot", self.pot, least=1, most=10**9)
        check_coins("seed", self.seed, least=0, most=2**64 - 1)
        check_coins("the pot carried in", self.carried, least=0)

    @property
    def words(self) -> str:
        """The game, the seats, and all that is not as usual, in a few words."""
        options = [
            f"{field.name}={getattr(self.rules, field.name)}"
            for field in fields(self.rules)
            if getattr(self.rules, field.name) != field.default
        ]
        pot = [] if self.pot == 1 else [f"pot {self.pot} × opening"]
        return ", ".join([f"{self.game.capitalize()}, {self.num_players} players", *pot, *options])

    @functools.cached_property
    def keys(self) -> Keys:
        """What all chances are drawn from."""
        return Keys(*seed_sequence_keys(self.seed, len(Keys._fields)))

    @functools.cached_property
    def carried(self) -> int:
        """The coins to carry in so that P, stakes included, is `pot` opening pots."""
        if self.pot == 1:
            return 0
        opening = self.rules.opening_pot(self.num_players)
        states = new_states(self.game, self.num_players, self.rules)
        start_sessions(states, np.zeros(1, np.uint64), 0, opening)
        stakes = int(states["pot"][0]) - opening
        return int(self.pot) * opening - stakes


@dataclass(frozen=True)
class Piece:
    """A piece of the work.

    Attributes:
        lineup: the places of the players in the list of policies, None for mixed tables.
        start: the first deal.
        stop: one past the last.
    """

    lineup: tuple[int, ...] | None
    start: int
    stop: int


def lineups(table: Table, num_policies: int, piece: Piece) -> np.ndarray:
    """Who plays the deals of a piece, (D, n) int64 in order of play before rotation.

    At mixed tables everybody is as likely to sit as everybody else, in any order, and nobody sits
    twice before all sit once.
    """
    n, deals = table.num_players, piece.stop - piece.start
    if piece.lineup is not None:
        return np.tile(np.array(piece.lineup), (deals, 1))
    chances = np.random.default_rng((int(table.keys.lineups), piece.start))
    rounds = [
        chances.permuted(np.tile(np.arange(num_policies), (PIECE, 1)), axis=1)
        for _ in range(-(-n // num_policies))
    ]
    drawn = np.concatenate(rounds, axis=1)[:, :n]
    return chances.permuted(drawn, axis=1)[:deals]


def play_piece(table: Table, policies: Sequence[Policy], piece: Piece) -> np.ndarray:
    """Play the deals of a piece in every rotation.

    Returns:
        (D, n) float64: pots per hand of every player of the line-up, meaned over the rotations.
    """
    return played(table, policies, False, piece).scores


def played(table: Table, policies: Sequence[Policy], tells: bool, piece: Piece) -> Played:
    """The same; with the luck of new cards if it tells of that, and there is any."""
    states, base_pots = _settled(table, policies, piece)
    scores = _meaned(table, _scores(states, table.num_players), base_pots)
    if table.game != "bestia" or not tells:
        return Played(scores)
    luck = luck_of_new_cards(states, table.keys.draws, piece.start * table.num_players)
    return Played(scores, _meaned(table, luck, base_pots))


def play_rotations(table: Table, policies: Sequence[Policy], piece: Piece) -> np.ndarray:
    """The scores hand by hand.

    Returns:
        (D, n, n) float64: pots per hand by deal, rotation and player of the line-up.
    """
    states, base_pots = _settled(table, policies, piece)
    scores = _by_player(_scores(states, table.num_players))
    return scores / (table.num_players * base_pots[:, None, None])


def _settled(
    table: Table, policies: Sequence[Policy], piece: Piece
) -> tuple[np.ndarray, np.ndarray]:
    """The hands (D * n,) of a piece when they are over, and P (D,) int64 of every deal."""
    n, deals = table.num_players, piece.stop - piece.start
    states = new_states(table.game, n, table.rules, deals * n)
    deal_copies(states, n, table.keys.deals, piece.start, table.carried)
    base_pots = states["pot"][::n].copy()
    rotations, players = np.arange(n)[:, None], np.arange(n)
    sitting = lineups(table, len(policies), piece)[:, (players - rotations) % n].reshape(-1, n)
    chances = np.empty(sitting.shape, np.uint64)
    tags = np.array([tag(policy) for policy in policies], np.uint64)
    seed_players(chances, sitting, tags, table.keys.players, piece.start * n)
    play(states, policies, sitting, chances)
    return states, base_pots


def _scores(states: np.ndarray, num_players: int) -> np.ndarray:
    """(B, n) int64 in n-ths of a coin, by seat."""
    scores = np.empty((states.size, num_players), np.int64)
    score_seats(states, scores)
    return scores


def _by_player(by_seat: np.ndarray) -> np.ndarray:
    """(D, n, n) by deal, rotation and player of the line-up, from (D * n, n) by hand and seat."""
    n = by_seat.shape[1]
    rotations, players = np.arange(n)[:, None], np.arange(n)
    return by_seat.reshape(-1, n, n)[:, rotations, (players + rotations) % n]


def _meaned(table: Table, by_seat: np.ndarray, base_pots: np.ndarray) -> np.ndarray:
    """Pots per hand (D, n) of every player, from (D * n, n) in n-ths of a coin."""
    return _by_player(by_seat).sum(axis=1) / (table.num_players**2 * base_pots[:, None])


# The work in pieces, in this process or in several.


def pieces_of(lineup: tuple[int, ...] | None, num_deals: int) -> list[Piece]:
    """All deals from number 0 on, at least 2, in pieces."""
    check_coins("num_deals", num_deals, least=2)
    starts = range(0, num_deals, PIECE)
    return [Piece(lineup, start, min(start + PIECE, num_deals)) for start in starts]


def play_pieces(
    table: Table,
    policies: Sequence[Policy],
    pieces: Sequence[Piece],
    jobs: int | Workers,
    progress: Progress | None,
    tells: bool,
) -> Iterator[Played]:
    """What came of all pieces, in order whoever played them; raises as `evaluate` of the arena.

    Args:
        table: what is played.
        policies: who may sit there.
        pieces: what is to be played.
        jobs: processes, or who plays elsewhere; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.
        tells: is the luck of new cards told of?
    """
    if not isinstance(jobs, Workers):
        check_coins("jobs", jobs, least=1)
    check_policies(table, policies)
    trial = Piece((0,) * table.num_players, 0, 1)
    finds = in_order(played, (table, tuple(policies), tells), pieces, jobs, trial)
    for piece, found in zip(pieces, finds, strict=True):
        yield found
        if progress is not None:
            progress((piece.stop - piece.start) * table.num_players)


def check_policies(table: Table, policies: Sequence[Policy]) -> None:
    """Raise a ValueError if a policy cannot sit at such a table."""
    for policy in policies:
        if policy.game != table.game:
            raise ValueError(f"policy {policy.spec!r} plays {policy.game}, not {table.game}")
        if policy.num_players not in (None, table.num_players):
            raise ValueError(
                f"policy {policy.spec!r} plays with {policy.num_players} players, "
                f"not {table.num_players}"
            )
