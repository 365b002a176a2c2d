import json
import math
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agents.policies import parse_policy
from agents.worlds import draw_worlds
from bestia_env.games import GAMES
from bestia_env.records import Record, check
from bestia_env.rules.bestia import BestiaRules
from bestia_env.view import look
from experiments.play import advising, app, settings, tables
from experiments.play.shown import shown
from tests.sessions import OPTIONS, members

ROOT = Path(__file__).resolve().parents[2]
ALL_TABLES = [("beast", 4), ("beast", 6), ("bestia", 3), ("bestia", 4), ("bestia", 10)]
ENDPOINTS = ("act", "next", "others", "advice")


@pytest.fixture
def play(tmp_path):
    return Play(tmp_path)


class Play:
    """A browser, more or less."""

    def __init__(self, folder, most=tables.MAX_IN_MEMORY):
        self.folder = folder
        self.tables = tables.Tables(folder, most)
        self.client = app.create_app(self.tables).test_client()

    def post(self, path, message, **more):
        return self.client.post(path, json=message, **more)

    def set_up(self, game="bestia", num_players=4, **more):
        answer = self.post("/api/tables", message(game, num_players, **more))
        assert answer.status_code == 201, answer.json
        return At(self, answer.json["name"])


class At:
    """A table in the browser."""

    def __init__(self, play, name):
        self.play, self.name, self.api = play, name, f"/api/tables/{name}"

    def get(self):
        return self.ok(self.play.client.get(self.api))

    def send(self, path, **message):
        return self.play.post(f"{self.api}/{path}", message)

    def ok(self, answer):
        assert answer.status_code == 200, answer.json
        return answer.json

    def to_me(self):
        """Let the others act."""
        return self.ok(self.send("others", seen=self.get()["seen"]))

    def go_on(self, state, rng):
        """One thing that the person can do."""
        if state["over"]:
            return self.ok(self.send("next", seen=state["seen"]))
        action = rng.choice(state["actions"])["action"]
        return self.ok(self.send("act", seen=state["seen"], action=action))

    def session(self):
        return self.play.tables.seated(self.name)


def message(game="bestia", num_players=4, **more):
    usual = {"name": "Ann", "rules": {}, "seed": 7, "pot": 0}
    policies = ["random"] * (num_players - 1)
    return {"game": game, "num_players": num_players, "policies": policies, **usual, **more}


def options(rng, game):
    """Random options of the rules."""
    return {name: rng.choice(values) for name, values in OPTIONS[game].items()}


# Whole hands.


@pytest.mark.parametrize(("game", "num_players"), ALL_TABLES)
def test_hands_are_played_to_their_end_and_their_records_are_right(play, game, num_players):
    rng = random.Random(f"{game}{num_players}")
    for seed in range(2):
        rules = options(rng, game)
        table = play.set_up(game, num_players, seed=seed, rules=rules, pot=6)
        state = table.to_me()
        while len(state["paid"]) < 3 or not state["over"]:
            state = table.go_on(state, rng)
            assert state["over"] == (not state["actions"])
        lines = play.client.get(f"/table/{table.name}/hands.jsonl").text.splitlines()
        records = [Record.from_json(line) for line in lines]
        last = [check(record) for record in records][-1]
        coins = [sum(gains) for gains in zip(*(paid["gains"] for paid in state["paid"]))]
        assert coins == state["frames"][-1]["coins"] == last[0].coins[:num_players].tolist()
        assert [list(record.gains) for record in records] == [p["gains"] for p in state["paid"]]
        assert sum(paid["equity"] for paid in state["paid"]) == pytest.approx(
            coins[0] + (last[0].pot - 6) / num_players
        )
        one = play.client.get(f"/table/{table.name}/hands/2.json")
        assert one.text == lines[1] + "\n"
        assert one.headers["Content-Disposition"].startswith("attachment")
        assert records[0].players == ("Ann", *["random"] * (num_players - 1))


