"""Strategy charts: what the shipped policies bid with which hand, and what that is good for.

A page for each policy: how often it comes in, by class of hand, by seat and by pot. A network's
page has a rule for people, and what this costs against it, when both play the cards alike and the
others are copies of it; that of a solved table of bids says how far it is from an equilibrium.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import jinja2

from agents.bidding.language import parse_expressions
from agents.bids.table import BidTable, names, table_of
from agents.decisions import Question, decision_named
from agents.duplicate import Table
from agents.paired import Paired, compare_paired
from agents.policies import BEST_BASELINES, Policy, parse_policy
from agents.shipped import shipped_named
from agents.worth import ClassWorth, Worth, worth_of_actions
from bestia_env.files import read_bounded
from experiments.strategies.grids import GRIDS, Grid, Values
from experiments.strategies.short_rules import SHORT_RULES, ShortRule

POTS = (1, 2, 4, 8)
SOLVED = "bids:"  # so begin the names of pages of solved bids
BOOK = "strategy-charts"  # the files of all pages together
MAX_BYTES = 1 << 24
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Cell:
    """How often a class of hands comes in, takes new cards, and stays out; shares, in sum 1."""

    hands: int
    come_in: float
    new_cards: float


@dataclass(frozen=True)
class Chart:
    """A grid filled in.

    Attributes:
        grid: its rows.
        columns: names of the columns: seats, then pots.
        cells: of each row and column, None where there are too few hands.
    """

    grid: Grid
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]


@dataclass(frozen=True)
class Subject:
    """Whose strategy a page shows.

    Attributes:
        name: such as "bestia-4" for a network, "bids:bestia-4" for the solved bids.
        policy: what plays.
        num_players: seats.
    """

    name: str
    policy: Policy
    num_players: int

    @property
    def game(self) -> str:
        """Of this game."""
        return self.policy.game

    @property
    def is_solved(self) -> bool:
        """Is it a table of solved bids? These are the same whatever is in the pot."""
        return self.name.startswith(SOLVED)

    @property
    def pots(self) -> tuple[int, ...]:
        """Pots that the page tells apart."""
        return POTS[:1] if self.is_solved else POTS

    @property
    def title(self) -> str:
        """The page's head."""
        solved = ", bids as solved" if self.is_solved else ""
        return f"{self.game.capitalize()}, {self.num_players} players{solved}"

    @property
    def stem(self) -> str:
        """The page's file, without its ending."""
        return self.name.replace(":", "-")


def page_names() -> list[str]:
    """All that have a page: the policies with a short rule, each before its solved bids."""
    solved = names()
    return [
        page for name in SHORT_RULES for page in (name, *[f"{SOLVED}{name}"][: solved.count(name)])
    ]


def subject_named(name: str) -> Subject:
    """Whose page has this name.

    Raises:
        ValueError: nobody's.
    """
    if name not in page_names():
        raise ValueError(f"there is a chart of {', '.join(page_names())}, not of {name!r}")
    one = shipped_named(name.removeprefix(SOLVED))
    if name == one.name:
        return Subject(name, one.policy, one.num_players)
    return Subject(name, parse_policy(name, one.game, one.num_players), one.num_players)


class Remark(Protocol):
    """What stands below the charts of a page."""

    @property
    def title(self) -> str:
        """In a few words."""

    @property
    def result(self) -> str:
        """In a line."""

    def paragraphs(self) -> list[str]:
        """What the page says."""

    def facts(self) -> dict[str, Any]:
        """The same as JSON can hold it."""


@dataclass(frozen=True)
class Priced:
    """A rule to remember, with its price.

    Attributes:
        name: of the policy.
        rule: the rule for people.
        price: the policy, the rule and the best baseline among copies of the policy.
    """

    name: str
    rule: ShortRule
    price: Paired

    title = "A rule to remember"

    @property
    def cost(self) -> Any:
        """What the rule loses to the policy, an `Estimate`: below 0."""
        return self.price.difference(1, 0).score

    @property
    def result(self) -> str:
        """The price."""
        return f"the short rule loses {self.cost} pots per hand to the policy"

    def paragraphs(self) -> list[str]:
        """The rule, and the price beside that of the best baseline."""
        cost, other = self.cost, self.price.difference(2, 0).score
        return [
            self.rule.words,
            f"Price: {-cost.mean:.4f} ± {cost.half_width:.4f} pots per hand against "
            f"{self.name}, cards played alike, one among copies of it; {self.price.specs[2]} pays "
            f"{-other.mean:.4f} ± {other.half_width:.4f} there ({cost.num_deals:,} duplicate "
            "deals).",
        ]

    def facts(self) -> dict[str, Any]:
        """The rule and all scores."""
        return {
            "rule": self.rule._asdict(),
            "price": {
                "unit": "pots per hand of one among copies of the policy",
                "scores": dict(zip(self.price.specs, map(asdict, self.price.scores), strict=True)),
                "rule_less_policy": asdict(self.cost),
                "baseline_less_policy": asdict(self.price.difference(2, 0).score),
            },
        }


