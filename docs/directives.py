"""The Sphinx extension of these pages: parts of other texts, tables made by code, clauses as links.

| In a page | What it becomes |
|---|---|
| `{part} FILE: HEADING` | that section of a Markdown file of the repository; `{part} FILE`: all |
| `{docstring} MODULE` | the docstring of a module, which is Markdown, or its first paragraph |
| `{generated} NAME ARGUMENT` | a table of `docs/tables.py` |

Clause ids are links to the rulebook, wherever they stand, and single backticks in docstrings are
code, which is a link where it names something that is documented.
"""

from __future__ import annotations

import importlib
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from docs import parts, tables

MARKDOWN = {
    "bestia_env.beast_v0": "environments/beast",
    "bestia_env.bestia_v0": "environments/bestia",
    "bestia_env.records": "records",
}
"""Modules whose docstring is Markdown, and the page that shows it."""

CODE = "project-code"
_CLAUSES = {name: f"rules/{game}" for game in parts.PREFIXES for name in parts.clauses(game)}
_CLAUSE_ID = re.compile(r"\b(?:BEAST|BESTIA|B|I)-\d\d\b")
_MADE_UP = re.compile(r"Create new instance of |Initialize self\.  See help")  # by Python itself
_log = logging.getLogger(__name__)


class Text(SphinxDirective, ABC):
    """What all three have in common: Markdown from elsewhere, headings included."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse it where the directive stands."""
        try:
            text = self.text(self.arguments[0])
        except (ValueError, KeyError) as error:
            raise self.error(str(error)) from error
        # As MyST's own `include` does, so that what stands above the first heading stays there.
        self.state._renderer.nested_render_text(text, self.lineno)
        return []

    @abstractmethod
    def text(self, argument: str) -> str:
        """The Markdown that an argument stands for."""


class Part(Text):
    """A section of a Markdown file of the repository, or the whole file."""

    option_spec: ClassVar = {
        "rank": directives.positive_int,
        "intro": directives.flag,
        "without-tables": directives.flag,
    }

    def text(self, argument: str) -> str:
        """The section, its links made fit."""
        file, _, title = argument.partition(": ")
        rank, intro = self.options.get("rank", 2), "intro" in self.options
        self.env.note_dependency(str(parts.ROOT / file))
        text = parts.section(file, title, rank, intro) if title else parts.whole(file)
        if "without-tables" in self.options:
            text = parts.without_tables(text)
        return parts.linked(text, self.env.docname, file)


class Docstring(Text):
    """The docstring of a module."""

    option_spec: ClassVar = {"without-table": directives.flag, "intro": directives.flag}

    def text(self, argument: str) -> str:
        """The docstring below its first line, and below its table where the page has another."""
        text = parts.docstring(argument, table="without-table" not in self.options)
        if "intro" in self.options:
            text = text.partition("\n\n")[0].partition(" The rulebook")[0]
        return text.replace(f"`{parts.RULEBOOK}`", "[a page of its own](/rules/index.md)")


class Generated(Text):
    """A table made by code."""

    def run(self) -> list[nodes.Node]:
        """In a block of its name, which a style sheet may know."""
        block = nodes.container(classes=[self.arguments[0].split()[0]])
        with self.state._renderer.current_node_context(block):
            super().run()
        return [block]

    def text(self, argument: str) -> str:
        """The table."""
        name, *arguments = argument.split()
        return "\n".join(tables.TABLES[name](*arguments))


class Code(SphinxRole):
    """Code, and a link where it names something documented."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A reference that `find_code` or nobody resolves."""
        code = nodes.literal(self.text, self.text, classes=["xref", "py"])
        if not re.fullmatch(r"[A-Za-z_][\w.]*", self.text):
            return [code], []
        link = pending_xref("", code, reftype=CODE, reftarget=self.text, refdoc=self.env.docname)
        link["refdomain"] = ""
        link["py:module"] = self.env.ref_context.get("py:module")
        link["py:class"] = self.env.ref_context.get("py:class")
        return [link], []


