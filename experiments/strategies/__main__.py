"""The strategy lab: `python -m experiments.strategies --help`.

    python -m experiments.strategies compare --game bestia "knock if trumps >= 2" sound
    python -m experiments.strategies worth --game bestia --by trumps top_trump
    python -m experiments.strategies worth --game beast --decision counter --by sure_tricks
    python -m experiments.strategies thresholds --game bestia
    python -m experiments.strategies explosion --game bestia --players 3 4 5 6

Strategies are policy specs (random, threshold:0.4, net:bestia-4) or bidding rules; the language of
the rules, with all that they may ask, is printed by `python -m experiments.strategies language`.
Each writes its table as JSON, CSV and a picture, and prints it. The same command gives the same
numbers, whatever the number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from experiments.command_line import RESULTS, RUNS, ends_cleanly, hands_progress, provenance

if TYPE_CHECKING:
    from agents.duplicate import Table
    from agents.paired import Paired
    from agents.policies import Policy
    from agents.worth import Worth as Found

DARING = {"beast": ("sure_tricks", "trumps"), "bestia": ("trumps", "top_trump")}
BLIND = ("upcard",)  # by what hands are told apart before the cards are seen


@dataclass(frozen=True)
class _Common:
    game: Literal["beast", "bestia"]
    """The game."""
    rules: tuple[str, ...] = ()
    """Options of the rules, each as NAME=VALUE, such as maxims=penalty or match_limit=6, in
    coins."""
    seed: int = 0
    """Of deals and of the policies' chances."""
    jobs: int = 1
    """Processes. The numbers do not depend on it."""
    out: Path | None = None
    """Folder for the results; one of its own under runs/strategies if none is given."""


@dataclass(frozen=True)
class _AtTable(_Common):
    num_players: int = 4
    """Seats: 4 to 6 in Beast, 3 to 10 in Bestia."""
    field: str = ""
    """Who plays the other seats; the best baseline (sound, threshold:0.55) if none is given."""


@dataclass(frozen=True)
class Worth(_AtTable):
    """What each action is worth by class of hand: the same deals, played on after each action."""

    decision: str = ""
    """Bestia: knock, exchange. Beast: take, play, counter. The first if none is given."""
    by: tuple[str, ...] = ()
    """Expressions of the language of rules by which hands are told apart."""
    strategy: str = ""
    """Who the asked seat goes on as, and whose choices are counted; the field if none is given."""
    seat: int | None = None
    """The asked seat, 0 for the one after the dealer; all in turn if none is given."""
    pots: tuple[int, ...] = (1,)
    """Pots played for, in opening pots."""
    deals: int = 200_000
    """Deals for each pot, each asked about at one seat."""


@dataclass(frozen=True)
class Compare(_AtTable):
    """Strategies on the same deals among copies of the field, with paired differences."""

    strategies: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Policy specs or bidding rules, at least two."""
    pot: int = 1
    """The pot played for in opening pots."""
    deals: int = 50_000
    """Deals, each played by every strategy in every seat rotation."""


@dataclass(frozen=True)
class Thresholds(_AtTable):
    """The score of threshold players by their threshold, all on the same deals."""

    at: tuple[float, ...] = tuple(round(0.05 * k, 2) for k in range(4, 20))
    """The thresholds."""
    pot: int = 1
    """The pot played for in opening pots."""
    deals: int = 20_000
    """Deals, each played by every threshold in every seat rotation."""


@dataclass(frozen=True)
class Explosion(_Common):
    """How fast the pot grows by how readily all come in, and where a table explodes."""

    players: tuple[int, ...] = ()
    """Numbers of players, each a curve; 3 to 6 or 4 to 6 if none are given."""
    at: tuple[float, ...] = tuple(round(0.05 * k, 2) for k in range(1, 20))
    """Thresholds at which all players come in."""
    strategies: tuple[str, ...] = ()
    """Policy specs or bidding rules by which all play, instead of thresholds; a rule such as
    "knock if chance >= 0.4" takes no new cards, so that knocks alone make the pot grow."""
    deals: int = 50_000
    """Hands for each point."""


@dataclass(frozen=True)
class Charts:
    """Strategy charts of the shipped policies to print, and the price of a rule to remember."""

    policies: tuple[str, ...] = ()
    """Names such as bestia-4, or bids:bestia-4 for the solved bids; all if none are given. The book
    keeps the other pages that the folder holds."""
    deals: int = 100_000
    """Deals for each grid and pot."""
    price_deals: int = 50_000
    """Deals by which a rule is priced, in every seat rotation. Solved bids have no rule."""
    seed: int = 70_000_000
    """Of deals and of the policies' chances."""
    jobs: int = 1
    """Processes. The numbers do not depend on it."""
    out: Path = RESULTS / "strategy-charts"
    """Folder for the pages; these are the project's own if none is given."""


@dataclass(frozen=True)
class Language:
    """Print the language of bidding rules."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 2 if the arguments are wrong, with 130 if interrupted."""
    parsed = tyro.cli(
        Worth | Compare | Thresholds | Explosion | Charts | Language,
        prog="python -m experiments.strategies",
        description=__doc__,
        args=sys.argv[1:] if arguments is None else arguments,
    )
    with ends_cleanly("nothing was written"):
        _RUN[type(parsed)](parsed)


