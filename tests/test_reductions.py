"""The named reductions: of the size and character that they say, and fit for every environment."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bestia_env import beast_v0, bestia_v0, engine, testing
from bestia_env.games import GAMES
from bestia_env.reductions import REDUCTIONS, reduction_named
from bestia_env.rules.bestia import AT_TRICKS

with warnings.catch_warnings():  # it imports an environment of its own in a way that it deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test

MODULES = {"beast": beast_v0, "bestia": bestia_v0}
IDS = {"beast": "bestia_env/Beast-v0", "bestia": "bestia_env/Bestia-v0"}
named = pytest.mark.parametrize("name", REDUCTIONS)


def factorial(n: int) -> float:
    return float(np.prod(np.arange(1, n + 1)))


def num_deals(reduction) -> float:
    """Hands and upcard; the order of the rest is counted when it matters."""
    each = GAMES[reduction.game].tricks(reduction.num_players, reduction.rules)
    size = reduction.rules.ranks * reduction.rules.suits
    stock = size - 1 - each * reduction.num_players
    return factorial(size) / factorial(each) ** reduction.num_players / factorial(stock)


def new_cards(s) -> float:
    """In how many ways the cards of the exchange can fall, once it is done."""
    each, takers = int(s.cards_each), int(s.exchanged).bit_count()
    left = int(s.settled if s.gathered else s.pack_size - 1 - each * s.num_players)
    return factorial(left) / factorial(each) ** takers / factorial(left - each * takers)


def descend(states: np.ndarray, game, rng: np.random.Generator, seen: set[str]) -> float:
    """An estimate of the nodes below a deal from one random way down (Knuth 1975)."""
    s, weight, nodes = states[0], 1.0, 1.0
    engine.start_sessions(states, rng.integers(2**63, size=1).astype(np.uint64), 0, 0)
    while s.turn >= 0:
        legal = [
            a for a in range(game.num_actions) if int(engine.legal_actions(states, 0)) >> a & 1
        ]
        action, bidding = int(rng.choice(legal)), s.phase != AT_TRICKS
        seen.add(game.action_name(action))
        engine.act(states, 0, action)
        weight *= len(legal)
        exchange_done = game.name == "bestia" and bidding and (s.turn < 0 or s.phase == AT_TRICKS)
        weight *= new_cards(s) if exchange_done else 1
        nodes += weight
    return nodes


@named
def test_it_is_of_the_size_that_it_says_and_every_bid_occurs(name: str) -> None:
    reduction, rng = reduction_named(name), np.random.default_rng(1)
    game, seen = GAMES[reduction.game], set()
    states = engine.new_states(reduction.game, reduction.num_players, reduction.rules)
    nodes = num_deals(reduction) * np.mean([descend(states, game, rng, seen) for _ in range(2000)])
    assert nodes == pytest.approx(reduction.nodes, rel=0.15)
    assert {action.name for action in game.actions} <= seen


def test_there_are_some_for_two_and_three_of_both_games_from_tiny_on() -> None:
    assert [*REDUCTIONS] == [reduction.name for reduction in REDUCTIONS.values()]
    for game in GAMES:
        ours = [reduction for reduction in REDUCTIONS.values() if reduction.game == game]
        assert len(ours) >= 4 and {reduction.num_players for reduction in ours} == {2, 3}
        assert min(r.nodes for r in ours) < 5000 and max(r.nodes for r in ours) >= 10**6
    with pytest.raises(ValueError, match=r"one of beast2-tiny, .*, not 'poker'"):
        reduction_named("poker")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name.endswith("small") else [pytest.mark.slow])
        for name in REDUCTIONS
    ],
)
def test_every_environment_plays_it(name: str) -> None:
    reduction = reduction_named(name)
    keywords = {"num_players": reduction.num_players, "rules": reduction.rules, "num_hands": 3}
    api_test(MODULES[reduction.game].env(**keywords), num_cycles=20)
    testing.check_table(lambda: MODULES[reduction.game].env(**keywords), 2)
    check_env(gymnasium.make(IDS[reduction.game], **keywords).unwrapped, skip_render_check=True)
    envs = gymnasium.make_vec(IDS[reduction.game], num_envs=8, sort_suits=True, **keywords)
    _, infos = envs.reset(seed=1)
    for _ in range(50):
        *_, infos = envs.step(infos["action_mask"].argmax(axis=1))  # 0 where a session has ended
