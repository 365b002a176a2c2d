"""The AEC environments: PettingZoo's own tests, and the faults that users of others reported."""

import copy
import inspect
import itertools
import multiprocessing
import pickle
import threading
import warnings
from types import ModuleType

import numpy as np
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from bestia_env import BestiaRules, beast_v0, bestia_v0
from bestia_env.games import GAMES
from bestia_env.observe import layout, state_pieces
from bestia_env.rules import beast, bestia
from tests.sessions import OPTIONS, TABLES

with warnings.catch_warnings():  # it imports an environment of its own in a way that it deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test, state_test

MODULES: dict[str, ModuleType] = {"beast": beast_v0, "bestia": bestia_v0}
OPTION_VALUES = [
    (game, option, value)
    for game, options in OPTIONS.items()
    for option, values in options.items()
    for value in values
]
COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone": lambda env: env.unwrapped.clone(),
}
NO_ACTIONS = (-1, 58, 10**30, 1.5, np.float64(2), "x", None, np.array([1]), np.arange(2), [3])
both_games = pytest.mark.parametrize("game", MODULES)
both_doors = pytest.mark.parametrize("door", ["env", "raw_env"])


def make(game, num_players=4, door="env", **keywords):
    return getattr(MODULES[game], door)(num_players=num_players, **keywords)


def begun(game, num_players=4, door="env", seed=0, options=None, **keywords):
    """An environment whose first hand is dealt."""
    env = make(game, num_players, door, **keywords)
    env.reset(seed=seed, options=options)
    return env


def is_over(env):
    return not env.agents or any(env.terminations.values())


def mask(env):
    return env.observe(env.agent_selection)["action_mask"]


def play(env, rng, moves=10**6):
    """Random legal actions, so many or to the session's end; returns them as (agent, action)."""
    done = []
    while not is_over(env) and len(done) < moves:
        done.append((env.agent_selection, int(rng.choice(np.flatnonzero(mask(env))))))
        env.step(done[-1][1])
    return done


def snapshot(env):
    """All that an environment tells, in a form that can be compared."""
    table = env.unwrapped
    books = (
        *(table.agents, table.agent_selection, table.rewards, table._cumulative_rewards),
        *(table.terminations, table.truncations, table.infos),
        *(table.history, table.last_history, table.hand_over),
    )
    seen = [array.tobytes() for a in table.possible_agents for array in table.observe(a).values()]
    return repr(books), seen, table.state().tobytes()


def everything(env):
    """All that an environment tells, and all that it holds."""
    return snapshot(env), env.unwrapped.states.tobytes(), repr(env.unwrapped._deals)


def trace(env, seed):
    """Snapshots of random play to the session's end, and of the next deal."""
    rng, snapshots = np.random.default_rng(seed), [snapshot(env)]
    while play(env, rng, 1):
        snapshots.append(snapshot(env))
    env.reset()
    return [*snapshots, snapshot(env)]


# PettingZoo's own tests.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_pettingzoo_api(game, num_players):
    api_test(make(game, num_players, num_hands=2), num_cycles=25)
    api_test(make(game, num_players, "raw_env"), num_cycles=5)


@pytest.mark.parametrize(("game", "option", "value"), OPTION_VALUES)
def test_pettingzoo_api_with_every_option_value(game, option, value):
    api_test(make(game, num_hands=3, **{option: value}), num_cycles=25)


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_pettingzoo_seed(game, num_players):
    seed_test(lambda: make(game, num_players, num_hands=3), num_cycles=25)


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_pettingzoo_parallel_api(game, num_players):
    parallel_api_test(turn_based_aec_to_parallel(make(game, num_players)), num_cycles=100)


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_pettingzoo_state(game, num_players):
    parallel = turn_based_aec_to_parallel(make(game, num_players))
    state_test(make(game, num_players), parallel, num_cycles=5)
    env = begun(game, num_players, num_hands=2)
    for _ in env.agent_iter():
        assert env.state_space.contains(env.state())
        env.step(None if is_over(env) else int(np.flatnonzero(mask(env))[0]))


