"""The wheel is tested as a wheel: what is in it, and that it works away from the checkout."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import bestia_env
from tests import release

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return release.build(tmp_path_factory.mktemp("packaging"))


@pytest.fixture(scope="module")
def wheel(built: tuple[Path, Path]) -> Path:
    return built[0]


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    info = f"bestia_env-{PYPROJECT['project']['version']}.dist-info"
    facts = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "top_level.txt"}
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "bestia_env").rglob("*.py")}
    data = {"bestia_env/py.typed", "bestia_env/rules/RULEBOOK.md"}
    assert set(release.contents(wheel)) == sources | data | {f"{info}/{name}" for name in facts}
    licence = release.contents(wheel)[f"{info}/licenses/LICENSE"]
    assert licence == (ROOT / "LICENSE").read_bytes()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git tells what belongs to the checkout")
def test_sdist_holds_the_whole_checkout(built: tuple[Path, Path], tmp_path: Path) -> None:
    source = release.unpack(built[1], tmp_path / "sdist")
    names = {p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()}
    made = {"PKG-INFO", "setup.cfg"} | {n for n in names if n.startswith("bestia_env.egg-info/")}
    assert names - made == release.released_files()


def test_every_test_is_of_the_core_or_known_to_need_more() -> None:
    """CI runs those of tests/core.txt on all systems, with the core's packages alone."""
    marks, *core = (ROOT / "tests/core.txt").read_text(encoding="utf-8").splitlines()
    assert marks == "-mnot slow and not extras"
    found = {p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").glob("test_*.py")}
    found |= {"tests/rules", "tests/referee"}
    names = ("docs", "floors", "notebooks", "openspiel", "packaging", "pictures")
    more = {
        f"tests/test_{name}.py"
        for name in (*names, "release", "render_modes", "snippets", "workflow")
    }
    assert found - more == set(core)


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


def test_every_place_tells_the_same_version() -> None:
    """And CITATION.cff has the fields that its format asks for."""
    version = PYPROJECT["project"]["version"]
    facts = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(facts["version"]) == version == bestia_env.__version__
    assert facts["cff-version"] == "1.2.0" and facts["message"] and facts["title"]
    assert facts["license"] == PYPROJECT["project"]["license"]
    assert [author["name"] for author in facts["authors"]] == [
        author["name"] for author in PYPROJECT["project"]["authors"]
    ]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)[0] == version
