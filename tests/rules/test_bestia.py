"""Bestia clause by clause, after RULEBOOK.md: every N and O clause and every decided point."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env import bestia_v0, engine
from bestia_env.cards import ITALIAN
from bestia_env.games import GAMES
from bestia_env.rules.bestia import NUM_ACTIONS, Action, BestiaRules
from bestia_env.view import look
from bestia_env.words import decode

from .hands import Table, pack_order

# Three players, seat 0 deals, so that seat 1 is first hand; trumps are spade.
TWO_ONE = {1: "As 3s 2b", 2: "Ab 2c 4c", 0: "4b 5b 6b"}
TWO_ONE_PLAY = "As 2c 4b 3s 4c 5b 2b Ab 6b"  # 2-1-0
ONE_EACH = {1: "As 2b 2c", 2: "Ab 4c 4d", 0: "Ac 5d 6d"}
ONE_EACH_PLAY = "As 4d 5d 2b Ab 6d 4c Ac 2c"  # 1-1-1
IDLE = {2: "2d 4d 5d", 0: "6d 7d Fd"}  # no card of theirs takes a trick that seat 1 leads


def order(hands, upcard="2s", n=3, stock=""):
    """A pack for the seats as they sit when seat 0 deals."""
    return pack_order("bestia", hands, upcard, n, 0, stock)


def table(hands, upcard="2s", n=3, **options):
    return Table("bestia", order(hands, upcard, n), num_players=n, **options)


def reduced(hands, upcard, n, **options):
    """The same by options that leave cards out (I-24)."""
    deck = pack_order("bestia", hands, upcard, n, 0, **options)
    return Table("bestia", deck, num_players=n, **options)


def knocked(hands, upcard="2s", n=3, **options):
    """The same after everybody has knocked."""
    return table(hands, upcard, n, **options).play(f"KNOCK*{n}")


def ids(bits):
    """The members of a set of bits."""
    return {i for i in range(64) if int(bits) >> i & 1}


def shuffled(seed):
    return np.random.default_rng(seed).permutation(40).tolist()


def in_suit(ranks, suit):
    return " ".join(rank + suit for rank in ranks.split())


# The check numbers of the rulebook.


def test_check_numbers():
    five = {1: "As 2b 2d", 2: "Ab 2c 4d", 3: "Ac 5d 6d", 4: "7d Fd Cd", 0: "Rd 3d Ad"}
    three = {1: "As 3s 2b", 2: "Ab 2c 4c", 3: "4b 5b 6b"}
    decks = [order(three, n=5), order(five, n=5), order({}, n=5), order({}, n=5)]
    t = Table("bestia", *decks, num_players=5, force=True)
    assert t.pot == 3
    t.play(f"KNOCK*3 PASS*2 REFUSE*2 {TWO_ONE_PLAY}")
    assert t.gains == [-3, 2, 1, -3, 0]  # 2-1-0, and the dealer's stake
    assert t.pot == 6
    t.play("KNOCK*5 As 4d 5d 7d Rd 2b Ab 6d Fd 3d 2c Ac Cd Ad 2d")
    assert t.gains == [-6, -6 - 3, 2, 2, 2]
    assert t.pot == 15
    t.play("KNOCK PASS*4 REFUSE*4")
    assert t.gains == [0, 0, -3, 15, 0]
    assert t.pot == 3
    assert t.s.forced


# Players, cards, stake and deal.


@pytest.mark.parametrize("n", range(3, 11))
def test_bestia_01_three_to_ten(n):
    t = knocked({}, n=n).finish()
    assert sum(t.gains) == -t.left
    assert sum(t.s.tricks) == 3


@pytest.mark.parametrize("n", [2, 11, 0, -3, 3.0, "4", True, None])
def test_bestia_01_others_are_refused(n):
    with pytest.raises(ValueError, match="num_players of bestia must be an integer from 3 to 10"):
        bestia_v0.env(num_players=n)


def test_bestia_02_deal_and_play_go_one_way_round():
    t = Table("bestia", order({1: "As 3s Rs"}, n=4), num_players=4, dealer=2)
    assert t.held(3) == ["Rs", "3s", "As"]
    assert t.asked("KNOCK*2 PASS KNOCK REFUSE As") == [3, 0, 1, 2, 1, 3]
    assert t.turn == 0


def test_bestia_04_forty_cards_in_four_suits():
    assert ITALIAN.suits == ("bastoni", "coppe", "denari", "spade")
    assert ITALIAN.size == 40
    assert [ITALIAN.name(c) for c in range(10)] == in_suit("2 4 5 6 7 F C R 3 A", "b").split()
    assert [ITALIAN.name(10 * suit + 9) for suit in range(4)] == ["Ab", "Ac", "Ad", "As"]


@pytest.mark.parametrize("trump", "bcds")
@pytest.mark.parametrize("suit", "bcds")
def test_bestia_05_rank_order(suit, trump):
    other = next(s for s in "bcds" if s not in (suit, trump))
    low_to_high = "2 4 5 6 7 F C R 3 A".split()
    for low, high in itertools.pairwise(low_to_high):
        upcard = next(r for r in "2 4 5".split() if r not in (low, high)) + trump
        for lead, answer, winner in ((low, high, 2), (high, low, 1)):
            hands = {
                1: f"{lead}{suit} {in_suit('2 4', other)}",
                2: f"{answer}{suit} {in_suit('5 6', other)}",
                0: in_suit("7 F C", other),
            }
            t = knocked(hands, upcard).play(f"{lead}{suit} {answer}{suit} 7{other}")
            assert t.turn == winner


def test_bestia_06_winners_of_tricks_share_the_pot():
    t = knocked(ONE_EACH, pot=30).play(ONE_EACH_PLAY)
    assert t.gains == [11 - 3, 11, 11]
    assert t.left == 0


def test_bestia_07_dealer_stakes_every_deal():
    t = Table("bestia", *[order({})] * 3, num_players=3, stake=6)
    for dealer, pot in enumerate((6, 12, 18)):
        assert t.pot == pot
        assert t.s.gains[:3].tolist() == [-6 * (seat == dealer) for seat in range(3)]
        t.play("PASS*3 REFUSE*3")
    assert t.s.coins[:3].tolist() == [-6, -6, -6]


@pytest.mark.parametrize("n", range(3, 11))
def test_bestia_08_three_cards_each(n):
    t = table({}, n=n)
    assert [len(t.held(seat)) for seat in range(n)] == [3] * n


@pytest.mark.parametrize(("upcard", "suit"), [("Ab", 0), ("2c", 1), ("7d", 2), ("Rs", 3)])
def test_bestia_12_top_card_is_turned_for_trump(upcard, suit):
    t = table({}, upcard)
    assert (t.s.upcard, t.s.trump) == (ITALIAN.card(upcard), suit)


@given(deck=st.permutations(range(40)), n=st.integers(3, 10), dealer=st.integers(0, 9))
@settings(max_examples=30)
def test_bestia_13_packets_of_three_from_first_hand(deck, n, dealer):
    s = Table("bestia", deck, num_players=n, dealer=dealer % n).s
    assert s.upcard == deck[0]
    for place in range(1, n + 1):
        seat = (dealer + place) % n
        assert ids(s.hands[seat]) == set(deck[3 * place - 2 : 3 * place + 1])


def sessions(n, count):
    states = engine.new_states("bestia", n, None, count)
    keys = np.random.SeedSequence(1).generate_state(count, np.uint64)
    engine.start_sessions(states, keys, -1, 0)
    return states


def test_bestia_09_and_i_15_first_dealer_by_lot():
    dealers = np.bincount(sessions(10, 1000)["dealer"], minlength=10)
    assert abs(dealers - 100).max() < 5 * np.sqrt(100)


def test_bestia_11_shuffled():
    states = sessions(3, 2000)
    places = [np.uint64(1) << states["upcard"].astype(np.uint64)]
    places += [states["hands"][:, seat] for seat in range(3)]
    for cards, each in zip(places, (1, 3, 3, 3)):
        counts = np.array([int((cards >> np.uint64(c) & np.uint64(1)).sum()) for c in range(40)])
        assert counts.sum() == 2000 * each
        assert abs(counts - 50 * each).max() < 5 * np.sqrt(50 * each)


@pytest.mark.parametrize("acts", ["PASS*4 REFUSE*4", "KNOCK PASS*3 REFUSE*3"])
def test_bestia_10_deal_passes_after_every_hand(acts):
    t = Table("bestia", *[order({}, n=4)] * 5, num_players=4, dealer=2)
    dealers = []
    for _ in range(5):
        dealers.append(int(t.s.dealer))
        t.play(acts)
    assert dealers == [2, 3, 0, 1, 2]


# Auction and exchange.


@pytest.mark.parametrize("bids", list(itertools.product(("PASS", "KNOCK"), repeat=3)))
def test_bestia_14_the_auction_decides_who_takes_part(bids):
    t = table({}).play(" ".join(bids))
    t.play(f"REFUSE*{bids.count('PASS')}")
    knocks = {seat for seat, bid in zip((1, 2, 0), bids) if bid == "KNOCK"}
    assert ids(t.s.knocked) == ids(t.s.playing) == knocks


def test_bestia_15_one_turn_each_from_first_hand():
    t = Table("bestia", order({}, n=4), num_players=4, dealer=1)
    assert t.asked("PASS KNOCK*2 PASS") == [2, 3, 0, 1]
    assert t.legal == ["REFUSE", "EXCHANGE"]


def test_bestia_16_pass_or_knock():
    t = table(TWO_ONE)
    for _ in range(3):
        assert t.legal == ["PASS", "KNOCK"]
        t.play("KNOCK")
    assert t.held(1) == ["2b", "3s", "As"]  # he plays these
    assert t.play(TWO_ONE_PLAY).gains == [-3 - 3, 2, 1]  # and seat 0 took no trick


def test_bestia_17_offers_to_those_who_passed():
    t = table({}, n=5).play("PASS KNOCK PASS KNOCK PASS")
    for seat in (1, 3, 0):
        assert t.turn == seat
        assert t.legal == ["REFUSE", "EXCHANGE"]
        t.play("EXCHANGE")
    assert t.turn == 1  # the tricks


def test_bestia_18_who_accepts_must_take_a_trick():
    hands = {1: "As 3s Rs", 2: "2b 4b 5b", 0: "2c 4c 5c"}
    deck = order(hands, stock="Ab Ac Ad")
    t = Table("bestia", deck, num_players=3).play("KNOCK PASS PASS EXCHANGE REFUSE")
    assert t.held(2) == ["Ab", "Ac", "Ad"]
    t.play("As Ab 3s Ac Rs Ad")
    assert t.gains == [-3, 3, -3]


GATHERINGS = [  # players, acts, who receives, whose cards are gathered
    (8, "KNOCK PASS*7 EXCHANGE*3 REFUSE EXCHANGE*3", [2, 3, 4, 6, 7, 0], [5]),
    (8, "PASS*8 EXCHANGE*6", [1, 2, 3, 4, 5, 6], [7, 0]),
    (9, "KNOCK*3 PASS*6 REFUSE EXCHANGE*5", [5, 6, 7, 8, 0], [4]),
    (9, "PASS*9 REFUSE*4 EXCHANGE*5", [5, 6, 7, 8, 0], [1, 2, 3, 4]),
    (10, "KNOCK*5 PASS*5 EXCHANGE*4", [6, 7, 8, 9], [0]),
    (10, "PASS*2 KNOCK PASS*7 REFUSE*2 EXCHANGE*6", [4, 5, 6, 7, 8, 9], [1, 2, 0]),
]


@pytest.mark.parametrize(("n", "acts", "receive", "out"), GATHERINGS)
def test_bestia_20_and_i_08_gathered_cards_exactly(n, acts, receive, out):
    deck, heap = shuffled(n), shuffled(n + 1)
    t = Table("bestia", deck, num_players=n, heaps=[heap])
    packets = {seat: ids(t.s.hands[seat]) for seat in range(n)}
    t.play(acts)
    gathered = {deck[0], *deck[3 * n + 1 :]}.union(*(packets[seat] for seat in out))
    dealt = [card for card in heap if card in gathered]
    assert t.s.gathered
    for i, seat in enumerate(receive):
        assert ids(t.s.hands[seat]) == set(dealt[3 * i : 3 * i + 3])
        assert ids(t.s.thrown[seat]) == packets[seat]
    for seat in set(range(n)) - {*receive, *out}:
        assert ids(t.s.hands[seat]) == packets[seat]
    assert all(t.s.hands[seat] == 0 for seat in out)
    assert (t.s.upcard, t.s.trump) == (deck[0], deck[0] // 10)


def test_bestia_21_gathered_cards_shuffled_from_the_seed():
    def dealt(seed):
        t = Table("bestia", shuffled(0), num_players=10)
        t.env.reset(seed=seed, options={"deck": shuffled(0), "dealer": 0})
        assert t.play("PASS*10 EXCHANGE*6").s.gathered
        return tuple(t.s.hands.tolist())

    assert dealt(1) == dealt(1)
    assert len({dealt(seed) for seed in range(8)}) == 8


def test_bestia_22_who_refuses_is_out():
    t = table({1: "As 2b 4b", 2: "3s Rs Cs", 3: "5b 6b 7b"}, n=4)
    t.play("KNOCK PASS KNOCK PASS REFUSE REFUSE")
    assert ids(t.s.playing) == {1, 3}
    assert t.asked("As 5b 2b 6b 7b 4b") == [1, 3, 1, 3, 3, 1]
    assert t.gains == [-3, 1, 0, 2]


# The tricks.


def test_bestia_23_first_hand_leads():
    assert Table("bestia", order({}), num_players=3, dealer=1).play("KNOCK*3").turn == 2


def test_bestia_24_one_card_each_three_tricks():
    t = knocked(TWO_ONE)
    for trick, cards in enumerate(("As 2c 4b", "3s 4c 5b", "2b Ab 6b")):
        assert t.s.trick == trick
        assert t.asked(cards) == [1, 2, 0]
    assert t.s.tricks[:3].tolist() == [0, 2, 1]


def test_bestia_25_follow_suit_and_no_more():
    t = knocked({1: "7b 2c 4c", 2: "2b Ab As"}).play("7b")
    assert t.legal == ["2b", "Ab"]  # no duty to beat


@pytest.mark.parametrize(
    ("held", "legal"),
    [
        ("2c 4s 5s", ["4s", "5s"]),
        ("2c 4c As", ["As"]),
        ("2c 4c 5d", ["2c", "4c", "5d"]),
    ],
)
def test_bestia_26_void_trumps_if_able(held, legal):
    assert knocked({1: "7b Ac Ad", 2: held}).play("7b").legal == legal


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        ("2b 4s Ab 5s", 0),  # the highest trump
        ("2b 4s Ab 5d", 2),
        ("2b Ac 4b Ad", 3),  # the highest of the suit led
        ("4b Ac 2b Ad", 1),
        ("3s 4s 5s As", 0),
    ],
)
def test_bestia_27_highest_trump_or_of_the_suit_led(cards, winner):
    spare = ("5c 6c", "7c Fc", "Cc Rc", "6d 7d")
    hands = dict(zip((1, 2, 3, 0), map(" ".join, zip(cards.split(), spare))))
    assert knocked(hands, n=4).play(cards).s.tricks[winner] == 1


def test_bestia_28_winner_leads():
    t = knocked(ONE_EACH)
    assert t.asked(ONE_EACH_PLAY) == [1, 2, 0, 1, 2, 0, 2, 0, 1]


def test_bestia_29_a_third_for_each_trick():
    t = knocked(TWO_ONE, pot=27).play(TWO_ONE_PLAY)
    assert t.gains[1:] == [20, 10]


def test_bestia_30_bete_pays_as_much_as_the_pot_held():
    t = knocked({1: "As 3s Rs", **IDLE}, pot=9, dealer=0).finish()
    assert t.gains == [-12 - 3, 12, -12]
    assert t.left == 24


# The decided points.


def test_i_01_bete_pays_the_carry_too_into_the_next_pot():
    win = order({1: "As 3s Rs", **IDLE})
    t = Table("bestia", win, win, num_players=3)
    for pot, left in ((3, 6), (9, 18)):
        assert t.pot == pot
        t.play("KNOCK*3").finish()
        assert t.left == left


@pytest.mark.parametrize("limit", [3, 9, 12, 15])
def test_i_01_match_limit_caps_each_payment(limit):
    t = knocked({1: "As 3s Rs", **IDLE}, pot=9, match_limit=limit).finish()
    paid = min(12, limit)
    assert t.gains == [-paid - 3, 12, -paid]
    assert t.left == 2 * paid


@pytest.mark.parametrize("empty_only", [False, True])
def test_i_02_dealer_stake(empty_only):
    option = {"dealer_stake": "only_if_empty"} if empty_only else {"dealer_stake": "always"}
    t = Table("bestia", *[order({})] * 3, num_players=3, pot=6, **option)
    assert t.pot == (6 if empty_only else 9)
    t.play("PASS*3 REFUSE*3")
    assert t.gains == [0 if empty_only else -3, 0, 0]
    assert t.pot == (6 if empty_only else 12)
    t.play("KNOCK PASS*2 REFUSE*2")
    assert t.pot == 3  # the pot is empty: a stake in either case


@pytest.mark.parametrize("stake", [3, 6, 999])
def test_i_03_stake(stake):
    t = table({}, stake=stake)
    assert t.pot == stake
    assert t.s.gains[0] == -stake


@pytest.mark.parametrize("takes", [False, True])
def test_i_04_nobody_takes_part(takes):
    option = {"all_pass": "dealer_takes"} if takes else {"all_pass": "carry"}
    t = Table("bestia", *[order({})] * 2, num_players=3, pot=6, **option)
    t.play("PASS*3 REFUSE*3")
    assert t.gains == [6 if takes else -3, 0, 0]
    assert t.pot == (3 if takes else 12)
    assert t.s.dealer == 1


@pytest.mark.parametrize(
    ("acts", "seat"),
    [
        ("KNOCK PASS*2 REFUSE*2", 1),
        ("PASS*3 REFUSE EXCHANGE REFUSE", 2),
        ("PASS*2 KNOCK REFUSE*2", 0),
    ],
)
def test_i_05_lone_participant_takes_the_pot(acts, seat):
    t = table({}, pot=6).play(acts)
    assert t.gains == [9 * (seat == s) - 3 * (s == 0) for s in range(3)]
    assert t.left == 0


@pytest.mark.parametrize("n", range(3, 11))
def test_i_06_offered_whatever_the_number_of_knocks(n):
    for passer in range(1, n):
        t = table({}, n=n).play(f"KNOCK*{passer - 1} PASS KNOCK*{n - passer}")
        assert t.turn == passer
        assert t.legal == ["REFUSE", "EXCHANGE"]


def test_i_06_new_cards_when_all_have_answered_in_the_same_order():
    deck = order({}, n=4, stock="Ab Ac Ad Rb Rc Rd")
    t = Table("bestia", deck, num_players=4).play("PASS*3 KNOCK EXCHANGE REFUSE")
    assert t.held(1) == []
    t.play("EXCHANGE")
    assert t.held(1) == ["Ab", "Ac", "Ad"]
    assert t.held(2) == []
    assert t.held(3) == ["Rb", "Rc", "Rd"]


@pytest.mark.parametrize(("n", "enough"), [(7, 6), (8, 5), (9, 4), (10, 3)])
def test_i_07_too_few_is_counted_on_those_who_accepted(n, enough):
    refusals = n - 1 - enough
    t = table({}, n=n).play(f"PASS*{n} REFUSE*{refusals + 1} EXCHANGE*{enough}")
    assert not t.s.gathered
    if n > 7:
        t = table({}, n=n).play(f"PASS*{n} REFUSE*{refusals} EXCHANGE*{enough + 1}")
        assert t.s.gathered


def test_i_08_trump_stays_and_the_upcard_may_come_back():
    up = ITALIAN.card("2s")
    heap = [up, *(card for card in range(40) if card != up)]
    t = Table("bestia", order({}, n=10), num_players=10, heaps=[heap])
    t.play("PASS*10 EXCHANGE*6")
    assert "2s" in t.held(1)
    assert (t.s.upcard, t.s.trump) == (up, 3)


@pytest.mark.parametrize("n", range(3, 11))
def test_i_09_offers_stop_when_even_that_is_too_few(n):
    for knocks in range(n):
        most = (13 - knocks) // 2
        t = table({}, n=n).play(f"KNOCK*{knocks} PASS*{n - knocks}")
        accepted = 0
        while "EXCHANGE" in t.legal:
            t.play("EXCHANGE")
            accepted += 1
        assert accepted == min(most, n - knocks)
        asked = {(knocks + k) % n for k in range(1, accepted + 1)}
        assert ids(t.s.playing) == asked | set(range(1, knocks + 1))
        held = [ids(t.s.hands[seat]) for seat in sorted(ids(t.s.playing))]
        assert [len(cards) for cards in held] == [3] * len(held)
        assert len(set().union(*held)) == 3 * len(held)


@pytest.mark.parametrize(
    ("n", "knocks", "left_out"),
    [(6, 0, 0), (7, 0, 1), (7, 1, 0), (8, 0, 2), (8, 2, 1), (9, 0, 3), (10, 0, 4), (10, 5, 1)],
)
def test_i_09_later_passers_are_out_without_being_asked(n, knocks, left_out):
    takers = n - knocks - left_out
    t = table({}, n=n).play(f"KNOCK*{knocks} PASS*{n - knocks} EXCHANGE*{takers}")
    unasked = ids(t.s.passed) - ids(t.s.exchanged)
    assert unasked == {seat % n for seat in range(n - left_out + 1, n + 1)}
    assert t.s.refused == 0
    assert t.turn == 1
    t.finish()
    assert {t.gains[seat] + 3 * (seat == 0) for seat in unasked} <= {0}


def test_i_09_refusals_take_no_cards():
    t = table({}, n=10).play("PASS*10 REFUSE*4 EXCHANGE*6")
    assert ids(t.s.playing) == {5, 6, 7, 8, 9, 0}


def test_i_10_upcard_is_out_of_play():
    t = table({}, n=10).play("PASS*7 KNOCK*3 REFUSE*4 EXCHANGE*3")
    assert not t.s.gathered
    assert not any("2s" in t.held(seat) for seat in range(10))


@pytest.mark.parametrize(
    ("acts", "next_active", "first_knocker"),
    [
        ("PASS*2 KNOCK PASS REFUSE EXCHANGE REFUSE", 2, 3),
        ("PASS*2 KNOCK*2 REFUSE EXCHANGE", 2, 3),
        ("PASS*4 REFUSE EXCHANGE*2 REFUSE", 2, 2),  # nobody knocked
        ("PASS*2 KNOCK PASS EXCHANGE REFUSE*2", 1, 1),  # first hand is in
        ("PASS KNOCK*3 REFUSE", 2, 2),
    ],
)
def test_i_11_who_leads_for_first_hand(acts, next_active, first_knocker):
    assert table({}, n=4).play(acts).turn == next_active
    assert table({}, n=4, first_lead="next_active").play(acts).turn == next_active
    assert table({}, n=4, first_lead="first_knocker").play(acts).turn == first_knocker


def in_turn(cards, held):
    """Three hands: the first seats have these cards to play, and the next holds `held`."""
    played = [f"{card} {spare}" for card, spare in zip(cards.split(), ("Fd Cd", "Rd 3d"))]
    return dict(zip((1, 2, 0), [*played, held]))


HEADING = [  # upcard, the cards played, held, legal by default, legal with must_head
    ("2s", "7b", "2b Ab As", "2b Ab", "Ab"),
    ("2s", "7b", "2b Rb Ab", "2b Rb Ab", "Rb Ab"),
    ("2s", "7b", "2b 4b As", "2b 4b", "2b 4b"),  # none beats: any
    ("2s", "2b 4s", "5b Ab As", "5b Ab", "5b Ab"),  # a trump is in, and he must follow
    ("Cs", "7b 4s", "2s 5s 2c", "2s 5s", "5s"),
    ("Cs", "7b 7s", "2s 5s 2c", "2s 5s", "2s 5s"),
    ("2s", "7b", "4s 5s 2c", "4s 5s", "4s 5s"),
    ("2s", "7s", "4s Fs As", "4s Fs As", "Fs As"),
    ("2s", "7b", "2c Ac Ad", "2c Ac Ad", "2c Ac Ad"),
]


@pytest.mark.parametrize(("upcard", "cards", "held", "default", "heading"), HEADING)
def test_i_12_must_head(upcard, cards, held, default, heading):
    for must, legal in ((False, default), (True, heading)):
        t = knocked(in_turn(cards, held), upcard, must_head=must).play(cards)
        assert t.legal == legal.split()


@pytest.mark.parametrize(
    ("upcard", "cards", "held", "legal"),
    [
        ("Cs", "7b 4s", "2s 5s As", "As"),  # of the trumps that head, the highest
        ("Cs", "7b 7s", "2s 5s 2c", "2s 5s"),  # none heads: any trump (BESTIA-36)
        ("2s", "7b", "4s 5s 2c", "5s"),
        ("2s", "7b", "2b Rb Ab", "Rb Ab"),  # no trump: no maxim
    ],
)
def test_i_12_and_i_21_maxims_choose_among_the_cards_that_head(upcard, cards, held, legal):
    t = knocked(in_turn(cards, held), upcard, must_head=True, maxims="mask").play(cards)
    assert t.legal == legal.split()


def forced_after(first, acts, n=3, **options):
    """Is the hand after this one a force?"""
    t = Table("bestia", order(first, n=n), order({}, n=n), num_players=n, **options)
    assert not t.s.forced  # never the first hand of a session
    t.play(acts)
    return bool(t.s.forced)


FORCE = [
    ({}, "KNOCK PASS*2 REFUSE*2", {}, True),  # a lone taker
    ({}, "PASS*3 REFUSE*3", {}, True),  # a void hand
    ({}, "PASS*3 REFUSE*3", {"all_pass": "dealer_takes"}, True),
    (ONE_EACH, f"KNOCK*3 {ONE_EACH_PLAY}", {}, True),
    (TWO_ONE, f"KNOCK*3 {TWO_ONE_PLAY}", {}, False),  # a bête
    # Seat 2 leads a plain card although he has a trump: a payment, but no bête.
    (
        {1: "2b 4c As", 2: "Ab 2c 4s", 0: "Ac 5b 6d"},
        "KNOCK*3 2b Ab 5b 2c Ac 4c 6d As 4s",
        {"maxims": "penalty", "maxim_1": False},
        True,
    ),
    # Seat 0 revokes twice, and takes a trick.
    (
        {1: "As 2b 2c", 2: "Ab 4c 4d", 0: "Ac 5d 4s"},
        "KNOCK*3 As 4d 5d 2b Ab Ac 4c 4s 2c",
        {"revoke": "penalty"},
        True,
    ),
]


@pytest.mark.parametrize(("first", "acts", "options", "triggers"), FORCE)
def test_bestia_31_and_i_13_force_after_a_hand_without_bete(first, acts, options, triggers):
    assert forced_after(first, acts, force=True, **options) == triggers
    assert not forced_after(first, acts, **options)


def test_i_13_a_force_is_staked_and_dealt_as_usual_and_everybody_plays():
    win = {1: "As 3s Rs", 2: "2d 4d 5d", 3: "6d 7d Fd", 0: "Cd Rd 3d"}
    decks = [order({}, n=4), order(win, n=4), order({}, n=4)]
    t = Table("bestia", *decks, num_players=4, force=True).play("PASS*4 REFUSE*4")
    assert (t.pot, t.s.dealer, t.turn) == (6, 1, 2)
    assert ids(t.s.playing) == {0, 1, 2, 3}
    assert t.legal == ["Rs", "3s", "As"]  # straight to the tricks
    t.play("As").finish()
    assert t.gains == [-6, -6 - 3, 6, -6]
    assert t.pot == 18 + 3
    assert not t.s.forced
    assert t.legal == ["PASS", "KNOCK"]


def test_i_13_force_after_force_with_three_players():
    t = Table("bestia", *[order(ONE_EACH)] * 4, num_players=3, force=True)
    t.play(f"KNOCK*3 {ONE_EACH_PLAY}")
    for _ in range(3):
        assert t.s.forced
        t.play(ONE_EACH_PLAY)
    assert t.left == 0


# Secrecy, as the environment shows it.


def told(t, seat):
    """The facts that a seat's observation tells."""
    observation = t.env.observe(f"player_{seat}")["observation"]
    return decode(observation, game="bestia", num_players=t.env.num_players)


