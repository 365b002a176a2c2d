"""Many hands at once are the single environments, bit for bit, and credit goes where it is due."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from bestia_env._jit import jit
from bestia_env.bits import highest, lowest
from bestia_env.single import BeastEnv, BestiaEnv
from bestia_env.vector import (
    BeastVectorEnv,
    BestiaVectorEnv,
    TablesEnv,
    seat_advantages,
)
from tests.sessions import OPTIONS, TABLES

SINGLE = {"beast": BeastEnv, "bestia": BestiaEnv}
VECTOR = {"beast": BeastVectorEnv, "bestia": BestiaVectorEnv}
both_games = pytest.mark.parametrize("game", SINGLE)
MODES = pytest.mark.parametrize("mode", list(AutoresetMode))


@jit
def highest_card(view, legal, rng):
    """Fails at tables of three and five; one function, since each takes long to compile."""
    if view.num_players == 5:
        raise ArithmeticError("spoilt")
    return highest(legal) if view.num_players != 3 else lowest(~legal)


class HighestCard:
    def act(self, view, legal, rng):
        return int(highest_card(view[0], legal, rng))


def legal_actions(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """A legal action where there is one, else 0."""
    return np.array([rng.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks])


def assert_alike(ours, theirs) -> None:
    """Observations, rewards, flags and infos, types and all."""
    assert data_equivalence(list(ours)[:-1], list(theirs)[:-1])
    mine, other = ours[-1], theirs[-1]
    assert mine.keys() == other.keys()
    for key in other:
        if key == "final_obs":
            for a, b in zip(mine[key], other[key], strict=True):
                assert (a is None and b is None) or np.array_equal(a, b)
        elif key == "final_info":
            assert_alike((mine[key],), (other[key],))
        else:
            assert mine[key].dtype == other[key].dtype
            np.testing.assert_array_equal(mine[key], other[key])


def play_both(game, mode, steps, break_rules=False, opponents=(None, None), **settings) -> None:
    count = 5
    sync = SyncVectorEnv(
        [lambda: SINGLE[game](opponents=opponents[0], **settings)] * count, autoreset_mode=mode
    )
    ours = VECTOR[game](count, opponents=opponents[1], autoreset_mode=mode, **settings)
    assert ours.single_observation_space == sync.single_observation_space
    assert ours.observation_space == sync.observation_space
    assert ours.action_space == sync.action_space
    assert ours.metadata["autoreset_mode"] is mode
    rng = np.random.default_rng(0)
    told, theirs = ours.reset(seed=3), sync.reset(seed=3)
    assert_alike(told, theirs)
    for step in range(steps):
        actions = legal_actions(rng, told[-1]["action_mask"])
        if break_rules and step % 7 == 3:
            actions[step % count] = ours.single_action_space.n - 1
        told, theirs = ours.step(actions), sync.step(actions)
        assert_alike(told, theirs)
        if mode is AutoresetMode.DISABLED and told[2].any():
            mask = told[2].copy()
            told = ours.reset(options={"reset_mask": mask})
            theirs = sync.reset(options={"reset_mask": mask.copy()})
            np.testing.assert_array_equal(told[0], theirs[0])
            np.testing.assert_array_equal(
                told[1]["action_mask"][mask], theirs[1]["action_mask"][mask]
            )


@both_games
@MODES
def test_it_is_the_single_environment_many_times(game, mode) -> None:
    play_both(game, mode, 1000)


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_with_every_number_of_players(game, num_players) -> None:
    settings = {"num_players": num_players, "num_hands": 3, "seat": num_players - 1}
    play_both(game, AutoresetMode.SAME_STEP, 100, **settings)


@pytest.mark.parametrize(
    ("game", "option", "value"),
    [(g, o, v) for g, options in OPTIONS.items() for o, values in options.items() for v in values],
)
def test_with_every_option(game, option, value) -> None:
    settings = {"num_hands": 2, "reward": "coins", option: value}
    play_both(game, AutoresetMode.NEXT_STEP, 60, **settings)


@both_games
@MODES
def test_illegal_actions_cost_the_same(game, mode) -> None:
    play_both(game, mode, 100, break_rules=True, num_hands=2)


@pytest.mark.parametrize("game", ["bestia", pytest.param("beast", marks=pytest.mark.slow)])
def test_opponents_of_ones_own(game) -> None:
    opponents = (HighestCard(), highest_card)
    play_both(game, AutoresetMode.NEXT_STEP, 100, opponents=opponents, num_hands=2)


@both_games
def test_gymnasium_makes_it(game) -> None:
    envs = gymnasium.make_vec(f"bestia_env/{game.capitalize()}-v0", num_envs=3, num_players=5)
    assert isinstance(envs, VECTOR[game])
    observations, infos = envs.reset(seed=7)
    assert len({observation.tobytes() for observation in observations}) == 3
    assert infos["action_mask"].dtype == np.int8
    actions = envs.action_space.sample(mask=tuple(infos["action_mask"]))
    envs.step(actions)
    assert (envs.action_masks().sum(axis=1) > 0).all()


@both_games
def test_seeds_are_sequences_too_and_streams_go_on(game) -> None:
    ours = VECTOR[game](3)
    first, _ = ours.reset(seed=[5, np.int64(6), 7])
    same, _ = ours.reset(seed=5)
    assert np.array_equal(first, same)
    later, _ = ours.reset()
    assert not np.array_equal(later, same)
    again, _ = ours.reset(seed=5)
    assert np.array_equal(again, same)
    assert np.array_equal(ours.reset()[0], later)


@both_games
def test_arrays_are_fresh(game) -> None:
    ours = VECTOR[game](4, autoreset_mode="SameStep")
    told = [ours.reset(seed=1)]
    rng = np.random.default_rng(1)
    for _ in range(3):
        told.append(ours.step(legal_actions(rng, told[-1][-1]["action_mask"])))
    for one, other in itertools.combinations(told, 2):
        assert not np.shares_memory(one[0], other[0])
        for key in one[-1].keys() & other[-1].keys():
            assert not np.shares_memory(one[-1][key], other[-1][key])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer of at least 1, not 0"),
        ({"num_envs": True}, "num_envs must be an integer of at least 1, not True"),
        ({"num_players": 99}, "num_players of bestia must be an integer from 3 to 10, not 99"),
        ({"seat": 4}, "seat must be from 0 to 3, not 4"),
        ({"num_hands": 0}, "num_hands must be an integer of at least 1, not 0"),
        ({"num_hands": 2**63}, "num_hands must be an integer of at least 1, not 9"),
        ({"reward": "win"}, "reward must be one of 'equity', 'coins', not 'win'"),
        ({"illegal_action": "no"}, "illegal_action must be one of"),
        ({"autoreset_mode": "never"}, "autoreset_mode must be one of 'NextStep'"),
        ({"opponents": HighestCard()}, "opponents must be None or a function act"),
        ({"opponents": jit(lambda view, legal: 0)}, "opponents must be None or a function act"),
        ({"stake": 4}, "stake must be an integer from 3"),
    ],
)
def test_settings_that_are_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        BestiaVectorEnv(**settings)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([40, 40], r"integers of shape \(3,\), not int64 of shape \(2,\)"),
        ([40.0, 40.0, 40.0], r"integers of shape \(3,\), not float64"),
        ([40, 44, 40], "from 0 to 43, not 44 in sub-environment 1"),
        ([40, 40, -1], "from 0 to 43, not -1 in sub-environment 2"),
        ([0, 40, 40], r"action 0 is not legal at table 0: the legal actions are PASS KNOCK"),
    ],
)
def test_actions_that_are_refused(actions, message) -> None:
    ours = BestiaVectorEnv(3, illegal_action="raise")
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        ours.step(np.full(3, 40))
    ours.reset(seed=0)
    before = ours._seats.states.tobytes()
    with pytest.raises(ValueError, match=message):
        ours.step(np.array(actions))
    assert ours._seats.states.tobytes() == before


@pytest.mark.parametrize(
    ("num_players", "error", "message"),
    [(3, RuntimeError, "not legal in sub-environment"), (5, ArithmeticError, "spoilt")],
)
def test_opponents_that_fail(num_players, error, message) -> None:
    ours = BestiaVectorEnv(2, num_players=num_players, opponents=highest_card)
    with pytest.raises(error, match=message):
        for seed in range(9):
            ours.reset(seed=seed)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        ours.step(np.full(2, 40))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"seed": np.array(5)}, "seed must be None, an integer, or 3 of them"),
        ({"seed": b"abc"}, "seed must be None, an integer, or 3 of them"),
        ({"seed": [1, 2]}, "seed must be None, an integer, or 3 of them"),
        ({"seed": -1}, "seed must be None or an integer of at least 0"),
        ({"options": 5}, "options must be None or a dict, not 5"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "one of them True"),
        ({"options": {"reset_mask": np.ones(2, bool)}}, r"booleans of shape \(3,\)"),
    ],
)
def test_resets_that_are_refused(call, message) -> None:
    ours = BestiaVectorEnv(3)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        ours.action_masks()
    ours.reset(seed=0)
    before = ours._seats.states.tobytes()
    with pytest.raises(ValueError, match=message):
        ours.reset(**call)
    assert ours._seats.states.tobytes() == before


def test_stepping_a_finished_episode_without_autoreset() -> None:
    ours = BestiaVectorEnv(2, autoreset_mode="Disabled")
    told = ours.reset(seed=0)
    rng = np.random.default_rng(0)
    while True:
        told = ours.step(legal_actions(rng, told[-1]["action_mask"]))
        if told[2].any():
            break
    with pytest.raises(RuntimeError, match="is over: reset it first"):
        ours.step(np.zeros(2, int))
    options = {"reset_mask": told[2]}
    ours.reset(options=options)
    assert "reset_mask" in options


# Every seat a learner's.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_tables_are_honest_and_whole(game, num_players) -> None:
    """The seat to act sees its own view, and the rewards of every hand sum to zero."""
    env = TablesEnv(game, 16, num_players, num_hands=3)
    rng = np.random.default_rng(0)
    tables = env.reset(seed=1)
    ended = 0
    for _ in range(150):
        to_act = tables.observations[:, env.layout.slices["to_act"]]
        assert (to_act.argmax(axis=1) == 0).all()  # the observer is always the one to act
        assert (tables.seats == env.states["turn"]).all()
        tables = env.step(legal_actions(rng, tables.masks))
        settled = tables.ended > 0
        ended += np.bincount(tables.ended, minlength=3)
        np.testing.assert_allclose(tables.rewards.sum(axis=1), 0, atol=1e-9)
        assert not tables.rewards[~settled].any()
    assert ended[1] > 0
    assert ended[2] > 0


def test_tables_refuse_what_is_illegal_and_change_nothing() -> None:
    env = TablesEnv("bestia", 2)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(np.array([40, 40]))
    env.reset(seed=0)
    before = env.states.tobytes()
    for action in (-1, 0, 44, 200):
        with pytest.raises(ValueError, match=f"action {action} is not legal at table 1"):
            env.step(np.array([40, action]))
    assert env.states.tobytes() == before


def slow_advantages(values, seats, rewards, ended, gamma, lam):
    """By the definition: each seat's own decisions of each hand as an episode of their own."""
    steps, tables, num_players = rewards.shape
    advantages, known = np.zeros((steps, tables)), np.zeros((steps, tables), bool)
    for b, seat in itertools.product(range(tables), range(num_players)):
        first = 0
        for last in np.flatnonzero(ended[:, b]):
            mine = [t for t in range(first, last + 1) if seats[t, b] == seat]
            for k, t in enumerate(mine):
                known[t, b] = True
                for j, now in enumerate(mine[k:]):
                    until = mine[k + j + 1] if k + j + 1 < len(mine) else None
                    following = values[until, b] if until is not None else 0.0
                    reward = rewards[now : until or last + 1, b, seat].sum()
                    error = reward + gamma * following - values[now, b]
                    advantages[t, b] += (gamma * lam) ** j * error
            first = last + 1
    return advantages, known


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (1.0, 0.0)])
def test_advantages_are_those_of_each_seat_alone(gamma, lam) -> None:
    """Seats may act twice in a row, or never, and hands may hang over the edge."""
    rng = np.random.default_rng(5)
    shape = (40, 6)
    values, seats = rng.normal(size=shape), rng.integers(0, 3, shape)
    ended = rng.random(shape) < 0.15
    rewards = rng.normal(size=(*shape, 3)) * ended[..., None]
    ours = seat_advantages(values, seats, rewards, ended, gamma, lam)
    theirs = slow_advantages(values, seats, rewards, ended, gamma, lam)
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    assert not ours[1].all()


