"""Hands that stay the same, to measure the solvers by: random deals, none of them selected."""

from __future__ import annotations

import zlib

import numpy as np

from agents.solve.coalition import solve_coalition_batch
from agents.solve.maxn import solve_maxn_batch
from agents.solve.search import make_room
from bestia_env.engine import act, new_states, start_sessions
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules import beast, bestia


def corpus(game: str, num_players: int, count: int) -> np.ndarray:
    """The first hands of the corpus, where the first card is led.

    In Bestia everybody knocks. In Beast the upcard is left, and there are a Player and a
    Counterer, by turns all pairs of seats.

    Returns:
        (count,) records.
    """
    states = new_states(game, num_players, count=count)
    start_sessions(states, seed_sequence_keys(0, count), -1, 0)
    for k in range(count):
        for action in _bids(game, num_players, k):
            act(states, k, action)
    return states


def _bids(game: str, num_players: int, k: int) -> list[int]:
    if game == "bestia":
        return [bestia.KNOCK] * num_players
    player, counterer = k % num_players, k // num_players % (num_players - 1)
    passes = [beast.PASS]
    return [beast.LEAVE, *passes * player, beast.PLAY, *passes * counterer, beast.COUNTER]


class Measured:
    """A corpus and room to solve it in.

    Attributes:
        num_nodes: cards played, when the whole was solved last.
        checksum: of the values of all cards, then.
    """

    def __init__(
        self, game: str, num_players: int, against: str, count: int, after: int = 0
    ) -> None:
        self.states = corpus(game, num_players, count)
        self.room = make_room(game, num_players)
        self.against, self.after = against, after
        cards = self.states[0].pack.size
        shape = (count, cards, num_players) if against == "each" else (count, cards)
        self.roots = np.zeros(shape, np.int64)
        self.num_nodes = self.checksum = 0

    def solve(self) -> None:
        """Solve all hands; against "all" for the seat that leads, or the n-th `after` it."""
        if self.against == "each":
            self.num_nodes = solve_maxn_batch(self.states, self.room, self.roots)
        else:
            seats = (self.states["turn"].astype(np.int64) + self.after) % self.room.dealt.size
            self.num_nodes = solve_coalition_batch(self.states, seats, self.room, self.roots)
        self.checksum = zlib.crc32(self.roots.astype("<i8").tobytes())
