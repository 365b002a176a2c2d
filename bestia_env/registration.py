"""The ids of the environments, as data.

Those of one table, AEC and SINGLE, take `render_mode` "human", "ansi" or "rgb_array".
"""

from __future__ import annotations

import gymnasium
import pettingzoo

AEC = {
    "bestia_env/beast-v0": "bestia_env.beast_v0:env",
    "bestia_env/bestia-v0": "bestia_env.bestia_v0:env",
}
"""PettingZoo: `pettingzoo.make("aec", id, …)`."""

SINGLE = {
    "bestia_env/Beast-v0": "bestia_env.single:BeastEnv",
    "bestia_env/Bestia-v0": "bestia_env.single:BestiaEnv",
}
"""Gymnasium: `gymnasium.make(id, …)`."""

VECTOR = {
    "bestia_env/Beast-v0": "bestia_env.vector:BeastVectorEnv",
    "bestia_env/Bestia-v0": "bestia_env.vector:BestiaVectorEnv",
}
"""Gymnasium: `gymnasium.make_vec(id, num_envs, …)`."""


def register_all() -> None:
    """Register every id in its library; done by `import bestia_env`."""
    for env_id, entry_point in AEC.items():
        if env_id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", env_id, entry_point=entry_point)
    for env_id, entry_point in SINGLE.items():
        if env_id not in gymnasium.registry:
            vector = VECTOR[env_id]
            gymnasium.register(env_id, entry_point=entry_point, vector_entry_point=vector)
