"""Cards as SVG: faces with all their pips or a figure, small faces, and backs."""

from __future__ import annotations

import functools

from bestia_env.cards import Pack
from bestia_env.games import game_named
from bestia_env.render.artwork import (
    COLOURS,
    FIGURE_OF,
    FIGURES,
    PAPER,
    PIPS,
    SUIT,
    SUITS,
    Picture,
)
from bestia_env.render.elements import FONT, box, element, escaped, group

WIDTH, HEIGHT = 60, 90
_FRAME = {"rx": 5, "stroke": "#3b3426", "stroke_width": 1.5}
_LATTICE = "".join(
    f"M{x} {y}l5 7l-5 7l-5 -7Z" for x in range(12, 60, 12) for y in range(10, 80, 14)
)


def card_svg(card: int | None, game: str) -> str:
    """One card alone.

    Args:
        card: its id, or None for the back.
        game: "beast" or "bestia".

    Returns:
        A whole SVG, 60 by 90.

    Raises:
        ValueError: no such game, or no such card in its pack.
    """
    pack = game_named(game).pack
    title = "a card face down" if card is None else pack.long_name(card)
    return element(
        "svg",
        element("title", escaped(title)),
        back() if card is None else face(pack, card),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
    )


@functools.cache
def face(pack: Pack, card: int) -> str:
    """A face with the rank in two corners, for cards 40 pixels wide or more."""
    rank, suit = _rank_and_suit(pack, card)
    corner = _index(rank, suit, x=9, size=15.5)
    turned = element("g", corner, transform=f"rotate(180 {WIDTH / 2} {HEIGHT / 2})")
    return _blank() + corner + turned + _middle(pack, rank, suit)


@functools.cache
def small_face(pack: Pack, card: int) -> str:
    """A face with a large rank and its suit, legible from 24 pixels on and when overlapped."""
    rank, suit = _rank_and_suit(pack, card)
    return _blank() + _index(rank, suit, x=15.5, size=29) + pip(suit, x=42, y=71, size=30)


@functools.cache
def back() -> str:
    """The back, the same for all."""
    return (
        box(0.75, 0.75, WIDTH - 1.5, HEIGHT - 1.5, fill="#8c2233", **_FRAME)
        + box(4, 4, WIDTH - 8, HEIGHT - 8, rx=3, fill="#5d1320", stroke="#e9cf9a")
        + element("path", d=_LATTICE, fill="#b8495a")
    )


@functools.cache
def pip(suit: str, x: float, y: float, size: float, turned: bool = False) -> str:
    """A suit's symbol with its middle at (x, y)."""
    return _picture(SUITS[suit], suit, x, y, size, turned)


def _picture(
    picture: Picture, suit: str, x: float, y: float, size: float, turned: bool = False
) -> str:
    shapes = [
        element("path", d=path, fill=COLOURS[suit] if fill is SUIT else fill)
        for path, fill in picture
    ]
    sign = -1 if turned else 1
    scale = sign * size / 100
    return group(*shapes, x=x - sign * size / 2, y=y - sign * size / 2, scale=scale)


def _rank_and_suit(pack: Pack, card: int) -> tuple[str, str]:
    suit, strength = divmod(card, len(pack.ranks))
    return pack.ranks[strength], pack.suits[suit]


def _blank() -> str:
    return box(0.75, 0.75, WIDTH - 1.5, HEIGHT - 1.5, fill=PAPER, **_FRAME)


def _index(rank: str, suit: str, x: float, size: float) -> str:
    """The rank over the suit; two digits are set smaller, so that they are as wide as one."""
    rank_text = element(
        "text",
        rank,
        x=x,
        y=size * 1.02,
        font_size=size if len(rank) == 1 else size * 0.78,
        font_family=FONT,
        font_weight="bold",
        text_anchor="middle",
        fill=COLOURS[suit],
    )
    return rank_text + pip(suit, x=x, y=size * 1.56, size=size * 0.82)


def _middle(pack: Pack, rank: str, suit: str) -> str:
    if rank in PIPS:
        upright = "diamonds" not in pack.suits
        places = ((30 + 8 * x, 45 + 30 * y, y) for x, y in PIPS[rank])
        return "".join(pip(suit, x, y, 12, turned=row > 0 and not upright) for x, y, row in places)
    if rank in FIGURE_OF:
        figure = _picture(FIGURES[FIGURE_OF[rank]], suit, x=33, y=30, size=40)
        return figure + pip(suit, x=27, y=67, size=30)
    return pip(suit, x=30, y=45, size=36)
