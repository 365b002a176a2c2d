import functools
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agents.policies import parse_policy
from agents.solve.values import AGAINST, card_values
from bestia_env import beast_v0, bestia_v0, engine
from bestia_env.games import game_named
from bestia_env.records import Record, record_hand, states, write_records
from bestia_env.reductions import reduction_named
from bestia_env.render import render_svg
from bestia_env.rules import beast
from experiments.hindsight import hindsights
from experiments.replay import main
from experiments.replay_page import replay_page, seat_names
from experiments.thoughts import players_of, policy_to_ask, think

MODULES = {"beast": beast_v0, "bestia": bestia_v0}
PICTURE = "return document.getElementById('picture').innerHTML"
THOUGHTS = "return document.querySelector('.decision:not([hidden])').innerText"
HOSTILE = ("</script><b>x", "<img src=x>", "\"'&{{ 7 * 7 }}", "bold")


@functools.cache
def a_record(game: str, num_players: int = 4, **options: str) -> Record:
    """A hand played at random to its last trick; in Beast the dealer takes."""
    env, rng = MODULES[game].raw_env(num_players, **options), np.ones(1, np.uint64)
    for seed in range(100):
        env.reset(seed=seed)
        if game == "beast":
            env.step(beast.TAKE)
        while not env.hand_over:
            env.step(engine.random_legal(env.states[0], rng))
        if env.states[0].plays > 8:
            return replace(env.last_record, players=("bold",) * num_players)
    raise AssertionError("no hand was long enough")


@functools.cache
def a_reduced_record(name: str) -> Record:
    """A hand of a reduction, played at random to its last trick."""
    reduction, rng = reduction_named(name), np.ones(1, np.uint64)
    state = engine.new_states(reduction.game, reduction.num_players, reduction.rules)
    for seed in range(100):
        engine.start_sessions(state, np.array([seed], np.uint64), 0, 0)
        dealt, actions = state.copy(), []
        while state[0].turn >= 0:
            actions.append((int(state[0].turn), int(engine.random_legal(state[0], rng))))
            engine.act(state, 0, actions[-1][1])
        if state[0].plays > 1:
            break
    players = (f"equilibrium:{name}",) * reduction.num_players
    return record_hand(dealt, actions, players=players)


def data_in(page: str) -> dict:
    found = re.findall(r'<script type="application/json" id="hand">(.*?)</script>', page, re.S)
    return json.loads(found[0])