def known(t, seat):
    """All that the environment tells a seat, and the view that policies get."""
    views = t.env.states.copy()
    look(t.env.states, 0, seat, views, 0)
    return t.seen(seat) + views.tobytes()


def alike(seat, one, two):
    return known(one, seat) == known(two, seat)


def test_i_14_thrown_cards_are_known_to_their_thrower_alone():
    hands = {1: "As 3s Rs", 2: "2b 4b 5b", 0: "2c 4c 5c"}
    decks = (order(h, stock="Ab Ac Ad") for h in (hands, hands | {2: "Fd Cd Rd"}))
    one, two = (Table("bestia", deck, num_players=3) for deck in decks)
    for act in "KNOCK PASS PASS EXCHANGE REFUSE As Ab 3s".split():
        one.play(act)
        two.play(act)
        assert alike(1, one, two)
        assert alike(0, one, two)
        assert not alike(2, one, two)
    assert [told(one, seat)["thrown"] for seat in range(3)] == [
        hands[0].split(),
        [],
        hands[2].split(),
    ]


def test_i_14_undealt_cards_and_others_cards_are_hidden():
    mine = {1: "As 3s Rs"}
    one, two = table(mine), table(mine | {2: "Fd Cd Rd", 0: "7d 6d 5d"})
    assert alike(1, one, two)
    assert alike(1, one.play("KNOCK*3"), two.play("KNOCK*3"))
    assert not alike(2, one, two)


