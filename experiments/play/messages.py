"""What a browser may send: JSON objects, every value checked before anything happens."""

from __future__ import annotations

import contextlib
import json
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

MAX_BYTES = 64 * 1024
_LONGEST = 400  # characters of an error, which may quote what was sent
_KINDS = {int: "an integer", str: "a string", list: "a list", dict: "an object"}


class Refusal(Exception):
    """What was asked for is not done, and nothing has changed.

    Attributes:
        status: of the answer in HTTP, from 400 to 499.
        message: what is wrong, the value, and what is allowed.
        field: the part of the message that is at fault, such as `rules.stake`, or None.
    """

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.field = status, field
        self.message = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"


def read_message(content: bytes, fields: Mapping[str, type]) -> dict[str, Any]:
    """A JSON object with exactly these fields, each of its type.

    Args:
        content: of the request.
        fields: the type of every field: int, str, list or dict, or `object` for any.

    Raises:
        Refusal: it is no such object.
    """
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        raise Refusal(400, f"the message must be JSON, not {quoted(content)}") from None
    if not isinstance(message, dict):
        raise Refusal(400, f"the message must be an object, not {quoted(message)}")
    for name in message:
        if name not in fields:
            known = ", ".join(fields)
            raise Refusal(400, f"unknown field {quoted(name)}: the fields are {known}")
    return {name: checked(message.get(name), name, kind) for name, kind in fields.items()}


def checked(value: Any, name: str, kind: type) -> Any:
    """The value, or a Refusal if it is not of the type that read_message wants."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refusal(400, f"{name} must be {_KINDS[kind]}, not {quoted(value)}", name)
    return value


def quoted(value: Any) -> str:
    """The value as an error quotes it: short, and without what it is nested in."""
    return reprlib.repr(value)


@contextlib.contextmanager
def refused(field: str | None = None, status: int = 400) -> Iterator[None]:
    """A ValueError or TypeError inside, which says what is wrong, becomes a Refusal."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Refusal(status, str(error), field) from None
