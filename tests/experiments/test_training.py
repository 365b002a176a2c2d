"""What holds for every training: smoke, the same curve, kills, damage, refusals."""

import dataclasses
import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from agents.networks import load_network
from experiments import training
from experiments.run_folder import Run, read_metrics

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {
    name: importlib.import_module(f"experiments.{name}")
    for name in ("train_ppo", "train_dmc", "train_q", "train_maskable_ppo")
}
TIMES = ("steps_per_second", "seconds")

each = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())


def tiny(script, run_dir: Path, **changes):
    budget = {**script.Arguments.SMOKE, "final_deals": 0, **changes}
    return dataclasses.replace(script.Arguments(run_dir), **budget)


def curve(run_dir: Path) -> list[dict]:
    """The log without what the clock says."""
    lines = (run_dir / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMES} for line in lines]


@each
def test_smoke_leaves_a_policy_that_loads(script, tmp_path, capsys):
    arguments = script.Arguments(
        tmp_path / "run", game="beast", num_players=5, rules=("demonstration=off",), smoke=True
    )
    policy = script.train(arguments)
    facts = json.loads(policy.with_suffix(".json").read_text(encoding="utf-8"))
    steps = script.Arguments.SMOKE["total_steps"]
    assert f"python -m experiments.{script.__name__.rpartition('.')[2]} --" in facts["command"]
    assert f"--game beast --num-players 5 --total-steps {steps}" in facts["command"]
    assert "--rules demonstration=off" in facts["command"]
    assert facts["rules"]["demonstration"] == "off"
    assert facts["seed"] == 0
    assert facts["steps"] >= steps
    assert {"python", "torch", "sb3_contrib"} <= facts["versions"].keys()
    assert all(row["half_width"] > 0 for row in facts["result"])
    assert "random" in capsys.readouterr().out
    hidden = script.Arguments.SMOKE.get("hidden", ())
    assert load_network(policy, "beast", 5).architecture["hidden"] == list(hidden)
    assert list((arguments.run_dir / "tensorboard").iterdir())
    before = policy.read_bytes()
    script.train(arguments)  # a finished run is only reported again
    assert "random" in capsys.readouterr().out
    assert policy.read_bytes() == before


