import json

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


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_training_that_fails_ends_the_league(tmp_path, monkeypatch):
    monkeypatch.setattr(league, "TRAININGS", {"dmc": ("experiments.no_such_module",)})
    with pytest.raises(SystemExit) as ended:
        league.main(league.Arguments(runs=tmp_path, out=tmp_path / "league.json", smoke=True))
    assert ended.value.code == 1
    assert not (tmp_path / "league.json").exists()
