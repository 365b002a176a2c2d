"""Policies compared on duplicate deals: one against a field, mixed tables, intervals.

Luck of the deal that can be told is taken off the scores, which leaves the mean what it is
(`agents.control_variates`), unless `control` is False. What is played tells `agents.duplicate`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents import stand_ins
from agents.control_variates import Deals, StandIn
from agents.duplicate import (
    PIECE,
    Piece,
    Played,
    Progress,
    Table,
    lineups,
    pieces_of,
    play_pieces,
    played,
)
from agents.estimates import Estimate, Moments, holm
from agents.policies import Policy, default_specs, parse_policy
from agents.processes import Workers
from agents.ratings import Rating, rate
from agents.stand_ins import Pair
from bestia_env.games import game_named

# Luck.


class Luck:
    """What can be told of the luck in the first deals of a table, to take it off scores.

    Attributes:
        deals: by the classes of their cards.
    """

    def __init__(self, table: Table, num_deals: int) -> None:
        self.deals = Deals(
            *(table.game, table.num_players, table.rules, table.keys.deals, num_deals)
        )
        self._table, self._num_deals = table, num_deals
        usual = table.pot == 1 and table.rules == game_named(table.game).rules()
        enough = num_deals >= stand_ins.DEALS_EACH
        self._known = _believed(table.game, table.num_players) if usual and enough else {}
        self._told: dict[Pair, StandIn] = {}

    def stand_ins(self, one: Policy, field: Policy) -> list[StandIn]:
        """Who tells most of the luck of one among copies of another, if anybody tells enough."""
        if one.same_as(field) or not self._known:
            return []
        n, known = self._table.num_players, list(self._known)
        chosen = stand_ins.choose(one, field, n, known, self._num_deals, self._play)
        return [self._told_by(pair) for pair in chosen]

    def _told_by(self, pair: Pair) -> StandIn:
        if pair not in self._told:
            table = self._table
            players = stand_ins.policies_of(pair, table.game, table.num_players)
            scores, luck = _duel(table, *players, 0, self._num_deals, tells=True)
            self._told[pair] = StandIn(scores, self._known[pair], luck)
        return self._told[pair]

    def _play(self, one: Policy, field: Policy, start: int, stop: int) -> np.ndarray:
        return duel(self._table, one, field, start, stop)


@functools.cache
def _believed(game: str, num_players: int) -> dict[Pair, Estimate]:
    """The known pairs, if rules and baselines play as they did when these were measured."""
    table = Table(game, num_players, seed=stand_ins.SEED)
    return {
        pair: known.score
        for pair, known in stand_ins.known_pairs(game, num_players).items()
        if stand_ins.is_as_measured(
            known,
            duel(table, *stand_ins.policies_of(pair, game, num_players), 0, stand_ins.CHECKED),
        )
    }


def duel(table: Table, one: Policy, field: Policy, start: int, stop: int) -> np.ndarray:
    """The scores (D,) of one among copies of another, played here."""
    return _duel(table, one, field, start, stop, tells=False)[0]


def _duel(
    table: Table, one: Policy, field: Policy, start: int, stop: int, *, tells: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The same, and what new cards brought the one, (D,), if it tells of that and it is known."""
    lineup = (0, *[1] * (table.num_players - 1))
    pieces = [Piece(lineup, first, min(first + PIECE, stop)) for first in range(start, stop, PIECE)]
    found = [played(table, (one, field), tells, piece) for piece in pieces]
    luck = luck_of_place(found, 0)
    scores = np.concatenate([piece.scores[:, 0] for piece in found])
    return scores, None if luck is None else np.concatenate(luck)


def mean_of(
    pieces: Sequence[np.ndarray],
    luck: Luck | None,
    told: Sequence[StandIn] = (),
    drawn: Sequence[np.ndarray] | None = None,
) -> Estimate:
    """The mean of the scores (D,) of pieces of the work that follow each other.

    Args:
        pieces: of the work; NaN in deals that do not count, by a choice in which no card has a
            part.
        luck: of the deals, None to leave it in.
        told: what stand-ins tell of it.
        drawn: what new cards brought in the same pieces, if that is known.
    """
    counted = [piece[~np.isnan(piece)] for piece in pieces]
    plain = sum((Moments.of(piece) for piece in counted), Moments()).estimate()
    if luck is None:
        return plain
    scores = np.concatenate(counted)
    present = ~np.isnan(np.concatenate(pieces))
    exact = [] if drawn is None else [np.concatenate(drawn)[present]]
    everywhere = present.all()
    return luck.deals.estimate(plain, scores, told, exact, None if everywhere else present)


def _mean(
    played: Sequence[Played], place: int, luck: Luck | None, told: Sequence[StandIn] = ()
) -> Estimate:
    """The mean of one player of the line-up, see `mean_of`."""
    return mean_of(
        [piece.scores[:, place] for piece in played], luck, told, luck_of_place(played, place)
    )