@both_games
def test_a_seat_is_credited_with_its_own_reward_on_real_hands(game) -> None:
    """With lambda 1 and no critic every decision's advantage is its seat's reward of the hand."""
    env = TablesEnv(game, 8, num_hands=2)
    rng = np.random.default_rng(0)
    tables, rows = env.reset(seed=2), []
    for _ in range(80):
        seats = tables.seats
        tables = env.step(legal_actions(rng, tables.masks))
        rows.append((seats, tables.rewards, tables.ended))
    seats, rewards, ended = (np.array(column) for column in zip(*rows, strict=True))
    advantages, known = seat_advantages(np.zeros(seats.shape), seats, rewards, ended, lam=1.0)
    for b in range(8):
        hand = 0
        for t in range(80):
            last = t + int(np.argmax(ended[t:, b] > 0)) if (ended[t:, b] > 0).any() else None
            assert known[t, b] == (last is not None)
            if last is not None:
                assert advantages[t, b] == pytest.approx(rewards[last, b, seats[t, b]])
                hand += last == t
        assert hand > 2


def test_advantages_of_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="one shape"):
        seat_advantages(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 2, 4)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="seats must be from 0 to 3"):
        seats = np.full((2, 3), 4)
        seat_advantages(np.zeros((2, 3)), seats, np.zeros((2, 3, 4)), np.zeros((2, 3)))
