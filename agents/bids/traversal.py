"""Deals walked through: what each bid of each seat leads to, the others bidding by a table.

External sampling (Lanctot and others 2009): at its own bids an agent goes both ways, at those of
others one is drawn. Every agent of a deal is looked at in turn; all meet the same chances, so that
a hand that several come upon is played out once. Agents are the seats; in Beast also the dealer
before he has looked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.bids.cards import choose_card
from agents.bids.games import (
    MODULES,
    agent,
    bidding,
    decides,
    entry,
    hand_class,
    loud,
    outcome,
    quiet,
)
from agents.duplicate import Table
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, nth, without_lowest
from bestia_env.engine import new_states, start_session
from bestia_env.rng import stream, unit
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, equity
from bestia_env.view import look

DEPTH = 8  # more states than are ever open at once
LUCK = 1 << 20  # uses of a deal's key: bids come first, then each outcome's cards


class Desk(NamedTuple):
    """Where deals are walked through.

    Attributes:
        states: (DEPTH,) records, the first as dealt.
        views: (1,) records.
        hands: (n,) int64, the class of each seat's hand.
        last: (DEPTH,) int64, the bid of the target that led to each state, 2 × entry + loud.
        rng: (1,) uint64.
        known: (outcomes,) int64, the deal for which an outcome's worths stand there.
        worths: (outcomes, n) float64, pots per hand of every seat.
    """

    states: np.ndarray
    views: np.ndarray
    hands: np.ndarray
    last: np.ndarray
    rng: np.ndarray
    known: np.ndarray
    worths: np.ndarray

    @classmethod
    def at(cls, table: Table) -> Desk:
        """A desk for some table; the last seat deals, so that seats stand in order of play."""
        n = table.num_players
        states = new_states(table.game, n, table.rules, DEPTH)
        outcomes = MODULES[table.game].num_outcomes(n)
        return cls(
            states,
            states[:1].copy(),
            np.empty(n, np.int64),
            np.empty(DEPTH, np.int64),
            np.empty(1, np.uint64),
            np.full(outcomes, -1),
            np.empty((outcomes, n)),
        )


class Sums(NamedTuple):
    """What was found, by entry of the table.

    Attributes:
        visits: (E,) int64, how often the seat was asked.
        worths: (E, 2) float64, pots after the quiet bid and the loud one, summed over the hands
            in which the seat was not asked again.
        unasked: (agents,) float64, pots summed over the hands in which it was never asked.
    """

    visits: np.ndarray
    worths: np.ndarray
    unasked: np.ndarray

    @classmethod
    def nothing(cls, entries: int, agents: int) -> Sums:
        """Before the first deal."""
        return cls(np.zeros(entries, np.int64), np.zeros((entries, 2)), np.zeros(agents))

    def plus(self, other: Sums, times: int = 1) -> Sums:
        """These sums and others, or less others, of as many deals."""
        return Sums(*(mine + times * theirs for mine, theirs in zip(self, other, strict=True)))


@jit
def walk_deals(desk, chances, tremble, player, keys, carried, first, stop, sums):
    """Walk through some deals, for every agent, and add what is found to the sums.

    Args:
        desk: `Desk`.
        chances: (E,) float32, the table: how often the loud bid is made.
        tremble: how often the others bid by a toss instead.
        player: of the cards, see `card_player`.
        keys: of the deals and of the players' chances, a pair of uint64.
        carried: coins in the pot before the stakes.
        first: the number of the first deal.
        stop: one past the last.
        sums: `Sums`.
    """
    for deal in range(first, stop):
        deal_at(desk, keys[0], carried, deal)
        luck = stream(keys[1], deal)
        for target in range(sums.unasked.size):
            _walk(desk, chances, tremble, player, deal, luck, target, sums)


@jit
def deal_at(desk, key, carried, deal):
    """Deal the first state of a desk, and class the hands."""
    n = desk.hands.size
    start_session(desk.states, 0, stream(key, deal), n - 1, carried)
    for seat in range(n):
        desk.hands[seat] = hand_class(desk.states[0], seat)


@jit
def _walk(desk, chances, tremble, player, deal, luck, target, sums):
    """One deal for one agent; states that are open stand on a stack from 1 on."""
    states, top, seat = desk.states, 1, nth(min(target, desk.hands.size - 1))
    states[1] = states[0]
    desk.last[1] = -1
    while top:
        if _comes_to_choose(desk, top, chances, tremble, player, deal, luck, target):
            s = states[top]
            at = entry(s, desk.hands[seat])
            sums.visits[nth(at)] += 1
            states[top + 1] = s
            for bid in range(2):
                desk.last[top + bid] = 2 * at + bid
                apply(states[top + bid], loud(states[top + bid]) if bid else quiet(s))
            top += 1
        else:
            last, worth = desk.last[top], desk.worths[nth(outcome(states[top])), seat]
            if last < 0:
                sums.unasked[nth(target)] += worth
            else:
                sums.worths[nth(last >> 1), nth(last & 1)] += worth
            top -= 1


@jit
def _comes_to_choose(desk, top, chances, tremble, player, deal, luck, target):
    """Play a state on until the target is to choose, or else till the outcome's worths are known.

    One call of each verb: compiled code stands in full wherever it is called.
    """
    s = desk.states[top]
    while s.turn != NOBODY:
        if bidding(s):
            desk.rng[0] = stream(luck, desk.hands.size * s.phase + s.turn)
        elif s.plays == 0:
            if desk.known[nth(outcome(s))] == deal:
                return False
            desk.rng[0] = stream(luck, LUCK + outcome(s))
        if not decides(s):
            action = play_card(desk, top, player)
        elif agent(s) == target:
            return True
        else:
            chance = chances[nth(entry(s, desk.hands[nth(s.turn)]))]
            chance += tremble * (0.5 - chance)
            action = loud(s) if unit(desk.rng) < chance else quiet(s)
        apply(s, action)
    at = nth(outcome(s))
    desk.known[at] = deal
    for seat in range(desk.hands.size):
        desk.worths[at, nth(seat)] = equity(s, seat) / desk.states[0].pot
    return False


@jit
def play_card(desk, top, player):
    """What the player of the cards does in the place of the seat to act."""
    s = desk.states[top]
    choices = legal(s)
    if without_lowest(choices) == ZERO:
        return lowest(choices)
    look(desk.states, top, s.turn, desk.views, 0)
    return choose_card(player, desk.views, choices, desk.rng)
