"""A comparison as tables, JSON, CSV and a picture."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import FuncNorm
from matplotlib.figure import Figure
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Grid

from agents.arena import Result
from agents.checkpoints import write_whole
from agents.estimates import PER_DEAL

SIGNIFICANT = 0.05
LONGEST_LABEL = 40  # characters of a bidding rule
MATRIX_NOTE = (
    "Each cell: one seat plays the policy of the row, all other seats that of the column; every "
    f"deal is played with the one in each seat in turn. {PER_DEAL}. Below it half of the 95 % "
    "interval, each cell by itself. * differs from 0 at the 5 % level, by Holm over all cells off "
    "the diagonal; on it all seats play alike, and 0 is expected."
)
RANKING_NOTE = (
    "Who sits where is drawn for each deal. Pots per hand as above, ± half of the 95 % interval, "
    "each row by itself; deals: in which the policy sat; as good as: so many times as many deals "
    "with luck left in; rating: by who came out ahead of whom, in points (Plackett-Luce, mean 0, "
    "400 points are ten times the worth), with bootstrap interval."
)
_BLUE, _GREY = "#2166ac", "#555555"


# On the terminal.


def print_tables(result: Result, console: Console | None = None) -> None:
    """Print the matrix and the ranking, as wide as they have to be."""
    console = console or Console(highlight=False)
    for grid, note in ((matrix_grid(result), MATRIX_NOTE), (ranking_grid(result), RANKING_NOTE)):
        unlimited = console.options.update(max_width=10_000)
        width = max(console.width, Measurement.get(console, unlimited, grid).maximum)
        wide = Console(file=console.file, width=width, highlight=False)
        wide.print(grid)
        console.print(note, style="dim")
    console.print(gain_in_words(result))


def gain_in_words(result: Result) -> str:
    """How many times as many hands the results are as good as, for control variates."""
    k = len(result.specs)
    cells = sorted(result.matrix[a][b].factor for a in range(k) for b in range(k) if a != b)
    mixed = sorted(standing.score.factor for standing in result.standings)
    if max(cells + mixed) == 1:
        return "Luck in the deals is left in: no more is known than so many hands tell (1.0 times)."
    return (
        "Luck in the deals that can be told is taken off, without bias. Off the diagonal the "
        f"matrix is as good as {_times(cells)} times as many hands, the ranking as {_times(mixed)}."
    )


def _times(factors: Sequence[float]) -> str:
    """From the least to the greatest of some sorted factors."""
    low, high = f"{factors[0]:.1f}", f"{factors[-1]:.1f}"
    return low if low == high else f"{low} to {high} (median {np.median(factors):.1f})"


def matrix_grid(result: Result) -> Grid:
    """The matrix, to be printed by rich; the best of the ranking first."""
    grid = Grid(title="One seat (row) against all others (column), pots per hand")
    grid.add_column("", justify="right")
    grid.add_column("policy")
    for place in range(len(result.specs)):
        grid.add_column(str(place + 1), justify="right")
    names = labels(result.specs)
    for place, a in enumerate(result.ranking, start=1):
        grid.add_row(str(place), escape(names[a]), *[_cell(result, a, b) for b in result.ranking])
    return grid


def ranking_grid(result: Result) -> Grid:
    """The ranking, to be printed by rich."""
    grid = Grid(title="Ranking at mixed tables")
    for name in ("", "policy", "pots per hand", "deals", "as good as", "rating", "95 % interval"):
        grid.add_column(name, justify="left" if name == "policy" else "right")
    names = labels(result.specs)
    for place, a in enumerate(result.ranking, start=1):
        score, rating = result.standings[a].score, result.standings[a].rating
        grid.add_row(
            str(place),
            escape(names[a]),
            str(score),
            f"{score.num_deals:,}",
            f"{score.factor:.1f} ×",
            f"{rating.points:+.0f}",
            f"{rating.low:+.0f} … {rating.high:+.0f}",
        )
    return grid


def labels(specs: Sequence[str]) -> list[str]:
    """The specs, shortened: files by the name of the file or run where that tells them apart."""
    short = [_short(spec) for spec in specs]
    return [
        name if short.count(name) == 1 else _longer(name, spec, place)
        for place, (name, spec) in enumerate(zip(short, specs, strict=True), start=1)
    ]


def _short(spec: str) -> str:
    if _is_file(spec):
        kind, _, path = spec.partition(":")
        return f"{kind}:{_name(path)}"
    line = " ".join(spec.split())
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"


def _longer(name: str, spec: str, place: int) -> str:
    return spec if _is_file(spec) or name == spec else f"{name} ({place})"


def _is_file(spec: str) -> bool:
    return spec.startswith(("net:", "rule:"))


def _name(path: str) -> str:
    """A training calls what it exports "policy"; the folder of the run tells more."""
    network = Path(path)
    is_of_run = network.stem == "policy" and network.parent.name
    return network.parent.name if is_of_run else network.stem


def _cell(result: Result, a: int, b: int) -> str:
    estimate = result.matrix[a][b]
    return f"{estimate.mean:+.4f}{_star(result, a, b) or ' '}\n±{estimate.half_width:.4f} "


def _star(result: Result, a: int, b: int) -> str:
    return "*" if a != b and result.p_values[a][b] < SIGNIFICANT else ""


# As files.


def as_facts(result: Result) -> dict[str, Any]:
    """The result as JSON can hold it, with everything needed to play it again."""
    table = result.table
    return {
        "game": table.game,
        "num_players": table.num_players,
        "rules": asdict(table.rules),
        "pot": table.pot,
        "seed": table.seed,
        "num_deals": result.num_deals,
        "policies": list(result.specs),
        "unit": "pots per hand: equity / P, meaned over all seat rotations of a deal",
        "matrix": [
            [asdict(estimate) | {"p_value": p} for estimate, p in zip(row, p_values, strict=True)]
            for row, p_values in zip(result.matrix, result.p_values, strict=True)
        ],
        "matrix_note": MATRIX_NOTE,
        "ranking": [
            {"policy": result.specs[a]}
            | asdict(result.standings[a].score)
            | {"rating": asdict(result.standings[a].rating)}
            for a in result.ranking
        ],
        "ranking_note": RANKING_NOTE,
    }


def matrix_csv(result: Result) -> str:
    """The matrix, a line for each cell."""
    lines: list[Sequence[Any]] = [
        ("policy", "field", "mean", "half_width", "num_deals", "factor", "p_value_holm")
    ]
    for a, spec in enumerate(result.specs):
        for b, field in enumerate(result.specs):
            cell = result.matrix[a][b]
            p = result.p_values[a][b] if a != b else ""
            numbers = (cell.mean, cell.half_width, cell.num_deals, cell.factor)
            lines.append((spec, field, *numbers, p))
    return _csv(lines)


def ranking_csv(result: Result) -> str:
    """The ranking, best first."""
    lines: list[Sequence[Any]] = [
        (
            *("policy", "mean", "half_width", "num_deals", "factor"),
            *("rating", "rating_low", "rating_high"),
        )
    ]
    for a in result.ranking:
        score, rating = result.standings[a].score, result.standings[a].rating
        numbers = (score.mean, score.half_width, score.num_deals, score.factor)
        lines.append((result.specs[a], *numbers, rating.points, rating.low, rating.high))
    return _csv(lines)


def _csv(lines: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


def save(folder: Path, result: Result, facts: Mapping[str, Any]) -> list[Path]:
    """Write `arena.json`, `matrix.csv`, `ranking.csv` and `arena.png`.

    All are made before the first is written, and each is written whole.

    Args:
        folder: made if it is missing.
        result: what to write.
        facts: more for the JSON, such as the command and the versions.
    """
    facts = {**facts, **as_facts(result)}
    contents = {
        "arena.json": f"{json.dumps(facts, indent=2, allow_nan=False)}\n".encode(),
        "matrix.csv": matrix_csv(result).encode(),
        "ranking.csv": ranking_csv(result).encode(),
        "arena.png": picture(result),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]


def check_writable(folder: Path) -> None:
    """Make the folder, and raise an OSError unless files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OSError(errno.ENOTDIR, "it is a file, not a folder", str(folder)) from None
    with tempfile.TemporaryFile(dir=folder):
        pass


