import dataclasses
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents.networks import load_network
from experiments import train_maskable_ppo as script
from experiments.run_folder import read_metrics
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
    with script.Run(first).open():
        pass
    with pytest.raises(
        ValueError,
        match=r"other arguments: clip was 0\.2, is 0\.3, game was 'bestia', is 'beast', ",
    ):
        train(dataclasses.replace(first, clip=0.3, game="beast"))
    with script.Run(dataclasses.replace(first, checkpoint_every=7)).open():
        pass


def test_one_process_at_a_time(tmp_path, capsys, monkeypatch):
    """The lock is gone with whoever held it, even by SIGKILL."""
    arguments = tiny(tmp_path, total_steps=1)
    code = (
        "import sys, pathlib, time; from experiments.run_folder import Run;"
        "from experiments.train_maskable_ppo import *;"
        "words = sys.argv[1:]; import tyro; run = Run(tyro.cli(Arguments, args=words));"
        "held = run.open(); held.__enter__(); print('held', flush=True); time.sleep(600)"
    )
    words = script.command(arguments).split()[3:]
    holder = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        monkeypatch.setattr(sys, "argv", ["prog", *words])
        with pytest.raises(SystemExit) as caught:
            script.main()
        assert caught.value.code == 2
        assert capsys.readouterr().err == f"error: {tmp_path} is in use by another process\n"
    finally:
        holder.kill()
        holder.communicate()
    train(arguments)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Arguments:
    arguments = tiny(tmp_path_factory.mktemp("finished") / "run", total_steps=256, eval_deals=2)
    train(arguments)
    return arguments


@pytest.fixture
def run(finished, tmp_path) -> Arguments:
    """A finished run of one's own."""
    shutil.copytree(finished.run_dir, tmp_path / "run")
    return dataclasses.replace(finished, run_dir=tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("checkpoint.pt", lambda old: old[:-900], "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda old: old[: len(old) // 10], "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda _: b"", "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda _: b"rubbish", "checkpoint.pt is damaged: delete it"),
        ("arguments.json", lambda _: b"[]", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"{}", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"{", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"\xff", "arguments.json does not hold .* delete"),
    ],
)
def test_damage_is_named(name, damage, message, run):
    run.run_dir.joinpath("policy.json").unlink()
    file = run.run_dir / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        train(run)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("policy.json", b"{"),
        ("policy.json", None),
        ("policy.safetensors", None),
        ("policy.safetensors", b"rubbish"),
    ],
)
def test_a_damaged_policy_is_written_again(name, content, run):
    file = run.run_dir / name
    before = (run.run_dir / "policy.safetensors").read_bytes()
    file.unlink() if content is None else file.write_bytes(content)
    (run.run_dir / "metrics.jsonl").unlink()  # not needed for it
    load_network(train(run), "bestia", 4)
    assert (run.run_dir / "policy.safetensors").read_bytes() == before


def test_damaged_lines_of_the_log_are_left_out(tmp_path):
    file = tmp_path / "metrics.jsonl"
    assert read_metrics(file) == []
    file.write_bytes(b'{"steps": 1}\n\xff{\n[1]\n{"steps": "2"}\n\n{"steps": 3}\n{"steps": 4}')
    assert read_metrics(file) == [{"steps": 1}, {"steps": 3}]


def test_a_terminal_of_few_letters_is_enough(run, monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "argv", ["prog", *script.command(run).split()[3:]])
    script.main()
    screen.flush()
    assert b"random" in screen.buffer.getvalue()


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
        ({"entropy": -0.1}, "entropy must be from 0 to 1, not -0.1"),
        ({"gae_lambda": float("nan")}, "gae_lambda must be from 0 to 1, not nan"),
        ({"clip": 0.0}, "clip must be from 1e-09 to 1, not 0.0"),
        ({"clip": 1.5}, "clip must be from 1e-09 to 1, not 1.5"),
        ({"learning_rate": float("nan")}, "learning_rate must be from 1e-09 to 1, not nan"),
        ({"same_opponents": 1.5}, "same_opponents must be from 0 to 1, not 1.5"),
        ({"eval_deals": 1}, "eval_deals must be 0 or at least 2, not 1"),
        ({"eval_deals": -1}, "eval_deals must be from 0 to .*, not -1"),
        ({"seed": 2**32}, "seed must be from 0 to 4294967295, not 4294967296"),
        ({"num_envs": 1, "steps_per_update": 1}, "must be at least 2, not 1"),
        ({"batch_size": 1}, "a minibatch of a single one of the 128 .* as 1 does"),
        ({"batch_size": 127}, "a minibatch of a single one of the 128 .* as 127 does"),
        ({"opponents": ("random", "random=2")}, "opponents must be different, but 'random' is"),
        ({"pots": ("1", "01")}, "pots must be different, but '01' is named twice"),
        ({"pots": ("0",)}, "pots must be whole multiples of the opening pot, .* not 0"),
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


def test_errors_leave_no_traceback(tmp_path, monkeypatch, capsys):
    words = ["prog", "--run-dir", str(tmp_path / "run"), "--clip", "-1"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as caught:
        script.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == "error: clip must be from 1e-09 to 1, not -1.0\n"


def test_an_interrupt_exits_with_130(tmp_path, monkeypatch, capsys):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["prog", "--run-dir", str(tmp_path / "run")])
    monkeypatch.setattr(script, "train", interrupt)
    with pytest.raises(SystemExit) as caught:
        script.main()
    assert caught.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_it_learns_to_beat_random(game, tmp_path):
    arguments = Arguments(
        tmp_path / "run", game=game, total_steps=150_000, hidden=(64,), num_envs=256,
        opponents=("random",), eval_deals=0, learning_rate=2e-3,
    )  # fmt: skip
    train(arguments)
    first, *_ = updates = curve(arguments.run_dir)
    assert abs(first["reward_mean"]) < 0.1
    late = updates[-10:]  # one update alone is too few hands to judge by
    hands = sum(update["hands"] for update in late)
    mean = sum(update["hands"] * update["reward_mean"] for update in late) / hands
    error = sum((update["hands"] * update["reward_half_width"]) ** 2 for update in late) ** 0.5
    assert mean - error / hands > 0.15, (mean, error / hands)