def test_a_hand_that_is_over_is_downloaded_as_a_page_that_needs_no_server(play):
    table = play.set_up()
    state = table.to_me()
    while not state["over"]:
        state = table.go_on(state, random.Random(1))
    page = play.client.get(f"/table/{table.name}/hands/1.html")
    assert page.headers["Content-Disposition"].startswith("attachment")  # so it runs nothing here
    assert page.text.startswith("<!doctype html>")
    assert "Ann" in page.text


def test_the_same_seed_gives_the_same_deals_and_no_two_fresh_ones_do(play):
    def picture(seed):
        return play.set_up("beast", seed=seed, policies=["trained"] * 3).to_me()["frames"]

    assert picture(3) == picture(3)
    assert picture(3) != picture(4)
    assert picture(None) != picture(None)


@pytest.mark.parametrize("game", GAMES)
def test_a_restart_loses_nothing_at_any_moment(tmp_path, game):
    rng = random.Random(game)
    table = Play(tmp_path).set_up(game, policies=["trained", "bold", "threshold:0.5"])
    state = table.to_me()
    for _ in range(25):
        again = At(Play(tmp_path), table.name)
        found = again.get()
        assert found.pop("frames") == state.pop("frames")[-1:]
        assert found == state
        state = again.go_on(found, rng)


def test_two_servers_on_one_folder_see_what_the_other_did(tmp_path):
    table = Play(tmp_path).set_up()
    both, state = [At(Play(tmp_path), table.name) for _ in range(2)], table.to_me()
    for turn in range(10):
        assert both[turn % 2].get()["seen"] == state["seen"]
        state = both[turn % 2].go_on(state, random.Random(turn))


def test_every_frame_tells_one_action_and_frames_go_on_where_the_last_ended(play):
    table = play.set_up("bestia", 10)
    state, rng = table.to_me(), random.Random(5)
    for _ in range(30):
        before = state["seen"]
        state = table.go_on(state, rng)
        lines = [frame["lines"] for frame in state["frames"]]
        assert len(lines) == state["seen"] - before
        assert sorted(set(lines)) == lines
        assert lines[-1] == len(state["log"])


def test_all_rules_in_the_form_are_what_the_games_take(play):
    for name, game in play.client.get("/api/choices").json.items():
        rules = GAMES[name].rules
        assert {option["name"] for option in game["options"]} == set(rules.__dataclass_fields__)
        for option in game["options"]:
            assert option["meaning"]
            assert option["default"] == getattr(rules(), option["name"])
            values = option["values"] or [option["default"]]
            assert values[0] == option["default"]
            for value in values:
                rules(**{option["name"]: value})
        for policy in game["policies"]:
            play.set_up(name, policies=[policy["spec"]] * 3)
    circle = play.client.get("/api/choices").json["bestia"]["presets"][1]["rules"]
    assert BestiaRules(**circle) == BestiaRules.circle()


# Twice, late, and at once.


def test_an_action_sent_twice_or_late_is_not_played_twice(play):
    table = play.set_up()
    state, rng = table.to_me(), random.Random(1)
    for _ in range(20):
        path, more = "next", {}
        if not state["over"]:
            path, more = "act", {"action": rng.choice(state["actions"])["action"]}
        after = table.ok(table.send(path, seen=state["seen"], **more))
        for path, more in (("act", {"action": 41}), ("next", {}), ("others", {}), ("advice", {})):
            late = table.send(path, seen=state["seen"], **more)
            assert late.status_code == 409
            assert late.json["state"] == {**after, "frames": after["frames"][-1:]}
            assert "moved on" in late.json["error"]
        state = after


def test_what_the_moment_does_not_allow_is_refused_with_the_state(play):
    table = play.set_up("beast", seed=3)
    state = table.get()
    assert not state["actions"]
    for path, more in (("act", {"action": 54}), ("next", {}), ("advice", {})):
        answer = table.send(path, seen=0, **more)
        assert answer.status_code == 409
        assert answer.json["state"] == state
    state = table.to_me()
    assert table.send("next", seen=state["seen"]).status_code == 409
    while not state["over"]:
        state = table.go_on(state, random.Random(1))
    answer = table.send("act", seen=state["seen"], action=0)
    assert answer.status_code == 409
    assert "begin the next" in answer.json["error"]