# The picture.


class Png(bytes):
    """A picture's file, which a notebook shows."""

    def _repr_png_(self) -> bytes:
        return bytes(self)


def picture(result: Result) -> Png:
    """The matrix as a heat map, and beside it the ranking with error bars, as PNG."""
    side = max(0.92 * len(result.specs), 2.4)
    names = 0.085 * max(len(name) for name in labels(result.specs))
    with matplotlib.rc_context(
        {"font.family": "DejaVu Sans", "font.size": 9.5, "text.parse_math": False}
    ):
        figure = Figure(figsize=(side + 2 * names + 7.6, side + 0.6 * names + 1.8))
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.1)
        heat, scores, ratings = figure.subplots(1, 3, width_ratios=(side + 0.7, 3.2, 2.4))
        _draw_matrix(figure, heat, result)
        _draw_scores(scores, result)
        _draw_ratings(ratings, result)
        figure.suptitle(_title(result), fontsize=12.5, fontweight="bold")
        file = io.BytesIO()
        FigureCanvasAgg(figure).print_figure(file, format="png", dpi=150)
    return Png(file.getvalue())


def _title(result: Result) -> str:
    table = result.table
    return f"{table.words}: {result.num_deals:,} deals in all seat rotations, seed {table.seed}"


def _draw_matrix(figure: Figure, axes: Axes, result: Result) -> None:
    order = result.ranking
    means = np.array([[result.matrix[a][b].mean for b in order] for a in order])
    most = colour_limit(means)
    # Colour by the root as well, or else one very bad policy takes it all.
    norm = FuncNorm((signed_root, signed_square), vmin=-most, vmax=most)
    image = axes.imshow(means, cmap="RdBu", norm=norm, alpha=0.85, aspect="auto")
    for row, a in enumerate(order):
        for column, b in enumerate(order):
            dark = abs(norm(means[row, column]) - 0.5) > 0.34
            _draw_cell(axes, result, (a, b), (column, row), "white" if dark else "black")
    names = labels(result.specs)
    _draw_names(axes, [names[a] for a in order])
    axes.set_title(
        "One against all others: pots per hand of the one,\n± half of the 95 % interval; "
        "* differs from 0 (Holm, 5 %)",
        fontsize=10,
    )
    extend = "both" if np.abs(means).max() > most else "neither"
    bar = figure.colorbar(image, ax=axes, pad=0.02, aspect=30, extend=extend)
    bar.set_ticks(_ticks(most), labels=[signed(tick, "+.2g") for tick in _ticks(most)])
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)


