"""Worlds: consistent with all that a seat may know, all alike, and blind to what it may not."""

import itertools
import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from agents.worlds import determinize, draw_worlds, make_room
from bestia_env.engine import act, legal_actions, random_legal
from bestia_env.games import GAMES
from bestia_env.rules import beast, bestia
from bestia_env.view import look
from tests.sessions import EVERY, TABLES, Session, Table, members, random_session, walk


def cards_in_place(world: np.record, game: str) -> Counter[int]:
    """How often every card is somewhere; gathered cards are no longer where they were thrown."""
    n = int(world.num_players)
    sets = [int(world.hands[seat]) for seat in range(n)]
    if game == "beast":
        sets.append(int(world.discard))
        up = [int(world.upcard)] if world.upcard_is != beast.TAKEN else []
    else:
        kept = int(world.exchanged) if world.gathered else (1 << n) - 1
        sets += [int(world.thrown[seat]) for seat in range(n) if kept >> seat & 1]
        up = [] if world.gathered else [int(world.upcard)]
    played = world.play_card[: world.plays].tolist()
    rest = world.pack[world.dealt : world.pack_size].tolist()
    return Counter([card for cards in sets for card in members(cards)] + played + rest + up)


def in_use(game: str, options: dict) -> list[int]:
    return GAMES[game].cards_in_use(GAMES[game].rules(**options))


def check_world(table: Table, seat: int, world: np.ndarray, rng: np.ndarray) -> None:
    game, view = table.session.game, table.view(seat)
    seen = view.copy()
    look(world, 0, seat, seen, 0)
    assert seen.tobytes() == view.tobytes()
    assert cards_in_place(world[0], game) == Counter(in_use(game, table.session.options))
    for name in ("hands", "thrown" if game == "bestia" else "discard"):
        assert sizes(world, name) == sizes(table.states, name)
    if seat == table.turn:
        assert legal_actions(world, 0) == legal_actions(table.states, 0)
    while world[0].turn >= 0:
        act(world, 0, random_legal(world[0], rng))
    assert world[0].gains.sum() + world[0].pot == world[0].carried


def sizes(states: np.ndarray, name: str) -> list[int]:
    return [len(members(int(cards))) for cards in np.atleast_1d(states[name][0])]


@pytest.mark.parametrize(("game", "n", "reduced"), EVERY)
def test_a_world_is_one_that_the_seat_may_be_in(game: str, n: int, reduced: bool) -> None:
    rng, room, moves, gathered = Random(n), make_room(game, n), np.array([n], np.uint64), 0
    for _ in range(15):
        table = Table(random_session(rng, game, n, num_hands=2, reduced=reduced))
        for _ in walk(table, rng):
            gathered += table.gathered
            if table.turn < 0 or rng.random() < 0.5:
                continue
            for seat in {table.turn, rng.randrange(n)}:
                world = table.states.copy()
                determinize(table.view(seat), 0, moves, world, 0, room)
                check_world(table, seat, world, moves)
    assert gathered > 0 or game == "beast" or n < 8


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("beast", 6), ("bestia", 3), ("bestia", 9)])
def test_every_card_played_was_legal_in_the_world(game: str, n: int) -> None:
    """Worlds are replayed from the deal, and the debts of others are what they then owe."""
    rng = Random(n)
    for _ in range(40):
        session = random_session(rng, game, n, num_hands=1)
        if game == "bestia":
            session.options |= {"must_head": rng.random() < 0.5, "maxims": rng.choice(MAXIMS)}
        table = Table(session)
        for _ in walk(table, rng):
            if table.turn < 0 or not table.read("plays"):
                continue
            world = draw_worlds(table.view(table.turn), 1, rng.getrandbits(32))
            again = first_card(table, world)
            for k in range(table.read("plays")):
                card = int(world[0].play_card[k])
                assert int(legal_actions(again, 0)) >> card & 1
                act(again, 0, card)
            for name in ("hands", "revoked", "voids", "breaches", "front", "tricks", "turn"):
                if name in table.game.dtype.names:
                    assert again[name].tolist() == world[name].tolist()


