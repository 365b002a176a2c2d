import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.fixture(autouse=True)
def _silent_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests read on the error stream must not depend on what is compiled already."""
    monkeypatch.setattr("experiments.command_line._say_compiling", lambda: None)


@pytest.fixture
def plays_legally() -> Callable[[str], None]:
    """Runs a recipe from its command line."""

    def run(command: str) -> None:
        words = [sys.executable, "-m", *f"experiments.examples.{command}".split()]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ", 0 illegal\n" in done.stdout

    return run
