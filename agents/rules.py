"""The rules that a command line asks for, as NAME=VALUE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bestia_env.games import game_named

_TRUTH = {"true": True, "false": False}
_INTEGER = re.compile("-?[0-9]{1,30}")


def parse_rules(game: str, options: Sequence[str]) -> Any:
    """The rules of a game with some options given as text.

    Args:
        game: "beast" or "bestia".
        options: such as `maxims=penalty`, `force=true` or `match_limit=300`.

    Returns:
        `BeastRules` or `BestiaRules`.

    Raises:
        ValueError: no such option, a value that it does not take, or an option given twice.
    """
    chosen = game_named(game)
    values: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise ValueError(f"an option is NAME=VALUE, not {option!r}")
        if name in values:
            raise ValueError(f"option {name!r} is given twice")
        values[name] = _value(chosen.rules, name, text)
    try:
        return chosen.make_rules(None, values)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _value(rules: type, name: str, text: str) -> Any:
    """The text as a value of the option's kind where it is one; the rules check the rest."""
    defaults = {field.name: field.default for field in fields(rules)}
    default = defaults.get(name)
    if isinstance(default, bool):
        return _TRUTH.get(text.lower(), text)
    if isinstance(default, int) and _INTEGER.fullmatch(text):
        return int(text)
    return text
