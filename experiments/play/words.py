"""What actions are called on the page, and what its log says of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestia_env.games import Game
from bestia_env.rules import bestia

ME = 0  # the person's seat


class Words(NamedTuple):
    """An action beside the cards, in words.

    Attributes:
        label: on its button.
        meaning: what it does, beside the label.
        key: that chooses it.
        said: of the person, after "You".
        reported: of another seat, after its name.
    """

    label: str
    meaning: str
    key: str
    said: str
    reported: str


_WORDS = {
    "beast": {
        "LEAVE": Words(
            "Leave the upcard",
            "it is out of play, and you see your cards",
            "l",
            "leave the upcard",
            "leaves the upcard",
        ),
        "TAKE": Words(
            "Take the upcard",
            "before you see your cards: you are the Player",
            "t",
            "take the upcard",
            "takes the upcard",
        ),
        "PASS": Words("Pass", "", "p", "pass", "passes"),
        "PLAY": Words(
            "I play",
            "win the hand and take the pot, or match it",
            "i",
            "say “I play”",
            "says “I play”",
        ),
        "COUNTER": Words(
            "I counter",
            "win the hand over the Player",
            "c",
            "say “I counter”",
            "says “I counter”",
        ),
        "SHOW": Words(
            "Show",
            "a hand that is sure to win",
            "s",
            "show a sure hand",
            "shows a sure hand",
        ),
    },
    "bestia": {
        "PASS": Words("Pass", "you may be offered new cards", "p", "pass", "passes"),
        "KNOCK": Words("Knock", "play these cards: a trick, or bête", "k", "knock", "knocks"),
        "REFUSE": Words("Refuse", "out of this hand", "r", "refuse new cards", "refuses new cards"),
        "EXCHANGE": Words(
            "Exchange",
            "three new cards: a trick, or bête",
            "e",
            "ask for three new cards",
            "asks for three new cards",
        ),
    },
}


def words_of(game: Game, action: int) -> Words:
    """The words of an action that is no card."""
    return _WORDS[game.name][game.actions(action).name]


def label(game: Game, action: int) -> str:
    """What the button of an action says; cards by their full names."""
    is_card = action < game.pack.size
    return game.pack.long_name(action) if is_card else words_of(game, action).label


def player(seat: int) -> str:
    """How the log names a seat that starts a sentence."""
    return "You" if seat == ME else f"player_{seat}"


def dealt(game: Game, states: np.ndarray) -> str:
    """The hand that begins."""
    s = states[0]
    deal = "You deal" if s.dealer == ME else f"{player(s.dealer)} deals"
    force = ", a force" if game.name == "bestia" and s.forced else ""
    return (
        f"Hand {s.hand_number + 1}{force}: {deal}; the pot is {s.pot}; "
        f"{game.pack.long_name(s.upcard)} is turned up"
    )


def acted(game: Game, before: np.ndarray, after: np.ndarray, action: int) -> list[str]:
    """What an action was and brought about, as far as the person may know.

    Args:
        game: the game.
        before: (1,) record, the state in which it was chosen.
        after: (1,) record, the state that it led to.
        action: the action.
    """
    seat = int(before[0].turn)
    return [f"{player(seat)} {_deed(game, before, seat, action)}", *_effects(game, before, after)]


def _deed(game: Game, before: np.ndarray, seat: int, action: int) -> str:
    if action >= game.pack.size:
        words = words_of(game, action)
        return words.said if seat == ME else words.reported
    card = game.pack.long_name(action)
    if game.phases(before[0].phase).name == "DISCARD":  # B-07: only the dealer knows which
        return f"discard {card}" if seat == ME else "discards a card"
    return f"play {card}" if seat == ME else f"plays {card}"


def _effects(game: Game, before: np.ndarray, after: np.ndarray) -> list[str]:
    """New cards in Bestia, and who takes the trick."""
    lines = []
    if before.dtype == bestia.HAND and before[0].phase == bestia.AT_OFFER:
        lines += _new_cards(after)
    for seat in np.flatnonzero(after[0].tricks > before[0].tricks).tolist():
        lines.append(f"{player(seat)} {'take' if seat == ME else 'takes'} the trick")
    return lines


def _new_cards(after: np.ndarray) -> list[str]:
    """Who is dealt new cards, once all have answered."""
    s = after[0]
    seats = [seat for seat in range(s.num_players) if int(s.exchanged) >> seat & 1]
    if s.phase == bestia.AT_OFFER or not seats:
        return []
    gathered = ["The dealer gathers cards to deal from"] if s.gathered else []
    who = ["you" if seat == ME else player(seat) for seat in seats]
    return [*gathered, f"New cards go to {', '.join(who)}"]


_QUESTIONS = {
    "beast": {
        "TAKE": "You deal. Take the upcard before you see your cards?",
        "DISCARD": "Discard a card, face down.",
        "CLAIM": "You are the Player.",
        "DECLARE": "Do you declare?",
        "COUNTER": "Do you counter?",
        "TRICKS": "Play a card.",
    },
    "bestia": {
        "AUCTION": "Pass or knock?",
        "OFFER": "Three new cards, or out of this hand?",
        "TRICKS": "Play a card.",
    },
}


def question(game: Game, states: np.ndarray) -> str:
    """What the person is to decide."""
    return _QUESTIONS[game.name][game.phases(states[0].phase).name]
