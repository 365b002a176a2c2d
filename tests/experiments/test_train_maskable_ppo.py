import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents.networks import load_network
from experiments import train_maskable_ppo as script
from experiments.train_maskable_ppo import Arguments, train

ROOT = Path(__file__).resolve().parents[2]
TIMES = ("steps_per_second", "seconds")


def tiny(run_dir: Path, **changes) -> Arguments:
    return dataclasses.replace(Arguments(run_dir), **{**script.SMOKE, "eval_deals": 0, **changes})


def curve(run_dir: Path) -> list[dict]:
    """The log without what the clock says."""
    lines = (run_dir / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMES} for line in lines]


def test_smoke_leaves_a_policy_that_loads(tmp_path, capsys):
    arguments = Arguments(tmp_path / "run", game="beast", rules=("demonstration=off",), smoke=True)
    policy = train(arguments)
    facts = json.loads(policy.with_suffix(".json").read_text(encoding="utf-8"))
    assert "--game beast --total-steps 512" in facts["command"]
    assert "--rules demonstration=off" in facts["command"]
    assert facts["rules"]["demonstration"] == "off"
    assert facts["seed"] == 0
    assert facts["steps"] == script.SMOKE["total_steps"]
    assert {"python", "torch", "sb3_contrib"} <= facts["versions"].keys()
    assert all(row["half_width"] > 0 for row in facts["result"])
    assert "random" in capsys.readouterr().out
    assert load_network(policy, "beast", 4).architecture["hidden"] == [16]
    assert list((arguments.run_dir / "tensorboard").iterdir())
    before = policy.read_bytes()
    train(arguments)  # a finished run is only reported again
    assert "random" in capsys.readouterr().out
    assert policy.read_bytes() == before


def test_the_network_is_the_models(tmp_path):
    from agents.networks import network_of_sb3, save_network

    arguments = tiny(tmp_path / "run", hidden=(12, 9))
    env = script.make_env(arguments)
    model = script.make_model(arguments, env)
    observations = env.reset()
    save_network(tmp_path / "net.safetensors", network_of_sb3(model.policy, "bestia", 4))
    network = load_network(tmp_path / "net.safetensors", "bestia", 4)
    rng = np.random.default_rng(0)
    for _ in range(8):
        masks = env.action_masks()
        import torch

        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.from_numpy(observations), masks)
        np.testing.assert_allclose(
            network.probabilities(observations, masks),
            distribution.distribution.probs.numpy(),
            atol=1e-5,
        )
        observations, *_ = env.step((masks * rng.random(masks.shape)).argmax(axis=1))


def test_the_same_seed_gives_the_same_curve(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        train(tiny(tmp_path / name, seed=seed))
    assert curve(tmp_path / "a") == curve(tmp_path / "b") != curve(tmp_path / "c")
    policies = [(tmp_path / name / "policy.safetensors").read_bytes() for name in "abc"]
    assert policies[0] == policies[1] != policies[2]


def test_killed_it_goes_on_as_if_nothing_had_happened(tmp_path):
    budget = {"total_steps": 128 * 20, "checkpoint_every": 128 * 3}
    whole, killed = (tiny(tmp_path / name, **budget) for name in ("whole", "killed"))
    command = [sys.executable, *script.command(killed).split()[1:]]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    log = killed.run_dir / "metrics.jsonl"
    while process.poll() is None and not (log.exists() and len(log.read_bytes().splitlines()) > 4):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (killed.run_dir / "policy.json").exists()
    with log.open("a") as file:  # as if killed in the middle of a line, beyond the checkpoint
        file.write(json.dumps({**json.loads(log.read_text().splitlines()[-1]), "steps": 10**9}))
        file.write('\n{"steps": 1')
    train(killed)
    train(whole)
    assert curve(killed.run_dir) == curve(whole.run_dir)
    steps = [line["steps"] for line in curve(killed.run_dir)]
    assert steps == list(range(128, 128 * 21, 128))
    assert killed.run_dir.joinpath("policy.safetensors").read_bytes() == (
        whole.run_dir.joinpath("policy.safetensors").read_bytes()
    )


def test_a_run_with_other_arguments_is_refused(tmp_path):
    first = tiny(tmp_path, total_steps=1)
    script.Run(first).open()
    with pytest.raises(
        ValueError,
        match=r"other arguments: clip was 0\.2, is 0\.3, game was 'bestia', is 'beast', ",
    ):
        train(dataclasses.replace(first, clip=0.3, game="beast"))
    script.Run(dataclasses.replace(first, checkpoint_every=7)).open()


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="is not empty and holds no training run"):
        train(tiny(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        train(tiny(tmp_path / "thesis.tex"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"total_steps": 0}, "total_steps must be from 1 to .*, not 0"),
        ({"clip": 1.5}, "clip must be from 0 to 1, not 1.5"),
        ({"learning_rate": float("nan")}, "learning_rate must be from 0 to 1, not nan"),
        ({"eval_deals": 1}, "a single deal has no interval"),
        ({"hidden": ()}, "hidden must be widths of at least 1"),
        ({"opponents": ("random=x",)}, "'random=x': the weight must be a number, not 'x'"),
        ({"opponents": ("wizard",)}, "unknown policy 'wizard'"),
        ({"rules": ("forse=True",)}, "forse"),
        ({"rules": ("stake=4",)}, "stake must be an integer .* not 4"),
        ({"pots": ("1.5",)}, "pots must be whole numbers of opening pots, not '1.5'"),
        ({"num_players": 2}, "num_players of bestia must be"),
    ],
)
def test_bad_arguments_are_named_before_anything_is_written(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(tiny(tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


def test_the_command_stands_for_the_arguments(tmp_path):
    import tyro

    arguments = tiny(
        tmp_path, opponents=("random=2", "random"), rules=("force=True",), sort_suits=False
    )
    words = script.command(arguments).split()
    assert words[:3] == ["python", "-m", "experiments.train_maskable_ppo"]
    assert tyro.cli(Arguments, args=words[3:]) == arguments


def test_errors_leave_no_traceback(tmp_path, monkeypatch):
    words = ["prog", "--run-dir", str(tmp_path / "run"), "--total-steps", "-1"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit, match="error: total_steps must be from 1 to .*, not -1"):
        script.main()


@pytest.mark.slow
@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_it_learns_to_beat_random(game, tmp_path):
    arguments = Arguments(
        tmp_path / "run", game=game, total_steps=150_000, hidden=(64,), num_envs=256,
        opponents=("random",), eval_deals=0, learning_rate=2e-3,
    )  # fmt: skip
    train(arguments)
    first, *_, last = curve(arguments.run_dir)
    assert abs(first["reward_mean"]) < 0.1
    assert last["reward_mean"] - last["reward_half_width"] > 0.15
