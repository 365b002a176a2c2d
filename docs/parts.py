"""Parts of the project's own texts, made fit for these pages: one source for each thing.

A part is a section of a Markdown file or a module's docstring, if that is Markdown. Its links lead
to files of the repository; here they lead to the page which shows that file, or to the file itself.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
RULEBOOK = "bestia_env/rules/RULEBOOK.md"
PREFIXES = {"beast": ("BEAST", "B"), "bestia": ("BESTIA", "I")}

# Pages that show a file of the repository, or whatever a folder holds.
PAGES = {
    RULEBOOK: "rules/index",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "CITATION.cff": "citing",
    "README.md": "index",
    "notebooks": "notebooks/index",
    "experiments/results/exploitability.md": "results/exploitability",
    "bestia_env/records.py": "records",
}
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)#\s]+)\)")
_HEADING = re.compile(r"^(?P<marks>#+) (?P<title>.+)$", re.MULTILINE)
# Modules that a page of the reference shows; others are files to have.
DOCUMENTED = {
    module
    for page in (ROOT / "docs" / "api").glob("*.md")
    for module in re.findall(r"^\.\. automodule:: (\S+)", page.read_text("utf-8"), re.MULTILINE)
}
_TABLE = re.compile(r"^\|.*\n(?:\|.*(?:\n|\Z))+", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(r"^\| (?P<name>(?:BEAST|BESTIA|B|I)-\d+) \|(?P<text>.*)$", re.MULTILINE)


def section(file: str, title: str, rank: int = 2, intro: bool = False) -> str:
    """What stands below a heading of a Markdown file, down to the next of its rank.

    Args:
        file: its path in the repository.
        title: the heading, or where it begins, up to a space.
        rank: of its highest headings, as they are to be.
        intro: only what stands above the first heading in it.

    Raises:
        ValueError: there is no such heading, or more than one.
    """
    text = (ROOT / file).read_text(encoding="utf-8")
    code = [range(*found.span()) for found in _CODE.finditer(text)]
    heads = [h for h in _HEADING.finditer(text) if not any(h.start() in part for part in code)]
    here = [k for k, h in enumerate(heads) if f"{h['title']} ".startswith(f"{title} ")]
    if len(here) != 1:
        raise ValueError(f"{file} has {len(here)} headings {title!r}")
    head, below = heads[here[0]], heads[here[0] + 1 :]
    own = len(head["marks"])
    later = (h.start() for h in below if intro or len(h["marks"]) <= own)
    part = text[head.end() : next(later, len(text))].strip()
    return _moved(part.removesuffix("\n---").strip(), rank - own - 1)


def _moved(text: str, levels: int) -> str:
    def lower(head: re.Match[str]) -> str:
        return f"{'#' * (len(head['marks']) + levels)} {head['title']}"

    pieces = re.split(f"({_CODE.pattern})", text, flags=_CODE.flags)
    return "".join(
        piece if piece.startswith("```") else _HEADING.sub(lower, piece) for piece in pieces
    )


def without_tables(text: str) -> str:
    """A part without its tables, where the page makes them anew from the data."""
    return _TABLE.sub("", text)


def whole(file: str) -> str:
    """A Markdown file below its title, its sections as those of a page."""
    _, _, text = (ROOT / file).read_text(encoding="utf-8").partition("\n")
    return text.strip()


def docstring(module: str, table: bool = True) -> str:
    """A module's docstring below its first line, with or without the table with which it begins."""
    text = inspect.getdoc(importlib.import_module(module)) or ""
    below = text.partition("\n")[2].strip()
    return below if table else _TABLE.sub("", below, 1).strip()


def linked(text: str, page: str, file: str = "README.md") -> str:
    """A part with links that lead somewhere from a page.

    Args:
        text: Markdown, with links as they stand in a file.
        page: the page that shows it, such as "rules/beast".
        file: the file, from whose folder its links start.

    Raises:
        ValueError: a link leads to nothing in the repository.
    """

    def replaced(link: re.Match[str]) -> str:
        target = link["target"]
        if re.match(r"\w+:", target):
            return link[0]
        path = os.path.normpath(PurePosixPath(file).parent / target)
        if not (ROOT / path).exists():
            raise ValueError(f"{file} has a link to {target}, which does not exist")
        return _link(link["picture"], link["text"], path, page)

    return _LINK.sub(replaced, text)


def _link(picture: str, text: str, path: str, page: str) -> str:
    up = "../" * (page.count("/") + 1)
    if picture:
        return f"![{text}]({up}{path})"
    if path in PAGES:
        return f"[{text}](/{PAGES[path]}.md)"
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if path.endswith(".py") and module in DOCUMENTED:
        return f"{{py:mod}}`{module}`"
    if (ROOT / path).is_dir():
        return f"`{path}`"
    return f"{{download}}`{text.strip('`')} <{up}{path}>`"


def clauses(game: str) -> dict[str, str]:
    """Every clause and decided point of a game by its id: the rest of its row in the rulebook."""
    text = (ROOT / RULEBOOK).read_text(encoding="utf-8")
    found = {row["name"]: row["text"] for row in _CLAUSE.finditer(text)}
    return {name: row for name, row in found.items() if name.rpartition("-")[0] in PREFIXES[game]}