@pytest.mark.extras
@both_games
@both_doors
def test_pettingzoo_render(game, door, monkeypatch):
    monkeypatch.setitem(MODULES[game].raw_env.metadata, "render_fps", 10**6)
    render_test(getattr(MODULES[game], door))


# The life of a session.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_all_end_together_and_take_one_dead_step_each(game, num_players):
    env = begun(game, num_players, num_hands=2)
    play(env, np.random.default_rng(1))
    assert env.agents == env.possible_agents
    assert set(env.terminations.values()) == {True} and set(env.truncations.values()) == {False}
    assert env.unwrapped.hand_over
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)
    for left in range(num_players, 0, -1):
        before = everything(env)
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        assert everything(env) == before
        assert env.num_agents == left and env.last()[2:4] == (True, False)
        env.step(None)
        assert not env.unwrapped.hand_over  # so that whoever counts hands counts this one once
    assert env.agents == [] == list(env.rewards) == list(env.infos) == list(env.terminations)


@both_games
def test_one_environment_plays_many_sessions(game):
    env, rng = make(game, 5), np.random.default_rng(2)
    for session in range(60):
        env.reset(seed=session if session % 3 else None, options={"dealer": session % 5})
        first = session % 5 if game == "beast" else (session + 1) % 5
        assert env.agent_selection == f"player_{first}"
        assert env.agents == env.possible_agents and not is_over(env)
        play(env, rng, 10**6 if session % 4 else session % 7)  # some are given up in mid-hand
        for _ in range(session % 6 if is_over(env) else 0):
            if env.agents:
                env.step(None)


@both_games
def test_agent_iter(game):
    env = begun(game)
    agents = []
    for agent in env.agent_iter(3):
        agents.append(agent)
        env.step(int(np.flatnonzero(mask(env))[0]))
    assert len(agents) == 3 and not is_over(env)
    iterator = iter(env.agent_iter())
    next(iterator)
    with pytest.raises(AssertionError, match=r"need to call step\(\) or reset\(\)"):
        next(iterator)
    env.reset()
    heard = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        done = terminated or truncated
        env.step(None if done else int(np.flatnonzero(observation["action_mask"])[0]))
        heard += 1
    assert heard > 4 and env.agents == []


@both_games
def test_before_reset_and_after_the_end(game, caplog):
    env, raw = make(game), make(game, door="raw_env")
    for name in ("agents", "agent_selection", "rewards", "terminations", "infos", "num_agents"):
        with pytest.raises(AttributeError, match="reset"):
            getattr(env, name)
    agent = env.possible_agents[0]
    for call in (env.render, env.state, env.last, env.agent_iter):
        with pytest.raises((AttributeError, AssertionError), match="reset"):
            call()
    for call in (env.step, env.observe):
        with pytest.raises((AttributeError, AssertionError), match="reset"):
            call(agent)
    for call in (raw.last, lambda: raw.step(0)):
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            call()
    for table in (env, raw):
        table.close()
        table.reset(seed=0)
        play(table, np.random.default_rng(0))
        while table.agents:
            table.step(None)
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            table.last()
        table.close()
        table.close()
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        raw.step(None)
    env.step(None)
    assert "Should reset() first" in caplog.text
    env.reset()
    assert env.agents


