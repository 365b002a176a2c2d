"""A hand as a tree of moves, those of chance among them. Nothing here needs OpenSpiel itself."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from bestia_env import engine
from bestia_env.openspiel.draws import Draw
from bestia_env.openspiel.tables import Table, copied
from bestia_env.rules import beast, bestia
from bestia_env.rules.table import NOBODY

CHANCE, TERMINAL = -1, -4  # as OpenSpiel numbers those who are no seats
_ANSWERS = (bestia.REFUSE, bestia.EXCHANGE)


@functools.lru_cache(1 << 16)
def members(bits: int) -> tuple[int, ...]:
    """The members of a set of bits, ascending."""
    return tuple(i for i in range(bits.bit_length()) if bits >> i & 1)


def bits_of(numbers: Iterable[int]) -> int:
    """The set of these numbers as bits."""
    return sum(1 << number for number in numbers)


class Hand:
    """A hand as far as it has come.

    Attributes:
        table: what is the same in all hands.
        turn: the seat to act, `CHANCE` or `TERMINAL`.
        dealer: a seat, or -1 before it is drawn.
        draw: the cards being dealt, or None.
        states: (1,) record; empty, (0,), until the deal is complete.
        moves: (seat, action) of the seats; holds a hidden discard.
        public: what everybody has seen, in words.
        private: what each seat alone has seen, in words.
    """

    __slots__ = ("dealer", "draw", "moves", "private", "public", "states", "table", "turn")

    def __init__(self, table: Table) -> None:
        """Before the first card."""
        self.table, self.turn, self.dealer = table, CHANCE, table.dealer
        self.draw: Draw | None = table.deal
        self.states = table.no_states
        self.moves: tuple[tuple[int, int], ...] = ()
        self.public = ""
        self.private: tuple[str, ...] = ("",) * table.num_players

    def __deepcopy__(self, memo: dict) -> Hand:
        """Only the record ever changes in place."""
        other = Hand.__new__(Hand)
        for name in Hand.__slots__:
            setattr(other, name, getattr(self, name))
        if self.is_dealt:
            other.states = copied(self.states)
        return other

    def outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a move of chance, ascending, with their chances."""
        if self.dealer == NOBODY:
            n = self.table.num_players
            return [(seat, 1 / n) for seat in range(n)]
        return self.draw.outcomes() if self.draw else []

    def legal(self) -> list[int]:
        """The legal actions of the seat to act, ascending."""
        return list(members(int(engine.legal_actions(self.states, 0))))

    def act(self, action: int) -> None:
        """Carry out a move, of chance or of the seat to act.

        Raises:
            ValueError: it is not legal.
        """
        if self.turn == CHANCE:
            self._come_by_chance(action)
        else:
            self._move(action)

    # Moves of chance.

    def _come_by_chance(self, outcome: int) -> None:
        if self.dealer == NOBODY:
            if not 0 <= outcome < self.table.num_players:
                raise ValueError(f"there is no seat {outcome}")
            self.dealer = outcome
        elif self.draw:
            self.draw = self.draw.after(outcome)
            if not self.draw.sizes:
                self._finish_draw(self.draw)

    def _finish_draw(self, draw: Draw) -> None:
        self.draw = None
        if self.is_dealt:
            self._hand_out(draw)
        else:
            self._begin(draw)
        self._pass_turn()

    def _begin(self, draw: Draw) -> None:
        """The deal is complete."""
        table = self.table
        order = [card for packet in draw.dealt for card in packet]
        self.states = table.dealt(self.dealer, (*order, *draw.pool))
        upcard = table.action_names[self.states["upcard"].item()]
        self.public = f"dealer {self.dealer}; upcard {upcard};"
        hands = self.states["hands"][0].tolist()
        self.private = tuple(
            f"hand {table.names(members(hands[seat]))};" for seat in range(table.num_players)
        )

    def _hand_out(self, draw: Draw) -> None:
        """New cards to all who exchange (BESTIA-18)."""
        private = list(self.private)
        for seat, packet in zip(self._exchanging(), draw.dealt, strict=True):
            self.states["hands"][0, seat] = bits_of(packet)
            private[seat] += f" new {self.table.names(packet)};"
        self.private = tuple(private)

    # Moves of the seats.

    def _move(self, action: int) -> None:
        is_known = 0 <= action < len(self.table.action_names)
        event = engine.act_if_legal(self.states, 0, action) if is_known else engine.ILLEGAL
        if event == engine.ILLEGAL:
            raise ValueError(f"action {action} is not legal for seat {self.turn}")
        self._note(action)
        self.moves = (*self.moves, (self.turn, action))
        if action in _ANSWERS and not self.table.is_beast:
            self._exchange()
        self._pass_turn()

    def _note(self, action: int) -> None:
        name = self.table.action_names[action]
        if self.is_discarding:
            private = list(self.private)
            private[self.turn] += f" discard {name};"
            self.private = tuple(private)
            name = "discards"
        self.public += f" {self.turn} {name}"

    def _exchange(self) -> None:
        """Once all have answered, the new cards that the engine dealt are left to chance.

        A lone taker gets none (I-05).
        """
        state, exchanging = self.states[0], self._exchanging()
        if state.phase == bestia.AT_OFFER:
            return
        for seat in exchanging:
            state.hands[seat] = 0
        if exchanging and state.phase == bestia.AT_TRICKS:
            self.draw = Draw(self._stock(), (self.table.cards_each,) * len(exchanging))

    def _exchanging(self) -> list[int]:
        """The seats that exchange, in the order in which they get new cards."""
        exchanged = members(self.states["exchanged"].item())
        return [seat for seat in self.table.dealing_order(self.dealer) if seat in exchanged]

    def _stock(self) -> tuple[int, ...]:
        """The cards from which new ones are dealt, ascending (BESTIA-20, I-08)."""
        state, exchanging = self.states[0], self._exchanging()
        gone = 0 if state.gathered else 1 << int(state.upcard)
        for seat in range(self.table.num_players):
            gone |= int(state.hands[seat])
            if seat in exchanging or not state.gathered:
                gone |= int(state.thrown[seat])
        return tuple(card for card in self.table.deal.pool if not gone >> card & 1)

    def _pass_turn(self) -> None:
        turn = self.states["turn"].item()
        if self.draw:
            self.turn = CHANCE
        elif turn == NOBODY:
            self.turn = TERMINAL
            self.public += self._settlement()
        else:
            self.turn = turn

    def _settlement(self) -> str:
        gains = self.states["gains"][0, : self.table.num_players]
        return f"; gains {' '.join(map(str, gains))}; pot {self.states['pot'][0]}"

    # What it comes to, and what is seen of it.

    @property
    def is_dealt(self) -> bool:
        """Is the deal complete?"""
        return self.states.size > 0

    @property
    def is_discarding(self) -> bool:
        """Is the next move a discard, face down (B-07)?"""
        return len(self.moves) == 1 and self.moves[0][1] == beast.TAKE and self.table.is_beast

    def is_blind(self, seat: int) -> bool:
        """Has the seat not seen its cards yet (B-06)?"""
        is_deciding = self.table.is_beast and seat == self.dealer and not self.moves
        return is_deciding or not self.is_dealt

    def returns(self) -> list[float]:
        """The utility of every seat; 0 while the hand is on."""
        coins = np.zeros(self.table.num_players)
        if self.turn == TERMINAL:
            engine.write_rewards(self.states, 0, self.table.is_equity, coins)
        return (coins / self.table.unit).tolist()

    def told(self, seat: int, public: bool = True, private: bool = True) -> str:
        """What the seat knows, in words: the public part, its own part, or both."""
        parts = []
        if private:
            own = "hand unseen;" if self.is_blind(seat) else self.private[seat]
            parts.append(f"seat {seat}; {own}")
        if public:
            parts.append(self.public)
        return " ".join(parts)
