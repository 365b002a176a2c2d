"""What holds in every hand, whatever the options, the cards and the play."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env import engine
from bestia_env.games import GAMES
from tests.sessions import (
    OPTIONS,
    POTS,
    REDUCED,
    TABLES,
    Session,
    Table,
    keyed,
    members,
    random_action,
    random_pack,
    random_reduction,
    random_style,
    walk,
)

KEYS = st.integers(0, 2**64 - 1)


@st.composite
def sessions(draw: st.DrawFn, num_hands: int = 3) -> Session:
    reduced = draw(st.booleans())
    game, n = draw(st.sampled_from(REDUCED if reduced else TABLES))
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS[game].items()}
    dealer, pot = draw(st.integers(0, n - 1)), draw(st.sampled_from(POTS))
    rng = Random(draw(KEYS))
    if reduced:
        options = random_reduction(rng, game, n, options)
    rules = GAMES[game].rules(**options)
    pot -= pot % rules.pot_unit
    decks = [random_pack(rng, game, n, rules) for _ in range(num_hands)]
    heaps = [rng.sample(deck, len(deck)) for deck in decks]
    session = Session(game, n, options, dealer, pot, decks, heaps)
    return keyed(session, rng.getrandbits(64)) if draw(st.booleans()) else session


def play(session: Session, seed: int) -> Iterator[Table]:
    return walk(Table(session), Random(seed))


def all_cards(table: Table) -> list[int]:
    """Every card where it is now."""
    read = table.read
    pack = read("pack")[: read("pack_size")]
    places = [members(hand) for hand in read("hands")] + [read("play_card")[: read("plays")]]
    if table.session.game == "beast":
        places += [members(read("discard")), pack[read("dealt") :]]
        places += [] if read("upcard_is") == table.game.module.TAKEN else [[read("upcard")]]
    elif read("gathered"):  # the heap, from which the new cards came, has all but what is thrown in
        places += [members(read("thrown")[seat]) for seat in members(read("exchanged"))]
        places += [pack[read("dealt") : read("settled")]]
    else:
        places += [members(thrown) for thrown in read("thrown")]
        places += [[read("upcard")], pack[read("dealt") :]]
    return [card for cards in places for card in cards]


def most_moves(game: str, n: int) -> int:
    """TAKE, n declarations, n-1 counters, all cards; or auction, offers, three cards each."""
    return 1 + n + n - 1 + n * (n + 1) if game == "beast" else 2 * n + 3 * n


@given(sessions(), KEYS)
def test_every_card_is_in_one_place(session: Session, seed: int) -> None:
    for table in play(session, seed):
        rules = table.game.rules(**session.options)
        assert sorted(all_cards(table)) == table.game.cards_in_use(rules)


@given(sessions(), KEYS)
def test_coins_go_from_hand_to_pot_and_back(session: Session, seed: int) -> None:
    for table in play(session, seed):
        assert sum(table.read("gains")) + table.read("pot") == table.read("carried")
        now = 0 if table.turn < 0 else sum(table.read("gains"))
        assert sum(table.read("coins")) + now + table.read("pot") == session.pot
        assert not table.states["coins"][0, session.num_players :].any()


@given(sessions(), KEYS)
def test_b_18_equity_sums_to_zero(session: Session, seed: int) -> None:
    equity = np.zeros(session.num_players)
    for table in play(session, seed):
        if table.turn < 0:
            engine.write_rewards(table.states, 0, True, equity)
            paid = max(1, *map(abs, table.read("gains")))  # equities may be what is left of these
            assert abs(equity.sum()) <= 1e-12 * paid * session.num_players


@given(sessions(), KEYS)
def test_the_mask_is_of_the_seat_to_act_alone(session: Session, seed: int) -> None:
    for table in play(session, seed):
        for seat in range(session.num_players):
            table.observe(seat)
            assert set(table.mask.tolist()) <= {0, 1}
            assert table.mask.any() == (seat == table.turn)
            assert (table.observation >= 0).all()
            assert (table.observation <= table.layout.high).all()


@given(sessions(), KEYS)
def test_a_hand_ends_in_time(session: Session, seed: int) -> None:
    moves = 0
    for table in play(session, seed):
        assert moves <= most_moves(session.game, session.num_players)
        moves = 0 if table.turn < 0 else moves + 1


@given(sessions(), KEYS)
def test_voids_are_those_that_everybody_saw(session: Session, seed: int) -> None:
    ranks = 13 if session.game == "beast" else 10
    for table in play(session, seed):
        start, plays = table.read("trick_start"), table.read("plays")
        ends = [*start[1 : table.read("trick") + 1], plays]
        voids = [set() for _ in range(session.num_players)]
        for first, last in zip(start, ends):
            suits = [card // ranks for card in table.read("play_card")[first:last]]
            for seat, suit in zip(table.read("play_seat")[first:last], suits):
                if suit != suits[0]:
                    voids[seat].add(suits[0])
                    if session.game == "bestia" and suit != table.read("trump"):
                        voids[seat].add(table.read("trump"))
        if session.options["revoke"] == "penalty":
            voids = [set()] * session.num_players
        assert [members(suits) for suits in table.read("voids")] == voids
        for seat, held in enumerate(table.read("hands")):
            assert not voids[seat] & {card // ranks for card in members(held)}


@given(sessions(num_hands=2), KEYS, st.integers(0, 60))
def test_a_copy_is_a_clone(session: Session, seed: int, moves: int) -> None:
    original, rng = Table(session), Random(seed)
    for move, _ in enumerate(walk(original, rng)):
        if move == moves:
            break
    if original.turn < 0:
        return
    twin, other = Table(session), Table(session)
    for copy in (twin, other):
        copy.states[:] = original.states
        copy.hand = original.hand
    before, style = original.states.tobytes(), random_style(rng)
    while other.turn >= 0:
        other.act(random_action(rng, other, style, other.legal()))
    assert original.states.tobytes() == before == twin.states.tobytes()
    assert other.states.tobytes() != before
    while original.turn >= 0:
        action = random_action(rng, original, style, original.legal())
        original.act(action)
        twin.act(action)
        assert original.states.tobytes() == twin.states.tobytes()


@given(sessions(num_hands=4), KEYS, st.lists(KEYS, min_size=2, max_size=2, unique=True))
def test_a_deal_depends_on_the_key_and_the_hand_alone(
    session: Session, key: int, seeds: list[int]
) -> None:
    session = keyed(session, key)
    deals = []
    for seed in seeds:
        deals.append([])
        hand = -1
        for table in play(session, seed):
            if table.hand != hand:
                hand = table.hand
                names = ("hands", "upcard", "dealer", "rng")
                deals[-1].append([table.read(name) for name in names])
    assert deals[0] == deals[1]
    assert len({str(deal) for deal in deals[0]}) == 4


@given(st.sampled_from(TABLES), KEYS)
@settings(max_examples=20)
def test_the_first_dealer_comes_from_the_key(place: tuple[str, int], key: int) -> None:
    game, n = place
    states = engine.new_states(game, n, count=64)
    keys = np.arange(64, dtype=np.uint64) + np.uint64(key % 2**63)
    engine.start_sessions(states, keys, -1, 0)
    again = engine.new_states(game, n, count=64)
    engine.start_sessions(again, keys, -1, 0)
    assert (states["dealer"] == again["dealer"]).all()
    assert set(states["dealer"].tolist()) <= set(range(n))
    assert len(set(states["dealer"].tolist())) > n // 2


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_playouts_are_what_the_seed_says(game: str, num_players: int) -> None:
    first, again = (engine.playouts(game, num_players, 300, seed=7) for _ in range(2))
    assert first == again
    assert len({engine.playouts(game, num_players, 300, seed=s)["moves"] for s in range(5)}) > 1
    assert first["hands"] == 300
    assert 300 * 2 <= first["moves"] <= 300 * most_moves(game, num_players)
