"""What both games have at the table: seats, the pack, the pot, and the public record of play.

Seats are numbered in order of play. A record of a game's dtype is one hand in its session; the
fields below come first in both. Records are plain bytes: copying one clones the whole game.
"""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, lowest, nth, without_lowest
from bestia_env.rng import below, stream

NOBODY = -1
NO_CARD = -1
MAX_COINS = 10**12
"""The most that `match_limit`, a stake or a pot carried in may be, so that all sums stay exact."""
_FIRST_DEALER = np.uint64(2**64 - 1)  # the use of a session's key that draws its first dealer


def table_fields(seats: int, cards: int, plays: int, tricks: int) -> list[tuple]:
    """The record fields that both games share, for so many seats, cards and plays at most.

    A reduction (B-19, I-24) leaves cards out of the pack, and numbers as they are.
    """
    return [
        # The session.
        ("key", np.uint64),  # the deal of hand k depends on key and k alone
        ("in_use", np.uint64),  # the set of the cards of the pack; all but in a reduction
        ("match_limit", np.int64),  # coins: the most that one payment of P may be
        ("coins", np.int64, (seats,)),  # net coins of each seat since the session began
        ("hand_number", np.int64),  # from 0
        # The hand.
        ("rng", np.uint64, (1,)),
        ("carried", np.int64),  # coins in the pot before this hand's stakes
        ("pot", np.int64),  # P, stakes included; once the hand is over, what stays in it
        ("gains", np.int64, (seats,)),  # net coins of each seat in this hand, stakes included
        ("hands", np.uint64, (seats,)),  # sets of the cards held
        ("num_players", np.int8),
        ("dealer", np.int8),
        ("turn", np.int8),  # the seat to act, -1 when the hand is over
        ("phase", np.int8),
        ("viewer", np.int8),  # the seat whose view this is, -1 when nothing is hidden
        ("revoke_allowed", np.bool_),
        ("cards_each", np.int8),  # cards dealt to each seat, and tricks in a hand
        # The pack; positions from `settled` on are drawn only when they are needed.
        ("pack_size", np.int8),  # how many cards are in use
        ("settled", np.int8),
        ("dealt", np.int8),
        ("pack", np.int8, (cards,)),
        ("upcard", np.int8),
        ("trump", np.int8),  # a suit
        # The tricks.
        ("trick", np.int8),  # the number of the current trick, from 0
        ("plays", np.int8),  # cards played in this hand
        ("led", np.int8),  # the card led to the current trick, -1 when none is
        ("best", np.int8),  # the card that is winning it
        ("best_seat", np.int8),
        ("tricks", np.int8, (seats,)),  # tricks taken by each seat
        ("voids", np.uint8, (seats,)),  # bit s: has shown to hold none of suit s
        ("revoked", np.int8, (seats,)),  # 1: has revoked; secret until settlement
        ("play_card", np.int8, (plays,)),  # the cards played, in order
        ("play_seat", np.int8, (plays,)),
        ("trick_start", np.int8, (tricks,)),  # the number of plays before each trick
    ]


def check_choice(rules, **allowed: tuple) -> None:
    """Raise a ValueError for an option of `rules` whose value is none of those allowed."""
    for option, values in allowed.items():
        value = getattr(rules, option)
        same_type = [v for v in values if type(v) is type(value) and v == value]
        if not same_type:
            words = ", ".join(repr(v) for v in values)
            raise ValueError(f"{option} must be one of {words}, not {value!r}")


