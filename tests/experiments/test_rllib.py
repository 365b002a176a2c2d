"""Training on RLlib, in a virtual environment of its own: `make test-rllib`."""

import dataclasses
import json

import numpy as np
import pytest

pytestmark = [
    pytest.mark.rllib,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

AGENTS = [f"player_{seat}" for seat in range(5)]


@pytest.fixture(scope="module", autouse=True)
def ray_here():
    from agents.cluster import connected

    with connected(num_cpus=2) as cluster:
        yield cluster


def arguments(folder, **changes):
    from experiments.train_rllib import Arguments

    small = dict(Arguments.SMOKE, workers=0, final_deals=0)
    return Arguments(run_dir=folder, **{**small, **changes})


def decisions_of(network, game="bestia", **keywords):
    from agents.self_play import SelfPlay

    return SelfPlay(game, network.num_players, seed=3, **keywords).play(network, 500)[0]


def module_of(game, num_players, gain=3.0):
    """A module whose last layer is not near zero."""
    import torch

    from experiments.rllib.module import MaskedPerceptron
    from experiments.rllib.seats import SeatsEnv

    torch.manual_seed(1)
    env = SeatsEnv({"game": game, "num_players": num_players})
    module = MaskedPerceptron(
        observation_space=env.observation_spaces["player_0"],
        action_space=env.action_spaces["player_0"],
        model_config={"hidden": (32, 16)},
    )
    with torch.no_grad():
        module.actor[-1].weight *= 100 * gain
    return module


# The adapter.


@pytest.mark.parametrize("game", ["bestia", "beast"])
def test_only_who_acts_is_told_until_all_are(game):
    from experiments.rllib.seats import SeatsEnv

    env = SeatsEnv({"game": game, "num_players": 5, "num_hands": 2, "reward": "coins"})
    assert env.possible_agents == env.agents == AGENTS
    for seed in range(5):
        seen, infos = env.reset(seed=seed)
        over, won = False, dict.fromkeys(AGENTS, 0.0)
        while not over:
            (agent,) = seen
            assert infos[agent].keys() == {"coins", "pot", "hand_number", "tricks"}
            assert agent == env.env.agent_selection
            action = env.action_spaces[agent].sample(seen[agent]["action_mask"])
            seen, rewards, ended, cut, infos = env.step({agent: action})
            over = ended["__all__"]
            assert not any(cut.values())
            assert seen.keys() == rewards.keys() == infos.keys() == ended.keys() - {"__all__"}
            assert all(env.observation_spaces[agent].contains(seen[agent]) for agent in seen)
            for agent, reward in rewards.items():
                won[agent] += reward
        assert [*seen] == AGENTS and all(ended.values())
        assert not any(told["action_mask"].any() for told in seen.values())
        assert won == {agent: infos[agent]["coins"] for agent in AGENTS}
        assert any(won.values())
    assert env.illegal_moves == 0


def test_rllib_finds_nothing_wrong_with_the_adapter():
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    from experiments.rllib.seats import SeatsEnv

    check_multiagent_environments(SeatsEnv({"game": "bestia"}))


def test_it_deals_by_the_seed_is_rendered_and_minds_whose_turn_it_is():
    from experiments.rllib.seats import SeatsEnv

    env = SeatsEnv({"game": "bestia", "render_mode": "ansi"})
    first, again = (env.reset(seed=9)[0] for _ in range(2))
    (agent,) = first
    assert np.array_equal(first[agent]["observations"], again[agent]["observations"])
    assert env.render() == env.env.unwrapped.render() != ""
    with pytest.raises(ValueError, match="it is the turn of"):
        env.step({"player_0": 0, "player_1": 0})
    with pytest.raises(ValueError, match="game must be one of"):
        SeatsEnv({"game": "bridge"})


def test_illegal_moves_are_counted():
    from experiments.rllib.seats import SeatsEnv

    env = SeatsEnv({"game": "bestia"})
    seen, _ = env.reset(seed=1)
    (agent,) = seen
    illegal = int(np.argmin(seen[agent]["action_mask"]))
    assert env.step({agent: illegal})[2]["__all__"]
    assert env.illegal_moves == 1


# The network.


@pytest.mark.parametrize(("game", "num_players"), [("bestia", 4), ("bestia", 7), ("beast", 5)])
def test_what_is_exported_plays_exactly_as_the_module(game, num_players, tmp_path):
    import torch
    from ray.rllib.core.columns import Columns

    from agents.networks import load_network, save_network
    from bestia_env.vector import TablesEnv
    from experiments.rllib.module import network_of

    module = module_of(game, num_players)
    file = tmp_path / "policy.safetensors"
    save_network(file, network_of(module.get_state(), game, num_players, sort_suits=False))
    network = load_network(file, game, num_players)
    env, rng = TablesEnv(game, num_envs=64, num_players=num_players), np.random.default_rng(2)
    tables, largest = env.reset(seed=5), 0.0
    for _ in range(20):
        seen = {
            "observations": torch.tensor(tables.observations),
            "action_mask": torch.tensor(tables.masks),
        }
        with torch.no_grad():
            logits = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
        theirs = torch.softmax(logits.double(), dim=1).numpy()
        ours = network.probabilities(tables.observations, tables.masks)
        assert (theirs[tables.masks == 0] == 0).all()
        largest = max(largest, np.abs(ours - theirs).max())
        tables = env.step((rng.random(ours.shape) * (ours > 0)).argmax(axis=1))
    assert largest < 1e-5


@pytest.mark.parametrize("sort_suits", [True, False])
def test_what_was_played_is_what_is_learned_from(sort_suits):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.evaluation.postprocessing import Postprocessing

    from agents.self_play import LAST
    from experiments.rllib.hands import Hands, HandsToBatch, num_illegal
    from experiments.rllib.module import ALL_SEATS, network_of

    module = module_of("bestia", 4)
    network = network_of(module.get_state(), "bestia", 4, sort_suits)
    decisions = decisions_of(network, sort_suits=sort_suits)
    to_batch = HandsToBatch(gae_lambda=1.0)
    batch = to_batch(rl_module={ALL_SEATS: module}, batch={}, episodes=[Hands(decisions)] * 2)
    columns = batch[ALL_SEATS]
    chances = torch.log_softmax(columns[Columns.ACTION_DIST_INPUTS], dim=1)
    taken = chances.gather(1, columns[Columns.ACTIONS][:, None])[:, 0]
    assert torch.allclose(taken, columns[Columns.ACTION_LOGP], atol=1e-4)
    # With lambda 1 each seat is credited with its own winnings, whoever acted in between.
    due = torch.tensor(decisions.returns).repeat(2)
    assert torch.allclose(columns[Postprocessing.VALUE_TARGETS], due, atol=1e-4)
    assert num_illegal(decisions) == 0
    assert (decisions.following != LAST).any()
    wrong = decisions._replace(legal=np.zeros_like(decisions.legal))
    assert num_illegal(wrong) == wrong.num_rows


def test_no_two_runners_play_the_same_hands(tmp_path):
    from experiments.rllib.hands import HandsRunner
    from experiments.rllib.setup import make_config

    config = make_config(arguments(tmp_path, workers=2))
    runners = [HandsRunner(config=config, worker_index=index) for index in (1, 2)]
    state = {"rl_module": runners[0].module.get_state(), "weights_seq_no": 7}
    seen = set()
    for runner in runners:
        runner.set_state(state)
        for _ in range(2):
            (hands,) = runner.sample()
            assert 128 <= len(hands) < 200
            rows = hands.decisions.observations
            seen.add(rows.columns[: rows.ends[20]].tobytes())
    assert len(seen) == 4
    first = runners[0].sample()[0].decisions.returns
    lost = HandsRunner(config=config, worker_index=1)
    lost.set_state(state)
    for _ in range(3):
        last = lost.sample()[0].decisions.returns
    assert np.array_equal(first, last)


# The training.


def test_a_training_that_was_killed_ends_as_if_it_had_not_been(tmp_path, monkeypatch):
    from agents.checkpoints import load_checkpoint
    from agents.policies import parse_policy
    from experiments import train_rllib

    whole = train_rllib.train(arguments(tmp_path / "whole"))
    update, calls = train_rllib.RllibPpo.update, []

    def killed(learner):
        calls.append(learner.steps)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return update(learner)

    monkeypatch.setattr(train_rllib.RllibPpo, "update", killed)
    with pytest.raises(KeyboardInterrupt):
        train_rllib.train(arguments(tmp_path / "parts"))
    parts = train_rllib.train(arguments(tmp_path / "parts"))
    assert calls[3] == calls[2] > 0
    tensors, again = load_checkpoint(whole)[0], load_checkpoint(parts)[0]
    assert all(np.array_equal(tensors[name], again[name]) for name in tensors)
    records = [
        [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        for folder in (tmp_path / "whole", tmp_path / "parts")
    ]
    for one, other in zip(*records, strict=True):
        for name in ("steps", "entropy", "value_loss", "learning_rate", "num_hands_sampled"):
            assert one[name] == other[name], name
        assert one["illegal_moves"] == 0
    assert parse_policy(f"net:{whole}", "bestia", 4).network is not None


def test_rllibs_own_runners_play_by_the_rules_too(tmp_path):
    from experiments.train_rllib import RllibPpo

    learner = RllibPpo(arguments(tmp_path, batched=False, sort_suits=False, num_players=3))
    record = learner.update()
    assert record["illegal_moves"] == 0
    assert learner.steps >= 256
    assert learner.network().num_players == 3


def test_it_learns_to_beat_random_players(tmp_path):
    from agents.arena import one_against_field
    from agents.policies import NETWORK, Policy, parse_policy
    from experiments.train_rllib import RllibPpo

    settings = arguments(
        tmp_path,
        total_steps=60_000,
        steps_per_update=6_000,
        batch_size=1000,
        hidden=(64,),
    )
    learner = RllibPpo(settings)
    while learner.steps < settings.total_steps:
        learner.update()
    policy = Policy("learner", "bestia", NETWORK, network=learner.network())
    score = one_against_field(policy, parse_policy("random", "bestia", 4), 1000, seed=8)
    assert score.mean - score.half_width > 0.05


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batched": False}, "give --no-sort-suits with --no-batched"),
        ({"opponents": ("past",)}, "workers keep no past selves"),
        ({"workers": -1}, "workers must be from 0"),
        ({"hidden": ()}, "hidden must be widths"),
    ],
)
def test_arguments_out_of_range_are_refused(changes, message, tmp_path):
    from experiments.train_rllib import train

    with pytest.raises(ValueError, match=message):
        train(dataclasses.replace(arguments(tmp_path / "run"), **changes))
    assert not (tmp_path / "run").exists()
