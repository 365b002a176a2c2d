"""The notebooks run as they stand, with small budgets, and hold no outputs."""

import ast
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = {
    "1-a-first-hand": "HANDS = 20",
    "2-knock-or-pass": "DEALS, PAIRED_DEALS, GROWTH_DEALS, POTS = 900, 60, 100, (1, 8)",
    "3-declare-counter-trap": "DEALS, RARE_DEALS, PAIRED_DEALS = 900, 30_000, 60",
    "4-train-and-read": (
        "STEPS, HIDDEN, EVAL_DEALS, PAIRED_DEALS, DEALS = 2560, (8,), 20, 60, 900"
    ),
    "5-comparing-algorithms": (
        "LEAGUE_DEALS, POOL, SAMPLE, LEAGUES, SESSIONS, SESSION_HANDS = 60, 400, 20, 20, 128, 4; "
        'REDUCTION, SOLVE_SECONDS, THUMBS = "bestia2-small", 0.2, ("random", "bold")'
    ),
}
PROJECT = {"bestia_env", "agents", "experiments"}
ALLOWED = {*PROJECT, "numpy", "matplotlib", "gymnasium", "pettingzoo", *sys.stdlib_module_names}


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def code(book: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_every_notebook_is_tested():
    assert {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} == set(BUDGETS)


@pytest.fixture
def jupyter(tmp_path, monkeypatch):
    """Jupyter without the user's settings, and over sockets in a folder instead of the network."""
    for name in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with TemporaryDirectory(prefix="nb") as short:  # the path of a socket may not be long
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", short)
        yield Config(KernelManager={"transport": "ipc", "ip": f"{short}/socket"})


def run(name: str, folder: Path, settings: Config) -> nbformat.NotebookNode:
    """Execute a notebook with its small budgets, started in a folder."""
    book = read(name)
    place = book.cells.index(code(book)[0])
    book.cells.insert(place + 1, nbformat.v4.new_code_cell(BUDGETS[name], id="small-budgets"))
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        book, timeout=280, kernel_name="python3", resources=resources, config=settings
    )
    client.execute()
    return book


def complaints(book: nbformat.NotebookNode) -> list[str]:
    """What cells wrote to the error stream."""
    return [
        f"{cell.id}: {output.text}"
        for cell in code(book)
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


@pytest.mark.parametrize("name", BUDGETS)
def test_a_notebook_runs(name, jupyter):
    book = run(name, ROOT, jupyter)
    assert complaints(book) == []
    shown = [kind for cell in code(book) for out in cell.outputs for kind in out.get("data", ())]
    assert {"image/png", "image/svg+xml"} & set(shown)


def test_a_notebook_finds_the_project_from_its_own_folder(jupyter):
    book = run("1-a-first-hand", ROOT / "notebooks", jupyter)
    assert complaints(book) == []


@pytest.mark.parametrize("name", BUDGETS)
def test_a_notebook_is_stripped(name):
    book = read(name)
    nbformat.validate(book)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert book.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    ids = [cell.id for cell in book.cells]
    assert len(set(ids)) == len(ids)
    for cell in book.cells:
        # In words, so that no editor has made it up anew.
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id)
        assert cell.metadata == ({"tags": ["parameters"]} if cell.id == "parameters" else {})
        assert "attachments" not in cell
    assert code(book)[0].id == "parameters"
    assert all(cell.execution_count is None and not cell.outputs for cell in code(book))


@pytest.mark.parametrize("name", BUDGETS)
def test_a_notebook_imports_the_project_and_little_else(name):
    tree = ast.parse("\n".join(cell.source for cell in code(read(name))))
    nodes = [*ast.walk(tree)]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    tops = {name.partition(".")[0] for name in names}
    assert tops <= ALLOWED
    assert tops & PROJECT


@pytest.mark.parametrize("name", BUDGETS)
def test_small_budgets_replace_parameters_only(name):
    assert assigned(BUDGETS[name]) <= assigned(code(read(name))[0].source)


def assigned(source: str) -> set[str]:
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}
