"""What the README shows runs as it stands, and gives the same again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
SNIPPETS = re.findall(
    r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[text.split("\n")[0] for text in SNIPPETS])
def test_a_snippet_runs_twice_alike(snippet: str, tmp_path: Path) -> None:
    once, again = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", snippet],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert once
    assert once == again
