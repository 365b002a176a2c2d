"""Work in pieces, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any, Protocol, runtime_checkable

WAITED = 0.1  # seconds between two looks whether there was an interrupt
Work = Callable[..., Any]


@runtime_checkable
class Workers(Protocol):
    """Who does work elsewhere, as `agents.cluster` does."""

    def in_order(self, work: Work, common: tuple, pieces: Sequence[Any]) -> Iterator[Any]:
        """What `work(*common, piece)` returns for every piece, in order whoever did it."""


def in_order(
    work: Work, common: tuple, pieces: Sequence[Any], jobs: int | Workers, trial: Any
) -> Iterator[Any]:
    """What `work(*common, piece)` returns for every piece, in order whoever did it.

    Args:
        work: a function at the top of its module.
        common: what is the same for all pieces, sent to each process once.
        pieces: what differs.
        jobs: processes; with 1 the work is done here; or who does it elsewhere.
        trial: a tiny piece, done here before others start, since it compiles the kernels, which
            else every process would do for itself.
    """
    if jobs == 1:
        yield from (work(*common, piece) for piece in pieces)
        return
    work(*common, trial)
    if isinstance(jobs, Workers):
        yield from jobs.in_order(work, common, pieces)
        return
    context = multiprocessing.get_context("spawn")
    interrupts = _Interrupts(ProcessPoolExecutor(jobs, context, _set_up, (work, common)))
    try:
        found = deque(interrupts.pool.submit(_work, piece) for piece in pieces)
        while found:
            result = interrupts.result(found.popleft())
            interrupts.are_raised = True
            yield result
            interrupts.are_raised = False
    finally:
        interrupts.end()


class _Interrupts:
    """What an interrupt does while processes work: it ends them, and then is raised, once.

    Raised where Python starts or ends processes, as a second one might be, it would leave some for
    which Python waits for ever.

    Attributes:
        pool: of the processes.
        are_raised: may they be raised where the main thread is now? Else they are noted.
    """

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        """Take over interrupts, unless this is another thread or somebody else has done so."""
        self.pool = pool
        self.are_raised = self._noted = False
        is_main = threading.current_thread() is threading.main_thread()
        self._taken = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._taken:
            signal.signal(signal.SIGINT, self._come)

    def _come(self, number: int, frame: types.FrameType | None) -> None:
        if not self.are_raised:
            self._noted = True
            return
        self.end()
        raise KeyboardInterrupt

    def result(self, future: Future) -> Any:
        """The result of a piece; raises a KeyboardInterrupt if one was noted before it came."""
        while not wait((future,), WAITED).done and not self._noted:
            pass
        if self._noted:
            raise KeyboardInterrupt
        return future.result()

    def end(self) -> None:
        """End the processes, then raise a KeyboardInterrupt if one was noted; once is enough."""
        self.are_raised = False
        self.pool.shutdown(cancel_futures=True)
        noted, taken = self._noted, self._taken
        self._noted = self._taken = False
        if taken:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if noted:
            raise KeyboardInterrupt


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
