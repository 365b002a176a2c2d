"""Where command lines write, and how they end when something goes wrong."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.policies import Policy

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

    Says on the error stream, once, if code is compiled meanwhile.

    Args:
        stopped: what to say after an interrupt.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with _tells_of_compiling():
            yield
    except (ValueError, OSError, MemoryError) as error:
        print(f"error: {_in_words(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"\nstopped: {stopped}", file=sys.stderr)
        sys.exit(130)


def _in_words(error: Exception) -> str:
    """In one line: the file, if it is about one, and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return str(error) or "not enough memory"


@contextlib.contextmanager
def _tells_of_compiling() -> Iterator[None]:
    """Numba tells of what it compiles, not of what it finds compiled."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            _say_compiling()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


@functools.cache
def _say_compiling() -> None:
    print("compiling for the first run (up to a minute) …", file=sys.stderr, flush=True)


@contextlib.contextmanager
def hands_progress(total: int, what: str = "hands") -> Iterator[Callable[[int], None]]:
    """A bar on the error stream; yields what is to be called with numbers of hands done.

    Args:
        total: so many hands.
        what: is counted if not hands.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield functools.partial(bar.advance, bar.add_task(what, total=total))


def provenance(policies: Sequence[Policy]) -> dict[str, Any]:
    """With what it was run: time, commit, versions, and the networks' weights."""
    from agents.checkpoints import git_commit, versions

    networks = [policy.file for policy in policies if policy.file is not None]
    texts = {policy.spec: policy.rule for policy in policies if policy.rule is not None}
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git_commit(),
        "versions": versions(),
        "networks_sha256": {
            _within(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in networks
        },
        "bidding_rules": texts,
    }


def _within(path: Path) -> str:
    """A path as it is in any checkout, if it lies in this one."""
    root = Path(__file__).resolve().parents[1]
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
