"""A page of strategy charts as a picture."""

from __future__ import annotations

import io
import textwrap
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.strategies.booklet import Cell, Chart, Page

LINE = 120  # characters
COLOURS = {"in": "#0072b2", "new": "#e69f00", "out": "#e4e4e4"}
WORDS = {
    "bestia": {"in": "knocks", "new": "takes new cards", "out": "stays out"},
    "beast": {"in": "plays, counters, takes", "out": "passes, leaves"},
}


def draw_page(page: Page) -> tuple[bytes, bytes]:
    """The page as SVG and as PNG."""
    with matplotlib.rc_context():
        matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9})
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": page.subject.name})
        rows = [len(chart.grid.rows) for chart in page.charts]
        figure = Figure(figsize=(8.27, 2.35 + 0.245 * sum(rows) + 0.55 * len(rows)))
        height = figure.get_figheight()
        top = 1 - 1.0 / height
        for chart in page.charts:
            tall = 0.245 * len(chart.grid.rows) / height
            axes = figure.add_axes((0.235, top - tall, 0.735, tall))
            _draw_chart(axes, chart)
            top -= tall + 0.55 / height
        _write_texts(figure, page, top + 0.12 / height)
        return _written(figure, FigureCanvasSVG, "svg"), _written(figure, FigureCanvasAgg, "png")


def _written(figure: Figure, canvas: Any, form: str) -> bytes:
    file = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    options: dict[str, Any] = {"metadata": nothing} if form == "svg" else {"dpi": 130}
    canvas(figure).print_figure(file, format=form, **options)
    return file.getvalue()


def _draw_chart(axes: Axes, chart: Chart) -> None:
    """Bars of shares side by side, a gap before the pots."""
    seats = sum(not name.startswith(("pot", "all")) for name in chart.columns)
    lefts = [k * 1.06 + (0.3 if seats and k >= seats else 0) for k in range(len(chart.columns))]
    for place, row in enumerate(chart.cells):
        for left, cell in zip(lefts, row):
            if cell is not None:
                _draw_cell(axes, left, place, cell)
    axes.set_xlim(-0.05, max(lefts[-1], 3 * 1.06) + 1.05)  # no cell is wider than a quarter
    axes.set_ylim(len(chart.grid.rows) - 0.5, -0.5)
    axes.set_yticks(range(len(chart.grid.rows)), chart.grid.rows)
    axes.set_xticks([left + 0.5 for left in lefts], chart.columns)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    axes.set_title(chart.grid.title, fontweight="bold", loc="left", x=-0.205 / 0.735, pad=4)


def _draw_cell(axes: Axes, left: float, place: int, cell: Cell) -> None:
    shares = (cell.come_in, cell.new_cards, 1 - cell.come_in - cell.new_cards)
    at = left
    for share, colour in zip(shares, COLOURS.values()):
        axes.barh(place, share, left=at, height=0.86, color=colour, linewidth=0)
        at += share
    if cell.come_in > 0.28:
        axes.text(left + 0.03, place, f"{cell.come_in:.0%}", color="white", va="center", fontsize=7)
    else:
        text = f"{cell.come_in:.0%}"
        axes.text(left + 0.97, place, text, color="#333333", va="center", ha="right", fontsize=7)


def _write_texts(figure: Figure, page: Page, bottom: float) -> None:
    """The head with its legend, and the remark below the charts."""
    one, inch = page.subject, 1 / figure.get_figheight()
    figure.text(0.03, 1 - 0.22 * inch, one.title, fontsize=15, fontweight="bold", va="center")
    columns = (
        "by hand and by seat, at any pot"
        if one.is_solved
        else "by hand, by seat (at the opening pot) and by pot (in opening pots, all seats)"
    )
    text = f"How often {one.name} comes in, {columns}."
    figure.text(0.03, 1 - 0.46 * inch, text, fontsize=8.5, color="#333333", va="center")
    figure.legend(
        [Patch(color=COLOURS[name]) for name in WORDS[one.game]],
        list(WORDS[one.game].values()),
        loc="upper right",
        bbox_to_anchor=(0.98, 1 - 0.05 * inch),
        ncols=len(WORDS[one.game]),
        frameon=False,
    )
    figure.text(0.03, bottom, page.remark.title, fontsize=10.5, fontweight="bold", va="top")
    figure.text(
        0.03, bottom - 0.22 * inch, _remark_words(page), fontsize=8.8, va="top", linespacing=1.35
    )


def _remark_words(page: Page) -> str:
    """The remark's paragraphs, in lines, and on what deals the charts were measured."""
    first, *others = page.remark.paragraphs()
    a_pot = "" if page.subject.is_solved else " and pot"
    charts = f"Charts: {page.num_deals:,} deals a grid{a_pot}; seed {page.seed}."
    rest = " ".join([*others, charts])
    return "\n".join([*textwrap.wrap(first, LINE), "", *textwrap.wrap(rest, LINE)])
