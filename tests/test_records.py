import copy
import functools
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path
from random import Random

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env import beast_v0, bestia_v0, engine, records
from bestia_env.games import GAMES
from bestia_env.records import (
    MAX_LINE,
    Record,
    append_record,
    check,
    read_records,
    record_hand,
    start,
    states,
    write_records,
)
from tests.sessions import EVERY, Table, random_session, walk

MODULES = {"beast": beast_v0, "bestia": bestia_v0}
SAME = ("gains", "pot", "coins", "tricks", "plays", "hands", "turn", "phase", "hand_number")


def played(
    seed: int, game: str, num_players: int, reduced: bool
) -> list[tuple[np.ndarray, list, np.ndarray]]:
    """The hands of a random session: the state as dealt, the actions, the last state."""
    hands, rng = [], Random(seed)
    table = Table(random_session(rng, game, num_players, reduced=reduced))
    dealt, actions = None, []
    for at in walk(table, rng):
        dealt = at.states.copy() if dealt is None else dealt
        if at.turn >= 0:
            turn = at.turn
            actions.append(turn)
        else:
            pairs = list(zip(actions, at.actions[at.hand], strict=True))
            hands.append((dealt, pairs, at.states.copy()))
            dealt, actions = None, []
    return hands


@functools.cache
def all_hands() -> list[tuple[np.ndarray, list, np.ndarray]]:
    return [hand for seed, table in enumerate(EVERY * 8) for hand in played(seed, *table)]


def a_record(game: str = "bestia", gathered: bool = False) -> Record:
    """One whose actions are many."""
    dealt, actions, _ = max(
        (hand for hand in all_hands() if hand[0].dtype == GAMES[game].dtype),
        key=lambda hand: (gathered and hand[2][0].gathered, len(hand[1])),
    )
    return record_hand(dealt, actions, seed=5)


def tampered(record: Record, **changes) -> str:
    return json.dumps(json.loads(record.to_json()) | changes)


def test_every_hand_comes_back_from_its_line_and_ends_as_it_did() -> None:
    seen = dict.fromkeys(("force", "gathered", "carried", "revoked", "lone", "void"), 0)
    for dealt, actions, last in all_hands():
        record = record_hand(dealt, actions, seed=1, players=["né à"] * dealt[0].num_players)
        line = record.to_json()
        assert "\n" not in line and len(line) < MAX_LINE
        assert Record.from_json(line) == record
        again, s = check(record), last[0]
        for name in SAME:
            assert again[name].tobytes() == last[name].tobytes(), name
        for name in ("play_card", "play_seat"):
            assert again[0][name][: s.plays].tolist() == s[name][: s.plays].tolist()
        seen["carried"] += record.pot > 0
        seen["revoked"] += bool(s.revoked.any())
        seen["void"] += record.pot_after == dealt[0].pot and not s.plays
        if record.game == "bestia":
            seen["force"] += record.opening == "force"
            seen["gathered"] += record.heap is not None
            seen["lone"] += s.playing.item().bit_count() == 1
    assert min(seen.values()) > 0, seen


def test_a_pack_that_is_dealt_as_needed_is_recorded_to_its_last_card() -> None:
    for game, module in MODULES.items():
        env = module.raw_env(num_hands=2)
        env.reset(seed=11)
        deck = record_hand(env.states, []).deck
        assert sorted(deck) == list(range(GAMES[game].pack.size))
        twin = module.raw_env()
        options = {"deck": list(deck), "dealer": int(env.states[0].dealer)}
        twin.reset(seed=12, options=options)
        assert twin.states["hands"].tobytes() == env.states["hands"].tobytes()


def test_states_come_one_after_the_other_and_stay_as_they_were() -> None:
    record = a_record()
    found = list(states(record))
    assert len(found) == len(record.actions) + 1
    assert found[0].tobytes() == start(record).tobytes()
    assert [int(s[0].turn) for s in found[:-1]] == [seat for seat, _ in record.actions]
    assert int(found[-1][0].turn) == -1


