"""Policies as tables over the information sets of a tree, measured exactly."""

from __future__ import annotations

import numpy as np

from agents.equilibria.best_response import Exploitability, exploitability
from agents.equilibria.growth import Grown
from agents.equilibria.player import TablePlayer
from agents.equilibria.seating import exchanged_actions, retold
from agents.policies import Policy
from bestia_env.games import game_named
from bestia_env.observe import layout, write_mask, write_observation


def measure(policy: Policy, grown: Grown) -> Exploitability:
    """How much could be gained against copies of a policy in every other seat, exactly.

    The tree has one trump suit. A policy may favour a suit by its number: hence the mean over all
    trump suits, which are equally likely. By whom is dealt is taken to make no difference to it.

    Args:
        policy: of the same game, for as many players.
        grown: the game.
    """
    found = [
        exploitability(grown.tree, policy_table(policy, grown, trump))
        for trump in range(_num_suits(grown))
    ]
    return Exploitability(
        _mean([each.values for each in found]), _mean([each.best for each in found])
    )


def _mean(rows: list[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.mean(rows, axis=0))


def _num_suits(grown: Grown) -> int:
    s = grown.views[0]
    ranks = (int(s["in_use"]) & (1 << len(s["pack"]) // 4) - 1).bit_count()
    return int(s["pack_size"]) // ranks


def policy_table(policy: Policy, grown: Grown, trump: int = 0) -> np.ndarray:
    """The policy's behaviour, (S,) float64: the probability of every slot.

    Args:
        policy: of the same game, for as many players.
        grown: the game.
        trump: it is asked about hands of this trump suit.
    """
    tree, trumps = grown.tree, np.full(len(grown.views), trump)
    views = retold(grown.views, np.zeros(len(grown.views), np.int64), trumps)
    pack_size = grown.views["pack"].shape[1]
    actions = exchanged_actions(
        tree.slot_action.astype(np.int64), np.full(tree.num_slots, trump), pack_size
    )
    legal = np.zeros(tree.num_sets, np.uint64)
    np.bitwise_or.at(legal, tree.slot_set, np.uint64(1) << actions.astype(np.uint64))
    chances = _probabilities(policy, views, legal)[tree.slot_set, actions]
    return chances / np.add.reduceat(chances, tree.first_slot[:-1])[tree.slot_set]


def _probabilities(policy: Policy, views: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """(K, A) of every action at every view."""
    if isinstance(policy.chooser, TablePlayer) and policy.program is None:
        return policy.chooser.probabilities(views)
    if policy.network is None or policy.network.greedy or policy.program or policy.chooser:
        rows = [policy.probabilities(views[k : k + 1], int(legal[k])) for k in range(len(views))]
        return np.array(rows)
    table = layout(policy.game, int(views[0]["num_players"]))
    observations = np.empty((len(views), table.size), np.float32)
    masks = np.empty((len(views), game_named(policy.game).num_actions), np.int8)
    for k, view in enumerate(views):
        write_observation(view, int(view["viewer"]), table.offsets, observations[k])
        write_mask(legal[k], masks[k])
    return policy.network.probabilities(observations, masks)
