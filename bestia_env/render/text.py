"""A hand as text: a table for a terminal, as one seat sees it or with all cards open."""

from __future__ import annotations

import itertools
import sys
import textwrap

import numpy as np

from bestia_env.render.facts import Facts, Trick, facts_of

WIDTH = 80
_PLAIN = str.maketrans("♣♦♥♠▒◄→─·×ê", "cdhs?<>--xe")
_SYMBOLS = "".join(map(chr, _PLAIN))
_RIGHT = (4, 5)  # columns of numbers


def render_text(
    state: np.ndarray, game: str, seat: int | None = None, ascii_only: bool | None = None
) -> str:
    """A hand as a table of at most 80 columns.

    Args:
        state: (1,) of the game's HAND dtype, a state or a view.
        game: "beast" or "bestia".
        seat: show what this seat may know; None for all that the record holds, which is
            everything in a state and what its viewer may know in a view.
        ascii_only: whether to do without Unicode; None to ask the encoding of `sys.stdout`.

    Returns:
        Lines without a newline at the end. Hidden cards are ▒▒ (or ??), ◄ (or <) is the seat to
        act, D the dealer; cards that a seat has laid away are in brackets.

    Raises:
        ValueError: no such game, a state of the other one, or no such seat at the table.
    """
    text = written(facts_of(state, game, seat))
    return text.translate(_PLAIN) if _is_plain(ascii_only) else text


def _is_plain(ascii_only: bool | None) -> bool:
    return not _stdout_shows_symbols() if ascii_only is None else ascii_only


def _stdout_shows_symbols() -> bool:
    """Can `sys.stdout` encode all symbols? A stream in memory has no encoding and takes all."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        _SYMBOLS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def written(facts: Facts) -> str:
    """The table as lines of Unicode; as wide as the names of the seats make it."""
    head = ["seat", "", "role", f"cards ({facts.laid_away})", "tricks", "coins", ""]
    seats = _aligned([head, *(_row(facts, seat) for seat in facts.seats)])
    rule = "─" * max(map(len, seats))
    below = [*(_trick(facts, trick) for trick in facts.tricks()), *_end(facts)]
    return "\n".join([*_title(facts), rule, *seats, *([rule, *below] if below else [])])


def _title(facts: Facts) -> list[str]:
    v, pack = facts.v, facts.pack
    seen = [] if facts.viewer is None else [f"seen by {facts.names[facts.viewer]}"]
    upcard = ", ".join(filter(None, [f"upcard {pack.symbol(v.upcard)}", facts.upcard_fate()]))
    return [
        " · ".join([facts.game.name.title(), f"hand {v.hand_number + 1}", facts.phase(), *seen]),
        " · ".join([f"pot {v.pot}", f"trump {pack.suits[v.trump]}", upcard]),
    ]


def _row(facts: Facts, seat: int) -> list[str]:
    return [
        facts.names[seat],
        "D" if seat == facts.v.dealer else "",
        facts.role(seat),
        _cards(facts, seat),
        str(facts.v.tricks[seat]),
        f"{facts.coins(seat):+}",
        "◄" if seat == facts.turn else "",
    ]


def _cards(facts: Facts, seat: int) -> str:
    """The cards held, hidden ones too, and in brackets those laid away."""
    held = map(facts.pack.symbol, facts.held(seat))
    hidden = ["▒▒"] * facts.number_hidden(seat)
    away = " ".join(map(facts.pack.symbol, facts.away(seat)))
    return " ".join([*held, *hidden, *([f"({away})"] if away else [])])


def _trick(facts: Facts, trick: Trick) -> str:
    """The cards in order of play, and who takes them."""
    cards = "  ".join(f"{seat}:{facts.pack.symbol(card)}" for seat, card in trick.plays)
    so_far = "" if trick.is_taken else " so far"
    return f"trick {trick.number + 1}  {cards} → {facts.names[trick.winner]}{so_far}"


def _end(facts: Facts) -> list[str]:
    """Penalties that are known, and once the hand is over, its outcome."""
    penalties = {seat: facts.penalties(seat) for seat in facts.seats}
    due = [f"{seat}:{times}" for seat, times in penalties.items() if times]
    lines = [f"penalties × P  {'  '.join(due)}"] if due else []
    if facts.is_over:
        gains = "  ".join(f"{seat}:{facts.v.gains[seat]:+}" for seat in facts.seats)
        lines += [facts.outcome(), f"coins in this hand  {gains}"]
    return [row for line in lines for row in textwrap.wrap(line, WIDTH, subsequent_indent="  ")]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(_padded, row, widths, itertools.count())).rstrip() for row in rows]


def _padded(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column in _RIGHT else cell.ljust(width)
