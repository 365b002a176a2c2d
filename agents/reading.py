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
from agents.replays import deal_again, has_caught_up, said
from agents.worlds import draw_worlds
from bestia_env._jit import jit
from bestia_env.rng import seed_sequence_keys
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
    replays, misses = np.empty_like(worlds), np.zeros(worlds.size, np.int64)
    _deal_again(worlds, replays)
    while not has_caught_up(replays[0], worlds[0]):
        seat, actions = int(replays[0].turn), np.empty(worlds.size, np.int64)
        _hear(worlds, replays, actions)
        if seat != viewer and not is_blind(replays[0], seat):
            misses += choose(field, replays, chances) != actions
        act_turns(replays, np.arange(replays.size), actions)
        kept = max(enough, int(np.count_nonzero(misses == 0)))
        if kept < misses.size:
            best = np.sort(np.argsort(misses, kind="stable")[:kept])
            worlds, replays, chances, misses = (
                array[best] for array in (worlds, replays, chances, misses)
            )
    return worlds, misses


@jit
def _deal_again(worlds, replays):
    for j in range(worlds.size):
        deal_again(worlds, j, replays, j)


@jit
def _hear(worlds, replays, actions):
    """What the seat to act in each replay then did in its world; (K,) int64 is written."""
    for j in range(worlds.size):
        actions[j] = said(worlds[j], replays[j].phase, np.int64(replays[j].turn))
