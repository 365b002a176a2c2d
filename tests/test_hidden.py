"""What a seat cannot know never shows, and what it does know shows.

A world is a session with its packs, heaps and actions. Two worlds are alike to a seat if it has
seen the same: the same public acts and cards played, and the same cards in its own hand. From a
random moment of random play the cards are re-dealt into another world that is alike to the seat,
and everything that the seat gets must be the same to the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from random import Random
from typing import Any

import numpy as np
import pytest

from bestia_env.observe import write_observation
from bestia_env.rules import beast, bestia
from bestia_env.rules.table import NO_CARD
from bestia_env.words import describe
from tests.sessions import EVERY, TABLES, Session, Table, random_session, walk

PROPOSALS = 40  # swaps of cards for a new world; those that the seat would notice are dropped
SECRETS = ("hands", "revoked", "pack", "key", "rng", "settled")
SECRETS_OF = {"beast": (*SECRETS, "discard"), "bestia": (*SECRETS, "thrown", "breaches", "heap")}


def learnt(table: Table, seat: int) -> tuple[Any, ...]:
    """What the seat sees at a moment; everybody's gains once the hand is settled."""
    own = table.read("hands")[seat]
    if table.phase == "TAKE" and table.turn == seat:
        own = None  # B-06
    settled = (table.read("gains"), table.read("pot")) if table.turn < 0 else None
    return table.hand, table.turn, table.phase, table.read("upcard"), own, settled


def heard(table: Table, seat: int, action: int) -> int | None:
    """What the seat learns of an action; others' discards are face down (B-07)."""
    return None if table.phase == "DISCARD" and table.turn != seat else action


def story(table: Table, actions: list[list[int]], seat: int) -> Iterator[tuple[Any, ...]]:
    """All that a seat learns while the actions are carried out; ends at one that is illegal."""
    for hand, played in enumerate(actions):
        if hand:
            table.deal_next()
        yield learnt(table, seat)
        for action in played:
            if table.turn < 0 or action not in table.legal():
                return
            yield (heard(table, seat, action),)
            table.act(action)
            yield learnt(table, seat)


def play_a_while(rng: Random, game: str, num_players: int, reduced: bool = False) -> Table:
    """Random play up to a random moment of the first or second hand."""
    table = Table(random_session(rng, game, num_players, num_hands=2, reduced=reduced))
    moment = rng.randrange(50 if game == "beast" else 7 * num_players)
    for move, _ in enumerate(walk(table, rng)):
        if move == moment:
            break
    return table


def told_alike(session: Session, seat: int, known: list[tuple[Any, ...]]) -> bool:
    """Does the seat learn just the same in this world?"""
    told = story(Table(session), session.actions, seat)
    return all(a == b for a, b in zip_longest(known, told))


def swapped(rng: Random, session: Session) -> Session:
    """Two cards change places in a pack, in a heap, or in both; or another card is discarded."""
    hand = rng.randrange(len(session.actions))
    actions = [list(played) for played in session.actions]
    decks, heaps = list(session.decks), list(session.heaps)
    a, b = rng.sample(decks[hand], 2)
    where = rng.choice(("pack", "heap", "both", "discard"))
    if where == "discard" and session.game == "beast" and actions[hand][:1] == [beast.TAKE]:
        actions[hand][1:2] = [a]
    if where in ("pack", "both"):
        decks[hand] = [{a: b, b: a}.get(card, card) for card in decks[hand]]
    if where in ("heap", "both"):
        heaps[hand] = [{a: b, b: a}.get(card, card) for card in heaps[hand]]
    return replace(session, decks=decks, heaps=heaps, actions=actions)


