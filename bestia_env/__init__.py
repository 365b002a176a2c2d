"""Reinforcement-learning environments for two gambling trick-taking games, Beast and Bestia."""

from bestia_env import beast_v0, bestia_v0
from bestia_env.engine import playouts
from bestia_env.registration import register_all
from bestia_env.rules.beast import BeastRules
from bestia_env.rules.bestia import BestiaRules
from bestia_env.words import describe

__version__ = "0.1.0"
__all__ = ["BeastRules", "BestiaRules", "beast_v0", "bestia_v0", "describe", "playouts"]

register_all()
