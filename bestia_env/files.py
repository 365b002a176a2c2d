"""Files that no reader and no crash ever sees half written."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def read_bounded(path: Path, most: int) -> bytes:
    """Read a file that anybody may have named; nothing that waits or never ends.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        OSError: it is missing, no plain file (a pipe, a device, a folder), or too long.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    # Opened as a file only once it is known to be one: of a folder Python would name the number.
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no plain file", str(path))
    with os.fdopen(handle, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return content


def check_replaceable(path: Path) -> None:
    """Raise an OSError if something is there that is no plain file: a folder, a pipe, a device.

    A link is replaced itself, not what it leads to.
    """
    with contextlib.suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise OSError(errno.EINVAL, "it is no plain file to be replaced", str(path))


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content at once, so that no reader and no crash ever sees half of it.

    Raises:
        OSError: it cannot be written, or `check_replaceable` refuses it.
    """
    check_replaceable(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def append_whole(path: Path, line: bytes) -> None:
    """Add a line to the end of a file by a single write; of a write cut short nothing stays.

    Args:
        path: the file, made if it is missing.
        line: without its newline.

    Raises:
        OSError: the file cannot be written, or not wholly.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(handle).st_size
        if os.write(handle, line + b"\n") != len(line) + 1:
            os.ftruncate(handle, size)
            raise OSError(f"{path} could not be written wholly")
    finally:
        os.close(handle)


def write_arrays(path: Path, **arrays: Any) -> None:
    """Replace a file by named arrays, at once; raises as `write_whole` does."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    write_whole(path, file.getvalue())


def read_arrays(path: Path, most: int) -> dict[str, np.ndarray]:
    """The arrays of a file that `write_arrays` has written.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        OSError: as `read_bounded` does.
        ValueError: it holds no arrays, or not all of them.
    """
    content = read_bounded(path, most)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:  # zip and numpy raise many kinds for what is no file of theirs
        raise ValueError(f"{path} is damaged: delete it ({error})") from None
