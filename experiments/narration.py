"""A hand told in sentences, by the page to play on and by the page of a replay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestia_env.games import Game

_DEEDS = {
    **{"LEAVE": "leaves the upcard", "TAKE": "takes the upcard", "PASS": "passes"},
    **{"PLAY": "says “I play”", "COUNTER": "says “I counter”", "SHOW": "shows a sure hand"},
    **{"KNOCK": "knocks", "REFUSE": "refuses new cards", "EXCHANGE": "asks for three new cards"},
}


def dealt(game: Game, state: np.ndarray, names: Sequence[str]) -> str:
    """How a hand begins; `state` is (1,), `names` those of the seats."""
    s = state[0]
    pot = f"{s.pot:,}".replace("-", "−")
    upcard = game.pack.long_name(s.upcard)
    return f"{names[s.dealer]} deals. The pot is {pot}, {upcard} is turned up"


def deed(game: Game, before: np.ndarray, action: int) -> tuple[str, str | None]:
    """What the seat to act does.

    Args:
        game: the game.
        before: (1,) record, the state in which it acts.
        action: what it chose.

    Returns:
        What comes after its name, and that for those who may not know all of it; None if they may.
    """
    if action >= game.pack.size:
        return _DEEDS[game.action_name(action)], None
    card = game.pack.long_name(action)
    if game.phases(before[0].phase).name == "DISCARD":  # B-07: only the dealer knows which
        return f"discards {card}", "discards a card"
    return f"plays {card}", None


def effects(game: Game, before: np.ndarray, after: np.ndarray, names: Sequence[str]) -> list[str]:
    """What an action brought about at once: new cards in Bestia, and who takes a trick."""
    told = []
    b, a = before[0], after[0]
    if game.name == "bestia" and game.phases(b.phase).name == "OFFER":
        is_done = game.phases(a.phase).name != "OFFER"
        who = [name for seat, name in enumerate(names) if int(a.exchanged) >> seat & 1]
        if a.gathered:
            told.append("The dealer gathers cards to deal from")
        if is_done and who:
            told.append(f"New cards go to {', '.join(who)}")
    takers = np.flatnonzero(a.tricks > b.tricks).tolist()
    return [*told, *(f"{names[seat]} takes the trick" for seat in takers)]
