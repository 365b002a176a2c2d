"""The single-seat environments, by the books of Gymnasium, Stable-Baselines3 and sb3-contrib."""

import copy
import pickle
from collections import Counter

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from bestia_env import beast_v0, bestia_v0
from bestia_env.bits import highest, lowest
from bestia_env.games import GAMES
from bestia_env.rules import beast, bestia
from bestia_env.single import BeastEnv, BestiaEnv, Uniform
from tests.rules.hands import pack_order
from tests.sessions import OPTIONS, TABLES

ENVS = {"beast": BeastEnv, "bestia": BestiaEnv}
RAW = {"beast": beast_v0.raw_env, "bestia": bestia_v0.raw_env}
IDS = {"beast": "bestia_env/Beast-v0", "bestia": "bestia_env/Bestia-v0"}
both_games = pytest.mark.parametrize("game", ENVS)


class Highest:
    """The legal action of the highest id."""

    def act(self, view, legal, rng):
        return int(highest(legal))


class Lowest:
    """The legal action of the lowest id; keeps what it saw."""

    def __init__(self):
        self.views = []

    def act(self, view, legal, rng):
        self.views.append(view.copy())
        return int(lowest(legal))


def legal_actions(env):
    return np.flatnonzero(env.action_masks())


def play(env, rng, steps=10**6):
    """Random legal actions, so many or to the end; returns what `step` returned."""
    told, over = [], False
    while not over and len(told) < steps:
        told.append(env.step(int(rng.choice(legal_actions(env)))))
        over = told[-1][2]
    return told


def episode(env, actions, **reset):
    """All that an episode tells, its actions drawn from a seed, in a form that can be compared."""
    told = [env.reset(**reset), *play(env, np.random.default_rng(actions))]
    return [
        repr([part.tobytes() if hasattr(part, "tobytes") else part for part in t]) for t in told
    ]


# The checkers.


@pytest.mark.extras
@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_gymnasium_check_env(game, num_players):
    check_env(gymnasium.make(IDS[game], num_players=num_players).unwrapped)
    check_env(ENVS[game](num_players, num_hands=2, seat=num_players - 1), skip_render_check=True)


@pytest.mark.parametrize(
    ("game", "option", "value"),
    [(g, o, v) for g, options in OPTIONS.items() for o, values in options.items() for v in values],
)
def test_gymnasium_check_env_with_every_option_value(game, option, value):
    check_env(ENVS[game](num_hands=3, **{option: value}), skip_render_check=True)


@pytest.mark.extras
@pytest.mark.parametrize(("game", "num_players"), TABLES)
@pytest.mark.filterwarnings("ignore:.*tensorboard.*")
def test_sb3_check_env(game, num_players):
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    sb3_check_env(gymnasium.make(IDS[game], num_players=num_players))


@both_games
def test_types_and_fresh_arrays(game):
    env, given = ENVS[game](num_hands=3), []
    observation, info = env.reset(seed=np.int64(4))
    given += [observation, info["action_mask"]]
    rng, over = np.random.default_rng(0), False
    keys = list(info)
    while not over:
        legal = env.action_masks()
        assert (legal.dtype, legal.shape) == (np.bool_, (GAMES[game].num_actions,))
        assert legal.any() and (legal == info["action_mask"]).all()
        assert info["action_mask"].dtype == np.int8
        observation, reward, over, truncated, info = env.step(rng.choice(np.flatnonzero(legal)))
        assert (type(reward), type(over), type(truncated)) == (float, bool, bool)
        assert env.observation_space.contains(observation) and not truncated
        assert list(info) == keys
        given += [observation, info["action_mask"], env.action_masks() if not over else legal]
    assert not info["action_mask"].any()
    assert len({array.__array_interface__["data"][0] for array in given}) == len(given)
    assert isinstance(env.observation_space, gymnasium.spaces.Box)  # no mask to be normalised


# Deals and rewards.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_the_reward_is_the_learners_on_the_score_sheet(game, num_players):
    """Scripted seats play the same session in both environments, for each seat and both rewards."""
    for seat in range(num_players):
        for reward in ("equity", "coins"):
            options = {"pot": 6, "dealer": 1}
            table = RAW[game](num_players, num_hands=3, reward=reward)
            table.reset(seed=seat, options=options)
            sheet, actions = 0.0, Counter()
            while not all(table.terminations.values()):
                agent = table.agent_selection
                legal = np.flatnonzero(table.observe(agent)["action_mask"])
                table.step(int(legal[0] if agent == f"player_{seat}" else legal[-1]))
                sheet += table.rewards[f"player_{seat}"]
                actions[agent] += 1
            env = ENVS[game](
                num_players, num_hands=3, reward=reward, seat=seat, opponents=Highest()
            )
            _, info = env.reset(seed=seat, options=options)
            total, steps, over = 0.0, 0, False
            while not over:
                _, gained, over, _, info = env.step(int(legal_actions(env)[0]))
                total, steps = total + gained, steps + 1
            assert steps == actions[f"player_{seat}"]
            assert total == pytest.approx(sheet)
            growth = (info["pot"] - 6) / num_players if reward == "equity" else 0
            assert total == pytest.approx(info["coins"] + growth)