def test_a_hand_in_progress_is_recorded_without_an_outcome() -> None:
    whole = a_record("beast")
    part = record_hand(start(whole), whole.actions[:-1])
    assert part.gains is None and part.pot_after is None
    assert int(check(Record.from_json(part.to_json()))[0].turn) >= 0
    with pytest.raises(ValueError, match="gains must be null: the actions do not end the hand"):
        check(replace(part, gains=whole.gains, pot_after=whole.pot_after))
    with pytest.raises(ValueError, match=r"gains must be \[.*\] after these actions, not null"):
        check(replace(whole, gains=None, pot_after=None))


@pytest.mark.parametrize("game", GAMES)
def test_a_false_account_is_refused_in_words(game: str) -> None:
    record = a_record(game)
    n, actions = record.num_players, list(record.actions)
    wrong_seat = [((actions[2][0] + 1) % n, actions[2][1])]
    with pytest.raises(ValueError, match=r"action 3, .* is out of turn: seat . is to act"):
        check(replace(record, actions=(*actions[:2], *wrong_seat, *actions[3:])))
    with pytest.raises(ValueError, match=r"action 1, 2.* is not legal; the legal .* are \w+ \w+"):
        check(replace(record, actions=((actions[0][0], 0), *actions[1:])))
    with pytest.raises(ValueError, match=f"action {len(actions) + 1}, .* after the hand is over"):
        check(replace(record, actions=(*actions, actions[-1])))
    with pytest.raises(ValueError, match="gains must be"):
        check(replace(record, gains=(record.gains[0] + 1, *record.gains[1:])))
    with pytest.raises(ValueError, match="pot_after must be"):
        check(replace(record, pot_after=record.pot_after + 3))
    with pytest.raises(ValueError, match=r"action \d+, .* is not legal"):
        check(replace(record, deck=record.deck[::-1]))


def test_gathered_cards_need_their_order() -> None:
    record = a_record(gathered=True)
    with pytest.raises(ValueError, match="heap must not be null"):
        check(replace(record, heap=None))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "bestia_env hand 2"}, "format must be 'bestia_env hand 1', not 'bestia_env h"),
        ({"game": ["bestia"]}, "game must be one of beast, bestia"),
        ({"num_players": True}, "num_players of bestia must be an integer from 3 to 10, not True"),
        ({"num_players": 11}, "not 11"),
        ({"rules": []}, "rules must be an object of options"),
        ({"rules": {"forced": True}}, "rules: unknown option 'forced'"),
        ({"rules": {"force": 1}}, "rules: force must be one of False, True, not 1"),
        ({"dealer": -1}, "dealer must be an integer from 0"),
        ({"pot": 4}, "multiple of 3, not 4"),
        ({"pot": 3 * 10**18}, "pot must be an integer from 0 to"),
        ({"opening": "full"}, "opening must be one of 'auction', 'force', not 'full'"),
        ({"opening": "force", "rules": {}}, "rules know no force"),
        ({"hand_number": 1.0}, "hand_number must be an integer"),
        ({"coins": [0]}, "coins must have a number for each of"),
        ({"coins": "x"}, "coins must have a number for each of"),
        ({"deck": "Ac 2x"}, "deck: unknown card '2x'"),
        ({"deck": "Ac Ac"}, "deck must have 40 cards, not 2"),
        ({"deck": None}, "deck must be the short names"),
        ({"heap": 3}, "heap must be the short names"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"players": ["a"]}, "players must be null or"),
        ({"players": 3}, "players must be null or"),
        ({"actions": [[0, "KNOCK", 1]]}, r"actions must be pairs \[seat, name\]"),
        ({"actions": [[0, "SHOW"]]}, "one of PASS, KNOCK, REFUSE, EXCHANGE, not 'SHOW'"),
        ({"actions": [[10, "KNOCK"]]}, "the seat of action 1 must be an integer from 0"),
        ({"actions": [[0, "KNOCK"]] * 101}, "actions must be at most 100 pairs"),
        ({"gains": None}, "gains and pot_after must both be null, or neither"),
        ({"pot_after": 0.5}, "pot_after must be an integer"),
        ({"note": 1}, "unknown field 'note'"),
    ],
)
def test_a_field_out_of_range_is_named(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Record.from_json(tampered(a_record(), **changes))


@pytest.mark.parametrize("name", ["", "x" * 301, "a\nb", "\u202eb", "\ud800", 7])
def test_names_are_short_and_printable(name) -> None:
    record = a_record()
    with pytest.raises(ValueError, match="players must have names of 1 to 300 printable"):
        Record.from_json(tampered(record, players=[name] * record.num_players))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not JSON"),
        ("[]", "must be an object"),
        ("{}", "format must be"),
        ('{"format": "bestia_env hand 1"}', "there is no field 'actions'"),
        ('{"format": NaN}', "NaN is not JSON"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 50_000, "nested"),
        (" " * (MAX_LINE + 1), "at most 65536 characters"),
        ('{"pot": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_what_is_no_hand_at_all(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Record.from_json(line)


@functools.cache
def lines() -> list[str]:
    found = a_record("beast"), a_record(), a_record(gathered=True)
    return [record.to_json() for record in found]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.just(10**400)
)
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner),
)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2), st.data())
def test_only_value_errors_come_of_what_strangers_write(hand: int, data: st.DataObject) -> None:
    values = json.loads(lines()[hand])
    name = data.draw(st.sampled_from(sorted(values)))
    whole = values[name]
    if isinstance(whole, list) and data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(whole) - 1))
        item = whole[place]
        into = item if isinstance(item, list) and data.draw(st.booleans()) else whole
        into[0 if into is item else place] = data.draw(GARBAGE)
    else:
        values[name] = data.draw(GARBAGE | st.integers(0, 12))
    try:
        check(Record.from_json(json.dumps(values)))
    except ValueError as error:
        assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2), st.integers(0, 10**4), st.text(max_size=3))
