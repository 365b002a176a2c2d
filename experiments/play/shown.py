"""What the browser gets of a table: nothing that the person's seat cannot know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestia_env.games import Game
from bestia_env.render import card_svg, render_svg, render_text
from bestia_env.render.facts import Facts, facts_of
from experiments.play import words
from experiments.play.session import Session
from experiments.play.words import ME


def shown(session: Session, frames: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """The table as JSON.

    Args:
        session: the table.
        frames: the moments that led here, one for each action; the present one alone if none.
    """
    facts = _facts(session)
    return {
        "seen": session.seen,
        "frames": [*frames] or [frame(session)],
        "log": session.log,
        "over": session.is_over,
        "outcome": facts.outcome() if session.is_over else None,
        "question": words.question(session.game, session.states) if session.legal else None,
        "actions": _actions(session, facts),
        "text": render_text(session.states, session.game.name, _seat(session), ascii_only=False),
        "paid": [
            {"gains": record.gains, "pot": record.pot_after, "equity": equity}
            for record, equity in zip(session.records, session.equities, strict=True)
        ],
    }


def frame(session: Session) -> dict[str, Any]:
    """A moment: the picture, and what stands around it."""
    s, facts = session.states[0], _facts(session)
    return {
        "svg": render_svg(
            session.states, session.game.name, seat=_seat(session), names=session.names
        ),
        "lines": len(session.log),
        "hand": int(s.hand_number) + 1,
        "pot": int(s.pot),
        "dealer": int(s.dealer),
        "turn": int(s.turn),
        "phase": facts.phase(),
        "coins": [facts.coins(seat) for seat in facts.seats],
    }


def _seat(session: Session) -> int | None:
    """Whose cards are shown: all once the hand is over."""
    return None if session.is_over else ME


def _facts(session: Session) -> Facts:
    return facts_of(session.states, session.game.name, _seat(session), session.names)


def _actions(session: Session, facts: Facts) -> list[dict[str, Any]]:
    """The person's legal actions; cards have the digits of their places in the hand."""
    digits = {card: str(place) for place, card in enumerate(facts.held(ME), 1)}
    return [_action(session.game, action, digits) for action in session.legal]


def _action(game: Game, action: int, digits: dict[int, str]) -> dict[str, Any]:
    told: dict[str, Any] = {"action": action, "label": words.label(game, action)}
    if action < game.pack.size:
        return {**told, "meaning": "", "key": digits[action], "svg": card_svg(action, game.name)}
    spoken = words.words_of(game, action)
    return {**told, "meaning": spoken.meaning, "key": spoken.key, "svg": None}
