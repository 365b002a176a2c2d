import dataclasses

import numpy as np
import pytest

from agents.opponents import act_in, desk, opponents_of
from agents.policies import NETWORK, Policy, default_specs, parse_policy
from bestia_env.bits import size
from bestia_env.observe import layout
from bestia_env.rules.dispatch import legal
from bestia_env.view import look
from tests.agents.test_networks import positions, random_network

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

GAMES = ("beast", "bestia")


def policies(game: str) -> list[Policy]:
    """Of all kinds; networks of several depths, widths and activations."""
    networks = [
        random_network(game, (16, 12)),
        random_network(game, (40,), "tanh", 1, sort_suits=False),
        random_network(game, (8, 9, 7), seed=2, greedy=True),
    ]
    named = [parse_policy(spec, game, 4) for spec in (*default_specs(game), f"net:{game}-4")]
    ruled = parse_policy(rule(game), game, 4)
    return [
        *(Policy(f"net:{k}", game, NETWORK, network=net) for k, net in enumerate(networks)),
        *named,
        ruled,
        dataclasses.replace(named[-1], spec="ruled", program=ruled.program, rule=ruled.rule),
    ]


def rule(game: str) -> str:
    return {"beast": "play if trumps >= 2", "bestia": "knock if trumps >= 1"}[game]


@pytest.mark.parametrize("game", GAMES)
def test_in_the_kernel_they_do_as_they_do_when_asked(game):
    everybody, past = policies(game), random_network(game, (5,), seed=8)
    table = opponents_of(everybody, game, 4, [past.packed])
    asked = [*everybody, Policy("past", game, NETWORK, network=past)]
    states, _, _ = positions(game, 60)
    room = desk(states[:1], layout(game, 4).size, table, past.packed)
    view, rng, acted = np.zeros(1, states.dtype), np.zeros(1, np.uint64), set()
    own = np.zeros(1, np.uint64)
    for number, state in enumerate(states):
        choices, seat = legal(state), int(state["turn"])
        if size(choices) < 2:
            continue
        for who, policy in enumerate(asked):
            own[0] = rng[0] = 1000 * number + who
            look(states, number, seat, view, 0)
            expected = policy.act(view, int(choices), rng)
            assert act_in(table, who, states, number, choices, own, room) == expected
            assert own[0] == rng[0]
            acted.add((who, expected))
    assert len(acted) > 4 * len(asked)


def test_nobody_is_a_line_up_too():
    table = opponents_of([], "bestia", 4)
    assert table.places.size == table.networks.lengths.size == table.players.kinds.size == 0