def test_a_hand_reckoned_by_hand():
    """Seat 1 knocks with the three highest trumps, the learner follows in vain: 9 into the next."""
    hands = {1: "As 3s Rs", 2: "2b 4b 5b", 0: "2c 4c 5c"}
    deck = pack_order("bestia", hands, "2s", 3, dealer=0)
    env = BestiaEnv(3, opponents=Highest(), reward="coins")  # EXCHANGE and KNOCK
    env.reset(seed=0, options={"deck": deck, "dealer": 0, "pot": 6})
    told = [env.step(a) for a in (bestia.KNOCK, *GAMES["bestia"].pack.cards("2c 4c 5c"))]
    assert [reward for _, reward, *_ in told] == [0.0, 0.0, 0.0, -3.0 - 9.0]
    assert told[-1][2] and told[-1][4]["coins"] == -12 and told[-1][4]["pot"] == 18


SURE_DECK = pack_order("beast", {1: "As Ks Qs Js 2h"}, "10s", 4, dealer=0)  # the eldest may show


class Shows:
    """Leaves the upcard, shows when it can, and passes."""

    def act(self, view, legal, rng):
        return int(next(a for a in (beast.SHOW, beast.LEAVE, beast.PASS) if int(legal) >> a & 1))


def test_hands_over_before_the_first_decision_are_rewarded():
    """The learner, last to declare, has nothing to say in the first hand of two."""
    learner_rewards = []
    env = BeastEnv(4, num_hands=2, opponents=Shows(), reward="coins", seat=2)
    _, info = env.reset(seed=0, options={"deck": SURE_DECK, "dealer": 0})
    assert info["hand_number"] == 1 and info["coins"] == -4  # the stakes of two hands
    over = False
    while not over:
        _, reward, over, _, info = env.step(int(legal_actions(env)[0]))
        learner_rewards.append(reward)
    assert sum(learner_rewards) == info["coins"]


def test_a_deal_that_leaves_the_learner_no_decision():
    env = BeastEnv(4, opponents=Shows(), seat=2)
    with pytest.raises(ValueError, match="before the learner decides"):
        env.reset(seed=0, options={"deck": SURE_DECK, "dealer": 0})
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(0)
    _, info = env.reset(seed=0)
    assert info["action_mask"].any()


@both_games
def test_the_same_seed_deals_alike_in_both_environments(game):
    env, table = ENVS[game](5), RAW[game](5)
    env.reset(seed=11)
    table.reset(seed=11)
    hands = []
    for _ in range(4):
        s = env.table.states[0]
        assert (s.key, s.dealer, s.upcard) == tuple(table.states[0][["key", "dealer", "upcard"]])
        hands.append(int(s.hands[0]))
        env.reset()
        table.reset()
    assert len(set(hands)) == 4


@both_games
def test_a_seed_gives_the_same_episodes(game):
    env, other = ENVS[game](num_hands=2), ENVS[game](num_hands=2)
    episode(other, 1, seed=3)
    first = [episode(env, 1, seed=8), *(episode(env, 2) for _ in range(3))]
    again = [episode(other, 1, seed=8), *(episode(other, 2) for _ in range(3))]
    assert first == again
    assert len({told[0] for told in first}) == 4


@both_games
def test_options_are_for_one_episode(game):
    deck = np.arange(GAMES[game].pack.size)
    env = ENVS[game](opponents=Lowest(), seat=1)
    dealt = []
    for options in ({"deck": deck, "dealer": 0}, {"unknown": 1}, None):
        env.reset(seed=4, options=options)
        dealt.append(env.table.states[0].pack[:21].tolist())
    assert dealt[0] == deck[:21].tolist() != dealt[1] == dealt[2]