def luck_of_place(played: Sequence[Played], place: int) -> list[np.ndarray] | None:
    """What new cards brought one player of the line-up, (D,) a piece, if it is known."""
    found = [piece.luck[:, place] for piece in played if piece.luck is not None]
    return found if len(found) == len(played) else None


# Comparisons.


def evaluate(
    lineup: Sequence[Policy],
    num_deals: int,
    seed: int,
    *,
    rules: Any = None,
    pot: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    control: bool = True,
    places: int | None = None,
) -> list[Estimate]:
    """Play a line-up on many deals, each in every rotation.

    Args:
        lineup: a policy for each seat, in order of play.
        num_deals: deals, at least 2.
        seed: of deals and chances.
        rules: of the game, its defaults if None.
        pot: P in multiples of the opening pot.
        jobs: processes; the numbers do not depend on it. More than one takes a main module that
            may be imported, as always with `multiprocessing`.
        progress: called with numbers of hands as they are done.
        control: take luck off the scores?
        places: of the line-up that are asked for, the first ones; all if None.

    Returns:
        Pots per hand of these places; with luck left in, the sum of all is zero.

    Raises:
        ValueError: an argument is out of range, or the policies are of different games.
    """
    table = Table(lineup[0].game, len(lineup), rules, pot, seed)
    pieces = pieces_of(tuple(range(len(lineup))), num_deals)
    played = list(play_pieces(table, lineup, pieces, jobs, progress, control))
    luck = Luck(table, num_deals) if control else None
    told: list[Sequence[StandIn]] = [()] * len(lineup)
    if luck is not None and all(policy.same_as(lineup[1]) for policy in lineup[2:]):
        told[0] = luck.stand_ins(lineup[0], lineup[1])
    return [_mean(played, place, luck, tells) for place, tells in enumerate(told[:places])]


def one_against_field(
    policy: Policy, field: Policy, num_deals: int, seed: int, *, num_players: int = 4, **options
) -> Estimate:
    """Pots per hand of one policy among n - 1 copies of another.

    Args:
        policy: the one.
        field: the other.
        num_deals: deals, each played in every rotation.
        seed: of deals and chances.
        num_players: seats, n.
        **options: rules, pot, jobs, progress and control, as for `evaluate`.
    """
    lineup = [policy] + [field] * (num_players - 1)
    return evaluate(lineup, num_deals, seed, places=1, **options)[0]


