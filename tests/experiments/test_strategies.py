"""The strategy lab from the command line."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from PIL import Image

from agents import worth as worth_of
from agents.bidding.language import parse_expressions
from agents.bidding.machine import MODULES
from agents.bids import beast
from agents.bids.table import WHOLE, table_of
from agents.decisions import Question, decision_named
from agents.duplicate import Table
from agents.paired import compare_paired
from agents.policies import parse_policy
from agents.shipped import shipped_named
from agents.worth import worth_of_actions
from experiments.strategies import booklet, charts, grids, tables
from experiments.strategies.__main__ import main
from experiments.strategies.short_rules import SHORT_RULES

SMALL = {
    "worth": ["worth", "--game", "bestia", "--deals", "900", "--pots", "1", "4"],
    "worth of countering": ["worth", "--game", "beast", "--decision", "counter", "--deals", "900"],
    "worth of taking": ["worth", "--game", "beast", "--deals", "900", "--num-players", "5"],
    "compare": ["compare", "--game", "bestia", "knock if trumps > 1", "sound", "--deals", "60"],
    "thresholds": ["thresholds", "--game", "beast", "--at", "0.4", "0.8", "--deals", "40"],
    "explosion": ["explosion", "--game", "bestia", "--players", "3", "6", "--at", "0.2", "0.9"],
}
SMALL["explosion"] += ["--deals", "300"]


def run(arguments, folder: Path) -> dict:
    main([*arguments, "--out", str(folder)])
    name = arguments[0]
    for path in folder.glob("*.png"):
        with Image.open(path) as picture:
            assert picture.width > 600
    assert len(list(csv.reader((folder / f"{name}.csv").read_text().splitlines()))) > 2
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SMALL)
def test_a_command_writes_the_same_whatever_the_number_of_jobs(name, tmp_path, capsys):
    once = run(SMALL[name], tmp_path / "1")
    assert capsys.readouterr().out.count("wrote") == 1
    again = run([*SMALL[name], "--jobs", "2"], tmp_path / "2")
    for facts in (once, again):
        del facts["finished"], facts["settings"]
    assert once == again
    command = SMALL[name][0]
    files = {path.name for path in (tmp_path / "1").iterdir()}
    pictures = {f"{command}.png"} if command != "worth" else {"worth-pot-1.png"}
    if "--pots" in SMALL[name]:
        pictures |= {"worth-pot-4.png", "pots.png"}
    assert files == {f"{command}.json", f"{command}.csv"} | pictures


def test_every_setting_has_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for deals, jobs in (("40", "1"), ("41", "1"), ("41", "2")):
        main(["compare", "--game", "beast", "bold", "random", "--deals", deals, "--jobs", jobs])
    assert len(list((tmp_path / "runs/strategies").iterdir())) == 2


def test_a_table_explodes_by_strategies_too(tmp_path, capsys):
    rules = ("knock", "pass", "pass; exchange")
    main(
        [
            *("explosion", "--game", "bestia", "--players", "3", "--deals", "300"),
            *("--out", str(tmp_path), "--strategies", *rules),
        ]
    )
    points = json.loads((tmp_path / "explosion.json").read_text(encoding="utf-8"))["points"]
    shares = {p["spec"]: (p["daring"]["mean"], p["playing"]["mean"]) for p in points}
    assert shares == {"knock": (1, 1), "pass": (0, 0), "pass; exchange": (0, 1)}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--game", "bestia", "sound"], "at least two strategies"),
        (["compare", "--game", "bestia", "sound", "sound"], "strategies must differ"),
        (["compare", "--game", "bestia", "knock if trump > 1", "sound"], "did you mean 'trumps'"),
        (["worth", "--game", "beast", "--decision", "knock"], "decision of beast must be one of"),
        (["worth", "--game", "bestia", "--by", "trumps; knock"], "rule, column 9"),
        (["worth", "--game", "bestia", "--seat", "4"], "seat must be an integer from 0 to 3"),
        (["worth", "--game", "beast", "--seat", "1"], "only the dealer may take"),
        (["worth", "--game", "bestia", "--pots", "2", "2"], "pots must differ"),
        (["worth", "--game", "bestia", "--pots"], "pots must be at least one"),
        (["explosion", "--game", "beast", "--at"], "thresholds must be at least one"),
        (["worth", "--game", "bestia", "--rules", "stake=--3"], "stake must be .* not '--3'"),
        (["worth", "--game", "bestia", "--pots", "0"], "pot must be an integer from 1"),
        (["worth", "--game", "bestia", "--deals", "1"], "deals must be an integer from 2"),
        (["worth", "--game", "bestia", "--jobs", "0"], "jobs must be an integer from 1"),
        (["worth", "--game", "bestia", "--num-players", "11"], "num_players of bestia"),
        (["worth", "--game", "bestia", "--rules", "maxims=so"], "maxims must be one of"),
        (["thresholds", "--game", "beast", "--at", "0.5", "1.5"], "must be from 0 to 1"),
        (["thresholds", "--game", "beast", "--at", "0.5"], "at least two"),
        (["explosion", "--game", "beast", "--players", "3"], "num_players of beast"),
        (
            ["charts", "--policies", "bestia-9"],
            "there is a chart of bestia-3, .* not of 'bestia-9'",
        ),
        (["charts", "--deals", "0"], "deals must be an integer from 2"),
    ],
)
def test_bad_arguments_exit_with_a_line_and_write_nothing(arguments, words, tmp_path, capsys):
    folder = tmp_path / "out"
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", str(folder)])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert re.search(words, error)
    assert error.startswith("error: ")
    assert not folder.exists() or not list(folder.iterdir())


class Gone(io.StringIO):
    """A reader that went away."""

    def write(self, text):
        raise BrokenPipeError("nobody reads")


@pytest.mark.parametrize("name", SMALL)
def test_results_are_written_though_nobody_reads_what_is_printed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(SystemExit):
        main([*SMALL[name], "--out", str(tmp_path)])
    assert (tmp_path / f"{SMALL[name][0]}.json").exists()


def test_of_thousands_of_classes_the_most_frequent_are_shown_and_all_are_written(tmp_path, capsys):
    facts = run(["worth", "--game", "bestia", "--deals", "2000", "--by", "chance"], tmp_path)
    classes = facts["pots"][0]["classes"]
    assert len(classes) > tables.MOST_SHOWN
    assert len(tables.frequent(range_of_counts([150] * 500))) == tables.MOST_SHOWN
    assert len([line for line in capsys.readouterr().out.splitlines() if "%" in line]) < 75


def range_of_counts(counts):
    return [worth_of.ClassWorth((k,), n, (), (), (), (), ()) for k, n in enumerate(counts)]


def test_a_rule_may_hold_what_matplotlib_takes_for_mathematics(tmp_path):
    rules = ["knock if trumps >= 2 # $x^{$", "sound"]
    run(["compare", "--game", "bestia", *rules, "--deals", "20"], tmp_path)
    run(["worth", "--game", "bestia", "--by", "trumps # $_{$", "--deals", "200"], tmp_path)


def test_thresholds_keep_all_their_digits(tmp_path):
    facts = run(
        ["thresholds", "--game", "bestia", "--at", "0.5", "0.50000001", "--deals", "20"], tmp_path
    )
    specs = [score["strategy"] for score in facts["scores"]]
    assert specs == ["threshold:0.5", "threshold:0.50000001"]


def test_the_language_is_printed_with_all_that_a_rule_may_ask(capsys):
    main(["language"])
    printed = capsys.readouterr().out
    for module in MODULES.values():
        for feature in module.FEATURES:
            assert f"  {feature.name:13}{feature.meaning}" in printed
    assert "knock if trumps >= 2" in printed


# Strategy charts.


@pytest.mark.parametrize("name", SHORT_RULES)
def test_short_rules_are_rules_of_a_shipped_policy_and_play(name):
    one = shipped_named(name)
    rule = parse_policy(f"{SHORT_RULES[name].text}; cards by net:{name}", one.game, one.num_players)
    assert rule.network is not None
    assert len(SHORT_RULES[name].words) < 300


def test_every_hand_has_its_row():
    for some in grids.GRIDS.values():
        for grid in some:
            assert len(set(grid.rows)) == len(grid.rows)
    for trumps in range(4):
        for top in range(10):
            for aces in range(4 - trumps):
                assert 0 <= grids._bestia_row((trumps, top, aces)) < len(grids.BESTIA_ROWS)
    rows = {grids._beast_row((t, h)) for t in range(6) for h in range(min(t, 4) + 1)}
    assert rows == set(range(len(grids.BEAST_ROWS)))
    assert {grids._upcard_row((k,)) for k in range(13)} == set(range(len(grids.UPCARDS)))


def test_a_page_shows_shares_and_the_price_that_the_lab_finds(tmp_path, capsys):
    main(
        [
            *("charts", "--policies", "bestia-3", "--deals", "1500", "--price-deals", "120"),
            *("--seed", "5", "--out", str(tmp_path)),
        ]
    )
    facts = json.loads((tmp_path / "strategy-charts.json").read_text(encoding="utf-8"))
    page = facts["pages"][0]
    cells = [cell for row in page["charts"][0]["rows"].values() for cell in row if cell]
    assert len(cells) > 40
    for cell in cells:
        assert 0 <= cell["come_in"] <= cell["come_in"] + cell["new_cards"] <= 1
    assert all(
        cell["come_in"] > 0.9 for cell in page["charts"][0]["rows"]["one trump: ace"] if cell
    )
    one = shipped_named("bestia-3")
    rule = parse_policy(f"{SHORT_RULES['bestia-3'].text}; cards by net:bestia-3", "bestia", 3)
    table = booklet.Table("bestia", 3, seed=5)
    found = compare_paired(table, [one.policy, rule], one.policy, 120)
    assert page["price"]["rule_less_policy"]["mean"] == pytest.approx(
        found.difference(1, 0).score.mean
    )
    page_text = (tmp_path / "strategy-charts.html").read_text(encoding="utf-8")
    assert page_text.count("<svg") == 1
    assert "http" not in page_text.replace("http://www.w3.org/", "")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("bestia-3.png", "bestia-3.svg", "strategy-charts.html", "strategy-charts.json")
    }


def solved_page(folder):
    """Chart the solved bids of Beast on few deals, and read the book."""
    main(
        [
            *("charts", "--policies", "bids:beast-4", "--deals", "3000", "--seed", "5"),
            *("--price-deals", "20", "--out", str(folder)),
        ]
    )
    book = json.loads((folder / "strategy-charts.json").read_text(encoding="utf-8"))
    return {page["policy"]: page for page in book["pages"]}


def test_a_page_of_solved_bids_has_their_shares_and_their_bounds(tmp_path):
    page = solved_page(tmp_path)["bids:beast-4"]
    table = table_of(parse_policy("bids:beast-4", "beast", 4))
    assert page["certificate"]["nash_conv"] == table.facts["nash_conv"]
    assert "rule" not in page
    play, _, take = page["charts"]
    assert play["columns"] == ["first", "1", "2", "dealer", "all seats"]
    blind = table.shares.reshape(-1, beast.CLASSES)[-1] / WHOLE
    ranks = {"10": 8, "jack": 9, "queen": 10, "king": 11, "ace": 12}
    for name, rank in ranks.items():
        assert take["rows"][name][0]["come_in"] == pytest.approx(blind[rank], abs=0.15)
    svg = (tmp_path / "bids-beast-4.svg").read_text(encoding="utf-8")
    assert f"to {table.facts['nash_conv']['high']:.4f}" in svg


def test_a_book_keeps_its_other_pages(tmp_path):
    book = solved_page(tmp_path)
    other = {**book["bids:beast-4"], "policy": "beast-4", "title": "Kept", "picture": "kept.svg"}
    (tmp_path / "kept.svg").write_text("<?xml?><svg>kept</svg>", encoding="utf-8")
    text = json.dumps({"pages": [book["bids:beast-4"], other]})
    (tmp_path / "strategy-charts.json").write_text(text, encoding="utf-8")
    found = solved_page(tmp_path)
    assert [*found] == ["beast-4", "bids:beast-4"]
    assert found["beast-4"] == other
    assert "<svg>kept</svg>" in (tmp_path / "strategy-charts.html").read_text(encoding="utf-8")


def test_a_book_that_is_not_whole_is_refused(tmp_path, capsys):
    (tmp_path / "strategy-charts.json").write_text('{"pages": [{"policy": "x"}]}', encoding="utf-8")
    with pytest.raises(SystemExit):
        solved_page(tmp_path)
    assert "is no whole book of charts: delete it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["strategy-charts.json"]


def test_a_picture_of_choices_shows_in_a_notebook():
    table, field = Table("bestia", 4, seed=1), parse_policy("sound", "bestia", 4)
    classes = parse_expressions(["trumps", "top_trump"], "bestia")
    found = [
        worth_of_actions(
            Question(table, decision_named("knock", "bestia"), (field, asked), classes), 900
        )
        for asked in (field, parse_policy("doctor", "bestia", 4))
    ]
    picture = charts.chosen_picture(found, 2)
    assert picture._repr_png_() == picture
    with Image.open(io.BytesIO(picture)) as shown:
        assert shown.width > 600
