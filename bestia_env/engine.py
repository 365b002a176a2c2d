"""Kernels over arrays of hands: deal, step, observe, and whole random playouts.

All take a 1-D array of state records of either game (dtype `beast.HAND` or `bestia.HAND`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, has, member, size
from bestia_env.games import game_named
from bestia_env.observe import write_mask, write_observation
from bestia_env.rng import below, draw, seed_sequence_keys
from bestia_env.rules.dispatch import apply, deal, deal_next, deal_stacked, legal, open_pot, over
from bestia_env.rules.table import NOBODY, equity, open_session, pass_the_deal, settle

ILLEGAL, NOTHING, TRICK_TAKEN, HAND_SETTLED = -1, 0, 1, 2


def new_states(game: str, num_players: int, rules: Any = None, count: int = 1) -> np.ndarray:
    """An array of state records with seats and options set, no hand dealt.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        rules: `BeastRules` or `BestiaRules`; the game's defaults if None.
        count: how many.

    Returns:
        (count,) of the game's HAND dtype.

    Raises:
        ValueError: no such game, or one that so many cannot play by these rules.
    """
    chosen = game_named(game)
    chosen.check_num_players(num_players, rules)
    states = np.zeros(count, chosen.dtype)
    states[0].num_players = num_players
    states[0].viewer = NOBODY
    (rules or chosen.rules()).write(states[0])
    states[1:] = states[0]
    return states


@jit
def start_sessions(states, keys, dealer, pot):
    """Deal the first hand of a session in every state.

    Args:
        states: (B,) records.
        keys: (B,) uint64, the session keys.
        dealer: the seat that deals, or -1 for a draw from each key.
        pot: coins carried in, 0 for none.
    """
    for i in range(states.size):
        start_session(states, i, keys[i], dealer, pot)


@jit
def start_session(states, i, key, dealer, pot):
    """Deal the first hand of a session in states[i]."""
    s = states[i]
    open_session(s, key, dealer)
    open_pot(s, pot)
    deal(s)


@jit
def start_stacked_session(states, i, key, dealer, pot, pack, heap):
    """As `start_session`, from a pack (and a heap, see I-08) in a given order, (cards,) int."""
    s = states[i]
    open_session(s, key, dealer)
    open_pot(s, pot)
    deal_stacked(s, pack, heap)


@jit
def act(states, i, action):
    """Carry out a legal action in states[i]; returns NOTHING, TRICK_TAKEN or HAND_SETTLED."""
    s = states[i]
    trick = s.trick
    apply(s, action)
    if s.turn == NOBODY:
        return HAND_SETTLED
    return NOTHING if s.trick == trick else TRICK_TAKEN


@jit
def legal_actions(states, i):
    """The legal actions of the seat to act in states[i], as a set of bits, uint64."""
    return legal(states[i])


@jit
def act_if_legal(states, i, action):
    """As `act`, but returns ILLEGAL and does nothing if the action, from 0 to 63, is not legal."""
    return act(states, i, action) if has(legal(states[i]), action) else ILLEGAL


@jit
def annul_hand(states, i):
    """Give the stakes back and end the hand; the pot and all coins are as before it."""
    s = states[i]
    s.gains[:] = 0
    settle(s, s.carried, over(s))


@jit
def deal_next_hand(states, i):
    """Pass the deal and deal the next hand of the session in states[i]."""
    deal_next(states[i])


@jit
def deal_next_stacked_hand(states, i, pack, heap):
    """As `deal_next_hand`, from a pack and a heap in a given order."""
    s = states[i]
    pass_the_deal(s)
    deal_stacked(s, pack, heap)


@jit
def write_rewards(states, i, as_equity, out):
    """The rewards of a settled hand, out (n,) float64, in coins (B-18)."""
    s = states[i]
    for seat in range(s.num_players):
        out[seat] = equity(s, seat) if as_equity else s.gains[seat]


@jit
def write_infos(states, i, out):
    """Public numbers of states[i], out (2n+2,) int64: coins and tricks of each seat, pot, hand.

    Coins are those since the session began, the stakes of a hand in progress included.
    """
    s = states[i]
    n = s.num_players
    for seat in range(n):
        out[seat] = s.coins[seat] + (s.gains[seat] if s.turn != NOBODY else 0)
        out[n + seat] = s.tricks[seat]
    out[2 * n] = s.pot
    out[2 * n + 1] = s.hand_number


@jit
def observe(states, i, seat, at, observation, mask):
    """What the seat may know of states[i], and its legal actions if it is to act.

    Args:
        states: (B,) records.
        i: which of them.
        seat: the observer.
        at: `Layout.offsets`.
        observation: (D,) float32, written whole.
        mask: (A,) int8, written whole.
    """
    write_observation(states[i], seat, at, observation)
    write_mask(legal(states[i]) if seat == states[i].turn else ZERO, mask)


@jit
def observe_batch(states, at, observations, masks, legal_sets):
    """Observe every state from the seat to act.

    Args:
        states: (B,) records.
        at: `Layout.offsets`.
        observations: (B, D) float32, written whole.
        masks: (B, A) int8, written whole.
        legal_sets: (B,) uint64, the same as sets of bits, written whole.
    """
    for i in range(states.size):
        _observe_turn(states, i, at, observations, masks, legal_sets)


@jit
def _observe_turn(states, i, at, observations, masks, legal_sets):
    write_observation(states[i], states[i].turn, at, observations[i])
    legal_sets[i] = legal(states[i])
    write_mask(legal_sets[i], masks[i])


@jit
def step(states, i, action, keys, num_hands, as_equity, rewards):
    """Carry out a legal action in states[i]; a settled hand is followed by the next.

    Args:
        states: (B,) records.
        i: which of them.
        action: an integer.
        keys: (B,) uint64 generators, from which the sessions after the first draw their keys.
        num_hands: the length of a session in hands; a new session follows the last.
        as_equity: reward mode, True for "equity", False for "coins".
        rewards: (B, n) float64; row i is written whole: a settled hand's rewards, else 0.

    Returns:
        1 if the hand was settled, 2 if with it the session, else 0.
    """
    rewards[i, :] = 0
    if act(states, i, action) != HAND_SETTLED:
        return 0
    write_rewards(states, i, as_equity, rewards[i])
    if states[i].hand_number + 1 < num_hands:
        deal_next(states[i])
        return 1
    start_session(states, i, draw(keys[i : i + 1]), NOBODY, 0)
    return 2


@jit
def step_batch(
    states, actions, keys, num_hands, as_equity, rewards, ended, at, observations, masks, legal_sets
):
    """Step every state, and observe it from the seat then to act.

    Args:
        states: (B,) records.
        actions: (B,) integers, legal ones.
        keys: as for `step`.
        num_hands: as for `step`.
        as_equity: as for `step`.
        rewards: (B, n) float64, written whole.
        ended: (B,) int8, written whole: what `step` returns.
        at: as for `observe_batch`, like the rest.
        observations: (B, D) float32, written whole.
        masks: (B, A) int8, written whole.
        legal_sets: (B,) uint64, written whole.
    """
    for i in range(states.size):
        ended[i] = step(states, i, actions[i], keys, num_hands, as_equity, rewards)
        _observe_turn(states, i, at, observations, masks, legal_sets)


@jit
def random_legal(s, rng):
    """A uniformly random legal action of the seat to act; rng is (1,) uint64."""
    return random_member(legal(s), rng)


@jit
def random_member(actions, rng):
    """A uniformly random member of a set that is not empty."""
    return member(actions, below(rng, size(actions)))


@jit
def _play_hands(states, num_hands, rng):
    s = states[0]
    moves = 0
    for _ in range(num_hands):
        deal(s)
        while s.turn != NOBODY:
            apply(s, random_legal(s, rng))
            moves += 1
        pass_the_deal(s)
    return moves


def playouts(
    game: str, num_players: int, num_hands: int, seed: int | None = None, rules: Any = None
) -> dict[str, int]:
    """Play a session of uniformly random legal actions in one compiled call.

    Args:
        game: "beast" or "bestia".
        num_players: seats.
        num_hands: hands in the session, at least 0.
        seed: of deals and actions; None for a fresh one.
        rules: `BeastRules` or `BestiaRules`; the game's defaults if None.

    Returns:
        `{"hands": hands played, "moves": actions carried out}`.

    Raises:
        ValueError: an argument is out of range.
    """
    if num_hands < 0:
        raise ValueError(f"num_hands must be at least 0, not {num_hands!r}")
    states = new_states(game, num_players, rules)
    keys = seed_sequence_keys(seed, 2)
    open_session(states[0], keys[0], NOBODY)
    return {"hands": num_hands, "moves": int(_play_hands(states, num_hands, keys[1:]))}
