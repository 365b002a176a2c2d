"""Recipes that need no framework beyond the project's own dependencies, and their score sheet."""

import numpy as np
import pytest

from experiments.examples import async_vector_env, cleanrl_ppo
from experiments.examples.score_sheet import Clock, ScoreSheet

GAMES = ("bestia", "beast")


def play(sheet, seed, choose):
    sheet.reset(seed=seed)
    returns = np.zeros(len(sheet.possible_agents))
    for agent in sheet.agent_iter():
        observation, reward, terminated, *_ = sheet.last()
        returns[int(agent[-1])] += reward if terminated else 0
        sheet.step(None if terminated else choose(observation["action_mask"]))
    return returns


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("reward", ["coins", "equity"])
def test_the_sheet_has_what_was_paid(game, reward):
    rng = np.random.default_rng(1)
    sheet = ScoreSheet(game, num_players=5, num_hands=1, reward=reward)
    returns = [
        play(sheet, seed, lambda mask: rng.choice(np.flatnonzero(mask))) for seed in range(9)
    ]
    np.testing.assert_allclose(sheet.sessions, returns, atol=1e-12)
    assert sheet.illegal == 0 < sheet.moves


def test_the_sheet_adds_up_the_hands_of_a_session():
    rng = np.random.default_rng(2)
    sheet = ScoreSheet("bestia", num_hands=4, reward="coins")
    sheet.reset(seed=5)
    for _ in sheet.agent_iter():
        observation, _, terminated, *_ = sheet.last()
        if terminated:
            coins = [sheet.infos[agent]["coins"] for agent in sheet.agents]
            break
        sheet.step(rng.choice(np.flatnonzero(observation["action_mask"])))
    assert sheet.sessions[0].tolist() == coins


def test_the_sheet_counts_illegal_moves():
    sheet = ScoreSheet("bestia")
    play(sheet, 3, lambda mask: int(mask.argmin()))
    assert (sheet.moves, sheet.illegal, sheet.sessions[0].tolist()) == (1, 1, [0.0] * 4)


def test_a_return_that_differs_shows():
    assert Clock().outcome(1, 0, [[1, -1], [0.5, 0]], [[1, -1], [0, 0]]).difference == 0.5
    for returns, sheet in (([], []), ([[1, 2]], [[1, 2], [3, 4]]), ([1], [[1, 2]])):
        with pytest.raises(ValueError, match="the score sheet"):
            Clock().outcome(1, 0, returns, sheet)


def test_processes_that_are_spawned_play_by_the_rules():
    outcome = async_vector_env.run(async_vector_env.Arguments("bestia", num_players=5, steps=60))
    assert outcome.illegal == 0
    assert outcome.difference == 0
    assert outcome.sessions > 1


@pytest.mark.filterwarnings("error")
def test_ppo_learns_from_a_minibatch_of_a_single_decision(monkeypatch):
    monkeypatch.setattr(cleanrl_ppo, "MINIBATCH", 31)  # of 32 decisions one is left over
    arguments = cleanrl_ppo.Arguments(num_envs=4, num_steps=8, updates=2)
    assert cleanrl_ppo.run(arguments).illegal == 0


@pytest.mark.parametrize("game", GAMES)
def test_ppo_in_one_file_plays_by_the_rules(game):
    arguments = cleanrl_ppo.Arguments(game, num_players=5, num_envs=32, updates=2)
    outcome = cleanrl_ppo.run(arguments)
    assert outcome.illegal == 0
    assert outcome.difference < 1e-9
    assert outcome.sessions > 100


@pytest.mark.parametrize(
    "command",
    [
        "cleanrl_ppo --game bestia --num-envs 32 --updates 2",
        "async_vector_env --game beast --steps 60",
    ],
)
def test_a_recipe_from_the_command_line(command, plays_legally):
    plays_legally(command)
