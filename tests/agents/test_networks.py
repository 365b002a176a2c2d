import itertools
import subprocess
import sys

import numpy as np
import pytest

from agents.checkpoints import load_checkpoint, save_checkpoint
from agents.networks import Network, load_network, save_network
from bestia_env import engine
from bestia_env.bits import bit
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.suits import ORDERS, relabelling
from bestia_env.view import look
from bestia_env.words import decode

GAMES = ("beast", "bestia")


def random_network(
    game: str, hidden=(16, 12), activation="relu", seed=0, num_players=4, **options
) -> Network:
    rng = np.random.default_rng(seed)
    sizes = [layout(game, num_players).size, *hidden, game_named(game).num_actions]
    weights = tuple(
        (rng.normal(size=(o, i)).astype(np.float32) / 3, rng.normal(size=o).astype(np.float32))
        for i, o in itertools.pairwise(sizes)
    )
    return Network(game, num_players, weights, activation, **options)


def positions(game: str, count=200, moves=6, seed=0):
    """Observations, masks and states of the seat to act after some random moves."""
    table = layout(game, 4)
    states = engine.new_states(game, 4, count=count)
    rng = np.array([seed], np.uint64)
    engine.start_sessions(states, np.arange(count, dtype=np.uint64), -1, 0)
    for i in range(count):
        for _ in range(i % moves):
            if engine.act(states, i, engine.random_legal(states[i], rng)) == engine.HAND_SETTLED:
                engine.deal_next_hand(states, i)
    observations = np.empty((count, table.size), np.float32)
    masks = np.empty((count, game_named(game).num_actions), np.int8)
    sets = np.empty(count, np.uint64)
    engine.observe_batch(states, table.offsets, observations, masks, sets)
    return states, observations, masks


def slow_probabilities(network: Network, observation, mask):
    """The masked softmax by plain numpy, on the suits as they are."""
    values = observation.astype(float)
    for number, (matrix, bias) in enumerate(network.weights):
        values = matrix @ values + bias
        if number < len(network.weights) - 1:
            values = np.tanh(values) if network.activation == "tanh" else np.maximum(values, 0)
    odds = np.where(mask, np.exp(values - values[mask > 0].max()), 0)
    return odds / odds.sum()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    ("hidden", "activation"), [((), "relu"), ((7,), "tanh"), ((9, 5, 8), "relu")]
)
def test_probabilities_are_the_masked_softmax(game, hidden, activation):
    network = random_network(game, hidden, activation, sort_suits=False)
    _, observations, masks = positions(game)
    expected = [slow_probabilities(network, o, m) for o, m in zip(observations, masks)]
    np.testing.assert_allclose(network.probabilities(observations, masks), expected, atol=1e-5)


@pytest.mark.parametrize("game", GAMES)
def test_renamed_suits_give_renamed_probabilities(game):
    network = random_network(game)
    _, observations, masks = positions(game)
    labels = relabelling(game, 4)
    before = network.probabilities(observations, masks)
    for k, order in enumerate(ORDERS):
        row = 8 * k
        observation, mask = np.zeros_like(observations[:1]), np.zeros_like(masks[:1])
        observation[0, labels.observation[k]] = observations[row]
        mask[0, labels.action[k]] = masks[row]
        old, new = (
            decode(o, game=game, num_players=4) for o in (observations[row], observation[0])
        )
        suits = game_named(game).pack.suits
        assert new["trump"] == suits[order[suits.index(old["trump"])]]
        assert new["tricks"] == old["tricks"]
        after = network.probabilities(observation, mask)[0]
        np.testing.assert_allclose(after[labels.action[k]], before[row], atol=1e-6)


@pytest.mark.parametrize("game", GAMES)
def test_actions_are_drawn_as_the_probabilities_say(game):
    network = random_network(game)
    _, observations, masks = positions(game)
    row = int(np.argmax(masks.sum(axis=1)))
    times = 20_000
    rngs = np.arange(times, dtype=np.uint64) * 977
    actions = network.act_batch(
        np.repeat(observations[row : row + 1], times, axis=0),
        np.repeat(masks[row : row + 1], times, axis=0),
        rngs,
    )
    expected = network.probabilities(observations, masks)[row]
    found = np.bincount(actions, minlength=len(expected)) / times
    assert np.abs(found - expected).max() < 4 * 0.5 / times**0.5
    assert not found[masks[row] == 0].any()


