"""Compiled code is never older than its sources, and it needs no folder to be kept in."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bestia_env

PACKAGE = Path(bestia_env.__file__).parent
FOLLOW = """
from bestia_env import engine
from bestia_env.rules.beast import obedient_cards
hand = engine.new_states("beast", 4)[0]
hand.hands[1] = 0b11 << 20 | 0b11
hand.led = 5
print(f"{obedient_cards(hand, 1):b}")
"""
VERB = """
from bestia_env.rules.dispatch import by_game
from bestia_env.ways import one, two

@by_game(NAMES)
def verb(s, cards):
    pass
"""
WAYS = """
from bestia_env._jit import jit

@jit
def one(s, cards):
    return 1

@jit
def two(s, cards):
    return 2
"""
CALL = """
from bestia_env._jit import jit
from bestia_env.verbs import verb

@jit
def call(hands, cards):
    return verb(hands[0], cards)
"""
CALLED = """
import numpy as np
from bestia_env.call import call
from bestia_env.rules.beast import HAND
print(call(np.zeros(1, HAND), np.uint64(3)))
"""
BITS = """
from bestia_env.bits import size
print(size(7), sum(size.stats.cache_misses.values()), sum(size.stats.cache_hits.values()))
print(size.stats.cache_path)
"""
NO_TEMPORARY_FOLDER = """
import tempfile
def gettempdir():
    raise FileNotFoundError(2, "no folder is usable")
tempfile.gettempdir = gettempdir
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, of which nothing is compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "bestia_env", ignore=ignored)
    return tmp_path


def run(folder: Path, code: str, **environment: str) -> list[str]:
    """What a script prints that imports the package from the folder, in a bare environment."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},  # Windows
            **{"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_changed_rule_is_the_rule_that_runs(copied: Path) -> None:
    """The kernel calls a rule in another file, where numba alone would not look."""
    file = copied / "bestia_env/rules/tricks.py"
    source = file.read_text(encoding="utf-8")
    changed = source.replace("return or_else(held & suit, held)", "return held")
    assert changed != source
    assert run(copied, FOLLOW) == ["11"]
    file.write_text(changed, encoding="utf-8", newline="\n")
    assert run(copied, FOLLOW) == ["1100000000000000000011"]
    file.write_text(source, encoding="utf-8", newline="\n")
    assert run(copied, FOLLOW) == ["11"]
    assert len(list((copied / "bestia_env/__pycache__").glob("numba-*"))) == 2


def test_a_changed_verb_is_the_verb_that_runs(copied: Path) -> None:
    """It says what is called, in a file that compiles nothing itself."""
    file = copied / "bestia_env/verbs.py"
    (copied / "bestia_env/call.py").write_text(CALL, encoding="utf-8")
    (copied / "bestia_env/ways.py").write_text(WAYS, encoding="utf-8")
    for way, result in (("one", "1"), ("two", "2")):
        file.write_text(VERB.replace("NAMES", f"{way}, {way}"), encoding="utf-8")
        assert run(copied, CALLED) == [result]


def test_compiled_code_is_kept(copied: Path) -> None:
    for misses, hits in ((1, 0), (0, 1)):
        counts, folder = run(copied, BITS)
        assert counts == f"3 {misses} {hits}"
        assert Path(folder).is_relative_to(copied / "bestia_env/__pycache__")


def test_a_package_that_cannot_be_written(copied: Path) -> None:
    """And no home: a folder for temporary files does, or else the code is compiled each time."""
    (copied / "bestia_env/__pycache__").touch()  # a file, since root may write in any folder
    temporary = copied / "temporary"
    temporary.mkdir()
    for misses, hits in ((1, 0), (0, 1)):
        counts, folder = run(copied, BITS, TMPDIR=str(temporary))
        assert counts == f"3 {misses} {hits}"
        assert Path(folder).is_relative_to(temporary)
    assert run(copied, NO_TEMPORARY_FOLDER + BITS) == ["3 1 0", "None"]
    nowhere = str(copied / "bestia_env/py.typed")
    assert run(copied, BITS, NUMBA_CACHE_DIR=nowhere) == ["3 1 0", "None"]


def test_a_folder_of_the_users_choice(copied: Path) -> None:
    chosen = copied / "chosen"
    assert Path(run(copied, BITS, NUMBA_CACHE_DIR=str(chosen))[1]).is_relative_to(chosen)
    assert not (copied / "bestia_env/__pycache__").exists()
