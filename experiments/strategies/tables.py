"""The lab's findings as tables on the terminal, and as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid

from agents.checkpoints import write_whole
from agents.decisions import ASKED, FIELD
from agents.estimates import PER_DEAL, PER_DECISION, Estimate, Proportion
from agents.growth import Growth
from agents.paired import Paired
from agents.reports import labels
from agents.worth import ClassWorth, Worth
from bestia_env.games import game_named

SIGNIFICANT = 0.05
LEAST_SHOWN = 100  # hands of a class that is shown; the files hold all
MOST_SHOWN = 60  # classes that are shown
WORTH_NOTE = (
    f"{PER_DECISION}. With half of the 95 % interval, each by itself; gain: over the first "
    "action on the same deals; wins: the seat gets coins, by a trick of Bestia or the hand; pays: "
    "a bête, a match; chosen: by the seat's own policy, with half of Wilson's interval."
)
PAIRED_NOTE = (
    f"Of one among copies of the field. {PER_DEAL}. With half of the 95 % interval; differences "
    "are of the same deals, * differs from 0 at the 5 % level (Holm over all pairs)."
)
GROWTH_NOTE = (
    "m: the pot left after a hand in parts of P, stakes aside; play: at their own risk, in Bestia "
    "with new cards too. Pots of a long session have a "
    "finite mean where E[m] < 1, a finite variance where E[m²] < 1."
)


def save(
    folder: Path,
    name: str,
    facts: Mapping[str, Any],
    table: str,
    pictures: Mapping[str, bytes],
) -> list[str]:
    """Write `name.json`, `name.csv` and the pictures, each whole; returns the names of all."""
    content = f"{json.dumps(facts, indent=2, default=str)}\n".encode()
    files = {f"{name}.json": content, f"{name}.csv": table.encode(), **pictures}
    for file, data in files.items():
        write_whole(folder / file, data)
    return list(files)


def _print(grid: Grid, note: str) -> None:
    """As wide as it has to be."""
    console = Console(highlight=False, markup=False)
    unlimited = console.options.update(max_width=10_000)
    width = max(console.width, Measurement.get(console, unlimited, grid).maximum)
    Console(width=width, highlight=False, markup=False).print(grid)
    console.print(note, style="dim")


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _ends(estimate: Estimate) -> dict[str, float]:
    return asdict(estimate)


# What actions are worth.


def action_names(worth: Worth) -> list[str]:
    """The actions of the decision, the quiet one first."""
    game = game_named(worth.question.table.game)
    return [game.action_name(action) for action in worth.question.decision.actions]


def field_name(worth: Worth) -> str:
    """Who plays the other seats, in a few words."""
    return labels([worth.question.players[FIELD].spec])[0]


def asked_name(worth: Worth) -> str:
    """Who the asked seat goes on as, in a few words."""
    return labels([worth.question.players[ASKED].spec])[0]


def frequent(rows: Sequence[ClassWorth]) -> list[ClassWorth]:
    """The classes of many hands, or all if none has many; of too many those of the most hands."""
    many = [row for row in rows if row.count >= LEAST_SHOWN] or list(rows)
    kept = sorted(range(len(many)), key=lambda place: -many[place].count)[:MOST_SHOWN]
    return [many[place] for place in sorted(kept)]


def print_worth(worth: Worth, columns: int) -> None:
    """Print the classes by the first expressions, and all hands together."""
    question, names = worth.question, action_names(worth)
    who = f"{asked_name(worth)} among {field_name(worth)}"
    grid = Grid(title=f"{question.table.words}: {question.decision.name}; {who}")
    for text in question.classes.texts[:columns]:
        grid.add_column(text, justify="right")
    grid.add_column("hands", justify="right")
    grid.add_column(f"worth of {names[0]}", justify="right")
    daring = [k for k, e in enumerate(worth.total.worth) if k and e.num_deals >= LEAST_SHOWN]
    for k in daring:
        for head in (f"worth of {names[k]}", f"gain by {names[k]}", "wins", "pays", "chosen"):
            grid.add_column(head, justify="right")
    for row in frequent(worth.by_first(columns)):
        grid.add_row(*question.classes.words(row.values), *_cells(row, daring))
    grid.add_section()
    grid.add_row(*(["all", *[""] * (columns - 1)]), *_cells(worth.total, daring))
    _print(grid, WORTH_NOTE)


def _cells(row: ClassWorth, daring: Sequence[int]) -> list[str]:
    """The quiet action, then all of each that is often legal."""
    return [
        f"{row.count:,}",
        _estimate(row.worth[0]),
        *(
            cell
            for k in daring
            for cell in (
                *(_estimate(row.worth[k]), _estimate(row.gain[k])),
                *(_share(row.won[k]), _share(row.lost[k]), _share(row.chosen[k])),
            )
        ),
    ]


def _estimate(estimate: Estimate) -> str:
    return str(estimate) if estimate.num_deals > 1 else "–"


def _share(share: Proportion) -> str:
    low, high = share.interval
    return f"{share.mean:.1%} ±{50 * (high - low):.1f}" if share.num_deals else "–"


def worth_facts(found: Sequence[Worth], columns: int) -> dict[str, Any]:
    """All classes, seat by seat where seats are told apart."""
    return {
        "unit": "pots per hand: equity / P",
        "note": WORTH_NOTE,
        "actions": action_names(found[0]),
        "expressions": list(found[0].question.classes.texts),
        "pots": [
            {
                "pot": worth.question.table.pot,
                "deals": worth.num_deals,
                "all": _class_facts(worth, worth.total),
                "classes": [_class_facts(worth, row) for row in worth.by_first(columns)],
                "by_seat": [_class_facts(worth, row) for row in worth.classes],
            }
            for worth in found
        ],
    }


def _class_facts(worth: Worth, row: ClassWorth) -> dict[str, Any]:
    classes = worth.question.classes
    texts = classes.texts[: len(row.values)]
    words = classes.words(row.values)
    return {
        "class": dict(zip(texts, words, strict=True)),
        "hands": row.count,
        "actions": {
            name: {
                "worth": _finite(row.worth[k]),
                "gain": _finite(row.gain[k]),
                "wins": _proportion(row.won[k]),
                "pays": _proportion(row.lost[k]),
                "chosen": _proportion(row.chosen[k]),
            }
            for k, name in enumerate(action_names(worth))
        },
    }


def _finite(estimate: Estimate) -> dict[str, float] | None:
    """None where there are too few hands for an interval."""
    return _ends(estimate) if estimate.num_deals > 1 else None


def _proportion(share: Proportion) -> dict[str, float] | None:
    low, high = share.interval
    return {"mean": share.mean, "low": low, "high": high} if share.num_deals else None


def worth_csv(found: Sequence[Worth]) -> str:
    """A line for each class and action."""
    texts = found[0].question.classes.texts
    shares = [
        f"{name}{end}" for name in ("wins", "pays", "chosen") for end in ("", "_low", "_high")
    ]
    rows: list[Sequence[Any]] = [
        (
            *("pot", *texts, "hands", "action", "worth", "worth_half_width"),
            *("gain", "gain_half_width", *shares),
        )
    ]
    for worth in found:
        for row in worth.classes:
            head = (worth.question.table.pot, *worth.question.classes.words(row.values), row.count)
            rows += [(*head, name, *_numbers(row, k)) for k, name in enumerate(action_names(worth))]
    return _csv(rows)


def _numbers(row: ClassWorth, k: int) -> list[Any]:
    estimates = (row.worth[k], row.gain[k])
    shares = (row.won[k], row.lost[k], row.chosen[k])
    pairs = [(e.mean, e.half_width) if e.num_deals > 1 else ("", "") for e in estimates]
    triples = [(s.mean, *s.interval) if s.num_deals else ("", "", "") for s in shares]
    return [cell for cells in (*pairs, *triples) for cell in cells]


# Strategies on the same deals.


def print_paired(found: Paired) -> None:
    """Print the scores, best first, and how much each differs from the best."""
    grid = Grid(title=f"One among copies of {found.field}")
    for name in ("", "strategy", "pots per hand", "less the best's"):
        grid.add_column(name, justify="left" if name == "strategy" else "right")
    best = found.ranking[0]
    for place, a in enumerate(found.ranking, start=1):
        gap = "" if a == best else difference(found, a, best)
        grid.add_row(str(place), found.specs[a], str(found.scores[a]), gap)
    _print(grid, PAIRED_NOTE)


def difference(found: Paired, a: int, b: int) -> str:
    """What a gains over b, with a star where it is no chance."""
    gap = found.difference(a, b)
    return f"{gap.score}{'*' if gap.p_value < SIGNIFICANT else ' '}"


def print_thresholds(found: Paired, levels: Sequence[float]) -> None:
    """Print the scores in order of threshold."""
    grid = Grid(title=f"threshold:T among copies of {found.field}")
    for name in ("T", "pots per hand", "less the best's"):
        grid.add_column(name, justify="right")
    best = found.ranking[0]
    for a, level in enumerate(levels):
        gap = "best" if a == best else difference(found, a, best)
        grid.add_row(f"{level!r}", str(found.scores[a]), gap)
    _print(grid, PAIRED_NOTE)


def paired_facts(found: Paired) -> dict[str, Any]:
    """Scores and all differences."""
    return {
        "unit": "pots per hand: equity / P, meaned over all seat rotations of a deal",
        "note": PAIRED_NOTE,
        "field": found.field,
        "scores": [
            {"strategy": spec} | _ends(score) for spec, score in zip(found.specs, found.scores)
        ],
        "differences": [
            {"a": found.specs[gap.a], "b": found.specs[gap.b], "p_value": gap.p_value}
            | _ends(gap.score)
            for gap in found.differences
        ],
    }


def paired_csv(found: Paired) -> str:
    """A line for each score, and for each difference."""
    rows: list[Sequence[Any]] = [("a", "less", "mean", "half_width", "num_deals", "p_value_holm")]
    for spec, score in zip(found.specs, found.scores):
        rows.append((spec, "", score.mean, score.half_width, score.num_deals, ""))
    for gap in found.differences:
        specs, score = (found.specs[gap.a], found.specs[gap.b]), gap.score
        rows.append((*specs, score.mean, score.half_width, score.num_deals, gap.p_value))
    return _csv(rows)


# The growth of the pot.


def print_growth(rows: Sequence[tuple[int, Growth]]) -> None:
    """Print a line for each number of players and strategy."""
    grid = Grid(title="What a hand does to the pot when all play alike")
    for name in ("players", "all play", "knock or declare", "play", "E[m]", "E[m²]", "long pots"):
        grid.add_column(name, justify="right")
    for players, point in rows:
        shares = (f"{point.daring.mean:.1%}", f"{point.playing.mean:.1%}")
        numbers = (_plain(point.factor), _plain(point.square))
        name = labels([point.spec])[0]
        grid.add_row(str(players), name, *shares, *numbers, verdict(point))
    _print(grid, GROWTH_NOTE)


def _plain(estimate: Estimate) -> str:
    return f"{estimate.mean:.3f} ± {estimate.half_width:.3f}"


def verdict(point: Growth) -> str:
    """What the pots of a long session are, where the intervals tell."""
    if point.factor.low > 1:
        return "no finite mean"
    if point.factor.high < 1 < point.square.low:
        return "no finite variance"
    return "tame" if point.square.high < 1 else "not decided"


def growth_facts(rows: Sequence[tuple[int, Growth]]) -> dict[str, Any]:
    """All points."""
    return {
        "note": GROWTH_NOTE,
        "points": [{"num_players": n, **asdict(point)} for n, point in rows],
    }


def growth_csv(rows: Sequence[tuple[int, Growth]]) -> str:
    """A line for each point."""
    parts = ("factor", "square", "daring", "playing")
    ends = [f"{part}{end}" for part in parts for end in ("", "_half_width")]
    lines: list[Sequence[Any]] = [("num_players", "policy", *ends)]
    for n, point in rows:
        estimates = [getattr(point, part) for part in parts]
        numbers = [number for e in estimates for number in (e.mean, e.half_width)]
        lines.append((n, point.spec, *numbers))
    return _csv(lines)