@both_games
@pytest.mark.parametrize(
    ("reset", "words"),
    [
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"seed": 7, "options": {"deck": [0, 1]}}, "deck must have"),
        ({"seed": 7, "options": {"pot": -1}}, "pot must be"),
        ({"options": {"dealer": 9}}, "dealer must be a seat from 0 to 3, not 9"),
    ],
)
def test_malformed_resets_change_nothing(game, reset, words):
    env = ENVS[game]()
    env.reset(seed=2)
    twin = copy.deepcopy(env)
    with pytest.raises(ValueError, match=words):
        env.reset(**reset)
    rngs = np.random.default_rng(0), np.random.default_rng(0)
    ended = [repr(play(e, rng)) for e, rng in zip((env, twin), rngs)]
    assert ended[0] == ended[1]
    assert episode(env, 1) == episode(twin, 1)


# Opponents.


@both_games
def test_one_policy_for_each_seat(game):
    policies = [Lowest() for _ in range(3)]
    env = ENVS[game](seat=1, opponents=policies)
    for seed in range(5):
        env.reset(seed=seed)
        play(env, np.random.default_rng(seed))
    for seat, policy in zip((0, 2, 3), policies):
        assert policy.views and {int(view[0].viewer) for view in policy.views} == {seat}
        for view in policy.views:
            assert view.shape == (1,) and view[0].turn == seat and view[0].key == 0
            assert not np.delete(view[0].hands, seat).any()


@both_games
def test_uniform_opponents_follow_the_seed(game):
    actions = []
    for seed in (1, 1, 2):
        env = ENVS[game](opponents=Uniform(), num_hands=4)
        env.reset(seed=seed)
        play(env, np.random.default_rng(0))
        actions.append(env.table.last_history)
    assert actions[0] == actions[1] != actions[2]


@pytest.mark.parametrize(
    ("opponents", "words"),
    [
        ([Uniform()] * 2, "one policy, or 3 for 4 players, not 2"),
        ([], "one policy, or 3"),
        ([Uniform(), 5, Uniform()], r"must have a method act\(view, legal, rng\), not 5"),
        (lambda: 0, "must have a method act"),
    ],
)
def test_bad_opponents(opponents, words):
    with pytest.raises(ValueError, match=words):
        BestiaEnv(opponents=opponents)


@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        *(("seat", value, "seat must be from 0 to 3") for value in (-1, 4, "0", 1.0, None, True)),
        *(("illegal_action", value, "'penalise', 'raise'") for value in ("ignore", None)),
        *(("render_mode", value, "'human', 'ansi', 'rgb_array'") for value in ("rgb", 1)),
        *(("num_players", value, "num_players") for value in (2, 4.0)),
        *(("num_hands", value, "num_hands") for value in (0, "1")),
        ("reward", "sum", "'equity', 'coins'"),
    ],
)
@both_games
def test_bad_arguments(game, keyword, value, words):
    with pytest.raises(ValueError, match=words):
        ENVS[game](**{keyword: value})
    with pytest.raises(TypeError, match="unknown option 'max_cycles'"):
        ENVS[game](max_cycles=1)


# Actions.


@both_games
def test_an_illegal_action_is_penalised(game):
    for steps in (0, 1, 3):
        env = ENVS[game](num_hands=3)
        env.reset(seed=5, options={"pot": 30})
        if len(play(env, np.random.default_rng(1), steps)) < steps:
            continue
        before = env.table.states[0].copy()
        illegal = int(np.flatnonzero(~env.action_masks())[0])
        _, reward, terminated, truncated, info = env.step(illegal)
        assert (terminated, truncated) == (True, False)
        assert reward == -min(before.pot, before.match_limit)
        assert (info["coins"], info["pot"]) == (before.coins[0], before.carried)
        assert not info["action_mask"].any()


@both_games
def test_an_illegal_action_raises_if_asked_to(game):
    env = ENVS[game](illegal_action="raise")
    env.reset(seed=5)
    over, rng = False, np.random.default_rng(0)
    while not over:
        before = env.table.states.tobytes()
        for action in np.flatnonzero(~env.action_masks()):
            with pytest.raises(ValueError, match=rf"\({action}\) is not legal for player_0"):
                env.step(action)
        assert env.table.states.tobytes() == before
        over = play(env, rng, 1)[0][2]


@both_games
@pytest.mark.parametrize("illegal_action", ["penalise", "raise"])
def test_actions_outside_the_space_change_nothing(game, illegal_action):
    env = ENVS[game](illegal_action=illegal_action)
    env.reset(seed=5)
    before = env.table.states.tobytes()
    for action in (-1, 58, 1.5, "x", None, np.array([1])):
        with pytest.raises(ValueError, match="an action must be an integer from 0 to"):
            env.step(action)
    assert env.table.states.tobytes() == before and not env.table.terminations["player_0"]


