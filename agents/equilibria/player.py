"""The policy `equilibrium:NAME`: who plays a solved reduction by its table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.equilibria.growth import find_sets, opening
from agents.equilibria.seating import exchanged_actions, normal_form
from agents.equilibria.solutions import load, loaded
from agents.matches import turn_views
from agents.policies import CHOOSER, DRAWS, Policy
from bestia_env._jit import jit
from bestia_env.bits import lowest, size
from bestia_env.games import game_named
from bestia_env.reductions import Reduction, reduction_named
from bestia_env.rng import unit
from bestia_env.rules.dispatch import legal


@dataclass
class TablePlayer:
    """Who plays a reduction by a shipped equilibrium, whoever deals, whatever the pot.

    Attributes:
        name: of the reduction.
        num_players: seats.
        bids_only: it plays all.
        draws: of how many answers the chance of an action is the share.
    """

    name: str
    num_players: int | None
    bids_only: bool = False
    draws: int = DRAWS

    @property
    def _reduction(self) -> Reduction:
        return reduction_named(self.name)

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Draw an action by the table in each of some hands; see `agents.policies.Chooser`.

        Raises:
            ValueError: a hand is of another game, or of other rules.
        """
        views, actions = turn_views(states, hands), np.empty(hands.size, np.int64)
        _only_actions(views, actions)
        asked = np.flatnonzero(actions < 0)
        if asked.size == 0:
            return actions
        sets = self._sets(views[asked])
        grown, table = loaded(self.name)
        first, drawn, draws = grown.tree.first_slot, np.empty(asked.size, np.int64), chances[asked]
        _draw(table, first, sets, draws, drawn)
        chances[asked] = draws
        found = grown.tree.slot_action[drawn].astype(np.int64)
        trumps = views["trump"][asked].astype(np.int64)
        actions[asked] = exchanged_actions(found, trumps, views["pack"].shape[1])
        return actions

    def probabilities(self, views: np.ndarray) -> np.ndarray:
        """The chance of every action, (K, A) float64, at views (K,) of seats that have a choice.

        Raises:
            ValueError: a view is of another game, or of other rules.
        """
        sets, (grown, table) = self._sets(views), loaded(self.name)
        first, sizes = grown.tree.first_slot[sets], np.diff(grown.tree.first_slot)[sets]
        rows = np.repeat(np.arange(len(views)), sizes)
        slots = np.arange(rows.size) + (first - np.cumsum(sizes) + sizes)[rows]
        trumps = views["trump"].astype(np.int64)[rows]
        found = grown.tree.slot_action[slots].astype(np.int64)
        actions = exchanged_actions(found, trumps, views["pack"].shape[1])
        chances = np.zeros((len(views), game_named(self._reduction.game).num_actions))
        chances[rows, actions] = table[slots]
        return chances

    def _sets(self, views: np.ndarray) -> np.ndarray:
        """(K,) the information sets of these views."""
        reduction = self._reduction
        start = opening(reduction.game, reduction.num_players, reduction.rules)
        sets = np.full(len(views), -1)
        if views.dtype == start.dtype and (views["num_players"] == self.num_players).all():
            told = normal_form(views, start)
            find_sets(loaded(self.name)[0].index, told, sets)
        if (sets < 0).any():
            raise ValueError(
                f"equilibrium:{self.name} plays {reduction.game} with {self.num_players} players "
                f"by {reduction.rules}; this is no such hand"
            )
        return sets


@jit
def _only_actions(views, actions):
    """The action of whoever has but one, -1 for others."""
    for k in range(views.size):
        choices = legal(views[k])
        actions[k] = lowest(choices) if size(choices) == 1 else -1


@jit
def _draw(table, first_slot, sets, chances, drawn):
    """A slot of each set by its probabilities; (K,) int64 is written."""
    for k in range(sets.size):
        left = unit(chances[k : k + 1])
        slot, last = first_slot[sets[k]], first_slot[sets[k] + 1] - 1
        while slot < last and left >= table[slot]:
            left -= table[slot]
            slot += 1
        while table[slot] == 0:  # rounding may leave a little after the last that is possible
            slot -= 1
        drawn[k] = slot


def parse(spec: str, game: str, num_players: int) -> Policy:
    """The policy of a spec `equilibrium:NAME`.

    Raises:
        ValueError: nothing of this name is solved, or it is another game.
    """
    name = spec.partition(":")[2]
    reduction = load(name).reduction
    if (reduction.game, reduction.num_players) != (game, num_players):
        raise ValueError(
            f"policy {spec!r} plays {reduction.game} with {reduction.num_players} players, "
            f"not {game} with {num_players}"
        )
    return Policy(spec, game, CHOOSER, chooser=TablePlayer(name, num_players))
