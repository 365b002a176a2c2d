"""A hand at the table as text, as a picture (SVG), and as pixels."""

from bestia_env.render.cards import card_svg
from bestia_env.render.rgb import render_rgb
from bestia_env.render.svg import render_svg
from bestia_env.render.text import render_text

__all__ = ["card_svg", "render_rgb", "render_svg", "render_text"]
