"""Work in pieces, in this process or in several."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

Work = Callable[..., Any]


def in_order(
    work: Work, common: tuple, pieces: Sequence[Any], jobs: int, trial: Any
) -> Iterator[Any]:
    """What `work(*common, piece)` returns for every piece, in order whoever did it.

    Args:
        work: a function at the top of its module.
        common: what is the same for all pieces, sent to each process once.
        pieces: what differs.
        jobs: processes; with 1 the work is done here.
        trial: a tiny piece, done here before others start, since it compiles the kernels, which
            else every process would do for itself.
    """
    if jobs == 1:
        yield from (work(*common, piece) for piece in pieces)
        return
    work(*common, trial)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, _set_up, (work, common))
    try:
        found = deque(pool.submit(_work, piece) for piece in pieces)
        while found:
            yield found.popleft().result()
    finally:
        with _uninterrupted():
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """A second interrupt while processes end would leave some for which Python waits for ever."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_task: tuple[Work, tuple]  # of a process of the pool


def _set_up(work: Work, common: tuple) -> None:
    global _task
    _task = work, common
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed sends no word, and its processes would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(piece: Any) -> Any:
    work, common = _task
    return work(*common, piece)
