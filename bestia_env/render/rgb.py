"""A table as pixels, for videos, windows and networks that look at pictures."""

from __future__ import annotations

import functools
import importlib
import io
import os
from collections.abc import Sequence

import numpy as np

from bestia_env.render.svg import render_svg
from bestia_env.rules.table import check_coins

MAX_WIDTH = 8192
"""The widest picture in pixels; for want of memory resvg would end the interpreter."""
_FAMILY = "FreeSans"
EXTRA = "pip install 'bestia_env[human]'"


def render_rgb(
    state: np.ndarray,
    game: str,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    width: int = 640,
) -> np.ndarray:
    """The picture of `render_svg` as pixels, the same on every machine.

    Args:
        state: see `render_svg`, as for game, seat and names; letters that the font of pygame-ce
            lacks are shown as boxes.
        game: "beast" or "bestia".
        seat: whose view.
        names: of the seats.
        width: in pixels, from 1 to `MAX_WIDTH`.

    Returns:
        (H, W, 3) uint8, rows from the top; H is 4/5 of W.

    Raises:
        ValueError: as `render_svg`; or the width is out of range.
        ImportError: the extra `human` is not installed.
    """
    check_installed()
    check_coins("width", width, least=1, most=MAX_WIDTH)
    return _pixels(_png(render_svg(state, game, seat, names), int(width)))


def check_installed() -> None:
    """Raise an ImportError that says what to install unless pictures can be drawn."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it greets on standard output
    try:
        for package in ("pygame", "resvg_py"):
            importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"render modes rgb_array and human need pygame-ce and resvg-py: {EXTRA}"
        ) from error


def _png(svg: str, width: int) -> bytes:
    import resvg_py

    # One font, which comes with pygame-ce: no two machines have the same ones.
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        width=width,
        skip_system_fonts=True,
        font_files=[_font_file()],
        font_family=_FAMILY,
        sans_serif_family=_FAMILY,
    )
    return bytes(png)


@functools.cache
def _font_file() -> str:
    import pygame

    return os.path.join(os.path.dirname(pygame.__file__), pygame.font.get_default_font())


def _pixels(png: bytes) -> np.ndarray:
    import pygame

    surface = pygame.image.load(io.BytesIO(png), "table.png")
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))
