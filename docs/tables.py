"""The tables of these pages as Markdown, made from what the code itself goes by."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bestia_env.games import Game, game_named
from bestia_env.observe import layout
from docs.parts import ROOT, clauses

RESULTS = ROOT / "experiments" / "results"


# The games.


def header(game: str) -> list[str]:
    """What PettingZoo's pages tell about an environment at the top, with four players."""
    told, n = game_named(game), 4
    size = layout(game, n).size
    counts = told.player_counts
    name = told.rules.__name__
    rows = {
        "Import": f"`from bestia_env import {game}_v0`",
        "Make": f'`{game}_v0.env()` or `pettingzoo.make("aec", "bestia_env/{game}-v0")`',
        "Actions": "Discrete",
        "Parallel API": "No: seats act in turn",
        "Manual control": "No; `make play` is a table in the browser",
        "Agents": f"`agents = {[f'player_{seat}' for seat in range(n)]}`",
        "Number of agents": f"{counts[0]} to {counts[-1]}, 4 by default; in a reduction from 2",
        "Action shape": f"`Discrete({told.num_actions})`",
        "Action values": f"`[0, {told.num_actions - 1}]`",
        "Action mask": f"`action_mask`, `({told.num_actions},)` int8, in the observation",
        "Observation shape": f"`({size},)` float32, with four players",
        "Observation values": f"0 to {max(piece.high for piece in layout(game, n).pieces):g}",
        "Rewards": 'coins at the settlement of a hand, `"equity"` or `"coins"`',
        "Rules": f"{{py:class}}`~bestia_env.rules.{game}.{name}`",
        "Gymnasium": f"`bestia_env/{game.capitalize()}-v0`: one seat among opponents",
    }
    return [*_head("", ""), *_rows((f"**{key}**", value) for key, value in rows.items())]


