"""Where command lines write, and how they end when something goes wrong."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

RUNS, RESULTS = Path("runs"), Path("experiments/results")
SMOKE = RUNS / "smoke"  # what a tiny budget gave is no run to go on with, and no result


def runs_folder(smoke: bool) -> Path:
    """Where runs go unless a folder is given."""
    return SMOKE if smoke else RUNS


def results_folder(smoke: bool) -> Path:
    """Where results go unless a file is given."""
    return SMOKE if smoke else RESULTS


@contextlib.contextmanager
def ends_cleanly(stopped: str) -> Iterator[None]:
    """Exit with 2 and one line for what is wrong with the arguments, with 130 if interrupted.

    Args:
        stopped: what to say after an interrupt.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        print(f"error: {error or 'not enough memory'}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"\nstopped: {stopped}", file=sys.stderr)
        sys.exit(130)
