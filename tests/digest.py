"""Prints fingerprints of random hands, to be equal however the kernels are run.

`python -m tests.digest` under NUMBA_DISABLE_JIT=1, NUMBA_BOUNDSCHECK=1, any PYTHONHASHSEED: each
line is a table, what was hashed at every step, and the hash.
"""

from __future__ import annotations

import hashlib
from random import Random

import numpy as np

from bestia_env import engine
from tests.sessions import TABLES, Batch, Table, random_session, walk

SESSIONS = 2  # of two hands at each table


def session_digests(game: str, num_players: int) -> dict[str, str]:
    """Fingerprints of states, masks, observations and rewards."""
    parts = {name: hashlib.sha256() for name in ("states", "masks", "observations", "rewards")}
    rng = Random(num_players)
    rewards = np.zeros(num_players)
    for _ in range(SESSIONS):
        for table in walk(Table(random_session(rng, game, num_players, num_hands=2)), rng):
            parts["states"].update(table.states.tobytes())
            for seat in {table.turn, rng.randrange(num_players)} - {-1}:
                table.observe(seat)
                parts["masks"].update(table.mask.tobytes())
                parts["observations"].update(table.observation.tobytes())
            if table.turn < 0:
                engine.write_rewards(table.states, 0, True, rewards)
                parts["rewards"].update(rewards.tobytes())
    return {name: digest.hexdigest()[:16] for name, digest in parts.items()}


def batch_digest(game: str, num_players: int) -> str:
    """A fingerprint of what observe_batch and step_batch make of a few states."""
    batch = Batch(game, num_players, count=2, seed=num_players)
    digest = hashlib.sha256()
    batch.observe()
    for _ in range(50):
        batch.step(batch.random_actions(), num_hands=1, as_equity=True)
        for array in batch.arrays():
            digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Print all fingerprints."""
    for game, num_players in TABLES:
        for name, digest in session_digests(game, num_players).items():
            print(game, num_players, name, digest)
        print(game, num_players, "batch", batch_digest(game, num_players))
        print(game, num_players, engine.playouts(game, num_players, 3, seed=1))


if __name__ == "__main__":
    main()
