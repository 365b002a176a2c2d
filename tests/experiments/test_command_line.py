from __future__ import annotations

import numba
import pytest

from experiments.command_line import ends_cleanly


def test_compiling_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with ends_cleanly("nothing"):
        for number in (1, 1.0):
            numba.njit(lambda value: value)(number)
    numba.njit(lambda: 1)()
    assert capsys.readouterr().err == "compiling, once: up to a minute ...\n"


@pytest.mark.parametrize("place", ["nowhere/file", "a-file/file", "."])
def test_a_file_that_cannot_be_is_named(place, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    with pytest.raises(SystemExit), ends_cleanly("nothing"):
        open(place, encoding="utf-8")
    assert capsys.readouterr().err.startswith(f"error: {place}: ")
