"""Checks of what is handed to environments of many hands, made before anything changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestia_env.deals import is_integer
from bestia_env.games import Game


def checked_count(num_envs: Any) -> int:
    """A number of tables; raises a ValueError unless it is an integer of at least 1."""
    if not is_integer(num_envs) or num_envs < 1:
        raise ValueError(f"num_envs must be an integer of at least 1, not {num_envs!r}")
    return int(num_envs)


def checked_actions(actions: Any, count: int) -> np.ndarray:
    """As (count,) int64; raises a ValueError for another shape, or for other than integers."""
    actions = np.asarray(actions)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"actions must be integers of shape ({count},), "
            f"not {actions.dtype} of shape {actions.shape}"
        )
    if actions.dtype.kind == "u":  # or else the greatest would become negative
        actions = np.minimum(actions, np.iinfo(np.int64).max)
    return actions.astype(np.int64)


def check_legal(game: Game, actions: np.ndarray, masks: np.ndarray, idle: np.ndarray) -> None:
    """Raise a ValueError unless every action (B,) is allowed by its mask (B, A), or idle."""
    known = (actions >= 0) & (actions < game.num_actions)
    allowed = known & (masks[np.arange(actions.size), np.where(known, actions, 0)] > 0)
    if not (allowed | idle).all():
        i = int(np.argmin(allowed | idle))
        raise ValueError(
            f"action {actions[i]} is not legal at table {i}: the legal actions are "
            f"{game.action_names(masks[i])} ({', '.join(map(str, np.flatnonzero(masks[i])))})"
        )