def another_world(rng: Random, table: Table, seat: int) -> Table:
    """The table as it would be with other cards where the seat cannot see them."""
    session = replace(table.session, key=None, actions=table.actions)
    known = list(story(Table(session), session.actions, seat))
    assert told_alike(session, seat, known)
    for _ in range(PROPOSALS):
        attempt = swapped(rng, session)
        if told_alike(attempt, seat, known):
            session = attempt
    other = Table(session)
    for _ in story(other, session.actions, seat):
        pass
    other.states["key"], other.states["rng"] = rng.getrandbits(64), rng.getrandbits(64)
    return other


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_what_is_hidden_changes_nothing(game: str, num_players: int) -> None:
    rng, differs, number = Random(num_players), Counter(), 0
    # A breach of the maxims is too rare to wait for.
    while number < 16 or not set(SECRETS_OF[game]) - {"breaches"} <= set(differs):
        number += 1
        assert number < 200, f"the worlds differ in no more than {set(differs)}"
        table = play_a_while(rng, game, num_players)
        seats = {table.turn, table.read("dealer"), rng.randrange(num_players)} - {-1}
        for seat in seats:
            other = another_world(rng, table, seat)
            table.observe(seat)
            other.observe(seat)
            assert table.view(seat).tobytes() == other.view(seat).tobytes()
            assert table.observation.tobytes() == other.observation.tobytes()
            assert table.mask.tobytes() == other.mask.tobytes()
            words = [
                describe(t.observation, game=game, num_players=num_players) for t in (table, other)
            ]
            assert words[0] == words[1]
            secrets = SECRETS_OF[game]
            differs.update(name for name in secrets if table.read(name) != other.read(name))


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_an_observation_reads_no_more_than_the_view(
    game: str, num_players: int, reduced: bool
) -> None:
    rng = Random(num_players)
    for _ in range(30):
        table = play_a_while(rng, game, num_players, reduced)
        for seat in range(num_players):
            table.observe(seat)
            observation = np.zeros_like(table.observation)
            write_observation(table.view(seat)[0], seat, table.layout.offsets, observation)
            assert observation.tobytes() == table.observation.tobytes()


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_a_view_holds_no_secret(game: str, num_players: int, reduced: bool) -> None:
    rng = Random(-num_players)
    for _ in range(12):
        table = play_a_while(rng, game, num_players, reduced)
        for seat in range(num_players):
            view, others = table.view(seat)[0], [s for s in range(num_players) if s != seat]
            assert view.viewer == seat and table.read("viewer") == -1
            assert view.key == 0 and view.rng[0] == 0
            assert (view.pack == NO_CARD).all()
            assert view.settled == 0 and view.dealt == 0
            assert not view.hands[others].any() and not view.revoked[others].any()
            blind = table.phase == "TAKE" and seat == table.turn
            assert view.hands[seat] == (0 if blind else table.read("hands")[seat])
            if game == "bestia":
                assert (view.heap == NO_CARD).all() and not view.heap_given
                assert not view.thrown[others].any() and not view.breaches[others].any()
                assert view.thrown[seat] == table.read("thrown")[seat]
            else:
                own = table.read("discard") if seat == table.read("dealer") else 0
                assert view.discard == own


def test_b_06_the_dealer_decides_blind() -> None:
    """B-06, BEAST-08: nobody but the dealer is kept from his own cards."""
    for n in (4, 5, 6):
        table = Table(random_session(Random(n), "beast", n))
        dealer = table.turn
        table.observe(dealer)
        place = table.layout.slices["hand"]
        assert not table.observation[place].any()
        table.observe((dealer + 1) % n)
        assert table.observation[place].sum() == n + 1
        table.act(beast.LEAVE)
        table.observe(dealer)
        assert table.observation[place].sum() == n + 1


# What a seat knows. Each change is made to a state from which the seat 1 of 4 looks, after a trick.

