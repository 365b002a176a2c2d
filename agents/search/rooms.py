"""Rooms to work in, kept for each thread: kernels of two threads in one would never come to an end.

A trainer plays hands on a thread of their own, beside its evaluations; a server answers on several.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
MOST = 16  # rooms that a thread keeps


def kept_by_thread(make: Callable[P, R]) -> Callable[P, R]:
    """Make what is asked for once in each thread, and give it again when it is asked for again."""
    local = threading.local()

    @functools.wraps(make)
    def kept(*args: P.args, **kwargs: P.kwargs) -> R:
        if not hasattr(local, "make"):
            local.make = functools.lru_cache(MOST)(make)
        room: R = local.make(*args, **kwargs)
        return room

    return kept
