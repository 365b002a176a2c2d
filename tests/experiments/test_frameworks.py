"""Recipes for frameworks, in a virtual environment of their own: `make test-frameworks`."""

import numpy as np
import pytest

from bestia_env.vector import seat_advantages

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.filterwarnings("ignore"),  # the frameworks' own, at each import
]
GAMES = pytest.mark.parametrize("game", ["bestia", "beast"])


def check(outcome, sessions, tolerance=1e-4):
    assert outcome.illegal == 0
    assert outcome.sessions == sessions
    assert outcome.difference < tolerance
    assert outcome.steps > 5 * sessions


@GAMES
def test_torchrl_plays_by_the_rules(game):
    from experiments.examples.torchrl_ppo import Arguments, run

    check(run(Arguments(game, num_players=5, updates=2, sessions=4)), 12)


@GAMES
def test_torchrl_credits_every_seat_with_what_follows_its_own_decisions(game):
    import torch
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import MarlGroupMapType

    from experiments.examples import torchrl_ppo as recipe

    sheet = recipe.ScoreSheet(game, num_players=4)
    env = PettingZooWrapper(sheet, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)
    env.set_seed(3)
    actor, advantages, _ = recipe.make_learner(
        env.observation_spec[recipe.OBSERVATION].shape[-1], env.action_spec[recipe.ACTION].space.n
    )
    for _ in range(10):
        with torch.no_grad():
            rollout = env.rollout(200, actor)
        data = advantages(recipe.own_decisions(rollout))
        seats = rollout["agents", "mask"].int().argmax(1)
        order = torch.argsort(seats, stable=True)  # own_decisions has one seat after another
        values = torch.empty(len(seats), 1).index_copy(0, order, data["state_value"])
        rewards = rollout["next", "agents", "reward"].squeeze(-1)[:, None]
        ended = rollout["next", "done"]
        expected, known = seat_advantages(
            values.numpy(), seats[:, None].numpy(), rewards.numpy(), ended.numpy()
        )
        assert known.all()
        np.testing.assert_allclose(data["advantage"].numpy(), expected[order], atol=1e-4)


@GAMES
def test_tianshou_plays_by_the_rules(game):
    from experiments.examples.tianshou_dqn import Arguments, run

    check(run(Arguments(game, num_players=5, rounds=2, sessions=9, tables=3)), 27)


@pytest.mark.parametrize(("horizon", "right"), [(100, True), (1, False)])
def test_tianshou_credits_moves_only_over_the_whole_hand(horizon, right):
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.data import Collector, ReplayBuffer
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    from experiments.examples import tianshou_dqn as recipe

    sheet = recipe.ScoreSheet("bestia")
    table = PettingZooEnv(sheet)
    learners = [recipe.make_learner(table, horizon) for _ in range(4)]
    seats = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=table)
    collector = Collector(seats, DummyVectorEnv([lambda: table]), ReplayBuffer(1000))
    collector.reset()
    collector.collect(n_episode=20)
    batch, indices = collector.buffer.sample(0)
    starts = np.concatenate([[0], np.flatnonzero(batch.done)[:-1] + 1])
    session = np.searchsorted(starts, np.arange(len(batch)), side="right") - 1
    by_seat = seats._preprocess_batch(batch, collector.buffer, indices)
    given = [by_seat[agent].returns.flatten() for agent in table.agents]
    due = [
        np.array(sheet.sessions)[session[batch.obs.agent_id == agent], seat]
        for seat, agent in enumerate(table.agents)
    ]
    assert np.allclose(np.concatenate(given), np.concatenate(due), atol=1e-5) is right


@GAMES
def test_supersuit_plays_by_the_rules(game):
    from experiments.examples.supersuit_rows import Arguments, run

    outcome = run(Arguments(game, num_players=5, num_hands=2, tables=3, steps=150))
    check(outcome, outcome.sessions)
    assert outcome.sessions > 3


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("flatten_v0", ()),
        ("dtype_v0", (np.float64,)),
        ("reshape_v0", ((4, 65),)),
        ("normalize_obs_v0", ()),
        ("frame_stack_v2", (4,)),
        ("agent_indicator_v0", ()),
        ("pad_observations_v0", ()),
        ("black_death_v3", ()),
    ],
)
def test_supersuit_refuses_a_dict(name, arguments):
    import supersuit
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    from experiments.examples.score_sheet import ScoreSheet

    with pytest.raises((AssertionError, AttributeError)):
        getattr(supersuit, name)(
            turn_based_aec_to_parallel(ScoreSheet("bestia")), *arguments
        ).reset()


@pytest.mark.parametrize(
    ("name", "argument"),
    [("sticky_actions_v0", 0.5), ("frame_skip_v0", 2), ("delay_observations_v0", 1)],
)
def test_supersuit_makes_moves_that_are_not_legal(name, argument):
    import supersuit

    from experiments.examples.score_sheet import ScoreSheet

    sheet, rng = ScoreSheet("bestia"), np.random.default_rng(0)
    env = getattr(supersuit, name)(sheet, argument)
    for seed in range(10):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, terminated, *_ = env.last()
            mask = None if terminated else observation["action_mask"]
            env.step(None if terminated else int((mask * rng.random(mask.shape)).argmax()))
    assert sheet.illegal > 5


@pytest.mark.parametrize(
    "command",
    [
        "torchrl_ppo --updates 1 --sessions 3",
        "tianshou_dqn --rounds 1 --sessions 3 --tables 1",
        "supersuit_rows --steps 100 --tables 2",
    ],
)
def test_a_recipe_from_the_command_line(command, plays_legally):
    plays_legally(command)