@dataclass(frozen=True)
class Certified:
    """How far solved bids are from an equilibrium, as the header of their file says.

    Attributes:
        table: the bids.
    """

    table: BidTable

    title = "Certificate"

    @property
    def result(self) -> str:
        """The bounds; NashConv is never below 0, whatever the one from below says."""
        bounds = self.table.facts["nash_conv"]
        low, half, high = (bounds[name] for name in ("low", "low_half_width", "high"))
        least = f"from {low:.4f} ± {half:.4f}" if low > half else "from 0"
        return f"NashConv {least} to {high:.4f} pots per hand"

    def paragraphs(self) -> list[str]:
        """What the bids were solved for, the bounds, and what the seats are worth."""
        table, deals = self.table, self.table.facts["nash_conv"]["deals"]
        worths = ", ".join(f"{worth:+.3f}" for worth in table.facts["worths"][: table.num_players])
        return [
            f"Solved for cards as {table.cards} plays them; the same bids are right whatever is in "
            "the pot.",
            f"{self.result}, by {deals:,} deals: so much would all seats gain together if each "
            "alone bid as well as can be against these bids, the cards played by the same. It is "
            "0 in an equilibrium.",
            f"A hand is worth {worths} pots to the seats, from the first on.",
        ]

    def facts(self) -> dict[str, Any]:
        """The header of the file."""
        digest = hashlib.sha256(self.table.shares.tobytes()).hexdigest()
        return {
            "cards": self.table.cards,
            "bids_sha256": digest,
            "certificate": self.table.facts,
        }


@dataclass(frozen=True)
class Page:
    """All of one policy.

    Attributes:
        subject: whose strategy it is.
        charts: its grids.
        remark: what stands below them.
        num_deals: for each grid and pot.
        seed: of the deals.
    """

    subject: Subject
    charts: tuple[Chart, ...]
    remark: Remark
    num_deals: int
    seed: int


LEAST = 50  # hands for a cell


def num_steps(subjects: Sequence[Subject], num_deals: int, price_deals: int) -> int:
    """What `make_page` counts in all: deals asked about, and hands played."""
    return sum(
        num_deals * len(one.pots) * (sum(1 + (g.decision == "knock") for g in GRIDS[one.game]))
        + (not one.is_solved) * 3 * price_deals * one.num_players
        for one in subjects
    )


def make_page(
    subject: Subject, num_deals: int, price_deals: int, seed: int, jobs: int, progress: Progress
) -> Page:
    """Measure what a page shows.

    Args:
        subject: the policy.
        num_deals: deals for each grid and pot.
        price_deals: deals by which the short rule is priced, in all seat rotations.
        seed: of the deals.
        jobs: processes.
        progress: called with numbers of deals and hands as they are done.
    """

    def ask(decision: str, by: tuple[str, ...], pot: int) -> Worth:
        table = Table(subject.game, subject.num_players, pot=pot, seed=seed)
        classes = parse_expressions(by, subject.game)
        question = Question(
            table, decision_named(decision, subject.game), (subject.policy, subject.policy), classes
        )
        return worth_of_actions(question, num_deals, jobs=jobs, progress=progress)

    charts = tuple(_chart(grid, subject, ask) for grid in GRIDS[subject.game])
    remark: Remark = (
        Certified(table_of(subject.policy))
        if subject.is_solved
        else _priced(subject, price_deals, seed, jobs, progress)
    )
    return Page(subject, charts, remark, num_deals, seed)


