"""The one jit decorator of the project, and where its compiled code is kept."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable)

# Without NRT numba counts no references to arrays, which took half the time of a batch step; the
# price is that compiled code cannot make arrays, only write into those it is given.
_OPTIONS = {"error_model": "numpy", "forceinline": True, "nogil": True, "_nrt": False}
# A word of these stands in each source that kernels are made from.
_COMPILED_FROM = b"numba", b"_jit", b"by_game"
_packages: set[str] = set()  # those with compiled functions so far


def jit(function: F) -> F:
    """Compile `function` with numba, or leave it plain Python under `NUMBA_DISABLE_JIT=1`.

    Compiled code is cached on disk in a folder named after a hash of all sources that it can
    call, because numba by itself keeps running the old code when a callee in another file changes.
    """
    if numba.config.DISABLE_JIT:
        # uint64 arithmetic wraps around in compiled code; numpy's scalars do so too, but warn.
        return np.errstate(over="ignore")(function)
    package = function.__module__.partition(".")[0]
    _packages.add(package)  # what a function calls was decorated before it
    folder = _cache_folder(package, frozenset(_packages))
    if folder is None:
        return numba.njit(**_OPTIONS)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


@functools.cache
def _cache_folder(package: str, packages: frozenset[str]) -> Path | None:
    """The first writable place for the compiled code of a top-level package, or None."""
    name = f"numba-{_source_hash(packages)}"
    for parent in _cache_parents(package):
        folder = parent / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK) and _is_ours(folder):
            return folder
    return None


def _is_ours(folder: Path) -> bool:
    """Cached code is run, so none is taken from a folder that somebody else has made."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def _cache_parents(package: str) -> list[Path]:
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR)]
    user = os.environ.get("USER", "") or str(getattr(os, "getuid", lambda: "user")())
    parents = [_root(package) / "__pycache__"]
    with contextlib.suppress(OSError):  # where nothing at all can be written, in a container say
        parents.append(Path(tempfile.gettempdir()) / f"bestia_env-{user}")
    return parents


def _root(package: str) -> Path:
    file = getattr(sys.modules[package], "__file__", None)
    return Path(file).resolve().parent if file else Path.cwd()


def _source_hash(packages: frozenset[str]) -> str:
    """A hash of all sources of some packages that compiled code is made from.

    Those are the files that import numba, this decorator or that of verbs of both games: what
    kernels use stands in them.
    """
    settings = f"{sys.version} {numba.__version__} {np.__version__} {numba.config.BOUNDSCHECK}"
    digest = hashlib.sha256(settings.encode())
    for root in sorted(map(_root, packages)):
        for path in sorted(root.rglob("*.py")):
            source = path.read_bytes()
            if any(word in source for word in _COMPILED_FROM):
                digest.update(path.relative_to(root).as_posix().encode())
                digest.update(source)
    return digest.hexdigest()[:12]
