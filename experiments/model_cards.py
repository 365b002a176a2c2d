"""Write the model cards: what each shipped file is, how it was made, and what it is worth.

    python -m experiments.model_cards

Everything is taken from the files themselves and from experiments/results/, so that a card says
nothing that was not measured of that very file: figures of other weights are left out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.bids.table import ENDING, num_players_of, table_of
from agents.equilibria.solutions import SOLUTIONS
from agents.policies import CHECKPOINTS, parse_policy
from agents.shipped import Shipped, shipped
from bestia_env.files import write_whole
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.reductions import reduction_named
from experiments.best_response import best_known, is_short, saved
from experiments.command_line import ends_cleanly
from experiments.measure_shipped import LEAK, MARGIN, cell
from experiments.responders import Victim

if TYPE_CHECKING:
    from agents.bids.table import BidTable

RESULTS = Path(__file__).parent / "results"
_MADE = "<!-- made by `python -m experiments.model_cards`; do not edit -->"
_LICENCE = "MIT, as the code; no data of anybody else went into it"
_GRAIN = {
    "bestia": "- All suits but trumps are alike to it. One table serves every pot as long as "
    "`match_limit` binds nobody, since all is in proportion to the pot.",
    "beast": "- Hands are told apart by buckets, and all in one bid alike; NashConv is that of "
    "bids within the buckets, at the opening pot.",
}
_UNITS = (
    "Pots per hand (opening pots, paid out of the seat's own coins or won), duplicate deals, "
    "95 % intervals."
)


def main() -> None:
    """Write all cards; exits with 2 if a file cannot be read or written."""
    with ends_cleanly("nothing is lost"):
        for path, text in cards().items():
            write_whole(path, text.encode())
            print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def cards() -> dict[Path, str]:
    """The text of every card by its file: beside each checkpoint, and one of all solutions.

    Raises:
        ValueError: a file is no checkpoint, table or certificate.
        OSError: one cannot be read.
    """
    found = {}
    for policy in shipped().values():
        found[policy.path.with_suffix(".md")] = network_card(policy)
    for path in sorted(CHECKPOINTS.glob(f"*{ENDING}")):
        found[path.with_suffix(f"{ENDING}.md")] = bids_card(path)
    found[SOLUTIONS / "README.md"] = solutions_card()
    return found


# Networks.


def network_card(policy: Shipped) -> str:
    """The card of a network."""
    facts = json.loads(policy.path.with_suffix(".json").read_text(encoding="utf-8"))
    name, spec = policy.name, f"net:{policy.name}"
    table = f"{policy.game.capitalize()} with {policy.num_players} players"
    rows = _scores(policy)
    return _card(
        f"# {spec}",
        f"A network that bids and plays {table}, learned by PPO in self-play. Every command line "
        f"takes it as `{spec}`; in Python it is "
        f'`agents.policies.parse_policy("{spec}", "{policy.game}", {policy.num_players})`.',
        "## What it is",
        *_table(("", ""), _network_facts(policy, facts)),
        "## How it was trained",
        *_table(("", ""), _training(facts)),
        f"`python -m experiments.reproduce {name}` trains it anew and compares. The data are hands "
        "that it played itself, with those whom the command names after `--opponents`: baselines "
        "of this project, and its own past; nothing was recorded from people.",
        "## Scores",
        _UNITS + f" Measured by `python -m experiments.measure_shipped` (seed {_seed(rows)}) on "
        f"{_deals(rows)} deals a figure that no training has seen. \\* where the aim was missed: "
        f"to win {MARGIN} and five standard errors, and to let nobody win {LEAK}.",
        *_score_tables(rows, policy.num_players),
        *_best_responses(spec, policy.game, policy.num_players),
        *_league(spec, policy.game, policy.num_players),
        "## Limits",
        *_limits(policy),
    )


def _network_facts(policy: Shipped, facts: dict[str, Any]) -> Iterable[tuple[str, str]]:
    shape, size = facts["architecture"], layout(policy.game, policy.num_players).size
    yield "table", f"{policy.game.capitalize()}, {policy.num_players} players"
    yield "rules", _rules(policy.game, facts["rules"])
    widths = [size, *shape["hidden"], facts["num_actions"]]
    yield "layers", f"{' – '.join(map(str, widths))}, {shape['activation']}"
    yield "sees", f"the seat's observation, {size} numbers (layout `{facts['layout']}`)"
    yield "suits", "put into a fixed order first" if shape["sort_suits"] else "as they are"
    often = "the most likely action" if shape["greedy"] else "actions as often as it says"
    yield "plays", f"legal actions only; {often}"
    yield "file", f"`{policy.path.name}`, SHA-256 `{facts['weights_sha256']}`"
    yield "licence", _LICENCE


def _training(facts: dict[str, Any]) -> Iterable[tuple[str, str]]:
    yield "command", f"`{facts['command']}`"
    yield "seed", str(facts["seed"])
    yield "decisions", f"{facts['steps']:,}"
    yield "time", f"{facts['seconds'] / 60:.0f} minutes"
    yield "versions", _versions(facts["versions"])
    yield "commit", f"`{facts['git_commit']}`"


def _scores(policy: Shipped) -> list[dict[str, Any]]:
    """The rows of these very weights."""
    digest = hashlib.sha256(policy.path.read_bytes()).hexdigest()[:16]
    rows = [row for row in _read("shipped.json") if row["policy"] == policy.name]
    return [row for row in rows if row["weights"] == digest]


def _score_tables(rows: list[dict[str, Any]], num_players: int) -> Iterable[str]:
    if not rows:
        yield "These weights have not been measured."
        return
    pots = sorted({row["pot"] for row in rows})
    cells = {(row["baseline"], row["pot"]): row for row in rows}
    heads = [f"pot {pot}" for pot in pots]
    for title, kind in (
        (f"it among {num_players - 1} copies of", "gain"),
        (f"one among {num_players - 1} copies of it", "leak"),
    ):
        baselines = dict.fromkeys(row["baseline"] for row in rows)
        yield from _table(
            (title, *heads),
            ((b, *(_score(cells[b, pot], kind) for pot in pots)) for b in baselines),
        )


def _score(row: dict[str, Any], kind: str) -> str:
    return cell(row[kind], kind).replace("*", "\\*")


def _limits(policy: Shipped) -> Iterable[str]:
    seeds = _read(f"seeds-{policy.name}.json") if _is_there(f"seeds-{policy.name}.json") else None
    said = "One training seed: another may come out better or worse."
    if seeds:
        said = (
            f"{len(seeds['seeds'])} training seeds were measured alike "
            f"(`experiments/results/seeds-{policy.name}.json`); this is seed 0."
        )
    yield f"- {said}"
    yield (
        "- For this number of players, and for the rules above. It sits at tables with other "
        "options, but was neither trained nor measured there."
    )
    yield (
        "- No equilibrium: with more than two players nothing bounds what others may win from it "
        "but what was tried. What a best responder gained is a lower bound."
    )
    yield "- Not measured against people. It does not adapt to whom it meets."
    yield (
        "- It maximises coins on average, one hand at a time, and knows no risk: it suits no "
        "gambling with money."
    )


# Bids.


def bids_card(path: Path) -> str:
    """The card of a table of bids."""
    spec = f"bids:{path.stem}"
    at = num_players_of("-".join(path.stem.split("-")[:2]))
    table = table_of(parse_policy(spec, *at))
    gap = table.facts["nash_conv"]
    return _card(
        f"# {spec}",
        f"A table of bids for {table.game.capitalize()} with {table.num_players} players: how "
        f"often to bid with which class of hand, after what has been said. `{table.cards}` plays "
        f"the cards. Every command line takes it as `{spec}`.",
        "## What it is",
        *_table(("", ""), _bids_facts(path, table)),
        "## How it was solved",
        *_table(("", ""), _solving(table.facts)),
        "The data are hands that the program dealt and played out itself.",
        "## How far from an equilibrium of the bidding",
        "NashConv, what all seats could gain together by other bids while the cards are played "
        "alike, is bounded from both sides: by responses chosen on other deals (low), and by the "
        "best in hindsight (high), which comes down with more deals.",
        *_table(
            ("low", "high", "deals", "worth of the seats, in order of play"),
            [
                (
                    f"{gap['low']:+.4f} ± {gap['low_half_width']:.4f}",
                    f"{gap['high']:+.4f}",
                    f"{gap['deals']:,}",
                    _worths(table),
                )
            ],
        ),
        *_best_responses(spec, table.game, table.num_players),
        *_league(spec, table.game, table.num_players),
        "## Limits",
        "- Bids alone were solved, against cards played as above; the pair is no equilibrium of "
        "the game.",
        _GRAIN[table.game],
        "- One seed. Not measured against people; it suits no gambling with money.",
    )


def _worths(table: BidTable) -> str:
    *told, last = (f"{worth:+.3f}" for worth in table.facts["worths"])
    if len(told) < table.num_players:
        return ", ".join([*told, last])
    return f"{', '.join(told)}; of the dealer before he has looked {last}"


def _bids_facts(path: Path, table: BidTable) -> Iterable[tuple[str, str]]:
    yield "table", f"{table.game.capitalize()}, {table.num_players} players"
    yield "rules", _rules(table.game, table.facts["rules"])
    yield "cards by", f"`{table.cards}`"
    yield "entries", f"{table.shares.size:,}, each how often of 255 times the loud bid is made"
    digest = hashlib.sha256(table.shares.tobytes()).hexdigest()
    yield "file", f"`{path.name}`, SHA-256 of the entries `{digest}`"
    yield "licence", _LICENCE


def _solving(facts: dict[str, Any]) -> Iterable[tuple[str, str]]:
    yield "command", f"`{facts['command']}`"
    yield "method", facts["solver"]
    yield "seed", str(facts["seed"])
    warm, iterations = facts["warm"]
    first = f", the first {iterations} with cards by {warm}" if iterations else ""
    yield "iterations", f"{facts['iterations']}{first}"
    yield "deals", f"{facts['deals']:,}"
    seconds = facts["seconds"]
    yield "time", f"{seconds['solving']:.0f} s to solve, {seconds['judging']:.0f} s to judge"
    yield "versions", _versions(facts["versions"])
    yield "commit", f"`{facts['commit']}`"


# Equilibria of reduced games.


def solutions_card() -> str:
    """The card of all solved reductions."""
    found = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(SOLUTIONS.glob("*.json"))]
    return _card(
        "# Equilibria of reduced games",
        "`NAME.npz` holds how often every action is taken in every information set, as whole "
        "numbers; `NAME.json` is its certificate. They play as `equilibrium:NAME`.",
        *_table(
            ("", "game", "deals", "information sets", "NashConv, pots", "rounds", "seconds"),
            map(_solution, found),
        ),
        *(f"- **{each['name']}**: {reduction_named(each['name']).idea}" for each in found),
        "## How they were made",
        "`python -m experiments.solve_reduced NAME` grows the whole tree by the rules themselves, "
        "with every deal and every new card, and solves it without sampling and without a seed. "
        "NashConv is computed exactly, by a best response of each seat. The certificates name "
        "method, commit and versions, and hold hashes of the tree and of the file.",
        "## Limits",
        "- Equilibria of small games, with fewer cards than anybody plays with: for research on "
        "methods, no advice for the full games.",
        "- With three players an equilibrium promises no seat its worth: two others may deviate "
        "together, and other equilibria may have other worths.",
        "- NashConv is that of one hand with the rules which the certificate names.",
        f"Licence: {_LICENCE}.",
    )


def _solution(facts: dict[str, Any]) -> Sequence[str]:
    game = f"{facts['game'].capitalize()}, {facts['num_players']} players"
    sizes = (f"{facts['deals']:,}", f"{facts['information_sets']:,}")
    seconds = facts["seconds"] + facts["seconds_growing"]
    rounds = f"{facts['rounds']:,}"
    conv = f"{facts['nash_conv']:.1e}" if facts["nash_conv"] > 1e-12 else "0"  # rounding errors
    return (facts["name"], game, *sizes, conv, rounds, f"{seconds:.1f}")


# What several cards have.


def _best_responses(spec: str, game: str, num_players: int) -> Iterable[str]:
    digest = _digest(spec, game, num_players)
    rows = [r for r in saved(RESULTS / "best-response.json") if r["num_players"] == num_players]
    one = best_known(rows, game, num_players, digest)
    mine = [r for r in rows if (r["game"], r["digest"], r["kind"]) == (game, digest, "coalition")]
    yield "## What best responders gain"
    if one is None and not mine:
        yield "Not measured."
        return
    yield (
        "By `python -m experiments.best_response`; lower bounds, \\* where the responder's "
        "training was shorter than the policy's own or than 8 million decisions."
    )
    who = {"one": "one among its copies", "coalition": f"{num_players - 1} others against it"}
    yield from _table(
        ("", "gain", "by", "decisions", "deals"),
        [_response(row, who[row["kind"]]) for row in [*([one] if one else []), *mine]],
    )


def _response(row: dict[str, Any], who: str) -> Sequence[str]:
    star = "\\*" if is_short(row) else ""
    decisions, deals = f"{row['steps']:,}{star}", f"{row['gain']['num_deals']:,}"
    return (who, _interval(row["gain"]), row["responder"], decisions, deals)


def _league(spec: str, game: str, num_players: int) -> Iterable[str]:
    """Its place, if just this policy is in the league."""
    wanted = (game, spec, _digest(spec, game, num_players))
    for row in _read("league.json"):
        if (row["game"], row["policy"], row["digest"]) != wanted:
            continue
        rating = row["rating"]
        yield "## Among all players of the league"
        yield (
            f"{_interval(row)} pots per hand ({row['num_deals']:,} deals), rating "
            f"{rating['points']:+.0f} ({rating['low']:+.0f} to {rating['high']:+.0f}), by "
            f"`python -m experiments.league`."
        )


def _digest(spec: str, game: str, num_players: int) -> str:
    return Victim(parse_policy(spec, game, num_players), num_players).digest


def _rules(game: str, rules: dict[str, Any]) -> str:
    """Those that are not the rulebook's defaults."""
    usual = dataclasses.asdict(game_named(game).rules())
    other = {name: value for name, value in rules.items() if usual[name] != value}
    told = ", ".join(f"`{name}={value!r}`" for name, value in other.items())
    return told or "the rulebook's, with every option at its default"


def _versions(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def _interval(found: dict[str, Any]) -> str:
    return f"{found['mean']:+.4f} ± {found['half_width']:.4f}"


def _seed(rows: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({str(row["seed"]) for row in rows})) or "none"


def _deals(rows: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({f"{row['deals']:,}" for row in rows})) or "no"


def _is_there(name: str) -> bool:
    return (RESULTS / name).is_file()


def _read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _card(title: str, *parts: str) -> str:
    """Paragraphs apart, the items of a list together."""
    text = f"{title}\n\n{_MADE}"
    before = ""
    for part in parts:
        together = before.startswith("- ") and part.startswith("- ")
        text += ("\n" if together else "\n\n") + part
        before = part
    return f"{text}\n"


if __name__ == "__main__":
    import tyro

    tyro.cli(main, prog="python -m experiments.model_cards", description=__doc__)