def test_i_08_gathering_is_public_but_not_where_the_upcard_went():
    up = ITALIAN.card("2s")
    rest = [card for card in range(40) if card != up]
    one, two = (
        table({}, n=10, heaps=[heap]).play("KNOCK PASS*9 EXCHANGE*6")
        for heap in ([up, *rest], [*rest, up])
    )
    assert "2s" in one.held(2)
    assert "2s" not in two.held(2)
    assert alike(1, one, two)  # a knocker
    assert alike(0, one, two)  # left out
    for seat in range(10):
        facts = told(one, seat)
        assert (facts["gathered"], facts["upcard"], facts["trump"]) == (True, "2s", "spade")


def test_i_06_answers_are_public():
    t = table({}).play("PASS*3 EXCHANGE REFUSE")
    assert told(t, 0)["offer"] == ["+1 EXCHANGE", "+2 REFUSE"]
    assert told(t, 1)["offer"] == ["you EXCHANGE", "+1 REFUSE"]
    assert told(t, 2)["offer"] == ["you REFUSE", "+2 EXCHANGE"]


# Revokes.


REVOKE = {1: "2b As 2d", 2: "Ab Ac 2c", 0: "4b 4c 4d"}


def test_i_16_revoke_forbidden_or_offered():
    assert knocked(REVOKE).play("2b").legal == ["Ab"]
    assert knocked(REVOKE, revoke="penalty").play("2b").legal == ["Ab", "2c", "Ac"]


