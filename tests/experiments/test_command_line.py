import importlib
from pathlib import Path

import numba
import pytest

from experiments import command_line
from experiments.command_line import ends_cleanly

SAY = command_line._say_compiling  # before it is silenced for tests


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> None:
    SAY.cache_clear()
    monkeypatch.setattr(command_line, "_say_compiling", SAY)


@pytest.mark.usefixtures("says")
def test_compiling_is_told_once_and_only_by_command_lines(capsys: pytest.CaptureFixture) -> None:
    one, two, three = (numba.njit(lambda x, k=k: x + k) for k in range(3))
    one(1)
    with ends_cleanly(""):
        one(1)
    assert capsys.readouterr().err == ""
    with ends_cleanly(""):
        two(1)
        said = capsys.readouterr().err
        three(1)
    assert said.startswith("compiling for the first run") and said.count("\n") == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("replay", ["FOLDER/none.jsonl"], "FOLDER/none.jsonl: no such file or directory"),
        ("replay", ["FOLDER"], "FOLDER: is a directory"),
        ("arena", ["--game", "bestia", "--out", "FILE"], "FILE: it is a file, not a folder"),
        ("arena", ["--game", "bestia", "--out", "FILE/a"], "FILE/a: not a directory"),
        (
            "arena",
            ["--game", "bestia", "--policies", "rule:FOLDER", "bold"],
            "read a rule from FOLDER: it",
        ),
        ("arena", ["--game", "bestia", "--policies", "bids:FILE/a", "random"], "no file FILE/a:"),
        (
            "arena",
            ["--game", "bestia", "--policies", "net:FILE", "random"],
            "ends in .safetensors, not 'FILE'",
        ),
        ("arena", ["--game", "bestia", "--rules", "FILE"], "NAME=VALUE, not 'FILE'"),
    ],
)
def test_errors_of_files_name_the_file_in_a_line(
    command: str, arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    def filled(text: str) -> str:
        return text.replace("FOLDER", str(tmp_path)).replace("FILE", str(tmp_path / "file"))

    (tmp_path / "file").touch()
    main = importlib.import_module(f"experiments.{command}").main
    with pytest.raises(SystemExit) as ended:
        main([filled(argument) for argument in arguments])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert filled(said) in error
    assert error.startswith("error: ") and error.count("\n") == 1
