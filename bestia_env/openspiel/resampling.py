"""Other deals in which all that was said and played could have been said and played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from bestia_env.openspiel.hands import CHANCE, Hand, members
from bestia_env.openspiel.tables import Table
from bestia_env.rules import beast, bestia
from bestia_env.rules.table import NO_CARD, NOBODY


class Deal(NamedTuple):
    """Where the cards of a hand were.

    Attributes:
        hands: the cards dealt to every seat.
        upcard: the card turned up.
        discard: what the dealer discarded in Beast, or -1.
        new: the cards that every seat got in an exchange.
    """

    hands: list[set[int]]
    upcard: int
    discard: int
    new: list[set[int]]


def deal_of(table: Table, s: np.record) -> Deal:
    """Where the cards of a hand were that has come to this state; of a view, those known."""
    cards = [set(members(int(held))) for held in s.hands[: table.num_players]]
    for card, seat in zip(s.play_card[: s.plays], s.play_seat[: s.plays], strict=True):
        cards[seat].add(int(card))
    if table.is_beast:
        return _deal_of_beast(s, cards)
    return _deal_of_bestia(s, cards)


def _deal_of_beast(s: np.record, cards: list[set[int]]) -> Deal:
    discard = members(int(s.discard))
    if s.upcard_is == beast.TAKEN:
        cards[s.dealer].update(discard)
        cards[s.dealer].discard(int(s.upcard))
    return Deal(cards, int(s.upcard), discard[0] if discard else NOBODY, [set() for _ in cards])


def _deal_of_bestia(s: np.record, cards: list[set[int]]) -> Deal:
    hands, new = [], []
    for seat, held in enumerate(cards):
        thrown = set(members(int(s.thrown[seat])))
        hands.append(thrown if seat in _laid_down(s) else held)
        new.append(held if seat in members(int(s.exchanged)) else set())
    return Deal(hands, int(s.upcard), NOBODY, new)


def _laid_down(s: np.record) -> tuple[int, ...]:
    """The seats that have laid down their cards for good."""
    return members(int(s.passed if s.phase == bestia.AT_TRICKS else s.refused | s.exchanged))


def guess(table: Table, view: np.record, rng: Random) -> Deal:
    """A random deal with the cards that the viewer knows where he knows them.

    All such deals are equally likely. Others may not have been able to act as they did.
    """
    known = deal_of(table, view)
    if table.is_beast:
        return _guess_beast(table, view, known, rng)
    return _guess_bestia(table, view, known, rng)


def _guess_beast(table: Table, view: np.record, known: Deal, rng: Random) -> Deal:
    _fill(known.hands, range(table.num_players), _hidden(table, known), table.cards_each, rng)
    if view.upcard_is != beast.TAKEN or view.viewer == view.dealer:
        return known
    played = view.play_card[: view.plays][view.play_seat[: view.plays] == view.dealer]
    kept = (known.hands[view.dealer] | {known.upcard}).difference(played.tolist())
    return known._replace(discard=rng.choice(sorted(kept)))


def _guess_bestia(table: Table, view: np.record, known: Deal, rng: Random) -> Deal:
    hidden, exchanged = _hidden(table, known), members(int(view.exchanged))
    gathered = [seat for seat in _laid_down(view) if view.gathered and seat not in exchanged]
    kept = [seat for seat in range(table.num_players) if seat not in gathered]
    # Cards that were gathered may have come again as new ones (I-08).
    again = set().union(*known.new).difference({known.upcard}, *known.hands)
    _fill(known.hands, kept, hidden, table.cards_each, rng)
    _fill(known.hands, gathered, hidden | again, table.cards_each, rng)
    if view.phase == bestia.AT_TRICKS:
        heap = set(table.deal.pool).difference(*(known.hands[seat] for seat in kept), *known.new)
        heap -= set() if view.gathered else {known.upcard}
        _fill(known.new, exchanged, heap, table.cards_each, rng)
    return known


def _hidden(table: Table, known: Deal) -> set[int]:
    return set(table.deal.pool).difference(*known.hands, *known.new, {known.upcard})


def _fill(
    hands: list[set[int]], seats: Iterable[int], cards: set[int], count: int, rng: Random
) -> None:
    """Deal these seats random cards, which leave `cards`, up to so many each."""
    for seat in seats:
        drawn = rng.sample(sorted(cards), count - len(hands[seat]))
        hands[seat].update(drawn)
        cards.difference_update(drawn)


def replay(hand: Hand, deal: Deal) -> list[int]:
    """The history that leads to the same acts if the cards were dealt so.

    Raises:
        ValueError: one of the acts was not legal then.
    """
    other, history = Hand(hand.table), list[int]()
    chances = _chances(hand, deal)
    while other.turn == CHANCE or len(other.moves) < len(hand.moves):
        if other.turn == CHANCE:
            action = next(chances, NO_CARD)
        else:
            action = deal.discard if other.is_discarding else hand.moves[len(other.moves)][1]
        other.act(action)
        history.append(action)
    return history


def _chances(hand: Hand, deal: Deal) -> Iterator[int]:
    """The outcomes of all moves of chance."""
    order = hand.table.dealing_order(hand.dealer)
    hands = [sorted(deal.hands[seat]) for seat in order]
    first, last = (hands, [[deal.upcard]])
    if not hand.table.is_beast:
        first, last = last, first
    if hand.table.dealer == NOBODY:
        yield hand.dealer
    for packet in (*first, *last, *(sorted(deal.new[seat]) for seat in order)):
        yield from packet
