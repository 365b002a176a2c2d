"""The documentation says what the code does, and its links lead somewhere."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bestia_env.games import GAMES, game_named
from bestia_env.observe import layout
from docs import lessons, parts, tables

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.relative_to(ROOT / "docs").with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if "_build" not in path.parts
}
DIRECTIVE = re.compile(
    r"^```\{(?P<kind>part|docstring|generated)\} (?P<argument>.*)\n(?P<options>(?::.*\n)*)```$",
    re.MULTILINE,
)
ASKED = [
    (page, found["kind"], found["argument"], ":intro:" in found["options"])
    for page, text in PAGES.items()
    for found in DIRECTIVE.finditer(text)
]
RUN_BY_SPHINX = "citation"  # needs YAML, which is not among what the project needs


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("game", GAMES)
def test_every_option_is_in_the_table_with_its_clause(game: str) -> None:
    rules = game_named(game).rules
    rows = {row[0]: row for row in map(cells, tables.options(game)[2:])}
    assert list(rows) == [f"`{field.name}`" for field in dataclasses.fields(rules)]
    for field in dataclasses.fields(rules):
        _, kind, allowed, default, cited, meaning = rows[f"`{field.name}`"]
        assert (kind, default) == (field.type, f"`{field.default!r}`")
        assert cited and set(cited.split(", ")) <= set(parts.clauses(game))
        assert allowed and meaning


@pytest.mark.parametrize("game", GAMES)
def test_what_a_table_allows_is_allowed_and_nothing_else(game: str) -> None:
    rules = game_named(game).rules
    for option in (field.name for field in dataclasses.fields(rules)):
        words = tables.allowed(rules, option)
        good: list[object] = [eval(value) for value in re.findall(r"`(.*?)`", words)]
        bad: list[object] = ["neither", None]
        if "integer" in words:
            least, most, *steps = map(int, re.findall(r"\d+", words.replace(",", "")))
            good, bad = [least, most - most % (steps or [1])[0]], [least - 1, most + 1]
        for value in good:
            assert getattr(rules(**{option: value}), option) == value
        for value in bad:
            with pytest.raises(ValueError, match=option):
                rules(**{option: value})


def test_clauses_of_an_option_are_those_that_set_it() -> None:
    assert tables.clauses_of("beast", "revoke") == ["B-13"]
    assert tables.clauses_of("beast", "cards") == ["B-19"]
    for maxim, clause in ((1, "BESTIA-32"), (2, "BESTIA-34"), (3, "BESTIA-35")):
        cited = tables.clauses_of("bestia", f"maxim_{maxim}")
        assert clause in cited and "I-17" in cited


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_of_the_rulebook_has_an_id_of_its_own(game: str) -> None:
    text = (ROOT / parts.RULEBOOK).read_text(encoding="utf-8")
    names = parts.clauses(game)
    for name in names:
        assert text.count(f"\n| {name} |") == 1
    for prefix, least in zip(parts.PREFIXES[game], (37, 19), strict=True):
        numbers = sorted(int(n.split("-")[1]) for n in names if n.startswith(f"{prefix}-"))
        assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= least


@pytest.mark.parametrize("game", GAMES)
def test_every_action_is_in_the_table_once(game: str) -> None:
    told = game_named(game)
    named = re.findall(r"`([^`]+)`", "\n".join(tables.actions(game)))
    assert named == [told.action_name(action) for action in range(told.num_actions)]


@pytest.mark.parametrize("game", GAMES)
def test_the_slices_are_those_of_every_number_of_players(game: str) -> None:
    head, _, *rows = map(cells, tables.observation(game))
    for column, n in enumerate(game_named(game).player_counts, start=1):
        assert head[column] == f"{n} players"
        table = layout(game, n)
        shown = {row[0].strip("`"): row[column] for row in rows}
        assert int(shown.pop("**size**")) == table.size
        assert shown == {k: f"{s.start}–{s.stop - 1}" for k, s in table.slices.items()}


@pytest.mark.parametrize(("page", "kind", "argument", "intro"), ASKED)
def test_what_a_page_asks_for_is_there(page: str, kind: str, argument: str, intro: bool) -> None:
    if kind == "docstring":
        assert parts.docstring(argument)
    elif kind == "part":
        file, _, title = argument.partition(": ")
        text = parts.section(file, title, intro=intro) if title else parts.whole(file)
        assert text and parts.linked(text, page, file)
    elif argument != RUN_BY_SPHINX:
        name, *arguments = argument.split()
        lines = tables.TABLES[name](*arguments)
        widths = {len(cells(row)) for row in lines if row.startswith("|")}
        assert len(lines) > 2 and widths


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_pages_are_built_without_a_warning_and_fetch_nothing(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_nb", "furo"):  # of the group docs
        pytest.importorskip(needed)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    settings = ["-D", "nb_execution_mode=off", "-d", tmp_path / "doctrees"]
    done = subprocess.run(
        [*command, *settings, ROOT / "docs", tmp_path / "html"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "html").rglob("*.html")]
    assert len(pages) > len(PAGES)
    fetched = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"')
    assert [found[0] for page in pages for found in fetched.finditer(page)] == []


def test_every_table_is_asked_for() -> None:
    asked = {argument.split()[0] for _, kind, argument, _ in ASKED if kind == "generated"}
    assert asked == set(tables.TABLES)


def test_every_command_line_of_a_page_exists() -> None:
    named = re.findall(r"python -m ([\w.]+)", "\n".join(PAGES.values()))
    assert len(named) > 5
    for module in set(named):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)", "\n".join(PAGES.values()))) <= set(targets)


def test_a_missing_heading_and_a_dead_link_are_refused() -> None:
    with pytest.raises(ValueError, match="0 headings 'No such'"):
        parts.section("README.md", "No such")
    with pytest.raises(ValueError, match=r"nowhere\.py"):
        parts.linked("[x](nowhere.py)", "index")


def test_links_lead_to_pages_modules_and_files() -> None:
    text = "[r](bestia_env/rules/RULEBOOK.md) [c](agents/arena.py) ![p](x.png) [l](LICENSE)"
    with pytest.raises(ValueError, match=r"x\.png"):
        parts.linked(text, "rules/beast")
    linked = parts.linked(text.replace("x.png", "experiments/results/a-hand.png"), "rules/beast")
    assert linked == (
        "[r](/rules/index.md) {py:mod}`agents.arena` "
        "![p](../../experiments/results/a-hand.png) {download}`l <../../LICENSE>`"
    )


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {"index"}
    for page, text in PAGES.items():
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            folder = Path(page).parent
            listed |= {(folder / n).as_posix() for n in tree.split("\n") if n and n[0] != ":"}
    lessons_listed = {f"notebooks/{name}" for name in lessons.BUDGETS}
    assert listed == set(PAGES) | lessons_listed


def test_every_lesson_has_its_smaller_numbers_behind_the_parameters() -> None:
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks == set(lessons.BUDGETS)
    for name, budget in lessons.BUDGETS.items():
        if not budget:
            continue
        book = lessons.lesson(name)
        ids = [cell.id for cell in book.cells]
        assert ids.index("small-budgets") == ids.index("parameters") + 2
        for variable in re.findall(r"[A-Z_]{3,}", budget):
            assert re.search(
                rf"^{variable} = |, {variable}\b", book.cells[ids.index("parameters")].source, re.M
            )


def test_lessons_are_left_alone_where_nothing_changed(tmp_path: Path) -> None:
    lessons.write_lessons(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    lessons.write_lessons(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_the_learner_of_the_pages_learns_twice_alike(tmp_path: Path) -> None:
    from docs.extend.train_reinforce import Arguments, train

    weights = [train(Arguments(run_dir=tmp_path / name, smoke=True)).read_bytes() for name in "ab"]
    assert weights[0] == weights[1]