KNOWN: dict[str, dict[str, Any]] = {
    "table": {
        "hands": (1, lambda cards: cards ^ np.uint64(3)),
        "upcard": (None, lambda card: card ^ 1),
        "play_card": (0, lambda card: card ^ 1),
        "play_seat": (0, lambda seat: seat ^ 1),
        "plays": (None, lambda plays: plays - 1),
        "led": (None, lambda card: (card + 13) % 40),
        "best_seat": (None, lambda seat: (seat + 1) % 4),
        "tricks": (2, lambda tricks: tricks + 1),
        "voids": (3, lambda suits: suits ^ 4),
        "revoked": (1, lambda revoked: 1 - revoked),
        "pot": (None, lambda pot: pot + 1),
        "dealer": (None, lambda seat: seat ^ 1),
        "turn": (None, lambda seat: seat ^ 1),
        "phase": (None, lambda phase: phase - 1),
    },
    "beast": {
        "discard": (None, lambda cards: cards ^ np.uint64(5)),
        "upcard_is": (None, lambda now: 3 - now),
        "said": (1, lambda said: 3 - said),
        "countered": (2, lambda said: 3 - said),
        "stakes": (None, lambda stakes: (stakes + 1) % 3),
    },
    "bestia": {
        "thrown": (1, lambda cards: cards ^ np.uint64(5)),
        "passed": (None, lambda seats: seats ^ np.uint64(1)),
        "knocked": (None, lambda seats: seats ^ np.uint64(2)),
        "refused": (None, lambda seats: seats ^ np.uint64(4)),
        "exchanged": (None, lambda seats: seats ^ np.uint64(8)),
        "playing": (None, lambda seats: seats ^ np.uint64(4)),
        "gathered": (None, lambda yes: not yes),
        "forced": (None, lambda yes: not yes),
        "breaches": (1, lambda breaches: breaches + 1),
        "stake": (None, lambda stake: stake + 3),
    },
}


def after_a_trick(game: str, plays: int = 5) -> Table:
    """Four players, in the tricks; in Beast the dealer, seat 1, took the upcard."""
    size = 52 if game == "beast" else 40
    deck = list(range(size))
    table = Table(Session(game, 4, {}, 1, 0, [deck], [deck]))
    bids = [beast.TAKE, 0, beast.PLAY, beast.COUNTER] if game == "beast" else [bestia.KNOCK] * 4
    if game == "beast":
        bids[1] = table.read("upcard")
    for action in bids:
        table.act(action)
    for _ in range(plays):
        table.act(table.legal()[0])
    assert table.phase == "TRICKS" and table.read("trick") == plays // 4
    return table


@pytest.mark.parametrize(
    ("game", "name"),
    [(game, name) for game in ("beast", "bestia") for name in {**KNOWN["table"], **KNOWN[game]}],
)
def test_what_is_known_shows(game: str, name: str) -> None:
    table = after_a_trick(game)
    table.observe(1)
    before, view = table.observation.copy(), table.view(1)
    place, change = {**KNOWN["table"], **KNOWN[game]}[name]
    field = table.states[name][0, ...] if place is None else table.states[name][0, place, ...]
    field[...] = change(field[()])
    table.observe(1)
    assert table.observation.tobytes() != before.tobytes()
    assert table.view(1).tobytes() != view.tobytes()


@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_the_order_of_play_shows(game: str) -> None:
    table = after_a_trick(game, plays=9)
    table.observe(1)
    before = table.observation.copy()
    for name in ("play_card", "play_seat"):
        table.states[name][0, [0, 4]] = table.states[name][0, [4, 0]]
    table.observe(1)
    assert table.observation.tobytes() != before.tobytes()


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_the_observation_tells_all_that_happened(game: str, num_players: int) -> None:
    """Who remembers the whole hand never finds two different ones in one observation."""
    rng = Random(num_players)
    session = random_session(rng, game, num_players, num_hands=1)
    seat, known = rng.randrange(num_players), {}
    for _ in range(60):
        played = Table(session)
        for _ in walk(played, rng):
            pass
        table, told = Table(session), ()
        for event in story(table, played.actions, seat):
            told = (*told, event)
            if len(event) > 1 and table.turn >= 0:  # not between an act and what it leads to
                table.observe(seat)
                assert known.setdefault(table.observation.tobytes(), told) == told
    assert len(known) > 100
