"""The batch kernels, the generator under them, and that it does not matter how they are run."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from bestia_env import engine, rng
from bestia_env.games import GAMES
from bestia_env.rules import bestia
from bestia_env.rules.table import MAX_COINS
from bestia_env.words import decode, describe
from tests.sessions import OPTIONS, TABLES, Batch, Table, members, random_session, walk

ROOT = Path(__file__).resolve().parents[1]


# One by one, and all at once.


def random_rules(random: Random, game: str) -> object:
    return GAMES[game].rules(**{k: random.choice(values) for k, values in OPTIONS[game].items()})


def batches(game: str, num_players: int, count: int = 1) -> Iterator[Batch]:
    rules = random_rules(Random(num_players), game)
    return (Batch(game, num_players, 24, num_players, rules) for _ in range(count))


def step_alone(batch: Batch, i: int, action: int, num_hands: int, as_equity: bool) -> None:
    """What `step_batch` does to one state, by the kernels for one."""
    states = batch.states
    settled = engine.act(states, i, action) == engine.HAND_SETTLED
    batch.rewards[i], batch.ended[i] = 0, settled
    if settled:
        engine.write_rewards(states, i, as_equity, batch.rewards[i])
        if states[i].hand_number + 1 < num_hands:
            engine.deal_next_hand(states, i)
        else:
            batch.ended[i] = 2
            key = np.uint64(rng.draw(batch.generators[i : i + 1]))
            engine.start_session(states, i, key, -1, 0)
    observe_alone(batch, i)


def observe_alone(batch: Batch, i: int) -> None:
    observation, mask = batch.observations[i], batch.masks[i]
    observation[:], mask[:] = -1, -1
    engine.observe(
        batch.states, i, batch.states["turn"][i], batch.layout.offsets, observation, mask
    )
    batch.legal_sets[i] = engine.legal_actions(batch.states, i)
    assert np.flatnonzero(mask).tolist() == sorted(members(int(batch.legal_sets[i])))


@pytest.mark.parametrize("as_equity", [True, False])
@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_a_batch_steps_as_its_states_do_alone(game: str, num_players: int, as_equity: bool) -> None:
    together, alone = batches(game, num_players, 2)
    together.observe()
    seen = set()
    for _ in range(120):
        actions = together.random_actions()
        together.step(actions, 2, as_equity)
        for i, action in enumerate(actions):
            step_alone(alone, i, action, 2, as_equity)
        for mine, theirs in zip(together.arrays(), alone.arrays()):
            assert mine.tobytes() == theirs.tobytes()
        assert (together.rewards.any(axis=1) <= (together.ended > 0)).all()
        seen |= set(together.ended.tolist())
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("game", GAMES)
def test_a_batch_is_observed_as_its_states_are_alone(game: str) -> None:
    together, alone = batches(game, 4, 2)
    for batch in (together, alone):
        for i in range(0, 24, 2):  # every second one is a few moves on
            for _ in range(i % 7):
                engine.act(batch.states, i, engine.random_legal(batch.states[i], batch.rng))
    together.observe()
    for i in range(24):
        observe_alone(alone, i)
    assert together.observations.tobytes() == alone.observations.tobytes()
    assert together.masks.tobytes() == alone.masks.tobytes()
    assert len({row.tobytes() for row in together.observations}) == 24


@pytest.mark.parametrize("game", GAMES)
def test_sessions_start_alike_together_and_alone(game: str) -> None:
    together, alone = (engine.new_states(game, 5, count=8) for _ in range(2))
    keys = rng.seed_sequence_keys(1, 8)
    engine.start_sessions(together, keys, -1, 9)
    for i in range(8):
        engine.start_session(alone, i, keys[i], -1, 9)
    assert together.tobytes() == alone.tobytes()
    assert (together["carried"] == 9).all() and len(set(together["dealer"].tolist())) > 1


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_action_changes_nothing(game: str) -> None:
    random = Random(3)
    for table in walk(Table(random_session(random, game, 4)), random):
        if table.turn < 0:
            continue
        before, legal = table.states.tobytes(), table.legal()
        for action in set(range(64)) - set(legal):
            assert engine.act_if_legal(table.states, 0, action) == engine.ILLEGAL
        assert table.states.tobytes() == before
        copy = table.states.copy()
        assert engine.act_if_legal(copy, 0, legal[0]) != engine.ILLEGAL
        assert copy.tobytes() != before


@pytest.mark.parametrize("game", GAMES)
def test_an_annulled_hand_leaves_coins_and_pot_as_they_were(game: str) -> None:
    random = Random(4)
    for table in walk(Table(random_session(random, game, 4)), random):
        if table.turn < 0:
            continue
        states = table.states.copy()
        engine.annul_hand(states, 0)
        assert states["pot"][0] == table.read("carried")
        assert (states["coins"] == table.states["coins"]).all()
        assert states["turn"][0] == -1 and not states["gains"].any()


# However it is run.


def digest(**environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.digest"],
        cwd=ROOT,
        env=clean | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compiled() -> str:
    return digest(PYTHONHASHSEED="0")


def test_plain_python_gives_the_same(compiled: str) -> None:
    assert len(compiled.splitlines()) == 6 * len(TABLES)
    assert digest(NUMBA_DISABLE_JIT="1", PYTHONHASHSEED="0") == compiled


def test_the_hash_seed_changes_nothing(compiled: str) -> None:
    assert digest(PYTHONHASHSEED="1") == compiled


@pytest.mark.slow  # compiles all kernels once more
def test_no_index_is_out_of_bounds(compiled: str) -> None:
    assert digest(NUMBA_BOUNDSCHECK="1") == compiled


# The generator.


def excess(observed: np.ndarray, expected: np.ndarray | float, freedom: float) -> float:
    """How many standard deviations chi-square is too great; Wilson and Hilferty's cube root."""
    square = (((observed - expected) ** 2) / expected).sum()
    spread = 2 / (9 * freedom)
    return abs(((square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def state(value: int) -> np.ndarray:
    return np.array([value], np.uint64)


def test_draw_is_splitmix64() -> None:
    generator = state(1234567)
    drawn = [int(rng.draw(generator)) for _ in range(3)]
    assert drawn == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 52, 1000])
def test_below_is_uniform(n: int) -> None:
    generator, draws = state(n), 400 * n if n < 100 else 40_000
    drawn = [rng.below(generator, n) for _ in range(draws)]
    assert set(drawn) <= set(range(n))
    counts = np.bincount(drawn, minlength=n)
    assert n == 1 or excess(counts, draws / n, n - 1) < 4


def test_below_has_no_bias_where_a_product_alone_would() -> None:
    """Of 2**32 products with 3 * 2**30, every third quotient comes twice; it has to be rejected."""
    generator, n = state(1), 3 << 30
    thirds = np.bincount([rng.below(generator, n) % 3 for _ in range(9000)], minlength=3)
    assert excess(thirds, 3000, 2) < 4
    assert max(rng.below(generator, 2**32 - 1) for _ in range(100)) < 2**32 - 1


def test_unit_is_in_range_and_uniform() -> None:
    generator = state(2)
    drawn = np.array([rng.unit(generator) for _ in range(20_000)])
    assert drawn.min() >= 0 and drawn.max() < 1
    assert excess(np.bincount((drawn * 50).astype(int), minlength=50), 400, 49) < 4
    assert len(set(drawn.tolist())) == drawn.size


def test_streams_are_independent() -> None:
    """Neighbouring keys and uses share no numbers, and half of the bits of what they draw."""
    keys, uses = range(40), range(40)
    drawn = np.array(
        [
            [[int(rng.draw(g)) for _ in range(4)] for g in [state(int(rng.stream(key, use)))]]
            for key in keys
            for use in uses
        ],
        np.uint64,
    ).reshape(40, 40, 4)
    assert len(np.unique(drawn)) == drawn.size
    for axis in range(3):
        a, b = np.moveaxis(drawn, axis, 0)[:-1], np.moveaxis(drawn, axis, 0)[1:]
        bits = np.bitwise_count(a ^ b)
        assert abs(bits.mean() - 32) < 4 * 4 / bits.size**0.5
        assert bits.max() < 64 and bits.min() > 0


def test_session_keys_come_from_a_seed_sequence() -> None:
    keys = rng.seed_sequence_keys(5, 3)
    assert keys.tolist() == np.random.SeedSequence(5).generate_state(3, np.uint64).tolist()
    assert rng.seed_sequence_keys(None, 3).tolist() != rng.seed_sequence_keys(None, 3).tolist()


# The deal.


def dealt(game: str, num_players: int, count: int) -> np.ndarray:
    states = engine.new_states(game, num_players, count=count)
    engine.start_sessions(states, rng.seed_sequence_keys(11, count), -1, 0)
    return states


@pytest.mark.parametrize(("game", "num_players"), [("beast", 6), ("bestia", 10)])
def test_every_card_comes_to_every_place(game: str, num_players: int) -> None:
    count, cards = 20_000, GAMES[game].pack.size
    states = dealt(game, num_players, count)
    places = int(states["dealt"][0])
    assert places == 1 + num_players * GAMES[game].tricks(num_players)
    for place in range(places):
        counts = np.bincount(states["pack"][:, place], minlength=cards)
        assert excess(counts, count / cards, cards - 1) < 4.5
    pairs = states["pack"][:, 0].astype(int) * cards + states["pack"][:, places - 1]
    counts = np.bincount(pairs, minlength=cards * cards).reshape(cards, cards)
    assert not counts.diagonal().any()
    different = counts[~np.eye(cards, dtype=bool)]
    assert excess(different, count / different.size, different.size - 1) < 4


@pytest.mark.parametrize("game", GAMES)
def test_b_14_i_15_every_seat_is_as_likely_to_deal(game: str) -> None:
    counts = np.bincount(dealt(game, 6, 12_000)["dealer"], minlength=6)
    assert excess(counts, 2000, 5) < 4


def test_bestia_21_gathered_cards_are_shuffled() -> None:
    """Ten pass and six exchange, so that the dealer gathers; every card comes to every place."""
    states = dealt("bestia", 10, 6000)
    for action in [bestia.PASS] * 10 + [bestia.EXCHANGE] * 6:
        for i in range(states.size):
            engine.act(states, i, action)
    assert states["gathered"].all()
    heaps = states["heap"]
    assert (np.sort(heaps, axis=1) == np.arange(40)).all()
    for place in range(40):
        assert excess(np.bincount(heaps[:, place], minlength=40), 150, 39) < 4.5
    assert not (heaps[:, 0] == states["pack"][:, 0]).all()


# Coins in the observation.


@pytest.mark.parametrize("game", GAMES)
def test_describe_gives_the_pot_back_exactly(game: str) -> None:
    table = Table(random_session(Random(1), game, 4))
    random = Random(2)
    pots = [0, 1, 2**53 + 1, 2**60 - 1, *(4096**k + d for k in range(1, 5) for d in (-1, 0, 1))]
    for pot in pots + [random.randrange(2**60) for _ in range(200)]:
        table.states["pot"] = pot
        table.observe(table.turn)
        words = describe(table.observation, game=game, num_players=4)
        assert f"pot: {pot}" in words.splitlines()
        assert (table.observation <= table.layout.high).all()


def test_describe_gives_the_stake_back_exactly() -> None:
    table = Table(random_session(Random(1), "bestia", 4))
    for stake in (3, 4095, 4098, 999_999, MAX_COINS - 1):
        table.states["stake"] = stake
        table.observe(table.turn)
        assert decode(table.observation, game="bestia", num_players=4)["stake"] == stake


# Playouts.


def test_playouts_refuse_what_they_cannot_play() -> None:
    assert engine.playouts("beast", 4, 0, seed=1) == {"hands": 0, "moves": 0}
    for game, num_players, num_hands, word in [
        ("beast", 4, -1, "num_hands"),
        ("beast", 3, 1, "num_players"),
        ("bestia", 11, 1, "num_players"),
        ("whist", 4, 1, "game"),
    ]:
        with pytest.raises(ValueError, match=word):
            engine.playouts(game, num_players, num_hands)