@pytest.mark.parametrize("game", GAMES)
def test_a_row_alone_and_a_view_get_the_same_answer(game):
    network = random_network(game, seed=3)
    states, observations, masks = positions(game)
    rngs = np.arange(len(states), dtype=np.uint64)
    moved = rngs.copy()
    together = network.act_batch(observations, masks, moved)
    np.testing.assert_array_equal(moved != rngs, masks.sum(axis=1) > 1)
    views = np.zeros(1, states.dtype)
    for i in range(0, len(states), 9):
        rng = rngs[i : i + 1].copy()
        alone = network.act_batch(observations[i : i + 1], masks[i : i + 1], rng)
        assert alone == together[i]
        assert rng == moved[i]
        rng = rngs[i : i + 1].copy()
        look(states, i, states[i].turn, views, 0)
        legal = sum(bit(action) for action in np.flatnonzero(masks[i]))
        assert network.act_on_view(views, legal, rng) == together[i]
        assert rng == moved[i]


def test_greedy_takes_the_likeliest_and_leaves_the_generators():
    network = random_network("beast", greedy=True)
    _, observations, masks = positions("beast")
    rngs = np.arange(len(masks), dtype=np.uint64)
    actions = network.act_batch(observations, masks, rngs)
    assert (actions == network.probabilities(observations, masks).argmax(axis=1)).all()
    assert (rngs == np.arange(len(masks))).all()


def test_extreme_logits_stay_numbers():
    network = random_network("bestia", ())
    network.weights[0][0][:] *= 1e4
    _, observations, masks = positions("bestia")
    chances = network.probabilities(observations, masks)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_input_of_a_wrong_shape_is_refused():
    network = random_network("bestia")
    _, observations, masks = positions("bestia", count=3)
    rngs = np.zeros(3, np.uint64)
    with pytest.raises(ValueError, match=r"shape \(K, \d+\), not \(3, \d+\)"):
        network.act_batch(observations[:, 1:], masks, rngs)
    with pytest.raises(ValueError, match=r"masks must have shape \(3, 44\), not \(2, 44\)"):
        network.act_batch(observations, masks[1:], rngs)
    with pytest.raises(ValueError, match=r"rngs must have shape \(3,\), not \(1,\)"):
        network.act_batch(observations, masks, rngs[:1])
    masks[1] = 0
    with pytest.raises(ValueError, match="row 1 of the masks has no legal action"):
        network.probabilities(observations, masks)


@pytest.mark.parametrize("legal", [0.5, 256, -1, True])
def test_what_is_not_zero_in_a_mask_is_legal(legal):
    network = random_network("bestia")
    _, observations, masks = positions("bestia")
    np.testing.assert_array_equal(
        network.probabilities(observations, masks.astype(int) * legal),
        network.probabilities(observations, masks),
    )


def test_a_view_of_another_table_is_refused():
    network, rng = random_network("bestia"), np.zeros(1, np.uint64)
    for game, n, message in (
        ("bestia", 10, "plays with 4 players, and the view is of a table with 10"),
        ("beast", 4, "plays bestia, and the view is of another game"),
    ):
        states = engine.new_states(game, n)
        engine.start_sessions(states, np.zeros(1, np.uint64), -1, 0)
        views = np.zeros(1, states.dtype)
        look(states, 0, states[0].turn, views, 0)
        with pytest.raises(ValueError, match=message):
            network.act_on_view(views, 1, rng)
    states, _, _ = positions("bestia", count=1)
    with pytest.raises(ValueError, match="a set of actions that is not empty"):
        network.act_on_view(states, 0, rng)