def test_so_with_characters_put_in(hand: int, place: int, text: str) -> None:
    line = lines()[hand]
    place %= len(line)
    try:
        check(Record.from_json(line[:place] + text + line[place + 1 :]))
    except ValueError as error:
        assert str(error)


def test_only_a_state_just_after_the_deal_is_recorded() -> None:
    record = a_record()
    *_, later, _ = states(record)
    with pytest.raises(ValueError, match="dealt must be a state just after the deal"):
        record_hand(later, [])
    with pytest.raises(ValueError, match=r"dealt must be an array \(1,\)"):
        record_hand(np.zeros(1), [])
    with pytest.raises(ValueError, match=r"action 2, .* is out of turn"):
        record_hand(start(record), [record.actions[0], record.actions[0]])


# Files.


def some_records() -> list[Record]:
    return [record_hand(dealt, actions) for dealt, actions, _ in all_hands()[:4]]


def test_a_file_comes_back_whether_written_or_grown(tmp_path: Path) -> None:
    found = some_records()
    write_records(tmp_path / "all", found)
    for record in found:
        append_record(tmp_path / "grown", record)
    assert read_records(tmp_path / "all") == read_records(tmp_path / "grown") == found
    assert (tmp_path / "all").read_bytes() == (tmp_path / "grown").read_bytes()
    write_records(tmp_path / "all", [])
    assert read_records(tmp_path / "all") == []


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    first, second, *_ = some_records()
    write_records(tmp_path / "hands", [first])
    object.__setattr__(second, "dealer", object())
    with pytest.raises(TypeError):
        write_records(tmp_path / "hands", [first, second])
    assert read_records(tmp_path / "hands") == [first]
    assert os.listdir(tmp_path) == ["hands"]


def test_a_line_that_a_crash_broke_off_is_left_out_and_replaced(tmp_path: Path) -> None:
    first, second, third, _ = some_records()
    file, line = tmp_path / "hands", f"{second.to_json()}\n".encode()
    for length in (1, 20, 40, len(line) - 2):
        write_records(file, [first])
        with file.open("ab") as out:
            out.write(line[:length])
        assert read_records(file) == [first]
        append_record(file, third)
        assert read_records(file) == [first, third]
    write_records(file, [first])
    with file.open("ab") as out:
        out.write(line[:-1])
    assert read_records(file) == [first, second]
    append_record(file, third)
    assert read_records(file) == [first, second, third]


