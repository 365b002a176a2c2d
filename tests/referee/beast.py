"""Referee for Beast, written from RULEBOOK.md alone. Clarity over speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import cast

from .cards import best_play, of_suit, suit_of

RANKS = 13
LEAVE, TAKE, PASS, PLAY, COUNTER, SHOW = 52, 53, 54, 55, 56, 57

OPTIONS: dict[str, tuple[object, ...]] = {  # default first; match_limit is checked apart
    "losing_counterer": ("both_lose", "pays_winner", "carry"),
    "carry_stakes": ("none", "dealer_one", "full"),
    "counter_order": ("player_left", "eldest"),
    "demonstration": ("sure_tricks", "top_trumps", "off"),
    "revoke": ("forbidden", "penalty"),
}
REDUCING = {"ranks": (13, *range(1, 13)), "suits": (4, 1, 2, 3), "cards": (0, *range(1, 8))}  # B-19
MATCH_LIMIT = 999_999_999


@dataclass(frozen=True)
class Settlement:
    hand_number: int
    dealer: int
    pot_before: int  # carried in, before this hand's stakes
    base_pot: int  # P, with the stakes in
    coins: list[int]  # net coins of each seat in this hand, stakes included
    pot_after: int  # left in the pot, before the next stakes
    winner: int | None  # None: nobody declared
    player: int | None
    counterer: int | None
    shown: bool  # won by demonstration
    tricks: list[int]
    penalties: list[int]  # revoke payments (B-13)


def check_options(options: dict[str, object]) -> dict[str, object]:
    known = OPTIONS | REDUCING
    full: dict[str, object] = {name: values[0] for name, values in known.items()}
    full["match_limit"] = MATCH_LIMIT
    for name, value in options.items():
        if name == "match_limit":
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"match_limit must be an integer >= 1, not {value!r}")
        elif name not in known or value not in known[name]:
            raise ValueError(f"unknown option or value: {name}={value!r}")
        full[name] = value
    return full


def pairing(held: set[int], unseen: set[int]) -> int:
    """nu: the most u in U that can each be paired with a distinct lower m in M."""
    waiting = sorted(held)
    pairs = 0
    for u in sorted(unseen):
        if waiting and waiting[0] < u:
            waiting.pop(0)
            pairs += 1
    return pairs


def top_run(held: set[int], unseen: set[int]) -> int:
    """Length of the unbroken run of M from the top of M and U."""
    downwards = sorted(held | unseen, reverse=True)
    return len(list(takewhile(held.__contains__, downwards)))


class BeastReferee:
    def __init__(
        self,
        num_players: int,
        options: dict[str, object],
        dealer: int,
        pot: int,
        decks: Sequence[Sequence[int]],
        heaps: Sequence[Sequence[int]] | None = None,  # Beast has no heap; ignored
        num_hands: int = 1,
    ) -> None:
        self.options = check_options(options)
        ranks, suits, cards = (
            cast(int, self.options[name]) for name in ("ranks", "suits", "cards")
        )
        self.pack = {13 * suit + 12 - i for suit in range(suits) for i in range(ranks)}  # B-19
        self.h = cards or num_players + 1  # BEAST-05, BEAST-41
        reduced = len(self.pack) < 52 or self.h < num_players + 1
        if num_players not in ((2, 3, 4, 5, 6) if reduced else (4, 5, 6)):  # BEAST-43
            raise ValueError("Beast is for 4, 5 or 6 players")
        if self.h > num_players + 1 or num_players * self.h + 1 > len(self.pack):
            raise ValueError("there are too few cards")
        if not 0 <= dealer < num_players or pot < 0 or not 1 <= num_hands <= len(decks):
            raise ValueError("bad dealer, pot or number of hands")
        if any(sorted(deck) != sorted(self.pack) for deck in decks):
            raise ValueError("a pack order is a permutation of the cards in use")
        self.n = num_players
        self.match_limit = cast(int, self.options["match_limit"])
        self.decks = decks
        self.num_hands = num_hands
        self.coins = [0] * self.n
        self.settlements: list[Settlement] = []
        # Reset: no pot, opening stakes; a positive pot was carried from a hand another seat won.
        stakes = "full" if pot == 0 else str(self.options["carry_stakes"])
        self._open_hand(0, dealer, pot, stakes)

    # ---- opening a hand -------------------------------------------------------------------

    def _open_hand(self, number: int, dealer: int, pot: int, stakes: str) -> None:
        self.hand_number = number
        self.dealer = dealer
        self.eldest = (dealer + 1) % self.n
        self.pot_before = pot
        self.hand_coins = [0] * self.n
        self.pot = pot
        for seat, amount in enumerate(self._stakes(stakes)):
            self._receive(seat, -amount)
            self.pot += amount  # now P
        self._deal(self.decks[number])
        self.player: int | None = None
        self.counterer: int | None = None
        self.taken = False
        self.discarded: int | None = None
        self.tricks = [0] * self.n
        self.trick_winners: list[int] = []
        self.trick: list[tuple[int, int]] = []
        self.revokers: set[int] = set()
        self.queue: list[int] = []  # seats still to be asked in the round that is on
        self.phase = "take"  # B-06: the first decision of every hand
        self.turn: int | None = dealer

    def _stakes(self, kind: str) -> list[int]:
        if kind == "full":  # BEAST-04
            return [3 if seat == self.dealer else 2 for seat in range(self.n)]
        if kind == "dealer_one":  # BEAST-14, B-03
            return [1 if seat == self.dealer else 0 for seat in range(self.n)]
        return [0] * self.n  # B-03 "none"

    def _deal(self, deck: Sequence[int]) -> None:
        """h cards to each in order of play from the eldest, dealer last; then the upcard."""
        self.hands: list[set[int]] = [set() for _ in range(self.n)]
        for place, seat in enumerate(self._round_from(self.eldest)):
            self.hands[seat] = set(deck[place * self.h : (place + 1) * self.h])
        self.upcard = deck[self.n * self.h]  # BEAST-06
        self.trump = suit_of(self.upcard, RANKS)  # BEAST-07

    def _round_from(self, seat: int) -> list[int]:
        return [(seat + i) % self.n for i in range(self.n)]

    def _receive(self, seat: int, amount: int) -> None:
        self.hand_coins[seat] += amount
        self.coins[seat] += amount

    # ---- what is legal --------------------------------------------------------------------

    def legal(self) -> set[int]:
        if self.turn is None:
            return set()
        if self.phase == "take":
            return {LEAVE, TAKE}  # BEAST-08
        if self.phase == "discard":
            return set(self.hands[self.turn])  # B-07
        if self.phase == "tricks":
            if self.options["revoke"] == "penalty":
                return set(self.hands[self.turn])  # B-13
            return self._following(self.turn)
        words = {"claim": {PLAY}, "declare": {PASS, PLAY}, "counter": {PASS, COUNTER}}[self.phase]
        return words | {SHOW} if self._may_show(self.turn) else words  # B-09

    def _following(self, seat: int) -> set[int]:
        """BEAST-24: follow the suit led if able; BEAST-26: otherwise any card."""
        hand = self.hands[seat]
        if not self.trick:
            return set(hand)
        led = suit_of(self.trick[0][1], RANKS)
        return of_suit(hand, led, RANKS) or set(hand)

    def _may_show(self, seat: int) -> bool:
        """B-12, the sure-trick test."""
        if self.options["demonstration"] == "off":
            return False
        held = of_suit(self.hands[seat], self.trump, RANKS)  # M
        unseen = of_suit(self.pack, self.trump, RANKS) - held  # U
        if not self.taken:
            unseen.discard(self.upcard)  # an upcard that was left; a taken one stays in U
        if seat == self.dealer and self.discarded is not None:
            unseen.discard(self.discarded)  # a trump the claimant himself discarded
        if self.options["demonstration"] == "top_trumps":
            t = top_run(held, unseen)
        else:
            t = len(held) - pairing(held, unseen)
        if t >= self.h // 2 + 1:  # (i)
            return True
        highest = sorted(held | unseen)[-(self.h // 2) :]  # (ii)
        return self.h % 2 == 0 and seat == self.eldest and set(highest) <= held

    # ---- acting ---------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        if self.turn is None:
            raise ValueError("the session is over")
        if action not in self.legal():
            raise ValueError(f"action {action} is illegal for seat {self.turn} in {self.phase}")
        getattr(self, f"_{self.phase}")(self.turn, action)  # _take, _discard, _claim, ...

    def _take(self, seat: int, action: int) -> None:
        if action == TAKE:
            self.taken = True
            self.hands[seat].add(self.upcard)
            self.player = seat  # BEAST-10
            self.phase = "discard"
        else:  # BEAST-11; B-05: the dealer declares last like anybody
            self.phase = "declare"
            self.queue = self._round_from(self.eldest)
            self._ask_next()

    def _discard(self, seat: int, card: int) -> None:
        self.hands[seat].remove(card)  # BEAST-09
        self.discarded = card
        self.phase = "claim"  # always asked, so that being asked tells nothing

    def _claim(self, seat: int, action: int) -> None:
        if action == SHOW:
            self._settle(winner=seat, shown=True)  # B-10
        else:
            self._open_counter_round()

    def _declare(self, seat: int, action: int) -> None:
        if action == PASS:
            self._ask_next()
            return
        self.player = seat  # BEAST-12; B-09: showing is declaring
        if action == SHOW:
            self._settle(winner=seat, shown=True)  # B-10: no Counter round
        else:
            self._open_counter_round()

    def _open_counter_round(self) -> None:
        assert self.player is not None
        first = self.player if self.options["counter_order"] == "player_left" else self.eldest
        # BEAST-15, BEAST-17: every other seat, also one that passed (B-04)
        self.queue = [seat for seat in self._round_from(first) if seat != self.player]
        self.phase = "counter"
        self._ask_next()

    def _counter(self, seat: int, action: int) -> None:
        if action == PASS:
            self._ask_next()
            return
        self.counterer = seat  # BEAST-18: the first Counter ends the offers
        if action == SHOW:
            self._settle(winner=seat, shown=True)  # B-11
        else:
            self._start_tricks()

    def _ask_next(self) -> None:
        if self.queue:
            self.turn = self.queue.pop(0)
        elif self.phase == "declare":
            self._settle(winner=None)  # BEAST-13
        else:
            self._start_tricks()  # B-16

    def _start_tricks(self) -> None:
        self.phase = "tricks"  # BEAST-19: everybody plays
        self.turn = self.eldest  # BEAST-22

    def _tricks(self, seat: int, card: int) -> None:
        if card not in self._following(seat):
            self.revokers.add(seat)  # B-13
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < self.n:
            self.turn = (seat + 1) % self.n  # BEAST-23
            return
        taker = best_play(self.trick, self.trump, RANKS)[0]  # BEAST-27
        self.trick = []
        self.tricks[taker] += 1
        self.trick_winners.append(taker)
        self.turn = taker  # BEAST-28
        enough = (self.h + 1) // 2
        if self.tricks[taker] == enough or len(self.trick_winners) == self.h:  # B-15
            self._settle(winner=self._first_to_most())

    def _first_to_most(self) -> int:
        """BEAST-29, BEAST-30: most tricks; of those who tie, whoever got there first."""
        most = max(self.tricks)
        count = [0] * self.n
        for taker in self.trick_winners:
            count[taker] += 1
            if count[taker] == most:
                return taker
        raise AssertionError("no tricks were played")

    # ---- settlement -----------------------------------------------------------------------

    def _settle(self, winner: int | None, shown: bool = False) -> None:
        match = min(self.pot, self.match_limit)  # B-17
        after = self._award_pot(winner, match)
        penalties = [match if seat in self.revokers else 0 for seat in range(self.n)]
        for seat, amount in enumerate(penalties):  # B-13: after the pot is awarded
            self._receive(seat, -amount)
            after += amount
        assert sum(self.hand_coins) + after - self.pot_before == 0
        self.settlements.append(
            Settlement(
                hand_number=self.hand_number,
                dealer=self.dealer,
                pot_before=self.pot_before,
                base_pot=self.pot,
                coins=list(self.hand_coins),
                pot_after=after,
                winner=winner,
                player=self.player,
                counterer=self.counterer,
                shown=shown,
                tricks=list(self.tricks),
                penalties=penalties,
            )
        )
        if self.hand_number + 1 == self.num_hands:
            self.phase, self.turn = "over", None
        else:  # B-14
            stakes = self._next_stakes(winner)
            self._open_hand(self.hand_number + 1, (self.dealer + 1) % self.n, after, stakes)

    def _award_pot(self, winner: int | None, match: int) -> int:
        """Pay the pot out and the matches in; returns what is left in the pot."""
        player, counterer = self.player, self.counterer
        if player is None or winner is None:
            return self.pot  # BEAST-13
        if winner == player:
            self._receive(player, self.pot)  # BEAST-32, B-10
            if counterer is None or self.options["losing_counterer"] == "both_lose":
                return 0
            self._receive(counterer, -match)  # B-01, the two options
            if self.options["losing_counterer"] == "carry":
                return match
            self._receive(player, match)
            return 0
        self._receive(player, -match)  # BEAST-34
        if winner == counterer:
            self._receive(winner, self.pot + match)  # BEAST-35, B-11
            return 0
        if counterer is None:
            return self.pot + match  # BEAST-39
        self._receive(counterer, -match)  # BEAST-37
        return self.pot + 2 * match  # BEAST-38, B-02

    def _next_stakes(self, winner: int | None) -> str:
        if winner is None:
            return "dealer_one"  # BEAST-14, whatever carry_stakes says
        if winner in (self.player, self.counterer):
            return "full"  # BEAST-33, BEAST-36, B-03
        return str(self.options["carry_stakes"])  # B-03

    def equity(self, settlement: Settlement) -> list[Fraction]:
        """B-18: net coins plus an equal share of what the pot gained."""
        share = Fraction(settlement.pot_after - settlement.pot_before, self.n)
        return [coins + share for coins in settlement.coins]
