"""What an environment does in each of its render modes."""

from __future__ import annotations

import gymnasium
import numpy as np

from bestia_env.render.rgb import check_installed, render_rgb
from bestia_env.render.text import render_text
from bestia_env.render.window import Window

MODES = ("human", "ansi", "rgb_array")
FPS = 2


class Screen:
    """Shows a table in one render mode; copies and pickles leave an open window behind."""

    def __init__(self, mode: str | None, title: str, fps: float) -> None:
        """Choose the mode and name the window.

        Args:
            mode: None or one of MODES.
            title: of the window.
            fps: pictures in a second at most, in mode "human".

        Raises:
            ImportError: the mode needs the extra `human`, which is not installed.
        """
        if mode in ("human", "rgb_array"):
            check_installed()
        self.mode = mode
        self._window = Window(title, fps) if mode == "human" else None

    def render(self, state: np.ndarray, game: str, seat: int | None) -> str | np.ndarray | None:
        """Show a table from a seat, or open if None.

        Returns:
            The text in mode "ansi", the picture (512, 640, 3) uint8 in mode "rgb_array"; None in
            mode "human", where the window shows it, and without a mode, where it warns.
        """
        if self.mode is None:
            gymnasium.logger.warn("render() needs a render_mode: choose one when making the env")
            return None
        if self.mode == "ansi":
            return render_text(state, game, seat)
        pixels = render_rgb(state, game, seat)
        if self._window is None:
            return pixels
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window if there is one."""
        if self._window is not None:
            self._window.close()
