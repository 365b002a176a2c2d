"""Options in a policy's spec: `NAME:KEY=VALUE,KEY=VALUE`, each key at most once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.baselines.dispatch import baselines
from agents.policies import Policy, parse_baseline

Reader = Callable[[str], Any]
"""Turns the text of a value into the value; raises a ValueError that says what is allowed."""


def read_options(spec: str, readers: dict[str, Reader]) -> dict[str, Any]:
    """The options that a spec gives.

    Args:
        spec: such as `pimc:worlds=40,leaf=coalition`, or `pimc` alone.
        readers: of every option there is.

    Raises:
        ValueError: an option is unknown, comes twice, has no value or one that is not allowed.
    """
    name, colon, text = spec.partition(":")
    options: dict[str, Any] = {}
    for part in text.split(",") if colon else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"policy {spec!r}: an option of {name} is KEY=VALUE, not {part!r}")
        if key not in readers:
            known = ", ".join(readers)
            raise ValueError(f"policy {spec!r}: {name} has no option {key!r}: choose among {known}")
        if key in options:
            raise ValueError(f"policy {spec!r}: {key} is given twice")
        try:
            options[key] = readers[key](value)
        except ValueError as error:
            raise ValueError(f"policy {spec!r}: {key} must be {error}, not {value!r}") from None
    return options


def whole(low: int, high: int) -> Reader:
    """Reads a whole number in a range."""

    def read(value: str) -> int:
        digits = value.lstrip("0") or "0"
        is_number = value.isascii() and value.isdigit() and len(digits) <= len(str(high))
        if not is_number or not low <= int(digits) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(digits)

    return read


def number(low: float, high: float) -> Reader:
    """Reads a number in a range."""

    def read(value: str) -> float:
        try:
            found = float(value)
        except ValueError:
            found = float("nan")
        if not low <= found <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return found

    return read


def baseline_or(game: str, *words: str) -> Reader:
    """Reads one of some words, or the spec of a baseline of a game, which gives its Policy."""

    def read(value: str) -> str | Policy:
        if value in words:
            return value
        try:
            return parse_baseline(value, game)
        except ValueError:
            names = ", ".join([*words, *(baseline.name for baseline in baselines(game))])
            raise ValueError(f"one of {names}, with a number where it takes one") from None

    return read


def word(*words: str) -> Reader:
    """Reads one of some words."""

    def read(value: str) -> str:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return value

    return read