def test_of_many_threads_that_send_the_same_action_one_is_heard(play):
    table = play.set_up()
    state, rng = table.to_me(), random.Random(2)
    with ThreadPoolExecutor(6) as pool:
        for _ in range(15):
            path = "next" if state["over"] else "act"
            more = {} if state["over"] else {"action": rng.choice(state["actions"])["action"]}
            barrier = threading.Barrier(6)

            def send(path=path, more=more, seen=state["seen"], barrier=barrier):
                client = play.client.application.test_client()
                barrier.wait()
                return client.post(f"{table.api}/{path}", json={"seen": seen, **more})

            answers = [job.result() for job in [pool.submit(send) for _ in range(6)]]
            assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
            state = next(answer.json for answer in answers if answer.status_code == 200)


def test_several_tables_at_once_play_as_each_alone(tmp_path):
    def session(play, seed):
        table = play.set_up("bestia" if seed % 2 else "beast", seed=seed)
        rng, state = random.Random(seed), table.to_me()
        for _ in range(20):
            state = table.go_on(state, rng)
        return state

    alone = [session(Play(tmp_path), seed) for seed in range(6)]
    crowded = Play(tmp_path, most=2)  # so that tables leave memory all the time
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda seed: session(At_once(crowded), seed), range(6)))
    assert together == alone
    assert len(crowded.tables._slots) <= 2


class At_once(Play):
    """Another browser at the same server."""

    def __init__(self, other):
        self.tables, self.client = other.tables, other.client.application.test_client()


# Hidden information.


def knowledge(session):
    """The cards that the person may know, from the full state."""
    s, game = session.states[0], session.game
    cards = {int(s.upcard), *s.play_card[: s.plays].tolist()}
    if game.name == "bestia":
        return cards | set(members(int(s.hands[0]))) | set(members(int(s.thrown[0])))
    if s.dealer != 0:
        return cards | set(members(int(s.hands[0])))
    is_blind = game.phases(s.phase).name == "TAKE"
    return cards | set(() if is_blind else members(int(s.hands[0]) | int(s.discard)))


def names(text, pack):
    """The cards that a text names in any way."""
    found = set(map(int, re.findall(r'data-card=\\?"(\d+)', text)))
    words = {*re.findall(r"[#\w]+[♣♦♥♠]?", text), *re.findall(r"\w+ (?:of|di) \w+", text)}
    for card in range(pack.size):
        if words & {pack.name(card), pack.symbol(card), pack.long_name(card)}:
            found.add(card)
    return found


@pytest.mark.parametrize(("game", "num_players"), ALL_TABLES)
def test_no_card_that_the_seat_cannot_know_goes_over_the_wire(play, game, num_players):
    rng = random.Random(f"{game} {num_players}")
    seen = 0
    for seed in range(2):
        rules = options(rng, game)
        table = play.set_up(game, num_players, seed=seed, rules=rules)
        state = table.to_me()
        for _ in range(15):
            if not state["over"]:
                with table.session() as session:
                    known = knowledge(session)
                told = names(json.dumps(state, ensure_ascii=False), session.game.pack)
                assert told <= known
                seen += told == known
            state = table.go_on(state, rng)
    assert seen > 10  # the test does see cards


@pytest.mark.parametrize(("game", "num_players"), ALL_TABLES)
def test_whatever_the_hidden_cards_are_the_browser_gets_the_same(play, game, num_players):
    rng = random.Random(num_players)
    table = play.set_up(game, num_players)
    state = table.to_me()
    for _ in range(12):
        if not state["over"]:
            with table.session() as session:
                told, true = shown(session), session.states.copy()
                for world in draw_worlds(view_of(session), 3, rng.randrange(1000)):
                    session.states[0] = world
                    assert shown(session) == told
                session.states[:] = true
        state = table.go_on(state, rng)


def view_of(session):
    views = np.empty_like(session.states)
    look(session.states, 0, 0, views, 0)
    return views


