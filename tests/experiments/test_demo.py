"""The demonstration, on a tiny budget."""

import json
import sys
from pathlib import Path

import pytest

from experiments import demo


@pytest.mark.slow  # two trainings and two arenas in processes of their own
def test_smoke_leaves_tables_plots_and_policies(tmp_path: Path, capsys) -> None:
    demo.main(demo.Arguments(out=tmp_path, smoke=True))
    said = capsys.readouterr().out
    for game in demo.GAMES:
        assert f"{game}, the learner among copies of each baseline" in said
        facts = json.loads((tmp_path / game / "arena" / "arena.json").read_text(encoding="utf-8"))
        assert facts["policies"][0].startswith("net:") and facts["num_deals"] == 50
        for name in ("learning_curve.png", "arena/arena.png", "training/policy.safetensors"):
            assert (tmp_path / game / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deals": 1}, "deals must be an integer from 2"),
        ({"seed": -1}, "seed must be an integer from 0 to 4294967295, not -1"),
        ({"out": Path(__file__)}, "test_demo.py"),
    ],
)
def test_bad_arguments_exit_with_2(changes, message, tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        demo.main(demo.Arguments(**{"out": tmp_path, **changes}))
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert said.startswith("error: ") and message in said and said.count("\n") == 1


def test_an_interrupt_exits_with_130(tmp_path: Path, monkeypatch, capsys) -> None:
    def interrupt(_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "train", interrupt)
    with pytest.raises(SystemExit) as caught:
        demo.main(demo.Arguments(out=tmp_path))
    assert caught.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_failed_training_is_told_and_ends_the_other(tmp_path: Path, capsys) -> None:
    runs = [demo.Run(game, demo.Arguments(out=tmp_path)) for game in demo.GAMES]
    runs[0]._command = [sys.executable, "-c", "import time; time.sleep(600)"]
    runs[1]._command = [
        sys.executable,
        "-c",
        "import sys; print('error: no', file=sys.stderr); sys.exit(2)",
    ]
    assert demo.train(runs) == 2
    assert capsys.readouterr().err == "beast: error: no\n"
