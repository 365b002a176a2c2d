"""Perfect-information Monte Carlo: what is best on average in worlds that may be.

The hidden cards are dealt at random so often, as what the seat knows and what the others have bid
make likely (`agents.search.hearing`); in every such world each action gets its worth
(`agents.search.leaves`), and the one is chosen that is worth most in all of them together. That the
seat will not know which world it is in is forgotten once it has acted. So the worth of a bid is
found by playing out, for in worlds that are solved everybody plays as if he saw all cards, which
makes knocks look safe that are not.

What the seat would do by habit, as a baseline, is left only for an action that is worth more by a
margin. Where that is not clear more worlds are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents import worlds
from agents.baselines.dispatch import act
from agents.estimates import Estimate, Moments
from agents.matches import turn_views
from agents.replays import in_tricks
from agents.search import leaves
from agents.search.hearing import draw_heard_worlds
from agents.search.leaves import LEAVES, Field, value_actions
from agents.search.rooms import kept_by_thread
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, size, without_lowest
from bestia_env.games import game_named
from bestia_env.observe import write_mask
from bestia_env.rules.dispatch import legal

BY_HABIT = len(LEAVES)  # how to bid without search
_CLEAR = 2.0  # standard errors from the margin, beyond which no more worlds are drawn


class Setting(NamedTuple):
    """How to search.

    Attributes:
        cards: the leaf for cards.
        bids: the leaf for bids, or BY_HABIT.
        rounds: of worlds at most.
        margin: pots per hand by which an action must be worth more than the habitual one.
        ratio: how likely a bid is that the field would not make, against one that it would.
        field: by whom the others are supposed to bid and play.
        habit: what the seat does unless something else is worth more.
    """

    cards: int
    bids: int
    rounds: int
    margin: float
    ratio: float
    field: Field
    habit: Field


class Room(NamedTuple):
    """Where a search works.

    Attributes:
        asker: (1,) records, the VIEW of the seat that chooses.
        found: (W,) records, the worlds of a round.
        drawn: (W,) records, worlds that are not read yet.
        replay: (1,) records, such a world from the deal.
        looks: (1,) records, the VIEW of who bids in it.
        sampler: for the worlds.
        leaves: for what is done in them.
    """

    asker: np.ndarray
    found: np.ndarray
    drawn: np.ndarray
    replay: np.ndarray
    looks: np.ndarray
    sampler: worlds.Room
    leaves: leaves.Room


@kept_by_thread
def make_room(game: str, num_players: int, num_worlds: int, rounds: int) -> Room:
    """Room for searches with so many worlds a round; one for all of a thread."""
    dtype = game_named(game).dtype
    return Room(
        np.zeros(1, dtype),
        np.zeros(num_worlds, dtype),
        np.zeros(num_worlds, dtype),
        np.zeros(1, dtype),
        np.zeros(1, dtype),
        worlds.make_room(game, num_players),
        leaves.make_room(game, num_players, num_worlds * rounds),
    )


@jit
def choose_batch(views, rngs, actions, setting, room):
    """Choose an action for the viewer of each view.

    Args:
        views: (H,) records, of the seats to act.
        rngs: (H,) uint64, their generators, moved on.
        actions: (H,) int64, written.
        setting: `Setting`.
        room: `Room`.
    """
    for k in range(views.size):
        room.asker[0] = views[k]
        choices = legal(room.asker[0])
        if size(choices) == 1:
            actions[k] = lowest(choices)
        else:
            rng, field = rngs[k : k + 1], setting.habit
            habit = act(field.kind, field.parameter, room.asker[0], choices, rng)
            actions[k] = habit
            if in_tricks(room.asker[0]) or setting.bids != BY_HABIT:
                count = evaluate(choices, habit, setting, rng, room)
                actions[k] = _best(choices, habit, count, setting.margin, room)


@jit
def evaluate(choices, habit, setting, rng, room):
    """Find what actions are worth to room.asker[0], in rows of room.leaves.values.

    Args:
        choices: the actions, a set of bits.
        habit: one of them, see `Setting`; if it is -1 all rounds are played.
        setting: `Setting`.
        rng: (1,) uint64, moved on.
        room: `Room`.

    Returns:
        How many rows, one for each world.
    """
    seat, count = np.int64(room.asker[0].viewer), 0
    leaf = setting.cards if in_tricks(room.asker[0]) else setting.bids
    for _ in range(setting.rounds):
        found = draw_heard_worlds(room.asker, room.found, room, setting.ratio, setting.field, rng)
        for j in range(found):
            value_actions(
                room.found, j, seat, choices, leaf, setting.field, rng, room.leaves, count + j
            )
        count += found
        if habit >= 0 and _is_clear(choices, habit, count, setting.margin, room):
            break
    return count


@jit
def _gain(action, habit, count, margin, room):
    """By how much the action is worth more than the habit, less the margin; its standard error."""
    total = squares = 0.0
    for j in range(count):
        more = room.leaves.values[j, action] - room.leaves.values[j, habit]
        total += more
        squares += more * more
    unit = room.asker[0].num_players * room.asker[0].pot
    mean = total / count
    variance = max(squares / count - mean * mean, 0.0) / count
    return mean / unit - margin, np.sqrt(variance) / unit


@jit
def _is_clear(choices, habit, count, margin, room):
    """Is it clear of the action that gains most whether it gains?"""
    most, error = -np.inf, 0.0
    while choices != ZERO:
        if lowest(choices) != habit:
            gain, its_error = _gain(lowest(choices), habit, count, margin, room)
            if gain > most:
                most, error = gain, its_error
        choices = without_lowest(choices)
    return abs(most) >= _CLEAR * error


@jit
def _best(choices, habit, count, margin, room):
    """The action that gains most over the habit, or the habit if none does."""
    best, most = habit, 0.0
    while choices != ZERO:
        if lowest(choices) != habit:
            gain, _ = _gain(lowest(choices), habit, count, margin, room)
            if gain > most:
                best, most = lowest(choices), gain
        choices = without_lowest(choices)
    return best


@dataclass(frozen=True)
class Pimc:
    """A searching player, a `Chooser`.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        num_worlds: worlds a round.
        setting: how to search.
        bids_only: it chooses all.
        draws: see `Chooser`.
    """

    game: str
    num_players: int
    num_worlds: int
    setting: Setting
    bids_only: bool = False
    draws: int = 20

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Choose for the seats to act, see `Chooser`."""
        actions = np.empty(hands.size, np.int64)
        choose_batch(turn_views(states, hands), chances, actions, self.setting, self._room())
        return actions

    def worths(self, view: np.ndarray, rng: np.ndarray) -> dict[int, Estimate]:
        """What every legal action is worth to the seat to act, in pots per hand.

        Bids are searched even if the player makes them by habit.

        Args:
            view: (1,) records, the VIEW of the seat to act.
            rng: (1,) uint64, moved on.

        Returns:
            The legal actions in order; `num_deals` is the number of worlds.
        """
        room, setting = self._room(), self.setting
        if setting.bids == BY_HABIT:
            setting = setting._replace(bids=leaves.ROLLOUT)
        room.asker[0] = view[0]
        mask = np.zeros(game_named(self.game).num_actions, np.int8)
        write_mask(legal(view[0]), mask)
        count = evaluate(np.uint64(legal(view[0])), -1, setting, rng, room)
        values = room.leaves.values[:count] / (int(view[0].pot) * self.num_players)
        return {
            int(action): Moments.of(values[:, action]).estimate() for action in np.flatnonzero(mask)
        }

    def _room(self) -> Room:
        return make_room(self.game, self.num_players, self.num_worlds, self.setting.rounds)
