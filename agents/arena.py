"""Policies compared on duplicate deals: one against a field, mixed tables, intervals.

The score of a seat is its equity in a hand divided by P, the pot when the stakes are in: "pots per
hand". Every hand stands alone ("static mode"), so that the scores of different deals are
independent and the pot cannot grow without bound. A deal depends on the seed and its number alone;
the players of a table play it once in each of their n rotations around the seats, the dealer
staying where he is. A policy's mean over the rotations of a deal is one observation.

Luck of the deal that can be told is taken off the scores, which leaves the mean what it is
(`agents.control_variates`), unless `control` is False.

Generators of the players depend on the seed, the deal, the rotation, the seat and the policy, so
no two hands share their chances, and all numbers are the same however the work is divided.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from agents import stand_ins
from agents.control_variates import Deals, StandIn
from agents.estimates import Estimate, Moments, holm
from agents.matches import deal_copies, play, score_seats, seed_players, tag
from agents.new_cards import luck_of_new_cards
from agents.policies import Policy, default_specs, parse_policy
from agents.processes import in_order
from agents.ratings import Rating, rate
from agents.stand_ins import Pair
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
    states, base_pots = _settled(table, policies, piece)
    return _meaned(table, _scores(states, table.num_players), base_pots)


def play_and_tell(table: Table, policies: Sequence[Policy], piece: Piece) -> Played:
    """The same, and the luck of new cards in Bestia."""
    states, base_pots = _settled(table, policies, piece)
    scores = _meaned(table, _scores(states, table.num_players), base_pots)
    if table.game != "bestia":
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


def _pieces(lineup: tuple[int, ...] | None, num_deals: int) -> list[Piece]:
    check_coins("num_deals", num_deals, least=2)
    starts = range(0, num_deals, PIECE)
    return [Piece(lineup, start, min(start + PIECE, num_deals)) for start in starts]


def _play_pieces(
    table: Table,
    policies: Sequence[Policy],
    pieces: Sequence[Piece],
    jobs: int,
    progress: Progress | None,
    control: bool,
) -> Iterator[Played]:
    """What came of all pieces, in order whoever played them, with luck told of for control."""
    check_coins("jobs", jobs, least=1)
    check_policies(table, policies)
    work, trial = play_and_tell if control else play_plainly, Piece((0,) * table.num_players, 0, 1)
    played = in_order(work, (table, tuple(policies)), pieces, jobs, trial)
    for piece, found in zip(pieces, played, strict=True):
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


def play_plainly(table: Table, policies: Sequence[Policy], piece: Piece) -> Played:
    """As `play_and_tell`, with no luck told of."""
    return Played(play_piece(table, policies, piece))


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
        self._scores: dict[Pair, np.ndarray] = {}

    def stand_ins(self, one: Policy, field: Policy) -> list[StandIn]:
        """Who tells most of the luck of one among copies of another, if anybody tells enough."""
        if one.same_as(field) or not self._known:
            return []
        n, known = self._table.num_players, list(self._known)
        chosen = stand_ins.choose(one, field, n, known, self._num_deals, self._play)
        return [StandIn(self._scores_of(pair), self._known[pair]) for pair in chosen]

    def _scores_of(self, pair: Pair) -> np.ndarray:
        if pair not in self._scores:
            table = self._table
            players = stand_ins.policies_of(pair, table.game, table.num_players)
            self._scores[pair] = self._play(*players, 0, self._num_deals)
        return self._scores[pair]

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
    lineup = (0, *[1] * (table.num_players - 1))
    pieces = [Piece(lineup, first, min(first + PIECE, stop)) for first in range(start, stop, PIECE)]
    return np.concatenate([play_piece(table, (one, field), piece)[:, 0] for piece in pieces])


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

    Returns:
        Pots per hand of every place in the line-up; with luck left in, their sum is zero.

    Raises:
        ValueError: an argument is out of range, or the policies are of different games.
    """
    table = Table(lineup[0].game, len(lineup), rules, pot, seed)
    pieces = _pieces(tuple(range(len(lineup))), num_deals)
    played = list(_play_pieces(table, lineup, pieces, jobs, progress, control))
    luck = Luck(table, num_deals) if control else None
    told: list[Sequence[StandIn]] = [()] * len(lineup)
    if luck is not None and all(policy.same_as(lineup[1]) for policy in lineup[2:]):
        told[0] = luck.stand_ins(lineup[0], lineup[1])
    return [_mean(played, place, luck, tells) for place, tells in enumerate(told)]


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
    return evaluate([policy] + [field] * (num_players - 1), num_deals, seed, **options)[0]


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
    pieces = _pieces(None, max(2, -(-num_hands // num_players)))
    for _ in _play_pieces(table, policies, pieces, 1, None, False):
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
    jobs: int = 1,
    progress: Progress | None = None,
    control: bool = True,
) -> Result:
    """Play every policy against a field of every other, and all of them at mixed tables.

    Args:
        table: what is played.
        policies: at least two.
        num_deals: deals for each cell of the matrix, and as many for the mixed tables.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.
        control: take luck off the scores? Ratings are without.

    Raises:
        ValueError: an argument is out of range.
    """
    if len(policies) < 2:
        raise ValueError(f"a comparison takes at least two policies, not {len(policies)}")
    k, n = len(policies), table.num_players
    mixed = _pieces(None, num_deals)
    _check_all_sit(table, policies, mixed)
    cells = [(a, *[b] * (n - 1)) for a in range(k) for b in range(k)]
    duels = [piece for cell in cells for piece in _pieces(cell, num_deals)]
    played = _play_pieces(table, policies, [*duels, *mixed], jobs, progress, control)
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
        _standings(table, k, played, luck),
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
) -> Iterator[np.ndarray]:
    """Play tables to which the policies are drawn by lot, piece by piece of the deals.

    Args:
        table: what is played.
        policies: at least two.
        num_deals: deals, each played in every rotation.
        begun: pieces that are done already.
        jobs: processes; the numbers do not depend on it.
        progress: called with numbers of hands as they are done.

    Returns:
        Arrays (D, n) float64: pots per hand of every player of the line-up, for `standings`.

    Raises:
        ValueError: an argument is out of range, or the deals are too few for all to sit.
    """
    pieces = _pieces(None, num_deals)
    _check_all_sit(table, policies, pieces)
    played = _play_pieces(table, policies, pieces[begun:], jobs, progress, False)
    return (piece.scores for piece in played)


def standings(
    table: Table, num_policies: int, scores: Iterable[np.ndarray], luck: Luck | None
) -> tuple[Standing, ...]:
    """Where each policy stands by what was scored at mixed tables.

    Args:
        table: what was played.
        num_policies: how many there were.
        scores: of all pieces, see `mixed_tables`.
        luck: to take off the scores, None to leave it in. Ratings are without.
    """
    return _standings(table, num_policies, map(Played, scores), luck)


def _standings(
    table: Table, num_policies: int, played: Iterable[Played], luck: Luck | None
) -> tuple[Standing, ...]:
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
