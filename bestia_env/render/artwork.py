"""The artwork of both packs as data: paths in a square of 100 by 100.

A picture is a tuple of shapes, and a shape is a path and its fill; a fill of SUIT is the colour of
the card's suit.
"""

from __future__ import annotations

Shape = tuple[str, str]
Picture = tuple[Shape, ...]

SUIT = "suit"
INK = "#1b1b24"
PAPER = "#fffdf5"
GOLD, DARK_GOLD, PALE_GOLD = "#e3a51a", "#7d5200", "#fbdc7a"
SKIN, HAIR, FAIR, AUBURN = "#f3cfa8", "#5b3a1e", "#c98a2b", "#8f3f1c"


def disc(x: float, y: float, r: float) -> str:
    """The path of a disc."""
    return f"M{x - r} {y}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"


COLOURS = {
    # Shape tells suits apart; so does lightness, to those who see no colours.
    **{"clubs": "#00705f", "diamonds": "#1f5fc4", "hearts": "#c8102e", "spades": INK},
    **{"bastoni": "#2f6b2a", "coppe": "#b01325", "denari": "#8a5a00", "spade": "#1d4f8f"},
}
"""The colour of each suit's ranks and robes."""

SUITS: dict[str, Picture] = {
    "clubs": (
        (disc(50, 26, 22) + disc(26, 59, 22) + disc(74, 59, 22), SUIT),
        ("M42 40H58L56 62C56 78 61 90 70 97H30C39 90 44 78 44 62Z", SUIT),
    ),
    "diamonds": (
        ("M50 2C60 23 73 39 90 50C73 61 60 77 50 98C40 77 27 61 10 50C27 39 40 23 50 2Z", SUIT),
    ),
    "hearts": (
        (
            "M50 95C20 68 4 50 4 31C4 16 15 7 27 7C38 7 46 14 50 25"
            "C54 14 62 7 73 7C85 7 96 16 96 31C96 50 80 68 50 95Z",
            SUIT,
        ),
    ),
    "spades": (
        (
            "M50 3C58 23 94 40 94 63C94 76 84 84 73 84C65 84 57 80 53 73C54 84 59 92 68 97H32"
            "C41 92 46 84 47 73C43 80 35 84 27 84C16 84 6 76 6 63C6 40 42 23 50 3Z",
            SUIT,
        ),
    ),
    "bastoni": (
        (
            "M60 8C70 0 92 4 95 18C96 30 84 38 74 48L26 95"
            "C18 103 1 88 8 78L52 30C56 24 52 14 60 8Z",
            INK,
        ),
        (
            "M62 12C70 5 88 8 91 19C92 28 82 34 71 45L23 91"
            "C18 95 7 87 12 80L56 32C60 26 56 18 62 12Z",
            "#9a6227",
        ),
        ("M44 42C30 40 26 28 30 20C42 22 50 30 50 38Z", "#3c8a34"),
        ("M58 60C74 58 80 68 80 78C66 80 56 74 52 66Z", "#3c8a34"),
        ("M70 14C78 12 86 16 86 22C82 18 76 17 69 20Z", "#cf9a57"),
    ),
    "coppe": (
        (
            "M10 4H90V18H86C85 44 72 60 58 64V74C72 76 82 83 84 96H16"
            "C18 83 28 76 42 74V64C28 60 15 44 14 18H10Z",
            INK,
        ),
        ("M18 18H82C81 42 68 57 50 59C32 57 19 42 18 18Z", "#c8202f"),
        ("M14 8H86V16H14Z", GOLD),
        ("M46 61H54V77C70 79 78 85 80 92H20C22 85 30 79 46 77Z", GOLD),
        ("M26 22H36C36 36 40 46 44 52C33 46 27 36 26 22Z", "#ef8a8f"),
    ),
    "denari": (
        (disc(50, 50, 48), DARK_GOLD),
        (disc(50, 50, 43), GOLD),
        (disc(50, 50, 32), DARK_GOLD),
        (disc(50, 50, 28.5), PALE_GOLD),
        ("M50 26L56 44L74 50L56 56L50 74L44 56L26 50L44 44Z", "#b3261e"),
        ("M33 33L50 42L67 33L58 50L67 67L50 58L33 67L42 50Z", DARK_GOLD),
        (disc(50, 50, 7), PALE_GOLD),
    ),
    "spade": (
        (
            "M50 -2L69 15L66 57H92V74H61V83C68 89 65 102 50 102"
            "C35 102 32 89 39 83V74H8V57H34L31 15Z",
            INK,
        ),
        ("M50 5L63 17L60.5 57H39.5L37 17Z", "#a9cdf0"),
        ("M50 5L63 17L60.5 57H50Z", "#4f83bd"),
        ("M13 62H87V69H13Z", GOLD),
        ("M44 74H56V84H44Z", "#a5322a"),
        (disc(50, 91, 7), GOLD),
    ),
}