def test_i_16_a_revoke_stands_and_costs_the_pot_once():
    t = knocked(REVOKE, revoke="penalty", pot=3).play("2b Ac 4b")
    assert t.turn == 0  # the ace wins nothing
    assert t.s.voids.sum() == 0  # and shows no void
    t.play("4d 2d 2c 4c As Ab")  # no more revokes
    assert t.s.tricks[:3].tolist() == [2, 1, 0]
    assert t.gains == [4 - 3, 2, -6 - 6]  # bête and revoke
    assert t.left == 12


def test_i_16_once_per_seat_and_hand():
    hands = {1: "As 3s 2b", 2: "4s Ab 2c", 0: "2d 4d 5d"}
    t = knocked(hands, revoke="penalty").play("As Ab 2d 3s 2c 4d 2b 4s 5d")
    assert t.s.tricks[:3].tolist() == [0, 2, 1]
    assert t.gains == [-3 - 3, 2, 1 - 3]  # seat 2 withheld his trump twice
    assert t.left == 6


def test_i_16_a_revoker_who_wins_is_paid():
    hands = {1: "2b 2c 4c", 2: "4s Ab 5c", 0: "4b 6c 7c"}
    t = knocked(hands, revoke="penalty").play("2b 4s 4b")
    assert t.turn == 2  # trumped although he could follow
    t.play("Ab 6c 2c 5c 7c 4c")
    assert t.gains == [1 - 3, -3, 2 - 3]


