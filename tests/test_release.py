"""The built wheel in clean environments, as users have them; `make test-release` runs this."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import release

pytestmark = [pytest.mark.release, pytest.mark.timeout(3600)]
SCRIPT = Path(__file__).with_name("first_use.py")
STRANGER = "54321"  # a user without a name, a home or rights
VERSIONS = {"newest": {}, "of-rllib": {"gymnasium": "1.2.2"}}
CORE = {"bestia-env", "cloudpickle", "farama-notifications", "gymnasium", "llvmlite", "numba"}
CORE |= {"numpy", "pettingzoo", "typing-extensions"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return release.build(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module", params=VERSIONS)
def python(
    request: pytest.FixtureRequest, built, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The Python of an environment with the wheel alone, where nobody may write."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    python = release.environment(folder, built[0], **VERSIONS[request.param])
    inside = [path for path in [folder, *folder.rglob("*")] if not path.is_symlink()]
    for path in inside:
        path.chmod(path.stat().st_mode & ~0o222)
    yield python
    for path in inside:
        path.chmod(path.stat().st_mode | 0o200)


def start(python: Path, folder: Path, *games: str, **settings: str) -> subprocess.Popen:
    """The script as somebody who may write in the folder for temporary files only."""
    # Root may write anywhere, and so gives up all rights but to read.
    reads = [f"--{kind}-caps=-all,+dac_read_search" for kind in ("inh", "ambient")]
    drop = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *reads]
    return subprocess.Popen(
        [*(drop if os.geteuid() == 0 else []), python, folder / SCRIPT.name, *games],
        cwd=folder,
        env={"PATH": os.defpath, "TMPDIR": str(folder / "temporary"), **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen) -> list[str]:
    out, err = process.communicate(timeout=1800)
    assert (process.returncode, err) == (0, b""), err.decode()
    return out.decode("cp1252").splitlines()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Open to the stranger, unlike pytest's own, for os.access() regards no rights of root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SCRIPT, folder)
        (folder / "temporary").mkdir()
        for path, mode in ((folder, 0o755), (folder / "temporary", 0o777)):
            path.chmod(mode)
        yield folder


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights are told otherwise here")
def test_many_start_at_once_without_home_rights_or_compiled_code(
    python: Path, folder: Path
) -> None:
    """Whatever the hashes, and on a terminal that has no symbols."""
    environment = python.parents[1]
    before = {path: path.stat().st_mtime_ns for path in environment.rglob("*")}
    hashes = ["0", "1"] * 4
    settings = [{"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "cp1252"} for seed in hashes]
    started = [start(python, folder, "bestia", **each) for each in settings]
    told = [finish(process) for process in started]
    assert len({lines[-1] for lines in told}) == 1
    assert told[0][-1].startswith("digest ")
    assert all(lines == told[0] for lines in told)
    assert any((folder / "temporary").rglob("*.nbc"))  # the compiled code
    assert {path: path.stat().st_mtime_ns for path in environment.rglob("*")} == before


def test_it_needs_what_it_says_and_nothing_else(python: Path) -> None:
    code = "import importlib.metadata as m; print(*{d.name for d in m.distributions()})"
    found = {name.lower().replace("_", "-") for name in release.run([python, "-c", code]).split()}
    assert found == CORE


def test_both_games_with_every_gymnasium(built, tmp_path: Path) -> None:
    """The same deals, observations and rewards."""
    told = []
    for name, pins in VERSIONS.items():
        python = release.environment(tmp_path / name, built[0], **pins)
        lines = release.run([python, SCRIPT, "beast", "bestia"], cwd=tmp_path).splitlines()
        assert lines[-2].split()[1] == pins.get("gymnasium", lines[-2].split()[1])
        told.append(lines[-1])
    assert told[0] == told[1]


@pytest.mark.parametrize("pins", VERSIONS.values(), ids=VERSIONS)
def test_the_sdist_tests_the_wheel(built, tmp_path: Path, pins: dict) -> None:
    """The core's own tests, beside the installed package instead of the checkout's."""
    wheel, sdist = built
    source = release.unpack(sdist, tmp_path / "sdist")
    shutil.rmtree(source / "bestia_env")
    tools = ["hypothesis", "pytest", "pytest-randomly", "pytest-timeout", "pytest-xdist"]
    python = release.environment(tmp_path / "env", wheel, *tools, **pins)
    command = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", "@tests/core.txt"]
    out = release.run(command, cwd=source)
    assert " passed" in out and "skipped" not in out, out


def test_a_wheel_built_from_the_sdist_is_the_same(built, tmp_path: Path) -> None:
    wheel, sdist = built
    source = release.unpack(sdist, tmp_path / "sdist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    release.run([*command, source])
    assert release.contents(tmp_path / wheel.name) == release.contents(wheel)
