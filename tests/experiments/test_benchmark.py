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


def test_a_part_alone_replaces_no_results(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    benchmark.main(benchmark.Args(runs=1, seconds=0.01, only=("clone",)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"only": ("speed",)}, "--only takes playouts, batch"),
        ({"runs": 0}, "--runs must be at least 1"),
        ({"seconds": 0.0}, "--seconds above 0"),
        ({"seconds": float("nan")}, "--seconds above 0"),
        ({"only": ("clone",), "out": Path("/dev/null/speed.json")}, "/dev/null"),
    ],
)
def test_arguments_that_are_refused(arguments, message, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        benchmark.main(benchmark.Args(**arguments))
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