def _print_language(_: Language) -> None:
    import agents.bidding
    from agents.bidding.machine import MODULES

    print(agents.bidding.__doc__)
    for game, module in MODULES.items():
        print(f"What a rule of {game.capitalize()} may ask:")
        for feature in module.FEATURES:
            print(f"  {feature.name:13}{feature.meaning}")
        ranks = ", ".join("/".join(names) for names in module.RANK_NAMES)
        print(f"  ranks: {ranks}, none\n")


def _worth(parsed: Worth) -> None:
    from agents.bidding.language import parse_expressions
    from agents.decisions import DECISIONS, Question, decision_named
    from agents.worth import check_question, worth_of_actions
    from experiments.strategies import charts, tables

    decision = decision_named(parsed.decision or DECISIONS[parsed.game][0].name, parsed.game)
    by = parsed.by or (BLIND if decision.is_of_dealer else DARING[parsed.game])
    by_seat = parsed.seat is None and not decision.is_of_dealer and "seat" not in by
    classes = parse_expressions([*by, "seat"] if by_seat else by, parsed.game)
    field = _field(parsed)
    asked = _policy(parsed, parsed.strategy) if parsed.strategy else field
    questions = [
        Question(_table(parsed, pot), decision, (field, asked), classes, parsed.seat)
        for pot in _some("pots", parsed.pots)
    ]
    for question in questions:
        check_question(question)
    with _output(parsed, "worth", parsed.deals * len(questions)) as output:
        found: list[Found] = [
            worth_of_actions(question, parsed.deals, jobs=parsed.jobs, progress=output.progress)
            for question in questions
        ]
        output.progress.done()
        facts = _facts(parsed, (field, asked)) | tables.worth_facts(found, len(by))
        pictures: dict[str, bytes] = {
            f"worth-pot-{worth.question.table.pot}.png": charts.worth_picture(worth, len(by))
            for worth in found
        }
        if len(found) > 1:
            pictures["pots.png"] = charts.pots_picture(found, len(by))
        output.save(facts, tables.worth_csv(found), pictures)
        for worth in found:
            tables.print_worth(worth, len(by))


def _compare(parsed: Compare) -> None:
    from experiments.strategies import charts, tables

    specs = _different("strategies", parsed.strategies)
    if len(specs) < 2:
        raise ValueError("compare takes at least two strategies: policy specs or bidding rules")
    _play_paired(parsed, "compare", specs, tables.print_paired, charts.paired_picture)


def _thresholds(parsed: Thresholds) -> None:
    from experiments.strategies import charts, tables

    levels = sorted(_different("thresholds", parsed.at))
    if len(levels) < 2:
        raise ValueError("thresholds takes at least two of them")
    _play_paired(
        parsed,
        "thresholds",
        [_threshold(level) for level in levels],
        lambda found: tables.print_thresholds(found, levels),
        lambda found: charts.thresholds_picture(found, levels),
    )


def _play_paired(
    parsed: Any,
    what: str,
    specs: Sequence[str],
    show: Callable[[Paired], None],
    draw: Callable[[Paired], bytes],
) -> None:
    """Play strategies on the same deals; draw, save and print what comes of it."""
    from agents.paired import compare_paired, num_hands
    from experiments.strategies import tables

    table, field = _table(parsed, parsed.pot), _field(parsed)
    policies = [_policy(parsed, spec) for spec in specs]
    hands = num_hands(table, len(policies), parsed.deals)
    with _output(parsed, what, hands) as output:
        found = compare_paired(
            table, policies, field, parsed.deals, jobs=parsed.jobs, progress=output.progress
        )
        output.progress.done()
        facts = _facts(parsed, (*policies, field)) | tables.paired_facts(found)
        output.save(facts, tables.paired_csv(found), {f"{what}.png": draw(found)})
        show(found)


def _explosion(parsed: Explosion) -> None:
    from agents.growth import growth
    from bestia_env.games import game_named
    from experiments.strategies import charts, tables

    counts = _different(
        "players", parsed.players or tuple(game_named(parsed.game).player_counts[:4])
    )
    specs = _different("strategies", parsed.strategies) or [
        _threshold(level) for level in sorted(_some("thresholds", parsed.at))
    ]
    work = [(_table(parsed, 1, n), _policy(parsed, spec, n)) for n in counts for spec in specs]
    with _output(parsed, "explosion", parsed.deals * len(work)) as output:
        found = [
            growth(table, policy, parsed.deals, jobs=parsed.jobs, progress=output.progress)
            for table, policy in work
        ]
        output.progress.done()
        rows = [(table.num_players, points) for (table, _), points in zip(work, found)]
        facts = _facts(parsed, [policy for _, policy in work]) | tables.growth_facts(rows)
        picture = charts.explosion_picture(work[0][0], rows)
        output.save(facts, tables.growth_csv(rows), {"explosion.png": picture})
        tables.print_growth(rows)


