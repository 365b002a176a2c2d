"""What a seat may know: the VIEW, a state record with everything hidden from the seat blanked.

A view has the dtype of the state, so that rules and policies read both alike; its field `viewer`
is the seat that looks. Nothing that differs between two states which a seat with perfect memory
cannot tell apart may survive here: a test re-deals all hidden cards and compares bytes.
"""

from __future__ import annotations

from bestia_env._jit import jit
from bestia_env.bits import ZERO
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import by_game
from bestia_env.rules.table import NO_CARD


@jit
def look(states, i, seat, views, j):
    """Write into views[j] what the seat may know of states[i]; both are arrays of one dtype."""
    views[j] = states[i]
    hide(views[j], seat)


@jit
def cards_known(s, seat):
    """The cards that the seat holds and has seen: a dealer of Beast decides blind (B-06)."""
    return ZERO if is_blind(s, seat) else s.hands[seat]


@by_game(beast.is_blind, bestia.is_blind)
def is_blind(s, seat):
    """Has the seat not looked at its cards yet?"""


@jit
def _hide_table(s, seat):
    """Others' cards and secret debts, the pack, and the source of all deals."""
    s.viewer = seat
    s.key = ZERO
    s.rng[0] = ZERO
    s.pack[:] = NO_CARD
    s.settled = s.dealt = 0
    s.hands[seat] = cards_known(s, seat)
    _keep_only(s.hands, seat)
    _keep_only(s.revoked, seat)


@jit
def _keep_only(values, seat):
    own = values[seat]
    values[:] = 0
    values[seat] = own


@jit
def _hide_beast(s, seat):
    _hide_table(s, seat)
    if seat != s.dealer:
        s.discard = ZERO  # B-07


@jit
def _hide_bestia(s, seat):
    _hide_table(s, seat)
    s.heap[:] = NO_CARD
    s.heap_given = False
    _keep_only(s.thrown, seat)  # I-14
    _keep_only(s.breaches, seat)


@by_game(_hide_beast, _hide_bestia)
def hide(s, seat):
    """Blank whatever is hidden from the seat; for a copy of the state."""
