"""SVG as strings: elements, their attributes, and text that fits."""

from __future__ import annotations

import bisect
import itertools
import re
import unicodedata
from xml.sax.saxutils import escape, quoteattr

FONT = "DejaVu Sans, Verdana, sans-serif"
ELLIPSIS = "…"
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = frozenset(" .,:;!|'ijlIfrt()[]·-"), frozenset("mwMW@%&…")
_SIGNS = frozenset("+−×=<>")


def element(name: str, *children: str, **attributes: object) -> str:
    """An element; `stroke_width=2` becomes `stroke-width="2"`, and None is left out."""
    pairs = [(key, value) for key, value in attributes.items() if value is not None]
    start = "".join(f" {_hyphens(key)}={quoteattr(_written(value))}" for key, value in pairs)
    return f"<{name}{start}>{''.join(children)}</{name}>" if children else f"<{name}{start}/>"


def _hyphens(key: str) -> str:
    return key.rstrip("_").replace("_", "-") if key != "viewBox" else key


def _written(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def escaped(words: str) -> str:
    """Words as the content of an element; what XML cannot hold becomes a question mark."""
    return escape(_NO_XML.sub("?", words))


def group(
    *children: str, x: float = 0, y: float = 0, scale: float = 1, **attributes: object
) -> str:
    """Elements moved to a place, and scaled."""
    moved = f"translate({_written(float(x))} {_written(float(y))})"
    resized = "" if scale == 1 else f" scale({_written(float(scale))})"
    return element("g", *children, transform=moved + resized, **attributes)


def box(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """A rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def label(
    x: float,
    y: float,
    words: str,
    size: float,
    fill: str = "#fff",
    width: float = 1e9,
    **more: object,
) -> str:
    """A line of text from x on (or as `text_anchor` says), cut where it is wider than `width`."""
    if not words:
        return ""
    shown = escaped(clipped(words, size, width))
    return element("text", shown, x=x, y=y, font_size=size, fill=fill, font_family=FONT, **more)


def clipped(words: str, size: float, width: float) -> str:
    """The words, or as many letters as are sure to fit, and an ellipsis."""
    widths = [*itertools.accumulate(map(_em, words), initial=0.0)]
    room = width / size
    if widths[-1] <= room:
        return words
    fitting = bisect.bisect_right(widths, room - _em(ELLIPSIS)) - 1
    return words[: max(fitting, 0)].rstrip() + ELLIPSIS


def text_width(words: str, size: float) -> float:
    """About the most that a usual sans-serif font needs, in the unit of `size`."""
    return size * sum(map(_em, words))


def _em(letter: str) -> float:
    """The width of a letter in DejaVu Sans, which is a wide font, or a little more."""
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    return 0.84 if letter in _SIGNS else 0.76 if letter.isupper() else 0.64
