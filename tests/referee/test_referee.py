"""The referees alone: the rulebook's check numbers, some exact hands, and random legal play."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import pytest

from . import beast as beast_rules
from . import bestia as bestia_rules
from .beast import COUNTER, LEAVE, PLAY, SHOW, TAKE, BeastReferee
from .bestia import EXCHANGE, KNOCK, REFUSE, BestiaReferee

B_PASS, T_PASS = beast_rules.PASS, bestia_rules.PASS
S, H, D = 39, 26, 13  # Beast: add 0 (two) to 12 (ace); clubs are 0
BAS, COP, DEN, SPA = 0, 10, 20, 30  # Bestia: add 0 (two) to 9 (ace)


def pack(size: int, places: dict[int, int]) -> list[int]:
    """A pack order with given cards at given places, the rest ascending."""
    rest = iter(card for card in range(size) if card not in places.values())
    return [places[i] if i in places else next(rest) for i in range(size)]


def beast_deck(n: int, upcard: int, packets: Mapping[int, Sequence[int]]) -> list[int]:
    """packets: place after the dealer (0 = eldest) -> cards dealt there."""
    places = {n * (n + 1): upcard}
    for place, cards in packets.items():
        places |= {place * (n + 1) + i: card for i, card in enumerate(cards)}
    return pack(52, places)


def bestia_deck(upcard: int, packets: Mapping[int, Sequence[int]]) -> list[int]:
    places = {0: upcard}
    for place, cards in packets.items():
        places |= {1 + 3 * place + i: card for i, card in enumerate(cards)}
    return pack(40, places)


def do(referee: BeastReferee | BestiaReferee, *actions: int) -> None:
    for action in actions:
        referee.apply(action)


def finish_tricks(referee: BeastReferee | BestiaReferee) -> None:
    hand = len(referee.settlements)
    while len(referee.settlements) == hand:
        referee.apply(max(referee.legal()))


# ---- Beast --------------------------------------------------------------------------------


def test_beast_check_numbers() -> None:
    strong = {0: [S + 12, S + 11, S + 10, S + 9, S + 8]}  # the eldest takes every trick
    ref = BeastReferee(4, {}, 0, 0, [beast_deck(4, S, strong)] * 5, num_hands=5)
    assert ref.pot == 9 and ref.coins == [-3, -2, -2, -2]
    do(ref, LEAVE, B_PASS, PLAY, B_PASS, B_PASS, B_PASS)  # dealer 0; seat 2 plays, 1 wins
    finish_tricks(ref)
    assert ref.settlements[0].pot_after == 18 == ref.pot  # no stakes
    do(ref, LEAVE, B_PASS, B_PASS, B_PASS, B_PASS)  # dealer 1, undeclared
    assert ref.pot == 19 and ref.dealer == 2
    do(ref, LEAVE, B_PASS, PLAY, COUNTER)  # dealer 2; seat 0 plays, 1 counters, 3 wins
    finish_tricks(ref)
    assert ref.pot == 57
    do(ref, LEAVE, B_PASS, PLAY, B_PASS, B_PASS, COUNTER)  # dealer 3; 1 plays, eldest 0 counters
    finish_tricks(ref)
    assert ref.settlements[3].coins == [114, -57, 0, 0]
    assert ref.pot == 9 and ref.dealer == 0
    assert ref.equity(ref.settlements[0]) == [
        Fraction(18, 4) + coins for coins in (-3, -2, -11, -2)
    ]


@pytest.mark.parametrize(
    ("option", "coins", "after"),
    [("both_lose", 9, 0), ("pays_winner", 18, 0), ("carry", 9, 9)],
)
def test_beast_losing_counterer(option: str, coins: int, after: int) -> None:
    deck = beast_deck(4, S, {0: [S + 12, S + 11, S + 10, S + 9, S + 8]})
    ref = BeastReferee(4, {"losing_counterer": option}, 0, 0, [deck] * 2, num_hands=2)
    do(ref, LEAVE, PLAY, COUNTER)
    finish_tricks(ref)
    assert ref.settlements[0].coins[1] == coins - 2
    assert ref.settlements[0].pot_after == after
    assert ref.pot == after + 9  # full stakes on top


@pytest.mark.parametrize(
    ("n", "place", "held", "upcard", "sure"),
    [
        (4, 1, (12, 11, 10), 0, True),
        (4, 1, (11, 10, 9), 12, True),  # the ace is the upcard left
        (4, 1, (11, 10, 9, 8), 0, True),  # the ace unseen
        (4, 1, (11, 10, 9), 0, False),
        (5, 0, (12, 11, 10), 0, True),  # (ii): the eldest only
        (5, 1, (12, 11, 10), 0, False),
        (6, 1, (12, 11, 10, 9), 0, True),
        (6, 0, (12, 11, 10), 0, False),
    ],
)
def test_beast_sure_tricks(
    n: int, place: int, held: Sequence[int], upcard: int, sure: bool
) -> None:
    trumps = [S + strength for strength in held]
    packet = trumps + [D + i for i in range(n + 1 - len(trumps))]
    ref = BeastReferee(n, {}, 0, 0, [beast_deck(n, S + upcard, {place: packet})])
    do(ref, LEAVE, *[B_PASS] * place)
    assert (SHOW in ref.legal()) == sure
    top = BeastReferee(
        n, {"demonstration": "top_trumps"}, 0, 0, [beast_deck(n, S + upcard, {place: packet})]
    )
    do(top, LEAVE, *[B_PASS] * place)
    assert (SHOW in top.legal()) == (sure and held != (11, 10, 9, 8))


def test_beast_taken_upcard_in_the_test() -> None:
    deck = beast_deck(4, S + 12, {1: [S + 11, S + 10, S + 9, D, D + 1], 3: [S + 8, S + 7, 0, 1, 2]})
    ref = BeastReferee(4, {}, 0, 0, [deck])
    do(ref, TAKE, S + 12)  # he discards the ace itself
    assert ref.phase == "claim" and ref.legal() == {PLAY}
    do(ref, PLAY, B_PASS)
    assert ref.turn == 2 and SHOW not in ref.legal()  # for seat 2 the ace stays in U
    # K Q J for the dealer, who threw the ace: sure
    deck = beast_deck(4, S + 12, {3: [S + 11, S + 10, S + 9, 1, 2]})
    ref = BeastReferee(4, {}, 0, 0, [deck])
    do(ref, TAKE, S + 12, SHOW)
    assert ref.settlements[0].coins == [6, -2, -2, -2] and ref.turn is None


def test_beast_revoke_costs_once_and_stays() -> None:
    deck = beast_deck(
        4, S, {0: [S + 12, S + 11, S + 10, S + 9, S + 8], 1: [S + 1, S + 2, S + 3, D, D + 1]}
    )
    ref = BeastReferee(4, {"revoke": "penalty", "match_limit": 7}, 0, 0, [deck] * 2, num_hands=2)
    do(ref, LEAVE, PLAY, B_PASS, B_PASS, B_PASS)
    for _ in range(3):
        led = max(ref.hands[1])
        do(ref, led, min(ref.hands[2]), min(ref.hands[3]), min(ref.hands[0]))
    first = ref.settlements[0]
    assert first.penalties == [0, 0, 7, 0] and first.coins == [-3, 7, -9, -2]
    assert first.pot_after == 7 and ref.pot == 7 + 9


def random_options(rng: Random, table: dict[str, tuple[object, ...]]) -> dict[str, object]:
    return {name: rng.choice(values) for name, values in table.items()}


def test_beast_random_sessions() -> None:
    rng = Random(1)
    for number in range(400):
        n = 4 + number % 3
        options = random_options(rng, beast_rules.OPTIONS)
        options["match_limit"] = rng.choice([1, 50, 999_999_999])
        decks = [beast_trumpy_deck(rng, n) for _ in range(6)]
        pot = rng.choice([0, 17])
        ref = BeastReferee(n, options, rng.randrange(n), pot, decks, num_hands=6)
        claimants: dict[int, set[int]] = {hand: set() for hand in range(6)}
        while ref.turn is not None:
            hand, legal = ref.hand_number, ref.legal()
            assert legal
            if SHOW in legal:
                claimants[hand].add(ref.turn)
                if rng.random() < 0.8:
                    legal.discard(SHOW)
            ref.apply(rng.choice(sorted(legal)))
        assert len(ref.settlements) == 6 and ref.phase == "over"
        assert sum(ref.coins) + ref.settlements[-1].pot_after == pot
        for record in ref.settlements:
            assert sum(ref.equity(record)) == 0
            seats = claimants[record.hand_number]
            assert len(seats) <= 1  # two seats never pass the test in the same hand
            if seats and record.winner is not None and n != 5:
                assert record.winner in seats  # certain however anybody plays


def beast_trumpy_deck(rng: Random, n: int) -> list[int]:
    """Often with one seat full of trumps, so that the sure-trick test has work."""
    deck = rng.sample(range(52), 52)
    if rng.random() < 0.3:
        return deck
    trump = deck[n * (n + 1)] // 13
    high = [card for card in range(trump * 13 + 5, trump * 13 + 13) if card != deck[n * (n + 1)]]
    start = rng.randrange(n) * (n + 1)
    for i, card in enumerate(rng.sample(high, rng.randint(3, min(n + 1, 5)))):
        j = deck.index(card)
        deck[j], deck[start + i] = deck[start + i], deck[j]
    return deck


# ---- Bestia -------------------------------------------------------------------------------


def test_bestia_check_numbers_three() -> None:
    deck = bestia_deck(DEN, {0: [DEN + 9, DEN + 8, COP + 1], 1: [COP + 9, BAS, BAS + 1]})
    ref = BestiaReferee(3, {}, 0, 0, [deck] * 2, num_hands=2)
    assert ref.pot == 3
    do(ref, KNOCK, KNOCK, KNOCK)
    for card in (DEN + 9, DEN + 8, COP + 1):  # seat 1 leads; seat 2 keeps the coppe ace
        do(ref, card)
        do(ref, min(ref.legal()))
        do(ref, min(ref.legal()))
    first = ref.settlements[0]
    assert first.tricks == [0, 2, 1] and first.bete == [0]
    assert first.coins == [-3 - 3, 2, 1]  # the dealer's stake on top
    assert first.pot_after == 3 and ref.pot == 6


def test_bestia_check_numbers_five() -> None:
    shares = {0: [DEN + 9, COP, COP + 1], 1: [COP + 9, BAS, BAS + 1], 2: [BAS + 9, SPA, SPA + 1]}
    shares |= {3: [SPA + 2, SPA + 3, SPA + 4], 4: [SPA + 5, SPA + 6, SPA + 7]}
    deck = bestia_deck(DEN, shares)
    ref = BestiaReferee(5, {"force": True}, 0, 3, [deck] * 3, num_hands=3)
    assert ref.pot == 6
    do(ref, *[KNOCK] * 5)
    do(ref, DEN + 9, BAS + 1, SPA, SPA + 2, SPA + 5)  # seat 1 leads and wins
    do(ref, COP, COP + 9, SPA + 1, SPA + 3, SPA + 6)  # seat 2 wins
    do(ref, BAS, BAS + 9, SPA + 4, SPA + 7, COP + 1)  # seat 3 wins
    first = ref.settlements[0]
    assert first.tricks == [0, 1, 1, 1, 0] and first.bete == [0, 4]
    assert first.coins == [-6 - 3, 2, 2, 2, -6]
    assert first.pot_after == 12 and ref.pot == 15 and ref.phase == "auction"
    do(ref, T_PASS, KNOCK, T_PASS, T_PASS, T_PASS, *[REFUSE] * 4)
    assert ref.settlements[1].coins == [0, -3, 0, 15, 0]
    assert ref.pot == 3 and ref.phase == "tricks" and ref.force_hand


def test_bestia_exchange_and_gathering() -> None:
    heap = list(range(39, -1, -1))
    ref = BestiaReferee(10, {}, 9, 0, [list(range(40))], [heap])
    do(ref, *[T_PASS] * 10)
    do(ref, EXCHANGE, EXCHANGE, EXCHANGE, REFUSE)
    near = BestiaReferee(10, {}, 9, 0, [list(range(40))], [heap])
    do(near, *[T_PASS] * 10, EXCHANGE, EXCHANGE, EXCHANGE, *[REFUSE] * 7)
    assert near.hands[:3] == [{31, 32, 33}, {34, 35, 36}, {37, 38, 39}]  # 3a = stock: no gathering
    do(ref, EXCHANGE, EXCHANGE, EXCHANGE)  # six accepted: seats 7, 8, 9 are not asked (I-09)
    assert ref.gathered and ref.participants == [0, 1, 2, 4, 5, 6] and ref.turn == 0
    # gathered: stock 31-39, upcard 0, seat 3's 10-12, seats 7-9's 22-30; from the top of the heap
    assert ref.hands[0] == {39, 38, 37} and ref.hands[4] == {30, 29, 28}
    assert ref.hands[5] == {27, 26, 25} and ref.hands[6] == {24, 23, 22}
    assert ref.trump == 0 and ref.hands[3] == set() and ref.laid_down[3] == {10, 11, 12}


@pytest.mark.parametrize(("option", "leader"), [("next_active", 2), ("first_knocker", 0)])
def test_bestia_first_lead(option: str, leader: int) -> None:
    ref = BestiaReferee(3, {"first_lead": option}, 0, 0, [list(range(40))])
    do(ref, T_PASS, T_PASS, KNOCK, REFUSE, EXCHANGE)
    assert ref.turn == leader


def test_bestia_maxims_and_revokes() -> None:
    shares = {
        0: [DEN + 9, DEN + 8, COP],
        1: [DEN + 7, DEN + 2, BAS],
        2: [DEN + 6, COP + 9, BAS + 9],
    }
    deck = bestia_deck(DEN, shares)
    mask = BestiaReferee(3, {"maxims": "mask", "revoke": "penalty"}, 0, 0, [deck])
    do(mask, *[KNOCK] * 3)
    assert mask.legal() == {DEN + 9}  # maxim 1
    do(mask, DEN + 9)
    assert mask.legal() == {DEN + 7, DEN + 2, BAS}  # 7 cannot beat the ace; a revoke is offered
    do(mask, BAS, DEN + 6)
    assert mask.legal() == {DEN + 8}  # maxim 2
    both = BestiaReferee(3, {"maxims": "penalty", "revoke": "penalty"}, 0, 0, [deck])
    do(both, *[KNOCK] * 3, DEN + 8, BAS, COP + 9)  # breach, revoke, revoke
    do(both, COP, DEN + 7, DEN + 6)  # breach of maxims 1 and 2: once; trumps right
    finish_tricks(both)
    record = both.settlements[0]
    assert record.penalties == [3, 6, 3] and record.tricks == [0, 2, 1]
    assert record.coins == [-3 - 3 - 3, 2 - 6, 1 - 3]


def test_bestia_must_head() -> None:
    shares = {0: [COP + 4, BAS, BAS + 1], 1: [COP + 9, COP + 2, COP], 2: [DEN + 6, DEN, BAS + 9]}
    ref = BestiaReferee(3, {"must_head": True}, 0, 0, [bestia_deck(DEN + 1, shares)])
    do(ref, *[KNOCK] * 3, COP + 4)
    assert ref.legal() == {COP + 9}
    do(ref, COP + 9)
    assert ref.legal() == {DEN + 6, DEN}


def test_bestia_random_sessions() -> None:
    rng = Random(2)
    for number in range(480):
        n = 3 + number % 8
        options = random_options(rng, bestia_rules.OPTIONS)
        options["match_limit"] = rng.choice([3, 60, 999_999_999])
        options["stake"] = rng.choice([3, 12])
        decks, heaps = ([rng.sample(range(40), 40) for _ in range(6)] for _ in range(2))
        pot = rng.choice([0, 21])
        ref = BestiaReferee(n, options, rng.randrange(n), pot, decks, heaps, num_hands=6)
        keen = rng.random()
        while ref.turn is not None:
            legal = ref.legal()
            assert legal
            if ref.phase == "tricks":
                assert legal <= ref.hands[ref.turn]
                ref.apply(rng.choice(sorted(legal)))
            else:
                ref.apply(max(legal) if rng.random() < keen else min(legal))
        assert len(ref.settlements) == 6 and ref.phase == "over"
        assert sum(ref.coins) + ref.settlements[-1].pot_after == pot
        for record in ref.settlements:
            assert sum(ref.equity(record)) == 0
            assert not (record.force and (record.hand_number == 0 or not options["force"]))
            assert sum(record.tricks) == (3 if len(record.participants) > 1 else 0)
