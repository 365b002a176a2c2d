import json

import pytest

from agents.equilibria.solutions import certify, load, names
from experiments.solve_reduced import Arguments, main, solve_all, table


def test_what_is_written_is_certified(tmp_path, capsys):
    main(Arguments(("beast2-tiny", "bestia3-tiny"), out=tmp_path, smoke=True))
    assert names(tmp_path) == ["beast2-tiny", "bestia3-tiny"]
    for name in names(tmp_path):
        solution = load(name, tmp_path)
        assert certify(solution).nash_conv <= 1e-4
        assert solution.certificate["command"].endswith(f"experiments.solve_reduced {name}")
        assert f"| {name} |" in capsys.readouterr().out or name != "beast2-tiny"
    certificate = json.loads((tmp_path / "bestia3-tiny.json").read_text())
    assert len(table([certificate])) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (Arguments(("poker",)), "reduction must be one of beast2-tiny"),
        (Arguments(aim=-1), "aim must be from 0 to 1, not -1"),
        (Arguments(seconds=0), "seconds must be above 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve_all(arguments)
