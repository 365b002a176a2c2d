"""All tables: in memory while they are used, in a file each all the time."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bestia_env.files import read_bounded, write_whole
from experiments.play.messages import Refusal, checked, quoted, read_message
from experiments.play.session import Session
from experiments.play.settings import FIELDS, Settings

FORMAT = "bestia_env table 1"
MAX_IN_MEMORY = 64
MAX_FILE = 1 << 26  # bytes; a million hands have fewer


@dataclass
class _Slot:
    """The place of a table in memory.

    Attributes:
        lock: whoever uses the session holds it.
        users: threads that hold it or wait for it.
        session: None while it is not loaded.
        stamp: of the file that holds the same; another program may write another.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    session: Session | None = None
    stamp: tuple[int, ...] = ()


class Tables:
    """Tables by name; any thread may call anything.

    Attributes:
        folder: of their files, `NAME.json`.
        most: tables that stay in memory when nobody uses them.
    """

    def __init__(self, folder: Path, most: int = MAX_IN_MEMORY) -> None:
        """Make the folder.

        Raises:
            OSError: it cannot be made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.most = folder, most
        self._slots: OrderedDict[str, _Slot] = OrderedDict()  # used longest ago first
        self._lock = threading.Lock()

    def set_up(self, settings: Settings) -> str:
        """Seat everybody at a new table, which is named at random.

        Raises:
            Refusal: a spec names no policy that can play there.
            OSError: the file cannot be written.
        """
        settings.opponents()
        name = secrets.token_hex(8)
        self._save(name, Session(settings))
        return name

    @contextlib.contextmanager
    def seated(self, name: str) -> Iterator[Session]:
        """A table for the caller alone; what has happened to it is saved at the end.

        After an error that is no Refusal it is as the file has it, where nothing has happened.

        Raises:
            Refusal: there is no such table, or its file is damaged.
            OSError: the file cannot be read or written.
        """
        with self._slot(name) as slot:
            stamp = self._stamp(name)
            if slot.session is None or slot.stamp != stamp:
                slot.session, slot.stamp = self._load(name), stamp
            seen = slot.session.seen
            try:
                yield slot.session
                if slot.session.seen != seen:
                    self._save(name, slot.session)
                    slot.stamp = self._stamp(name)
            except BaseException:
                if slot.session.seen != seen:
                    slot.session = None
                raise

    @contextlib.contextmanager
    def _slot(self, name: str) -> Iterator[_Slot]:
        """The slot of a table, locked, and kept while anybody uses it."""
        with self._lock:
            slot = self._slots.setdefault(name, _Slot())
            self._slots.move_to_end(name)
            slot.users += 1
        try:
            with slot.lock:
                yield slot
        finally:
            with self._lock:
                slot.users -= 1
                self._drop_some()

    def _drop_some(self) -> None:
        """Drop slots without a session, and those used longest ago beyond `most`."""
        idle = [name for name, slot in self._slots.items() if not slot.users]
        for name in idle:
            if len(self._slots) > self.most or self._slots[name].session is None:
                del self._slots[name]

    # Files.

    def _save(self, name: str, session: Session) -> None:
        content = {
            "format": FORMAT,
            "settings": session.settings.to_message(),
            "hands": session.hands,
        }
        write_whole(self.folder / f"{name}.json", f"{json.dumps(content)}\n".encode())

    def _stamp(self, name: str) -> tuple[int, ...]:
        """What tells one writing of the file from any other.

        Raises:
            Refusal: there is no such table.
        """
        if re.fullmatch(r"[0-9a-f]{16}", name):
            with contextlib.suppress(FileNotFoundError):
                found = (self.folder / f"{name}.json").stat()
                return found.st_ino, found.st_mtime_ns, found.st_size
        raise Refusal(404, f"there is no table {quoted(name)}")

    def _load(self, name: str) -> Session:
        content = read_bounded(self.folder / f"{name}.json", MAX_FILE)
        try:
            return _session(content)
        except (Refusal, ValueError, TypeError, KeyError) as error:
            raise Refusal(410, f"the file of table {name} is damaged: {error}") from None


def _session(content: bytes) -> Session:
    """The session that `Tables` saved.

    Raises:
        Refusal, ValueError: it is none.
    """
    message = read_message(content, {"format": str, "settings": dict, "hands": list})
    if message["format"] != FORMAT:
        raise ValueError(f"its format must be {FORMAT!r}, not {quoted(message['format'])}")
    settings = read_message(json.dumps(message["settings"]).encode(), FIELDS)
    checked(settings["seed"], "seed", int)  # none is drawn for a table that has been set up
    hands = [checked(hand, "each of hands", list) for hand in message["hands"]]
    for action in itertools.chain(*hands):
        checked(action, "each action", int)
    return Session(Settings.read(settings), hands)
