"""What the README and the pages of docs/ show runs as it stands, and gives the same again.

`python -m tests.test_snippets` writes what the snippets of docs/ print into the blocks below them,
after a change that is meant to change it; the difference is read in review like code.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
# A block of Python, and the block of text after it, which is what it prints.
SNIPPET = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
SNIPPETS = [
    pytest.param(page, *found.groups(), id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, found in enumerate(SNIPPET.finditer(page.read_text("utf-8")), start=1)
]


def printed(code: str, page: Path, folder: Path) -> str:
    """What code prints in a process of its own; pages are for those who have a checkout."""
    path = {} if page == README else {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=folder,
        env=os.environ | path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize(("page", "code", "shown"), SNIPPETS)
def test_a_snippet_runs_twice_alike(
    page: Path, code: str, shown: str | None, tmp_path: Path
) -> None:
    once, again = printed(code, page, tmp_path), printed(code, page, tmp_path)
    assert once
    assert shown in (None, once)
    assert once == again


def test_every_block_of_a_page_is_of_a_known_kind() -> None:
    for page in PAGES:
        kinds = re.findall(r"^ *```(\S*)", page.read_text("utf-8"), re.MULTILINE)[::2]
        plain = {kind for kind in kinds if not kind.startswith("{")}
        assert plain <= {"python", "text", "sh", "markdown", ""}


def write_anew(page: Path) -> None:
    def anew(block: re.Match[str]) -> str:
        with TemporaryDirectory() as folder:
            text = printed(block[1], page, Path(folder))
        return block[0] if block[2] is None else f"```python\n{block[1]}```\n\n```text\n{text}```"

    page.write_text(SNIPPET.sub(anew, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    for page in PAGES[1:]:
        write_anew(page)
