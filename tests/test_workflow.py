"""The workflow of public CI, as far as it can be checked without running it there."""

import importlib.metadata
import importlib.util
import itertools
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from bestia_env.registration import SINGLE

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / ".github/workflows/ci.yml"
WORKFLOW = yaml.safe_load(FILE.read_text(encoding="utf-8"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]


def commands(job: dict) -> list[str]:
    """What it runs, with every value of its matrix put in."""
    runs = [step["run"] for step in job["steps"] if "run" in step]
    rows = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
    for name in set(re.findall(r"matrix\.(\w+)", " ".join(runs))):
        pattern = re.compile(rf"\$\{{\{{ matrix\.{name} \}}\}}")
        runs = [pattern.sub(row[name], run) for run, row in itertools.product(runs, rows)]
    assert not [run for run in runs if "${{" in run]
    return runs


RUNS = [run for job in JOBS.values() for run in commands(job)]


def test_every_target_exists() -> None:
    named = {target for run in RUNS for target in re.findall(r"^make (\S+)$", run)}
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert named - {*re.findall(r"^([a-z-]+):", text, re.MULTILINE)} == set()
    tests = set(re.findall(r"^(test-[a-z-]+):", text, re.MULTILINE))
    assert tests - named == {"test-slow"}
    assert {"check", "test", "docs"} <= named


def test_every_module_option_and_file_of_a_command_exists() -> None:
    modules = {name for run in RUNS for name in re.findall(r"python -m (\w+)", run)}
    assert {"pip", "build", "pytest"} == modules
    assert all(importlib.util.find_spec(name) for name in modules)
    groups = {name for run in RUNS for name in re.findall(r"--group (\S+)", run)}
    assert groups and groups <= PYPROJECT["dependency-groups"].keys()
    extras = {
        name
        for run in RUNS
        for names in re.findall(r"\.\[(.+?)\]", run)
        for name in names.split(",")
    }
    assert extras and extras <= PYPROJECT["project"]["optional-dependencies"].keys()
    files = {name for run in RUNS for name in re.findall(r"(?:@|-c )(\S+)", run)}
    assert {"tests/core.txt", "constraints.txt"} == files
    assert all((ROOT / name).is_file() for name in files)


def test_actions_are_pinned_by_major_version() -> None:
    used = {step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step}
    assert used == {"actions/checkout@v6", "actions/setup-python@v6"}


def test_the_core_runs_on_every_python_that_its_dependencies_support() -> None:
    def supported(package: str) -> set[str]:
        told = importlib.metadata.metadata(package).get_all("Classifier")
        return set(re.findall(r"Python :: (3\.\d+)$", "\n".join(told), re.MULTILINE))

    both = set.intersection(*map(supported, ("numba", "gymnasium", "pettingzoo")))
    least = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    wanted = {version for version in both if int(version[2:]) >= int(least[2:])}
    assert set(JOBS["core"]["strategy"]["matrix"]["python"]) == wanted
    classifiers = "\n".join(PYPROJECT["project"]["classifiers"])
    assert set(re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)) == wanted


@pytest.mark.parametrize("job", JOBS)
def test_every_job_ends(job: str) -> None:
    assert JOBS[job]["timeout-minutes"] <= 90


def test_once_a_week_without_constraints() -> None:
    assert WORKFLOW[True]["schedule"][0]["cron"].split()[4] == "1"  # YAML takes "on" for true
    weekly = [name for name, job in JOBS.items() if "!= 'schedule'" not in job["if"]]
    assert weekly == ["newest"]
    assert not [run for run in commands(JOBS["newest"]) if "constraints" in run or "make" in run]


def test_the_entry_for_other_lists_names_what_is_installed() -> None:
    text = (ROOT / "docs/third_party_entry.md").read_text(encoding="utf-8")
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.lower().split("==") for line in lines if "==" in line)
    for name, version in re.findall(r"badge/(\w+)-v([\d.]+)-blue", text):
        assert pinned[name.lower()] == version
    assert {*re.findall(r"`(bestia_env/[A-Z]\w+-v\d)`", text)} == SINGLE.keys()