def test_the_seed_of_the_deals_is_not_told(play):
    table = play.set_up(seed=8_123_456_789)
    state = table.to_me()
    for _ in range(12):
        state = table.go_on(state, random.Random(0))
    urls = (table.api, f"/table/{table.name}", f"/table/{table.name}/hands.jsonl")
    assert not any("8123456789" in play.client.get(url).text for url in urls)


# Advice.


@pytest.mark.parametrize(
    ("game", "num_players", "adviser"),
    [("beast", 4, "beast-4"), ("bestia", 4, "bestia-4"), ("bestia", 9, "sound")],
)
def test_advice_is_on_every_legal_action_and_from_the_view_alone(
    play, monkeypatch, game, num_players, adviser
):
    asked, answer = [], advising.answer
    monkeypatch.setattr(
        advising, "answer", lambda question: asked.append(question) or answer(question)
    )
    table = play.set_up(game, num_players)
    state = table.to_me()
    advice = table.ok(table.send("advice", seen=state["seen"]))
    assert advice["policy"] == adviser
    assert sorted(row["action"] for row in advice["actions"]) == [
        action["action"] for action in state["actions"]
    ]
    assert sum(row["chance"] for row in advice["actions"]) == pytest.approx(1)
    worths = [row["worth"]["mean"] for row in advice["actions"]]
    assert worths == sorted(worths, reverse=True)
    with table.session() as session:
        assert asked[0].view.tobytes() == view_of(session).tobytes()
    assert table.ok(table.send("advice", seen=state["seen"])) == advice
    assert table.get()["seen"] == state["seen"]


# What is malformed.

WRONG_SETTINGS = [
    ({"game": "whist"}, "game", "'whist'"),
    ({"game": 3}, "game", "3"),
    ({"num_players": 11}, "num_players", "11"),
    ({"num_players": True}, "num_players", "True"),
    ({"num_players": "4"}, "num_players", "'4'"),
    ({"name": ""}, "name", "''"),
    ({"name": "x" * 21}, "name", "printable"),
    ({"name": "a\nb"}, "name", r"a\nb"),
    ({"name": "\ud800"}, "name", r"\ud800"),
    ({"policies": ["random"] * 2}, "policies", "not 2"),
    ({"policies": ["random", 3, "random"]}, "policies.1", "3"),
    ({"policies": ["random", "random", "genius"]}, "policies.2", "'genius'"),
    ({"policies": ["random", "cheat", "random"]}, "policies.1", "sees all cards"),
    (
        {"policies": ["random", "equilibrium:bestia3-tiny"], "num_players": 3},
        *("policies.1", "no such hand"),
    ),
    ({"policies": ["threshold:7", "random", "random"]}, "policies.0", "'7'"),
    ({"policies": ["net:no.safetensors", "random", "random"]}, "policies.0", "no.safetensors"),
    ({"policies": ["net:\0.safetensors", "random", "random"]}, "policies.0", "null"),
    ({"policies": ["net:\ud800.safetensors", "random", "random"]}, "policies.0", ""),
    ({"policies": ["net:/etc/passwd", "random", "random"]}, "policies.0", ".safetensors"),
    ({"policies": ["x" * 201, "random", "random"]}, "policies.0", "200"),
    ({"policies": {}}, "policies", "a list"),
    ({"rules": []}, "rules", "an object"),
    ({"rules": {"stake": 4}}, "rules.stake", "multiple of 3"),
    ({"rules": {"stake": "3"}}, "rules.stake", "'3'"),
    ({"rules": {"force": 1}}, "rules.force", "1"),
    ({"rules": {"maxims": "all"}}, "rules.maxims", "'all'"),
    ({"rules": {"match_limit": 10**30}}, "rules.match_limit", "1000000000000"),
    ({"rules": {"luck": True}}, "rules.luck", "'luck'"),
    ({"rules": {"stake": [[[[[[[[3]]]]]]]]}}, "rules.stake", "["),
    ({"seed": -1}, "seed", "-1"),
    ({"seed": 2**53}, "seed", "9007199254740991"),
    ({"seed": 1.5}, "seed", "1.5"),
    ({"seed": "x"}, "seed", "'x'"),
    ({"pot": 4}, "pot", "4"),
    ({"pot": -3}, "pot", "-3"),
    ({"pot": 3 * 10**12}, "pot", "3000000000000"),
    ({"pot": None}, "pot", "None"),
    ({"colour": "red"}, None, "'colour'"),
]


