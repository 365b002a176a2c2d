import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from agents import duplicate
from agents.policies import default_specs
from experiments import league
from experiments.best_response import best_known

LEARNERS = {"net:bestia-4", "bestia-dmc", "bestia-q", "bestia-sb3"}


@pytest.fixture
def arguments(tmp_path, monkeypatch) -> league.Arguments:
    """One game, and nobody who takes minutes to compile."""
    monkeypatch.setattr(league, "GAMES", ("bestia",))
    monkeypatch.setattr(league, "SEARCHERS", ("threshold:0.3",))
    monkeypatch.setattr(league, "CEILING", "bold")
    return league.Arguments(
        runs=tmp_path / "runs", out=tmp_path / "league.json", jobs=1, smoke=True
    )


def test_learners_bids_search_and_baselines_stand_in_one_league(arguments, capsys):
    league.main(arguments)
    *rows, last = json.loads(arguments.out.read_text())
    others = {*default_specs("bestia"), "bids:bestia-4", "threshold:0.3"}
    assert {row["policy"] for row in rows} == others | LEARNERS
    assert {row["policy"] for row in rows if "steps" in row} == LEARNERS
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)
    assert last["ceiling"] and last["policy"] == "bold"
    assert not any("ceiling" in row for row in rows)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("| ") for line in lines) == len(rows) + 1
    assert sum(line.startswith("bold, which sees all cards, has ") for line in lines) == 1
    assert not [*arguments.runs.glob("*.npz")]


def test_an_interrupted_league_goes_on_and_comes_out_alike(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(league, "TRAININGS", {})
    monkeypatch.setattr(duplicate, "PIECE", 16)
    whole, _ = league.hold(arguments)
    play, begun = duplicate.played, []

    def interrupted(table, policies, tells, piece):
        if len(begun) == 2:
            raise KeyboardInterrupt
        begun.append(piece)
        return play(table, policies, tells, piece)

    with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(duplicate, "played", interrupted)
        league.main(arguments)
    assert ended.value.code == 130

    def noted(table, policies, tells, piece):
        if piece.lineup is None:  # else it is played for the luck
            begun.append(piece)
        return play(table, policies, tells, piece)

    monkeypatch.setattr(duplicate, "played", noted)
    assert league.hold(arguments)[0] == whole
    assert [piece.start for piece in begun] == [0, 16, 32, 48] * 2


def test_scores_of_other_settings_are_not_gone_on_with(tmp_path):
    file = tmp_path / "scores.npz"
    scores = [np.arange(8.0).reshape(2, 4), np.ones((1, 4))]
    assert league._load(file, "one") == []
    league._save(file, "one", scores)
    assert league._load(file, "two") == []
    for loaded, saved in zip(league._load(file, "one"), scores, strict=True):
        np.testing.assert_array_equal(loaded, saved)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"scores\.npz is damaged: delete it"):
        league._load(file, "one")


ROW = {
    "game": "beast", "policy": "bold", "digest": "x", "mean": 0.1, "half_width": 0.01,
    "num_deals": 1000, "rating": {"points": 5.4, "low": 4, "high": 6},
}  # fmt: skip
GAIN = {
    "game": "beast", "num_players": 4, "victim": "bold", "digest": "x", "kind": "one",
    "steps": 5, "own_steps": 6, "gain": {"mean": 0.02, "half_width": 0.001},
    "candidates": [{"validation": {"mean": 0.1}}],
}  # fmt: skip
BETTER = {
    **GAIN, "gain": {"mean": 0.03, "half_width": 0.002}, "steps": 6,
    "candidates": [{"validation": {"mean": 0.2}}],
}  # fmt: skip


def test_the_table_shows_what_a_best_responder_gains():
    rows = [
        ROW,
        {**ROW, "digest": "y", "steps": 10**6, "seconds": 90},
        {**ROW, "ceiling": True},
        {**ROW, "digest": "z"},
    ]
    lines = league.table(rows, [{**BETTER, "digest": "y"}, GAIN])
    begin = "| bold | +0.1000 ± 0.0100 | +5 (+4 to +6) |"
    assert lines[4:] == [
        "| Beast, 4 players | pots per hand | rating | best responder gains | training |",
        "|---|---|---|---|---|",
        f"{begin} +0.0200 ± 0.0010* | none |",
        f"{begin} +0.0300 ± 0.0020 | 1.0 M decisions, 1.5 min |",
        f"{begin} not measured | none |",
        "",
        "bold, which sees all cards, has +0.1000 ± 0.0100 pots per hand where it sits among these "
        "(1,000 deals).",
        "",
    ]


def test_gains_are_those_of_the_policy_at_its_table_and_of_one_responder():
    others = {"game": "bestia", "num_players": 5, "digest": "y", "kind": "coalition"}
    wrong = [{**BETTER, name: value} for name, value in others.items()]
    assert best_known([GAIN, *wrong], "beast", 4, "x") == GAIN
    assert best_known([BETTER, GAIN], "beast", 4, "x") == BETTER
    assert best_known(wrong, "beast", 4, "x") is None


def test_standings_are_shown_without_playing(arguments, capsys, monkeypatch):
    monkeypatch.setattr(league, "play", interrupt)
    show = dataclasses.replace(arguments, show=True)
    for content, message in (
        (None, "there are no standings"),
        ("[{}]", "holds no standings of this version"),
    ):
        if content is not None:
            arguments.out.write_text(content)
        with pytest.raises(SystemExit):
            league.main(show)
        assert message in capsys.readouterr().err
    arguments.out.write_text(json.dumps([{**ROW, "game": "bestia"}]))
    league.main(show)
    assert "| bold | +0.1000 ± 0.0100 | +5 (+4 to +6) | not measured |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"jobs": 0}, "jobs must be an integer from 1"),
        ({"deals": 49}, "deals must be an integer from 50"),
        ({"ceiling_deals": 49}, "ceiling_deals must be an integer from 50"),
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
