"""Imports go downward only, and the package needs nothing beyond its own dependencies."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Who may import whom: only one's own floor and those below. Names are relative to bestia_env.
FLOORS = (
    ("_jit", "bits", "cards", "files", "rng", "rules", "openspiel.draws"),
    ("rules.table", "rules.tricks"),
    ("rules.beast", "rules.bestia"),
    ("rules.dispatch", "view", "games", "reductions"),
    ("observe", "deals", "words"),
    ("engine", "suits", "render.facts", "render.elements", "render.artwork", "render.places"),
    ("records", "render.text", "render.cards", "openspiel.tables"),
    ("render.seats", "openspiel.hands"),
    ("render.svg", "openspiel.resampling"),
    ("render.rgb", "render.window"),
    ("render", "render.screen"),
    ("aec", "single", "vector.checks"),
    ("vector.tables", "vector.seats"),
    ("vector",),
    ("__init__", "beast_v0", "bestia_v0", "registration", "testing", "openspiel"),
)
LEVELS = {
    "bestia_env" if name == "__init__" else f"bestia_env.{name}": level
    for level, names in enumerate(FLOORS)
    for name in names
}
ABOVE = {"agents": len(FLOORS), "experiments": len(FLOORS) + 1}
GAMES = ("beast", "bestia")
# What the extras install, and who may import it; test_packaging.py finds out that others do not.
EXTRAS = {
    "bestia_env.render.rgb": {"pygame", "resvg_py"},
    "bestia_env.render.window": {"pygame", "resvg_py"},
    "bestia_env.openspiel": {"pyspiel"},
}
WRAPPERS = {"gymnasium", "pettingzoo"}


def core_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}


def source_files() -> dict[str, Path]:
    """Dotted name -> file, for every module of the three packages."""
    files = {}
    for package in ("bestia_env", *ABOVE):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


FILES = source_files()


def imported(source: str, module: str, modules: set[str]) -> Iterator[str]:
    """All modules that `source` imports; `from a import b` is a.b if there is such a module."""
    is_package = any(name.startswith(f"{module}.") for name in modules)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) + is_package - node.level]
                base = ".".join([*parts, base] if base else parts)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def level(module: str) -> int | None:
    return ABOVE.get(module.partition(".")[0], LEVELS.get(module))


def game(module: str) -> str | None:
    """`beast` for bestia_env.rules.beast and bestia_env.beast_v0, None for what both share."""
    name = module.rpartition(".")[2].partition("_")[0]
    return name if module.startswith("bestia_env.") and name in GAMES else None


def faults(source: str, module: str, modules: set[str]) -> list[str]:
    """What is wrong with the imports of one file."""
    own = level(module)
    if own is None:
        return [f"{module} has no level: add it to FLOORS in tests/test_floors.py"]
    found = []
    for target in sorted(set(imported(source, module, modules))):
        top = target.partition(".")[0]
        if top == "bestia_env" or top in ABOVE:
            other = level(target)
            if other is None:
                found.append(f"{module} imports {target}, which has no level")
            elif other > own:
                found.append(f"{module} (level {own}) imports {target} (level {other}) above it")
            elif game(module) and game(target) and game(module) != game(target):
                found.append(f"{module} imports {target}: the games know nothing of each other")
        elif module.startswith("bestia_env"):
            if top in EXTRAS.get(module, ()):
                continue
            if top not in core_dependencies() and top not in sys.stdlib_module_names:
                found.append(f"{module} imports {target}, no dependency of the package")
            elif top in WRAPPERS and own <= LEVELS["bestia_env.rules.dispatch"]:
                found.append(f"{module} imports {target}: rules know no environment")
    return found


@pytest.mark.parametrize("module", FILES)
def test_imports_go_downward_only(module: str) -> None:
    found = faults(FILES[module].read_text(encoding="utf-8"), module, set(FILES))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("bestia_env.bits", "from bestia_env._jit import jit", None),
        ("bestia_env.aec", "from .rules import beast, bestia", None),
        ("bestia_env", "from .rules.beast import BeastRules", None),
        ("agents.arena", "import torch, agents.nets, bestia_env", None),
        ("bestia_env.cards", "def f():\n    from bestia_env import engine", "above it"),
        ("bestia_env.rules.tricks", "from .beast import apply", "above it"),
        ("bestia_env.aec", "from bestia_env import __version__", "above it"),
        ("bestia_env.testing", "import agents.arena", "above it"),
        ("agents.arena", "from experiments import demo", "above it"),
        ("bestia_env.rules.beast", "from . import bestia", "nothing of each other"),
        ("bestia_env.bestia_v0", "from bestia_env.rules import beast", "nothing of each other"),
        ("bestia_env.rules.beast", "import gymnasium.spaces", "rules know no environment"),
        ("bestia_env.cards", "from pettingzoo import AECEnv", "rules know no environment"),
        ("bestia_env.vector", "import torch", "no dependency of the package"),
        ("bestia_env.vector", "import pygame", "no dependency of the package"),
        ("bestia_env.vector", "import pyspiel", "no dependency of the package"),
        ("bestia_env.render.rgb", "import pygame, resvg_py", None),
        ("bestia_env.openspiel", "import pyspiel", None),
        ("bestia_env.novelty", "", "has no level: add it"),
        ("bestia_env.aec", "import bestia_env.novelty", "which has no level"),
    ],
)
def test_the_check_itself(module: str, source: str, message: str | None) -> None:
    modules = {*LEVELS, "agents", "agents.arena", "agents.nets", "experiments", "experiments.demo"}
    found = faults(source, module, modules | {"bestia_env.novelty"})
    if message is None:
        assert not found
    else:
        assert len(found) == 1
        assert message in found[0]