def test_i_16_not_trumping_is_a_revoke_and_so_is_not_heading():
    t = knocked({1: "2b 2c 4c", 2: "4s Ac 5c", 0: "2d 4d 5d"}, revoke="penalty").play("2b Ac 2d")
    assert t.s.revoked[:3].tolist() == [0, 0, 1]
    hands = {1: "7b 2c 4c", 2: "2b Ab 5c", 0: "2d 4d 5d"}
    for must_head in (False, True):
        t = knocked(hands, revoke="penalty", must_head=must_head).play("7b 2b")
        assert t.s.revoked[2] == must_head
        assert t.legal == ["2d", "4d", "5d"]


def test_i_16_a_revoke_is_secret_until_settlement():
    hands = {1: "2b 4c 4d", 2: "Ab Ac 2c", 0: "4b 5c 5d"}
    honest = {1: "2b 4c 4d", 2: "Ad Ac 2c", 0: "4b 5c 5d"}
    one, two = (knocked(h, revoke="penalty").play("2b 2c 4b 5c 4c Ac") for h in (hands, honest))
    assert (told(one, 2)["revoked"], told(two, 2)["revoked"]) == (True, False)
    assert alike(1, one, two)
    assert alike(0, one, two)


def test_i_16_match_limit_caps_a_revoke():
    t = knocked(REVOKE, revoke="penalty", pot=27, match_limit=6).play("2b Ac 4b 4d 2d 2c 4c As Ab")
    assert t.gains == [20 - 3, 10, -6 - 6]


def test_b_13_forbidden_revokes_show_voids():
    t = knocked({1: "2b 2c 4c", 2: "Ac 5c 6c", 0: "4s 2d 4d"}).play("2b Ac 4s")
    bastoni, spade = 1, 8
    assert t.s.voids[:3].tolist() == [bastoni, 0, bastoni | spade]


# Maxims: what a seat may play when breaches are not offered.


def lead(held, first="", upcard="2s", maxims="mask", **options):
    """What first hand may lead, once he has led and won with `first`."""
    t = knocked({1: held, **IDLE}, upcard, maxims=maxims, **options)
    return " ".join(t.play(f"{first} 2d 6d" if first else "").legal)


def test_bestia_32_a_leader_with_the_ace_of_trumps_leads_it():
    assert lead("As Ab 2b") == "As"
    assert lead("As Ab 2b", maxim_1=False) == "2b Ab As"


def test_bestia_33_never_the_three():
    assert lead("3s Ab 2b") == "2b Ab 3s"
    assert lead("3s Ab 2b", upcard="As") == "2b Ab 3s"
    assert lead("As 3s 2b", first="As", maxim_2=False) == "2b 3s"


@pytest.mark.parametrize(
    ("held", "first", "off", "sound"),
    [
        ("4s 5s 2b", "", "", "2b 4s 5s"),  # not in the first trick
        ("As 4s 2b", "As", "", "4s"),
        ("As 4s 2b", "As", "2", "2b 4s"),
        ("As 2b 4b", "2b", "1", "As"),
        ("As 2b 4b", "2b", "12", "4b As"),
        ("As 2b 2c", "As", "", "2b 2c"),
    ],
)
def test_bestia_34_and_i_19_a_trump_after_the_first_trick(held, first, off, sound):
    assert lead(held, first, **{f"maxim_{k}": False for k in off}) == sound


@pytest.mark.parametrize(
    ("held", "first", "off", "sound"),
    [
        ("4s 5s Fs", "", "", "Fs"),
        ("4s 5s Fs", "", "3", "4s 5s Fs"),
        ("4s 5s As", "", "1", "As"),
        ("3s 4s 5s", "3s", "", "5s"),
        ("3s 4s 5s", "3s", "2", "5s"),
        ("3s 4s 5s", "3s", "3", "4s 5s"),
    ],
)
def test_i_20_a_leader_with_nothing_but_trumps_leads_his_highest(held, first, off, sound):
    assert lead(held, first, **{f"maxim_{k}": False for k in off}) == sound


