"""Hands played out by policies: baselines and bidding rules inside one kernel, others in batches.

All hands of a batch go on together. The kernel plays a hand until it is settled or somebody is to
act who is asked outside it, a network or a chooser; then each of these chooses for all the hands
that wait for it at once, and so on. Whoever is to act, a VIEW is all that it gets or looks at.
Where nobody sits a hand stops, for the caller to decide.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.baselines.dispatch import act
from agents.bidding.machine import EMPTY, STACK, Program, decide, is_bid, joined, says_anything
from agents.policies import NETWORK, Chooser, Policy
from bestia_env._jit import jit
from bestia_env.bits import has
from bestia_env.engine import observe, start_session
from bestia_env.games import GAMES
from bestia_env.observe import layout
from bestia_env.rng import stream
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, settled_score
from bestia_env.view import look


@jit
def deal_copies(states, copies, key, first_deal, pot):
    """Deal hands, each one so many times, as it takes to play it in every rotation of the players.

    Deal d depends on the key and d alone. Its copies are states[d * copies] and those that follow,
    counted from the first deal of the batch.

    Args:
        states: (D * copies,) records with seats and options set.
        copies: of each deal.
        key: of the deals, uint64.
        first_deal: the number of the batch's first deal.
        pot: coins carried in, 0 for none.
    """
    for i in range(0, states.size, copies):
        start_session(states, i, stream(key, first_deal + i // copies), NOBODY, pot)
        for copy in range(i + 1, i + copies):
            states[copy] = states[i]


@jit
def seed_players(rngs, seated, tags, key, first_hand):
    """Give every player of every hand a generator of its own.

    It depends on the key, the number of the hand, the seat, and the policy's tag.

    Args:
        rngs: (B, n) uint64, written whole.
        seated: (B, n) which policy sits where.
        tags: (policies,) uint64.
        key: of the players' chances, uint64; not the key of the deals.
        first_hand: the number of the batch's first hand.
    """
    for i in range(rngs.shape[0]):
        hand = stream(key, first_hand + i)
        for seat in range(rngs.shape[1]):
            rngs[i, seat] = stream(stream(hand, seat), tags[seated[i, seat]])


class Players(NamedTuple):
    """Policies as the kernel takes them.

    Attributes:
        kinds: (policies,) int64, a baseline's kind, or less than 0.
        parameters: (policies,) float64.
        rules: the bidding rule of each, one that says nothing for those without.
        asked: (policies, 2) bool, is it asked outside the kernel for all but bids; for bids?
    """

    kinds: np.ndarray
    parameters: np.ndarray
    rules: Program
    asked: np.ndarray

    @classmethod
    def of(cls, policies: Sequence[Policy]) -> Players:
        """Line up some policies."""
        return cls(
            np.array([policy.kind for policy in policies], np.int64),
            np.array([policy.parameter for policy in policies], np.float64),
            joined([policy.program or EMPTY for policy in policies]),
            np.array(
                [[_is_asked(policy, bid) for bid in (False, True)] for policy in policies], np.bool_
            ).reshape(-1, 2),
        )


def _is_asked(policy: Policy, is_bid: bool) -> bool:
    """Is the policy asked outside the kernel?"""
    if policy.chooser_for(is_bid) is not None:
        return True
    return policy.kind == NETWORK and not (is_bid and policy.program is not None)


@jit
def play_compiled(states, hands, seated, players, rngs, views, stack):
    """Play on in some hands until they are settled, wait for somebody, or nobody sits to act.

    Args:
        states: (B,) records.
        hands: (H,) int64, places in `states`; those that wait for who is asked outside the kernel
            come to stand first.
        seated: (B, n) which policy sits where, -1 for nobody.
        players: the policies.
        rngs: (B, n) uint64, the players' generators.
        views: at least one record to work in.
        stack: (STACK,) float64 to work in.

    Returns:
        How many hands wait.
    """
    waiting = 0
    for i in hands:
        s = states[i]
        while s.turn != NOBODY:
            seat = np.int64(s.turn)
            player = seated[i, seat]
            if player < 0:
                break
            bid = is_bid(s)
            if players.asked[player, np.int64(bid)]:
                hands[waiting] = i
                waiting += 1
                break
            look(states, i, seat, views, 0)
            rng = rngs[i, seat : seat + 1]
            if bid and says_anything(players.rules, player):
                apply(s, decide(players.rules, player, views[0], legal(s), rng, stack))
            else:
                kind, parameter = players.kinds[player], players.parameters[player]
                apply(s, act(kind, parameter, views[0], legal(s), rng))
    return waiting


@jit
def observe_turns(states, hands, at, observations, masks):
    """What the seats to act see; (H, D) float32 and (H, A) int8 are written, see `observe`."""
    for k in range(hands.size):
        i = hands[k]
        observe(states, i, states[i].turn, at, observations[k], masks[k])


def turn_views(states: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """What the seats to act may know in some of these hands, (H,) records, see `view.look`."""
    views = np.empty(hands.size, states.dtype)
    _look_turns(states, hands, views)
    return views


@jit
def _look_turns(states, hands, views):
    for k in range(hands.size):
        look(states, hands[k], states[hands[k]].turn, views, k)


@jit
def mark_bids(states, hands, bids):
    """Mark the hands in which the seat to act is to bid; (H,) bool is written."""
    for k in range(hands.size):
        bids[k] = is_bid(states[hands[k]])


@jit
def first_illegal(states, hands, actions):
    """The first place in (H,) int64 actions of one that is not legal in its hand, -1 if none."""
    for k in range(hands.size):
        action = actions[k]
        if action < 0 or action > 63 or not has(legal(states[hands[k]]), action):
            return k
    return -1


@jit
def act_turns(states, hands, actions):
    """Carry out one legal action, (H,) int64, in each of some hands."""
    for k in range(hands.size):
        apply(states[hands[k]], actions[k])


@jit
def score_seats(states, scores):
    """The equity of every seat in n-ths of a coin, (B, n) int64: exact, and zero in sum."""
    for i in range(states.size):
        for seat in range(scores.shape[1]):
            scores[i, seat] = settled_score(states[i], seat)


def tag(policy: Policy) -> int:
    """A number for the policy's name, by which its chances differ from those of others."""
    return zlib.crc32(policy.spec.encode())