def _priced(subject: Subject, num_deals: int, seed: int, jobs: int, progress: Progress) -> Priced:
    table, rule = Table(subject.game, subject.num_players, seed=seed), SHORT_RULES[subject.name]
    specs = (f"{rule.text}; cards by net:{subject.name}", BEST_BASELINES[subject.game])
    others = [parse_policy(spec, subject.game, subject.num_players) for spec in specs]
    price = compare_paired(
        table, [subject.policy, *others], subject.policy, num_deals, jobs=jobs, progress=progress
    )
    return Priced(subject.name, rule, price)


def _chart(grid: Grid, subject: Subject, ask: Callable[..., Worth]) -> Chart:
    by = (*grid.by, "seat") if grid.has_seats else grid.by
    n, pots = subject.num_players, subject.pots
    found = [ask(grid.decision, by, pot) for pot in pots]
    new = [ask("exchange", by, pot) for pot in pots] if grid.decision == "knock" else []
    seats = ["first", *map(str, range(1, n - 1)), "dealer"] if grid.has_seats else []
    every = (
        ["all seats" if seats else "dealer"] if subject.is_solved else [f"pot {p}" for p in pots]
    )
    keys: list[tuple[str, int, int | None]] = [
        *((name, 0, seat) for seat, name in enumerate(seats)),
        *((name, k, None) for k, name in enumerate(every)),
    ]
    columns = [_column(grid, found[k], new[k] if new else None, seat) for _, k, seat in keys]
    return Chart(grid, tuple(name for name, _, _ in keys), tuple(zip(*columns, strict=True)))


def _column(grid: Grid, found: Worth, new: Worth | None, seat: int | None) -> list[Cell | None]:
    """The cells of the hands at a seat, or at all, a row each."""
    rows, news = (_by_row(grid, worth, seat) if worth else {} for worth in (found, new))
    return [_cell(rows.get(place), news.get(place)) for place in range(len(grid.rows))]


def _by_row(grid: Grid, worth: Worth, seat: int | None) -> dict[int, ClassWorth]:
    def row(values: Values) -> Values:
        return (float(grid.row(values)) if seat in (None, values[-1]) else -1.0,)

    merged = worth.by(row)
    return {int(row.values[0]): row for row in merged if row.values[0] >= 0}


def _cell(row: ClassWorth | None, new: ClassWorth | None) -> Cell | None:
    """Who shows a sure hand comes in too; who passes may yet take new cards."""
    if row is None or row.count < LEAST:
        return None
    come_in = 1 - row.chosen[0].mean
    exchanges = new.chosen[1].mean if new is not None and new.count >= LEAST else 0.0
    return Cell(row.count, come_in, (1 - come_in) * exchanges)


# As files.


def facts(page: Page) -> dict[str, Any]:
    """All that the page shows, as JSON can hold it."""
    return {
        "policy": page.subject.name,
        "title": page.subject.title,
        "deals": page.num_deals,
        "seed": page.seed,
        **page.remark.facts(),
        "charts": [
            {
                "decision": chart.grid.decision,
                "columns": chart.columns,
                "rows": {
                    name: [asdict(cell) if cell else None for cell in cells]
                    for name, cells in zip(chart.grid.rows, chart.cells, strict=True)
                },
            }
            for chart in page.charts
        ],
    }


def saved(folder: Path) -> dict[str, tuple[dict[str, Any], bytes]]:
    """The pages that a folder holds by name, each with its facts and its SVG.

    Raises:
        ValueError: its book is none of this version's, or a page of it is gone.
        OSError: a file cannot be read.
    """
    book = folder / f"{BOOK}.json"
    if not book.exists():
        return {}
    try:
        pages = {
            page["policy"]: page for page in json.loads(read_bounded(book, MAX_BYTES))["pages"]
        }
        return {
            name: (page, read_bounded(folder / page["picture"], MAX_BYTES))
            for name, page in pages.items()
            if page["title"]
        }
    except (ValueError, KeyError, TypeError, FileNotFoundError, RecursionError):
        raise ValueError(f"{book} is no whole book of charts: delete it") from None


def html(pages: Sequence[tuple[dict[str, Any], bytes]]) -> str:
    """All pages, each with its facts and its SVG, as one file to print."""
    template = Path(__file__).with_name("booklet.html").read_text(encoding="utf-8")
    drawings = [text[text.index("<svg") :] for text in (svg.decode() for _, svg in pages)]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    shown = [(page, drawing) for (page, _), drawing in zip(pages, drawings, strict=True)]
    return environment.from_string(template).render(pages=shown)