@pytest.mark.parametrize(("more", "field", "words"), WRONG_SETTINGS)
def test_wrong_settings_are_refused_in_place(play, more, field, words):
    answer = play.post("/api/tables", {**message(), **more})
    assert answer.status_code == 400
    assert answer.json["field"] == field
    assert words in answer.json["error"]
    assert len(answer.json["error"]) < 500
    assert not list(play.folder.iterdir())


def test_a_trained_policy_is_not_offered_where_there_is_none(play):
    answer = play.post("/api/tables", message("bestia", 9, policies=["trained"] * 8))
    assert answer.status_code == 400
    assert "bestia-4" in answer.json["error"]


@pytest.mark.parametrize("path", ["", *(f"/NAME/{end}" for end in ENDPOINTS)])
@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"3", b"null", b'"act"', b"\xff\xfe", b"[" * 60_000),
        *(b'{"seen": 1', b'{"seen": NaN}', b'{"seen": ' + b"1" * 5000 + b"}", b'{"a": {}}'),
        *(b'{"seen": true, "action": 1}', b'{"seen": 1.0, "action": 1}', b'{"action": 1}'),
    ],
)
def test_what_is_no_message_gets_an_error_in_json(play, path, content):
    name = play.set_up().name
    answer = play.client.post(
        "/api/tables" + path.replace("NAME", name), data=content, content_type="application/json"
    )
    assert answer.status_code == 400
    assert answer.json["error"]


def test_an_action_that_is_not_legal_changes_nothing(play):
    table = play.set_up()
    state = table.to_me()
    for action, words in (
        (0, "PASS KNOCK"),
        (99, "99"),
        (-1, "-1"),
        (10**40, "1000"),
        (42, "PASS"),
    ):
        answer = table.send("act", seen=state["seen"], action=action)
        assert answer.status_code == 400
        assert answer.json["field"] == "action"
        assert words in answer.json["error"]
    assert table.get()["seen"] == state["seen"]


def test_types_sizes_and_methods_are_checked(play):
    table = play.set_up()
    path = f"{table.api}/others"
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        answer = play.client.post(path, data=b'{"seen": 0}', content_type=kind)
        assert answer.status_code == 415
        assert "application/json" in answer.json["error"]
    answer = play.client.post(path, data=b" " * 65_537, content_type="application/json")
    assert answer.status_code == 413
    assert "65536" in answer.json["error"]
    for method, place in (("GET", path), ("PUT", table.api), ("DELETE", "/api/tables")):
        answer = play.client.open(place, method=method)
        assert answer.status_code == 405
        assert answer.json["error"]
        assert answer.headers["Allow"]


@pytest.mark.parametrize("name", ["0" * 16, "x", "..", "%2e%2e%2fsecret", "A" * 16, "é", "0" * 999])
def test_tables_that_there_are_not_are_not_found(play, name):
    (play.folder / "secret.json").write_text("{}")
    for path in (f"/api/tables/{name}", f"/table/{name}", f"/table/{name}/hands.jsonl"):
        answer = play.client.get(path)
        assert answer.status_code == 404
    for end in ENDPOINTS:
        answer = play.post(f"/api/tables/{name}/{end}", {"seen": 0, "action": 0})
        assert answer.status_code in (400, 404)
    assert not play.tables._slots


@pytest.mark.parametrize("number", ["0", "1", "-1", "x", "1e3", "²", "9" * 30])
def test_hands_that_are_not_over_are_not_found(play, number):
    table = play.set_up()
    for ending in ("json", "html"):
        answer = play.client.get(f"/table/{table.name}/hands/{number}.{ending}")
        assert answer.status_code == 404
    assert play.client.get(f"/table/{table.name}/hands.jsonl").text == ""


