"""Worlds in which the others would have bid as they did.

What somebody has bid is a hint at his cards for those who know how he bids. Here all others bid by
one policy, the field. A world of `agents.worlds` fits if the field, replaying the bids of the hand
from the deal and seeing what each bidder could see, bids as was bid; where it draws lots, its lots
decide. So a world is kept with the chance that it would have come to these bids, which is Bayes'
rule exactly. Read are

- in Bestia every pass and knock, and every answer to the offer of new cards;
- in Beast every declaration, pass and Counter, and which card a dealer who took discarded; not
  whether he took, since he had not looked (BEAST-08).

The viewer's own bids tell him nothing, and of the cards played only what the rules say is read.
"""

from __future__ import annotations

import numpy as np

from agents.matches import act_turns, choose
from agents.policies import Policy
from agents.worlds import draw_worlds
from bestia_env._jit import jit
from bestia_env.bits import bit, has
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import deal, rulebook_of
from bestia_env.view import is_blind

ROUNDS = 6  # of draws, each of twice as many worlds as the one before


def draw_read_worlds(
    view: np.ndarray, num_worlds: int, seed: int, field: Policy
) -> tuple[np.ndarray, int]:
    """Worlds in which the viewer of a view may be, and in which the others' bids make sense.

    Up to 63 times as many are tried. If too few of them fit, the field would hardly ever have bid
    so, and those follow that miss the fewest bids: a bid that the field makes with no cards then
    counts for nothing, and the rest is still read.

    Args:
        view: (1,) records, the VIEW of a seat in a hand that is not over.
        num_worlds: how many.
        seed: of the draws; where there is nothing to read the worlds are those of `draw_worlds`.
        field: by which the others have bid.

    Returns:
        (num_worlds,) states of the same dtype, and how many of them, the first, fit.
    """
    chance_seed = int(seed_sequence_keys(seed, 2)[1])
    found, misses = view[:0], np.zeros(0, np.int64)
    for number in range(ROUNDS):
        worlds = draw_worlds(view, num_worlds << number, seed + number)
        chances = seed_sequence_keys(chance_seed + number, worlds.size)
        more = _read(worlds, int(view[0].viewer), field, chances, num_worlds)
        found, misses = np.concatenate([found, more[0]]), np.concatenate([misses, more[1]])
        best = np.argsort(misses, kind="stable")[:num_worlds]
        found, misses = found[best], misses[best]
        if not misses.any():
            break
    return found, int(np.count_nonzero(misses == 0))


def _read(
    worlds: np.ndarray, viewer: int, field: Policy, chances: np.ndarray, enough: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count the bids in which each world goes against the field.

    Args:
        worlds: (K,) states with the same public record.
        viewer: whose bids are not counted.
        field: by which the others bid.
        chances: (K,) uint64, a generator for each world, moved on.
        enough: so many of the best are kept at least, and all that fit.

    Returns:
        The worlds kept, in order, and how many bids each of them misses.
    """
    replays, misses = _as_dealt(worlds), np.zeros(worlds.size, np.int64)
    while not _has_caught_up(replays[0], worlds[0]):
        seat, said = int(replays[0].turn), _said(worlds, replays[0])
        if seat != viewer and not is_blind(replays[0], seat):
            misses += choose(field, replays, chances) != said
        act_turns(replays, np.arange(replays.size), said)
        kept = max(enough, int(np.count_nonzero(misses == 0)))
        if kept < misses.size:
            best = np.sort(np.argsort(misses, kind="stable")[:kept])
            worlds, replays, chances, misses = (
                array[best] for array in (worlds, replays, chances, misses)
            )
    return worlds, misses


def _has_caught_up(s: np.record, w: np.record) -> bool:
    """Has the replay heard all bids of the world? Each seat speaks once in a phase."""
    return s.phase == w.phase and (s.turn == w.turn or s.phase == rulebook_of(w).AT_TRICKS)


def _as_dealt(worlds: np.ndarray) -> np.ndarray:
    """The worlds when their hands had been dealt; the packs are not theirs."""
    states = worlds.copy()
    _deal_anew(states)
    states["hands"] = _hands_dealt(worlds)
    return states


@jit
def _deal_anew(states):
    """Deal these hands again, with other cards, from the same pot and the same upcard."""
    for i in range(states.size):
        s = states[i]
        upcard, trump = s.upcard, s.trump
        s.pot = s.carried
        deal(s)
        s.upcard, s.trump = upcard, trump


def _hands_dealt(worlds: np.ndarray) -> np.ndarray:
    """The cards that every seat was dealt, (K, seats) uint64."""
    w, hands = worlds[0], worlds["hands"].copy()
    for card, seat in zip(w.play_card[: w.plays], w.play_seat[: w.plays]):
        hands[:, seat] |= bit(card)
    if rulebook_of(w) is bestia:
        return np.where(worlds["thrown"] > 0, worlds["thrown"], hands)
    if w.upcard_is == beast.TAKEN:
        hands[:, w.dealer] |= worlds["discard"]
        hands[:, w.dealer] &= ~np.uint64(bit(w.upcard))
    return hands


def _said(worlds: np.ndarray, s: np.record) -> np.ndarray:
    """What the seat to act in the replay s then did in each world, (K,) int64."""
    w, seat = worlds[0], int(s.turn)
    if rulebook_of(w) is bestia:
        action = _said_in_bestia(w, s.phase, seat)
    elif s.phase == beast.AT_DISCARD:
        return np.rint(np.log2(worlds["discard"])).astype(np.int64)
    else:
        action = _said_in_beast(w, s.phase, seat)
    return np.full(worlds.size, action, np.int64)


def _said_in_bestia(w: np.record, phase: int, seat: int) -> int:
    if phase == bestia.AT_AUCTION:
        return bestia.KNOCK if has(w.knocked, seat) else bestia.PASS
    return bestia.EXCHANGE if has(w.exchanged, seat) else bestia.REFUSE


def _said_in_beast(w: np.record, phase: int, seat: int) -> int:
    """Nobody has shown, for that ends a hand (B-10, B-11)."""
    if phase == beast.AT_TAKE:
        return beast.TAKE if w.upcard_is == beast.TAKEN else beast.LEAVE
    if phase == beast.AT_COUNTER:
        return beast.COUNTER if w.counterer == seat else beast.PASS
    return beast.PLAY if w.player == seat else beast.PASS