@each
def test_the_same_seed_gives_the_same_curve(script, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        script.train(tiny(script, tmp_path / name, seed=seed, eval_every=500, eval_deals=10))
    curves = [curve(tmp_path / name) for name in "abc"]
    assert curves[0] == curves[1] != curves[2]
    assert any("score/random" in line for line in curves[0])
    policies = [(tmp_path / name / "policy.safetensors").read_bytes() for name in "abc"]
    assert policies[0] == policies[1] != policies[2]


@each
def test_killed_it_goes_on_as_if_nothing_had_happened(script, tmp_path):
    size = tiny(script, tmp_path).total_steps // 4
    budget = {"total_steps": size * 60, "checkpoint_every": size * 8}
    if script is SCRIPTS["train_ppo"]:
        budget |= {"past_every": 2, "past_size": 3, "kl": 0.1, "shared": True, "joined": 0.1}
        budget |= {"opponents": ("past", "sound=2", "net:bestia-4")}
    whole, killed = (tiny(script, tmp_path / name, **budget) for name in ("whole", "killed"))
    command = [sys.executable, *killed.command().split()[1:]]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    log = killed.run_dir / "metrics.jsonl"
    while process.poll() is None and not (log.exists() and len(log.read_bytes().splitlines()) > 10):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (killed.run_dir / "policy.json").exists()
    with log.open("a") as file:  # as if killed in the middle of a line, beyond the checkpoint
        file.write(json.dumps({**json.loads(log.read_text().splitlines()[-1]), "steps": 10**9}))
        file.write('\n{"steps": 1')
    script.train(killed)
    script.train(whole)
    assert curve(killed.run_dir) == curve(whole.run_dir)
    assert len(curve(killed.run_dir)) > 10
    assert killed.run_dir.joinpath("policy.safetensors").read_bytes() == (
        whole.run_dir.joinpath("policy.safetensors").read_bytes()
    )


@each
def test_a_run_with_other_arguments_is_refused(script, tmp_path):
    first = tiny(script, tmp_path, total_steps=1)
    with Run(first).open():
        pass
    with pytest.raises(
        ValueError, match=r"other arguments: game was 'bestia', is 'beast', .*seed was 0, is 1"
    ):
        script.train(dataclasses.replace(first, seed=1, game="beast"))
    with Run(dataclasses.replace(first, checkpoint_every=7)).open():
        pass


def test_a_run_of_another_script_is_refused(tmp_path):
    with Run(tiny(SCRIPTS["train_q"], tmp_path)).open():
        pass
    with pytest.raises(ValueError, match=r"arguments\.json does not hold .* delete this one"):
        SCRIPTS["train_ppo"].train(tiny(SCRIPTS["train_ppo"], tmp_path))


def test_one_process_at_a_time(tmp_path, capsys, monkeypatch):
    """The lock is gone with whoever held it, even by SIGKILL."""
    script = SCRIPTS["train_q"]
    arguments = tiny(script, tmp_path, total_steps=1)
    code = (
        "import sys, pathlib, time; from experiments.run_folder import Run;"
        "from experiments.train_q import *;"
        "words = sys.argv[1:]; import tyro; run = Run(tyro.cli(Arguments, args=words));"
        "held = run.open(); held.__enter__(); print('held', flush=True); time.sleep(600)"
    )
    words = arguments.command().split()[3:]
    holder = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        assert command_line(script, words, monkeypatch) == 2
        assert capsys.readouterr().err == f"error: {tmp_path} is in use by another process\n"
    finally:
        holder.kill()
        holder.communicate()
    script.train(arguments)


def command_line(script, words, monkeypatch) -> int:
    """The exit code of a command line."""
    monkeypatch.setattr(sys, "argv", ["prog", *words])
    with pytest.raises(SystemExit) as caught:
        training.main(script.Arguments, script.train, script.__doc__)
    return caught.value.code


def flipped(content: bytes, place: float) -> bytes:
    """One bit is another, so far into the file."""
    changed = bytearray(content)
    changed[int(place * len(changed))] ^= 64
    return bytes(changed)


@pytest.fixture(scope="module", params=SCRIPTS.values(), ids=SCRIPTS.keys())
def finished(request, tmp_path_factory):
    script = request.param
    arguments = tiny(script, tmp_path_factory.mktemp("finished") / "run", final_deals=2)
    script.train(arguments)
    return script, arguments


@pytest.fixture
def run(finished, tmp_path):
    """A finished run of one's own."""
    script, arguments = finished
    shutil.copytree(arguments.run_dir, tmp_path / "run")
    return script, dataclasses.replace(arguments, run_dir=tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("checkpoint.pt", lambda old: old[:-900], "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda old: old[: len(old) // 10], "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda _: b"", "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda _: b"rubbish", "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda old: flipped(old, 0.02), "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda old: flipped(old, 0.5), "checkpoint.pt is damaged: delete it"),
        ("checkpoint.pt", lambda old: flipped(old, 0.9), "checkpoint.pt is damaged: delete it"),
        ("arguments.json", lambda _: b"[]", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"{}", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"{", "arguments.json does not hold .* delete"),
        ("arguments.json", lambda _: b"\xff", "arguments.json does not hold .* delete"),
    ],
)
def test_damage_is_named(name, damage, message, run):
    script, arguments = run
    arguments.run_dir.joinpath("policy.json").unlink()
    file = arguments.run_dir / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        script.train(arguments)
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
    script, arguments = run
    file = arguments.run_dir / name
    before = (arguments.run_dir / "policy.safetensors").read_bytes()
    file.unlink() if content is None else file.write_bytes(content)
    (arguments.run_dir / "metrics.jsonl").unlink()  # not needed for it
    load_network(script.train(arguments), "bestia", 4)
    assert (arguments.run_dir / "policy.safetensors").read_bytes() == before


def test_damaged_lines_of_the_log_are_left_out(tmp_path):
    file = tmp_path / "metrics.jsonl"
    assert read_metrics(file) == []
    file.write_bytes(b'{"steps": 1}\n\xff{\n[1]\n{"steps": "2"}\n\n{"steps": 3}\n{"steps": 4}')
    assert read_metrics(file) == [{"steps": 1}, {"steps": 3}]


def test_a_terminal_of_few_letters_is_enough(run, monkeypatch):
    script, arguments = run
    screen = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "argv", ["prog", *arguments.command().split()[3:]])
    training.main(script.Arguments, script.train, script.__doc__)
    screen.flush()
    assert b"random" in screen.buffer.getvalue()


