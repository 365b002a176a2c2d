"""The recipe for AgileRL, in a virtual environment of its own: `make test-agilerl`."""

import numpy as np
import pytest

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.filterwarnings("ignore"),  # the framework's own
]


@pytest.mark.parametrize("game", ["bestia", "beast"])
def test_agilerl_plays_by_the_rules(game):
    from experiments.examples.agilerl_ppo import Arguments, run

    outcome = run(Arguments(game, num_players=5, num_envs=32, updates=2))
    assert outcome.illegal == 0
    assert outcome.steps == 2 * 32 * 32
    assert outcome.sessions > 100
    assert outcome.difference < 1e-9


@pytest.mark.parametrize(("use_gae", "right"), [(False, True), (True, False)])
def test_agilerl_credits_earlier_decisions_only_without_gae(use_gae, right):
    import gymnasium
    from agilerl.rollouts.on_policy import collect_rollouts

    from experiments.examples.agilerl_ppo import make_learner

    env = gymnasium.make_vec("bestia_env:bestia_env/Bestia-v0", 16, autoreset_mode="SameStep")
    agent = make_learner(env, num_steps=64)
    agent.rollout_buffer.use_gae = use_gae
    agent.gae_lambda = agent.rollout_buffer.gae_lambda = 1.0
    collect_rollouts(agent, env)
    buffer = agent.rollout_buffer.buffer
    rewards, dones, returns = (buffer[key].numpy() for key in ("rewards", "dones", "returns"))
    due = np.full(rewards.shape, np.nan)  # in hands that were not finished
    for t in range(len(due) - 1, -1, -1):
        due[t] = np.where(dones[t], rewards[t], due[min(t + 1, len(due) - 1)])
    known = ~np.isnan(due)
    assert known.mean() > 0.8
    assert np.allclose(returns[known], due[known], atol=1e-4) is right


@pytest.mark.parametrize("as_list", [True, False])
def test_agilerl_takes_masks_of_several_seats_as_lists_only(as_list):
    from agilerl.algorithms import IPPO
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    from experiments.examples.score_sheet import ScoreSheet

    sheet = ScoreSheet("bestia")
    env = turn_based_aec_to_parallel(sheet)
    agents = env.possible_agents
    spaces = [env.observation_space(agent)["observation"] for agent in agents]
    learner = IPPO(spaces, [env.action_space(agent) for agent in agents], agent_ids=agents)
    seen, _ = env.reset(seed=1)
    for _ in range(100):
        masks = {agent: seen[agent]["action_mask"] for agent in agents}
        masks = {agent: mask if mask.any() else mask + 1 for agent, mask in masks.items()}
        infos = {a: {"action_mask": m.tolist() if as_list else m} for a, m in masks.items()}
        vectors = {agent: seen[agent]["observation"] for agent in agents}
        if not as_list:
            with pytest.raises(ValueError, match="ambiguous"):
                learner.get_action(vectors, infos)
            return
        actions = learner.get_action(vectors, infos)[0]
        seen, *_ = env.step({agent: int(np.squeeze(actions[agent])) for agent in agents})
        if not env.agents:
            seen, _ = env.reset()
    assert (sheet.moves, sheet.illegal) == (100, 0)


@pytest.mark.parametrize(
    "command",
    [
        "agilerl_ppo --num-envs 32 --updates 2",
    ],
)
def test_a_recipe_from_the_command_line(command, plays_legally):
    plays_legally(command)