def _charts(parsed: Charts) -> None:
    from agents.checkpoints import write_whole
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins
    from experiments.strategies import booklet
    from experiments.strategies.drawing import draw_page

    names = _different("policies", parsed.policies) or booklet.page_names()
    chosen = [booklet.subject_named(name) for name in names]
    for name in ("deals", "price_deals"):
        check_coins(name, getattr(parsed, name), least=2)
    check_coins("jobs", parsed.jobs, least=1)
    check_writable(parsed.out)
    book = booklet.saved(parsed.out)
    settings = (parsed.deals, parsed.price_deals, parsed.seed, parsed.jobs)
    with hands_progress(booklet.num_steps(chosen, *settings[:2])) as progress:
        pages = [booklet.make_page(one, *settings, progress) for one in chosen]
    files: dict[str, bytes] = {}
    for page in pages:
        one = page.subject
        svg, files[f"{one.stem}.png"] = draw_page(page)
        files[f"{one.stem}.svg"] = svg
        facts = {"picture": f"{one.stem}.svg", "measured": _facts(parsed, [one.policy])}
        book[one.name] = (booklet.facts(page) | facts, svg)
    ordered = [book[name] for name in booklet.page_names() if name in book]
    text = json.dumps({"pages": [facts for facts, _ in ordered]}, indent=1, default=str)
    files[f"{booklet.BOOK}.json"] = f"{text}\n".encode()
    files[f"{booklet.BOOK}.html"] = booklet.html(ordered).encode()
    for file, data in files.items():
        write_whole(parsed.out / file, data)
    for page in pages:
        print(f"{page.subject.name}: {page.remark.result}")
    print(f"wrote {', '.join(files)} in {parsed.out}")


_RUN: dict[type, Any] = {
    Worth: _worth,
    Compare: _compare,
    Thresholds: _thresholds,
    Explosion: _explosion,
    Charts: _charts,
    Language: _print_language,
}


def _table(parsed: Any, pot: int, num_players: int | None = None) -> Table:
    from agents.duplicate import Table
    from agents.rules import parse_rules

    seats = parsed.num_players if num_players is None else num_players
    return Table(parsed.game, seats, parse_rules(parsed.game, parsed.rules), pot, parsed.seed)


def _policy(parsed: Any, spec: str, num_players: int | None = None) -> Policy:
    from agents.policies import parse_policy

    return parse_policy(spec, parsed.game, num_players or parsed.num_players)


def _field(parsed: _AtTable) -> Policy:
    from agents.policies import BEST_BASELINES

    return _policy(parsed, parsed.field or BEST_BASELINES[parsed.game])


def _different(what: str, values: Sequence[Any]) -> Sequence[Any]:
    if len(set(values)) < len(values):
        raise ValueError(f"{what} must differ, not {' '.join(map(str, values))}")
    return values


def _some(what: str, values: Sequence[Any]) -> Sequence[Any]:
    if not values:
        raise ValueError(f"{what} must be at least one")
    return _different(what, values)


def _threshold(level: float) -> str:
    """The spec, with all digits of the number."""
    return f"threshold:{level!r}".removesuffix(".0")


class _Progress:
    """A bar that can be taken away before what it is for is printed."""

    def __init__(self, total: int) -> None:
        self._bar = hands_progress(total)
        self._advance = self._bar.__enter__()

    def __call__(self, hands: int) -> None:
        self._advance(hands)

    def done(self) -> None:
        self._bar.__exit__(None, None, None)


class _Output:
    """Where a command writes, and its bar."""

    def __init__(self, folder: Path, name: str, hands: int) -> None:
        self.folder, self._name = folder, name
        self.progress = _Progress(hands)
        self.files: list[str] = []

    def save(self, facts: dict[str, Any], csv: str, pictures: Mapping[str, bytes]) -> None:
        from experiments.strategies.tables import save

        self.files = save(self.folder, self._name, facts, csv, pictures)


@contextmanager
def _output(parsed: Any, what: str, hands: int) -> Iterator[_Output]:
    """Where to write, checked before anything is played, and a bar for so many hands."""
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("deals", parsed.deals, least=2)
    check_coins("jobs", parsed.jobs, least=1)
    settings = {name: value for name, value in _settings(parsed).items() if name != "jobs"}
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()[:6]
    folder = parsed.out or RUNS / "strategies" / f"{what}-{parsed.game}-{digest}"
    check_writable(folder)
    began = time.perf_counter()
    output = _Output(folder, what, hands)
    try:
        yield output
    finally:
        output.progress.done()
    seconds = time.perf_counter() - began
    print(f"seed {parsed.seed}, {seconds:.1f} s; wrote {', '.join(output.files)} in {folder}")


def _settings(parsed: Any) -> dict[str, Any]:
    """All that the numbers depend on, and the number of jobs."""
    return {name: value for name, value in asdict(parsed).items() if name != "out"}


def _facts(parsed: Any, policies: Sequence[Policy]) -> dict[str, Any]:
    command = type(parsed).__name__.lower()
    return {"command": command, "settings": _settings(parsed), **provenance(policies)}


if __name__ == "__main__":
    main()
