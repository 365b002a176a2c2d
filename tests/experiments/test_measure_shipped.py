import dataclasses
import json

import pytest

from experiments import measure_shipped as script
from experiments.measure_shipped import Arguments, measure, tables


@pytest.fixture
def arguments(tmp_path) -> Arguments:
    return Arguments(policies=("bestia-3",), pots=(1, 8), deals=20, out=tmp_path / "shipped.json")


def test_an_interrupted_run_goes_on(arguments, monkeypatch):
    whole = measure(dataclasses.replace(arguments, out=arguments.out.with_name("whole.json")))
    figures, calls = script._figures, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return figures(*given)

    monkeypatch.setattr(script, "_figures", interrupted)
    with pytest.raises(SystemExit) as caught:
        script.main(arguments)
    assert caught.value.code == 130
    assert len(json.loads(arguments.out.read_text())) == 3
    assert measure(arguments) == whole
    assert len(calls) == 4 + 12 - 3
    assert json.loads(arguments.out.read_text()) == whole


def test_nothing_known_is_lost(arguments, monkeypatch):
    first = measure(arguments)
    second = measure(dataclasses.replace(arguments, pots=(2,)))
    assert json.loads(arguments.out.read_text()) == first + second
    done = json.loads(arguments.out.read_text())
    monkeypatch.setattr(script, "_figures", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        measure(dataclasses.replace(arguments, pots=(4, 1, 2, 8)))
    assert json.loads(arguments.out.read_text()) == done
    assert measure(dataclasses.replace(arguments, pots=(8, 1))) == first[6:] + first[:6]


def test_what_misses_an_aim_is_marked():
    good, bad = {"mean": 0.03, "half_width": 0.002}, {"mean": 0.02, "half_width": 0.009}
    low, high = {"mean": -0.03, "half_width": 0.01}, {"mean": 0.009, "half_width": 0.002}
    rows = [
        {"policy": "bestia-3", "pot": 1, "baseline": "tight", "gain": good, "leak": low},
        {"policy": "bestia-4", "pot": 1, "baseline": "tight", "gain": bad, "leak": high},
    ]
    assert tables(rows) == [
        "Bestia, pot 1: policy among copies of",
        "| | bestia-3 | bestia-4 |",
        "|---|---|---|",
        "| tight | +0.0300 ± 0.0020 | +0.0200 ± 0.0090* |",
        "",
        "Bestia, pot 1: one among policies",
        "| | bestia-3 | bestia-4 |",
        "|---|---|---|",
        "| tight | -0.0300 ± 0.0100 | +0.0090 ± 0.0020* |",
        "",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": ("bestia-99",)}, "no policy 'bestia-99' is shipped"),
        ({"deals": 1}, "deals must be an integer from 2"),
        ({"pots": ()}, "there is nothing to measure"),
        ({"pots": (0,)}, "pots must be an integer from 1"),
        ({"jobs": 0}, "jobs must be an integer from 1"),
    ],
)
def test_bad_arguments_exit_with_2(changes, message, arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        script.main(dataclasses.replace(arguments, **changes))
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and message in said
    assert not arguments.out.exists()


@pytest.mark.parametrize("content", ["{", "null", "[1]", "[{}]", "[" * 100_000])
def test_a_damaged_file_is_named(content, arguments, capsys):
    arguments.out.write_text(content)
    with pytest.raises(SystemExit):
        script.main(arguments)
    assert "shipped.json holds no figures of this kind: delete it" in capsys.readouterr().err
