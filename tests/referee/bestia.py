"""Referee for Bestia, written from RULEBOOK.md alone. Clarity over speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from .cards import best_play, of_suit, suit_of

RANKS = 10
PASS, KNOCK, REFUSE, EXCHANGE = 40, 41, 42, 43

OPTIONS: dict[str, tuple[object, ...]] = {  # default first; stake, match_limit checked apart
    "dealer_stake": ("always", "only_if_empty"),
    "all_pass": ("carry", "dealer_takes"),
    "first_lead": ("next_active", "first_knocker"),
    "must_head": (False, True),
    "force": (False, True),
    "revoke": ("forbidden", "penalty"),
    "maxims": ("off", "mask", "penalty"),
    "maxim_1": (True, False),
    "maxim_2": (True, False),
    "maxim_3": (True, False),
}
REDUCING = {"ranks": (10, *range(1, 10)), "suits": (4, 1, 2, 3), "cards": (3, 1, 2)}  # I-24
COIN_OPTIONS = {"stake": 3, "match_limit": 999_999_999}  # positive multiples of 3


@dataclass(frozen=True)
class Settlement:
    hand_number: int
    dealer: int
    pot_before: int  # carried in, before this hand's stake
    base_pot: int  # P, with the stake in
    coins: list[int]  # net coins of each seat in this hand, stake included
    pot_after: int  # left in the pot, before the next stake
    participants: list[int]  # ascending seats
    tricks: list[int]
    bete: list[int]  # ascending seats
    penalties: list[int]  # revokes (I-16) and maxim breaches (I-17)
    force: bool  # this was a force hand (I-13)


def check_options(options: dict[str, object]) -> dict[str, object]:
    known = OPTIONS | REDUCING
    full: dict[str, object] = {name: values[0] for name, values in known.items()}
    unit = 6 if options.get("cards") == 2 else 3  # I-24
    full.update(COIN_OPTIONS, match_limit=999_999_999 // unit * unit)
    for name, value in options.items():
        if name in COIN_OPTIONS:
            if not isinstance(value, int) or value < 1 or value % unit:
                raise ValueError(f"{name} must be a positive multiple of {unit}, not {value!r}")
        elif name not in known or value not in known[name]:
            raise ValueError(f"unknown option or value: {name}={value!r}")
        full[name] = value
    return full


class BestiaReferee:
    def __init__(
        self,
        num_players: int,
        options: dict[str, object],
        dealer: int,
        pot: int,
        decks: Sequence[Sequence[int]],
        heaps: Sequence[Sequence[int]] | None = None,
        num_hands: int = 1,
    ) -> None:
        self.options = check_options(options)
        ranks, suits, self.c = (
            cast(int, self.options[name]) for name in ("ranks", "suits", "cards")
        )
        self.pack = {10 * suit + 9 - i for suit in range(suits) for i in range(ranks)}  # I-24
        reduced = len(self.pack) < 40 or self.c < 3
        if not (2 if reduced else 3) <= num_players <= 10:  # BESTIA-01
            raise ValueError("Bestia is for 3 to 10 players")
        if num_players * self.c + 1 > len(self.pack):
            raise ValueError("there are too few cards")
        if not 0 <= dealer < num_players or pot < 0 or pot % 3 or pot % self.c:
            raise ValueError("bad dealer or pot")
        if not 1 <= num_hands <= len(decks):
            raise ValueError("bad number of hands")
        if any(sorted(order) != sorted(self.pack) for order in [*decks, *(heaps or [])]):
            raise ValueError("a pack or heap order is a permutation of the cards in use")
        self.n = num_players
        self.stake = cast(int, self.options["stake"])
        self.match_limit = cast(int, self.options["match_limit"])
        self.decks = decks
        self.heaps = heaps
        self.num_hands = num_hands
        self.coins = [0] * self.n
        self.settlements: list[Settlement] = []
        self._open_hand(0, dealer, pot, force=False)  # I-13: never the first hand of a session

    # ---- opening a hand -------------------------------------------------------------------

    def _open_hand(self, number: int, dealer: int, pot: int, force: bool) -> None:
        self.hand_number = number
        self.dealer = dealer
        self.first_hand = (dealer + 1) % self.n
        self.order = [(self.first_hand + i) % self.n for i in range(self.n)]
        self.pot_before = pot
        self.hand_coins = [0] * self.n
        self.pot = pot
        if pot == 0 or self.options["dealer_stake"] == "always":  # BESTIA-07, I-02
            self._receive(dealer, -self.stake)
            self.pot += self.stake  # now P
        self._deal(self.decks[number])
        self.knockers: list[int] = []
        self.passers: list[int] = []
        self.accepters: list[int] = []
        self.participants: list[int] = []  # in order of play from first hand
        self.laid_down: list[set[int]] = [set() for _ in range(self.n)]
        self.gathered = False
        self.trick: list[tuple[int, int]] = []
        self.tricks = [0] * self.n
        self.revokers: set[int] = set()
        self.breaches = [0] * self.n
        self.force_hand = force
        if force:  # I-13: no auction, no exchange, everybody plays
            self.turn: int | None = None
            self._start_tricks(self.order)
        else:
            self.phase = "auction"
            self.queue = list(self.order)  # BESTIA-15
            self.turn = self.queue.pop(0)

    def _deal(self, deck: Sequence[int]) -> None:
        self.upcard = deck[0]  # BESTIA-12
        self.trump = suit_of(self.upcard, RANKS)
        self.hands: list[set[int]] = [set() for _ in range(self.n)]
        for place, seat in enumerate(self.order):  # BESTIA-13
            self.hands[seat] = set(deck[1 + self.c * place : 1 + self.c * (place + 1)])
        self.stock = list(deck[1 + self.c * self.n :])

    def _receive(self, seat: int, amount: int) -> None:
        self.hand_coins[seat] += amount
        self.coins[seat] += amount

    # ---- what is legal --------------------------------------------------------------------

    def legal(self) -> set[int]:
        if self.turn is None:
            return set()
        if self.phase == "auction":
            return {PASS, KNOCK}  # BESTIA-16
        if self.phase == "offer":
            return {REFUSE, EXCHANGE}  # BESTIA-17
        allowed = self._allowed(self.turn)
        offered = set(allowed)
        if self.options["maxims"] == "mask":  # I-17: breaches are not offered
            offered = self._obeying(self.turn, allowed)
        if self.options["revoke"] == "penalty":  # I-16, I-21: revokes are offered
            offered |= self.hands[self.turn] - allowed
        return offered

    def _allowed(self, seat: int) -> set[int]:
        """What BESTIA-25, BESTIA-26 and must_head allow; "legal" in I-18 to I-21."""
        hand = self.hands[seat]
        if not self.trick:
            return set(hand)
        led = suit_of(self.trick[0][1], RANKS)
        allowed = of_suit(hand, led, RANKS)  # BESTIA-25
        if not allowed:
            allowed = of_suit(hand, self.trump, RANKS)  # BESTIA-26
        if not allowed:
            allowed = set(hand)
        if self.options["must_head"]:  # I-12
            heading = {card for card in allowed if self._beats_trick(seat, card)}
            return heading or allowed
        return allowed

    def _beats_trick(self, seat: int, card: int) -> bool:
        return best_play([*self.trick, (seat, card)], self.trump, RANKS)[1] == card

    def _obeying(self, seat: int, allowed: set[int]) -> set[int]:
        """Those of the allowed cards that break no maxim in force."""
        obeying = set(allowed)
        trumps = of_suit(allowed, self.trump, RANKS)
        leading = not self.trick
        if self.options["maxim_1"] and leading:
            ace = self.trump * RANKS + RANKS - 1
            if ace in trumps:
                obeying &= {ace}  # BESTIA-32, I-18; BESTIA-33: never the three
        if self.options["maxim_2"] and leading and sum(self.tricks) > 0 and trumps:
            obeying &= trumps  # BESTIA-34, I-19
        if self.options["maxim_3"] and len(trumps) > 1 and trumps == allowed:  # I-20
            in_trick = of_suit((card for _, card in self.trick), self.trump, RANKS)
            if not in_trick or max(trumps) > max(in_trick):  # BESTIA-36
                obeying &= {max(trumps)}  # BESTIA-35
        assert obeying, "I-21: the maxims never conflict"
        return obeying

    # ---- acting ---------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        if self.turn is None:
            raise ValueError("the session is over")
        if action not in self.legal():
            raise ValueError(f"action {action} is illegal for seat {self.turn} in {self.phase}")
        getattr(self, f"_{self.phase}")(self.turn, action)  # _auction, _offer or _tricks

    def _auction(self, seat: int, action: int) -> None:
        (self.knockers if action == KNOCK else self.passers).append(seat)
        if self.queue:
            self.turn = self.queue.pop(0)
        else:  # I-06: offered to all who passed, whatever the number of knocks
            self.phase = "offer"
            self.queue = list(self.passers)
            self._offer_next()

    def _offer(self, seat: int, action: int) -> None:
        if action == EXCHANGE:
            self.accepters.append(seat)
        self._offer_next()

    def _offer_next(self) -> None:
        left = len(self.pack) - self.c * len(self.knockers)
        if self.queue and left >= 2 * self.c * (len(self.accepters) + 1):  # I-09, I-24
            self.turn = self.queue.pop(0)
        else:
            self._exchange()

    def _exchange(self) -> None:
        """I-06: cards are dealt when all have answered, in the same order."""
        for seat in self.passers:  # thrown in, or laid down for good (BESTIA-22)
            self.laid_down[seat] = self.hands[seat]
            self.hands[seat] = set()
        source = self.stock
        if self.c * len(self.accepters) > len(self.stock):  # I-07
            source = self._gather()
        for place, seat in enumerate(self.accepters):
            self.hands[seat] = set(source[self.c * place : self.c * (place + 1)])
            assert len(self.hands[seat]) == self.c
        self._close_participation()

    def _gather(self) -> list[int]:
        """BESTIA-20, I-08: stock, upcard, and cards of those who passed and get no new ones."""
        self.gathered = True
        gathered = {*self.stock, self.upcard}
        for seat in self.passers:
            if seat not in self.accepters:
                gathered |= self.laid_down[seat]
        if self.heaps is None:
            raise ValueError("cards must be gathered, but no heap order was given")
        heap = self.heaps[self.hand_number]
        return [card for card in heap if card in gathered]  # BESTIA-21

    def _close_participation(self) -> None:
        in_hand = [seat for seat in self.order if seat in self.knockers + self.accepters]
        if len(in_hand) < 2:  # I-04, I-05
            self.participants = in_hand
            self._settle()
        else:
            self._start_tricks(in_hand)

    def _start_tricks(self, in_hand: list[int]) -> None:
        self.participants = list(in_hand)
        self.phase = "tricks"
        self.turn = self.participants[0]  # BESTIA-23; I-11: the next participant in order
        first_hand_out = self.first_hand not in self.participants
        if first_hand_out and self.options["first_lead"] == "first_knocker" and self.knockers:
            self.turn = self.knockers[0]

    def _tricks(self, seat: int, card: int) -> None:
        self._judge(seat, card)
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < len(self.participants):  # BESTIA-24
            here = self.participants.index(seat)
            self.turn = self.participants[(here + 1) % len(self.participants)]
            return
        taker = best_play(self.trick, self.trump, RANKS)[0]  # BESTIA-27
        self.trick = []
        self.tricks[taker] += 1
        self.turn = taker  # BESTIA-28
        if sum(self.tricks) == self.c:
            self._settle()

    def _judge(self, seat: int, card: int) -> None:
        allowed = self._allowed(seat)
        if card not in allowed:
            self.revokers.add(seat)  # I-16; I-21: a revoke only, never also a breach
        elif self.options["maxims"] == "penalty" and card not in self._obeying(seat, allowed):
            self.breaches[seat] += 1  # I-17; I-21: several maxims at once cost P once

    # ---- settlement -----------------------------------------------------------------------

    def _settle(self) -> None:
        due = min(self.pot, self.match_limit)  # I-01
        after = self._share_pot()
        bete = self._bete()
        for seat in bete:  # BESTIA-30, into the next pot
            self._receive(seat, -due)
            after += due
        penalties = [due * (self.breaches[s] + (s in self.revokers)) for s in range(self.n)]
        for seat, amount in enumerate(penalties):  # I-16, I-17
            self._receive(seat, -amount)
            after += amount
        assert after % 3 == after % self.c == 0
        assert sum(self.hand_coins) + after - self.pot_before == 0
        self.settlements.append(
            Settlement(
                hand_number=self.hand_number,
                dealer=self.dealer,
                pot_before=self.pot_before,
                base_pot=self.pot,
                coins=list(self.hand_coins),
                pot_after=after,
                participants=sorted(self.participants),
                tricks=list(self.tricks),
                bete=bete,
                penalties=penalties,
                force=self.force_hand,
            )
        )
        if self.hand_number + 1 == self.num_hands:
            self.phase, self.turn = "over", None
        else:  # BESTIA-10; BESTIA-31, I-13: a hand without a bete triggers the force
            force = bool(self.options["force"]) and not bete
            self._open_hand(self.hand_number + 1, (self.dealer + 1) % self.n, after, force)

    def _share_pot(self) -> int:
        """Pay the pot out; returns what is left of it."""
        if not self.participants:  # I-04
            if self.options["all_pass"] == "carry":
                return self.pot
            self._receive(self.dealer, self.pot)
        elif len(self.participants) == 1:  # I-05
            self._receive(self.participants[0], self.pot)
        else:
            for seat, count in enumerate(self.tricks):  # BESTIA-29
                self._receive(seat, count * self.pot // self.c)
        return 0

    def _bete(self) -> list[int]:
        if len(self.participants) < 2:
            return []  # I-05: the lone taker is not bete
        return sorted(seat for seat in self.participants if self.tricks[seat] == 0)

    def equity(self, settlement: Settlement) -> list[Fraction]:
        """I-23, B-18: net coins plus an equal share of what the pot gained."""
        share = Fraction(settlement.pot_after - settlement.pot_before, self.n)
        return [coins + share for coins in settlement.coins]
