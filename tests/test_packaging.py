"""The wheel is tested as a wheel: what is in it, and that it works away from the checkout."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def not_copied(_folder: str, names: list[str]) -> set[str]:
    made = {"__pycache__", "runs", "build", "_build", "dist"}
    return {n for n in names if n.startswith(".") or n in made}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, offline: a build leaves files behind, and would pick up older ones."""
    folder = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, folder / "source", ignore=not_copied)
    # What a used checkout also has.
    (folder / "source/bestia_env/__pycache__/numba").mkdir(parents=True)
    (folder / "source/bestia_env/__pycache__/numba/leak.py").touch()
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    done = subprocess.run([*command, folder / "source"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    version = PYPROJECT["project"]["version"]
    assert {n.partition("/")[0] for n in names} == {
        "bestia_env",
        f"bestia_env-{version}.dist-info",
    }
    assert "bestia_env/py.typed" in names
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "bestia_env").rglob("*.py")}
    assert {n for n in names if n.endswith(".py")} == sources


def test_wheel_is_imported_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import sys, bestia_env\n"
        "print(bestia_env.__file__)\n"
        "print(bestia_env.__version__)\n"
        "heavy = {'torch', 'stable_baselines3', 'matplotlib', 'pygame', 'resvg_py', 'agents'}\n"
        "heavy |= {'pyspiel', 'bestia_env.openspiel'}\n"
        "print(heavy & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    file, version, heavy = done.stdout.splitlines()
    assert Path(file).is_relative_to(tmp_path)
    assert version == PYPROJECT["project"]["version"]
    assert heavy == "set()"


@pytest.mark.parametrize(
    ("file", "extras", "groups"),
    [
        ("constraints.txt", ["train"], ["dev", "test", "docs"]),
        ("constraints-frameworks.txt", ["frameworks"], ["test"]),
        ("constraints-rllib.txt", ["train", "rllib"], ["test"]),
        ("constraints-agilerl.txt", [], ["test"]),
    ],
)
def test_every_direct_dependency_is_pinned(file: str, extras: list[str], groups: list[str]) -> None:
    def name(requirement: str) -> str:
        return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")

    project = PYPROJECT["project"]
    wanted = {name(r) for r in project["dependencies"]}
    for extra in extras:
        wanted |= {name(r) for r in project["optional-dependencies"][extra]}
    for group in groups:
        wanted |= {name(r) for r in PYPROJECT["dependency-groups"][group] if isinstance(r, str)}
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pinned = {name(line) for line in lines if re.fullmatch(r"[\w.-]+==[\w.]+", line)}
    assert wanted <= pinned
    assert all(line.startswith("#") or name(line) in pinned for line in lines)
