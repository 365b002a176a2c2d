"""The bids of any policy written into a table, to be judged as solved ones are.

The policy is asked at every place in the bidding of many deals. Where it tells apart hands that are
one class, the table has their mean, each hand weighing as much as the policy's own earlier bids let
it come there. So a table bids as the policy does but for what it cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agents.bids.cards import card_player
from agents.bids.games import bidding, decides, entry, loud, quiet
from agents.bids.solver import Game, by_family
from agents.bids.table import BidTable, chances_of
from agents.bids.traversal import Desk, deal_at, play_card
from agents.duplicate import Table
from agents.matches import choose, observe_turns
from agents.policies import Policy
from bestia_env._jit import jit
from bestia_env.games import GAMES
from bestia_env.observe import layout
from bestia_env.rng import seed_sequence_keys, stream
from bestia_env.rules.dispatch import apply
from bestia_env.rules.table import NOBODY

AT_ONCE = 64  # deals
LEAST = 1e-6  # weight of a hand that the policy's own bids do not let come there


def chances_in(
    game: Game,
    policy: Policy,
    num_deals: int,
    first: int,
    progress: Callable[[int], None] = lambda deals: None,
) -> np.ndarray:
    """How often a policy makes the loud bid, (nodes, classes).

    Args:
        game: the classes and places; who plays its cards bids where no table chooses.
        policy: whose bids. A table's are those that stand in it; a network is asked for its
            probabilities; whoever else, for a bid by the hand.
        num_deals: in which it is asked. Where a class of hands never comes, its bids are the mean
            of its family, and none if that never comes either.
        first: the number of the first deal.
        progress: called with numbers of deals as they are done.
    """
    if isinstance(policy.chooser, BidTable):
        progress(num_deals)
        return chances_of(policy.chooser).reshape(game.shape).astype(float)
    places, sums = Places(game), np.zeros((2, *game.shape))
    for start in range(first, first + num_deals, AT_ONCE):
        stop = min(start + AT_ONCE, first + num_deals)
        _add(sums, game, _asked(places, policy, start, stop))
        progress(stop - start)
    heard, weights = sums
    families = by_family(heard, game.families), by_family(weights, game.families)
    means = _ratio(*families)[:, game.families]
    return np.where(weights > 0, _ratio(heard, weights), means)


class Answers(NamedTuple):
    """What a policy does in some deals, each with one answer at most for every node.

    Attributes:
        chances: (deals, nodes) float64, of the loud bid; NaN where nobody is asked.
        classes: (deals, nodes) int64, of the hands of those that are asked, else 0.
    """

    chances: np.ndarray
    classes: np.ndarray


class Places:
    """All places in the bidding of some deals.

    Attributes:
        game: the game.
    """

    def __init__(self, game: Game) -> None:
        nodes = game.shape[0]
        self.game = game
        self._player, self._desk = card_player(game.cards), Desk.at(game.table)
        self._states = np.empty(AT_ONCE * nodes, self._desk.states.dtype)
        self._entries, self._deals = np.empty((2, self._states.size), np.int64)

    def of(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In so many deals, `AT_ONCE` at most.

        Returns:
            (K,) records in which a seat is to bid; (K,) int64, the entries of a table for them; and
            (K,) int64, of which deal they are.
        """
        table: Table = self.game.table
        keys = table.keys.deals, table.keys.players
        desk, out = self._desk, (self._states, self._entries, self._deals)
        count = _find(desk, self._player, keys, table.carried, first, stop, out)
        states, entries, deals = (array[:count] for array in out)
        return states, entries, deals


def _asked(places: Places, policy: Policy, first: int, stop: int) -> Answers:
    nodes, classes = places.game.shape
    states, entries, deals = places.of(first, stop)
    chances = np.full((stop - first, nodes), np.nan)
    hands = np.zeros(chances.shape, np.int64)
    at = deals - first, entries // classes
    seed = int(stream(places.game.table.keys.players, first))
    chances[at], hands[at] = _loud_chances(policy, states, seed), entries % classes
    return Answers(chances, hands)


def _loud_chances(policy: Policy, states: np.ndarray, seed: int) -> np.ndarray:
    """(K,) how often the seats to act make the loud bid, 0 or 1 for one bid that they make."""
    bids = np.empty(states.size, np.int64)
    _loud_bids(states, bids)
    network, rows = policy.network, np.arange(states.size)
    others = policy.program is not None or policy.chooser is not None
    if network is None or network.greedy or others:
        return choose(policy, states, seed_sequence_keys(seed, states.size)) == bids
    table = layout(policy.game, int(states[0].num_players))
    observations = np.empty((states.size, table.size), np.float32)
    masks = np.empty((states.size, GAMES[policy.game].num_actions), np.int8)
    observe_turns(states, rows, table.offsets, observations, masks)
    return network.probabilities(observations, masks)[rows, bids]


def _add(sums: np.ndarray, game: Game, answers: Answers) -> None:
    """Add to loud bids and weights, (2, nodes, classes)."""
    chances, classes = answers
    reach = np.ones(chances.shape)
    later = game.parents >= 0
    reach[:, later] = np.nan_to_num(1 - chances[:, game.parents[later]], nan=1.0)
    deals, nodes = np.nonzero(~np.isnan(chances))
    at = nodes, classes[deals, nodes]
    weights = np.maximum(reach[deals, nodes], LEAST)
    np.add.at(sums[0], at, weights * chances[deals, nodes])
    np.add.at(sums[1], at, weights)


def _ratio(heard: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return heard / np.where(weights > 0, weights, 1)


@jit
def _find(desk, player, keys, carried, first, stop, out):
    """Write every state in which a table chooses, its entry and its deal; returns how many."""
    states, entries, deals = out
    count = 0
    for deal in range(first, stop):
        begin = count
        deal_at(desk, keys[0], carried, deal)
        luck = stream(keys[1], deal)
        count = _come(desk, player, luck, states, count)
        at = begin
        while at < count:  # those that are found are themselves played on, both ways
            entries[at] = entry(states[at], desk.hands[states[at].turn])
            deals[at] = deal
            for bid in range(2):
                desk.states[0] = states[at]
                apply(desk.states[0], loud(states[at]) if bid else quiet(states[at]))
                count = _come(desk, player, luck, states, count)
            at += 1
    return count


@jit
def _come(desk, player, luck, states, count):
    """Play the first state of a desk on, and note it if a table is to choose there."""
    s = desk.states[0]
    while s.turn != NOBODY and bidding(s) and not decides(s):
        desk.rng[0] = stream(luck, desk.hands.size * s.phase + s.turn)
        apply(s, play_card(desk, 0, player))
    if s.turn == NOBODY or not bidding(s):
        return count
    states[count] = s
    return count + 1


@jit
def _loud_bids(states, bids):
    for k in range(bids.size):
        bids[k] = loud(states[k])