def actions(game: str) -> list[str]:
    """Every action by its number and name, a row for each suit and one for all that is said."""
    told = game_named(game)
    ranks = len(told.pack.ranks)
    lines = _head("", "from", "to", "names, in order")
    for first in range(0, told.pack.size, ranks):
        suit = told.pack.suits[first // ranks]
        lines += _rows([(suit, first, first + ranks - 1, _names(told, first, first + ranks))])
    size, end = told.pack.size, told.num_actions
    return [*lines, *_rows([("no card", size, end - 1, _names(told, size, end))])]


def _names(game: Game, first: int, end: int) -> str:
    return " ".join(f"`{game.action_name(action)}`" for action in range(first, end))


def observation(game: str) -> list[str]:
    """Where every piece of the observation is, for every number of players."""
    layouts = {n: layout(game, n) for n in game_named(game).player_counts}
    lines = _head("piece", *(f"{n} players" for n in layouts))
    for name in next(iter(layouts.values())).slices:
        places = [table.slices[name] for table in layouts.values()]
        lines += _rows([(f"`{name}`", *(f"{place.start}–{place.stop - 1}" for place in places))])
    return [*lines, *_rows([("**size**", *(table.size for table in layouts.values()))])]


def options(game: str) -> list[str]:
    """Every option of the rules: its type, values, default, clauses and meaning."""
    rules = game_named(game).rules
    meanings = attributes(rules.__doc__ or "")
    lines = _head("option", "type", "allowed", "default", "clauses", "meaning")
    for field in dataclasses.fields(rules):
        cited = ", ".join(clauses_of(game, field.name))
        cells = (f"`{field.name}`", field.type, allowed(rules, field.name), f"`{field.default!r}`")
        lines += _rows([(*cells, cited, meanings[field.name])])
    return lines


def allowed(rules: type[Any], option: str) -> str:
    """What an option may be, in the words with which the rules refuse anything else."""
    try:
        rules(**{option: None})
    except ValueError as error:
        found = re.fullmatch(r"\w+ must be (?:an )?(one of )?(?P<words>.*), not None", str(error))
        assert found is not None, error
        if found[1]:
            return ", ".join(f"`{value}`" for value in found["words"].split(", "))
        return re.sub(r"\b(\d{4,})\b", lambda number: f"{int(number[1]):,}", found["words"])
    raise AssertionError(f"{option} of {rules.__name__} takes None")


def clauses_of(game: str, option: str) -> list[str]:
    """The clauses that define an option, those that its docstring cites included."""
    number = option.rpartition("_")[2]
    marks = (f"/{number}=", f"/{number}/", f"_{number}/") if number.isdigit() else ()
    names = (f"`{option}=", *marks)
    setting = [key for key, text in clauses(game).items() if any(name in text for name in names)]
    meaning = attributes(game_named(game).rules.__doc__ or "")[option]
    cited = re.findall(r"\b(?:BEAST|BESTIA|B|I)-\d+\b", meaning)
    return list(dict.fromkeys([*cited, *setting]))


def attributes(docstring: str) -> dict[str, str]:
    """The meaning of every attribute in a docstring of Google's style."""
    block = re.search(r"^ *Attributes:\n(?P<lines>(?: +.*\n|\n)*)", docstring, re.MULTILINE)
    assert block is not None
    section = re.split(r"\n\s*\n", block["lines"])[0]
    indent = len(section) - len(section.lstrip(" "))
    items = re.split(rf"^ {{{indent}}}(?! )", section, flags=re.MULTILINE)[1:]
    named = (item.partition(":") for item in items)
    return {name: " ".join(text.split()) for name, _, text in named}


# Results.


def shipped() -> list[str]:
    """The shipped policies against every baseline at the opening pot."""
    from experiments.measure_shipped import tables

    rows = [row for row in _read("shipped.json") if row["pot"] == 1]
    return _spaced(tables(sorted(rows, key=lambda row: row["policy"])))


def league() -> list[str]:
    """The standings of the league."""
    from experiments.league import table

    return _spaced(table(_read("league.json"), _read("best-response.json")))


def best_responses() -> list[str]:
    """What best responders gain."""
    from experiments.best_response import tables

    return _spaced(_listed(tables(_read("best-response.json"))))


def seeds() -> list[str]:
    """Several trainings of one policy."""
    from experiments.seeds import table

    facts = _read("seeds-bestia-4.json")
    return table(facts["rows"], facts["name"], tuple(facts["seeds"]))


def benchmark(name: str) -> list[str]:
    """Speed: `benchmark` or `benchmark-learning`."""
    from experiments.benchmark import table

    facts = _read(f"{name}.json")
    machine = (
        f"`{facts['command']}`, {facts['runs']} timings of each, Python {facts['python']}, "
        f"numpy {facts['numpy']}, {facts['cores']} cores, load {facts['load']:.1f} at the end."
    )
    return _spaced([machine, "", *table(facts)])


def exploitability() -> list[str]:
    """Learners on reduced games, measured exactly."""
    from experiments.exploitability import table

    return table(_read("exploitability.json")["curves"])


def solved() -> list[str]:
    """The certificates of the solved reductions."""
    from agents.equilibria.solutions import SOLUTIONS
    from experiments.solve_reduced import table

    return table([json.loads(file.read_text("utf-8")) for file in sorted(SOLUTIONS.glob("*.json"))])


def demo(game: str) -> list[str]:
    """The learner of `make demo` against every baseline."""
    facts = _read(f"demo-{game}.json")
    first, others = facts["matrix"][0], facts["matrix"][1:]
    lines = _head(
        f"{game.capitalize()}, {facts['num_players']} players: baseline",
        "learner among copies of it",
        "it among copies of the learner",
    )
    for spec, gain, row in zip(facts["policies"][1:], first[1:], others, strict=True):
        lines += _rows([(spec, _interval(gain), _interval(row[0]))])
    return lines


def baselines(game: str) -> list[str]:
    """The baselines of a game, each with its idea."""
    from agents.baselines.dispatch import baselines as known

    lines = _head("spec", "idea")
    for baseline in known(game):
        number = "" if baseline.parameter is None else f":{baseline.parameter:g}"
        lines += _rows([(f"`{baseline.name}{number}`", baseline.idea)])
    return lines


def citation() -> list[str]:
    """How to cite, in BibTeX, from CITATION.cff."""
    import yaml

    facts = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in facts["authors"])
    fields = {
        "author": authors,
        "title": f"{{{facts['title']}}}",
        "version": facts["version"],
        "note": f"{facts['license']} licence",
    }
    lines = [f"  {name:7} = {{{value}}}," for name, value in fields.items()]
    return ["```bibtex", "@software{bestia_env,", *lines, "}", "```"]


def _read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _interval(found: dict[str, float]) -> str:
    return f"{found['mean']:+.4f} ± {found['half_width']:.4f}"


# Markdown.


def _head(*titles: str) -> list[str]:
    return [*_rows([titles]), f"|{'---|' * len(titles)}"]


def _rows(rows: Iterable[Iterable[object]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in rows]


def _spaced(lines: list[str]) -> list[str]:
    """With an empty line before and after every table, as Markdown wants it."""
    return list(_with_gaps(lines))


def _with_gaps(lines: list[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        if before and before.startswith("|") != line.startswith("|"):
            yield ""
        yield line
        before = line


def _listed(lines: list[str]) -> list[str]:
    """Lines that are no table as items of a list."""
    return [f"* {line}" if line and not line.startswith("|") else line for line in lines]


TABLES: dict[str, Callable[..., list[str]]] = {
    made.__name__: made
    for made in (
        *(header, actions, observation, options, baselines, citation),
        *(shipped, league, best_responses, seeds, benchmark, exploitability, solved, demo),
    )
}
"""What a page may ask for, by name."""