def find_code(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """Where a name leads that is code in a docstring, or stands in a signature."""
    if node.get("reftype") != CODE and node.get("refdomain") != "py":
        return None
    name, python = node["reftarget"], env.domains.python_domain
    where = env, node.get("py:module"), node.get("py:class"), name, None
    matches = python.find_obj(*where, 0)
    if not matches and "." not in name and not name.islower():
        matches = python.find_obj(*where, 1)
    if len(matches) == 1:
        full, found = matches[0]
        at = found.docname, found.node_id
        return make_refnode(app.builder, node["refdoc"], *at, content, full)
    return content if node["reftype"] == CODE or _exists(name) else None


def _exists(name: str) -> bool:
    """Does a full name lead to something, though no page shows it?"""
    module, _, attribute = name.rpartition(".")
    try:
        return bool(module) and hasattr(importlib.import_module(module), attribute)
    except ImportError:
        return False


class Clauses(SphinxPostTransform):
    """Clause ids become links, and the rows of the rulebook their targets."""

    default_priority = 900

    def run(self, **options: Any) -> None:
        """Go through one page."""
        for text in [*self.document.findall(nodes.Text)]:
            if _CLAUSE_ID.search(text) and not _is_fixed(text):
                text.parent.replace(text, [*self._pieces(text)])

    def _pieces(self, text: nodes.Text) -> Iterator[nodes.Node]:
        end = 0
        for found in _CLAUSE_ID.finditer(text):
            yield nodes.Text(text[end : found.start()])
            yield self._clause(found[0], text)
            end = found.end()
        yield nodes.Text(text[end:])

    def _clause(self, name: str, text: nodes.Text) -> nodes.Node:
        if name not in _CLAUSES:
            _log.warning("the rulebook has no clause %s", name, location=text.parent)
            return nodes.Text(name)
        page, here = _CLAUSES[name], self.env.docname
        if page == here and _begins_a_row(text):
            return nodes.inline("", name, ids=[name.lower()], classes=["clause"])
        uri = "" if page == here else self.app.builder.get_relative_uri(here, page)
        return nodes.reference("", name, refuri=f"{uri}#{name.lower()}", internal=True)


def _begins_a_row(text: nodes.Text) -> bool:
    """Is it all that stands in the first cell of a row?"""
    cell = text.parent.parent
    is_first = isinstance(cell, nodes.entry) and cell.parent.index(cell) == 0
    return is_first and _CLAUSE_ID.fullmatch(text) is not None


def _is_fixed(text: nodes.Text) -> bool:
    """Does it stand in code, a heading or another link?"""
    node = text.parent
    while node is not None:
        if isinstance(node, nodes.literal | nodes.literal_block | nodes.reference | nodes.title):
            return True
        node = node.parent
    return False


def as_restructured_text(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Make a docstring, which knows backticks and Google's sections, fit for reStructuredText."""
    if what == "module" and name in MARKDOWN:
        lines[1:] = ["", f"The whole of it is :doc:`a page of its own </{MARKDOWN[name]}>`."]
    else:
        lines[:] = [_escaped(line) for line in lines if not _MADE_UP.match(line)]
    app.env.temp_data["docstring"] = [*lines]


def without_made_up_types(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Undo that napoleon takes whatever stands before a colon for a type."""
    types = [line for line in lines if line.startswith((":rtype: ", ":type: "))]
    if what in ("property", "attribute", "data") and types:
        lines[:] = app.env.temp_data["docstring"]
    elif types:
        made_up = types[-1].partition(": ")[2]
        lines[:] = [
            line.replace(":returns: ", f":returns: {made_up}: ")
            for line in lines
            if not line.startswith(":rtype: ")
        ]


def is_noise(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a named tuple says of its fields, which its docstring tells."""
    return True if (inspect.getdoc(obj) or "").startswith("Alias for field number") else None


def without_object(app: Sphinx, doctree: nodes.document) -> None:
    """That all classes are objects need not be told."""
    for paragraph in [*doctree.findall(nodes.paragraph)]:
        if paragraph.astext() == "Bases: object":
            paragraph.parent.remove(paragraph)


def _escaped(line: str) -> str:
    """A line without what would be markup by accident: stars and bars, underscores at ends."""
    begin = re.match(r"\s*(?:\*{1,2}\w+:|\* |)", line)
    assert begin is not None
    pieces = re.split(r"(`[^`]*`)", line[begin.end() :])
    escaped = [
        piece if piece.startswith("`") else re.sub(r"[*|]|_(?=\W|$)", r"\\\g<0>", piece)
        for piece in pieces
    ]
    return begin[0] + "".join(escaped)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("part", Part)
    app.add_directive("docstring", Docstring)
    app.add_directive("generated", Generated)
    app.add_role(CODE, Code())
    app.add_post_transform(Clauses)
    app.connect("missing-reference", find_code)
    app.connect("autodoc-process-docstring", as_restructured_text, priority=100)
    app.connect("autodoc-process-docstring", without_made_up_types, priority=900)
    app.connect("autodoc-skip-member", is_noise)
    app.connect("doctree-read", without_object)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
