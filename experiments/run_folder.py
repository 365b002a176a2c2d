"""The folder of a training run: its lock, arguments, checkpoint, logs and policy."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import math
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agents.checkpoints import load_checkpoint, write_whole

if TYPE_CHECKING:
    from experiments.training import Learner, TrainingArguments

FREE = ("run_dir", "checkpoint_every")  # may differ when a run goes on
_DAMAGE = (OSError, RuntimeError, ValueError, LookupError, TypeError, AttributeError, EOFError,
           pickle.UnpicklingError)  # fmt: skip


class Run:
    """A run folder."""

    def __init__(self, arguments: TrainingArguments) -> None:
        self.arguments = arguments
        self.folder = arguments.run_dir
        self.policy = self.folder / "policy.safetensors"
        self.checkpoint = self.folder / "checkpoint.pt"
        self.metrics = self.folder / "metrics.jsonl"
        self._arguments_file = self.folder / "arguments.json"

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Make the folder ours, and nobody else's meanwhile.

        Raises:
            ValueError: it belongs to a run with other arguments, or to no run at all.
            OSError: it cannot be written to, or another process is at it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("a") as file:
            self._lock(file)
            self._check_owner()
            for half_written in self.folder.glob(".*.tmp"):
                half_written.unlink()
            text = json.dumps(self._facts(), indent=2)
            write_whole(self._arguments_file, f"{text}\n".encode())
            yield

    def _lock(self, file: IO[str]) -> None:
        """Lock the file until it is closed, as the system does when the process dies."""
        try:
            _lock(file)
        except OSError as error:
            raise BlockingIOError(f"{self.folder} is in use by another process") from error

    def is_finished(self) -> bool:
        """Is everything done, the evaluation too, and still there?"""
        self._check_owner()
        return self.result() is not None

    def result(self) -> list[dict[str, Any]] | None:
        """The evaluation of the policy; None if there is none, or no sound policy."""
        try:
            return load_checkpoint(self.policy)[1].get("result")
        except ValueError:
            return None

    def _check_owner(self) -> None:
        if not self._arguments_file.exists():
            if self.folder.exists() and any(
                not file.name.startswith(".") for file in self.folder.iterdir()
            ):
                raise ValueError(f"{self.folder} is not empty and holds no training run")
            return
        now = json.loads(json.dumps(self._facts()))
        before = self._owner(now)
        names = sorted(name for name in {*now} - {*FREE} if before[name] != now[name])
        if names:
            words = ", ".join(f"{name} was {before[name]!r}, is {now[name]!r}" for name in names)
            raise ValueError(
                f"{self.folder} belongs to a run with other arguments: {words}. "
                "Take another run folder, or delete this one"
            )

    def _owner(self, now: dict[str, Any]) -> dict[str, Any]:
        """The facts of the run that the folder belongs to, of the same names as those of now."""
        try:
            before = json.loads(self._arguments_file.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            before = None
        if not isinstance(before, dict) or before.keys() != now.keys():
            raise ValueError(
                f"{self._arguments_file} does not hold the arguments of a run of this version: "
                "take another run folder, or delete this one"
            )
        return before

    def _facts(self) -> dict[str, Any]:
        """The arguments, and the observation layout that they were used with."""
        from bestia_env.observe import layout

        facts = {
            "module": self.arguments.MODULE,
            **dataclasses.asdict(self.arguments),
            "run_dir": str(self.folder),
        }
        return {**facts, "layout": layout(self.arguments.game, self.arguments.num_players).hash}

    def save(self, learner: Learner, seconds: float) -> None:
        """Write all that is needed to go on exactly as if nothing had happened."""
        import torch

        everything = {"steps": learner.steps, "seconds": seconds, "learner": learner.state()}
        file = io.BytesIO()
        torch.save(everything, file)
        content = file.getvalue()
        write_whole(self.checkpoint, hashlib.sha256(content).digest() + content)

    def resume(self, learner: Learner) -> float:
        """Go on from the checkpoint if there is one; returns the seconds spent before.

        Raises:
            ValueError: the checkpoint is damaged.
        """
        import torch

        if not self.checkpoint.exists():
            return 0.0
        try:
            saved = torch.load(io.BytesIO(self._checkpoint_content()), weights_only=True)
            learner.restore(saved["learner"])
            learner.steps, seconds = saved["steps"], saved["seconds"]
        except _DAMAGE:
            raise ValueError(
                f"{self.checkpoint} is damaged: delete it, and the same command begins anew"
            ) from None
        print(f"going on from step {learner.steps:,}")
        return seconds

    def _checkpoint_content(self) -> bytes:
        """What torch saved; its digest stands before it, since torch checks no sums."""
        file = self.checkpoint.read_bytes()
        digest, content = file[:32], file[32:]
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("the digest is another")
        return content

    def logs(self, steps: int) -> Logs:
        """Logs that begin after so many steps; what they held beyond is dropped."""
        kept = [line for line in read_metrics(self.metrics) if line["steps"] <= steps]
        text = "".join(f"{json.dumps(line)}\n" for line in kept)
        write_whole(self.metrics, text.encode())
        return Logs(self.metrics, self.folder / "tensorboard", steps)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The updates of a `metrics.jsonl`; lines that are damaged or not yet whole are left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = [_parsed(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in lines if isinstance(line, dict) and type(line.get("steps")) is int]


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Logs:
    """The metrics as JSON lines and for TensorBoard."""

    def __init__(self, metrics: Path, tensorboard: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.file = metrics.open("a", encoding="utf-8")
        self.writer = SummaryWriter(str(tensorboard), purge_step=steps + 1 if steps else None)

    def __enter__(self) -> Logs:
        return self

    def __exit__(self, *exception: object) -> None:
        self.file.close()
        self.writer.close()

    def write(self, record: dict[str, float]) -> None:
        """Write one update's line."""
        finite = {name: value for name, value in record.items() if math.isfinite(value)}
        self.file.write(f"{json.dumps(finite)}\n")
        self.file.flush()
        for name, value in finite.items():
            if name != "steps":
                group = name if "/" in name else f"train/{name}"
                self.writer.add_scalar(group, value, int(record["steps"]))