def play(
    states: np.ndarray, policies: Sequence[Policy], seated: np.ndarray, rngs: np.ndarray
) -> None:
    """Play hands to their settlement, or until a seat is to act where nobody sits.

    Args:
        states: (B,) records of dealt hands, changed in place.
        policies: those who play.
        seated: (B, n) int64, which of them sits where, -1 for nobody.
        rngs: (B, n) uint64, the generator of every player, moved on.

    Raises:
        ValueError: a network or a chooser chose an action that is not legal.
    """
    players, views, stack = Players.of(policies), np.zeros(1, states.dtype), np.empty(STACK)
    hands = np.arange(states.size)
    while True:
        waiting = play_compiled(states, hands, seated, players, rngs, views, stack)
        if waiting == 0:
            return
        hands = hands[:waiting]
        _ask(states, hands, policies, seated, rngs)


def _ask(
    states: np.ndarray,
    hands: np.ndarray,
    policies: Sequence[Policy],
    seated: np.ndarray,
    rngs: np.ndarray,
) -> None:
    """One action of whoever is to act, in every hand that waits."""
    seats = states["turn"][hands]
    players = seated[hands, seats]
    bids = np.empty(hands.size, np.bool_)
    mark_bids(states, hands, bids)
    for player, bid in sorted(set(zip(players.tolist(), bids.tolist()))):
        asked = (players == player) & (bids == bid)
        mine, chances = hands[asked], rngs[hands[asked], seats[asked]]
        actions = choose_outside(policies[player], bid, states, mine, chances)
        rngs[mine, seats[asked]] = chances
        act_turns(states, mine, actions)


def choose(policy: Policy, states: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """What a policy would do in the place of whoever is to act.

    Args:
        policy: who is asked.
        states: (K,) records of hands in progress, all in the same phase; they stay as they are.
        chances: (K,) uint64, a generator for each, moved on.

    Returns:
        (K,) int64 actions.
    """
    hands = np.arange(states.size)
    bid = states.size > 0 and is_bid(states[0])
    if _is_asked(policy, bid):
        return choose_outside(policy, bid, states, hands, chances)
    actions, views, stack = np.empty(hands.size, np.int64), states[:1].copy(), np.empty(STACK)
    _choose_compiled(states, Players.of([policy]), chances, views, stack, actions)
    return actions


@jit
def _choose_compiled(states, players, chances, views, stack, actions):
    for i in range(states.size):
        s, rng = states[i], chances[i : i + 1]
        look(states, i, s.turn, views, 0)
        if says_anything(players.rules, 0) and is_bid(s):
            actions[i] = decide(players.rules, 0, views[0], legal(s), rng, stack)
        else:
            actions[i] = act(players.kinds[0], players.parameters[0], views[0], legal(s), rng)


def choose_outside(
    policy: Policy, is_bid: bool, states: np.ndarray, hands: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    """Legal actions of a network or a chooser in hands where its seat is to act.

    Args:
        policy: who is asked.
        is_bid: do all these hands wait for a bid?
        states: (B,) records; they stay as they are.
        hands: (H,) int64, places in `states`.
        chances: (H,) uint64, a generator for each of these hands, moved on.

    Returns:
        (H,) int64 actions.

    Raises:
        ValueError: an action is not legal, or the hands are of another game or number of players.
    """
    policy.check_table(states)
    chooser = policy.chooser_for(is_bid)
    if chooser is None:
        actions = _choose_by_network(policy, states, hands, chances)
    else:
        actions = _choose_by_chooser(chooser, states, hands, chances)
    wrong = first_illegal(states, hands, actions)
    if wrong >= 0:
        action = int(actions[wrong])
        raise ValueError(f"policy {policy.spec!r} chose action {action}, which is not legal")
    return actions


def _choose_by_chooser(
    chooser: Chooser, states: np.ndarray, hands: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    actions = np.asarray(chooser.act_batch(states, hands, chances), np.int64)
    if actions.shape != hands.shape:
        raise ValueError(f"actions must have shape {hands.shape}, not {actions.shape}")
    return actions


def _choose_by_network(
    policy: Policy, states: np.ndarray, hands: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    """The network's actions in some hands, (H,) int64; chances (H,) uint64 move on."""
    assert policy.network is not None
    table = layout(policy.game, int(states[0].num_players))
    observations = np.empty((hands.size, table.size), np.float32)
    masks = np.empty((hands.size, GAMES[policy.game].num_actions), np.int8)
    observe_turns(states, hands, table.offsets, observations, masks)
    return np.asarray(policy.network.act_batch(observations, masks, chances), np.int64)
