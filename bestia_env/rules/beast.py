"""Beast, after Francis Willughby's Book of Games (17th century).

Source: the transcription by J. L. Forgeng, D. Johnston and D. Cram (2003) and Symon of
Barnesdale's reconstruction. Clause ids are those of RULEBOOK.md beside this file, where every
point that the sources leave open is decided.

The order of a hand: stakes; n+1 cards each and the upcard; TAKE or LEAVE by the dealer, blind;
taken: DISCARD and CLAIM by the dealer, who is the Player; left: DECLARE in turn until somebody
plays; COUNTER by the others in turn; TRICKS; settlement.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, nth, size
from bestia_env.rules.table import (
    NO_CARD,
    NOBODY,
    check_choice,
    check_coins,
    clear_table,
    eldest,
    match,
    next_card,
    next_cards,
    pass_the_deal,
    pay,
    read_pack,
    seat_after,
    settle,
    stack_pack,
    table_fields,
    write_pack,
)
from bestia_env.rules.tricks import (
    follow,
    gather_trick,
    lay_card,
    pairs,
    show_void,
    suit_cards,
    suit_of,
    table_cards,
)

MIN_PLAYERS, MAX_PLAYERS = 4, 6  # BEAST-43
CARDS, RANKS, SUITS = 52, 13, 4


class Action(IntEnum):
    """Actions beside the cards, which are 0–51."""

    LEAVE = 52
    TAKE = 53
    PASS = 54
    PLAY = 55
    COUNTER = 56
    SHOW = 57


class Phase(IntEnum):
    """What the seat to act decides."""

    TAKE = 0
    DISCARD = 1
    CLAIM = 2
    DECLARE = 3
    COUNTER = 4
    TRICKS = 5
    OVER = 6


class Said(IntEnum):
    """What a seat has said in a round."""

    NOTHING = 0
    PASS = 1
    PLAY = 2  # or COUNTER, in the counter round
    SHOW = 3


NUM_ACTIONS = 58
# numba takes plain ints faster than members of an enum.
LEAVE, TAKE, PASS, PLAY, COUNTER, SHOW = (int(a) for a in Action)
AT_TAKE, AT_DISCARD, AT_CLAIM, AT_DECLARE, AT_COUNTER, AT_TRICKS, OVER = (int(p) for p in Phase)
SAID_NOTHING, SAID_PASS, SAID_PLAY, SAID_SHOW = (int(a) for a in Said)
UNDECIDED, LEFT, TAKEN = 0, 1, 2  # the upcard
NO_STAKES, DEALER_ONE, FULL_STAKES = 0, 1, 2
_SUIT = np.uint64((1 << RANKS) - 1)

LOSING_COUNTERER = ("both_lose", "pays_winner", "carry")
CARRY_STAKES = ("none", "dealer_one", "full")
COUNTER_ORDER = ("player_left", "eldest")
DEMONSTRATION = ("sure_tricks", "top_trumps", "off")
REVOKE = ("forbidden", "penalty")
BOTH_LOSE, PAYS_WINNER, CARRY = range(3)
PLAYER_LEFT, FROM_ELDEST = range(2)
SURE_TRICKS, TOP_TRUMPS, OFF = range(3)


@dataclass(frozen=True)
class BeastRules:
    """The options of Beast, the default first.

    Attributes:
        losing_counterer: what a Counterer pays when the Player wins (B-01): "both_lose" nothing,
            "pays_winner" he matches the pot for the Player, "carry" for the next hand.
        carry_stakes: stakes on a pot carried from a hand that another seat won (B-03): "none",
            "dealer_one" one coin from the dealer, "full" as at the start.
        counter_order: who is asked first to counter (B-04): "player_left" or "eldest".
        demonstration: what may be shown (B-12): "sure_tricks", "top_trumps" or "off".
        revoke: "forbidden", or "penalty": any card may be played, a revoke costs P (B-13).
        match_limit: coins, the most that one payment of P may be (B-17).
        ranks: how many of the highest ranks are in the pack; fewer than 13 make a reduction of the
            game for research, like fewer `suits` or `cards` (B-19).
        suits: how many suits are in the pack, the first ones.
        cards: cards each, and tricks in a hand; 0 for one more than players, which is the most.

    Raises:
        ValueError: an option has a value that is not allowed.
    """

    losing_counterer: str = "both_lose"
    carry_stakes: str = "none"
    counter_order: str = "player_left"
    demonstration: str = "sure_tricks"
    revoke: str = "forbidden"
    match_limit: int = 999_999_999
    ranks: int = RANKS
    suits: int = SUITS
    cards: int = 0

    def __post_init__(self) -> None:
        """Check every option."""
        check_choice(
            self,
            losing_counterer=LOSING_COUNTERER,
            carry_stakes=CARRY_STAKES,
            counter_order=COUNTER_ORDER,
            demonstration=DEMONSTRATION,
            revoke=REVOKE,
        )
        check_coins("match_limit", self.match_limit, least=1)
        check_coins("ranks", self.ranks, least=1, most=RANKS)
        check_coins("suits", self.suits, least=1, most=SUITS)
        check_coins("cards", self.cards, least=0, most=MAX_PLAYERS + 1)

    def write(self, s: np.record) -> None:
        """Put the options into a state record, in which `num_players` stands already."""
        s.losing_counterer = LOSING_COUNTERER.index(self.losing_counterer)
        s.carry_stakes = CARRY_STAKES.index(self.carry_stakes)
        s.counter_order = COUNTER_ORDER.index(self.counter_order)
        s.demonstration = DEMONSTRATION.index(self.demonstration)
        s.revoke_allowed = self.revoke == "penalty"
        s.match_limit = self.match_limit
        write_pack(s, self.ranks, self.suits, RANKS)
        s.cards_each = self.cards_each(int(s.num_players))

    @classmethod
    def read(cls, s: np.record) -> BeastRules:
        """The options that stand in a state record; `cards` as in the full game reads as 0."""
        return cls(
            losing_counterer=LOSING_COUNTERER[s.losing_counterer],
            carry_stakes=CARRY_STAKES[s.carry_stakes],
            counter_order=COUNTER_ORDER[s.counter_order],
            demonstration=DEMONSTRATION[s.demonstration],
            revoke=REVOKE[int(s.revoke_allowed)],
            match_limit=int(s.match_limit),
            cards=0 if s.cards_each == s.num_players + 1 else int(s.cards_each),
            **read_pack(s, RANKS),
        )

    def cards_each(self, num_players: int) -> int:
        """Cards dealt to each of so many seats, and tricks in a hand (BEAST-41, B-19)."""
        return self.cards or num_players + 1

    @staticmethod
    def opening_pot(num_players: int) -> int:
        """The pot of a hand that carries nothing, in coins (BEAST-04)."""
        return int(opening_pot(num_players))

    @property
    def pot_unit(self) -> int:
        """What a pot carried in is a multiple of, in coins."""
        return 1


HAND = np.dtype(
    (
        np.record,
        [
            *table_fields(seats=MAX_PLAYERS, cards=CARDS, plays=42, tricks=7),
            ("discard", np.uint64),  # the dealer's, as a set; empty when there is none
            # Options.
            ("losing_counterer", np.int8),
            ("carry_stakes", np.int8),
            ("counter_order", np.int8),
            ("demonstration", np.int8),
            # The session.
            ("stakes", np.int8),  # what was staked on this hand; when it is over, on the next
            # The hand.
            ("upcard_is", np.int8),  # UNDECIDED, LEFT or TAKEN
            ("player", np.int8),
            ("counterer", np.int8),
            ("front", np.int8),  # the seat that first reached the highest number of tricks so far
            ("said", np.int8, (MAX_PLAYERS,)),  # in the declaration round
            ("countered", np.int8, (MAX_PLAYERS,)),  # in the counter round
        ],
    )
)
"""The state of one hand of Beast in its session."""


# Stakes and the deal.


@jit
def opening_pot(num_players):
    """Two coins each and three from the dealer (BEAST-04)."""
    return 2 * num_players + 1


@jit
def open_pot(s, pot):
    """The pot carried into the first hand of a session, 0 for a new one (B-03)."""
    s.pot = pot
    s.stakes = FULL_STAKES if pot == 0 else s.carry_stakes


@jit
def deal(s):
    """Stakes, n+1 cards each, and the upcard (BEAST-04 to BEAST-07)."""
    clear_table(s)
    _deal(s)


@jit
def deal_stacked(s, pack, heap):
    """Deal from a pack in a given order; Beast has no use for the heap."""
    clear_table(s)
    stack_pack(s, pack)
    _deal(s)


@jit
def _deal(s):
    s.discard = ZERO
    s.upcard_is = UNDECIDED
    s.player = s.counterer = s.front = NOBODY
    s.said[:] = SAID_NOTHING
    s.countered[:] = SAID_NOTHING
    _stake(s)
    seat = eldest(s)
    for _ in range(s.num_players):
        s.hands[nth(seat)] = next_cards(s, cards_each(s))
        seat = seat_after(s, seat)
    s.upcard = next_card(s)
    s.trump = suit_of(s.upcard, RANKS)
    s.phase = AT_TAKE
    s.turn = s.dealer


@jit
def _stake(s):
    """Two coins each and three from the dealer, or one from him, or none (BEAST-04, -14, B-03)."""
    s.pot += _stake_of(s, s.dealer)
    pay(s, s.dealer, _stake_of(s, s.dealer))
    seat = eldest(s)
    while seat != s.dealer:
        s.pot += _stake_of(s, seat)
        pay(s, seat, _stake_of(s, seat))
        seat = seat_after(s, seat)


@jit
def _stake_of(s, seat):
    if s.stakes == FULL_STAKES:
        return 3 if seat == s.dealer else 2
    return 1 if s.stakes == DEALER_ONE and seat == s.dealer else 0


@jit
def cards_each(s):
    """Cards dealt to each seat, and tricks in a hand: n+1 unless reduced (BEAST-41, B-19)."""
    return s.cards_each


@jit
def deal_next(s):
    """Pass the deal and deal the next hand of the session."""
    pass_the_deal(s)
    deal(s)


@jit
def deal_next_stacked(s, pack, heap):
    """Pass the deal and deal the next hand from a given pack."""
    pass_the_deal(s)
    deal_stacked(s, pack, heap)


# What is legal, as a set of actions.


@jit
def legal(s):
    """The legal actions of the seat to act; empty when the hand is over."""
    if s.phase == AT_TRICKS:
        return _legal_card(s)
    if s.phase == AT_TAKE:
        return bit(LEAVE) | bit(TAKE)
    if s.phase == AT_DISCARD:
        return s.hands[nth(s.turn)]  # B-07
    if s.phase == AT_CLAIM:
        return bit(PLAY) | _legal_show(s)
    if s.phase == AT_DECLARE:
        return bit(PASS) | bit(PLAY) | _legal_show(s)
    if s.phase == AT_COUNTER:
        return bit(PASS) | bit(COUNTER) | _legal_show(s)
    return ZERO


@jit
def _legal_show(s):
    return bit(SHOW) if can_show(s, s.turn) else ZERO


@jit
def _legal_card(s):
    return s.hands[nth(s.turn)] if s.revoke_allowed else obedient_cards(s, s.turn)


@jit
def obedient_cards(s, seat):
    """The cards with which the seat would follow as it must (BEAST-24, BEAST-26)."""
    if s.led == NO_CARD:
        return s.hands[nth(seat)]
    return follow(s.hands[nth(seat)], suit_cards(suit_of(s.led, RANKS), RANKS))


# The demonstration (BEAST-20, B-12).


@jit
def can_show(s, seat):
    """May the seat show a hand that is sure to win?"""
    if s.demonstration == OFF:
        return False
    mine = _trumps(s, s.hands[nth(seat)])
    if size(mine) < cards_each(s) // 2:
        return False
    others = trumps_unseen(s, seat)
    if certain_tricks(s, mine, others) >= cards_each(s) // 2 + 1:
        return True
    return cards_each(s) % 2 == 0 and seat == eldest(s) and _holds_top_half(s, mine, others)


@jit
def _trumps(s, cards):
    """The trumps of a set of cards, as a set of strengths."""
    return (cards >> np.uint64(s.trump * RANKS)) & _SUIT


@jit
def trumps_unseen(s, seat):
    """Strengths of the trumps that may be in other hands than the seat's: U."""
    seen = s.hands[nth(seat)]
    if s.upcard_is == LEFT:
        seen |= bit(s.upcard)
    if seat == s.dealer:
        seen |= s.discard
    return _trumps(s, s.in_use & ~seen)


