"""Who plays the cards, inside kernels: a baseline or a network, chosen while compiling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from agents import layers
from agents.baselines.dispatch import act
from agents.layers import Packed, Scratch
from agents.policies import Policy
from bestia_env._jit import jit


class Baseline(NamedTuple):
    """A baseline.

    Attributes:
        kind: which.
        parameter: its number.
    """

    kind: int
    parameter: float


class Perceptron(NamedTuple):
    """A network.

    Attributes:
        net: its weights.
        greedy: does it play the likeliest card rather than draw one?
        observation: (D,) float32 to work in.
        scratch: to work in.
    """

    net: Packed
    greedy: bool
    observation: np.ndarray
    scratch: Scratch


def card_player(policy: Policy) -> Baseline | Perceptron:
    """A policy without rule or table, as kernels take it."""
    network = policy.network
    if network is None:
        return Baseline(policy.kind, policy.parameter)
    room = np.empty(network.num_inputs, np.float32)
    return Perceptron(network.packed, network.greedy, room, network.scratch())


def choose_card(player, views, legal, rng):
    """The action of the seat whose view is views[0]; legal is a set of bits, rng (1,) uint64."""
    return _implementation(type(player))(player, views, legal, rng)


@overload(choose_card)
def _choose_card(player, views, legal, rng):
    implementation = _implementation(player.instance_class)  # of numba's type of a named tuple
    return lambda player, views, legal, rng: implementation(player, views, legal, rng)


def _implementation(player: type):
    return _by_baseline if player is Baseline else _by_network


@jit
def _by_baseline(player, views, legal, rng):
    return act(player.kind, player.parameter, views[0], legal, rng)


@jit
def _by_network(player, views, legal, rng):
    return layers.act_on_view(
        player.net, views, legal, rng, player.greedy, player.observation, player.scratch
    )
