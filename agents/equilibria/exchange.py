"""The exchange of Bestia, the one chance event after the deal; Beast has none."""

from __future__ import annotations

from bestia_env._jit import jit
from bestia_env.bits import ZERO, bit, has, nth
from bestia_env.rules import bestia
from bestia_env.rules.dispatch import by_game


@jit
def _exchanging_beast(s, before):
    return ZERO


@jit
def _pool_beast(s):
    return ZERO


@jit
def _exchanging_bestia(s, before):
    """A lone taker's cards are never seen, and make no difference (I-05)."""
    if before != bestia.AT_TRICKS and s.phase == bestia.AT_TRICKS:
        return s.exchanged
    return ZERO


@jit
def _pool_bestia(s):
    """The stock, or what was gathered (I-08)."""
    pool = s.in_use if s.gathered else s.in_use & ~bit(s.upcard)
    for seat in range(s.num_players):
        if has(s.exchanged, seat):
            pool &= ~s.thrown[nth(seat)]
        else:
            pool &= ~s.hands[nth(seat)]
            if not s.gathered:
                pool &= ~s.thrown[nth(seat)]
    return pool


@by_game(_exchanging_beast, _exchanging_bestia)
def exchanging(s, before):
    """The seats that have just been dealt new cards, as a set; `before`: the phase before that."""


@by_game(_pool_beast, _pool_bestia)
def exchange_pool(s):
    """The cards that their new cards may be."""
