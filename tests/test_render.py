import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bestia_env import engine
from bestia_env.games import GAMES
from bestia_env.render import render_svg, render_text
from bestia_env.view import look
from tests.sessions import EVERY, Table, members, random_session, walk

ROOT = Path(__file__).resolve().parents[1]


def tables(game, num_players, hands=6, *, reduced=False):
    """A table at every step of random hands of many options, pots and packs."""
    rng = random.Random(f"{game}{num_players}")
    for _ in range(hands):
        session = random_session(rng, game, num_players, num_hands=1, reduced=reduced)
        yield from walk(Table(session), rng)


def row(text, seat):
    """The line of a seat in the table of seats."""
    return next(line for line in text.splitlines() if line.startswith(f"player_{seat} "))


def words(text, game):
    """All card names in an ASCII text."""
    names = {GAMES[game].pack.name(card) for card in range(GAMES[game].pack.size)}
    return names & set(re.split(r"[^0-9A-Za-z_]", text))


def bits_of(cards):
    return sum(1 << card for card in cards)


def laid_away(table, seat):
    """Cards that only this seat knows to be out of play."""
    if table.game.name == "bestia":
        return table.read("thrown")[seat]
    return table.read("discard") if seat == table.read("dealer") else 0


def known(table, seat):
    """What the seat may know, from the full state; nothing of this is asked of the renderer."""
    is_blind = table.phase == "TAKE" and seat == table.read("dealer")
    played = bits_of(table.read("play_card")[: table.read("plays")]) | 1 << table.read("upcard")
    return played | laid_away(table, seat) | (0 if is_blind else table.read("hands")[seat])


def names(table, bits):
    return {table.game.pack.name(card) for card in members(bits)}


def reshuffled(rng, table, seat):
    """The state with all that the seat cannot know drawn anew: cards, and others' penalties."""
    s = table.states.copy()
    in_use = set(members(table.read("in_use")))
    hidden = sorted(in_use - set(members(known(table, seat))))
    rename = dict(zip(hidden, rng.sample(hidden, len(hidden)), strict=True))
    for field in {"hands", "thrown", "discard"} & set(s.dtype.names):
        sets = s[field][0].reshape(-1) if s[field].ndim > 1 else s[field]
        for i, bits in enumerate(sets):
            sets[i] = bits_of(rename.get(card, card) for card in members(int(bits)))
    for field in {"revoked", "breaches"} & set(s.dtype.names):
        for other in set(range(table.session.num_players)) - {seat}:
            s[field][0, other] = rng.randrange(2)
    return s


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_it_fits_a_terminal_at_every_step(game, num_players, reduced):
    for table in tables(game, num_players, reduced=reduced):
        for seat in (None, table.turn if table.turn >= 0 else 0):
            text = render_text(table.states, game, seat, ascii_only=False)
            plain = render_text(table.states, game, seat, ascii_only=True)
            assert max(map(len, text.splitlines())) <= 80, text
            assert plain.isascii()
            assert list(map(len, plain.splitlines())) == list(map(len, text.splitlines()))


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_an_open_table_shows_all_cards(game, num_players, reduced):
    for table in tables(game, num_players, hands=3, reduced=reduced):
        text = render_text(table.states, game, ascii_only=True)
        assert "?" not in text
        for seat, bits in enumerate(table.read("hands")):
            cards = names(table, bits | laid_away(table, seat))
            assert words(row(text, seat), game) == cards


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_a_seat_sees_what_it_may_know_and_nothing_else(game, num_players, reduced):
    rng = random.Random(num_players)
    for table in tables(game, num_players, reduced=reduced):
        seat = rng.randrange(num_players)
        text = render_text(table.states, game, seat, ascii_only=True)
        assert words(text, game) == names(table, known(table, seat))
        other = reshuffled(rng, table, seat)
        assert render_text(other, game, seat, ascii_only=True) == text


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_everybody_can_count_the_cards_of_others(game, num_players, reduced):
    for table in tables(game, num_players, hands=3, reduced=reduced):
        text = render_text(table.states, game, 0, ascii_only=True)
        for seat in range(1, num_players):
            assert row(text, seat).count("??") == len(members(table.read("hands")[seat]))


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_each_trick_goes_to_its_winner(game, num_players, reduced):
    for table in tables(game, num_players, hands=3, reduced=reduced):
        text = render_text(table.states, game, ascii_only=True)
        taken = re.findall(r"^trick .* > player_(\d)$", text, re.MULTILINE)
        assert [taken.count(str(seat)) for seat in range(num_players)] == table.read("tricks")
        so_far = re.findall(r"^trick .* > player_(\d) so far$", text, re.MULTILINE)
        assert so_far == [str(seat) for seat in [table.read("best_seat")] if seat >= 0]


def test_a_seat_knows_its_own_penalties():
    states = engine.new_states("bestia", 3)
    engine.start_sessions(states, np.ones(1, np.uint64), 0, 0)
    states["breaches"][0, 1] = 2
    texts = [render_text(states, "bestia", seat, ascii_only=True) for seat in range(3)]
    assert ["penalties x P  1:2" in text for text in texts] == [False, True, False]


@pytest.mark.parametrize("game", GAMES)
def test_an_annulled_hand_has_no_winner(game):
    for table in tables(game, 4, hands=3):
        if table.turn >= 0:
            states = table.states.copy()
            engine.annul_hand(states, 0)
            assert "\nannulled\n" in render_text(states, game)


def test_a_view_shows_what_its_viewer_may_know():
    states = engine.new_states("beast", 4)
    engine.start_sessions(states, np.ones(1, np.uint64), 0, 0)
    view = states.copy()
    look(states, 0, 2, view, 0)
    assert render_text(view, "beast") == render_text(states, "beast", 2)


SCRIPT = """
import numpy as np
from bestia_env.engine import new_states, start_sessions
from bestia_env.render import render_svg, render_text
from bestia_env.view import look
for game in ("beast", "bestia"):
    states = new_states(game, 4)
    start_sessions(states, np.ones(1, np.uint64), 0, 0)
    print(render_text(states, game, 0))
"""


@pytest.mark.parametrize(
    ("encoding", "symbols"), [("ascii", False), ("cp1252", False), ("utf-8", True)]
)
def test_symbols_only_where_the_terminal_can_show_them(encoding, symbols):
    out = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    ).stdout.decode(encoding)
    assert ("▒▒" in out, "??" in out) == (symbols, not symbols)
    assert ("◄" in out, "<" in out) == (symbols, not symbols)
    assert out.isascii() is not symbols


@pytest.mark.parametrize(
    ("game", "seat", "message"),
    [
        *(
            ("beast", x, f"from 0 to 3, not {re.escape(repr(x))}")
            for x in (4, -1, True, 1.0, "0", ())
        ),
        ("bestia", 0, "state must hold a record of bestia"),
        ("bridge", 0, "game must be one of beast, bestia, not 'bridge'"),
    ],
)
def test_what_cannot_be_shown_is_refused(game, seat, message):
    with pytest.raises(ValueError, match=message):
        render_text(engine.new_states("beast", 4), game, seat)


def test_only_one_state_with_a_name_for_each_seat_is_shown():
    states = engine.new_states("beast", 4, None, 2)
    for odd in (states, states[:0], states[0], [1], None):
        with pytest.raises(ValueError, match=r"state must be an array of shape \(1,\)"):
            render_text(odd, "beast")
    for names in (5, "abcd", ["a"], iter("abcd")):
        with pytest.raises(ValueError, match="names must be 4, one for each seat"):
            render_svg(states[:1], "beast", names=names)