def test_who_is_out_of_a_hand_is_not_selected():
    """Every set of participants, at three to five players; seat 0 deals."""
    for n in (3, 4, 5):
        env = make("bestia", n, "raw_env")
        for knocks in itertools.product((False, True), repeat=n):
            env.reset(seed=n, options={"dealer": 0})
            order = [*range(1, n), 0]
            for seat in order:
                assert env.agent_selection == f"player_{seat}"
                env.step(bestia.KNOCK if knocks[seat] else bestia.PASS)
            for seat in order:
                if not knocks[seat]:
                    assert env.agent_selection == f"player_{seat}"
                    env.step(bestia.REFUSE)
            playing = [seat for seat in order if knocks[seat]]
            assert is_over(env) == (len(playing) < 2)
            assert env.agents == env.possible_agents
            if len(playing) == 1:
                gain = env.unwrapped.rewards[f"player_{playing[0]}"]
                assert gain == (0 if playing == [0] else 3)  # seat 0 has staked them itself
            if is_over(env):
                continue
            for agent in env.agents:
                seen = env.observe(agent)["observation"][env.observation_pieces["playing"]]
                seat = env.possible_agents.index(agent)
                assert [(seat + i) % n in playing for i in range(n)] == list(map(bool, seen))
            for seat in playing:
                assert env.agent_selection == f"player_{seat}"
                env.step(int(np.flatnonzero(mask(env))[0]))


def test_one_seat_may_act_several_times_in_a_row():
    env = begun("beast", options={"dealer": 2})
    for action in (beast.TAKE, None, beast.PLAY):
        assert env.agent_selection == "player_2" and env.last()[1] == 0
        env.step(int(np.flatnonzero(mask(env))[0]) if action is None else action)
    assert env.agent_selection == "player_3"


# Seeds.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_a_seed_gives_the_same_sessions(game, num_players):
    env, other = (make(game, num_players, num_hands=2) for _ in range(2))
    other.reset(seed=99)
    play(other, np.random.default_rng(9), 7)
    deals = []
    for table, seed in ((env, 5), (other, np.int64(5)), (env, np.uint8(5)), (other, 6)):
        table.reset(seed=seed)
        deals.append([trace(table, 1) for _ in range(3)])
    assert deals[0] == deals[1] == deals[2] != deals[3]
    first, second, third = (traced[0] for traced in deals[0])
    assert first[1] != second[1] != third[1] != first[1]  # later sessions are dealt anew


@both_games
def test_without_a_seed_every_environment_deals_differently(game):
    env, other = begun(game, seed=None), begun(game, seed=None)
    assert env.state().tobytes() != other.state().tobytes()


@both_games
@pytest.mark.parametrize("seed", [-1, 1.0, "1", np.float64(1), True, [1]])
def test_malformed_seeds_change_nothing(game, seed):
    env = begun(game, seed=3)
    twin, before = copy.deepcopy(env), everything(env)
    with pytest.raises(ValueError, match="seed must be None or an integer of at least 0"):
        env.reset(seed=seed, options={"pot": 3})
    assert everything(env) == before
    assert trace(env, 0) == trace(twin, 0)


@both_games
def test_spaces_are_the_same_objects_for_ever(game):
    env = begun(game)
    before = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
    env.action_space("player_0").seed(3)
    samples = [int(env.action_space("player_0").sample()) for _ in range(9)]
    env.action_space("player_0").seed(3)
    trace(env, 0)
    env.reset(seed=1)
    after = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
    assert all(x is y for pair in zip(before, after) for x, y in zip(*pair))
    assert len({id(space) for pair in before for space in pair}) == 8
    assert [int(env.action_space("player_0").sample()) for _ in range(9)] == samples


# What is given out.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_observations_are_fresh_and_of_their_types(game, num_players):
    env, rng = begun(game, num_players), np.random.default_rng(0)
    size = layout(game, num_players).size
    given = []
    while not is_over(env):
        for agent in env.possible_agents:
            seen = env.observe(agent)
            observation, actions = seen["observation"], seen["action_mask"]
            assert list(seen) == ["observation", "action_mask"]
            assert (observation.dtype, observation.shape) == (np.float32, (size,))
            assert (actions.dtype, actions.shape) == (np.int8, (GAMES[game].num_actions,))
            assert actions.any() == (agent == env.agent_selection)
            assert env.action_space(agent).n == actions.size
            given += [observation, actions]
        given += env.last()[0].values()
        given.append(env.state())
        play(env, rng, 1)
    copies = [array.copy() for array in given]
    play(env, rng)
    assert all((a == b).all() for a, b in zip(given, copies))
    assert len({array.__array_interface__["data"][0] for array in given}) == len(given)


