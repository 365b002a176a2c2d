"""Dealing card by card: how likely each card is to come next."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple


class Draw(NamedTuple):
    """Packets of cards in the dealing, each in ascending order.

    So each deal comes about in one way alone. The chances make all deals equally likely, and are
    not uniform then: a packet's lowest card is seldom a high one.

    Attributes:
        pool: cards that are not dealt yet, ascending; those of the packet in hand among them.
        sizes: of the packets that are not dealt yet, the one in hand first.
        packet: the cards of the packet in hand.
        dealt: the packets dealt.
    """

    pool: tuple[int, ...]
    sizes: tuple[int, ...]
    packet: tuple[int, ...] = ()
    dealt: tuple[tuple[int, ...], ...] = ()

    def outcomes(self) -> list[tuple[int, float]]:
        """The cards that may come next, ascending, with their chances."""
        cards = self._candidates()
        return list(zip(cards, _chances(len(cards), self._missing()), strict=True))

    def after(self, card: int) -> Draw:
        """As it is once this card is dealt.

        Raises:
            ValueError: it cannot come next.
        """
        if card not in self._candidates():
            raise ValueError(f"card {card} cannot be dealt now")
        packet = (*self.packet, card)
        if len(packet) < self.sizes[0]:
            return self._replace(packet=packet)
        pool = tuple(other for other in self.pool if other not in packet)
        return Draw(pool, self.sizes[1:], dealt=(*self.dealt, packet))

    def _candidates(self) -> tuple[int, ...]:
        """Cards above those of the packet that leave enough above them to complete it."""
        start = self.pool.index(self.packet[-1]) + 1 if self.packet else 0
        return self.pool[start : len(self.pool) - self._missing() + 1]

    def _missing(self) -> int:
        return self.sizes[0] - len(self.packet)


@functools.cache
def _chances(count: int, missing: int) -> tuple[float, ...]:
    """How likely each of the first `count` cards is the lowest of a random set of so many."""
    cards = count + missing - 1
    sets = math.comb(cards, missing)
    return tuple(math.comb(cards - 1 - place, missing - 1) / sets for place in range(count))
