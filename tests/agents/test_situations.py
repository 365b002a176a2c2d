import numpy as np
import pytest

from agents.duplicate import Table
from agents.situations import view_of_bidder
from bestia_env.bits import bit
from bestia_env.games import GAMES
from bestia_env.rules import beast, bestia

BESTIA, BEAST = Table("bestia", 4), Table("beast", 4)


def cards_of(game: str, names: str) -> int:
    return sum(int(bit(card)) for card in GAMES[game].pack.cards(names))


@pytest.mark.parametrize(
    ("said", "seat", "phase"),
    [
        ("", 0, bestia.AT_AUCTION),
        ("pass KNOCK", 2, bestia.AT_AUCTION),
        ("pass, knock, pass, pass", 0, bestia.AT_OFFER),
        ("knock pass pass knock exchange", 2, bestia.AT_OFFER),
    ],
)
def test_what_was_said_tells_whose_turn_it_is(said, seat, phase):
    view = view_of_bidder(BESTIA, "At 3T 7c", "Rd", said)[0]
    assert (view.turn, view.viewer, view.phase) == (seat, seat, phase)
    assert int(view.hands[seat]) == cards_of("bestia", "Ad 3d 7c")
    assert not np.delete(view.hands, seat).any()
    assert (view.upcard, view.dealer) == (GAMES["bestia"].pack.card("Rd"), 3)


def test_beast_is_bid_too():
    hand = "Ah Kh 2c 3c 4c"
    declares = view_of_bidder(BEAST, hand, "10h", "leave pass")[0]
    assert (declares.turn, declares.phase) == (1, beast.AT_DECLARE)
    counters = view_of_bidder(BEAST, hand, "10h", "take play")[0]
    assert (counters.turn, counters.phase, counters.player) == (0, beast.AT_COUNTER, 3)
    assert int(counters.hands[0]) == cards_of("beast", hand)
    blind = view_of_bidder(BEAST, "", "10h", "")[0]
    assert (blind.turn, blind.phase, int(blind.hands[3])) == (3, beast.AT_TAKE, 0)
    taken = view_of_bidder(BEAST, hand, "10h", "take")[0]
    assert (taken.turn, taken.phase) == (3, beast.AT_DISCARD)
    assert int(taken.hands[3]) == cards_of("beast", f"{hand} 10h")


def test_the_pot_is_that_of_the_table():
    assert view_of_bidder(Table("bestia", 3, pot=4), "2c 4c 5c", "Rd", "")[0].pot == 12


@pytest.mark.parametrize(
    ("hand", "upcard", "said", "message"),
    [
        ("At 3t", "Rd", "", "hand must hold 3 cards here, not 2"),
        ("At Ad 7c", "Rd", "", "hand holds Ad twice"),
        ("Rt 3t 7c", "Rd", "", "hand holds Rd, which is the upcard"),
        ("At 3t 9c", "Rd", "", "unknown card '9c'"),
        ("At 3t 7c", "", "", "unknown card ''"),
        ("At 3t 7c", "Rd", "fold", "unknown bid 'fold': choose among pass, knock, refuse"),
        ("At 3t 7c", "Rd", "pass refuse", "bid 2, 'refuse', is not legal: PASS or KNOCK is"),
        ("At 3t 7c", "Rd", "knock " * 4, "after bid 4, 'knock', the bidding is over"),
        ("At 3t 7c", "Rd", "pass " * 4 + "refuse " * 4, "after bid 8, 'refuse', the bidding"),
    ],
)
def test_what_cannot_be_is_refused(hand, upcard, said, message):
    with pytest.raises(ValueError, match=message):
        view_of_bidder(BESTIA, hand, upcard, said)


def test_who_has_not_looked_holds_no_known_cards():
    with pytest.raises(ValueError, match="hand must hold no cards here, not 5: the dealer"):
        view_of_bidder(BEAST, "Ah Kh 2c 3c 4c", "10h", "")
