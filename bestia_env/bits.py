"""Sets of cards, and of actions, as the bits of one uint64."""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit

# uint64 mixed with int64 becomes float64 in numba, so every literal is typed.
ZERO, ONE = np.uint64(0), np.uint64(1)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_1, _2, _4, _8, _16, _32, _56 = (np.uint64(k) for k in (1, 2, 4, 8, 16, 32, 56))


@jit
def nth(index):
    """An index known not to be negative: numba tests all others, to count from the end."""
    return np.uint64(index)


@jit
def bit(index):
    """The set that holds `index` alone."""
    return ONE << np.uint64(index)


@jit
def has(bits, index):
    """Is `index` in the set?"""
    return (bits >> np.uint64(index)) & ONE != ZERO


@jit
def size(bits):
    """How many members the set has."""
    bits = bits - ((bits >> _1) & _PAIRS)
    bits = (bits & _FOURS) + ((bits >> _2) & _FOURS)
    bits = (bits + (bits >> _4)) & _BYTES
    return np.int64((bits * _SUM) >> _56)  # LLVM makes one popcount of these lines


@jit
def or_else(bits, otherwise):
    """The first set unless it is empty, else the other; without a branch, see `member`."""
    return bits | (otherwise & (np.uint64(bits != ZERO) - ONE))


@jit
def lowest(bits):
    """The smallest member of a set that is not empty."""
    return size(~bits & (bits - ONE))


@jit
def highest(bits):
    """The greatest member of a set that is not empty."""
    bits = bits | (bits >> _1)
    bits = bits | (bits >> _2)
    bits = bits | (bits >> _4)
    bits = bits | (bits >> _8)
    bits = bits | (bits >> _16)
    bits = bits | (bits >> _32)
    return size(bits) - 1


@jit
def without_lowest(bits):
    """The set less its smallest member."""
    return bits & (bits - ONE)


@jit
def member(bits, k):
    """The k-th smallest member, counted from 0, of a set with more than k members."""
    for i in range(3):  # without branches, since k is hard to predict
        bits = without_lowest(bits) if k > i else bits
    for _ in range(k - 3):
        bits = without_lowest(bits)
    return lowest(bits)


@jit
def first_from(bits, start):
    """The smallest member from `start` on, or else from 0 on, of a set that is not empty."""
    later = (bits >> np.uint64(start)) << np.uint64(start)
    return lowest(or_else(later, bits))
