"""The notebooks as pages: copies in which a cell of smaller numbers follows the parameters."""

from __future__ import annotations

import hashlib
from pathlib import Path

import nbformat

from bestia_env.files import write_whole

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = {
    "1-a-first-hand": "",
    "2-knock-or-pass": "DEALS, PAIRED_DEALS, GROWTH_DEALS = 50_000, 5_000, 4_000",
    "3-declare-counter-trap": "DEALS, RARE_DEALS, PAIRED_DEALS = 50_000, 500_000, 5_000",
    "4-train-and-read": "STEPS, EVAL_DEALS, PAIRED_DEALS, DEALS = 100_000, 200, 1_000, 10_000",
    "5-comparing-algorithms": "LEAGUE_DEALS, POOL, LEAGUES, SESSIONS = 1_000, 10_000, 300, 1_024",
}
"""Smaller numbers for every notebook that needs them, so that these pages are built in minutes."""


def digest_of_sources() -> str:
    """Of all code that a notebook may run: outputs of other code are not to be shown."""
    found = hashlib.sha256()
    for folder in ("bestia_env", "agents", "experiments"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def write_lessons(folder: Path) -> None:
    """Put every notebook into a folder, unless it stands there as it would be written."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in BUDGETS:
        content = nbformat.writes(lesson(name)).encode()
        path = folder / f"{name}.ipynb"
        if not path.exists() or path.read_bytes() != content:
            write_whole(path, content)


def lesson(name: str) -> nbformat.NotebookNode:
    """A notebook, with its smaller numbers if it has any, and words that say so."""
    book = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    if not BUDGETS[name]:
        return book
    parameters = [cell.id for cell in book.cells].index("parameters")
    words = "For this page, smaller numbers, so that intervals are wider than in the notebook:"
    book.cells[parameters + 1 : parameters + 1] = [
        nbformat.v4.new_markdown_cell(words, id="words-on-budgets"),
        nbformat.v4.new_code_cell(BUDGETS[name], id="small-budgets"),
    ]
    return book
