"""A cheat that sees all cards: how much there is to gain by knowing them.

It is no player. It takes the state itself, hidden cards, pack and all, which only `agents.matches`
gives to choosers; from a view, which is all that environments and tables with people give, it
refuses to choose. The others are taken to see all cards too once these are played.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.search.leaves import Field, Room, make_room, value_actions
from agents.search.rooms import kept_by_thread
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, without_lowest
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import NOBODY


@jit
def choose_batch(states, hands, rngs, actions, leaf, field, room):
    """Choose what is worth most to the seat to act, with all cards open.

    Args:
        states: (B,) records.
        hands: (H,) int64, places in `states`.
        rngs: (H,) uint64, moved on.
        actions: (H,) int64, written.
        leaf: MAXN or COALITION, see `agents.search.leaves`.
        field: the baseline by which all bid on.
        room: `agents.search.leaves.Room`.
    """
    for k in range(hands.size):
        i = hands[k]
        seat, choices = np.int64(states[i].turn), legal(states[i])
        value_actions(states, i, seat, choices, leaf, field, rngs[k : k + 1], room, 0)
        best = lowest(choices)
        while choices != ZERO:
            if room.values[0, lowest(choices)] > room.values[0, best]:
                best = lowest(choices)
            choices = without_lowest(choices)
        actions[k] = best


@kept_by_thread
def _room(game: str, num_players: int) -> Room:
    return make_room(game, num_players, 1)


@dataclass(frozen=True)
class Cheat:
    """Who sees all cards, a `Chooser`.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        leaf: how cards are valued.
        field: the baseline by which all bid on.
        bids_only: it chooses all.
        draws: it draws no lots.
    """

    game: str
    num_players: int
    leaf: int
    field: Field
    bids_only: bool = False
    draws: int = 1

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Choose for the seats to act, see `Chooser`.

        Raises:
            ValueError: the states are views.
        """
        if (states["viewer"][hands] != NOBODY).any():
            raise ValueError("cheat sees all cards: it cannot play from a view, at no honest table")
        actions, room = np.empty(hands.size, np.int64), _room(self.game, self.num_players)
        choose_batch(states, hands, chances, actions, self.leaf, self.field, room)
        return actions