def test_one_step_of_one_table_is_enough(tmp_path):
    script = SCRIPTS["train_q"]
    script.train(tiny(script, tmp_path / "run", total_steps=3, num_envs=1, steps_per_update=1))


@each
def test_a_folder_that_is_no_run_is_refused(script, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="is not empty and holds no training run"):
        script.train(tiny(script, tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        script.train(tiny(script, tmp_path / "thesis.tex"))


SELF_PLAY, Q, SB3 = {"train_ppo", "train_dmc"}, {"train_q"}, {"train_maskable_ppo"}
ALL = SELF_PLAY | Q | SB3
BAD = [
    (ALL, {"total_steps": 0}, "total_steps must be from 1 to .*, not 0"),
    (ALL, {"checkpoint_every": 0}, "checkpoint_every must be from 1 to .*, not 0"),
    (ALL, {"final_deals": 1}, "final_deals must be 0 or at least 2, not 1"),
    (ALL, {"eval_deals": 1}, "eval_deals must be 0 or at least 2, not 1"),
    (ALL, {"eval_every": -1}, "eval_every must be from 0 to .*, not -1"),
    (ALL, {"seed": 2**32}, "seed must be from 0 to 4294967295, not 4294967296"),
    (ALL, {"learning_rate": float("nan")}, "learning_rate must be from 1e-09 to .*, not nan"),
    (ALL, {"rules": ("forse=True",)}, "forse"),
    (ALL, {"rules": ("stake=4",)}, "stake must be an integer .* not 4"),
    (ALL, {"num_players": 2}, "num_players of bestia must be"),
    (ALL - Q, {"hidden": ()}, "hidden must be widths from 1 to 10000"),
    (ALL - Q, {"pots": ("1", "01")}, "pots must be different, but '01' is named twice"),
    (ALL - Q, {"pots": ("0",)}, "pots must be whole multiples of the opening pot, .* not 0"),
    (ALL - Q, {"pots": ("1.5",)}, "pots must be whole numbers of opening pots, not '1.5'"),
    (ALL - Q, {"opponents": ("random=x",)}, "'random=x': the weight must be a number, not 'x'"),
    (ALL - Q, {"opponents": ("wizard",)}, "unknown policy 'wizard'"),
    (SELF_PLAY, {"opponents": ("net:bestia-5=2",)}, "plays bestia with 5 players, not 4"),
    (SELF_PLAY, {"opponents": ("knock if trumpets >= 2=1",)}, "trumpets"),
    (ALL - Q, {"opponents": ("random", "random=2")}, "must be different, but 'random' is"),
    (ALL - Q, {"hidden": (10**9,)}, "hidden must be widths from 1 to 10000"),
    (ALL - Q, {"opponents": ("tight=nan",)}, "the weight of 'tight' must be a number from 0"),
    (ALL - Q, {"opponents": ("tight=1e308", "random=1e308")}, "sum above 0 that is finite"),
    (ALL - Q, {"opponents": ("threshold", "threshold:0.60")}, "'threshold:0.60' is the same as"),
    (SELF_PLAY, {"past_size": 10**4}, "past_size must be from 1 to 1000"),
    (ALL - Q, {"epochs": 0}, "epochs must be from 1 to .*, not 0"),
    (SELF_PLAY, {"alone": 1.5}, "alone must be from 0 to 1, not 1.5"),
    (SELF_PLAY, {"alone": 0.6, "joined": 0.6}, "alone and joined must be at most 1 together"),
    (SELF_PLAY, {"threads": 0}, "threads must be from 1 to 1024, not 0"),
    ({"train_ppo"}, {"kl": -0.1}, "kl must be from 0 to 1, not -0.1"),
    ({"train_ppo"}, {"start": "wizard"}, "unknown policy 'wizard'"),
    ({"train_ppo"}, {"start": "sound"}, "start must be the spec of a network, not 'sound'"),
    (
        {"train_ppo"},
        {"start": "net:bestia-4", "hidden": (128,)},
        r"net:bestia-4 has hidden \[128, 128\], the training \[128\]",
    ),
    (
        {"train_ppo"},
        {"start": "net:bestia-4", "hidden": (128, 128), "sort_suits": False},
        "net:bestia-4 has sort_suits True, the training False",
    ),
    ({"train_ppo"}, {"gae_lambda": float("nan")}, "gae_lambda must be from 0 to 1, not nan"),
    ({"train_dmc"}, {"temperature": 0}, "temperature must be from 0.001 to 100, not 0"),
    (Q, {"exploration": 1.1}, "exploration must be from 0 to 1, not 1.1"),
    (SB3, {"entropy": -0.1}, "entropy must be from 0 to 1, not -0.1"),
    (SB3, {"clip": 0.0}, "clip must be from 1e-09 to 1, not 0.0"),
    (SB3, {"same_opponents": 1.5}, "same_opponents must be from 0 to 1, not 1.5"),
    (SB3, {"num_envs": 1, "steps_per_update": 1}, "must be at least 2, not 1"),
    (SB3, {"batch_size": 1}, "a minibatch of a single one of the 128 .* as 1 does"),
    (SB3, {"batch_size": 127}, "a minibatch of a single one of the 128 .* as 127 does"),
]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [(name, changes, message) for names, changes, message in BAD for name in sorted(names)],
)
def test_bad_arguments_are_named_before_anything_is_written(name, changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        SCRIPTS[name].train(tiny(SCRIPTS[name], tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


@each
def test_the_command_stands_for_the_arguments(script, tmp_path):
    import tyro

    arguments = tiny(script, tmp_path, rules=("force=True",), sort_suits=False)
    if script is not SCRIPTS["train_q"]:
        arguments = dataclasses.replace(arguments, opponents=("random=2", "random"))
    words = arguments.command().split()
    assert words[:3] == ["python", "-m", script.Arguments.MODULE]
    assert tyro.cli(script.Arguments, args=words[3:]) == arguments


@each
def test_every_argument_is_explained(script, capsys, monkeypatch):
    assert command_line(script, ["--help"], monkeypatch) == 0
    text = " ".join(capsys.readouterr().out.split())
    for field in dataclasses.fields(script.Arguments):
        assert f"--{field.name.replace('_', '-')}" in text
    assert "Where everything goes" in text


@each
def test_errors_leave_no_traceback(script, tmp_path, monkeypatch, capsys):
    words = ["--run-dir", str(tmp_path / "run"), "--learning-rate", "-1"]
    assert command_line(script, words, monkeypatch) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: learning_rate must be from 1e-09 to ")
    assert error.count("\n") == 1


def test_an_interrupt_exits_with_130(tmp_path, monkeypatch, capsys):
    def interrupt(_):
        raise KeyboardInterrupt

    script = SCRIPTS["train_q"]
    script = types.SimpleNamespace(Arguments=script.Arguments, train=interrupt, __doc__=None)
    assert command_line(script, ["--run-dir", str(tmp_path / "run")], monkeypatch) == 130
    assert "the same command goes on" in capsys.readouterr().err


BUDGETS = {
    "train_ppo": {"total_steps": 400_000, "hidden": (64,)},
    "train_dmc": {"total_steps": 400_000, "hidden": (64,)},
    "train_q": {"total_steps": 1_500_000},
    "train_maskable_ppo": {
        "total_steps": 150_000, "hidden": (64,), "num_envs": 256, "opponents": ("random",),
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("game", ["beast", "bestia"])
@each
def test_it_learns_to_beat_random(script, game, tmp_path):
    name = script.__name__.rpartition(".")[2]
    arguments = script.Arguments(
        tmp_path / "run", game=game, final_deals=2000, seed=1, **BUDGETS[name]
    )
    policy = script.train(arguments)
    facts = json.loads(policy.with_suffix(".json").read_text(encoding="utf-8"))
    row = next(row for row in facts["result"] if row["field"] == "random")
    assert row["mean"] - row["half_width"] > 0.1, row