def test_i_18_maxim_1_binds_whoever_leads_any_trick():
    hands = {1: "2b 4b 5b", 2: "As Ab 2c", 0: "2d 4d 5d"}
    for switched_on in (True, False):
        t = knocked(hands, maxims="mask", maxim_1=switched_on, maxim_2=False).play("2b Ab 2d")
        assert t.turn == 2
        assert t.legal == (["As"] if switched_on else ["2c", "As"])


def test_i_18_maxim_1_binds_no_follower():
    hands = {1: "5s 2b 4b", 2: "4s As 2c", 0: "2d 4d 5d"}
    assert knocked(hands, maxims="mask", maxim_3=False).play("5s").legal == ["4s", "As"]


def follow(cards, held, **options):
    """What the next seat may play after these cards."""
    return " ".join(knocked(in_turn(cards, held), **options).play(cards).legal)


@pytest.mark.parametrize(
    ("cards", "held", "sound", "legal"),
    [
        ("2b", "4s 5s 2c", "5s", "4s 5s"),  # void in the suit led
        ("6s", "7s Fs 2c", "Fs", "7s Fs"),  # trumps led
        ("6s", "4s Fs 2c", "Fs", "4s Fs"),
        ("2b 7s", "4s Fs 2c", "Fs", "4s Fs"),
        ("2b 7s", "4s 5s Fs", "Fs", "4s 5s Fs"),
        ("2b Ab", "4s 5s 2c", "5s", "4s 5s"),
        ("2b 7s", "4b 5b As", "4b 5b", "4b 5b"),  # no trump has to be played
        ("2b", "4c 5c 6d", "4c 5c 6d", "4c 5c 6d"),
    ],
)
def test_bestia_35_and_i_20_who_has_to_play_a_trump_plays_his_highest(cards, held, sound, legal):
    assert follow(cards, held, maxims="mask") == sound
    assert follow(cards, held, maxims="mask", maxim_3=False) == legal
    assert follow(cards, held, maxims="penalty") == legal
    assert follow(cards, held) == legal


@pytest.mark.parametrize(
    ("cards", "held", "sound"),
    [("7s", "4s 5s 2c", "4s 5s"), ("7s", "4s 2b 2c", "4s"), ("2b 7s", "4s 5s 2c", "4s 5s")],
)
def test_bestia_36_any_trump_if_the_highest_cannot_beat(cards, held, sound):
    assert follow(cards, held, maxims="mask") == sound


@pytest.mark.parametrize("held", ["As Ab 2b", "4s 5s Fs", "As 4s 5s"])
@pytest.mark.parametrize("maxims", ["off", "penalty"])
def test_i_17_breaches_are_offered_unless_masked(held, maxims):
    assert set(lead(held, maxims=maxims).split()) == set(held.split())


# Maxims: what a breach costs. Seat 1 leads and takes all tricks; the others are bête.


BREACHES = [  # held by first hand, his three leads, maxims switched off, breaches
    ("As 4s 2b", "As 4s 2b", "", 0),
    ("As 4s 2b", "As 2b 4s", "", 1),  # maxim 2
    ("As 4s 2b", "As 2b 4s", "2", 0),
    ("As 2b 2c", "2b As 2c", "", 1),  # maxim 1
    ("As 2b 2c", "2b As 2c", "1", 0),
    ("As 2b 2c", "2b 2c As", "", 2),  # the second breaks maxims 1 and 2
    ("As 2b 2c", "2b 2c As", "1", 1),
    ("As 2b 2c", "2b 2c As", "2", 2),
    ("As 2b 2c", "2b 2c As", "12", 0),
    ("As 4s 2b", "2b 4s As", "", 2),  # the second breaks maxims 1 and 3
    ("As 4s 5s", "4s As 5s", "", 1),  # maxims 1 and 3
    ("As 4s 5s", "4s 5s As", "", 2),
    ("As 4s 5s", "4s 5s As", "1", 2),
    ("As 4s 5s", "4s 5s As", "3", 2),
    ("As 4s 5s", "4s 5s As", "13", 0),
    ("3s 4s 5s", "4s 3s 5s", "", 1),  # maxim 3, leading
    ("3s 4s 5s", "4s 3s 5s", "3", 0),
    ("3s 2b 2c", "2b 3s 2c", "", 0),  # never the three
]


@pytest.mark.parametrize(("held", "leads", "off", "breaches"), BREACHES)
def test_bestia_37_and_i_17_each_offending_card_costs_the_pot(held, leads, off, breaches):
    options = {f"maxim_{k}": False for k in off}
    first, second, third = leads.split()
    acts = f"{first} 2d 6d {second} 4d 7d {third} 5d Fd"
    t = knocked({1: held, **IDLE}, maxims="penalty", pot=3, **options).play(acts)
    assert t.gains == [-6 - 3, 6 - 6 * breaches, -6]
    assert t.left == 12 + 6 * breaches
    assert knocked({1: held, **IDLE}, pot=3).play(acts).left == 12


def test_i_17_a_breach_comes_on_top_of_the_bete():
    t = knocked({1: "2b As 3s", 2: "4s 5s 2c", 0: "Fs 2d 4d"}, maxims="penalty", maxim_1=False)
    t.play("2b 4s Fs 2d As 5s")  # seat 2 trumps low at first
    assert t.s.breaches[:3].tolist() == [0, 0, 1]
    t.play("3s 2c 4d")
    assert t.gains == [1 - 3, 2, -3 - 3]
    assert t.left == 6


def test_bestia_36_any_trump_will_do_costs_nothing():
    hands = {1: "7s 2b 2c", 2: "4s 5s 2d", 0: "4d 5d 6d"}
    t = knocked(hands, maxims="penalty").play("7s 4s 4d")
    assert t.s.breaches.sum() == 0
    t = knocked(hands | {1: "6s 2b 2c", 2: "4s 7s 2d"}, maxims="penalty").play("6s 4s 4d")
    assert t.s.breaches[2] == 1


@pytest.mark.parametrize("limit", [3, 9])
def test_i_01_match_limit_caps_each_breach(limit):
    acts = "2b 2d 6d 2c 4d 7d As 5d Fd"
    hands = {1: "As 2b 2c", **IDLE}
    t = knocked(hands, maxims="penalty", pot=27, match_limit=limit).play(acts)
    assert t.gains == [-limit - 3, 30 - 2 * limit, -limit]
    assert t.left == 4 * limit


def test_i_17_breaches_are_secret_until_settlement():
    one, two = (
        knocked({1: held, **IDLE}, maxims="penalty").play("2b 2d 6d 2c")
        for held in ("As 2b 2c", "Ab 2b 2c")
    )
    assert (told(one, 1)["breaches"], told(two, 1)["breaches"]) == (2, 0)
    for seat in (2, 0):
        assert alike(seat, one, two)


# Maxims and revokes together.


VOID = {1: "2b Ac Ad", 2: "4s 5s 2c", 0: "4b 2d 4d"}


def test_i_21_revokes_are_offered_and_breaches_are_not():
    assert knocked(VOID, maxims="mask", revoke="penalty").play("2b").legal == ["2c", "5s"]
    assert knocked(VOID, maxims="mask").play("2b").legal == ["5s"]
    assert knocked({1: "As 2b 2c"}, maxims="mask", revoke="penalty").legal == ["As"]
    t = knocked(VOID, maxims="penalty", revoke="penalty").play("2b")
    assert t.legal == ["2c", "4s", "5s"]


