"""The lab's findings as pictures, PNG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import FuncNorm
from matplotlib.figure import Figure

from agents.duplicate import Table
from agents.estimates import Estimate, Proportion
from agents.growth import Growth
from agents.paired import Paired
from agents.reports import Png, signed, signed_root, signed_square
from agents.worth import ClassWorth, Worth
from experiments.strategies.tables import (
    LEAST_SHOWN,
    action_names,
    asked_name,
    field_name,
    frequent,
)

BLUE, GREY = "#2166ac", "#555555"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
DARING = 1  # the place of the first action that is not the quiet one
TALLEST = 400.0  # inches; no picture has more than 65,535 pixels


def _picture(width: float, height: float, draw: Callable[[Figure], None]) -> Png:
    with matplotlib.rc_context(
        {"font.family": "DejaVu Sans", "font.size": 9.5, "text.parse_math": False}
    ):
        figure = Figure(figsize=(width, min(height, TALLEST)), layout="constrained")
        draw(figure)
        file = io.BytesIO()
        FigureCanvasAgg(figure).print_figure(file, format="png", dpi=150)
    return Png(file.getvalue())


# What actions are worth.


def worth_picture(worth: Worth, columns: int) -> Png:
    """What the first daring action gains over the quiet one, by class and by seat."""
    rows = frequent(worth.by_first(columns))
    has_seats = len(worth.question.classes.texts) > columns
    height = max(2.6, 0.27 * len(rows) + 1.8)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(
            1, 1 + has_seats, squeeze=False, width_ratios=[1, 1.25][: 1 + has_seats]
        )[0]
        _draw_classes(panels[0], worth, rows)
        if has_seats:
            _draw_seats(figure, panels[1], worth, rows, columns)
        names = action_names(worth)
        figure.suptitle(
            f"{worth.question.table.words}: what {names[DARING]} gains over {names[0]}\n"
            f"{asked_name(worth)} among {field_name(worth)}; {worth.num_deals:,} deals, "
            f"seed {worth.question.table.seed}",
            fontsize=11,
        )

    return _picture(10.5 if has_seats else 6.5, height, draw)


def _row_names(worth: Worth, rows: Sequence[ClassWorth], columns: int) -> list[str]:
    """Each class in words: `2 trumps, re`."""
    classes = worth.question.classes
    return [" · ".join(classes.words(row.values[:columns])) for row in rows]


def _draw_classes(axes: Axes, worth: Worth, rows: Sequence[ClassWorth]) -> None:
    columns = len(rows[0].values) if rows else 0
    places = range(len(rows))
    gains = [row.gain[DARING] for row in rows]
    colours = [BLUE if gain.mean > 0 else COLOURS[1] for gain in gains]
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.barh(places, [gain.mean for gain in gains], color=colours, height=0.62, alpha=0.75)
    widths = [gain.half_width for gain in gains]
    axes.errorbar(
        [gain.mean for gain in gains],
        places,
        xerr=widths,
        fmt="none",
        ecolor="black",
        linewidth=0.9,
    )
    axes.set_yticks(places, _row_names(worth, rows, columns))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_ylabel(" · ".join(worth.question.classes.texts[:columns]))
    axes.set_xlabel("pots per hand, 95 % interval")
    axes.set_title(
        "at all seats" if worth.question.seat is None else f"at seat {worth.question.seat}"
    )
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_seats(
    figure: Figure, axes: Axes, worth: Worth, rows: Sequence[ClassWorth], columns: int
) -> None:
    """A heat map of class by seat; cells of too few hands stay empty."""
    n = worth.question.table.num_players
    places = {row.values: place for place, row in enumerate(rows)}
    gains = np.full((len(rows), n), np.nan)
    sure = np.zeros(gains.shape, bool)
    for row in worth.classes:
        place, seat = places.get(row.values[:columns]), int(row.values[columns])
        if place is not None and row.count >= LEAST_SHOWN // 4:
            gain = row.gain[DARING]
            gains[place, seat], sure[place, seat] = gain.mean, abs(gain.mean) > gain.half_width
    most = max(float(np.nanmax(np.abs(gains), initial=0)), 1e-9)
    norm = FuncNorm((signed_root, signed_square), vmin=-most, vmax=most)
    axes.imshow(gains, cmap="RdBu", norm=norm, alpha=0.85, aspect="auto")
    for place, seat in zip(*np.nonzero(~np.isnan(gains))):
        dark = abs(norm(gains[place, seat]) - 0.5) > 0.34
        text = signed(gains[place, seat], "+.2f") + ("" if sure[place, seat] else "?")
        axes.text(
            seat,
            place,
            text,
            ha="center",
            va="center",
            fontsize=7.5,
            color="white" if dark else "black",
        )
    names = ["first", *map(str, range(1, n - 1)), "dealer"]
    axes.set_xticks(range(n), names)
    axes.set_yticks([])
    axes.set_xlabel("seat in order of speaking")
    axes.set_title("by seat (? not told from 0)")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def pots_picture(found: Sequence[Worth], columns: int) -> Png:
    """What the first daring action gains, by the pot, for the classes where it matters most."""
    by_pot = [{row.values: row for row in worth.by_first(columns)} for worth in found]
    classes = frequent(list(by_pot[0].values()))
    nearest = sorted(classes, key=lambda row: abs(row.gain[DARING].mean))[: len(COLOURS)]
    shown = sorted(row.values for row in nearest)
    some = (
        f" (the {len(shown)} of {len(classes)} nearest to 0)" if len(classes) > len(shown) else ""
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        pots = [worth.question.table.pot for worth in found]
        for colour, values in zip(COLOURS, shown):
            gains = [rows[values].gain[DARING] if values in rows else None for rows in by_pot]
            name = " · ".join(found[0].question.classes.words(values))
            _draw_band(axes, pots, gains, colour, name)
        names = action_names(found[0])
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_xscale("log", base=2)
        axes.set_xticks(pots, [f"{pot:g}" for pot in pots])
        axes.set_xlabel("pot in opening pots")
        axes.set_ylabel(f"what {names[DARING]} gains over {names[0]}, pots per hand")
        axes.set_title(f"{found[0].question.table.words}{some}")
        title = " · ".join(found[0].question.classes.texts[:columns])
        axes.legend(title=title, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        _plain_axes(axes)

    return _picture(7.5, 4.6, draw)


def _draw_band(
    axes: Axes, xs: Sequence[float], ys: Sequence[Estimate | None], colour: str, name: str
) -> None:
    """A line with the 95 % interval as a band."""
    points = [(x, y) for x, y in zip(xs, ys) if y is not None]
    at = [x for x, _ in points]
    axes.plot(at, [y.mean for _, y in points], color=colour, marker="o", markersize=3.5, label=name)
    low, high = [y.low for _, y in points], [y.high for _, y in points]
    axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)


def _plain_axes(axes: Axes) -> None:
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def chosen_picture(found: Sequence[Worth], columns: int) -> Png:
    """How often each asked strategy takes the first daring action, by class.

    Args:
        found: answers to the same question, asked of different strategies.
        columns: expressions by which classes are told apart, the first of the question.
    """
    rows = frequent(found[0].by_first(columns))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place in range(0, len(rows), 2):
            axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", linewidth=0)
        for k, worth in enumerate(found):
            chosen = {row.values: row.chosen[DARING] for row in worth.by_first(columns)}
            places = [place + 0.64 * ((k + 0.5) / len(found) - 0.5) for place in range(len(rows))]
            _draw_shares(axes, places, [chosen[row.values] for row in rows], COLOURS[k])
            axes.plot([], [], "o", color=COLOURS[k], label=asked_name(worth))
        axes.set_yticks(range(len(rows)), _row_names(found[0], rows, columns))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_ylabel(" · ".join(found[0].question.classes.texts[:columns]))
        axes.set_xlim(-2, 102)
        axes.set_xlabel(f"how often each takes {action_names(found[0])[DARING]}, %, 95 % interval")
        axes.set_title(f"{found[0].question.table.words}, among {field_name(found[0])}")
        _plain_axes(axes)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower center", frameon=False, ncols=2)

    return _picture(7.5, max(3.2, 0.4 * len(rows) + 1.4), draw)


def _draw_shares(
    axes: Axes, places: Sequence[float], shares: Sequence[Proportion], colour: str
) -> None:
    means = [100 * share.mean for share in shares]
    ends = [[100 * end for end in share.interval] for share in shares]
    below = [max(mean - low, 0) for mean, (low, _) in zip(means, ends)]
    above = [max(high - mean, 0) for mean, (_, high) in zip(means, ends)]
    axes.errorbar(means, places, xerr=(below, above), fmt="o", color=colour, markersize=4)


# Strategies on the same deals.


def paired_picture(found: Paired) -> Png:
    """Scores, and what each strategy loses to the best on the same deals."""
    order = found.ranking
    names = [_folded(found.specs[a]) for a in order]
    lines = sum(name.count("\n") + 1 for name in names)

    def draw(figure: Figure) -> None:
        scores, gaps = figure.subplots(1, 2, sharey=True)
        _draw_dots(scores, [found.scores[a] for a in order])
        scores.set_yticks(range(len(order)), names)
        scores.set_title("score")
        best = [found.difference(a, order[0]).score for a in order[1:]]
        _draw_dots(gaps, best, first=1)
        gaps.set_title("less the best's, same deals")
        for axes in (scores, gaps):
            axes.set_xlabel("pots per hand, 95 % interval")
            axes.set_ylim(len(order) - 0.5, -0.5)
        deals = found.scores[0].num_deals
        figure.suptitle(
            f"{found.table.words}: one among copies of {found.field}\n"
            f"{deals:,} deals in all seat rotations, seed {found.table.seed}",
            fontsize=11,
        )

    return _picture(9.5, 1.9 + 0.3 * lines + 0.25 * len(order), draw)


def _folded(spec: str) -> str:
    """A rule in lines of readable length."""
    import textwrap

    return "\n".join(textwrap.wrap(spec, 44))


def _draw_dots(axes: Axes, estimates: Sequence[Estimate], first: int = 0) -> None:
    places = range(first, first + len(estimates))
    axes.axvline(0, color=GREY, linewidth=0.8)
    means, widths = [e.mean for e in estimates], [e.half_width for e in estimates]
    axes.errorbar(means, places, xerr=widths, fmt="o", color=BLUE, markersize=5, capsize=3)
    for place, mean in zip(places, means):
        axes.annotate(
            signed(mean, "+.4f"),
            (mean, place),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.margins(x=0.2)
    axes.locator_params(axis="x", nbins=5)
    _plain_axes(axes)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def thresholds_picture(found: Paired, levels: Sequence[float]) -> Png:
    """Score against threshold."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw_band(axes, levels, found.scores, BLUE, "")
        best = levels[found.ranking[0]]
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.axvline(best, color=COLOURS[1], linewidth=0.9, linestyle="--")
        axes.annotate(
            f"best of these: {best:g}",
            (best, axes.get_ylim()[0]),
            (4, 6),
            textcoords="offset points",
            color=COLOURS[1],
        )
        axes.set_xlabel("T: comes in at this estimated chance")
        axes.set_ylabel("pots per hand, 95 % interval")
        axes.set_title(
            f"{found.table.words}: threshold:T among copies of {found.field}\n"
            f"{found.scores[0].num_deals:,} deals in all seat rotations, seed {found.table.seed}",
            fontsize=10.5,
        )
        _plain_axes(axes)

    return _picture(7, 4.4, draw)


