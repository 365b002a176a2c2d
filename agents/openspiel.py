"""What OpenSpiel's search needs of this project: worlds drawn with the voids counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agents.worlds import determinize_batch, make_room
from bestia_env.openspiel import HandState
from bestia_env.rng import seed_sequence_keys


def world_resampler(seed: int | None = None) -> Callable[[HandState, int], HandState]:
    """A sampler of states that a player cannot tell from the true one, quick in the full games.

    For `ISMCTSBot.set_resampler` of OpenSpiel. All worlds are equally likely.

    Args:
        seed: of the draws; None for a fresh one.

    Returns:
        A function of a state in which a seat is to act, and of a seat.
    """
    rng = seed_sequence_keys(seed, 1)

    def resample(state: HandState, player: int) -> HandState:
        view = state.view(player)
        world = np.empty_like(view)
        determinize_batch(view, rng, world, make_room(state.game_name, int(view[0].num_players)))
        return state.in_world(world[0])

    return resample
