"""Stand-ins measured by a command line."""

import json

import pytest

from experiments import measure_stand_ins
from experiments.measure_stand_ins import Arguments, main

ROW = {"one": "random", "field": "sound", "mean": 0.1, "half_width": 0.2, "checked": 0.3}
TABLE = {"deals": 300, "pairs": [ROW]}


def test_tables_that_are_there_stay_though_others_write_them_meanwhile(tmp_path, monkeypatch):
    out = tmp_path / "some" / "pairs.json"

    def measure(game, *_):
        if game == "bestia":
            tables = json.loads(out.read_text())
            out.write_text(json.dumps({**tables, "beast-6": TABLE}))
        return TABLE

    monkeypatch.setattr(measure_stand_ins, "measure", measure)
    main(Arguments(out=out))
    assert json.loads(out.read_text()) == dict.fromkeys(["beast-4", "beast-6", "bestia-4"], TABLE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_players": 2}, "num_players of beast must be an integer from 4 to 6, not 2"),
        ({"deals": 255}, "deals must be an integer from 256"),
        ({"jobs": 0}, "jobs must be an integer from 1"),
    ],
)
def test_wrong_arguments_end_in_one_line(changes, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure_stand_ins, "measure", None)
    with pytest.raises(SystemExit, match="2"):
        main(Arguments(out=tmp_path / "pairs.json", **changes))
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1


@pytest.mark.parametrize("text", ["", "[1]", "\xff", '{"beast-4": {"deals": 3}}', "[" * 100_000])
def test_a_file_of_something_else_is_named_and_stays(text, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure_stand_ins, "measure", None)
    out = tmp_path / "pairs.json"
    out.write_text(text, encoding="latin-1")
    with pytest.raises(SystemExit, match="2"):
        main(Arguments(out=out))
    assert f"{out} holds no tables of stand-ins: delete it" in capsys.readouterr().err
    assert out.read_text(encoding="latin-1") == text


def test_a_folder_in_the_place_of_the_file_is_refused_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure_stand_ins, "measure", None)
    with pytest.raises(SystemExit, match="2"):
        main(Arguments(out=tmp_path))
    assert "it is no plain file" in capsys.readouterr().err