@pytest.mark.parametrize(
    ("card", "revoked", "breaches"), [("2c", 1, 0), ("4s", 0, 1), ("5s", 0, 0)]
)
def test_i_21_a_revoke_is_judged_as_a_revoke_only(card, revoked, breaches):
    t = knocked(VOID, maxims="penalty", revoke="penalty").play(f"2b {card}")
    assert (t.s.revoked[2], t.s.breaches[2]) == (revoked, breaches)


def test_i_21_legal_for_the_maxims_is_what_the_rules_of_play_allow():
    # Seat 2 can follow, so he never "has to play a trump"; his trump is a revoke, no breach.
    hands = {1: "2b Ac Ad", 2: "4s 5s 4b", 0: "5b 2d 4d"}
    t = knocked(hands, maxims="penalty", revoke="penalty").play("2b 4s")
    assert (t.s.revoked[2], t.s.breaches[2]) == (1, 0)
    # Under must_head a trump that does not head is a revoke, and the sole one that does is free.
    hands = {1: "2b Ac Ad", 2: "7s Fc Cc", 0: "4s Fs 2d"}
    for card, revoked in (("4s", 1), ("Fs", 0)):
        t = knocked(hands, maxims="penalty", revoke="penalty", must_head=True).play(f"2b 7s {card}")
        assert (t.s.revoked[0], t.s.breaches[0]) == (revoked, 0)


def test_i_16_i_17_breach_and_revoke_add_up():
    hands = {1: "As 4b 2c", 2: "Ab 2d 4d", 0: "5b 6d 7d"}
    t = knocked(hands, maxims="penalty", revoke="penalty")
    t.play("4b Ab 5b 2d 6d 2c 7d As 4d")  # seat 1 keeps the ace back, then does not trump
    assert t.s.tricks[:3].tolist() == [1, 1, 1]
    assert t.gains == [1 - 3, 1 - 6, 1]
    assert t.left == 6


# Presets, rewards, actions, and what is refused.


DEFAULTS = {
    "stake": 3,
    "dealer_stake": "always",
    "all_pass": "carry",
    "first_lead": "next_active",
    "must_head": False,
    "force": False,
    "revoke": "forbidden",
    "maxims": "off",
    "maxim_1": True,
    "maxim_2": True,
    "maxim_3": True,
    "match_limit": 999_999_999,
    "ranks": 10,
    "suits": 4,
    "cards": 3,
}


def test_i_22_presets():
    assert dataclasses.asdict(BestiaRules()) == DEFAULTS
    circle = DEFAULTS | {"force": True, "maxims": "penalty"}
    assert dataclasses.asdict(BestiaRules.circle()) == circle
    env = bestia_v0.raw_env(rules=BestiaRules.circle(), stake=6)
    assert dataclasses.asdict(env.rules) == circle | {"stake": 6}


REWARDS = [  # hands, acts, pot carried in, net coins, left
    (TWO_ONE, f"KNOCK*3 {TWO_ONE_PLAY}", 3, [-9, 4, 2], 6),
    ({}, "PASS*3 REFUSE*3", 0, [-3, 0, 0], 3),
    ({}, "KNOCK PASS*2 REFUSE*2", 12, [-3, 15, 0], 0),
    ({1: "As 3s Rs", **IDLE}, "KNOCK*3 As 2d 6d 3s 4d 7d Rs 5d Fd", 9, [-15, 12, -12], 24),
]


@pytest.mark.parametrize(("hands", "acts", "pot", "coins", "left"), REWARDS)
@pytest.mark.parametrize("reward", ["equity", "coins"])
def test_i_23_rewards(hands, acts, pot, coins, left, reward):
    t = table(hands, pot=pot, reward=reward)
    for act in acts.split():
        assert t.rewards == [0, 0, 0]
        t.play(act)
    share = (left - pot) / 3 if reward == "equity" else 0
    assert t.rewards == pytest.approx([net + share for net in coins])
    assert (t.gains, t.left) == (coins, left)