@both_games
def test_before_reset_and_after_the_end(game):
    env = ENVS[game]()
    for call in (lambda: env.step(0), env.action_masks):
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            call()
    env.reset(seed=1)
    play(env, np.random.default_rng(1))
    for call in (lambda: env.step(0), env.action_masks):
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            call()
    env.close()
    env.close()


# Copies and rendering.


@both_games
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_at_every_step_go_on_alike(game, copied):
    env, rng = ENVS[game](num_hands=3), np.random.default_rng(3)
    env.reset(seed=0)
    copies, over = [], False
    while not over:
        copies.append((copied(env), copy.deepcopy(rng)))
        over = play(env, rng, 1)[0][2]
    final, following = env.table.states.tobytes(), episode(env, 0)
    for twin, numbers in copies:
        play(twin, numbers)
        assert twin.table.states.tobytes() == final
        assert episode(twin, 0) == following


@both_games
def test_the_learner_sees_its_own_side_of_the_table(game):
    env = gymnasium.make(IDS[game], seat=2, render_mode="ansi")
    env.reset(seed=1)
    assert "seen by player_2" in env.render()
    plain = ENVS[game]()
    plain.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert plain.render() is None


# Many environments at once.


def vector_trace(envs, steps=60):
    observations, infos = envs.reset(seed=7)
    told, rng = [observations.tobytes()], np.random.default_rng(0)
    for _ in range(steps):
        masks = infos["action_mask"]
        assert (masks.dtype, masks.ndim) == (np.int8, 2)
        actions = [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks]
        observations, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        told += [observations.tobytes(), rewards.tobytes(), terminated.tobytes()]
        assert not truncated.any()
    envs.close()
    return told


@both_games
def test_vectors_of_gymnasium(game):
    envs = gymnasium.make_vec(IDS[game], num_envs=3, vectorization_mode="sync")
    observations, infos = envs.reset(seed=7)
    for i in range(3):
        seen, info = ENVS[game]().reset(seed=7 + i)
        assert (observations[i] == seen).all()
        assert (infos["action_mask"][i] == info["action_mask"]).all()
    assert len({row.tobytes() for row in observations}) == 3
    actions = envs.action_space.sample(mask=tuple(infos["action_mask"]))
    assert all(mask[action] for mask, action in zip(infos["action_mask"], actions))


@pytest.mark.parametrize("context", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_vectors_in_processes(context):
    def make(mode, **keywords):
        place = {"num_envs": 2, "vectorization_mode": mode, "vector_kwargs": keywords}
        return gymnasium.make_vec(f"bestia_env:{IDS['bestia']}", num_hands=2, **place)

    told = vector_trace(make("sync"))  # has used the compiled code before the fork
    envs = make("async", context=context)
    assert isinstance(envs, AsyncVectorEnv)
    assert vector_trace(envs) == told


def masked_steps(envs, steps=40):
    """Random legal actions in a VecEnv of Stable-Baselines3, by the masks that it gives."""
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    assert is_masking_supported(envs)
    envs.seed(5)
    told, rng = [envs.reset().tobytes()], np.random.default_rng(0)
    for _ in range(steps):
        masks = get_action_masks(envs)
        assert masks.shape == (2, 44) and masks.any(axis=1).all()
        observations, rewards, dones, infos = envs.step(
            np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        )
        told += [observations.tobytes(), np.float32(rewards).tobytes(), dones.tobytes()]
        ended = [info for info, done in zip(infos, dones) if done]
        assert all(info["terminal_observation"].shape == observations[0].shape for info in ended)
    envs.close()
    return told


def strict_bestia():
    return gymnasium.make(IDS["bestia"], num_hands=2, illegal_action="raise")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_sb3_vectors_in_processes(method):
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    told = masked_steps(DummyVecEnv([strict_bestia] * 2))
    assert masked_steps(SubprocVecEnv([strict_bestia] * 2, start_method=method)) == told


@pytest.mark.extras
@both_games
@pytest.mark.filterwarnings("ignore:.*tensorboard.*")
def test_maskable_ppo_plays_no_illegal_action(game):
    """Neither when it learns nor when it is evaluated; an illegal action would raise."""
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from sb3_contrib.common.maskable.utils import get_action_masks

    torch.set_num_threads(1)
    env = gymnasium.make(IDS[game], illegal_action="raise")
    model = MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=1, seed=0)
    model.learn(256)
    assert model.num_timesteps == 256
    evaluate_policy(model, env, n_eval_episodes=5, warn=False)
    observation, _ = env.reset(seed=0)
    masks = get_action_masks(env)
    action, _ = model.predict(observation, action_masks=masks, deterministic=True)
    assert masks[int(action)]
    assert all(torch.isfinite(parameter).all() for parameter in model.policy.parameters())