_ROBE = "M6 100C8 76 28 68 50 68C72 68 92 76 94 100Z"
_FACE = "M33 40C33 24 67 24 67 40C68 58 60 70 50 70C40 70 32 58 33 40Z"
_EYES = disc(43, 45, 2.6) + disc(57, 45, 2.6)

FIGURES: dict[str, Picture] = {
    "king": (
        (_ROBE, SUIT),
        ("M30 34C24 50 27 66 34 72H66C73 66 76 50 70 34Z", HAIR),
        ("M24 73L50 100L76 73C70 70 62 68 50 68C38 68 30 70 24 73Z", PAPER),
        (disc(36, 77, 1.8) + disc(64, 77, 1.8) + disc(50, 91, 1.8), INK),
        (_FACE, SKIN),
        (
            "M33 46C34 66 40 84 50 86C60 84 66 66 67 46C65 55 60 57 56 55C53 53 47 53 44 55"
            "C40 57 35 55 33 46Z",
            HAIR,
        ),
        ("M44 60C47 58 53 58 56 60C54 63 46 63 44 60Z", "#c4473f"),
        (_EYES, INK),
        ("M28 34L22 8L37 20L50 2L63 20L78 8L72 34C60 29 40 29 28 34Z", GOLD),
        (disc(22, 8, 4) + disc(78, 8, 4) + disc(50, 4, 4), PALE_GOLD),
        (disc(50, 24, 4), SUIT),
    ),
    "queen": (
        ("M28 40C14 66 24 84 20 92H80C76 84 86 66 72 40C70 14 30 14 28 40Z", AUBURN),
        (_ROBE, SUIT),
        ("M41 62H59V72C64 78 36 78 41 72Z", SKIN),
        ("M30 71C36 84 64 84 70 71L76 74C66 94 34 94 24 74Z", PALE_GOLD),
        (_FACE, SKIN),
        ("M33 42C36 28 46 30 50 27C54 30 64 28 67 42C68 26 62 20 50 20C38 20 32 26 33 42Z", AUBURN),
        (_EYES, INK),
        ("M44 58C47 56 48 57 50 58C52 57 53 56 56 58C54 63 46 63 44 58Z", "#c4473f"),
        ("M31 25L28 8L39 16L50 5L61 16L72 8L69 25C58 20 42 20 31 25Z", GOLD),
        (
            disc(28, 8, 3.5)
            + disc(72, 8, 3.5)
            + disc(50, 5, 3.5)
            + disc(39, 15, 2.5)
            + disc(61, 15, 2.5),
            PAPER,
        ),
    ),
    "jack": (
        (_ROBE, SUIT),
        ("M28 36C24 56 26 66 32 70H68C74 66 76 56 72 36Z", FAIR),
        ("M28 73C36 69 44 74 50 78C56 74 64 69 72 73L64 84L50 79L36 84Z", PAPER),
        (_FACE, SKIN),
        (_EYES, INK),
        ("M44 59C48 62 52 62 56 59C54 64 46 64 44 59Z", "#c4473f"),
        ("M24 36C18 18 36 8 54 9C74 10 82 22 76 36C62 30 38 30 24 36Z", SUIT),
        ("M24 36C38 30 62 30 76 36L75 41C62 35 38 35 25 41Z", GOLD),
        ("M66 26C66 10 78 0 96 2C94 16 84 26 70 30Z", PALE_GOLD),
    ),
    "horse": (
        (
            "M26 100C26 82 42 74 44 60C36 62 32 70 22 71C12 71 4 62 8 54C16 42 20 32 32 22"
            "L33 5L46 16C76 18 92 46 92 100Z",
            "#9b6a3c",
        ),
        ("M46 16C76 18 92 46 92 100H70C76 70 70 40 42 28Z", HAIR),
        ("M33 5L46 16L36 22Z", HAIR),
        (disc(34, 38, 3.6), INK),
        (disc(13, 60, 2.4), INK),
        ("M24 33L42 58L37 61L20 38Z", SUIT),
        ("M44 56C56 60 66 56 72 48L75 53C68 62 56 66 44 61Z", SUIT),
        (disc(41, 59, 4.5), GOLD),
    ),
}
"""The figures of court cards: J and F are jacks, C (cavallo) is a horse, K and R are kings."""

FIGURE_OF = {"J": "jack", "Q": "queen", "K": "king", "F": "jack", "C": "horse", "R": "king"}

_CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))
_SIX = (*_CORNERS, (-1, 0), (1, 0))
_EIGHT = (*_CORNERS, *((x, y / 3) for x in (-1, 1) for y in (-1, 1)))
PIPS: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((0, -1), (0, 1)),
    "3": ((0, -1), (0, 0), (0, 1)),
    "4": _CORNERS,
    "5": (*_CORNERS, (0, 0)),
    "6": _SIX,
    "7": (*_SIX, (0, -0.5)),
    "8": (*_SIX, (0, -0.5), (0, 0.5)),
    "9": (*_EIGHT, (0, 0)),
    "10": (*_EIGHT, (0, -2 / 3), (0, 2 / 3)),
}
"""Where the pips of a rank lie: columns and rows from -1 to 1."""
