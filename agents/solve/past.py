"""What of the past tells in the rest of a hand, as one number; of a hand played out it tells all.

Six bits for each seat: three for its tricks, one if it has revoked, two for its breaches of the
maxims. Above them, in Beast, the seat that first had the most tricks.
"""

from __future__ import annotations

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import ZERO, nth

_WIDTH = np.uint64(6)
_1, _2, _3, _4, _7 = (np.uint64(k) for k in (1, 2, 3, 4, 7))
_FRONT_AT = np.uint64(60)
_NO_FRONT = np.uint64((1 << 60) - 1)
EACH = np.uint64(sum(1 << 6 * seat for seat in range(10)))
"""The lowest bit of every seat."""
MASK = np.uint64(63)
"""All bits of seat 0."""
NEVER = 1 << 62
"""More than any score."""
REVOKE, BREACH = np.uint64(1 << 3), np.uint64(1 << 4)


@jit
def place(seat):
    """Where the bits of a seat begin."""
    return np.uint64(seat) * _WIDTH


@jit
def past_of(s):
    """The tricks and revokes that stand in a record."""
    past = ZERO
    for seat in range(s.num_players):
        marks = np.uint64(s.tricks[nth(seat)]) | (np.uint64(s.revoked[nth(seat)]) << _3)
        past |= marks << place(seat)
    return past


@jit
def tricks_of(past, seat):
    """How many tricks the seat has taken."""
    return np.int64((past >> place(seat)) & _7)


@jit
def front_of(past):
    """The seat that first had the most tricks (BEAST-30), or NOBODY."""
    return np.int64(past >> _FRONT_AT) - 1


@jit
def with_front(past, seat):
    """The same past with this seat in front."""
    return (past & _NO_FRONT) | (np.uint64(seat + 1) << _FRONT_AT)


@jit
def with_trick(past, seat):
    """The same past and a trick for the seat."""
    return past + (_1 << place(seat))


@jit
def with_revoke(past, seat):
    """The same past, the seat having revoked; that counts once."""
    return past | (REVOKE << place(seat))


@jit
def with_breach(past, seat):
    """The same past and a breach of the maxims."""
    return past + (BREACH << place(seat))


@jit
def fines_of(past, seat):
    """How many fines the seat owes for revokes and breaches."""
    bits = past >> place(seat)
    return np.int64(((bits >> _3) & _1) + ((bits >> _4) & _3))


@jit
def some_of(past):
    """The lowest bit of every seat that has taken a trick."""
    return (past | (past >> _1) | (past >> _2)) & EACH


@jit
def total_of(tricks):
    """The sum of all seats' tricks, which must be below 64."""
    return np.int64((tricks * EACH) >> np.uint64(54) & np.uint64(63))
