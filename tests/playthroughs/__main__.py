"""Rewrite the playthroughs, all or those named: python -m tests.playthroughs [FILE …]."""

import os
import sys
from pathlib import Path

from tests.playthroughs import paths, retold

for path in map(Path, sys.argv[1:]) if sys.argv[1:] else paths():
    text = path.read_text(encoding="utf-8")
    if retold(text) != text:
        draft = path.with_suffix(".new")
        draft.write_text(retold(text), encoding="utf-8", newline="\n")
        os.replace(draft, path)
        print(f"rewrote {path.name}")