def check_coins(name: str, value, least: int, step: int = 1, most: int = MAX_COINS) -> None:
    """Raise a ValueError unless `value` is an integer from least to most and a multiple of step."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    if not whole or not least <= value <= most or value % step:
        multiple = f" that is a multiple of {step}" if step > 1 else ""
        raise ValueError(
            f"{name} must be an integer from {least} to {most}{multiple}, not {value!r}"
        )


def write_pack(s: np.record, ranks: int, suits: int, full_ranks: int) -> None:
    """Put into a record which cards are in use: the highest ranks of the first suits."""
    suit = (1 << full_ranks) - (1 << full_ranks - ranks)
    s.in_use = sum(suit << full_ranks * number for number in range(suits))
    s.pack_size = ranks * suits


def read_pack(s: np.record, full_ranks: int) -> dict[str, int]:
    """The options `ranks` and `suits` as they stand in a record."""
    ranks = (int(s.in_use) & (1 << full_ranks) - 1).bit_count()
    return {"ranks": ranks, "suits": int(s.pack_size) // ranks}


@jit
def open_session(s, key, dealer):
    """Seat the players; a negative dealer means by lot (B-14, I-15)."""
    s.key = key
    s.hand_number = 0
    s.coins[:] = 0
    s.viewer = NOBODY
    if dealer < 0:
        s.rng[0] = stream(s.key, _FIRST_DEALER)
        dealer = below(s.rng, s.num_players)
    s.dealer = dealer


@jit
def clear_table(s):
    """Take last hand's cards away; the pot stays."""
    s.rng[0] = stream(s.key, s.hand_number)
    s.carried = s.pot
    s.gains[:] = 0
    s.hands[:] = ZERO
    s.settled = 0
    s.dealt = 0
    for i in range(s.pack.size):
        s.pack[nth(i)] = i
    if s.pack_size < s.pack.size:
        _reduce_pack(s)
    s.trick = 0
    s.plays = 0
    s.led = s.best = NO_CARD
    s.best_seat = NOBODY
    s.tricks[:] = 0
    s.voids[:] = 0
    s.revoked[:] = 0
    s.trick_start[:] = 0


@jit
def _reduce_pack(s):
    """The cards in use alone, in order (B-19, I-24)."""
    s.pack[:] = NO_CARD
    rest = s.in_use
    for i in range(s.pack_size):
        s.pack[nth(i)] = lowest(rest)
        rest = without_lowest(rest)


@jit
def stack_pack(s, order):
    """Fix the whole pack, (cards in use,) int, first card dealt first."""
    for i in range(s.pack_size):
        s.pack[nth(i)] = order[i]
    s.settled = s.pack_size


@jit
def next_card(s):
    """Deal the top card of the pack, shuffled no further than it has to be (Fisher-Yates)."""
    i = s.dealt
    s.dealt += 1
    if i >= s.settled:
        j = i + below(s.rng, s.pack_size - i)
        s.pack[nth(i)], s.pack[nth(j)] = s.pack[nth(j)], s.pack[nth(i)]
        s.settled = i + 1
    return s.pack[nth(i)]


@jit
def next_cards(s, count):
    """Deal a packet of cards."""
    packet = ZERO
    for _ in range(count):
        packet |= bit(next_card(s))
    return packet


@jit
def seat_after(s, seat):
    """The next seat in order of play."""
    seat += 1
    return seat if seat < s.num_players else 0


@jit
def eldest(s):
    """The seat after the dealer (in Bestia: first hand)."""
    return seat_after(s, s.dealer)


@jit
def match(s):
    """What a rule that costs "the pot" takes: P, within the limit (B-17, I-01)."""
    return min(s.pot, s.match_limit)


@jit
def pay(s, seat, coins):
    """The seat's coins change by minus this; the caller says where they go."""
    s.gains[nth(seat)] -= coins


@jit
def settle(s, pot, over):
    """Close the books: what stays in the pot, and everybody's coins."""
    s.pot = pot
    s.phase = over
    s.turn = NOBODY
    for seat in range(s.num_players):
        s.coins[nth(seat)] += s.gains[nth(seat)]


@jit
def pass_the_deal(s):
    """The deal goes to the next seat, after every hand (B-14, BESTIA-10)."""
    s.hand_number += 1
    s.dealer = eldest(s)


@jit
def equity(s, seat):
    """The seat's part of a settled hand with the pot shared alike (B-18); all sum to zero."""
    return s.gains[nth(seat)] + (s.pot - s.carried) / s.num_players


@jit
def settled_score(s, seat):
    """N times the seat's equity in a settled hand, in coins: a whole number."""
    return np.int64(round(s.num_players * equity(s, seat)))