def test_pages_elsewhere_cannot_act(play):
    table = play.set_up()
    path, seen = f"{table.api}/others", {"seen": 0}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "https://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert play.post(path, seen, headers=headers).status_code == 403
    assert table.get()["seen"] == 0
    headers = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert play.post(path, seen, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[::2]", "[", "", "a b"]
)
def test_other_names_for_this_machine_are_refused(play, host):
    for path in ("/", "/api/choices", "/static/table.js"):
        with play.client.get(path, headers={"Host": host}) as answer:
            assert answer.status_code in (400, 403)


def test_loopback_names_are_served_and_any_name_if_so_wanted(play):
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"):
        assert play.client.get("/", headers={"Host": host}).status_code == 200
    open_to_all = app.create_app(play.tables, hosts=None).test_client()
    assert open_to_all.get("/", headers={"Host": "table.example"}).status_code == 200


def test_nothing_that_is_sent_harms_the_server(play):
    rng = random.Random(11)
    table = play.set_up("beast")
    good = [message(), {"seen": 0}, {"seen": 1, "action": 52}]
    for _ in range(400):
        sent = mutated(rng, rng.choice(good))
        path = rng.choice(["", *(f"/{table.name}/{end}" for end in ENDPOINTS)])
        answer = play.client.post(
            f"/api/tables{path}", data=json.dumps(sent), content_type="application/json"
        )
        assert answer.status_code in (200, 201, 400, 409), (sent, answer.json)
    table.get()


def mutated(rng, sent):
    """The message with something in it replaced."""
    odd = [
        None,
        True,
        -1,
        0,
        1e300,
        10**400,
        "",
        "x",
        "\udfff",
        [],
        {},
        [[]],
        {"": None},
        "9" * 300,
    ]
    if isinstance(sent, dict) and sent and rng.random() < 0.9:
        key = rng.choice(list(sent))
        return {**sent, key: mutated(rng, sent[key])}
    if isinstance(sent, list) and sent and rng.random() < 0.9:
        place = rng.randrange(len(sent))
        return [*sent[:place], mutated(rng, sent[place]), *sent[place + 1 :]]
    return rng.choice(odd)


# Pages.


def test_every_answer_forbids_what_the_page_does_not_need(play):
    table = play.set_up()
    for path in ("/", f"/table/{table.name}", table.api, "/nowhere", "/static/table.js", "/api/x"):
        with play.client.get(path) as answer:
            headers = answer.headers
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_what_was_typed_is_no_html(play):
    evil = "<b onclick=x>&\"'"
    table = play.set_up(name=evil, policies=["random", "threshold:0.5", "random"])
    page = play.client.get(f"/table/{table.name}").text
    assert "<b onclick" not in page
    assert "&lt;b onclick" in page
    assert "<b onclick" not in table.to_me()["frames"][-1]["svg"]
    missing = play.client.get("/table/<script>alert(1)</script>")
    assert missing.status_code == 404
    assert "<script>alert" not in missing.text


def test_pages_ask_nobody_else_for_anything(play):
    folder = Path(app.__file__).parent
    files = [*folder.glob("static/*"), *folder.glob("templates/*")]
    assert len(files) > 6
    for file in files:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|style=|<script>|\son\w+=|innerHTML", text), file


# Files.


def test_a_damaged_file_is_said_to_be_so_and_harms_no_other_table(tmp_path):
    table, other = Play(tmp_path).set_up(), Play(tmp_path).set_up()
    path = tmp_path / f"{table.name}.json"
    whole = json.loads(path.read_text())
    for content in (
        *("", "{", "[]", "{}", json.dumps(whole)[:-20], json.dumps({**whole, "format": "x"})),
        json.dumps({**whole, "hands": [[0]]}),
        json.dumps({**whole, "hands": [[40], [40]]}),
        json.dumps({**whole, "hands": [3]}),
        *(json.dumps({**whole, "hands": [[x]]}) for x in ("PASS", "40", 40.0, math.inf, True)),
        json.dumps({**whole, "settings": {**whole["settings"], "seed": None}}),
        json.dumps({**whole, "settings": {**whole["settings"], "num_players": 99}}),
    ):
        path.write_text(content)
        answer = Play(tmp_path).client.get(table.api)
        assert answer.status_code == 410
        assert f"table {table.name} is damaged" in answer.json["error"]
        At(Play(tmp_path), other.name).get()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_file_that_never_ends_or_never_begins_is_refused_at_once(tmp_path):
    play = Play(tmp_path)
    table = play.set_up()
    path = tmp_path / f"{table.name}.json"
    pipe, zeros, nets = tmp_path / "pipe", tmp_path / "zeros", tmp_path / "net.safetensors"
    os.mkfifo(pipe)
    os.mkfifo(nets)
    zeros.symlink_to("/dev/zero")
    for odd in (pipe, zeros):
        path.unlink()
        path.symlink_to(odd)
        assert play.client.get(table.api).status_code == 503
    for spec in (f"rule:{pipe}", f"rule:{zeros}", "rule:/dev/zero", f"rule:{tmp_path}"):
        with pytest.raises(ValueError, match="cannot read a rule"):
            parse_policy(spec, "bestia", 4)
    with pytest.raises(ValueError, match="no plain file"):
        parse_policy(f"net:{nets}", "bestia", 4)


def test_a_file_named_as_a_rule_is_not_shown_to_whoever_named_it(play, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0")
    answer = play.post("/api/tables", message("bestia", 4, policies=[f"rule:{secret}"] * 3))
    assert answer.status_code == 400
    assert answer.json["field"] == "policies.0"
    assert "x:0:0" not in answer.text


def test_what_cannot_be_written_has_not_happened(play, monkeypatch):
    table = play.set_up()
    state = table.to_me()

    def fail(path, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tables, "write_whole", fail)
        answer = table.send("act", seen=state["seen"], action=41)
        assert answer.status_code == 503
        assert "No space left" in answer.json["error"]
    assert table.get()["seen"] == state["seen"]
    assert table.send("act", seen=state["seen"], action=41).status_code == 200


def test_a_policy_that_is_gone_stops_the_table_and_says_so(play, monkeypatch):
    def gone(*_):
        raise ValueError("gone")

    table = play.set_up()
    state = table.to_me()
    again = At(Play(play.folder), table.name)
    with monkeypatch.context() as patch:
        patch.setattr(
            settings, "parse_policy", lambda *_: (_ for _ in ()).throw(ValueError("gone"))
        )
        answer = again.send("act", seen=state["seen"], action=41)
        assert (answer.status_code, answer.json["error"]) == (400, "gone")
    assert again.get()["seen"] == state["seen"]
    again.ok(again.send("act", seen=state["seen"], action=41))


# The command line.


def run(*arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "experiments.play", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background may have interrupts ignored, and its children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )


def test_a_busy_port_is_one_clear_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        with run("--port", port, "--folder", str(tmp_path)) as server:
            out, err = server.communicate(timeout=60)
    assert server.returncode == 2
    assert out == ""
    assert err.splitlines() == [
        f"error: port {port} is in use: choose another by --port, or 0 for any free one"
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--port", "70000"), "port must be an integer from 0 to 65535"),
        (("--host", "no.such.host.invalid", "--port", "0"), "no.such.host.invalid"),
        (("--folder", "/dev/null/x"), "/dev/null/x"),
    ],
)
def test_wrong_arguments_are_one_clear_line(tmp_path, arguments, words):
    with run("--folder", str(tmp_path), *arguments) as server:
        _, err = server.communicate(timeout=60)
    assert server.returncode == 2
    assert len(err.splitlines()) == 1
    assert words in err


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_it_serves_until_it_is_interrupted(tmp_path, host):
    with run("--port", "0", "--host", host, "--folder", str(tmp_path)) as server:
        first = server.stdout.readline()
        port = int(re.search(r":(\d+)/$", first)[1])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b"200 OK" in b"".join(iter(lambda: client.recv(4096), b""))
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    assert server.returncode == 0
    assert out.endswith("ended\n")
    assert err.startswith("warning: 0.0.0.0 is no loopback address") == (host == "0.0.0.0")
    assert len(err.splitlines()) == (host == "0.0.0.0")