def baseline_hands(game: str, num_players: int, num_hands: int, seed: int = 0) -> int:
    """Play at mixed tables of all baselines and score them, in this process, to see how fast it is.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        num_hands: at least so many hands, rounded up to whole deals in all rotations.
        seed: of deals and chances.

    Returns:
        How many hands were played.
    """
    table = Table(game, num_players, seed=seed)
    policies = [parse_policy(spec, game, num_players) for spec in default_specs(game)]
    pieces = pieces_of(None, max(2, -(-num_hands // num_players)))
    for _ in play_pieces(table, policies, pieces, 1, None, False):
        pass
    return pieces[-1].stop * num_players


@dataclass(frozen=True)
class Standing:
    """A policy's place in the ranking.

    Attributes:
        score: pots per hand at mixed tables.
        rating: from the order in which policies came out of each deal.
    """

    score: Estimate
    rating: Rating


@dataclass(frozen=True)
class Result:
    """What a comparison found.

    Attributes:
        table: what was played.
        specs: the policies.
        num_deals: deals for each cell of the matrix, and for the mixed tables.
        matrix: matrix[a][b] is the score of one a among n - 1 copies of b.
        standings: of each policy, at mixed tables.
    """

    table: Table
    specs: tuple[str, ...]
    num_deals: int
    matrix: tuple[tuple[Estimate, ...], ...]
    standings: tuple[Standing, ...]

    @functools.cached_property
    def p_values(self) -> list[list[float]]:
        """For each cell, of a true score of zero; off the diagonal by Holm over all such cells."""
        k = len(self.specs)
        cells = [(a, b) for a in range(k) for b in range(k) if a != b]
        values = [[self.matrix[a][a].p_value] * k for a in range(k)]
        for (a, b), p in zip(cells, holm([self.matrix[a][b].p_value for a, b in cells])):
            values[a][b] = p
        return values

    @property
    def ranking(self) -> list[int]:
        """The places of the policies in `specs`, the best score first."""
        return sorted(range(len(self.specs)), key=lambda a: -self.standings[a].score.mean)


def num_hands(table: Table, num_policies: int, num_deals: int) -> int:
    """How many hands `compare` plays."""
    return (num_policies**2 + 1) * num_deals * table.num_players


def compare(
    table: Table,
    policies: Sequence[Policy],
    num_deals: int,
    *,
    jobs: int | Workers = 1,
    progress: Progress | None = None,
    control: bool = True,
) -> Result:
    """Play every policy against a field of every other, and all of them at mixed tables.

    Args:
        table: what is played.
        policies: at least two.
        num_deals: deals for each cell of the matrix, and as many for the mixed tables.
        jobs: processes, or who plays elsewhere (`agents.cluster`); the numbers do not depend on
            it.
        progress: called with numbers of hands as they are done.
        control: take luck off the scores? Ratings are without.

    Raises:
        ValueError: an argument is out of range.
    """
    if len(policies) < 2:
        raise ValueError(f"a comparison takes at least two policies, not {len(policies)}")
    k, n = len(policies), table.num_players
    mixed = pieces_of(None, num_deals)
    _check_all_sit(table, policies, mixed)
    cells = [(a, *[b] * (n - 1)) for a in range(k) for b in range(k)]
    duels = [piece for cell in cells for piece in pieces_of(cell, num_deals)]
    played = play_pieces(table, policies, [*duels, *mixed], jobs, progress, control)
    luck = Luck(table, num_deals) if control else None
    estimates = [
        _mean(
            list(itertools.islice(played, len(mixed))),
            0,
            luck,
            luck.stand_ins(policies[a], policies[b]) if luck else (),
        )
        for a, b, *_ in cells
    ]
    return Result(
        table,
        tuple(policy.spec for policy in policies),
        num_deals,
        tuple(tuple(estimates[a * k : a * k + k]) for a in range(k)),
        standings(table, k, played, luck),
    )


def _check_all_sit(table: Table, policies: Sequence[Policy], mixed: Sequence[Piece]) -> None:
    """Raise a ValueError unless all sit at two mixed tables, so that their scores get intervals."""
    seated = np.zeros(len(policies), np.int64)
    for piece in mixed:
        sitting = lineups(table, len(policies), piece)
        seated += [(sitting == place).any(axis=1).sum() for place in range(len(policies))]
        if seated.min() >= 2:
            return
    spec, deals = policies[int(seated.argmin())].spec, mixed[-1].stop
    raise ValueError(
        f"num_deals must be more than {deals} for {len(policies)} policies at mixed tables: "
        f"{spec!r} would sit in {seated.min()} of them"
    )


def mixed_tables(
    table: Table,
    policies: Sequence[Policy],
    num_deals: int,
    *,
    begun: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Played]:
    """Play tables to which the policies are drawn by lot, piece by piece of the deals.

    Args:
        table: what is played.
        policies: at least two.
        num_deals: deals, each played in every rotation.
        begun: pieces that are done already.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.

    Returns:
        What came of each piece, for `standings`; luck of new cards is not told of.

    Raises:
        ValueError: an argument is out of range, or the deals are too few for all to sit.
    """
    pieces = pieces_of(None, num_deals)
    _check_all_sit(table, policies, pieces)
    return play_pieces(table, policies, pieces[begun:], jobs, progress, False)


def standings(
    table: Table, num_policies: int, played: Iterable[Played], luck: Luck | None
) -> tuple[Standing, ...]:
    """Where each policy stands by what came of mixed tables.

    Args:
        table: what was played.
        num_policies: how many there were.
        played: all pieces in order, see `mixed_tables`.
        luck: to take off the scores, None to leave it in. Ratings are without.
    """
    found, orders, start = [], [], 0
    for by_player in played:
        piece = Piece(None, start, start + len(by_player.scores))
        sitting = lineups(table, num_policies, piece)
        of_each = Played(
            _by_policy(sitting, by_player.scores, num_policies),
            None if by_player.luck is None else _by_policy(sitting, by_player.luck, num_policies),
        )
        found.append(of_each)
        seated = min(table.num_players, num_policies)
        orders.append(_orders(of_each.scores, seated, table, piece))
        start = piece.stop
    ratings = rate(np.concatenate(orders), num_policies, table.seed)
    means = [_mean(found, place, luck) for place in range(num_policies)]
    return tuple(Standing(mean, rating) for mean, rating in zip(means, ratings))


def _by_policy(sitting: np.ndarray, scores: np.ndarray, num_policies: int) -> np.ndarray:
    """(D, policies): the mean score of a policy's copies in each deal, NaN where it did not sit."""
    places = np.arange(len(sitting))[:, None] * num_policies + sitting
    shape = len(sitting), num_policies
    seats = np.bincount(places.ravel(), minlength=len(sitting) * num_policies)
    totals = np.bincount(places.ravel(), scores.ravel(), minlength=len(sitting) * num_policies)
    with np.errstate(invalid="ignore"):
        return (totals / seats).reshape(shape)


def _orders(by_policy: np.ndarray, present: int, table: Table, piece: Piece) -> np.ndarray:
    """(D, present) int8: the policies of each deal, best first; ties are broken by lot."""
    lot = np.random.default_rng((int(table.keys.ties), piece.start)).random(by_policy.shape)
    losses = -np.round(by_policy, 9)  # copies that did equally well tie, whatever their rounding
    return np.lexsort((lot, losses), axis=1)[:, :present].astype(np.int8)
