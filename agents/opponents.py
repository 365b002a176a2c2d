"""Opponents that stay as they are, inside a kernel: baselines, bidding rules and networks.

`agents.matches` asks networks in batches of hands; here one is asked at a time, so that a kernel
can play hand after hand without leaving it. Choosers have to be asked outside.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.baselines.dispatch import act as baseline_act
from agents.bidding.machine import STACK, decide, is_bid, says_anything
from agents.layers import Packed, Scratch, choose
from agents.matches import Players
from agents.policies import NETWORK, Policy
from bestia_env._jit import jit
from bestia_env.observe import write_observation
from bestia_env.suits import Relabelling, relabelling
from bestia_env.view import look


class Networks(NamedTuple):
    """Networks of any widths, their parameters one after another.

    Attributes:
        parameters: (P,) float32.
        starts: (M + 1,) int64, where each one's begin.
        sizes: (M, most layers + 1) int64, from D to A, then zeros.
        lengths: (M,) int64, how many of the sizes are its own.
        activations: (M,) int64.
        sorts: (M,) int64, 1 if it sees sorted suits.
        greedy: (M,) bool.
    """

    parameters: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    lengths: np.ndarray
    activations: np.ndarray
    sorts: np.ndarray
    greedy: np.ndarray


class Opponents(NamedTuple):
    """K opponents as the kernel takes them.

    Attributes:
        players: what each is, and how it bids.
        networks: of those who have one.
        places: (K,) int64, the place of each one's network, 0 for those without.
        asked: (K, 2) bool, is a chooser to be asked for all but bids; for bids?
        labels: of suits as they are, and of sorted ones.
    """

    players: Players
    networks: Networks
    places: np.ndarray
    asked: np.ndarray
    labels: tuple[Relabelling, Relabelling]


class Desk(NamedTuple):
    """Where opponents think.

    Attributes:
        views: (1,) record, what one sees.
        observation: (D,) float32, the same for a network.
        stack: (STACK,) float64.
        scratch: for the widest network.
    """

    views: np.ndarray
    observation: np.ndarray
    stack: np.ndarray
    scratch: Scratch


def check_distinct(policies: Sequence[Policy]) -> None:
    """Raise a ValueError if two of them play alike."""
    for policy, other in itertools.combinations(policies, 2):
        if policy.same_as(other):
            raise ValueError(f"opponent {other.spec!r} is the same as {policy.spec!r}")


def opponents_of(
    policies: Sequence[Policy], game: str, num_players: int, past: Sequence[Packed] = ()
) -> Opponents:
    """Line up policies, and behind them networks that draw their actions.

    Args:
        policies: of the game, for so many players.
        game: "beast" or "bestia".
        num_players: seats.
        past: packed networks.
    """
    networks = [policy.network for policy in policies if policy.network is not None]
    packed = [*(network.packed for network in networks), *past]
    everybody = [*policies, *[Policy("past", game, NETWORK)] * len(past)]
    has_network = [policy.network is not None for policy in policies] + [True] * len(past)
    asked = [[policy.chooser_for(bid) is not None for bid in (False, True)] for policy in everybody]
    return Opponents(
        Players.of(everybody),
        _networks(packed, [network.greedy for network in networks] + [False] * len(past)),
        np.cumsum([0, *has_network])[:-1],
        np.array(asked, np.bool_).reshape(-1, 2),
        (relabelling(game, num_players, False), relabelling(game, num_players, True)),
    )


def _networks(packed: Sequence[Packed], greedy: Sequence[bool]) -> Networks:
    lengths = np.array([net.sizes.size for net in packed], np.int64)
    sizes = np.zeros((len(packed), max(lengths, default=0)), np.int64)
    for row, net in zip(sizes, packed, strict=True):
        row[: net.sizes.size] = net.sizes
    parameters = [net.parameters for net in packed]
    return Networks(
        np.concatenate([np.empty(0, np.float32), *parameters]),
        np.cumsum([0, *(part.size for part in parameters)]),
        sizes,
        lengths,
        np.array([net.activation for net in packed], np.int64),
        np.array([net.labels.enabled for net in packed], np.int64),
        np.array(greedy, np.bool_),
    )


def desk(states: np.ndarray, num_inputs: int, opponents: Opponents, net: Packed) -> Desk:
    """Room for the opponents and one more network at a table with such states, (1,) records."""
    most = max([num_inputs, *opponents.networks.sizes.ravel(), *net.sizes])
    return Desk(
        np.zeros(1, states.dtype),
        np.empty(num_inputs, np.float32),
        np.empty(STACK),
        Scratch(
            np.empty((2, most), np.float32), np.empty(most, np.int32), np.empty(most, np.float32)
        ),
    )


@jit
def act_in(opponents, who, states, i, choices, rng, desk):
    """What an opponent, no chooser, does at the seat to act in states[i], given its legal set."""
    s, seat, players = states[i], np.int64(states[i].turn), opponents.players
    bids = says_anything(players.rules, who) and is_bid(s)
    if players.kinds[who] == NETWORK and not bids:
        place = opponents.places[who]
        net = _network_at(opponents.networks, place, opponents.labels)
        write_observation(s, seat, net.labels.at, desk.observation)
        greedy = opponents.networks.greedy[place]
        return choose(net, desk.observation, choices, rng, greedy, desk.scratch)
    look(states, i, seat, desk.views, 0)
    if bids:
        return decide(players.rules, who, desk.views[0], choices, rng, desk.stack)
    kind, parameter = players.kinds[who], players.parameters[who]
    return baseline_act(kind, parameter, desk.views[0], choices, rng)


@jit
def _network_at(networks, place, labels):
    parameters = networks.parameters[networks.starts[place] : networks.starts[place + 1]]
    sizes = networks.sizes[place][: networks.lengths[place]]
    return Packed(parameters, sizes, networks.activations[place], labels[networks.sorts[place]])
