"""Deals that differ only by the names of their suits are one deal to a learner."""

from __future__ import annotations

import numpy as np
import pytest

from bestia_env import beast_v0, bestia_v0
from bestia_env.observe import layout
from bestia_env.suits import ORDERS, SUITS, relabelling
from bestia_env.vector import BeastVectorEnv, BestiaVectorEnv, TablesEnv
from tests.sessions import TABLES

RAW = {"beast": beast_v0.raw_env, "bestia": bestia_v0.raw_env}
VECTOR = {"beast": BeastVectorEnv, "bestia": BestiaVectorEnv}
both_games = pytest.mark.parametrize("game", RAW)


def legal_actions(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    return (rng.random(masks.shape) * masks).argmax(axis=1)


@both_games
@pytest.mark.parametrize("k", [1, 8, 23])
def test_a_deal_with_its_suits_renamed_plays_alike(game, k) -> None:
    """The table of places is right: the renamed hand's observations are the hand's, renamed."""
    labels, rng = relabelling(game, 4), np.random.default_rng(k)
    plain, renamed = RAW[game](), RAW[game]()
    for _ in range(20):
        deck = rng.permutation(plain.game.pack.size)
        plain.reset(seed=1, options={"deck": deck, "dealer": 0})
        renamed.reset(seed=1, options={"deck": labels.action[k, deck], "dealer": 0})
        while not plain.terminations["player_0"]:
            for agent in plain.possible_agents:
                old, new = plain.observe(agent), renamed.observe(agent)
                np.testing.assert_array_equal(
                    new["observation"][labels.observation[k]], old["observation"]
                )
                np.testing.assert_array_equal(
                    new["action_mask"][labels.action[k]], old["action_mask"]
                )
            mask = plain.observe(plain.agent_selection)["action_mask"]
            if plain.game.name == "bestia" and mask[plain.game.actions.EXCHANGE]:
                action = plain.game.actions.REFUSE  # gathered cards come in an order of the seed's
            else:
                action = int(rng.choice(np.flatnonzero(mask)))
            plain.step(action)
            renamed.step(int(labels.action[k, action]))


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_a_sorted_observation_does_not_depend_on_names(game, num_players) -> None:
    """Ties too: whatever is known of a suit counts, so any renaming gives the same bytes."""
    env = TablesEnv(game, 64, num_players)
    labels, rng = relabelling(game, num_players), np.random.default_rng(3)
    tables = env.reset(seed=4)
    for step in range(40):
        order = 1 + step % 23
        renamed = np.empty_like(tables.observations)
        renamed[:, labels.observation[order]] = tables.observations
        allowed = np.empty_like(tables.masks)
        allowed[:, labels.action[order]] = tables.masks
        sorter = TablesEnv(game, 64, num_players, sort_suits=True)._suits
        plain, other = sorter.show(tables.observations, tables.masks), sorter.show(renamed, allowed)
        np.testing.assert_array_equal(plain[0], other[0])
        np.testing.assert_array_equal(plain[1], other[1])
        tables = env.step(legal_actions(rng, tables.masks))


@both_games
def test_trumps_come_first_then_the_suit_led(game) -> None:
    env, rng, table = (
        TablesEnv(game, 64, sort_suits=True),
        np.random.default_rng(5),
        layout(game, 4),
    )
    tables, led_second = env.reset(seed=6), 0
    for _ in range(40):
        assert (tables.observations[:, table.slices["trump"]] == np.eye(SUITS)[0]).all()
        led = tables.observations[:, table.slices["led"]]
        assert not led[:, 2:].any()
        led_second += int(led[:, 1].sum())
        tables = env.step(legal_actions(rng, tables.masks))
    assert led_second > 100


@both_games
def test_the_same_hands_are_played_under_sorted_suits(game) -> None:
    """Actions are numbered as the suits are shown: the same moves lead to the same states."""
    plain, sorting = TablesEnv(game, 32), TablesEnv(game, 32, sort_suits=True)
    rng, labels = np.random.default_rng(7), relabelling(game, 4)
    one, other = plain.reset(seed=8), sorting.reset(seed=8)
    for _ in range(60):
        actions = legal_actions(rng, one.masks)
        shown = labels.action[sorting._suits.orders, actions]
        assert other.masks[np.arange(32), shown].all()
        one, other = plain.step(actions), sorting.step(shown)
        assert plain.states.tobytes() == sorting.states.tobytes()
        np.testing.assert_array_equal(one.rewards, other.rewards)


@both_games
def test_the_vector_environment_sorts_as_well(game) -> None:
    plain, sorting = VECTOR[game](8), VECTOR[game](8, sort_suits=True)
    rng, labels = np.random.default_rng(9), relabelling(game, 4)
    one, other = plain.reset(seed=1), sorting.reset(seed=1)
    for _ in range(60):
        actions = legal_actions(rng, one[-1]["action_mask"])
        shown = labels.action[sorting._suits.orders, actions]
        one, other = plain.step(actions), sorting.step(shown)
        np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(one[2], other[2])
        sums = (observation.sum(axis=1) for observation in (one[0], other[0]))
        np.testing.assert_allclose(*sums, rtol=1e-5)


def test_orders_are_all_permutations() -> None:
    assert len({tuple(order) for order in ORDERS.tolist()}) == 24
