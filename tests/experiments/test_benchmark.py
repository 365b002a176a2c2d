"""The benchmark runs; what it measures is not for tests to judge."""

import json
from pathlib import Path

import pytest

from experiments import benchmark


def test_figures_and_their_file(tmp_path: Path, capsys) -> None:
    out = tmp_path / "speed.json"
    benchmark.main(benchmark.Args(runs=2, seconds=0.01, only=("playouts", "clone"), out=out))
    figures = json.loads(out.read_text(encoding="utf-8"))["figures"]
    assert len(figures) == 6
    assert all(len(figure["values"]) == 2 and min(figure["values"]) > 0 for figure in figures)
    assert all(figure["name"] in capsys.readouterr().out for figure in figures[:1])


def test_a_group_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="playouts, batch"):
        benchmark.main(benchmark.Args(only=("speed",), out=tmp_path / "speed.json"))