def test_weights_that_do_not_fit_are_refused():
    good = random_network("bestia", (5,))
    (first, bias), last = good.weights
    with pytest.raises(ValueError, match=r"layer 0 must have weights of shape \(5, \d+\)"):
        Network("bestia", 4, ((first[:, 1:], bias), last))
    with pytest.raises(ValueError, match=r"layer 1 must .* bias of shape\s+\(44,\)"):
        Network("bestia", 4, ((first, bias), (last[0], last[1][1:])))
    with pytest.raises(ValueError, match="layer 0 holds numbers that are not finite"):
        Network("bestia", 4, ((first * np.float32(np.nan), bias), last))
    with pytest.raises(ValueError, match="weights must be of at least one layer"):
        Network("bestia", 4, ())
    with pytest.raises(ValueError, match="the weights of layer 1 are so great that sums could"):
        Network(
            "bestia", 4, ((first * np.float32(1e20), bias), (last[0] * np.float32(1e20), last[1]))
        )
    with pytest.raises(ValueError, match="activation must be one of tanh, relu, not 'gelu'"):
        Network("bestia", 4, good.weights, "gelu")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "options", [{}, {"activation": "tanh", "sort_suits": False}, {"greedy": True}]
)
def test_saved_and_loaded_it_is_the_same(game, options, tmp_path):
    network = random_network(game, **options)
    save_network(tmp_path / "deep" / "net.safetensors", network, seed=3)
    loaded = load_network(tmp_path / "deep" / "net.safetensors", game, 4)
    _, observations, masks = positions(game)
    np.testing.assert_array_equal(
        network.probabilities(observations, masks), loaded.probabilities(observations, masks)
    )
    assert loaded.architecture == network.architecture


@pytest.mark.parametrize(
    ("facts", "game", "num_players", "message"),
    [
        ({}, "beast", 4, "plays bestia, not beast"),
        ({}, "bestia", 5, "plays bestia with 4 players, not 5"),
        ({"num_players": "4"}, "bestia", 4, "plays bestia with '4' players, not 4"),
        (
            {"layout": "0123"},
            "bestia",
            4,
            "version of bestia: its observation layout is 0123",
        ),
        ({"num_actions": 43}, "bestia", 4, "its number of actions is 43, here it is 44"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(facts, game, num_players, message, tmp_path):
    path = tmp_path / "net.safetensors"
    save_network(path, random_network("bestia"), **facts)
    with pytest.raises(ValueError, match=message) as caught:
        load_network(path, game, num_players)
    assert str(path) in str(caught.value)


SOUND = {"hidden": [16, 12], "activation": "relu", "sort_suits": True, "greedy": False}


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (None, "architecture must name hidden, activation, sort_suits, greedy, not None"),
        ([16, 12], r"architecture must name .*, not \[16, 12\]"),
        ({"hidden": [16, 12]}, "must name hidden, activation, sort_suits, greedy"),
        ({**SOUND, "activation": "gelu"}, "activation must be one of tanh, relu, not 'gelu'"),
        ({**SOUND, "activation": ["relu"]}, r"one of tanh, relu, not \['relu'\]"),
        ({**SOUND, "sort_suits": "false"}, "sort_suits must be True or False, not 'false'"),
        ({**SOUND, "sort_suits": 1}, "sort_suits must be True or False, not 1"),
        ({**SOUND, "greedy": 0}, "greedy must be True or False, not 0"),
        ({**SOUND, "hidden": "16"}, "hidden must be a list of widths, not '16'"),
        ({**SOUND, "hidden": [16.0, 12]}, "hidden must be a list of widths"),
        ({**SOUND, "hidden": [16, 13]}, r"hidden is \[16, 13\], but .* widths \[16, 12\]"),
        ({**SOUND, "hidden": [16]}, "has .*layers.2.bias.* too many"),
        ({**SOUND, "hidden": [16, 12, 1]}, "lacks tensors .*layers.3.bias"),
    ],
)
def test_an_unsound_architecture_is_refused(architecture, message, tmp_path):
    path = tmp_path / "net.safetensors"
    save_network(path, random_network("bestia"), architecture=architecture)
    with pytest.raises(ValueError, match=message) as caught:
        load_network(path, "bestia", 4)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": np.ones(1, np.float32)}, r"has \['extra'\] too many"),
        ({"layers.0.bias": np.zeros(16)}, "layer 0 must be float32, not float32, float64"),
        ({"layers.1.bias": np.zeros((12, 1), np.float32)}, "layer 1 must have"),
        ({"layers.2.bias": np.float32(0)}, "layer 2 must have"),
    ],
)
def test_unsound_tensors_are_refused(change, message, tmp_path):
    path = tmp_path / "net.safetensors"
    save_network(path, random_network("bestia"))
    tensors, facts = load_checkpoint(path)
    del facts["weights_sha256"]
    save_checkpoint(path, {**tensors, **change}, facts)
    with pytest.raises(ValueError, match=message):
        load_network(path, "bestia", 4)


def test_inference_needs_no_torch():
    code = "import agents.policies, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
