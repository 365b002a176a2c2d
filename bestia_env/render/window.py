"""A window that shows a table, for render_mode "human"."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

_POLL = 0.02  # seconds between looks at the window's events


class Window:
    """A window of pygame's, opened by the first picture.

    Once somebody closes it by its button it stays closed, and pictures are shown no more until
    `close` is called. Copies and pickles hold no window, and open their own.
    """

    def __init__(self, title: str, fps: float) -> None:
        """Name the window, and say how many pictures it shows in a second at most."""
        self._title, self._fps = title, fps
        self._surface: Any = None
        self._shown = np.empty(0, np.uint8)
        self._is_shut = False  # by its button
        self._next = 0.0  # the time from which the next picture may be shown

    def __reduce__(self) -> tuple:
        return Window, (self._title, self._fps), {"_is_shut": self._is_shut}

    def show(self, pixels: np.ndarray) -> None:
        """Show a picture (H, W, 3) uint8; a new one once the last has been seen long enough.

        Raises:
            pygame.error: there is no display.
        """
        is_new = not np.array_equal(pixels, self._shown)
        if is_new:
            self._wait()
        if not self._is_shut:
            self._draw(pixels)
        if is_new:
            self._shown, self._next = pixels, time.monotonic() + 1 / self._fps

    def _draw(self, pixels: np.ndarray) -> None:
        import pygame

        self._open((pixels.shape[1], pixels.shape[0]))
        pygame.surfarray.blit_array(self._surface, pixels.swapaxes(0, 1))
        pygame.display.flip()
        self._look()

    def close(self) -> None:
        """Close the window if it is open; the next picture opens a new one."""
        self._is_shut = False
        self._quit()

    def _open(self, size: tuple[int, int]) -> None:
        """Open the window, also after another has taken pygame's only display, or closed it."""
        import pygame

        if self._surface is None or self._surface is not pygame.display.get_surface():
            pygame.display.init()
            self._surface = pygame.display.set_mode(size)
            pygame.display.set_caption(self._title)

    def _wait(self) -> None:
        """Keep the window alive until the next picture is due."""
        while self._surface is not None and not self._is_shut:
            self._look()
            left = self._next - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(_POLL, left))

    def _look(self) -> None:
        """Take note of the window's events; its button closes it."""
        import pygame

        if not pygame.display.get_init():
            self._surface = None
        elif any(event.type == pygame.QUIT for event in pygame.event.get()):
            self._is_shut = True
            self._quit()

    def _quit(self) -> None:
        if self._surface is None:
            return
        import pygame

        self._surface = None
        pygame.display.quit()