@both_games
def test_observation_key_and_pieces(game):
    env = begun(game, obs_key="observations")
    seen, same = env.last()[0], begun(game).last()[0]
    assert list(seen) == ["observations", "action_mask"]
    assert (seen["observations"] == same["observation"]).all()
    assert env.observation_space("player_0").contains(seen)
    pieces = env.unwrapped.observation_pieces
    ends = [place.stop for place in pieces.values()]
    assert [place.start for place in pieces.values()] == [0, *ends[:-1]]
    assert ends[-1] == seen["observations"].size


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_the_state_holds_every_hand(game, num_players):
    env = begun(game, num_players, "raw_env")
    pieces, cards = state_pieces(game, num_players), GAMES[game].pack.size
    assert env.state_space.shape == (sum(piece.size for piece in pieces),)
    rng = np.random.default_rng(4)
    while not is_over(env):
        state = env.state()
        assert env.state_space.contains(state) and state.dtype == np.float32
        held = state[pieces[0].size :][: pieces[1].size].reshape(num_players, cards)
        for seat, bits in enumerate(env.states["hands"][0, :num_players].tolist()):
            assert np.flatnonzero(held[seat]).tolist() == [
                card for card in range(cards) if bits >> card & 1
            ]
        play(env, rng, 1)


# Rewards, infos, history.


@both_games
@pytest.mark.parametrize("num_hands", [1, 4])
def test_books_of_a_session(game, num_hands):
    env, rng = begun(game, num_hands=num_hands, options={"pot": 30}), np.random.default_rng(3)
    table, hand, history, hands = env.unwrapped, 0, [], []
    totals = dict.fromkeys(env.agents, 0.0)
    keys = {"coins", "pot", "hand_number", "tricks"}
    while not is_over(env):
        assert {frozenset(info) for info in env.infos.values()} == {frozenset(keys)}
        assert {type(v) for info in env.infos.values() for v in info.values()} == {int}
        assert {info["hand_number"] for info in env.infos.values()} == {hand}
        assert table.history == history
        tricks = [env.infos[agent]["tricks"] for agent in env.agents]
        assert tricks == table.states["tricks"][0, :4].tolist()
        coins = [env.infos[agent]["coins"] for agent in env.agents]
        assert sum(coins) + env.infos["player_0"]["pot"] == 30
        seat = table.possible_agents.index(env.agent_selection)
        (_, action) = play(env, rng, 1)[0]
        history.append((seat, action))
        assert {type(reward) for reward in env.rewards.values()} == {float}
        assert {type(reward) for reward in table._cumulative_rewards.values()} == {float}
        for agent, reward in env.rewards.items():
            totals[agent] += reward
        if not table.hand_over:
            assert not any(env.rewards.values())
            continue
        assert table.last_history == history and table.history == []
        hands.append(history)
        history, hand = [], hand + 1
    assert len(hands) == num_hands == hand
    growth = (env.infos["player_0"]["pot"] - 30) / 4
    assert totals == pytest.approx({a: env.infos[a]["coins"] + growth for a in env.agents})
    assert sum(totals.values()) == pytest.approx(0)


@both_games
def test_both_rewards_of_the_same_session(game):
    envs = [begun(game, 5, num_hands=6, reward=reward) for reward in ("equity", "coins")]
    pot, rngs = 0, [np.random.default_rng(1) for _ in envs]
    while not is_over(envs[0]):
        assert play(envs[0], rngs[0], 1) == play(envs[1], rngs[1], 1)
        equity, coins = ([*env.rewards.values()] for env in envs)
        if envs[0].unwrapped.hand_over:
            s = envs[0].unwrapped.states[0]
            left = int(s.pot if is_over(envs[0]) else s.carried)
            assert equity == pytest.approx([net + (left - pot) / 5 for net in coins])
            assert sum(coins) == pot - left
            pot = left
        else:
            assert not any(equity) and not any(coins)


