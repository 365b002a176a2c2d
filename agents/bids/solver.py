"""Bids solved for a fixed play of the cards: regrets minimised over sampled deals.

External-sampling Monte Carlo CFR (Lanctot and others, 2009), in batches. In each iteration all
bid by the present table on so many deals; then every entry regrets what it did not bid, the later
iterations weighing more (linear CFR, Brown and Sandholm 2019), and bids by its regrets. What is
shipped is the mean of all tables, the later ones weighing more still.

Regrets of one class of hands are noisy, most of all where the bidding seldom goes, so each entry
also counts what its family regrets at the same place, as if it had met that so many times itself:
a matter of taste at first, outvoted by its own regrets as they come in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.bids.cards import card_player
from agents.bids.games import MODULES
from agents.bids.traversal import Desk, Sums, walk_deals
from agents.bids.values import worths_of_bids
from agents.duplicate import Table
from agents.policies import Policy
from bestia_env.files import read_arrays, write_arrays
from bestia_env.games import game_named

FAMILY_VISITS = 100.0
TREMBLE = 0.01  # how often others bid by a toss, so that no place in the bidding is unheard of
MAX_BYTES = 1 << 30


class Game:
    """A game of bids: a table, and who plays the cards.

    Attributes:
        table: the game, seats and rules; the seed of all deals.
        cards: who plays the cards.
        parents: (nodes,) int64, see `bestia.parents`.
        askers: (nodes,) int64, see `bestia.askers`.
        agents: how many there are.
        shape: nodes and classes.
    """

    def __init__(self, table: Table, cards: Policy) -> None:
        module = MODULES[table.game]
        module.check_players(table.num_players)
        if game_named(table.game).is_reduced(table.num_players, table.rules):
            raise ValueError(f"bids are solved with all cards in the pack, not for {table.words}")
        self.table, self.cards = table, cards
        self.parents = module.parents(table.num_players)
        self.askers = module.askers(table.num_players)
        self.agents = module.num_agents(table.num_players)
        self.shape = self.parents.size, module.CLASSES
        self.families = module.FAMILIES
        self._player, self._desk = card_player(cards), Desk.at(table)

    def with_cards(self, cards: Policy) -> Game:
        """The same game with the cards played by somebody else."""
        return Game(self.table, cards)

    def walk(self, chances: np.ndarray, first: int, stop: int, tremble: float = 0.0) -> Sums:
        """What is found in some deals when all bid by these chances, (nodes, classes)."""
        sums, keys = Sums.nothing(chances.size, self.agents), self.table.keys
        self._desk.known[:] = -1
        walk_deals(
            self._desk,
            chances.astype(np.float32).ravel(),
            tremble,
            self._player,
            (keys.deals, keys.players),
            self.table.carried,
            first,
            stop,
            sums,
        )
        return sums


@dataclass
class Solution:
    """A solution in the making.

    Attributes:
        iterations: done.
        regrets: (nodes, classes, 2) float64, of the quiet bid and the loud one.
        visits: (nodes, classes) float64, weighted as the regrets.
        loud: (nodes, classes) float64, the sum of all chances of the loud bid, weighted.
        reach: (nodes, classes) float64, the sum of the weights.
        seconds: that it took so far.
    """

    iterations: int
    regrets: np.ndarray
    visits: np.ndarray
    loud: np.ndarray
    reach: np.ndarray
    seconds: float = 0.0

    @classmethod
    def new(cls, shape: tuple[int, int]) -> Solution:
        """Before the first iteration."""
        return cls(0, np.zeros((*shape, 2)), np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def chances(self, families: np.ndarray) -> np.ndarray:
        """(nodes, classes) of the loud bid, by the regrets."""
        regrets = self.regrets + FAMILY_VISITS * _means(self.regrets, self.visits, families)
        wanted = np.maximum(regrets, 0)
        total = wanted.sum(axis=-1)
        tied = (regrets[..., 1] > regrets[..., 0]) + 0.5 * (regrets[..., 1] == regrets[..., 0])
        return np.where(total > 0, wanted[..., 1] / np.where(total > 0, total, 1), tied)

    def step(self, sums: Sums, parents: np.ndarray, chances: np.ndarray) -> None:
        """Learn from the deals of an iteration, in which all bid by these chances."""
        worths = worths_of_bids(sums, parents, chances)
        gain = worths[..., 1] - worths[..., 0]
        fade = self.iterations / (self.iterations + 1)
        self.iterations += 1
        regrets = np.stack([-chances * gain, (1 - chances) * gain], axis=-1)
        self.regrets = fade * self.regrets + regrets
        self.visits = fade * self.visits + sums.visits.reshape(gain.shape)
        reach = np.ones_like(chances)
        later = parents >= 0
        reach[later] = 1 - chances[parents[later]]
        weight = float(self.iterations) ** 2
        self.loud += weight * reach * chances
        self.reach += weight * reach

    def forget_average(self) -> None:
        """Begin the mean anew; regrets stay."""
        self.loud[:] = self.reach[:] = 0

    def average(self, families: np.ndarray) -> np.ndarray:
        """(nodes, classes) chances of the loud bid, the mean over all iterations.

        Where a hand never came, since it always bid before, it is by the regrets alone.
        """
        came = self.reach > 0
        return np.where(came, self.loud / np.where(came, self.reach, 1), self.chances(families))

    def save(self, path: Path, setting: str) -> None:
        """Write it whole, with what it was made for."""
        write_arrays(path, setting=setting, **vars(self))

    @classmethod
    def load(cls, path: Path, setting: str) -> Solution | None:
        """What was saved for this setting; None if there is nothing.

        Raises:
            ValueError: what is there was made for another setting, or is damaged.
        """
        try:
            parts = read_arrays(path, MAX_BYTES)
            made_for, iterations = str(parts.pop("setting")), int(parts.pop("iterations"))
            seconds = float(parts.pop("seconds"))
            found = cls(iterations, **parts, seconds=seconds)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} holds no run of the solver: {error}") from None
        if made_for != setting:
            raise ValueError(f"{path} was begun otherwise: {made_for}, and now {setting}")
        return found


def sharpened(chances: np.ndarray) -> np.ndarray:
    """Chances up to a quarter become 0, from three quarters on 1, those between are spread out.

    Most of the doubt in a mean is that of its noisy beginnings.
    """
    return np.clip(2 * chances - 0.5, 0, 1)


def _means(regrets: np.ndarray, visits: np.ndarray, families: np.ndarray) -> np.ndarray:
    """(nodes, classes, 2): the regrets of each class's family by visit."""
    means = by_family(regrets, families) / np.maximum(by_family(visits, families), 1)[..., None]
    return means[:, families]


def by_family(numbers: np.ndarray, families: np.ndarray) -> np.ndarray:
    """(nodes, families, …): numbers (nodes, classes, …) added up over each family."""
    order = np.argsort(families, kind="stable")
    starts = np.searchsorted(families[order], np.arange(families.max() + 1))
    return np.add.reduceat(numbers[:, order], starts, axis=1)
