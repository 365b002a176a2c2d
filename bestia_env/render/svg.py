"""A table as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestia_env.render import cards
from bestia_env.render.artwork import DARK_GOLD, GOLD, PALE_GOLD, PAPER
from bestia_env.render.elements import (
    box,
    clipped,
    element,
    escaped,
    group,
    label,
    text_width,
)
from bestia_env.render.facts import Facts, Trick, facts_of
from bestia_env.render.places import HEADER, HEIGHT, MIDDLE, OWN_TOP, WIDTH, plan
from bestia_env.render.seats import card, coins_text, own_panel, panel
from bestia_env.render.text import written

_NAME_WIDTH = 150  # of the longest name, at size 13
_NEWS_WIDTH = 420
# The size of letters, and where the lines stand.
_SIZES = ((15.0, (27,)), (13.0, (19, 35)), (11.2, (13, 26, 39)))
_WINNING = "#ffd84d"
_TRICK_CARD = (57, 51)  # the height of cards played, by few and by many


def render_svg(
    state: np.ndarray, game: str, seat: int | None = None, names: Sequence[str] | None = None
) -> str:
    """A hand as a picture of the table.

    Args:
        state: (1,) of the game's HAND dtype, a state or a view.
        game: "beast" or "bestia".
        seat: show what this seat may know, with this seat at the bottom; None for all that the
            record holds, as in `render_text`, with the viewer or else seat 0 at the bottom.
        names: what the seats are called; `player_0` and so on if None.

    Returns:
        A whole SVG, 640 by 512, that needs nothing else and may stand beside others in one page.
        Every card face up is a `<g class="card">` with `data-card` (its id), `data-name`,
        `data-place` (hand, trick, away or upcard) and `data-seat`.

    Raises:
        ValueError: no such game, a state of the other one, no such seat at the table, or not a
            name for each seat.
    """
    facts = facts_of(state, game, seat, names)
    facts.names = [clipped(name, 13, _NAME_WIDTH) for name in facts.names]
    return element(
        "svg",
        element("title", escaped(_title(facts))),
        element("desc", escaped(written(facts))),
        _room(),
        _header(facts),
        _middle(facts),
        _seats(facts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
    )


def _title(facts: Facts) -> str:
    return f"{facts.game.name.title()}, hand {facts.v.hand_number + 1}, {facts.phase()}"


def _room() -> str:
    top, bottom = HEADER + 22, OWN_TOP - 4
    rims = ((24, "#3a2413"), (28, "#7a4e28"), (36, "#2a1a0d"), (39, "#14603f"), (60, "#19724b"))
    table = [
        box(
            inset,
            top + inset - 24,
            WIDTH - 2 * inset,
            bottom - top - 2 * (inset - 24),
            rx=(bottom - top) / 2 - inset + 24,
            fill=fill,
        )
        for inset, fill in rims
    ]
    return box(0, 0, WIDTH, HEIGHT, fill="#10261d") + "".join(table)


# The header.


def _header(facts: Facts) -> str:
    below = ["over"] if facts.is_over else []
    below += [] if facts.viewer is None else [f"seen by {facts.names[facts.viewer]}"]
    title = f"{facts.game.name.title()} · hand {facts.v.hand_number + 1}"
    bold: dict[str, Any] = {"fill": PALE_GOLD, "font_weight": "bold"}
    return "".join(
        [
            box(0, 0, WIDTH, HEADER - 2, fill="#091a13"),
            label(10, 20 if below else 27, title, 15, width=190, **bold),
            label(10, 36, ", ".join(below), 12, width=190),
            *_lines(_news(facts)),
        ]
    )


def _news(facts: Facts) -> str:
    """What is going on, or how the hand ended; and penalties that are known."""
    due = [(facts.names[seat], facts.penalties(seat)) for seat in facts.seats]
    words = [f"{name} ×{times}" for name, times in due if times]
    return _event(facts) + (f"; penalties: {', '.join(words)}" if words else "")


def _event(facts: Facts) -> str:
    if facts.turn is None:
        return facts.outcome()
    return f"{facts.phase()}: {facts.names[facts.turn]} to act"


def _lines(words: str) -> list[str]:
    """Words at the right of the header, the smaller the more of them there are."""
    for size, feet in _SIZES:
        lines = _wrapped(words, size)
        if len(lines) <= len(feet):
            break
    last = " ".join(lines[len(feet) - 1 :])
    return [
        label(WIDTH - 10, y, line, size, width=_NEWS_WIDTH, text_anchor="end")
        for y, line in zip(feet, [*lines[: len(feet) - 1], last], strict=False)
    ]


def _wrapped(words: str, size: float) -> list[str]:
    lines: list[str] = []
    for word in words.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= _NEWS_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


# The middle.


def _middle(facts: Facts) -> str:
    x, y = MIDDLE[0], MIDDLE[1] + 6
    pot = coins_text(int(facts.v.pot), ems=16)
    upcard = ["upcard", facts.upcard_fate()]
    face_up = card(facts, int(facts.v.upcard), x + 16, y - 62, 72, None, "upcard", whole=True)
    is_there = facts.upcard_fate() in ("", "left")
    trump = facts.pack.suits[facts.v.trump]
    middle: dict[str, Any] = {"text_anchor": "middle"}
    return "".join(
        [
            label(x - 18, y - 46, "trump", 12, text_anchor="end", font_weight="bold"),
            element("circle", cx=x - 2, cy=y - 50, r=12.5, fill=PAPER, stroke=DARK_GOLD),
            cards.pip(trump, x - 2, y - 50, 17),
            _pile(int(facts.v.pot), x - 35, y + 9),
            face_up if is_there else group(face_up, opacity=0.45),
            label(x + 40, y + 24, ", ".join(filter(None, upcard)), 11.5, **middle),
            label(x, y + 45, f"pot {pot}", 17, PALE_GOLD, font_weight="bold", **middle),
        ]
    )


def _pile(pot: int, x: float, y: float) -> str:
    """Coins in stacks: as many as there are up to three, then two for each doubling."""
    count = pot if pot <= 3 else min(round(3 + 2 * math.log2(pot / 3)), 28)
    stacks = -(-count // 7)
    coins = []
    for k in range(count):
        stack, level = k % stacks, k // stacks
        place = {"cx": x + 21 * (stack - (stacks - 1) / 2), "cy": y - 5 * level - 4}
        coins += [element("ellipse", rx=10, ry=4.8, fill=GOLD, stroke=DARK_GOLD, **place)]
        coins += [element("ellipse", rx=5.5, ry=2.2, fill=PALE_GOLD, **place)]
    return "".join(coins)


# The seats.


def _seats(facts: Facts) -> str:
    table = plan(len(facts.seats))
    bottom = facts.viewer or 0
    others = [(bottom + k) % len(facts.seats) for k in facts.seats[1:]]
    if facts.game.name == "beast":
        others.reverse()  # clockwise: the next seat is at the left
    places = dict(zip(others, table.places, strict=True))
    played = {bottom: table.own} | {seat: place.played for seat, place in places.items()}
    panels = [panel(facts, seat, place, table.sizes) for seat, place in places.items()]
    tricks = [*facts.tricks()]
    trick = _trick(facts, tricks[-1], played, _TRICK_CARD[len(facts.seats) > 6]) if tricks else ""
    return "".join([*panels, own_panel(facts, bottom), trick])


def _trick(
    facts: Facts, trick: Trick, played: dict[int, tuple[float, float]], height: float
) -> str:
    """The cards of a trick before those who played them; dimmed once it is taken."""
    width = height * cards.WIDTH / cards.HEIGHT
    drawn = []
    for place, (seat, one) in enumerate(trick.plays):
        x, y = played[seat][0] - width / 2, played[seat][1] - height / 2
        drawn.append(card(facts, one, x, y, height, seat, "trick"))
        if place == trick.best:
            mark = {"rx": 5, "fill": "none", "stroke": _WINNING, "stroke_width": 3}
            drawn.append(box(x - 2, y - 2, width + 4, height + 4, **mark))
            drawn.append(_star(x + width - 10, y + 11))
    return group(*drawn, opacity=0.7 if trick.is_taken else 1)


def _star(x: float, y: float) -> str:
    points = [(8 if k % 2 == 0 else 3.4, math.pi * k / 5) for k in range(10)]
    path = " ".join(f"{x + r * math.sin(a):.1f},{y - r * math.cos(a):.1f}" for r, a in points)
    return element("polygon", points=path, fill=_WINNING, stroke="#5a3d00")