@both_games
def test_last_gives_what_the_agent_has_not_heard_yet(game):
    env, rng = begun(game, num_hands=3), np.random.default_rng(8)
    owed = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        agent = env.agent_selection
        assert env.last()[1] == owed[agent]
        assert env.last(observe=False)[0] is None
        owed[agent] = 0.0
        env.step(None if is_over(env) else int(rng.choice(np.flatnonzero(mask(env)))))
        for other, reward in env.rewards.items():
            owed[other] += reward


# Reset options.


@both_games
def test_options_say_how_the_first_hands_are_dealt(game):
    size = GAMES[game].pack.size
    decks = [np.random.default_rng(i).permutation(size) for i in range(3)]
    env = begun(game, num_hands=4, options={"deck": decks, "dealer": np.int8(3), "pot": 9})
    up = 20 if game == "beast" else 0
    upcards, dealers = [], []
    while not is_over(env):
        if not env.unwrapped.history:
            s = env.unwrapped.states[0]
            upcards.append(int(s.upcard))
            dealers.append(int(s.dealer))
        play(env, np.random.default_rng(1), 1)
    assert upcards[:3] == [deck[up] for deck in decks] and len(upcards) == 4
    assert dealers == [3, 0, 1, 2]
    env.reset(seed=0)
    fresh = begun(game, num_hands=4)
    assert trace(env, 2) == trace(fresh, 2)  # the options were for one session


@both_games
def test_lists_arrays_and_tuples_deal_alike(game):
    deck = list(range(GAMES[game].pack.size))
    forms = (
        deck,
        tuple(deck),
        range(len(deck)),
        np.array(deck, np.uint8),
        [deck],
        np.array([deck]),
    )
    envs = [begun(game, options={"deck": form, "dealer": 0}) for form in forms]
    assert len({env.state().tobytes() for env in envs}) == 1
    assert deck == list(range(len(deck)))


@both_games
def test_options_unknown_or_empty_are_ignored(game):
    plain = begun(game)
    for options in ({}, None, {"options": 1, "reset_mask": [True]}, {"deck": None, "pot": 0}):
        given = copy.deepcopy(options)
        assert trace(begun(game, options=options), 0) == trace(copy.deepcopy(plain), 0)
        assert options == given


@both_games
@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(
            ("deck", value)
            for value in (np.array(3), "x", {0: 1}, [], [[]], range(7), [[1], [2, 3]])
        ),
        *(("heap", value) for value in (np.zeros(40), np.zeros((2, 2, 2), int), {1}, object())),
        *(("dealer", value) for value in (4, -1, "0", 1.0, False, [0])),
        *(("pot", value) for value in (-3, "3", 3.0, True, [3], 10**13)),
    ],
)
def test_malformed_options_change_nothing(game, option, value):
    env = begun(game, seed=3, num_hands=2, options={"pot": 6})
    play(env, np.random.default_rng(0), 3)
    twin, before = copy.deepcopy(env), everything(env)
    for seed in (None, 8):
        with pytest.raises(ValueError, match=rf"^{option} must "):
            env.reset(seed=seed, options={option: value})
    assert everything(env) == before
    assert trace(env, 0) == trace(twin, 0)


# Actions that are none, or not legal.


@both_games
@both_doors
def test_actions_outside_the_space_change_nothing(game, door):
    env, rng = begun(game, door=door, num_hands=2), np.random.default_rng(6)
    for _ in range(30):
        before = everything(env)
        for action in NO_ACTIONS:
            with pytest.raises(
                ValueError, match=r"an action must be an integer from 0 to \d+, not"
            ):
                env.step(action)
        assert everything(env) == before
        play(env, rng, 1)