# The growth of the pot.


def explosion_picture(table: Table, rows: Sequence[tuple[int, Growth]]) -> Png:
    """E[m] and E[m²] by the share of seats that knock or declare, a curve for each table."""
    counts, knocks = sorted({players for players, _ in rows}), table.game == "bestia"

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, part, head in (
            (panels[0], "factor", "E[m]: above 1 pots have no finite mean"),
            (panels[1], "square", "E[m²]: above 1 no finite variance"),
        ):
            axes.axhline(1, color=COLOURS[1], linewidth=1.1)
            for colour, players in zip(COLOURS, counts):
                points = [point for n, point in rows if n == players]
                points.sort(key=lambda point: point.daring.mean)
                shares = [100 * point.daring.mean for point in points]
                growths = [getattr(point, part) for point in points]
                _draw_band(axes, shares, growths, colour, f"{players} players")
            axes.set_title(head, fontsize=10.5)
            axes.set_xlabel("seats that knock, %" if knocks else "seats that declare, %")
            _plain_axes(axes)
        top = max(point.square.mean for _, point in rows)
        ticks = [tick for tick in (0, 0.5, 1, 2, 5, 10, 20, 50, 100) if tick <= max(top, 1)]
        panels[1].set_yscale("symlog", linthresh=1)
        panels[1].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panels[1].minorticks_off()
        panels[0].legend(frameon=False, loc="upper left")
        new_cards = "; who passes may take new cards, and play too" if knocks else ""
        figure.suptitle(
            f"{table.game.capitalize()}: a hand makes m P of a pot P when all play alike{new_cards}"
            f"; seed {table.seed}",
            fontsize=11,
        )

    return _picture(10.5, 4.4, draw)
