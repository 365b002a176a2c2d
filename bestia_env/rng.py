"""Random numbers for compiled code: SplitMix64 (Steele, Lea and Flood 2014).

A generator is an array `(1,)` of uint64, its whole state. Every session has a key drawn from
`numpy.random.SeedSequence`; `stream(key, k)` starts an independent generator for its k-th use, so
that a hand's deal depends on the key and the hand's number alone, never on how others were played.
"""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)


def seed_sequence_keys(seed: int | None, count: int) -> np.ndarray:
    """`count` session keys, uint64, from a `numpy.random.SeedSequence`."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64)


@jit
def _mix(z):
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@jit
def stream(key, k):
    """The first state of the k-th generator of a key, both uint64 or int."""
    return _mix(np.uint64(key) ^ _mix((np.uint64(k) + np.uint64(1)) * _STEP))


@jit
def draw(rng):
    """The next 64 random bits."""
    rng[0] += _STEP
    return _mix(rng[0])


@jit
def below(rng, n):
    """A uniform integer in 0 … n-1, exactly so (Lemire 2019); 1 <= n < 2**32."""
    n = np.uint64(n)
    product = (draw(rng) >> _32) * n
    if product & _LOW < n:
        unfair = (_TWO_32 - n) % n
        while product & _LOW < unfair:
            product = (draw(rng) >> _32) * n
    return np.int64(product >> _32)


@jit
def unit(rng):
    """A uniform float in [0, 1)."""
    return np.float64(draw(rng) >> np.uint64(11)) * 2.0**-53
