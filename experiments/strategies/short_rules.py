"""Rules short enough to remember, one for each table that has a strategy chart."""

from __future__ import annotations

from typing import NamedTuple


class ShortRule(NamedTuple):
    """A rule for people.

    Attributes:
        words: how one would say it.
        text: the same in the language of bidding rules.
    """

    words: str
    text: str


def _bestia(least: str) -> ShortRule:
    return ShortRule(
        "Knock with two trumps. With one or none, take the rank of your trump (2 4 5 6 7 F C R 3 "
        "A), go up four ranks for each ace beside it and down two for each knock you have heard: "
        f"knock if that makes at least the {least}. Take new cards if nobody knocked, or as first "
        "hand if only one did.",
        f"knock if trumps >= 2 or top_trump + 4*sides(ace) - 2*knocks >= {least}; "
        "exchange if knocks == 0 or knocks == 1 and seat == 0",
    )


SHORT_RULES = {
    "bestia-3": _bestia("7"),
    "bestia-4": _bestia("7"),
    "bestia-5": _bestia("7"),
    "bestia-6": _bestia("fante"),
    "beast-4": ShortRule(
        "Take a king or an ace. Count one for each trump, one more for each trump from the jack "
        "up, one for each ace beside them: play with four, counter with two.",
        "take if upcard >= king; play if trumps + trumps(jack) + sides(ace) >= 4; "
        "counter if trumps + trumps(jack) + sides(ace) >= 2",
    ),
}