def _draw_cell(
    axes: Axes, result: Result, cell: tuple[int, int], place: tuple[int, int], colour: str
) -> None:
    estimate = result.matrix[cell[0]][cell[1]]
    mean = f"{signed(estimate.mean)}{_star(result, *cell)}"
    axes.text(*place, mean, ha="center", va="bottom", color=colour)
    width = f"\n± {estimate.half_width:.3f}"
    axes.text(*place, width, ha="center", va="center", color=colour, fontsize=7.5, linespacing=1.1)


def _draw_names(axes: Axes, names: Sequence[str]) -> None:
    """Who is who along both sides of the matrix, and lines between the cells."""
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(np.arange(len(names) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("all other seats play")
    axes.set_ylabel("one seat plays")


def colour_limit(means: np.ndarray) -> float:
    """Of the colours, both ways: the greatest size, but ten times the usual one at most."""
    sizes = np.abs(means[~np.eye(len(means), dtype=bool)])
    return max(min(float(sizes.max()), 10 * float(np.median(sizes))), 1e-9)


def signed(number: float, form: str = "+.3f") -> str:
    """With a proper minus sign, and none for a zero."""
    text = format(number, form)
    return text.replace("-", "−") if float(text) != 0 else text.replace("-", "+")


def signed_root(x: np.ndarray) -> np.ndarray:
    """The root of the size, with the sign: a scale of colours in which small numbers show."""
    return np.sign(x) * np.sqrt(np.abs(x))


def signed_square(x: np.ndarray) -> np.ndarray:
    """The inverse of `signed_root`."""
    return np.sign(x) * np.square(x)


def _ticks(most: float) -> list[float]:
    """Round numbers on both sides of zero, for the colour bar."""
    unit = 10.0 ** math.floor(math.log10(most))
    top = max(unit * step for step in (1, 2, 5) if step == 1 or unit * step <= most)
    return [-top, -top / 5, 0.0, top / 5, top]


def _draw_scores(axes: Axes, result: Result) -> None:
    estimates = [result.standings[a].score for a in result.ranking]
    widths = [estimate.half_width for estimate in estimates]
    _draw_ranks(axes, [estimate.mean for estimate in estimates], widths, widths, "+.3f")
    names = labels(result.specs)
    axes.set_yticks(range(len(estimates)), [names[a] for a in result.ranking])
    axes.set_xlabel("pots per hand")
    axes.set_title("Ranking at mixed tables\nmean and 95 % interval", fontsize=10)


def _draw_ratings(axes: Axes, result: Result) -> None:
    ratings = [result.standings[a].rating for a in result.ranking]
    below = [max(rating.points - rating.low, 0) for rating in ratings]
    above = [max(rating.high - rating.points, 0) for rating in ratings]
    _draw_ranks(axes, [rating.points for rating in ratings], below, above, "+.0f")
    axes.set_yticks([])
    axes.set_xlabel("points")
    axes.set_title("Rating (Plackett-Luce)\nand 95 % interval", fontsize=10)


def _draw_ranks(
    axes: Axes,
    points: Sequence[float],
    below: Sequence[float],
    above: Sequence[float],
    form: str,
) -> None:
    """Points with error bars and their numbers, the best on top."""
    places = range(len(points))
    axes.axvline(0, color=_GREY, linewidth=0.8)
    axes.errorbar(
        points,
        places,
        xerr=(below, above),
        fmt="o",
        color=_BLUE,
        markersize=5,
        capsize=3,
        linewidth=1.4,
    )
    for place, point in zip(places, points):
        axes.annotate(
            signed(point, form),
            (point, place),
            (0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )
    axes.set_ylim(len(points) - 0.5, -0.5)
    axes.margins(x=0.16)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
