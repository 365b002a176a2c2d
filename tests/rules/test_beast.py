"""Beast, clause by clause of RULEBOOK.md; four players and dealer 0 unless it says otherwise."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestia_env import beast_v0, engine
from bestia_env.cards import FRENCH
from bestia_env.rules import beast
from bestia_env.rules.beast import Action, BeastRules

from .hands import Table, pack_order

OPTIONS = {
    "losing_counterer": ("both_lose", "pays_winner", "carry"),
    "carry_stakes": ("none", "dealer_one", "full"),
    "counter_order": ("player_left", "eldest"),
    "demonstration": ("sure_tricks", "top_trumps", "off"),
    "revoke": ("forbidden", "penalty"),
}
NOBODY = "LEAVE PASS*4"
ELDEST = "LEAVE PLAY PASS*3"
LONE = "LEAVE PASS PLAY PASS*3"  # seat 2 is the Player
BOTH = "LEAVE PASS PLAY COUNTER"  # and seat 3 the Counterer
STAKES = [-3, -2, -2, -2]


def deal(hands=None, upcard="2c", n=4, dealer=0, **options) -> Table:
    """One hand and the stakes of another; cards not named are low and, at four, no trumps."""
    deck = pack_order("beast", hands or {}, upcard, n, dealer)
    return Table("beast", deck, deck, num_players=n, dealer=dealer, **options)


def script(winners, n=4, dealer=0) -> tuple[list[int], str]:
    """A pack, and cards to play so that these seats take the tricks: each trick is of one suit."""
    tops = [13 * suit + 12 - n * i for suit in (3, 2, 1, 0) for i in range(13 // n)]
    hands: dict[int, list[str]] = {seat: [] for seat in range(n)}
    plays, leader = [], (dealer + 1) % n
    for winner, top in zip(winners, tops):
        for seat in range(n):
            hands[seat].append(FRENCH.name(top - (seat - winner) % n))
        plays += [hands[(leader + i) % n][-1] for i in range(n)]
        leader = winner
    dealt = {seat: " ".join(cards) for seat, cards in hands.items()}
    return pack_order("beast", dealt, "2c", n, dealer), " ".join(plays)


def settled(said, winners="", n=4, dealer=0, **options) -> Table:
    """A hand with these declarations and these winners of its tricks; then the next stakes."""
    deck, plays = script([int(seat) for seat in winners], n, dealer)
    table = Table("beast", deck, deck, num_players=n, dealer=dealer, **options)
    table.play(said).play(plays)
    assert table.env.hand_over
    return table


def paid(table, stakes=STAKES) -> dict[int, int]:
    """What the hand settled last gave each seat beside its stakes, zeros left out."""
    changes = [gain - stake for gain, stake in zip(table.gains, stakes)]
    return {seat: change for seat, change in enumerate(changes) if change}


def legal_to(table, seat) -> list[str]:
    assert table.turn == seat
    return table.legal


# Players, cards, stakes, the deal.


def test_beast_01_four_or_more():
    assert [legal_to(deal(n=n), 0) for n in (4, 5, 6)] == [["LEAVE", "TAKE"]] * 3


@pytest.mark.parametrize(("higher", "lower"), [*pairwise("A K Q J 10 9 8 7 6 5 4 3 2".split())])
def test_beast_02_rank(higher, lower):
    for first, second, winner in ((lower, higher, 2), (higher, lower, 1)):
        t = deal({1: f"{first}h", 2: f"{second}h"}, "2s").play(f"{ELDEST} {first}h {second}h ?*2")
        assert t.turn == winner


def test_beast_02_standard_pack():
    ranks = "2 3 4 5 6 7 8 9 10 J Q K A".split()
    assert [FRENCH.name(card) for card in range(52)] == [r + s for s in "cdhs" for r in ranks]
    assert FRENCH.size == 52


def test_beast_03_coins_won_or_lost():
    t = settled(LONE, "222")
    assert t.gains == [-3, -2, 7, -2] == t.s.coins[:4].tolist()
    assert (t.s.coins + t.s.gains)[:4].tolist() == [-5, -5, 5, -4]  # seat 1 deals the next


@pytest.mark.parametrize("n", [4, 5, 6])
def test_beast_04_stakes(n):
    t = deal(n=n, dealer=2)
    assert t.s.gains[:n].tolist() == [-3 if seat == 2 else -2 for seat in range(n)]
    assert t.pot == 2 * n + 1 == BeastRules.opening_pot(n)


def dealt(n, dealer) -> tuple[Table, list[str]]:
    deck = Random(n).sample(range(52), 52)
    return Table("beast", deck, num_players=n, dealer=dealer), [FRENCH.name(c) for c in deck]


def test_beast_05_five_cards_each_the_dealer_last():
    t, names = dealt(4, dealer=2)
    for place, seat in enumerate((3, 0, 1, 2)):
        assert set(t.held(seat)) == set(names[5 * place : 5 * place + 5])


@pytest.mark.parametrize(("n", "place"), [(4, 20), (5, 30), (6, 42)])
def test_beast_06_next_card_is_turned_up(n, place):
    t, names = dealt(n, dealer=1)
    assert FRENCH.name(int(t.s.upcard)) == names[place]


@pytest.mark.parametrize(("trump", "led"), ["cs", "ds", "hs", "sh"])
def test_beast_07_its_suit_is_trump(trump, led):
    t = deal({1: f"A{led}", 2: f"3{trump}"}, f"2{trump}").play(f"{ELDEST} A{led} 3{trump} ?*2")
    assert t.turn == 2


@pytest.mark.parametrize(("n", "each"), [(5, 6), (6, 7)])
def test_beast_41_players_plus_one_cards(n, each):
    t, names = dealt(n, dealer=0)
    for place in range(n):
        cards = names[each * place : each * place + each]
        assert set(t.held((place + 1) % n)) == set(cards)


@pytest.mark.parametrize(("n", "in_use"), [(4, 21), (5, 31), (6, 43)])
def test_beast_43_four_to_six(n, in_use):
    assert sum(len(deal(n=n).held(seat)) for seat in range(n)) + 1 == in_use


@pytest.mark.parametrize("n", [3, 7, 0, -4, 4.0, "4", None, True])
def test_beast_43_no_other_number(n):
    with pytest.raises(ValueError, match=rf"num_players .*4 to 6, not {re.escape(repr(n))}"):
        beast_v0.raw_env(num_players=n)


# Taking the upcard.


@pytest.mark.parametrize("dealer", range(4))
def test_beast_08_dealer_may_take_first(dealer):
    assert legal_to(deal(dealer=dealer), dealer) == ["LEAVE", "TAKE"]
    assert "TAKE" not in legal_to(deal(dealer=dealer).play("LEAVE PASS*3"), dealer)


@pytest.mark.parametrize("card", "2c Ah Kh Qh Jh 10h".split())
def test_beast_09_discards_one(card):
    t = deal({0: "Ah Kh Qh Jh 10h"}).play("TAKE")
    assert set(legal_to(t, 0)) == set("2c Ah Kh Qh Jh 10h".split())
    t.play(card)
    assert set(t.held(0)) == set("2c Ah Kh Qh Jh 10h".split()) - {card}


def test_beast_10_taking_is_declaring():
    t = deal().play("TAKE 2c PLAY")
    assert t.s.player == 0
    assert legal_to(t, 1) == ["PASS", "COUNTER"]  # no declaration round


# Declaring.


@pytest.mark.parametrize("dealer", range(4))
def test_beast_11_declaration_round(dealer):
    t = deal(dealer=dealer).play("LEAVE")
    for place in (1, 2, 3, 4):
        assert legal_to(t, (dealer + place) % 4) == ["PASS", "PLAY"]
        t.play("PASS")


@pytest.mark.parametrize("passes", range(4))
def test_beast_12_first_is_the_player(passes):
    t = deal().play(f"LEAVE PASS*{passes} PLAY")
    assert t.s.player == (1 + passes) % 4
    assert t.legal == ["PASS", "COUNTER"]


def test_beast_13_nobody_declares():
    t = settled(NOBODY)
    assert (t.gains, t.left) == (STAKES, 9)
    assert all(action >= 52 for _, action in t.env.last_history)
    assert legal_to(t, 1) == ["LEAVE", "TAKE"]  # the deal has passed to the left


@pytest.mark.parametrize("carry_stakes", OPTIONS["carry_stakes"])
def test_beast_14_then_the_new_dealer_adds_one(carry_stakes):
    t = settled(NOBODY, carry_stakes=carry_stakes)
    assert (t.s.gains[:4].tolist(), t.pot) == ([0, -1, 0, 0], 10)


def test_beast_15_each_other_may_counter():
    t = deal().play("LEAVE PASS PLAY")
    for seat in (3, 0, 1):
        assert legal_to(t, seat) == ["PASS", "COUNTER"]
        t.play("PASS")


def test_beast_17_who_passed_may_counter():
    t = deal().play("LEAVE PASS PLAY PASS*2")
    assert legal_to(t, 1) == ["PASS", "COUNTER"]
    assert t.play("COUNTER").s.counterer == 1


def test_beast_18_one_player_one_counterer():
    t = deal().play(BOTH)  # seats 0 and 1 are not asked
    assert (t.s.player, t.s.counterer) == (2, 3)
    assert legal_to(t, 1) == t.held(1)


@pytest.mark.parametrize("said", [LONE, BOTH, "TAKE 2c PLAY PASS*3"])
def test_beast_19_everybody_plays(said):
    t = deal().play(said).finish()
    seats = [seat for seat, action in t.env.last_history if action < 52]
    seats = seats[len(seats) % 4 :]  # less a discard
    assert len(seats) >= 12
    assert all(sorted(seats[i : i + 4]) == [0, 1, 2, 3] for i in range(0, len(seats), 4))


def test_beast_20_demonstration():
    t = deal({2: "Ac Kc Qc"}).play("LEAVE PASS SHOW")
    assert t.env.hand_over
    assert paid(t) == {2: 9}


def test_beast_21_the_trap():
    t = deal({1: "Ac Kc Qc"}).play("LEAVE PASS PLAY PASS*2")
    assert legal_to(t, 1) == ["PASS", "COUNTER", "SHOW"]
    assert paid(t.play("SHOW")) == {2: -9, 1: 18}


# The tricks.


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("said", [LONE, BOTH, "TAKE 2c PLAY PASS*3"])
def test_beast_22_eldest_leads(dealer, said):
    t = deal(dealer=dealer).play(said)
    assert legal_to(t, (dealer + 1) % 4) == t.held((dealer + 1) % 4)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_beast_23_clockwise(n):
    t = deal(n=n, dealer=2).play(f"LEAVE PLAY PASS*{n - 1}")
    assert t.asked(f"?*{n}") == [(3 + place) % n for place in range(n)]


@pytest.mark.parametrize(
    ("led", "may"), [("Ah", "2h 9h"), ("Ad", "4d"), ("Ac", "3c"), ("As", "Ks"), ("9s", "Ks")]
)
def test_beast_24_follow_suit(led, may):
    t = deal({1: led, 2: "2h 9h Ks 3c 4d"}, "2s").play(f"{ELDEST} {led}")
    assert legal_to(t, 2) == may.split()


def test_beast_25_revoke_costs_the_pot():
    t = deal({1: "Ah Kh Qh", 2: "2h 3c"}, "2s", revoke="penalty")
    t.play(f"{ELDEST} Ah 3c ?*2 Kh 2h ?*2 Qh ?*3")
    assert paid(t) == {1: 9, 2: -9}
    assert t.left == 9


@pytest.mark.parametrize("led", ["Ah", "2h"])
def test_beast_26_unable_any_card(led):
    t = deal({1: led, 2: "3c Ac 4d 5s As"}, "2s").play(f"{ELDEST} {led}")
    assert set(legal_to(t, 2)) == {"3c", "Ac", "4d", "5s", "As"}


def test_beast_26_no_duty_to_beat():
    t = deal({1: "9h", 2: "2h Ah", 3: "5s As"}, "2s").play(f"{ELDEST} 9h")
    assert legal_to(t, 2) == ["2h", "Ah"]
    assert {"5s", "As"} < set(legal_to(t.play("Ah"), 3))


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        ("9h 10h Ah Kh", 3),
        ("2h Ac Ad Kc", 1),
        ("9h Ac Qh Ad", 3),
        ("9h 3s Ah Kh", 2),
        ("Ah 3s 4s Kh", 3),
        ("Ah 5s 4s 3s", 2),
        ("5s 6s Ah 7s", 0),
        ("5s Ah 4s Ac", 1),
        ("3s Ac Ad Ah", 1),
    ],
)
def test_beast_27_highest_trump_or_suit_led(cards, winner):
    hands = dict(zip((1, 2, 3, 0), cards.split()))
    assert deal(hands, "2s").play(f"{ELDEST} {cards}").turn == winner


def test_beast_28_winner_leads():
    t = deal({1: "9h", 2: "10h", 3: "Ah", 0: "Kh"}, "2s").play(f"{ELDEST} 9h 10h Ah Kh")
    assert legal_to(t, 3) == t.held(3)
    assert t.asked("?*4") == [3, 0, 1, 2]


def test_beast_29_most_tricks():
    assert paid(settled(LONE, "12122")) == {2: 9}
    assert paid(settled(LONE, "12121")) == {2: -9}
    assert paid(settled(LONE, "31022")) == {2: 9}


@pytest.mark.parametrize(
    ("winners", "wins"), [("12213", True), ("12123", False), ("11223", False), ("22113", True)]
)
def test_beast_30_tie_first_to_reach_it(winners, wins):
    assert paid(settled(LONE, winners)) == {2: 9 if wins else -9}


def first_to_most(winners) -> int:
    most = max(Counter(winners).values())
    reached = {seat: [i for i, w in enumerate(winners) if w == seat] for seat in set(winners)}
    return min((w[most - 1], seat) for seat, w in reached.items() if len(w) == most)[1]


@given(st.data(), st.sampled_from([4, 5, 6]))
def test_beast_31_first_to_three_or_two(data, n):
    winners = data.draw(st.lists(st.integers(0, n - 1), min_size=n + 1, max_size=n + 1))
    player, dealer = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    deck, plays = script(winners, n, dealer)
    t = Table("beast", deck, num_players=n, dealer=dealer)
    t.play(f"LEAVE PASS*{(player - dealer - 1) % n} PLAY PASS*{n - 1}")
    for card in plays.split():
        if not t.over:
            t.play(card)
    assert t.over
    assert (t.gains[player] > 0) == (player == first_to_most(winners))


def test_beast_31_with_five_cards():
    assert paid(settled(LONE, "11222")) == {2: 9}  # first to three
    assert paid(settled(LONE, "30221")) == {2: 9}  # first to two
    assert paid(settled(LONE, "03322")) == {2: -9}  # second to two


# The settlement.


def test_beast_32_player_wins():
    t = settled(LONE, "222")
    assert (paid(t), t.left) == ({2: 9}, 0)


@pytest.mark.parametrize("carry_stakes", OPTIONS["carry_stakes"])
def test_beast_33_full_stakes_next(carry_stakes):
    t = settled(LONE, "222", carry_stakes=carry_stakes)
    assert (t.pot, t.s.gains[:4].tolist()) == (9, [-2, -3, -2, -2])


def test_beast_34_player_loses():
    t = settled(LONE, "111")
    assert (paid(t), t.left) == ({2: -9}, 18)


def test_beast_35_counterer_wins():
    t = settled(BOTH, "333")
    assert (paid(t), t.left) == ({2: -9, 3: 18}, 0)


@pytest.mark.parametrize("carry_stakes", OPTIONS["carry_stakes"])
def test_beast_36_full_stakes_next(carry_stakes):
    t = settled(BOTH, "333", carry_stakes=carry_stakes)
    assert (t.pot, t.s.gains[:4].tolist()) == (9, [-2, -3, -2, -2])


def test_beast_37_counterer_loses_too():
    assert paid(settled(BOTH, "111")) == {2: -9, 3: -9}


def test_beast_38_pot_is_tripled():
    assert settled(BOTH, "000").left == 27


@pytest.mark.parametrize(("said", "left"), [(LONE, 18), (BOTH, 27)])
@pytest.mark.parametrize("winners", ["000", "111"])
def test_beast_39_others_win_nothing(said, left, winners):
    t = settled(said, winners)
    assert int(winners[0]) not in paid(t)
    assert t.left == left == t.pot


ROWS = [  # declarations, winners; with P and the match M: paid to seats 2 and 3, pot after, stakes
    (LONE, "222", lambda p, m: (p, 0, 0), "full"),
    (BOTH, "222", lambda p, m: (p, 0, 0), "full"),
    (BOTH, "333", lambda p, m: (-m, p + m, 0), "full"),
    (LONE, "111", lambda p, m: (-m, 0, p + m), "carry"),
    (LONE, "333", lambda p, m: (-m, 0, p + m), "carry"),
    (BOTH, "111", lambda p, m: (-m, -m, p + 2 * m), "carry"),
    (NOBODY, "", lambda p, m: (0, 0, p), "one"),
]


@pytest.mark.parametrize("match_limit", [1, 8, 9, 100, 999_999_999])
@pytest.mark.parametrize(("pot", "stakes"), [(0, STAKES), (25, [0, 0, 0, 0])])
@pytest.mark.parametrize(("said", "winners", "row", "following"), ROWS)
def test_settlement_table(said, winners, row, following, pot, stakes, match_limit):
    t = settled(said, winners, pot=pot, match_limit=match_limit)
    p = pot or 9
    player, counterer, left = row(p, min(p, match_limit))
    assert [paid(t, stakes).get(seat, 0) for seat in range(4)] == [0, 0, player, counterer]
    assert t.left == left
    assert t.pot == left + {"full": 9, "carry": 0, "one": 1}[following]


@pytest.mark.parametrize(("n", "p"), [(5, 11), (6, 13)])
def test_settlement_table_for_more(n, p):
    stakes, enough = [-3] + [-2] * (n - 1), {5: 3, 6: 4}[n]
    lone, both = f"LEAVE PASS PLAY PASS*{n - 1}", "LEAVE PASS PLAY COUNTER"
    for said, winner, changes, left in (
        (lone, "2", {2: p}, 0),
        (both, "3", {2: -p, 3: 2 * p}, 0),
        (lone, "4", {2: -p}, 2 * p),
        (both, "4", {2: -p, 3: -p}, 3 * p),
    ):
        t = settled(said, winner * enough, n)
        assert (paid(t, stakes), t.left, t.pot) == (changes, left, left or p)


def test_check_numbers():
    hands = [(LONE, "111"), (NOBODY, ""), (BOTH, "333"), (BOTH, "222"), (NOBODY, "")]
    scripts = [script([int(w) for w in wins], dealer=k % 4) for k, (_, wins) in enumerate(hands)]
    t = Table("beast", *(deck for deck, _ in scripts))
    pots = [t.pot]
    for (said, _), (_, plays) in zip(hands[:4], scripts):
        t.play(said).play(plays)
        pots.append(t.pot)
    assert pots == [9, 18, 19, 57, 9]
    assert t.gains == [0, -57, 114, 0]
    assert t.s.coins[:4].sum() == 0 - t.left


# Decided points.


@pytest.mark.parametrize(
    ("option", "changes", "left"),
    [("both_lose", {2: 9}, 0), ("pays_winner", {2: 18, 3: -9}, 0), ("carry", {2: 9, 3: -9}, 9)],
)
def test_b_01_losing_counterer(option, changes, left):
    t = settled(BOTH, "222", losing_counterer=option)
    assert (paid(t), t.left, t.pot) == (changes, left, left + 9)
    assert paid(settled(BOTH, "111", losing_counterer=option)) == {2: -9, 3: -9}
    assert paid(settled(LONE, "222", losing_counterer=option)) == {2: 9}


@pytest.mark.parametrize(("option", "won"), [("pays_winner", 13), ("carry", 9)])
def test_b_01_losing_counterer_with_a_limit(option, won):
    t = settled(BOTH, "222", losing_counterer=option, match_limit=4)
    assert (paid(t), t.left) == ({2: won, 3: -4}, 13 - won)


def test_b_02_two_match():
    t = settled(BOTH, "111")
    assert (paid(t), t.left) == ({2: -9, 3: -9}, 27)


CARRIED = [("none", [0, 0, 0, 0]), ("dealer_one", [0, -1, 0, 0]), ("full", [-2, -3, -2, -2])]


@pytest.mark.parametrize(("option", "stakes"), CARRIED)
@pytest.mark.parametrize(("said", "left"), [(LONE, 18), (BOTH, 27)])
def test_b_03_stakes_on_a_carried_pot(option, stakes, said, left):
    t = settled(said, "111", carry_stakes=option)
    assert (t.s.gains[:4].tolist(), t.left, t.pot) == (stakes, left, left - sum(stakes))


@pytest.mark.parametrize(("option", "stakes"), CARRIED)
def test_b_03_stakes_on_a_pot_from_reset(option, stakes):
    t = deal(dealer=1, pot=20, carry_stakes=option)
    assert (t.s.gains[:4].tolist(), t.pot) == (stakes, 20 - sum(stakes))
    assert deal(dealer=1, pot=0, carry_stakes=option).pot == 9


@pytest.mark.parametrize("carry_stakes", OPTIONS["carry_stakes"])
def test_b_03_full_stakes_on_what_stayed(carry_stakes):
    t = settled(BOTH, "222", losing_counterer="carry", carry_stakes=carry_stakes)
    assert (t.left, t.pot) == (9, 18)


@pytest.mark.parametrize(
    ("option", "player", "order"),
    [
        ("player_left", 2, [3, 0, 1]),
        ("player_left", 1, [2, 3, 0]),
        ("player_left", 0, [1, 2, 3]),
        ("eldest", 2, [1, 3, 0]),
        ("eldest", 1, [2, 3, 0]),
        ("eldest", 0, [1, 2, 3]),
        ("eldest", 3, [1, 2, 0]),
    ],
)
def test_b_04_counter_order(option, player, order):
    t = deal(counter_order=option).play(f"LEAVE PASS*{(player - 1) % 4} PLAY")
    assert t.asked("PASS*3") == order
    assert t.s.phase == beast.Phase.TRICKS


@pytest.mark.parametrize("option", OPTIONS["counter_order"])
def test_b_04_first_counter_ends_the_offers(option):
    t = deal(counter_order=option, dealer=3).play("LEAVE PASS PLAY COUNTER")
    assert (t.turn, t.s.phase) == (0, beast.Phase.TRICKS)
    assert t.s.counterer == {"player_left": 2, "eldest": 0}[option]


def test_b_05_dealer_who_left_it_declares_last():
    assert legal_to(deal().play("LEAVE PASS*3"), 0) == ["PASS", "PLAY"]
    assert deal().play("LEAVE PASS*3 PLAY").s.player == 0
    t = deal().play("LEAVE PASS PLAY PASS")
    assert legal_to(t, 0) == ["PASS", "COUNTER"]
    assert t.play("COUNTER").s.counterer == 0


def test_b_06_the_dealer_decides_blind():
    strong, weak = deal({0: "As Ks Qs"}), deal({0: "3s 4s 5s"})
    assert strong.seen(0) == weak.seen(0)
    assert strong.play("LEAVE").seen(0) != weak.play("LEAVE").seen(0)
    assert deal({0: "As"}).play("TAKE").seen(0) != deal({0: "3s"}).play("TAKE").seen(0)


def test_b_06_take_comes_first_in_every_hand():
    assert legal_to(settled(LONE, "222"), 1) == ["LEAVE", "TAKE"]


def test_b_07_only_the_dealer_knows_the_discard():
    one, other = deal({0: "As Ks"}).play("TAKE As"), deal({0: "As Ks"}).play("TAKE 2c")
    for seat in (1, 2, 3):
        assert one.seen(seat) == other.seen(seat)
    assert one.seen(0) != other.seen(0)


def test_b_07_any_card_even_the_upcard():
    for card in deal({0: "As Ks Qs Js 10s"}).play("TAKE").legal:
        t = deal({0: "As Ks Qs Js 10s"}).play(f"TAKE {card}")
        assert len(t.held(0)) == 5
        assert card not in t.held(0)


def test_b_08_upcard_left_is_out_of_play():
    t = deal(upcard="Ac").play("LEAVE")
    assert all("Ac" not in t.held(seat) for seat in range(4))
    other = deal(upcard="Kc").play("LEAVE")
    assert all(t.seen(seat) != other.seen(seat) for seat in range(4))  # known to all


def test_b_09_when_one_may_show():
    t = deal({1: "Ac Kc Qc"})
    assert "SHOW" in legal_to(t.play("LEAVE"), 1)
    t.play("PLAY PASS*3")
    while not t.env.hand_over:
        assert "SHOW" not in t.legal
        t.play("?")


def test_b_09_dealer_after_the_discard():
    t = deal({0: "Kc Qc 9h"}, "Ac").play("TAKE")
    assert "SHOW" not in t.legal
    assert legal_to(t.play("9h"), 0) == ["PLAY", "SHOW"]
    assert legal_to(deal().play("TAKE 2c"), 0) == ["PLAY"]  # he is always asked
    assert paid(t.play("SHOW")) == {0: 9}


def test_b_09_being_asked_tells_nothing():
    one, other = deal({0: "Kc Qc 9h"}, "Ac"), deal({0: "Kh Qh 9h"}, "Ac")
    for t in (one, other):
        t.play("TAKE 9h")
    assert one.seen(3) == other.seen(3)


@pytest.mark.parametrize(("pot", "stakes"), [(0, STAKES), (20, [0, 0, 0, 0])])
def test_b_10_player_shows(pot, stakes):
    t = deal({2: "Ac Kc Qc"}, pot=pot).play("LEAVE PASS SHOW")  # nobody may counter
    assert (t.env.hand_over, paid(t, stakes), t.left, t.pot) == (True, {2: pot or 9}, 0, 9)


@pytest.mark.parametrize(("match_limit", "m"), [(999, 9), (4, 4)])
def test_b_11_counterer_shows(match_limit, m):
    t = deal({3: "Ac Kc Qc"}, match_limit=match_limit).play("LEAVE PASS PLAY SHOW")
    assert (paid(t), t.left, t.pot) == ({2: -m, 3: 9 + m}, 0, 9)


# The demonstration.


def shows(hand, upcard="2c", n=4, seat=2, **options) -> bool:
    """May this seat show at its first turn, the upcard left?"""
    place = (seat - 1) % n
    t = deal({seat: hand}, upcard, n, **options).play(f"LEAVE PASS*{place}")
    return "SHOW" in legal_to(t, seat)


@pytest.mark.parametrize(
    ("hand", "upcard", "n", "seat", "legal"),
    [
        ("Ac Kc Qc", "2c", 4, 2, True),
        ("Ac Kc", "2c", 4, 1, False),
        ("Ac Kc Jc", "2c", 4, 2, False),
        ("Ac Qc Jc", "Kc", 4, 2, True),
        ("Kc Qc Jc", "2c", 4, 2, False),
        ("Kc Qc Jc", "Ac", 4, 2, True),
        ("Kc Qc Jc 10c", "2c", 4, 2, True),
        ("Kc Qc Jc 10c Ah", "2c", 4, 2, True),
        ("Ac Kc Jc 10c", "2c", 4, 2, True),
        ("Qc Jc 10c 9c", "2c", 4, 2, False),
        ("Qc Jc 10c 9c 8c", "2c", 4, 2, True),
        ("Ac 3c 4c 5c 6c", "2c", 4, 2, False),
        ("Ac Kc Qc", "2c", 5, 1, True),  # the eldest leads them and is first to three
        ("Ac Kc Qc", "2c", 5, 2, False),
        ("Ac Kc Qc", "2c", 5, 0, False),
        ("Ac Kc Jc", "Qc", 5, 1, True),
        ("Ac Kc Jc", "2c", 5, 1, False),
        ("Kc Qc Jc 10c", "2c", 5, 1, False),  # three are certain, but not the first three
        ("Ac Kc Qc Jc", "2c", 5, 2, True),
        ("Kc Qc Jc 10c 9c", "2c", 5, 2, True),
        ("Ac Kc Qc", "2c", 6, 1, False),
        ("Ac Kc Qc Jc", "2c", 6, 1, True),
        ("Ac Kc Qc Jc", "2c", 6, 4, True),
        ("Ac Kc Qc 10c", "2c", 6, 4, False),
        ("As Ks Qs Ah Ad", "2c", 4, 1, False),
    ],
)
def test_b_12_examples(hand, upcard, n, seat, legal):
    assert shows(hand, upcard, n, seat) == legal
    assert not shows(hand, upcard, n, seat, demonstration="off")


@pytest.mark.parametrize(
    ("hand", "upcard", "n", "seat", "legal"),
    [
        ("Ac Kc Qc", "2c", 4, 2, True),
        ("Kc Qc Jc 10c", "2c", 4, 2, False),
        ("Kc Qc Jc 10c", "Ac", 4, 2, True),
        ("Ac Kc Jc 10c", "2c", 4, 2, False),
        ("Ac Kc Jc 10c", "Qc", 4, 2, True),
        ("Ac Kc Qc", "2c", 5, 1, True),
        ("Ac Kc Qc", "2c", 5, 2, False),
        ("Ac Kc Qc Jc", "2c", 5, 2, True),
        ("Ac Kc Qc 10c 9c", "2c", 5, 2, False),
    ],
)
def test_b_12_top_trumps(hand, upcard, n, seat, legal):
    assert shows(hand, upcard, n, seat, demonstration="top_trumps") == legal


def test_b_12_a_trump_discarded_is_out():
    assert "SHOW" in deal({0: "Ac Kc Qc Jc"}).play("TAKE Ac").legal  # K Q J and the two
    assert "SHOW" not in deal({0: "Kc Qc Jc", 1: "Ac"}, "9h").play("TAKE 9h").legal
    t = deal({0: "Ac 9h", 1: "Kc Qc Jc"}).play("TAKE Ac PLAY")
    assert legal_to(t, 1) == ["PASS", "COUNTER"]  # he cannot know


def test_b_12_an_upcard_taken_is_out_for_nobody_else():
    hands = {0: "9h", 1: "Kc Qc Jc"}
    assert "SHOW" in legal_to(deal(hands, "Ac").play("LEAVE"), 1)
    for discard in ("9h", "Ac"):
        t = deal(hands, "Ac").play(f"TAKE {discard} PLAY")
        assert "SHOW" not in legal_to(t, 1)


@cache
def most_losses(mine, others) -> int:
    """How many of these trumps others can beat, each with a card of its own; by trying all."""
    if not mine:
        return 0
    first, rest = mine[0], mine[1:]
    beaten = [1 + most_losses(rest, others - {u}) for u in others if u > first]
    return max([most_losses(rest, others), *beaten])


def certain(strengths, out) -> int:
    others = frozenset(range(13)) - set(strengths) - set(out)
    return len(strengths) - most_losses(tuple(strengths), others)


def test_b_12_sure_tricks_by_trying_all():
    rng, sure = Random(12), 0
    for _ in range(60):
        upcard, *mine = rng.sample(range(3, 13), rng.choice([4, 5, 6]))
        expected = certain(mine, {upcard}) >= 3
        assert shows(" ".join(map(FRENCH.name, mine)), FRENCH.name(upcard)) == expected
        sure += expected
    assert 10 < sure < 50


def strong_pack(rng, n, rich) -> list[int]:
    """A random pack in which so many seats have most of the high trumps."""
    deck, turned = rng.sample(range(52), 52), n * (n + 1)
    packets = [[*range(turned)[seat * (n + 1) :][: n + 1]] for seat in rng.sample(range(n), rich)]
    top = 13 * (deck[turned] // 13) + 13
    for card in rng.sample(range(top - min(n * rich + 2, 13), top), min(n * rich, 12)):
        packet, at = rng.choice(packets), deck.index(card)
        if packet and at != turned:
            place = packet.pop()
            deck[place], deck[at] = deck[at], deck[place]
    return deck


@pytest.mark.parametrize("demonstration", ["sure_tricks", "top_trumps"])
@pytest.mark.parametrize("n", [4, 5, 6])
def test_b_12_two_never_show_in_one_hand(n, demonstration):
    rng, shown = Random(n), 0
    for i in range(150):
        deck, dealer = strong_pack(rng, n, rich=1 + i % 3), rng.randrange(n)
        t = Table("beast", deck, num_players=n, dealer=dealer, demonstration=demonstration)
        if rng.random() < 0.5:
            turns = f"LEAVE {'PASS ' * n}".split()
        else:
            t.play("TAKE")
            turns = f"{rng.choice(t.legal)} PLAY {'PASS ' * (n - 1)}".split()
        able = set()
        for word in turns:
            if "SHOW" in t.legal:
                able.add(t.turn)
            t.play(word)
        assert len(able) <= 1
        shown += len(able)
    assert shown >= 8


def claim_comes_up(t, rng) -> bool:
    """All speak at random until somebody may show; False if nobody ever may."""
    while t.s.phase < beast.Phase.TRICKS and "SHOW" not in t.legal:
        t.play(rng.choice(t.legal))
    return "SHOW" in t.legal


def legal_trumps(t) -> list[str]:
    return [card for card in t.legal if t.action(card) // 13 == t.s.trump]


def hostile(t, claimant) -> str:
    """The claimant wastes his low trumps; the others overtake him as cheaply as they can."""
    best = t.s.best if t.s.best // 13 == t.s.trump else -1
    over = [card for card in legal_trumps(t) if t.action(card) > best]
    if t.turn == claimant:
        return [*legal_trumps(t), *t.legal][0]
    return over[0] if over and t.s.best_seat == claimant else t.legal[0]


@pytest.mark.parametrize("revoke", OPTIONS["revoke"])
@pytest.mark.parametrize("n", [4, 5, 6])
def test_b_12_what_may_be_shown_wins_when_played(n, revoke):
    rng, claims = Random(n), 0
    while claims < 20:
        deck, dealer = strong_pack(rng, n, rich=1 + claims % 2), rng.randrange(n)
        t = Table("beast", deck, num_players=n, dealer=dealer, revoke=revoke)
        if not claim_comes_up(t, rng):
            continue
        claims += 1
        claimant, p = t.turn, t.pot
        leads_top = n == 5 and claimant == (dealer + 1) % n  # all that is asked of him
        t.play(t.legal[-2])  # PLAY or COUNTER
        for choose in (hostile, lambda t, _: rng.choice(t.legal)):
            played = t.clone()
            while not played.over:
                trumps = legal_trumps(played) if leads_top and played.turn == claimant else []
                played.play(trumps[-1] if trumps else choose(played, claimant))
            assert played.gains[claimant] + p * played.s.revoked[claimant] > 0


# The rest of the decided points.


REVOKER = {1: "Ah Kh Qh", 2: "2h 3c 3d As"}  # seat 1 leads hearts, spades are trumps


def revoked(plays, hands=REVOKER, said=ELDEST, **options) -> Table:
    return deal(hands, "2s", revoke="penalty", **options).play(said).play(plays)


def test_b_13_by_default_not_offered():
    t = deal(REVOKER, "2s").play(f"{ELDEST} Ah")
    assert legal_to(t, 2) == ["2h"]
    with pytest.raises(ValueError, match=r"3c .*not legal .*2h"):
        t.play("3c")


def test_b_13_any_held_card_may_be_played():
    t = revoked("Ah")
    assert legal_to(t, 2) == t.held(2)


@pytest.mark.parametrize(("card", "winner"), [("3c", 1), ("3d", 1), ("As", 2), ("2h", 1)])
def test_b_13_it_stands_and_wins_only_as_a_trump(card, winner):
    assert revoked(f"Ah {card} ?*2").turn == winner


def test_b_13_paid_once_and_stays_for_the_next_hand():
    t = revoked("Ah 3c ?*2 Kh 3d ?*2 Qh 2h ?*2")
    assert (paid(t), t.left, t.pot) == ({1: 9, 2: -9}, 9, 18)


def test_b_13_each_revoker_pays():
    t = revoked("Ah 3c 4d ?*1 Kh 2h 3h ?*1 Qh ?*3", {**REVOKER, 3: "3h 4d"})
    assert (paid(t), t.left, t.pot) == ({1: 9, 2: -9, 3: -9}, 18, 27)


def test_b_13_no_revoke_no_payment():
    t = revoked("Ah 2h ?*2 Kh 3c ?*2 Qh 3d ?*2")  # void after the first trick
    assert (paid(t), t.left) == ({1: 9}, 0)


def test_b_13_a_trump_led_must_be_followed():
    t = revoked("3s 2h ?*2 Ah 3c ?*2 Kh 3d ?*2", {1: "3s Ah Kh", 2: "2h 3c 3d As"})
    assert paid(t) == {1: 9, 2: -9}


def test_b_13_on_a_pot_that_stays():
    t = revoked("Ah 3c ?*2 Kh 3d ?*2 Qh 2h ?*2", said=LONE)
    assert (paid(t), t.left, t.pot) == ({2: -18}, 27, 27)


@pytest.mark.parametrize(
    ("option", "won", "left"), [("both_lose", 9, 9), ("pays_winner", 18, 9), ("carry", 9, 18)]
)
def test_b_13_on_top_of_what_the_counterer_pays(option, won, left):
    plays, both = "Ah 3c ?*2 Kh 3d ?*2 Qh 2h ?*2", "LEAVE PLAY COUNTER"
    t = revoked(plays, said=both, losing_counterer=option)
    assert (paid(t), t.left) == ({1: won, 2: 9 - won - left}, left)


def test_b_13_with_a_limit():
    t = revoked("Ah 3c ?*2 Kh 3d ?*2 Qh 2h ?*2", match_limit=4)
    assert (paid(t), t.left) == ({1: 9, 2: -4}, 4)


@pytest.mark.parametrize(
    ("said", "changes", "left"),
    [(LONE, {}, 9), ("LEAVE PLAY COUNTER", {1: -9, 2: 9}, 9), (ELDEST, {1: -9, 2: -9}, 27)],
)
def test_b_13_a_revoker_who_wins_is_paid(said, changes, left):
    t = revoked("Ah As ?*2 Ks ?*3 Qs ?*3", {1: "Ah", 2: "2h As Ks Qs"}, said)
    assert (paid(t), t.left) == (changes, left)


def test_b_13_cards_never_played_are_no_revoke():
    t = revoked("Ah 2h ?*2 Kh 4h ?*2 Qh", {1: "Ah Kh Qh", 2: "2h 4h 5h 3c"})
    assert (paid(t.play("5h ?*2")), t.left) == ({1: 9}, 0)


def two_worlds(plays) -> list[Table]:
    """Seat 2 has the two of hearts and revokes, or seat 0 has it; seat 1 leads hearts."""
    hands = {1: "Ah Kh", 3: "7c"}
    return [
        revoked(plays, {**hands, 2: "2h 3c", 0: "4d 5d"}),
        revoked(plays, {**hands, 2: "4d 3c", 0: "2h 5d"}),
    ]


@pytest.mark.parametrize("plays", ["Ah 3c", "Ah 3c 7c"])
def test_b_13_not_announced(plays):
    revoke, void = two_worlds(plays)
    for seat in (1, 3):
        assert revoke.seen(seat) == void.seen(seat)


@pytest.mark.parametrize(("option", "shown"), [("forbidden", 0b0100), ("penalty", 0)])
def test_b_13_not_following_shows_a_void(option, shown):
    t = deal({1: "Ah", 2: "3c"}, "2s", revoke=option).play(f"{ELDEST} Ah 3c")
    assert t.s.voids[2] == shown


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize("said", ["LEAVE PASS*{n}", "TAKE ? PLAY PASS*{less}"])
def test_b_14_deal_passes_left_after_every_hand(n, said):
    decks = [list(range(52))] * (n + 1)
    t = Table("beast", *decks, num_players=n, dealer=n - 2)
    for k in range(n + 1):
        assert t.s.dealer == t.turn == (n - 2 + k) % n
        t.play(said.format(n=n, less=n - 1))
        if not t.env.hand_over:
            t.finish()


def test_b_14_deal_passes_after_a_show():
    assert deal({2: "Ac Kc Qc"}).play("LEAVE PASS SHOW").s.dealer == 1


@pytest.mark.parametrize("n", [4, 5, 6])
def test_b_14_first_dealer_is_uniform(n):
    env, draws = beast_v0.raw_env(num_players=n), 600
    dealers = []
    for seed in range(draws):
        env.reset(seed=seed)
        dealers.append(int(env.states[0].dealer))
    counts = np.bincount(dealers, minlength=n)
    assert ((counts - draws / n) ** 2).sum() * n / draws < 20  # chi-square, p < 0.002
    env.reset(seed=draws - 1)
    assert env.states[0].dealer == dealers[-1]


def test_b_14_dealer_option():
    assert [int(deal(dealer=seat).s.dealer) for seat in range(4)] == [0, 1, 2, 3]


EARLY = {  # for Player 2: won, lost
    4: ("222 12122 01222 21202", "111 21211 12211 11223"),
    5: ("222 21212 12122 223344", "111 21121 12121 334422 443312"),
    6: ("2222 1212122 2223332 2233100 1112222", "1111 2121211 3322100 0013322"),
}


@pytest.mark.parametrize("n", EARLY)
def test_b_15_over_as_soon_as_it_is_decided(n):
    for all_winners, wins in zip(EARLY[n], (True, False)):
        for winners in all_winners.split():
            t = settled(f"LEAVE PASS PLAY PASS*{n - 1}", winners, n)  # over with the last of these
            assert (t.gains[2] > 0) == wins


def test_b_16_a_lone_player_must_win_it():
    t = deal().play(LONE)
    assert (t.turn, t.s.phase, t.s.counterer) == (1, beast.Phase.TRICKS, -1)


def test_b_17_coins_are_whole_and_credit_unlimited():
    t = settled(BOTH, "111", pot=10**12, match_limit=10**12)
    assert t.s.coins.dtype == t.s.gains.dtype == t.s.pot.dtype == np.int64
    assert (t.gains, t.left) == ([0, 0, -(10**12), -(10**12)], 3 * 10**12)


def test_b_17_default_limit():
    t = settled(BOTH, "333", pot=10**12)
    assert t.gains == [0, 0, -999_999_999, 10**12 + 999_999_999]
    assert BeastRules().match_limit == 999_999_999


@pytest.mark.parametrize(
    ("said", "winners", "pot", "equity"),
    [
        (LONE, "222", 0, [-3, -2, 7, -2]),
        (LONE, "111", 0, [1.5, 2.5, -6.5, 2.5]),
        (NOBODY, "", 0, [-0.75, 0.25, 0.25, 0.25]),
        (NOBODY, "", 20, [0, 0, 0, 0]),
        (LONE, "111", 20, [5, 5, -15, 5]),
        (LONE, "222", 20, [-5, -5, 15, -5]),
        (BOTH, "333", 20, [-5, -5, -25, 35]),
    ],
)
def test_b_18_equity(said, winners, pot, equity):
    t = settled(said, winners, pot=pot)
    assert t.rewards == equity
    assert settled(said, winners, pot=pot, reward="coins").rewards == t.gains


@pytest.mark.parametrize("reward", ["equity", "coins"])
@pytest.mark.parametrize(("n", "pot"), [(4, 0), (5, 7), (6, 100)])
def test_b_18_sessions(n, pot, reward):
    rng, hands = Random(n), 12
    decks = [rng.sample(range(52), 52) for _ in range(hands)]
    options = {name: rng.choice(values) for name, values in OPTIONS.items()}
    t = Table("beast", *decks, num_players=n, pot=pot, reward=reward, **options)
    total = np.zeros(n)
    while not t.over:
        t.play(rng.choice(t.legal))
        assert t.env.hand_over or t.rewards == [0] * n
        assert reward == "coins" or sum(t.rewards) == pytest.approx(0, abs=1e-6)
        total += t.rewards
    share = (t.left - pot) / n if reward == "equity" else 0
    assert total == pytest.approx(t.s.coins[:n] + share)
    assert t.s.coins[:n].sum() + t.left == pot


# Actions, options, and deals as data.


def reduced(hands, upcard, n=2, dealer=0, **options):
    deck = pack_order("beast", hands, upcard, n, dealer, **options)
    return Table("beast", deck, num_players=n, dealer=dealer, **options)


def test_b_19_every_order_of_the_cards_in_use_is_as_likely():
    states = engine.new_states("beast", 3, BeastRules(ranks=1, cards=1), 1)
    aces, counts = FRENCH.cards("Ac Ad Ah As"), Counter()
    for key in range(4800):
        engine.start_sessions(states, np.array([key], np.uint64), 0, 0)
        s = states[0]
        assert s.pack[:4].tolist() in map(list, permutations(aces))
        counts[(*s.hands[:3].tolist(), int(s.upcard))] += 1
    assert len(counts) == 24
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 60  # 23 degrees of freedom


@pytest.mark.parametrize(("n", "pot"), [(2, 5), (3, 7)])
def test_b_19_stakes_are_those_of_so_many(n, pot):
    t = reduced({}, "As", n, ranks=5)
    assert (t.pot, t.s.gains[:n].tolist()) == (pot, [-3, -2, -2][:n])
    assert [len(t.held(seat)) for seat in range(n)] == [n + 1] * n


@pytest.mark.parametrize(("cards", "tricks"), [(1, 1), (2, 1), (3, 2)])
def test_b_19_over_at_half_of_so_many_tricks(cards, tricks):
    hands = {1: " ".join("Ac Kc Qc".split()[:cards])}
    t = reduced(hands, "Jc", ranks=4, suits=2, cards=cards).play("LEAVE PLAY PASS")
    t.play(" ".join(f"{card} ?" for card in hands[1].split()[:tricks]))
    assert t.over and t.gains == [-3, 3]


@pytest.mark.parametrize(
    ("cards", "held", "upcard", "eldest", "other"),
    [
        (1, "Ac", "Qc", True, True),
        (1, "Kc", "Ac", True, True),  # the ace was left
        (1, "Kc", "Qc", False, False),
        (2, "Ac Jd", "Qc", True, False),  # half of the tricks, led and won first
        (2, "Ac Kc", "Qc", True, True),
        (3, "Ac Jd Qd", "Qc", False, False),
        (3, "Ac Kc Qd", "Qc", True, True),
    ],
)
def test_b_19_sure_tricks_are_those_of_so_many(cards, held, upcard, eldest, other):
    reduction = {"ranks": 4, "suits": 2, "cards": cards}
    t = reduced({1: held}, upcard, **reduction).play("LEAVE")
    assert ("SHOW" in t.legal) == eldest
    t = reduced({0: held}, upcard, **reduction).play("LEAVE PLAY")
    assert ("SHOW" in t.legal) == other


def test_b_19_taking_and_countering_are_as_always():
    t = reduced({1: "Kc Qd", 0: "Jd Kd"}, "Ac", ranks=4, suits=2, cards=2)
    t.play("TAKE Jd")
    assert t.held(0) == ["Ac", "Kd"]
    t.play("PLAY COUNTER Kc Ac")
    assert t.over and t.gains == [2, -2]


@pytest.mark.parametrize(
    ("n", "options", "words"),
    [
        (2, {}, "num_players of beast must be an integer from 4 to 6, not 2"),
        (3, {"ranks": 13, "suits": 4, "cards": 0}, "from 4 to 6, not 3"),
        (1, {"ranks": 5}, "from 2 to 6, not 1"),
        (7, {"ranks": 12}, "from 2 to 6, not 7"),
        (2, {"cards": 4}, "cards of beast must be at most 3 with 2 players, not 4"),
        (4, {"cards": 6, "ranks": 12}, "at most 5 with 4 players, not 6"),
        (3, {"ranks": 4, "suits": 3}, "at least 13 cards, .* 3 players .* not 4 \\* 3 = 12"),
        (4, {"ranks": 0}, "ranks must be an integer from 1 to 13, not 0"),
        (4, {"suits": 5}, "suits must be an integer from 1 to 4, not 5"),
        (4, {"cards": -1}, "cards must be an integer from 0 to 7, not -1"),
        (4, {"cards": 2.0}, "cards must be an integer from 0 to 7, not 2.0"),
    ],
)
def test_b_19_reductions_that_cannot_be_are_refused(n, options, words):
    with pytest.raises(ValueError, match=words):
        beast_v0.raw_env(num_players=n, **options)
    with pytest.raises(ValueError, match=words):
        engine.new_states("beast", n, BeastRules(**options))


@pytest.mark.parametrize("options", [{"ranks": 6}, {"suits": 3}, {"cards": 2}, {"cards": 5}])
def test_b_19_a_record_holds_the_reduction(options):
    s = engine.new_states("beast", 4, BeastRules(**options))[0]
    held = {} if options == {"cards": 5} else options  # that is the full game
    assert BeastRules.read(s) == BeastRules(**held)


def test_actions():
    ids = {"LEAVE": 52, "TAKE": 53, "PASS": 54, "PLAY": 55, "COUNTER": 56, "SHOW": 57}
    assert {action.name: action.value for action in Action} == ids
    assert beast_v0.raw_env().action_space("player_0").n == 58


def test_options_default_first():
    chosen = {name: values[0] for name, values in OPTIONS.items()}
    assert BeastRules() == BeastRules(**chosen, match_limit=999_999_999)
    env = beast_v0.raw_env(rules=BeastRules(revoke="penalty"), demonstration="off")
    assert env.rules == BeastRules(revoke="penalty", demonstration="off")


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", ["", "Carry", None, 0, True, ("off",), ["off"]])
@pytest.mark.parametrize("make", [BeastRules, beast_v0.raw_env])
def test_bad_option(option, value, make):
    with pytest.raises(ValueError) as caught:
        make(**{option: value})
    words = str(caught.value)
    assert option in words
    assert words.endswith(f"not {value!r}")
    assert all(repr(allowed) in words for allowed in OPTIONS[option])


@pytest.mark.parametrize("value", [0, -1, 1.5, 9.0, "9", None, True, 10**13, float("inf")])
@pytest.mark.parametrize("make", [BeastRules, beast_v0.raw_env])
def test_bad_match_limit(value, make):
    with pytest.raises(ValueError, match=rf"match_limit .*from 1 .*{re.escape(repr(value))}$"):
        make(match_limit=value)


@pytest.mark.parametrize("make", [BeastRules, beast_v0.raw_env])
def test_unknown_option(make):
    with pytest.raises(TypeError, match="must_head"):
        make(must_head=True)


PACK = list(range(52))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"deck": PACK[:-1]}, "deck .*52.* 51"),
        ({"deck": [*PACK, 0]}, "deck .*52.* 53"),
        ({"deck": []}, "deck"),
        ({"deck": [*PACK[:-1], 50]}, r"deck .*once.*Ks \(50\)"),
        ({"deck": [*PACK[:-1], 52]}, "deck .*0 to 51, not 52"),
        ({"deck": [-1, *PACK[1:]]}, "deck .*0 to 51, not -1"),
        ({"deck": [float(card) for card in PACK]}, "deck .*integers"),
        ({"deck": [FRENCH.name(card) for card in PACK]}, "deck .*integers"),
        ({"deck": "2c 3c"}, "deck .*'2c 3c'"),
        ({"deck": 7}, "deck .*7"),
        ({"deck": np.array(7)}, "deck .*7"),
        ({"deck": [PACK, PACK[:-1]]}, "deck .*52.* 51"),
        ({"deck": [PACK, [*PACK[:-1], 50]]}, "deck .*once"),
        ({"deck": [PACK, 3]}, "deck"),
        ({"dealer": 4}, "dealer .*0 to 3, not 4"),
        ({"dealer": -1}, "dealer .*0 to 3, not -1"),
        ({"dealer": 1.0}, "dealer .*0 to 3, not 1.0"),
        ({"dealer": True}, "dealer .*0 to 3, not True"),
        ({"dealer": "player_1"}, "dealer .*0 to 3, not 'player_1'"),
        ({"pot": -1}, "pot .*from 0 .*not -1"),
        ({"pot": 2.0}, "pot .*from 0 .*not 2.0"),
        ({"pot": True}, "pot .*from 0 .*not True"),
        ({"pot": 10**13}, "pot .*from 0 to 10{12}, not 10{13}"),
    ],
)
def test_bad_deals(options, words):
    env = beast_v0.raw_env(num_hands=2)
    env.reset(seed=1)
    env.step(Action.LEAVE)
    before = env.states.tobytes(), env.agent_selection, list(env.history), env.infos
    with pytest.raises(ValueError, match=words):
        env.reset(seed=2, options=options)
    assert before == (env.states.tobytes(), env.agent_selection, env.history, env.infos)
    env.step(Action.PASS)  # the session goes on


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda deck: np.array(deck, np.uint8)])
def test_good_deals(kind):
    deck = PACK[::-1]
    env = beast_v0.raw_env(num_hands=3)
    env.reset(seed=3, options={"deck": kind(deck), "dealer": np.int64(2), "pot": np.int32(5)})
    assert (env.states[0].dealer, env.states[0].pot, env.states[0].upcard) == (2, 5, deck[20])
    env.reset(seed=3, options={"deck": [kind(deck), kind(PACK)]})
    for upcard in (deck[20], PACK[20]):
        assert env.states[0].upcard == upcard
        for action in (Action.LEAVE, *[Action.PASS] * 4):
            env.step(action)


def test_options_of_reset_are_for_one_session():
    env = beast_v0.raw_env()
    env.reset(seed=3, options={"deck": PACK, "dealer": 2, "pot": 5})
    env.reset(seed=4)
    other = beast_v0.raw_env()
    other.reset(seed=4)
    assert env.states.tobytes() == other.states.tobytes()


def test_every_clause_is_tested():
    book = Path(beast.__file__).with_name("RULEBOOK.md").read_text(encoding="utf-8")
    ids = re.findall(r"^\| (BEAST-\d\d) \| [NO] |^\| (B-\d\d) \|", book, re.MULTILINE)
    clauses = [f"test_{(clause or point).lower().replace('-', '_')}_" for clause, point in ids]
    assert len(clauses) > 50
    assert [c for c in clauses if not any(name.startswith(c) for name in globals())] == []