@both_games
def test_illegal_actions_are_refused_by_the_bare_environment(game):
    env, rng = begun(game, 5, "raw_env", num_hands=2), np.random.default_rng(7)
    while not is_over(env):
        legal, before, agent = np.flatnonzero(mask(env)), everything(env), env.agent_selection
        for action in set(range(GAMES[game].num_actions)) - set(legal.tolist()):
            name = env.game.action_name(action)
            with pytest.raises(ValueError) as error:
                env.step(action)
            assert str(error.value) == (
                f"{name} ({action}) is not legal for {agent}: the legal actions are "
                f"{' '.join(map(env.game.action_name, legal))} ({', '.join(map(str, legal))})"
            )
        assert everything(env) == before
        play(env, rng, 1)


@both_games
@pytest.mark.parametrize("reward", ["equity", "coins"])
@pytest.mark.parametrize("limit", [6, 10**9 - 1])
@pytest.mark.parametrize("moves", [0, 1, 4, 9, 13])
def test_an_illegal_action_annuls_the_hand(game, reward, limit, moves):
    options = {"pot": 30, "dealer": 1}
    env = make(game, num_hands=3, reward=reward, match_limit=limit)
    for seed in range(50):  # to a second hand that gets so far
        env.reset(seed=seed, options=options)
        rng = np.random.default_rng(seed)
        while not env.unwrapped.hand_over:
            play(env, rng, 1)
        settled = env.unwrapped.states[0].coins.tolist()
        if len(play(env, rng, moves)) == len(env.unwrapped.history) == moves:
            break
    s, offender = env.unwrapped.states[0], env.agent_selection
    carried, fine, history = int(s.carried), min(int(s.pot), limit), list(env.unwrapped.history)
    owed = dict(env.unwrapped._cumulative_rewards)
    env.step(int(np.flatnonzero(mask(env) == 0)[0]))
    shares = dict.fromkeys(env.possible_agents, fine / 3) | {offender: -float(fine)}
    assert env.rewards == shares
    assert env.agents == env.possible_agents and not env.unwrapped.hand_over
    assert set(env.terminations.values()) == {True} and set(env.truncations.values()) == {False}
    assert [env.infos[agent]["coins"] for agent in env.agents] == settled[:4]
    assert {env.infos[agent]["pot"] for agent in env.agents} == {carried}
    assert env.unwrapped.history == history
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)
    owed[offender] = 0.0
    for agent in list(env.agents):
        assert env.agent_selection == agent
        assert env.last()[1] == owed[agent] + shares[agent]
        env.step(None)
    env.reset(seed=1)
    fresh = begun(game, seed=1, num_hands=3, reward=reward, match_limit=limit)
    assert trace(env, 1) == trace(fresh, 1)


@both_games
@both_doors
@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint64, np.array, np.int32])
def test_numpy_integers_are_actions(game, door, kind):
    env, same = begun(game, door=door), begun(game, door=door)
    for _ in range(6):
        action = int(np.flatnonzero(mask(env))[-1])
        env.step(kind(action))
        same.step(action)
        assert snapshot(env) == snapshot(same)


# Copies.


@both_doors
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(("game", "num_players"), [("beast", 4), ("bestia", 3), ("bestia", 9)])
def test_copies_at_every_step_go_on_alike(game, num_players, door, how):
    env, rng = begun(game, num_players, door, num_hands=2), np.random.default_rng(num_players)
    actions, snapshots, copies = [], [everything(env)], []
    while not is_over(env):
        copies.append(COPIES[how](env))
        actions += play(env, rng, 1)
        snapshots.append(everything(env))
    env.reset()
    for start, twin in enumerate(copies):
        assert everything(twin) == snapshots[start]
        for step in range(start, len(actions)):
            twin.step(actions[step][1])
            assert everything(twin) == snapshots[step + 1]
        twin.reset()
        assert everything(twin) == everything(env)


