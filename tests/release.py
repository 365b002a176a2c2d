"""Builds the distributions from a copy of the checkout, and installs them into environments."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_UNTRACKED = {"__pycache__", "runs", "build", "dist", "_build"}
_NOT_RELEASED = {".git", ".gitattributes", ".gitignore", ".pre-commit-config.yaml"}


def released_files() -> set[str]:
    """All files of the checkout that its ignore rules leave, as git tells them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {n for n in names.splitlines() if n not in _NOT_RELEASED and (ROOT / n).is_file()}


def not_copied(_folder: str, names: list[str]) -> set[str]:
    """What a copy of the checkout leaves out."""
    hidden = {n for n in names if n.startswith(".") and n not in {".ci", ".github"}}
    return hidden | (_UNTRACKED & {*names})


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, built offline from a copy: a build leaves files behind."""
    shutil.copytree(ROOT, folder / "source", ignore=not_copied)
    # What a used checkout also has.
    for leak in ("bestia_env/__pycache__/numba", "tests/__pycache__", "runs"):
        (folder / "source" / leak).mkdir(parents=True)
        (folder / "source" / leak / "leak.py").touch()
    command = [sys.executable, "-m", "build", "--wheel", "--sdist", "--no-isolation", "--outdir"]
    run([*command, folder, folder / "source"])
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def unpack(sdist: Path, folder: Path) -> Path:
    """The sdist's one folder."""
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def contents(wheel: Path) -> dict[str, bytes]:
    """A wheel's files."""
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def environment(folder: Path, *wanted: str | Path, **pins: str) -> Path:
    """A new virtual environment with some packages, as constraints.txt or `pins` have them.

    Returns:
        Its Python.
    """
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if re.split("=", line)[0].lower() not in pins]
    kept += [f"{name}=={version}" for name, version in pins.items()]
    folder.mkdir()
    (folder / "constraints.txt").write_text("\n".join(kept), encoding="utf-8")
    run([sys.executable, "-m", "venv", "--without-pip", folder])
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    run([*pip, "-c", folder / "constraints.txt", *wanted])
    return python


def run(command: list[str | Path], cwd: Path | None = None) -> str:
    """What a command prints, away from the checkout's packages.

    Raises:
        AssertionError: it failed; with all that it said.
    """
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
