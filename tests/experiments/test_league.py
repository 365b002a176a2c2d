import json
from pathlib import Path

import pytest

from agents.policies import default_specs
from experiments import league


@pytest.mark.parametrize("interrupted", [False, True])
def test_all_learners_and_baselines_stand_in_the_league(interrupted, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(league, "GAMES", ("bestia",))
    arguments = league.Arguments(
        runs=tmp_path / "runs", out=tmp_path / "league.json", jobs=1, smoke=True
    )
    if interrupted:
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.setattr("experiments.arena._run", interrupt)
            league.main(arguments)
        assert ended.value.code == 130
    league.main(arguments)
    rows = json.loads((tmp_path / "league.json").read_text())
    learners = {"bestia-4", "bestia-dmc", "bestia-q", "bestia-sb3"}
    assert {row["policy"] for row in rows} == {*default_specs("bestia"), *learners}
    assert {row["policy"] for row in rows if "steps" in row} == learners
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("| bestia-") for line in lines) == len(learners)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"jobs": 0}, "jobs must be an integer from 1"),
        ({"deals": 1}, "deals must be an integer from 2"),
        ({"out": Path("/dev/null/league.json")}, "/dev/null"),
    ],
)
def test_what_is_wrong_is_said_before_any_training(wrong, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(league, "play", interrupt)
    arguments = {"runs": tmp_path, "out": tmp_path / "league.json", **wrong}
    with pytest.raises(SystemExit) as ended:
        league.main(league.Arguments(**arguments))
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_smoke_run_touches_neither_runs_nor_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(league, "play", lambda *_: [])
    assert league.hold(league.Arguments(smoke=True))[1] == Path("runs/smoke/league.json")
    assert [*tmp_path.iterdir()] == [tmp_path / "runs"]
    assert [*(tmp_path / "runs").iterdir()] == [tmp_path / "runs/smoke"]


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_training_that_fails_ends_the_league(tmp_path, monkeypatch):
    monkeypatch.setattr(league, "TRAININGS", {"dmc": ("experiments.no_such_module",)})
    with pytest.raises(SystemExit) as ended:
        league.main(league.Arguments(runs=tmp_path, out=tmp_path / "league.json", smoke=True))
    assert ended.value.code == 1
    assert not (tmp_path / "league.json").exists()