MAXIMS = ("off", "mask", "penalty")


def first_card(table: Table, world: np.ndarray) -> np.ndarray:
    """The true state when the first card was to be played, with the hands of a world."""
    start = Table(table.session)
    for action in table.actions[0]:
        if start.phase == "TRICKS":
            break
        start.act(action)
    states = start.states
    states["hands"] = world["hands"]
    for k in range(int(world[0].plays)):
        states["hands"][0, world[0].play_seat[k]] |= np.uint64(1 << int(world[0].play_card[k]))
    return states


# All alike.

Places = list[tuple[str, int | None]]


def hidden_places(table: Table) -> Places:
    """Where cards are hidden from the seat to act, if nobody in Bestia has thrown any."""
    hands = table.read("hands")
    places: Places = [("hands", i) for i, cards in enumerate(hands) if cards and i != table.turn]
    if table.session.game == "beast" and table.turn != table.read("dealer"):
        return [*places, ("discard", None)] if table.read("discard") else places
    return places


def cards_at(states: np.ndarray, places: Places) -> np.ndarray:
    """The cards in these places of each state, (states, places) uint64."""
    return np.stack([states[name] if i is None else states[name][:, i] for name, i in places], 1)


def choices(table: Table, places: Places) -> list[list[int]]:
    """For each place the sets of cards that it can hold by the voids."""
    true = cards_at(table.states, places)[0].tolist()
    unseen = {card for cards in true for card in members(cards)}
    unseen |= set(table.read("pack")[table.read("dealt") : table.read("pack_size")])
    ranks = len(table.game.pack.ranks)
    voids = [table.read("voids")[i] if name == "hands" else 0 for name, i in places]
    return [
        [
            sum(1 << card for card in chosen)
            for chosen in itertools.combinations(
                [card for card in sorted(unseen) if not shown >> card // ranks & 1],
                len(members(cards)),
            )
        ]
        for cards, shown in zip(true, voids)
    ]


def possible_deals(table: Table, places: Places) -> list[tuple[int, ...]]:
    """All ways to fill the places, by trying."""
    deals: list[tuple[int, ...]] = [()]
    for sets in choices(table, places):
        deals = [(*deal, cards) for deal in deals for cards in sets if not cards & sum(deal)]
    return [deal for deal in deals if is_possible(table, places, deal)]


def is_possible(table: Table, places: Places, deal: tuple[int, ...]) -> bool:
    """Has the dealer the card that he took, and could all play as they did?"""
    if table.session.game == "beast":
        taken = table.read("upcard_is") == beast.TAKEN and places[-1][0] == "discard"
        dealt = sum(c for c, place in zip(deal, places) if place[1] in (None, table.read("dealer")))
        gone = table.read("upcard") in table.read("play_card")[: table.read("plays")]
        return not taken or gone or bool(dealt >> table.read("upcard") & 1)
    if not table.session.options:
        return True  # nothing tells more than voids
    world = table.states.copy()
    for (name, i), cards in zip(places, deal):
        world[name][0, i] = cards
    again = first_card(table, world)
    for card in world[0].play_card[: world[0].plays].tolist():
        if not int(legal_actions(again, 0)) >> card & 1:
            return False
        act(again, 0, card)
    return True


def is_late(table: Table, most: int) -> bool:
    """Are the tricks on, voids shown by two, and deals few enough to try them all?"""
    if table.phase != "TRICKS" or (table.session.game == "bestia" and any(table.read("thrown"))):
        return False
    places = hidden_places(table)
    shown = [i for name, i in places if name == "hands" and table.read("voids")[i]]
    if len(shown) < 2:
        return False
    held = [len(members(cards)) for cards in cards_at(table.states, places)[0].tolist()]
    hidden = sum(held) + table.read("pack_size") - table.read("dealt")
    if math.comb(hidden, max(held)) > most:
        return False
    return math.prod(map(len, choices(table, places))) <= most


def late_table(rng: Random, game: str, n: int, options: dict, most: int) -> Table:
    """A moment of random play that `is_late`."""
    cards = in_use(game, options)
    while True:
        deck = rng.sample(cards, len(cards))
        table = Table(Session(game, n, options, rng.randrange(n), 0, [deck], [deck]))
        for _ in walk(table, rng):
            if is_late(table, most):
                return table


def surprise(counts: np.ndarray, chances: np.ndarray) -> float:
    """How many standard deviations chi-square is above its mean."""
    expected = counts.sum() * chances
    assert (counts[expected == 0] == 0).all()
    squares = ((counts - expected) ** 2 / np.where(expected > 0, expected, 1)).sum()
    freedom = (expected > 0).sum() - 1
    return (squares - freedom) / math.sqrt(2 * max(freedom, 1))


@pytest.mark.parametrize(
    ("game", "n", "options", "most"),
    [
        ("beast", 4, {}, 20_000),
        ("beast", 5, {}, 10_000),
        ("beast", 6, {}, 10_000),
        ("bestia", 3, {}, 2_000),
        ("bestia", 4, {}, 20_000),
        ("bestia", 3, {"must_head": True}, 3_000),
        ("bestia", 3, {"maxims": "mask"}, 3_000),
        ("bestia", 3, {"maxims": "mask", "must_head": True}, 3_000),
        ("beast", 3, {"ranks": 4}, 20_000),
        ("bestia", 3, {"ranks": 4, "suits": 3}, 2_000),
    ],
)
def test_all_worlds_that_may_be_are_alike(game: str, n: int, options: dict, most: int) -> None:
    rng = Random(str((game, n, options)))
    ranks = len(GAMES[game].pack.ranks)
    for _ in range(3):
        table = late_table(rng, game, n, options, most)
        places = hidden_places(table)
        deals = possible_deals(table, places)
        worlds = draw_worlds(table.view(table.turn), 20_000, rng.getrandbits(32))
        drawn = Counter(map(tuple, cards_at(worlds, places).tolist()))
        assert drawn.keys() <= set(deals)
        assert tuple(cards_at(table.states, places)[0].tolist()) in deals
        kinds = Counter(kind_of(deal, ranks) for deal in deals)
        seen = Counter()
        for deal, count in drawn.items():
            seen[kind_of(deal, ranks)] += count
        chances = np.array([kinds[kind] / len(deals) for kind in kinds])
        assert surprise(np.array([seen[kind] for kind in kinds]), chances) < 5
        if len(deals) < 2000:
            counts = np.array([drawn[deal] for deal in deals])
            assert surprise(counts, np.full(len(deals), 1 / len(deals))) < 5


def kind_of(deal: tuple[int, ...], ranks: int) -> tuple[tuple[int, ...], ...]:
    """The suits of the cards in every place."""
    return tuple(tuple(sorted(card // ranks for card in members(cards))) for cards in deal)


def chi_square_of_cards(sets: np.ndarray, cards: list[int]) -> float:
    """Surprise at how often each of these cards is in the sets, all of which are of one size."""
    counts = np.array([(sets >> np.uint64(card) & np.uint64(1)).sum() for card in cards])
    assert counts.sum() == sum(len(members(int(each))) for each in sets[:1]) * sets.size
    return surprise(counts, np.full(len(cards), 1 / len(cards)))


def table_after(game: str, n: int, dealer: int, actions: list[int]) -> Table:
    size = GAMES[game].pack.size
    deck = Random(n).sample(range(size), size)
    table = Table(Session(game, n, {}, dealer, 0, [deck], [deck]))
    for action in actions:
        assert action in table.legal()
        table.act(action)
    return table


def unseen_by(table: Table, seat: int) -> list[int]:
    """Cards that are neither the seat's nor the upcard."""
    known = members(table.read("hands")[seat]) | {table.read("upcard")}
    return [card for card in range(table.game.pack.size) if card not in known]


def test_before_anything_is_shown_every_card_is_as_likely_everywhere() -> None:
    """And so are those yet to be drawn from the pack."""
    table = table_after("bestia", 4, 3, [bestia.PASS] * 4)
    worlds = draw_worlds(table.view(0), 20_000, 1)
    for seat in (1, 2, 3):
        assert chi_square_of_cards(worlds["hands"][:, seat], unseen_by(table, 0)) < 5
    for i in range(worlds.size):
        act(worlds, i, bestia.EXCHANGE)
        for _ in range(3):
            act(worlds, i, bestia.EXCHANGE if worlds[i].turn == 1 else bestia.REFUSE)
    assert chi_square_of_cards(worlds["hands"][:, 0], unseen_by(table, 0)) < 5
    assert np.unique(worlds["hands"], axis=0).shape[0] > 19_900


def test_b_07_the_card_taken_is_as_likely_the_discard_as_any_that_the_dealer_had() -> None:
    """BEAST-09: of his n + 2 cards, all the same to the others; he knows."""
    table = table_after("beast", 4, 3, [beast.TAKE])
    up = np.uint64(1 << table.read("upcard"))
    worlds = draw_worlds(table.view(0), 500, 1)
    assert (worlds["hands"][:, 3] & up).all() and not worlds["discard"].any()
    table.act(table.legal()[0])
    table.act(beast.PLAY)
    worlds = draw_worlds(table.view(0), 20_000, 1)
    thrown = (worlds["discard"] & up != 0).sum()
    assert surprise(np.array([thrown, 20_000 - thrown]), np.array([1 / 6, 5 / 6])) < 5
    assert ((worlds["discard"] | worlds["hands"][:, 3]) & up).all()
    table.act(beast.PASS)
    table.act(beast.PASS)
    table.act(beast.PASS)
    worlds = draw_worlds(table.view(3), 100, 1)
    assert (worlds["discard"] == table.read("discard")).all()


def test_b_06_a_blind_dealer_may_hold_anything_but_the_upcard() -> None:
    table = table_after("beast", 5, 2, [])
    worlds = draw_worlds(table.view(2), 20_000, 1)
    cards = [card for card in range(52) if card != table.read("upcard")]
    assert chi_square_of_cards(worlds["hands"][:, 2], cards) < 5


def test_i_08_what_was_gathered_is_where_it_may_have_been_dealt_again() -> None:
    """Of ten, three knock, four get new cards, three refuse, the last the dealer, seat 9."""
    bids = [bestia.KNOCK] * 3 + [bestia.PASS] * 7
    answers = [bestia.EXCHANGE] * 4 + [bestia.REFUSE] * 3
    table = table_after("bestia", 10, 9, [*bids, *answers])
    assert table.gathered and table.phase == "TRICKS"
    up, own = table.read("upcard"), members(table.read("thrown")[9])
    for seat, gathered in ((0, [up]), (3, [up]), (9, [up, *own])):
        worlds = draw_worlds(table.view(seat), 20_000, seat)
        for card in set(gathered) - members(table.read("hands")[seat]):
            others = [other for other in range(3, 7) if other != seat]
            places = [(worlds["hands"][:, i] >> np.uint64(card) & np.uint64(1)) for i in others]
            counts = np.array([place.sum() for place in places])
            left = 9 + 1 + 9 - 12  # stock, upcard, cards of three; less new ones
            slots = np.array([3] * len(others) + [left])
            counts = np.append(counts, 20_000 - counts.sum())
            assert surprise(counts, slots / slots.sum()) < 5
        assert (worlds["thrown"][:, 9] == table.read("thrown")[9]).all() or seat != 9


@pytest.mark.parametrize(("game", "n"), TABLES)
def test_a_world_depends_on_the_view_and_the_generator_only(game: str, n: int) -> None:
    """A world's own view, and so the worlds drawn from it, are those of the true state."""
    rng = Random(n)
    for _ in range(6):
        table = Table(random_session(rng, game, n, num_hands=1))
        for _ in walk(table, rng):
            if table.turn < 0 or rng.random() < 0.7:
                continue
            seat, seed = table.turn, rng.getrandbits(32)
            worlds = draw_worlds(table.view(seat), 3, seed)
            for i in range(2):
                view = table.view(seat)
                look(worlds, i, seat, view, 0)
                assert draw_worlds(view, 3, seed).tobytes() == worlds.tobytes()
            assert draw_worlds(table.view(seat), 3, seed + 1).tobytes() != worlds.tobytes()