@pytest.mark.parametrize(
    ("n", "ranks", "suits", "cards"),
    [(2, 4, 2, 3), (2, 2, 2, 1), (3, 4, 2, 2), (3, 5, 2, 3), (4, 3, 3, 2), (10, 9, 4, 3)],
)
def test_i_24_offers_stop_and_cards_are_gathered_as_the_pack_has_it(n, ranks, suits, cards):
    size, reduction = ranks * suits, {"ranks": ranks, "suits": suits, "cards": cards, "stake": 6}
    for knocks in range(n):
        t = reduced({}, "Ab", n, **reduction)
        assert {len(t.held(seat)) for seat in range(n)} == {cards}
        t.play(f"KNOCK*{knocks} PASS*{n - knocks}")
        accepted = 0
        while "EXCHANGE" in t.legal:
            t.play("EXCHANGE")
            accepted += 1
        assert accepted == min((size - cards * knocks) // (2 * cards), n - knocks)
        assert t.s.gathered == (cards * accepted > size - 1 - cards * n)
        held = [ids(t.s.hands[seat]) for seat in ids(t.s.playing)]
        assert [len(hand) for hand in held] == [cards] * len(held)
        assert len(set().union(*held)) == cards * len(held)


def test_i_24_each_trick_earns_its_part_of_the_pot():
    t = reduced({1: "Rb", 0: "Ab"}, "3b", 2, ranks=3, suits=2, cards=1).play("KNOCK*2 Rb Ab")
    assert (t.gains, t.left) == ([0, -3], 3)
    reduction = {"ranks": 4, "suits": 2, "cards": 2, "stake": 6}
    t = reduced({1: "3b Rc", 2: "Rb 3c", 0: "Ab Ac"}, "Cb", 3, **reduction)
    t.play("KNOCK*3 3b Rb Ab Ac Rc 3c")
    assert (t.gains, t.left) == ([0, -6, -6], 12)
    t = reduced({1: "Ab Rc", 2: "Rb 3c", 0: "3b Ac"}, "Cb", 3, **reduction)
    t.play("KNOCK*3 Ab Rb 3b Rc 3c Ac")
    assert (t.gains, t.left) == ([-3, 3, -6], 6)


def test_i_24_a_force_and_the_maxims_are_those_of_so_many_cards():
    hands = {1: "Ab Rc", 0: "3b Ac"}
    reduction = {"ranks": 4, "suits": 2, "cards": 2, "stake": 6}
    decks = [pack_order("bestia", hands, "Cb", 2, dealer, **reduction) for dealer in (0, 1)]
    t = Table("bestia", *decks, num_players=2, force=True, maxims="mask", **reduction)
    t.play("KNOCK*2")
    assert t.legal == ["Ab"]  # maxim 1
    t.play("Ab 3b Rc Ac")  # 1-1: nobody is bête
    assert t.s.forced and t.s.phase == bestia_v0.raw_env().game.phases.TRICKS


@pytest.mark.parametrize(
    ("n", "options", "words"),
    [
        (2, {}, "num_players of bestia must be an integer from 3 to 10, not 2"),
        (1, {"cards": 1}, "num_players of bestia must be an integer from 2 to 10, not 1"),
        (11, {"ranks": 9}, "num_players .* from 2 to 10, not 11"),
        (3, {"ranks": 3, "suits": 3}, "at least 10 cards, .* 3 players .* not 3 \\* 3 = 9"),
        (3, {"cards": 0}, "cards must be an integer from 1 to 3, not 0"),
        (3, {"cards": 4}, "cards must be an integer from 1 to 3, not 4"),
        (3, {"ranks": 11}, "ranks must be an integer from 1 to 10, not 11"),
        (3, {"suits": True}, "suits must be an integer from 1 to 4, not True"),
        (3, {"cards": 2}, "stake with 2 cards each must .* multiple of 6, not 3"),
        (3, {"cards": 2, "stake": 6, "match_limit": 9}, "match_limit .* multiple of 6, not 9"),
    ],
)
def test_i_24_reductions_that_cannot_be_are_refused(n, options, words):
    with pytest.raises(ValueError, match=words):
        bestia_v0.raw_env(num_players=n, **options)
    with pytest.raises(ValueError, match=words):
        engine.new_states("bestia", n, BestiaRules(**options))


def test_i_24_orders_and_pots_are_those_of_the_reduction():
    env = bestia_v0.raw_env(num_players=2, ranks=2, suits=2, cards=1)
    for name in ("deck", "heap"):
        with pytest.raises(ValueError, match=f"{name} must have 4 cards, not 40"):
            env.reset(options={name: list(range(40))})
        with pytest.raises(ValueError, match=rf"{name} .* in use, 3b Ab 3c Ac, not Rb"):
            env.reset(options={name: [9, 8, 7, 19]})
    env.reset(options={"deck": [19, 8, 9, 18], "heap": [8, 9, 18, 19], "dealer": 0, "pot": 3})
    assert (env.states[0].upcard, *map(ids, env.states[0].hands[:2])) == (19, {9}, {8})
    env = bestia_v0.raw_env(num_players=2, ranks=3, suits=2, cards=2, stake=12)
    with pytest.raises(ValueError, match=r"pot must .* multiple of 6, not 9"):
        env.reset(options={"pot": 9})
    assert env.rules.match_limit == 999_999_996


def test_actions():
    game = GAMES["bestia"]
    cards = [in_suit("2 4 5 6 7 F C R 3 A", suit).split() for suit in "bcds"]
    names = [*itertools.chain(*cards), *"PASS KNOCK REFUSE EXCHANGE".split()]
    assert [game.action_name(action) for action in range(NUM_ACTIONS)] == names
    assert [Action[name] for name in names[40:]] == [40, 41, 42, 43]
    assert bestia_v0.raw_env().action_space("player_0").n == NUM_ACTIONS == 44


NOT_COINS = [0, -3, 1, 4, 3.0, "3", True, None, 3 * 10**12]
BAD_OPTIONS = [
    *(("stake", value) for value in NOT_COINS),
    *(("match_limit", value) for value in NOT_COINS),
    *(("dealer_stake", value) for value in ("never", "", None, True)),
    *(("all_pass", value) for value in ("dealer", None)),
    *(("first_lead", value) for value in ("first_hand", None)),
    *(("revoke", value) for value in ("allowed", None, False)),
    *(("maxims", value) for value in ("on", None, True)),
    *(
        (option, value)
        for option in ("must_head", "force", "maxim_1", "maxim_2", "maxim_3")
        for value in (1, 0, None, "yes")
    ),
]


@pytest.mark.parametrize(("option", "value"), BAD_OPTIONS)
def test_options_out_of_range_are_refused(option, value):
    for make in (BestiaRules, bestia_v0.raw_env, bestia_v0.env):
        with pytest.raises(ValueError, match=rf"{option} must be .*not {value!r}"):
            make(**{option: value})


PACK = list(range(40))
BAD_ORDERS = [
    *([], "2b", 5, PACK[:39], [*PACK, 40], [*PACK[:39], 38], [*PACK[:39], 40], [-1, *PACK[1:]]),
    *([float(card) for card in PACK], [PACK, PACK[:39]], [PACK, 5]),
]
BAD_RESETS = [
    *(("deck", order) for order in BAD_ORDERS),
    *(("heap", order) for order in BAD_ORDERS),
    *(("dealer", seat) for seat in (-1, 3, 1.0, "0", True)),
    *(("pot", coins) for coins in (-3, 4, 3.0, "3", True, 3 * 10**12)),
]


@pytest.mark.parametrize(("name", "value"), BAD_RESETS)
def test_malformed_reset_options_change_nothing(name, value):
    env = table({}).play("KNOCK").env
    before = env.states.tobytes(), env.agent_selection, list(env.history)
    with pytest.raises(ValueError, match=f"{name} must "):
        env.reset(seed=5, options={name: value})
    assert (env.states.tobytes(), env.agent_selection, list(env.history)) == before


def test_unknown_reset_options_are_ignored():
    env = table({}).env
    env.reset(
        seed=0, options={"unknown": 1, "deck": None, "heap": None, "dealer": None, "pot": None}
    )
    assert env.states[0].pot == 3


@pytest.mark.parametrize("given", [1, 2])
def test_decks_and_heaps_for_each_of_the_first_hands(given):
    decks, heaps = [shuffled(0), shuffled(1)], [shuffled(2), shuffled(3)]
    t = Table("bestia", *decks, num_players=10, heaps=heaps[:given] if given > 1 else heaps[0])
    for hand, (deck, heap) in enumerate(zip(decks, heaps)):
        assert t.s.upcard == deck[0]
        t.play("KNOCK*5 PASS*5 EXCHANGE*4")
        dealt = [card for card in heap if card in {deck[0], *deck[28:]}]
        new = [ids(t.s.hands[(hand + place) % 10]) for place in (6, 7, 8, 9)]
        assert (new == [set(dealt[i : i + 3]) for i in (0, 3, 6, 9)]) == (hand < given)
        t.finish()


# Whatever the options.


RULES = st.builds(
    BestiaRules,
    stake=st.sampled_from([3, 30]),
    dealer_stake=st.sampled_from(["always", "only_if_empty"]),
    all_pass=st.sampled_from(["carry", "dealer_takes"]),
    first_lead=st.sampled_from(["next_active", "first_knocker"]),
    must_head=st.booleans(),
    force=st.just(True),
    revoke=st.sampled_from(["forbidden", "penalty"]),
    maxims=st.sampled_from(["off", "mask", "penalty"]),
    maxim_1=st.booleans(),
    maxim_2=st.booleans(),
    maxim_3=st.booleans(),
    match_limit=st.sampled_from([3, 300, 999_999_999]),
)


def played_session(rules, n, seed, hands=6):
    """Random legal play; yields the state and "was it a force?" after each hand."""
    states = engine.new_states("bestia", n, rules)
    rng = np.array([seed + 1], np.uint64)
    engine.start_sessions(states, np.array([seed], np.uint64), -1, 0)
    for _ in range(hands):
        force = bool(states[0].forced)
        while states[0].turn >= 0:
            engine.act(states, 0, engine.random_legal(states[0], rng))
        yield states[0].copy(), force
        engine.deal_next_hand(states, 0)


@given(rules=RULES, n=st.integers(3, 10), seed=st.integers(0, 2**32))
@settings(max_examples=50)
def test_i_13_force_exactly_when_nobody_is_bete(rules, n, seed):
    for s, was_force in played_session(rules, n, seed):
        bete = s.plays > 0 and any(s.tricks[seat] == 0 for seat in ids(s.playing))
        assert s.forced == (not bete)
        assert s.pot % 3 == 0
        if was_force:
            assert s.plays == 3 * n
            assert s.forced == (n == 3 and s.tricks[:3].tolist() == [1, 1, 1])