@both_games
@pytest.mark.parametrize(
    "render_mode",
    [
        None,
        "ansi",
        *(pytest.param(mode, marks=pytest.mark.extras) for mode in ("human", "rgb_array")),
    ],
)
def test_copies_keep_the_options_and_the_agents_that_are_left(game, render_mode, monkeypatch):
    monkeypatch.setitem(MODULES[game].raw_env.metadata, "render_fps", 10**6)
    options = {"deck": [np.arange(GAMES[game].pack.size)] * 2, "dealer": 0}
    env = begun(game, num_hands=2, options=options, render_mode=render_mode)
    twins = [copy_of(env) for copy_of in COPIES.values()]
    traces = [trace(twin, 0) for twin in [*twins, env]]
    assert all(traced == traces[0] for traced in traces)
    play(env, np.random.default_rng(0))
    env.step(None)
    twin = copy.deepcopy(env)
    assert twin.agents == env.possible_agents[1:]
    twin.step(None)
    assert len(env.agents) == 3


# Rendering.


@both_games
def test_text_of_every_moment(game):
    env, rng = begun(game, render_mode="ansi", num_hands=2), np.random.default_rng(0)
    while not is_over(env):
        for agent in env.possible_agents:
            assert f"seen by {agent}" in env.unwrapped.render_view(agent)
        assert env.render() == env.unwrapped.render_view(None)
        play(env, rng, 1)


@both_games
def test_render_without_a_mode_warns(game):
    env = begun(game)
    with pytest.warns(UserWarning, match="render_mode") as warned:
        assert env.render() is None
    assert len(warned) == 1
    assert not inspect.signature(env.render).parameters


# Making.


@both_games
@both_doors
@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        *(("num_players", value, "integer from") for value in (2, 11, 4.0, "4", None, True)),
        *(("num_hands", value, "at least 1") for value in (0, -1, 1.0, "1", None, True)),
        *(("reward", value, "'equity', 'coins'") for value in ("equal", None, 1)),
        *(("render_mode", value, "'human', 'ansi', 'rgb_array'") for value in ("rgb", 3, "")),
        *(("obs_key", value, "other than") for value in ("action_mask", "", None, 1)),
        ("revoke", "allowed", "'forbidden', 'penalty'"),
        ("match_limit", 0, "integer from"),
    ],
)
def test_bad_arguments(game, door, keyword, value, words):
    with pytest.raises(ValueError, match=rf"{keyword}.* must .*{words}"):
        getattr(MODULES[game], door)(**{keyword: value})


@both_doors
def test_options_that_there_are_not(door):
    with pytest.raises(
        TypeError, match="unknown option 'max_cycles' of beast: choose among losing"
    ):
        make("beast", door=door, max_cycles=3)
    with pytest.raises(TypeError, match="rules of beast must be BeastRules, not BestiaRules"):
        make("beast", door=door, rules=BestiaRules())
    env = make("bestia", door=door, rules=BestiaRules.circle(), stake=6)
    assert env.unwrapped.rules == BestiaRules(force=True, maxims="penalty", stake=6)


# Processes and threads.


def into(connection, env, seed):
    connection.send(trace(env, seed))


@both_games
@pytest.mark.parametrize(
    "method", sorted({"fork", "spawn"} & {*multiprocessing.get_all_start_methods()})
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_session_goes_on_in_another_process(game, method):
    env = begun(game, num_hands=3)
    play(env, np.random.default_rng(0), 5)  # compiled code has run before the fork
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    process = context.Process(target=into, args=(there, env, 1))
    process.start()
    assert here.poll(120)
    told = here.recv()
    process.join(60)
    assert process.exitcode == 0
    assert told == trace(env, 1)


@both_games
def test_threads(game):
    traces = {}

    def run(number):
        env = begun(game, seed=number, num_hands=8)
        traces[number] = trace(env, number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for number in range(4):
        assert traces[number] == trace(begun(game, seed=number, num_hands=8), number)
