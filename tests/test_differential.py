"""Thousands of random hands through the engine and the referee; see tests/differential.py."""

from collections import Counter
from random import Random

import pytest

from tests import differential
from tests.differential import Match, Mismatch, difference, play_random
from tests.referee import BestiaReferee
from tests.sessions import REDUCED, TABLES, Session

SESSIONS = {"beast": 180, "bestia": 110}  # at each table


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("game", SESSIONS)
def test_engine_and_referee_agree(game: str, reduced: bool) -> None:
    rng, tables = Random(5), [n for name, n in (REDUCED if reduced else TABLES) if name == game]
    least, number, seen = SESSIONS[game] * len(tables), 0, Counter[str]()
    while number < least or not all(seen.values()):
        n = tables[number % len(tables)]
        seen.update(play_random(rng, game, n, reduced=reduced).kinds)
        number += 1
        assert number < 20 * least, f"not everything was seen: {seen}"


class Lenient(BestiaReferee):
    """A wrong referee: nobody pays for taking no trick."""

    def _bete(self) -> list[int]:
        return []


def test_a_difference_is_cut_down_and_can_be_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(differential.REFEREES, "bestia", Lenient)
    with pytest.raises(Mismatch) as caught:
        for seed in range(20):
            play_random(Random(seed), "bestia", 5)
    told, _, line = str(caught.value).partition("replay(")
    assert "after: engine" in told
    session = eval(line.removesuffix(")"), {"Session": Session})
    assert len(session.options) < 3 and len(session.decks) == len(session.actions) == 1
    assert "settlement" in (difference(session) or "")
    monkeypatch.undo()
    assert difference(session) is None


def test_a_wrong_seat_or_card_is_a_difference() -> None:
    for field, value in (("turn", 2), ("pot", 10), ("trump", 3), ("hands", [7, 0, 0, 0, 0, 0])):
        match = Match(Session("beast", 4, {}, 0, 0, [list(range(52))], [list(range(52))]))
        match.engine.states[field][0] = value
        with pytest.raises(Mismatch, match=field):
            match.play(lambda match, legal: legal[0])
