"""Kernels that only the benchmark needs; compiled code must stand at module level."""

from __future__ import annotations

from bestia_env import engine
from bestia_env._jit import jit


@jit
def random_batch_steps(
    states, actions, keys, rewards, ended, at, observations, masks, legal_sets, rng, rounds
):
    """Step a batch by random legal actions, and observe it, so many times."""
    for _ in range(rounds):
        for i in range(states.size):
            actions[i] = engine.random_member(legal_sets[i], rng)
        engine.step_batch(
            *(states, actions, keys, 1, True, rewards, ended),
            *(at, observations, masks, legal_sets),
        )


@jit
def clones(states, count):
    """Copy states of a batch over each other; returns `count`."""
    for i in range(count):
        states[i % states.size] = states[(7 * i + 1) % states.size]
    return count
