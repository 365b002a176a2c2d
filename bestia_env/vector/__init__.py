"""Many hands at once: every seat a learner's, or one seat of each as a Gymnasium `VectorEnv`."""

from bestia_env.vector.seats import BeastVectorEnv, BestiaVectorEnv, SeatVectorEnv
from bestia_env.vector.tables import Tables, TablesEnv, seat_advantages

__all__ = [
    "BeastVectorEnv",
    "BestiaVectorEnv",
    "SeatVectorEnv",
    "Tables",
    "TablesEnv",
    "seat_advantages",
]