@jit
def certain_tricks(s, mine, others):
    """Tricks that trumps of these strengths take however anybody plays: t."""
    if s.demonstration == TOP_TRUMPS:
        return _top_run(mine, others)
    return size(mine) - pairs(mine, others, RANKS)


@jit
def _top_run(mine, others):
    """How many of mine stand unbroken at the top of mine and the others'."""
    run = 0
    for strength in range(RANKS - 1, -1, -1):
        if has(others, strength):
            return run
        if has(mine, strength):
            run += 1
    return run


@jit
def _holds_top_half(s, mine, others):
    """With an even number of cards the eldest leads his top half and is first to it."""
    return _top_run(mine, others) >= cards_each(s) // 2


# What happens.


@jit
def apply(s, action):
    """Carry out a legal action of the seat to act."""
    if s.phase == AT_TRICKS:
        _play_card(s, action)
    elif s.phase == AT_TAKE:
        _take_or_leave(s, action)
    elif s.phase == AT_DISCARD:
        _discard(s, action)
    elif s.phase == AT_CLAIM:
        _claim(s, action)
    elif s.phase == AT_DECLARE:
        _declare(s, action)
    elif s.phase == AT_COUNTER:
        _counter(s, action)


@jit
def _take_or_leave(s, action):
    """The dealer may take the upcard before he looks; that makes him the Player (BEAST-08, -10)."""
    if action == TAKE:
        s.upcard_is = TAKEN
        s.hands[nth(s.dealer)] |= bit(s.upcard)
        s.phase = AT_DISCARD
    else:
        s.upcard_is = LEFT
        s.phase = AT_DECLARE
        s.turn = eldest(s)


@jit
def is_blind(s, seat):
    """The dealer decides before he looks at his cards (BEAST-08, B-06)."""
    return seat == s.dealer and s.phase == AT_TAKE


@jit
def _discard(s, card):
    """Back to n+1 cards, face down (BEAST-09)."""
    s.discard = bit(card)
    s.hands[nth(s.dealer)] &= ~s.discard
    s.phase = AT_CLAIM


@jit
def _claim(s, action):
    """The dealer who took plays or shows; he is always asked, so that it tells nothing (B-09)."""
    _become_player(s, action)


@jit
def _declare(s, action):
    """Each passes, plays or shows; the first to play closes the round (BEAST-11 to BEAST-13)."""
    if action != PASS:
        _become_player(s, action)
        return
    s.said[nth(s.turn)] = SAID_PASS
    if s.turn == s.dealer:
        _settle_void(s)
    else:
        s.turn = seat_after(s, s.turn)


@jit
def _become_player(s, action):
    s.player = s.turn
    if action == SHOW:
        s.said[nth(s.turn)] = SAID_SHOW
        _settle_win(s, s.player)  # B-10
    else:
        s.said[nth(s.turn)] = SAID_PLAY
        _ask_to_counter(s)


@jit
def _ask_to_counter(s):
    """The counter round opens at the Player's left, or at the eldest (B-04)."""
    s.phase = AT_COUNTER
    s.turn = _first_to_counter(s)


@jit
def _first_to_counter(s):
    first = seat_after(s, s.player) if s.counter_order == PLAYER_LEFT else eldest(s)
    return seat_after(s, first) if first == s.player else first


@jit
def _counter(s, action):
    """Each passes, counters or shows; the first Counter ends the round (BEAST-15, BEAST-18)."""
    if action == PASS:
        s.countered[nth(s.turn)] = SAID_PASS
        _ask_next_to_counter(s)
        return
    s.counterer = s.turn
    if action == SHOW:
        s.countered[nth(s.turn)] = SAID_SHOW
        _settle_win(s, s.counterer)  # B-11
    else:
        s.countered[nth(s.turn)] = SAID_PLAY
        _begin_tricks(s)


@jit
def _ask_next_to_counter(s):
    seat = seat_after(s, s.turn)
    if seat == s.player:
        seat = seat_after(s, seat)
    if s.countered[nth(seat)] == SAID_NOTHING:
        s.turn = seat
    else:
        _begin_tricks(s)


@jit
def _begin_tricks(s):
    """Everybody plays; the eldest leads (BEAST-19, BEAST-22)."""
    s.phase = AT_TRICKS
    s.turn = eldest(s)


@jit
def _play_card(s, card):
    """One card each, clockwise (BEAST-23)."""
    seat = s.turn
    if s.led != NO_CARD:
        show_void(s, seat, suit_of(s.led, RANKS), suit_of(card, RANKS) != suit_of(s.led, RANKS))
        if s.revoke_allowed and not has(obedient_cards(s, seat), card):
            s.revoked[nth(seat)] = 1  # BEAST-25
    lay_card(s, seat, card, RANKS)
    if table_cards(s) == s.num_players:
        _finish_trick(s)
    else:
        s.turn = seat_after(s, seat)


@jit
def _finish_trick(s):
    """The winner leads; first to the most tricks wins the hand (BEAST-28 to BEAST-31, B-15)."""
    winner = gather_trick(s)
    if s.front == NOBODY or s.tricks[nth(winner)] > s.tricks[nth(s.front)]:
        s.front = winner
    h = cards_each(s)
    if s.tricks[nth(s.front)] >= (h + 1) // 2 or s.trick == h:
        settle_tricks(s)
    else:
        s.turn = winner


# The settlement.


@jit
def _settle_void(s):
    """Nobody declared: the pot stays, the new dealer adds a coin (BEAST-13, BEAST-14)."""
    s.stakes = DEALER_ONE
    settle(s, s.pot, OVER)


@jit
def settle_tricks(s):
    """The pot by who is in front (BEAST-32 to BEAST-39)."""
    if s.front == s.player or s.front == s.counterer:
        _settle_win(s, s.front)
    else:
        _settle_loss(s)


@jit
def _settle_win(s, winner):
    """Player or Counterer takes the pot; full stakes next (BEAST-32, -33, -35, -36)."""
    s.stakes = FULL_STAKES
    left = 0
    pay(s, winner, -s.pot)
    if winner == s.counterer:
        pay(s, s.player, match(s))
        pay(s, winner, -match(s))
    elif s.counterer != NOBODY and s.losing_counterer != BOTH_LOSE:  # B-01
        pay(s, s.counterer, match(s))
        if s.losing_counterer == PAYS_WINNER:
            pay(s, winner, -match(s))
        else:
            left = match(s)
    _settle_revokes(s, left)


@jit
def _settle_loss(s):
    """Another seat won: the declarers match the pot, which stays (BEAST-34, -37 to -39)."""
    s.stakes = s.carry_stakes
    left = s.pot + match(s)
    pay(s, s.player, match(s))
    if s.counterer != NOBODY:
        left += match(s)
        pay(s, s.counterer, match(s))
    _settle_revokes(s, left)


@jit
def _settle_revokes(s, left):
    """Who revoked pays P once, into the next pot (BEAST-25, B-13)."""
    for seat in range(s.num_players):
        if s.revoked[nth(seat)]:
            pay(s, seat, match(s))
            left += match(s)
    settle(s, left, OVER)