def test_a_broken_line_elsewhere_is_named(tmp_path: Path) -> None:
    file = tmp_path / "hands"
    line = some_records()[0].to_json()
    file.write_bytes(f"{line}\n\n{line[:50]}\n{line}\n".encode())
    with pytest.raises(ValueError, match=r"hands, line 3: this is not JSON"):
        read_records(file)
    for content in (b"notes of mine", b"\xff\n", b"x" * (MAX_LINE + 5), line.encode() + b"x"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="hands, line 1: "):
            read_records(file)
    for content in (b"notes of mine", b"x" * (MAX_LINE + 5)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="hands, line last"):
            append_record(file, some_records()[0])
        assert file.read_bytes() == content


def test_a_write_cut_short_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    first, second, *_ = some_records()
    append_record(tmp_path / "hands", first)
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:30]))
    with pytest.raises(OSError, match="could not be written wholly"):
        append_record(tmp_path / "hands", second)
    assert read_records(tmp_path / "hands") == [first]


# At the table.


def step_at_random(env, rng: np.random.Generator) -> None:
    mask = env.observe(env.agent_selection)["action_mask"]
    env.step(int(rng.choice(np.flatnonzero(mask))))


@pytest.mark.parametrize("game", GAMES)
def test_the_table_keeps_the_hand_settled_last(game: str) -> None:
    env = MODULES[game].raw_env(num_hands=6)
    rng = np.random.default_rng(3)
    assert env.record is None and env.last_record is None
    env.reset(seed=4)
    assert env.last_record is None
    settled = 0
    while not any(env.terminations.values()):
        history, number = list(env.history), int(env.states[0].hand_number)
        record = env.record
        assert (list(record.actions), record.hand_number) == (history, number)
        step_at_random(env, rng)
        if env.hand_over:
            settled += 1
            assert env.last_record.hand_number == number
            assert list(env.last_record.actions) == env.last_history
            check(env.last_record)
    assert settled == 6 and env.record is None
    env.reset()
    assert env.last_record is None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("game", GAMES)
def test_copies_keep_their_own_records(game: str, copied) -> None:
    for twin_of in (copied, lambda env: env.clone()):
        env, rng = MODULES[game].raw_env(num_hands=9), np.random.default_rng(3)
        env.reset(seed=4)
        while int(env.states[0].hand_number) < 2 or len(env.history) < 2:
            step_at_random(env, rng)
        record, last = env.record, env.last_record
        twin = twin_of(env)
        while int(env.states[0].hand_number) < 4:
            step_at_random(env, rng)
        assert (twin.record, twin.last_record) == (record, last)
        while not twin.hand_over:
            step_at_random(twin, rng)
        assert check(twin.last_record)[0].hand_number == 2


@pytest.mark.parametrize("game", GAMES)
def test_an_annulled_hand_leaves_no_record(game: str) -> None:
    env, rng = MODULES[game].env(num_hands=3), np.random.default_rng(3)
    env.reset(seed=4)
    while env.unwrapped.last_record is None:
        step_at_random(env, rng)
    mask = env.observe(env.agent_selection)["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert env.unwrapped.last_record is None and env.unwrapped.record is None


def test_the_seat_reaches_the_record_of_its_table() -> None:
    env = gymnasium.make("bestia_env/Bestia-v0").unwrapped
    _, info = env.reset(seed=1)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    check(env.table.last_record)


def test_the_rules_are_read_from_the_state() -> None:
    for seed, (game, num_players, reduced) in enumerate(EVERY * 8):
        options = random_session(Random(seed), game, num_players, reduced=reduced).options
        if game == "beast" and options.get("cards") == num_players + 1:
            options["cards"] = 0  # the same
        rules = GAMES[game].rules(**options)
        assert GAMES[game].rules.read(engine.new_states(game, num_players, rules)[0]) == rules


def test_all_fields_are_documented() -> None:
    for name in json.loads(lines()[0]):
        assert f"| `{name}` |" in records.__doc__
