"""What every card is worth when all cards are open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.solve.coalition import solve_coalition
from agents.solve.maxn import solve_maxn
from agents.solve.search import Room, make_room
from bestia_env.deals import is_integer
from bestia_env.games import GAMES, Game
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import NOBODY

AGAINST = ("each", "all")


@dataclass(frozen=True)
class Solution:
    """A solved position.

    Attributes:
        turn: the seat to act.
        values: what each legal card is worth, in pots per hand: (n,) float64 for every seat, or
            (1,) for the seat that plays against all others.
        value: the same when the seat to act plays its best.
        best: the cards that are best for who plays them, in order; more than one is a tie.
        num_nodes: cards played in the search.
    """

    turn: int
    values: dict[int, np.ndarray]
    value: np.ndarray
    best: tuple[int, ...]
    num_nodes: int


def card_values(
    state: np.ndarray, seat: int | None = None, against: str = "each"
) -> dict[int, float | np.ndarray]:
    """What every legal card of the seat to act is worth with all cards open.

    Args:
        state: (1,) records, a hand in the tricks of which nothing is hidden.
        seat: for whom; if None all seats, or against "all" the seat to act.
        against: "each" seat plays for itself, see `agents.solve.maxn`; or the seat plays against
            "all" others together, see `agents.solve.coalition`.

    Returns:
        For every card, from the lowest, the equity (B-18) divided by P, the pot: pots per hand.
        (n,) float64 for all seats, else a float.

    Raises:
        ValueError: the state is not in the tricks, hides something, or an argument is out of range.
    """
    solution = solve(state, seat, against)
    if against == "each" and seat is None:
        return dict(solution.values)
    column = 0 if against == "all" else seat
    return {card: float(values[column]) for card, values in solution.values.items()}


def solve(
    state: np.ndarray,
    seat: int | None = None,
    against: str = "each",
    room: Room | None = None,
) -> Solution:
    """Solve a position; arguments as for `card_values`.

    Args:
        state: (1,) records.
        seat: who plays against all others; the seat to act if None.
        against: "each" or "all".
        room: where to work, for many positions of one table; a new one if None.

    Raises:
        ValueError: as for `card_values`.
    """
    game = _checked_game(state)
    _check(state[0], game, seat, against)
    n, turn = int(state[0].num_players), int(state[0].turn)
    room = make_room(game.name, n) if room is None else _checked_room(room, game, n)
    if against == "each":
        scores, column, sign = np.zeros((game.pack.size, n), np.int64), turn, 1
        num_nodes = solve_maxn(state, 0, room, scores)
        value = room.scores[0]
    else:
        seat = turn if seat is None else int(seat)
        scores, column, sign = np.zeros((game.pack.size, 1), np.int64), 0, 1 if seat == turn else -1
        num_nodes = solve_coalition(state, 0, seat, room, scores.reshape(-1))
        value = room.scores[0, :1]
    unit = n * int(state[0].pot)
    cards = [card for card in range(game.pack.size) if int(legal(state[0])) >> card & 1]
    top = max(sign * scores[cards, column])
    best = tuple(card for card in cards if sign * scores[card, column] == top)
    values = {card: scores[card] / unit for card in cards}
    return Solution(turn, values, value / unit, best, int(num_nodes))


def _checked_game(state: np.ndarray) -> Game:
    """The game of a state; raises a ValueError if it is none."""
    games = [game for game in GAMES.values() if getattr(state, "dtype", None) == game.dtype]
    if not games:
        raise ValueError(f"state must be an array of records of {' or '.join(GAMES)}")
    if state.shape != (1,):
        raise ValueError(f"state must have shape (1,), not {state.shape}")
    return games[0]


def _checked_room(room: Room, game: Game, n: int) -> Room:
    """Raise a ValueError if a room is of another table, beyond whose arrays would be written."""
    if room.states.dtype != game.dtype or room.dealt.size != n:
        raise ValueError(f"room must be of {game.name} with {n} players, as `make_room` makes it")
    return room


def _check(s: np.record, game: Game, seat: int | None, against: str) -> None:
    """Raise a ValueError unless the tricks of s can be solved for the seat."""
    if against not in AGAINST:
        raise ValueError(f"against must be one of {', '.join(AGAINST)}, not {against!r}")
    if seat is not None and not (is_integer(seat) and seat in range(s.num_players)):
        raise ValueError(f"seat must be from 0 to {s.num_players - 1}, not {seat!r}")
    phase = game.phases(s.phase)
    if phase.name != "TRICKS":
        raise ValueError(f"state must be in the phase TRICKS, not {phase.name}")
    if s.viewer != NOBODY:
        raise ValueError(f"state must hide nothing, but it is the view of seat {s.viewer}")