@pytest.mark.parametrize("game", MODULES)
def test_the_page_needs_nothing_else(game: str) -> None:
    record = a_record(game)
    page = replay_page(record, think(record, players_of(record)))
    assert set(re.findall(r"https?:[^\"'\\\s<]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\ssrc=|@import|url\(|fetch\(", page)
    assert set(re.findall(r"href=\"([^\"]*)", page)) == {"data:,"}


@pytest.mark.parametrize("game", MODULES)
def test_every_view_has_a_picture_of_every_step(game: str) -> None:
    record = a_record(game)
    data = data_in(replay_page(record))
    assert len(data["steps"]) == len(record.actions) + 1
    for view, rows in zip((None, 0, 1, 2, 3), data["pictures"], strict=True):
        drawn = ["".join(data["pieces"][piece] for piece in row) for row in rows]
        assert drawn == [render_svg(s, game, view, seat_names(record)) for s in states(record)]


def test_names_of_strangers_are_text() -> None:
    record = replace(a_record("bestia"), players=HOSTILE)
    page = replay_page(record, think(record, players_of(record)))
    assert "<b>x" not in page and "<img" not in page
    assert page.count("</script>") == 2
    assert "&#34;&#39;&amp;{{ 7 * 7 }}" in page
    assert any(step["deed"].startswith(HOSTILE[0]) for step in data_in(page)["steps"])


def test_names_are_short_and_different() -> None:
    long = "knock if trumps >= 2; exchange if aces < 1"
    players = ("bold", "net:some/folder/good.safetensors", long, "bold")
    record = replace(a_record("bestia"), players=players)
    assert seat_names(record) == ["bold (0)", "net:good", "seat 2", "bold (3)"]
    assert long.replace(">", "&gt;").replace("<", "&lt;") in replay_page(record)
    assert seat_names(replace(record, players=None))[3] == "seat 3"


def test_a_discard_is_told_only_to_whoever_made_it() -> None:
    record = a_record("beast")
    steps = data_in(replay_page(record))["steps"]
    hidden = [step for step in steps if step["hidden"]]
    assert [step["seat"] for step in hidden] == [record.dealer]
    assert " of " in hidden[0]["deed"]
    assert hidden[0]["hidden"].endswith("discards a card.")


def test_policies_see_no_more_than_the_seat_that_is_to_act() -> None:
    views = []

    def probabilities(view: np.ndarray, legal: int) -> np.ndarray:
        views.append(view.copy())
        return np.full(58, 1 / legal.bit_count())

    record = a_record("beast")
    spy = SimpleNamespace(spec="spy", probabilities=probabilities, same_as=lambda _: False)
    found = think(record, [None] * 4, [spy])
    assert [int(view[0].viewer) for view in views] == [seat for seat, _ in record.actions]
    assert all(np.count_nonzero(view[0].hands) <= 1 for view in views)
    assert [[thought.policy for thought in told] for told in found] == [["spy"]] * len(views)


@pytest.mark.parametrize("game", MODULES)
def test_the_player_is_asked_first_and_once(game: str) -> None:
    record = a_record(game)
    others = [parse_policy(spec, game, 4) for spec in ("random", "bold")]
    found = think(record, players_of(record), others, num_worlds=4)
    assert len(found) == len(record.actions)
    for told in found:
        assert [(t.policy, t.is_player) for t in told] == [("bold", True), ("random", False)]
        for thought in told:
            assert sum(thought.chances.values()) == pytest.approx(1)
            assert thought.worths.keys() == thought.chances.keys()


def test_a_record_opens_no_strange_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.safetensors")  # to read it is to wait for ever
    pipe = tmp_path / "a.safetensors"
    names = (f"rule:{pipe}", f"net:{pipe}", f"rule:{tmp_path}", "me")
    assert players_of(replace(a_record("bestia"), players=names)) == [None] * 4


@pytest.mark.parametrize(
    ("record", "spec"),
    [
        (lambda: a_record("bestia"), "bids:bestia-4"),
        pytest.param(lambda: a_record("beast"), "pimc:worlds=2,rounds=1", marks=pytest.mark.slow),
        pytest.param(lambda: a_record("bestia"), "ismcts:iterations=10", marks=pytest.mark.slow),
        pytest.param(
            lambda: a_reduced_record("bestia3-tiny"),
            "pimc:worlds=2,rounds=1",
            marks=pytest.mark.slow,
        ),
        (lambda: a_reduced_record("beast3-tiny"), "threshold:0.4"),
    ],
)
def test_every_family_of_policies_is_asked(record: Callable[[], Record], spec: str) -> None:
    hand = record()
    found = think(hand, players_of(hand), [policy_to_ask(spec, hand)], num_worlds=2)
    for told in found:
        assert [thought.policy for thought in told] == [hand.players[0], spec]
        for thought in told:
            assert sum(thought.chances.values()) == pytest.approx(1)
            assert thought.worths.keys() == thought.chances.keys()


def test_who_sees_all_cards_or_plays_by_other_rules_is_not_asked() -> None:
    hand = replace(a_record("bestia", 3), players=("cheat", "equilibrium:bestia3-tiny", "bold"))
    assert [policy is None for policy in players_of(hand)] == [True, True, False]
    with pytest.raises(ValueError, match="sees all cards"):
        policy_to_ask("cheat", hand)
    with pytest.raises(ValueError, match="this is no such hand"):
        policy_to_ask("equilibrium:bestia3-tiny", hand)


# All cards open.


def tables_in(page: str) -> dict[int, str]:
    """What stands on the page of each decision with all cards open, by its step."""
    found = re.findall(r'<div class="decision hindsight" data-step="(\d+)" data-open hidden>', page)
    parts = page.split('<div class="decision hindsight"')[1:]
    return {int(step): part.split("</div>")[0] for step, part in zip(found, parts, strict=True)}


def is_in_tricks(record: Record, state: np.ndarray) -> bool:
    return game_named(record.game).phases(state[0].phase).name == "TRICKS"


def numbers_in(text: str) -> list[float]:
    numbers = re.findall(r'class="number">.*?([+−]?\d+\.\d\d)', text)
    return [float(number.replace("−", "-")) for number in numbers]


@pytest.mark.parametrize(
    ("record", "has_blunders"),
    [
        (lambda: a_record("bestia"), True),
        (lambda: a_record("beast"), True),
        (lambda: a_reduced_record("beast2-large"), False),
    ],
)
def test_every_card_has_its_worth_with_all_cards_open(
    record: Callable[[], Record], has_blunders: bool
) -> None:
    hand, all_costs = record(), []
    tables = tables_in(replay_page(hand, hindsights=hindsights(hand)))
    for step, (state, (seat, played)) in enumerate(zip(states(hand), hand.actions, strict=False)):
        if not is_in_tricks(hand, state):
            assert step not in tables
            continue
        worths = [card_values(state, seat, against) for against in AGAINST]
        body, foot = tables[step].split("<tfoot>")
        shown = [worth[card] for card in worths[0] for worth in worths]
        assert numbers_in(body) == pytest.approx(shown, abs=0.0051)
        costs = [max(worth.values()) - worth[played] for worth in worths]
        assert numbers_in(foot) == pytest.approx(costs, abs=0.0051)
        best = [list(worth.values()).count(max(worth.values())) for worth in worths]
        assert body.count(">best</span>") == sum(best)
        all_costs += costs
    assert (max(all_costs) > 0.1) == has_blunders


def test_many_cards_are_not_solved_where_all_may_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.hindsight.MOST_CARDS", 8)
    hand = a_record("bestia", revoke="penalty")
    tables = tables_in(replay_page(hand, hindsights=hindsights(hand)))
    held = {
        step: sum(int(cards).bit_count() for cards in state[0].hands)
        for step, state in enumerate(states(hand))
        if step < len(hand.actions) and is_in_tricks(hand, state)
    }
    assert min(held.values()) <= 8 < max(held.values())
    unsolved = {step for step, table in tables.items() if "is not solved here" in table}
    assert tables.keys() == held.keys()
    assert unsolved == {step for step, count in held.items() if count > 8}


# The command line.


@pytest.fixture
def hands(tmp_path: Path) -> Path:
    write_records(tmp_path / "hands.jsonl", [a_record("bestia"), a_record("beast")])
    return tmp_path / "hands.jsonl"


def test_a_page_is_written_beside_the_hands(hands: Path) -> None:
    main([str(hands), "--hand", "2", "--policies", "random", "--worth", "4", "--seat", "3"])
    page = hands.with_name("hands-2.html").read_text(encoding="utf-8")
    assert "<title>Beast, hand 1</title>" in page
    assert re.search(r'<option value="3" selected>', page)
    assert page.count('class="interval"') > len(a_record("beast").actions)
    assert tables_in(page)
    main(
        [str(hands), "--worth", "0", "--no-solve", "--out", str(hands.parent / "new" / "page.html")]
    )
    bare = (hands.parent / "new" / "page.html").read_text()
    assert 'class="interval"' not in bare and not tables_in(bare)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.jsonl"], "gone.jsonl"),
        (["bad.jsonl"], "bad.jsonl, line 1: this is not JSON"),
        (["none.jsonl"], "none.jsonl holds no hands"),
        (["hands.jsonl", "--hand", "3"], "hand must be an integer from 1 to 2, not 3"),
        (["hands.jsonl", "--seat", "4"], "seat must be an integer from 0 to 3, not 4"),
        (["hands.jsonl", "--worth", "1"], "worth must be 0, or at least 2 worlds, not 1"),
        (["hands.jsonl", "--policies", "nobody"], "unknown policy 'nobody' for bestia"),
        (["hands.jsonl", "--out", "bad.jsonl/x.html"], "bad.jsonl"),
        (["false.jsonl"], "gains must be"),
    ],
)
def test_a_bad_command_line_ends_with_one_line(
    hands: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(hands.parent)
    Path("bad.jsonl").write_text("{nothing}\n")
    Path("none.jsonl").write_text("\n")
    write_records("false.jsonl", [replace(a_record("bestia"), gains=(0, 0, 0, 0))])
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert not list(hands.parent.glob("*.html"))


# In a browser.


@pytest.fixture(scope="module")
def browser() -> Iterator:
    selenium = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        assert not os.environ.get("CI"), "CI installs a browser"
        pytest.skip("chromium and chromedriver are not installed")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = selenium.Chrome(options, selenium.ChromeService(driver))
    found.set_window_size(1280, 900)
    yield found
    found.quit()


def opened(browser, page: str, path: Path) -> None:
    path.write_text(page, encoding="utf-8")
    browser.get(path.as_uri())


def text_of(browser, name: str) -> str:
    return browser.execute_script("return document.getElementById(arguments[0]).innerText", name)


def press(browser, key: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser, duration=0).send_keys(key).perform()


@pytest.mark.parametrize("game", MODULES)
def test_a_hand_is_stepped_through_by_keys(browser, game: str, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    record = a_record(game)
    last = len(record.actions)
    opened(browser, replay_page(record, think(record, players_of(record))), tmp_path / "page.html")
    pictures = [browser.execute_script(PICTURE)]
    for step in range(1, last + 1):
        assert text_of(browser, "count") == f"{step - 1} / {last}"
        assert "bold plays this seat" in browser.execute_script(THOUGHTS)
        press(browser, Keys.ARROW_RIGHT)
        pictures.append(browser.execute_script(PICTURE))
    assert len(set(pictures)) == last + 1
    assert "The hand is over" in text_of(browser, "now")
    assert f"pot\t\t{record.pot_after}" in text_of(browser, "outcome")
    press(browser, Keys.ARROW_RIGHT)
    assert text_of(browser, "count") == f"{last} / {last}"
    press(browser, Keys.ARROW_LEFT)
    assert text_of(browser, "count") == f"{last - 1} / {last}"
    press(browser, Keys.HOME)
    assert text_of(browser, "count") == f"0 / {last}"
    press(browser, Keys.END)
    assert text_of(browser, "count") == f"{last} / {last}"
    browser.find_elements("css selector", "#actions button")[2].click()
    assert text_of(browser, "count") == f"2 / {last}"
    assert browser.get_log("browser") == []


def test_a_seat_is_shown_no_more_than_it_saw(browser, tmp_path: Path) -> None:
    record = a_record("beast")
    opened(browser, replay_page(record, think(record, players_of(record))), tmp_path / "page.html")
    step = next(k for k, step in enumerate(data_in(replay_page(record))["steps"]) if step["hidden"])
    browser.find_elements("css selector", "#actions button")[step].click()
    seen = "return [...document.querySelectorAll('#picture .card')].map(c => c.dataset.seat)"
    choose = "const v = document.getElementById('view'); v.value = arguments[0]; v.onchange()"
    for seat in range(4):
        browser.execute_script(choose, str(seat))
        assert set(browser.execute_script(seen)) - {None} == {str(seat)}
        told = text_of(browser, "now") + text_of(browser, "actions")
        assert ("discards a card" in told) == (seat != record.dealer)
        thoughts = browser.find_elements("css selector", ".decision:not([hidden])")
        assert bool(thoughts) == (seat == record.actions[step][0])
    assert browser.get_log("browser") == []


def test_hindsight_is_shown_with_all_cards_open_alone(browser, tmp_path: Path) -> None:
    record = a_record("bestia")
    found = hindsights(record)
    page = replay_page(record, think(record, players_of(record)), hindsights=found)
    opened(browser, page, tmp_path / "page.html")
    step = next(k for k, hindsight in enumerate(found) if hindsight)
    browser.find_elements("css selector", "#actions button")[step].click()
    choose = "const v = document.getElementById('view'); v.value = arguments[0]; v.onchange()"
    text = "return document.querySelector('.thoughts').innerText"
    for view in ("", "0", "1", "2", "3"):
        browser.execute_script(choose, view)
        assert ("hindsight" in browser.execute_script(text)) == (view == "")
    assert browser.get_log("browser") == []


def test_it_plays_by_itself_to_the_end_and_fits_a_narrow_screen(browser, tmp_path: Path) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    record = replace(a_record("bestia"), players=HOSTILE)
    opened(browser, replay_page(record), tmp_path / "page.html")
    narrow = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    fits = "return document.documentElement.scrollWidth <= innerWidth"
    assert browser.execute_script(fits)
    browser.execute_script("document.querySelector('#pace option').value = 5")
    browser.execute_script("document.getElementById('pace').selectedIndex = 0")
    press(browser, " ")
    last = len(record.actions)
    WebDriverWait(browser, 20).until(lambda _: text_of(browser, "count") == f"{last} / {last}")
    assert browser.find_element("id", "play").get_attribute("aria-label") == "Play"
    assert browser.execute_script(fits)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []
