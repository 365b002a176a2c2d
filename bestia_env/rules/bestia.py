"""Bestia, as played in Italy with 40 cards.

Source: the rules of Bestia in the family of Rams, with Tresette's following of suit. Clause ids
are those of RULEBOOK.md beside this file, where every point that the source leaves open is decided.

The order of a hand: the dealer's stake; the upcard; three cards each; AUCTION, pass or knock in
turn; OFFER of three new cards to those who passed; TRICKS among the participants; settlement.
A force hand goes from the deal straight to the tricks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import (
    ONE,
    ZERO,
    bit,
    first_from,
    has,
    highest,
    lowest,
    nth,
    or_else,
    size,
    without_lowest,
)
from bestia_env.rng import below
from bestia_env.rules.table import (
    NO_CARD,
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
    beats,
    cards_that_beat,
    gather_trick,
    lay_card,
    show_void,
    suit_cards,
    suit_of,
    table_cards,
)

MIN_PLAYERS, MAX_PLAYERS = 3, 10  # BESTIA-01
CARDS, RANKS, SUITS = 40, 10, 4
CARDS_EACH = 3  # and tricks in a hand, unless reduced (BESTIA-08, BESTIA-24, I-24)


class Action(IntEnum):
    """Actions beside the cards, which are 0–39."""

    PASS = 40
    KNOCK = 41
    REFUSE = 42
    EXCHANGE = 43


class Phase(IntEnum):
    """What the seat to act decides."""

    AUCTION = 0
    OFFER = 1
    TRICKS = 2
    OVER = 3


NUM_ACTIONS = 44
# numba takes plain ints faster than members of an enum.
PASS, KNOCK, REFUSE, EXCHANGE = (int(a) for a in Action)
AT_AUCTION, AT_OFFER, AT_TRICKS, OVER = (int(p) for p in Phase)

DEALER_STAKE = ("always", "only_if_empty")
ALL_PASS = ("carry", "dealer_takes")
FIRST_LEAD = ("next_active", "first_knocker")
REVOKE = ("forbidden", "penalty")
MAXIMS = ("off", "mask", "penalty")
UNLIMITED = 999_999_999  # the default of `match_limit`
ONLY_IF_EMPTY = 1
DEALER_TAKES = 1
FIRST_KNOCKER = 1
MAXIMS_OFF, MASK, PENALTY = range(3)


@dataclass(frozen=True)
class BestiaRules:
    """The options of Bestia, the default first.

    Attributes:
        stake: coins that the dealer pays into the pot, a multiple of 3 (I-03).
        dealer_stake: "always", or "only_if_empty": not on top of a carried pot (I-02).
        all_pass: when nobody takes part "carry" the pot, or "dealer_takes" it (I-04).
        first_lead: where first hand is out, "next_active" or "first_knocker" leads (I-11).
        must_head: must a card that beats the best be played where one may? (I-12)
        force: does a hand without a bête make the next a force? (BESTIA-31, I-13)
        revoke: "forbidden", or "penalty": any card may be played, a revoke costs P (I-16).
        maxims: "off", "mask": breaches are not offered, "penalty": each costs P (I-17).
        maxim_1: a leader who holds the ace of trumps leads it (BESTIA-32).
        maxim_2: a leader after the first trick leads a trump if he has one (BESTIA-34).
        maxim_3: who has to play a trump plays his highest (BESTIA-35, BESTIA-36).
        match_limit: coins, the most that one payment of P may be, a multiple of 3 (I-01).
        ranks: how many of the highest ranks are in the pack; fewer than 10 make a reduction of the
            game for research, like fewer `suits` or `cards` (I-24).
        suits: how many suits are in the pack, the first ones.
        cards: cards each, and tricks in a hand. With 2, `stake` and `match_limit` are multiples
            of 6, and the latter's default counts as 999 999 996.

    Raises:
        ValueError: an option has a value that is not allowed.
    """

    stake: int = 3
    dealer_stake: str = "always"
    all_pass: str = "carry"
    first_lead: str = "next_active"
    must_head: bool = False
    force: bool = False
    revoke: str = "forbidden"
    maxims: str = "off"
    maxim_1: bool = True
    maxim_2: bool = True
    maxim_3: bool = True
    match_limit: int = UNLIMITED
    ranks: int = RANKS
    suits: int = SUITS
    cards: int = CARDS_EACH

    def __post_init__(self) -> None:
        """Check every option."""
        check_coins("ranks", self.ranks, least=1, most=RANKS)
        check_coins("suits", self.suits, least=1, most=SUITS)
        check_coins("cards", self.cards, least=1, most=CARDS_EACH)
        unit, where = self.pot_unit, " with 2 cards each" if self.cards == 2 else ""
        if self.match_limit == UNLIMITED:
            object.__setattr__(self, "match_limit", UNLIMITED - UNLIMITED % unit)
        check_coins(f"stake{where}", self.stake, least=unit, step=unit)
        check_coins(f"match_limit{where}", self.match_limit, least=unit, step=unit)
        check_choice(
            self,
            dealer_stake=DEALER_STAKE,
            all_pass=ALL_PASS,
            first_lead=FIRST_LEAD,
            must_head=(False, True),
            force=(False, True),
            revoke=REVOKE,
            maxims=MAXIMS,
            maxim_1=(True, False),
            maxim_2=(True, False),
            maxim_3=(True, False),
        )

    @classmethod
    def circle(cls) -> BestiaRules:
        """The preset of circles that play the force and punish the maxims (I-22)."""
        return cls(force=True, maxims="penalty")

    def write(self, s: np.record) -> None:
        """Put the options into a state record."""
        s.stake = self.stake
        s.dealer_stake = DEALER_STAKE.index(self.dealer_stake)
        s.all_pass = ALL_PASS.index(self.all_pass)
        s.first_lead = FIRST_LEAD.index(self.first_lead)
        s.must_head = self.must_head
        s.force = self.force
        s.revoke_allowed = self.revoke == "penalty"
        s.maxims = MAXIMS.index(self.maxims)
        s.maxim_1 = self.maxim_1
        s.maxim_2 = self.maxim_2
        s.maxim_3 = self.maxim_3
        s.match_limit = self.match_limit
        write_pack(s, self.ranks, self.suits, RANKS)
        s.cards_each = self.cards

    @classmethod
    def read(cls, s: np.record) -> BestiaRules:
        """The options that stand in a state record."""
        return cls(
            stake=int(s.stake),
            dealer_stake=DEALER_STAKE[s.dealer_stake],
            all_pass=ALL_PASS[s.all_pass],
            first_lead=FIRST_LEAD[s.first_lead],
            must_head=bool(s.must_head),
            force=bool(s.force),
            revoke=REVOKE[int(s.revoke_allowed)],
            maxims=MAXIMS[s.maxims],
            maxim_1=bool(s.maxim_1),
            maxim_2=bool(s.maxim_2),
            maxim_3=bool(s.maxim_3),
            match_limit=int(s.match_limit),
            cards=int(s.cards_each),
            **read_pack(s, RANKS),
        )

    def cards_each(self, num_players: int) -> int:
        """Cards dealt to each of so many seats, and tricks in a hand (BESTIA-08, I-24)."""
        return self.cards

    def opening_pot(self, num_players: int) -> int:
        """The pot of a hand that carries nothing, in coins (BESTIA-07)."""
        return self.stake

    @property
    def pot_unit(self) -> int:
        """What stakes and pots are multiples of, in coins: each trick earns P / cards (I-24)."""
        return math.lcm(3, self.cards)


HAND = np.dtype(
    (
        np.record,
        [
            *table_fields(seats=MAX_PLAYERS, cards=CARDS, plays=30, tricks=CARDS_EACH),
            ("thrown", np.uint64, (MAX_PLAYERS,)),  # cards the seat laid down for good, as a set
            # Options.
            ("stake", np.int64),
            ("dealer_stake", np.int8),
            ("all_pass", np.int8),
            ("first_lead", np.int8),
            ("must_head", np.bool_),
            ("force", np.bool_),
            ("maxims", np.int8),
            ("maxim_1", np.bool_),
            ("maxim_2", np.bool_),
            ("maxim_3", np.bool_),
            # The hand.
            ("forced", np.bool_),  # is this a force hand? When it is over: is the next?
            ("gathered", np.bool_),  # did the dealer gather cards for the exchange?
            ("heap_given", np.bool_),
            ("heap", np.int8, (CARDS,)),  # the order in which gathered cards are dealt
            # Sets of seats.
            ("passed", np.uint64),
            ("knocked", np.uint64),
            ("refused", np.uint64),
            ("exchanged", np.uint64),
            ("playing", np.uint64),  # those in the tricks, known when the exchange is done
            ("breaches", np.int8, (MAX_PLAYERS,)),  # of the maxims; secret until settlement
        ],
    )
)
"""The state of one hand of Bestia in its session."""


# The stake and the deal.


@jit
def open_pot(s, pot):
    """The pot carried into the first hand of a session, which is never a force (I-13)."""
    s.pot = pot
    s.forced = False


@jit
def deal(s):
    """The dealer's stake, the upcard, and three cards each (BESTIA-07 to BESTIA-13)."""
    clear_table(s)
    s.heap_given = False
    _deal(s)


@jit
def deal_stacked(s, pack, heap):
    """Deal from a pack in a given order, and gather for an exchange in that of the heap."""
    clear_table(s)
    stack_pack(s, pack)
    s.heap_given = True
    s.heap[:] = NO_CARD
    for i in range(s.pack_size):
        s.heap[nth(i)] = heap[i]
    _deal(s)


@jit
def _deal(s):
    s.thrown[:] = ZERO
    s.gathered = False
    s.passed = s.knocked = s.refused = s.exchanged = s.playing = ZERO
    s.breaches[:] = 0
    if s.dealer_stake != ONLY_IF_EMPTY or s.pot == 0:  # I-02
        s.pot += s.stake
        pay(s, s.dealer, s.stake)
    s.upcard = next_card(s)
    s.trump = suit_of(s.upcard, RANKS)
    seat = eldest(s)
    for _ in range(s.num_players):
        s.hands[nth(seat)] = next_cards(s, s.cards_each)
        seat = seat_after(s, seat)
    s.turn = eldest(s)
    s.phase = AT_AUCTION
    if s.forced:
        s.phase = AT_TRICKS
        s.playing = bit(s.num_players) - ONE


@jit
def deal_next(s):
    """Pass the deal and deal the next hand of the session."""
    pass_the_deal(s)
    deal(s)


@jit
def deal_next_stacked(s, pack, heap):
    """Pass the deal and deal the next hand from a given pack and heap."""
    pass_the_deal(s)
    deal_stacked(s, pack, heap)


@jit
def is_blind(s, seat):
    """Everybody looks at his cards at once."""
    return False


# What is legal, as a set of actions.


@jit
def legal(s):
    """The legal actions of the seat to act; empty when the hand is over."""
    if s.phase == AT_TRICKS:
        return _legal_cards(s)
    if s.phase == AT_AUCTION:
        return bit(PASS) | bit(KNOCK)  # BESTIA-16
    if s.phase == AT_OFFER:
        return bit(REFUSE) | bit(EXCHANGE)  # BESTIA-17
    return ZERO


@jit
def _legal_cards(s):
    obedient = obedient_cards(s, s.turn)
    offered = sound_cards(s, s.turn, obedient) if s.maxims == MASK else obedient
    if s.revoke_allowed:
        return offered | (s.hands[nth(s.turn)] & ~obedient)  # I-21
    return offered


@jit
def obedient_cards(s, seat):
    """The cards that the rules of play allow the seat (BESTIA-25, BESTIA-26, I-12)."""
    held = s.hands[nth(seat)]
    if s.led == NO_CARD:
        return held
    led, trumps = suit_cards(suit_of(s.led, RANKS), RANKS), suit_cards(s.trump, RANKS)
    allowed = or_else(held & led, or_else(held & trumps, held))
    if s.must_head:
        allowed = or_else(allowed & cards_that_beat(s.best, RANKS, s.trump), allowed)
    return allowed


@jit
def sound_cards(s, seat, obedient):
    """Of the obedient cards, those that break none of the maxims in force (I-18 to I-21)."""
    sound = obedient
    trumps = suit_cards(s.trump, RANKS)
    if s.led == NO_CARD:
        if s.maxim_1 and has(obedient, _trump_ace(s)):
            sound &= bit(_trump_ace(s))
        if s.maxim_2 and s.trick > 0 and obedient & trumps != ZERO:
            sound &= trumps
    if s.maxim_3 and obedient & ~trumps == ZERO and size(obedient) > 1 and _can_top(s, obedient):
        sound &= bit(highest(obedient))
    return sound


@jit
def _trump_ace(s):
    return s.trump * RANKS + RANKS - 1


@jit
def _can_top(s, trumps):
    """Does the highest of these trumps beat the highest trump in the trick? (BESTIA-36)."""
    return s.best == NO_CARD or beats(highest(trumps), s.best, RANKS, s.trump)


# What happens.


@jit
def apply(s, action):
    """Carry out a legal action of the seat to act."""
    if s.phase == AT_TRICKS:
        _play_card(s, action)
    elif s.phase == AT_AUCTION:
        _bid(s, action)
    elif s.phase == AT_OFFER:
        _answer(s, action)


@jit
def _bid(s, action):
    """One turn each, from first hand to the dealer (BESTIA-14 to BESTIA-16)."""
    if action == KNOCK:
        s.knocked |= bit(s.turn)
    else:
        s.passed |= bit(s.turn)
    if s.turn == s.dealer:
        s.phase = AT_OFFER
        _offer(s)
    else:
        s.turn = seat_after(s, s.turn)


@jit
def _offer(s):
    """Ask the next who passed, in order from first hand, while cards can last (I-06, I-09)."""
    unasked = s.passed & ~(s.refused | s.exchanged)
    if unasked != ZERO and _can_replenish(s, size(s.exchanged) + 1):
        s.turn = first_from(unasked, eldest(s))
    else:
        _exchange(s)
        _begin_tricks(s)


@jit
def _can_replenish(s, acceptances):
    """Are there new cards for so many, all gathered but their own and the knockers'? (I-09)."""
    return s.cards_each * (2 * acceptances + size(s.knocked)) <= s.pack_size


@jit
def _answer(s, action):
    """Three new cards, or out of the hand; either way the old ones are gone (BESTIA-17 to -22)."""
    if action == EXCHANGE:
        s.exchanged |= bit(s.turn)
    else:
        s.refused |= bit(s.turn)
    _lay_down(s, s.turn)
    _offer(s)


@jit
def _lay_down(s, seat):
    s.thrown[nth(seat)] = s.hands[nth(seat)]
    s.hands[nth(seat)] = ZERO


@jit
def _exchange(s):
    """When all have answered, new cards in the same order, three to each (I-06)."""
    s.playing = s.knocked | s.exchanged
    left_out = s.passed & ~(s.refused | s.exchanged)
    for _ in range(size(left_out)):
        _lay_down(s, lowest(left_out))
        left_out = without_lowest(left_out)
    if s.cards_each * (size(s.exchanged) + s.num_players) >= s.pack_size:  # I-07
        _gather(s)
    seat = eldest(s)
    for _ in range(size(s.exchanged)):
        seat = first_from(s.exchanged, seat)
        s.hands[nth(seat)] = next_cards(s, s.cards_each)
        seat += 1


@jit
def _gather(s):
    """Upcard, stock, and the cards of those who get no new ones make a heap (BESTIA-20, I-08)."""
    s.gathered = True
    heap = s.in_use
    for seat in range(s.num_players):
        heap &= ~s.hands[nth(seat)]
        if has(s.exchanged, seat):
            heap &= ~s.thrown[nth(seat)]
    if not s.heap_given:
        _shuffle_heap(s)
    s.dealt = s.settled = 0
    for i in range(s.pack_size):
        if has(heap, s.heap[nth(i)]):
            s.pack[nth(s.settled)] = s.heap[nth(i)]
            s.settled += 1


@jit
def _shuffle_heap(s):
    """Any order of all cards; those of the heap are dealt in it (BESTIA-21)."""
    rest = s.in_use
    for i in range(s.pack_size):
        j = below(s.rng, i + 1)
        s.heap[nth(i)] = s.heap[nth(j)]
        s.heap[nth(j)] = lowest(rest)
        rest = without_lowest(rest)


@jit
def _begin_tricks(s):
    """Nobody, one, or three tricks among more (I-04, I-05)."""
    if s.playing == ZERO:
        _settle_void(s)
    elif size(s.playing) == 1:
        _settle_lone(s, lowest(s.playing))
    else:
        s.phase = AT_TRICKS
        s.turn = _first_leader(s)


@jit
def _first_leader(s):
    """First hand, or who leads in his place (BESTIA-23, I-11)."""
    if s.first_lead == FIRST_KNOCKER and s.knocked != ZERO and not is_in(s, eldest(s)):
        return first_from(s.knocked, eldest(s))
    return first_from(s.playing, eldest(s))


@jit
def is_in(s, seat):
    """Does the seat take part in the tricks?"""
    return has(s.playing, seat)


@jit
def _play_card(s, card):
    """One card from each participant in turn (BESTIA-23, BESTIA-24)."""
    _show_voids(s, card)
    if s.revoke_allowed or s.maxims == PENALTY:
        _judge(s, card)
    lay_card(s, s.turn, card, RANKS)
    if table_cards(s) == size(s.playing):
        _finish_trick(s)
    else:
        s.turn = first_from(s.playing, s.turn + 1)


@jit
def _show_voids(s, card):
    """Who does not follow has none of the suit led; who does not trump then has no trump."""
    suit = suit_of(card, RANKS)
    if s.led != NO_CARD:
        led = suit_of(s.led, RANKS)
        show_void(s, s.turn, led, suit != led)
        show_void(s, s.turn, s.trump, suit != led and suit != s.trump)


@jit
def _judge(s, card):
    """Note a revoke or a breach of the maxims, for the settlement (I-16, I-17)."""
    obedient = obedient_cards(s, s.turn)
    if not has(obedient, card):
        s.revoked[nth(s.turn)] = 1
    elif s.maxims == PENALTY and not has(sound_cards(s, s.turn, obedient), card):
        s.breaches[nth(s.turn)] += 1


@jit
def _finish_trick(s):
    """The winner leads the next; three make a hand (BESTIA-24, BESTIA-28, I-24)."""
    winner = gather_trick(s)
    if s.trick == s.cards_each:
        _settle_tricks(s)
    else:
        s.turn = winner


# The settlement.


@jit
def _settle_void(s):
    """Nobody took part: the pot carries, or the dealer takes it (I-04)."""
    left = s.pot
    if s.all_pass == DEALER_TAKES:
        pay(s, s.dealer, -s.pot)
        left = 0
    _settle(s, left, False)


@jit
def _settle_lone(s, seat):
    """A lone participant takes the pot without play and is not bête (I-05)."""
    pay(s, seat, -s.pot)
    _settle(s, 0, False)


@jit
def _settle_tricks(s):
    """A part of the pot for each trick; who takes none pays P (BESTIA-29, BESTIA-30)."""
    left = betes = 0
    part = part_of_pot(s)
    for seat in range(s.num_players):
        bete = is_bete(s, seat)
        fines = match(s) * (bete + s.revoked[nth(seat)] + s.breaches[nth(seat)])  # I-16, I-17
        pay(s, seat, fines - part * s.tricks[nth(seat)])
        left += fines
        betes += bete
    _settle(s, left, betes > 0)


@jit
def part_of_pot(s):
    """A third, unless reduced (BESTIA-29, I-24); it is faster to divide by a constant."""
    return s.pot // CARDS_EACH if s.cards_each == CARDS_EACH else s.pot // s.cards_each


@jit
def is_bete(s, seat):
    """Did the seat play and take no trick? (BESTIA-30); for a hand whose tricks are played."""
    return is_in(s, seat) & (s.tricks[nth(seat)] == 0)


@jit
def _settle(s, left, bete):
    """Close the books; a hand without a bête makes the next a force (BESTIA-31, I-13)."""
    s.forced = s.force and not bete
    settle(s, left, OVER)
