"""Checkpoints: `NAME.safetensors` holds the weights, `NAME.json` beside it says what they are."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from bestia_env.files import read_bounded, write_whole

FORMAT = "bestia_env policy 1"
MAX_BYTES = 1 << 30  # of a file
_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("bestia_env", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib")


def save_checkpoint(path: str | Path, tensors: dict[str, np.ndarray], facts: dict) -> None:
    """Write weights and sidecar, each whole or not at all, the sidecar last.

    Args:
        path: ends in .safetensors.
        tensors: the weights by name.
        facts: for the sidecar, as JSON can hold them.

    Raises:
        ValueError: the path has another ending, or JSON cannot hold the facts.
        OSError: the folder cannot be written to.
    """
    from safetensors.numpy import save

    path = _checked_path(path)
    weights = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    sidecar = {"format": FORMAT, "weights_sha256": hashlib.sha256(weights).hexdigest(), **facts}
    text = json.dumps(sidecar, indent=2, allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, weights)
    write_whole(sidecar_path(path), f"{text}\n".encode())


def load_checkpoint(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_checkpoint` wrote: the weights by name, and the sidecar.

    Raises:
        ValueError: the files are missing, or are no checkpoint, or do not belong together.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = _checked_path(path)
    weights = _read(path, path)
    sidecar = _parsed_sidecar(path)
    if sidecar.get("weights_sha256") != hashlib.sha256(weights).hexdigest():
        raise ValueError(
            f"{path} and {sidecar_path(path).name} do not belong together: one was replaced, or "
            "their writing was cut short"
        )
    try:
        return load(weights), sidecar
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{path} is no safetensors file: {error}") from None


def sidecar_path(path: str | Path) -> Path:
    """The sidecar's place beside the weights."""
    return Path(path).with_suffix(".json")


def versions() -> dict[str, str | None]:
    """The versions of python and of all packages that a trained policy depends on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def git_commit() -> str | None:
    """The checkout's commit, with "+changes" if files differ from it; None where git is not."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return None
    return commit + "+changes" if _git("status", "--porcelain") else commit


def _checked_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix != ".safetensors":
        raise ValueError(f"a checkpoint's name ends in .safetensors, not {str(path)!r}")
    return path


def _read(part: Path, checkpoint: Path) -> bytes:
    try:
        return read_bounded(part, MAX_BYTES)
    except FileNotFoundError:
        missing = "" if part == checkpoint else f": it lacks its sidecar {part}"
        raise ValueError(f"there is no checkpoint {checkpoint}{missing}") from None
    except OSError as error:
        raise ValueError(f"{part} cannot be read: {error.strerror}") from None


def _parsed_sidecar(path: Path) -> dict[str, Any]:
    sidecar = sidecar_path(path)
    try:
        facts = json.loads(_read(sidecar, path))
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise
        raise ValueError(f"{sidecar} is not JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{sidecar} is not JSON: it is nested too deep") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        found = facts.get("format") if isinstance(facts, dict) else None
        raise ValueError(f"{sidecar} is no sidecar of {FORMAT!r}: its format is {found!r}")
    return facts


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
