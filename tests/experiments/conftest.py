"""What tests read on the error stream must not depend on what is compiled already."""

import pytest


@pytest.fixture(autouse=True)
def _silent_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.command_line._say_compiling", lambda: None)
