"""What the page asks, and what the actions are called that answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestia_env.games import Game

ME = 0
"""The person's seat."""


class Words(NamedTuple):
    """The button of an action beside the cards.

    Attributes:
        label: what it says.
        meaning: below the label.
        key: that chooses it.
    """

    label: str
    meaning: str
    key: str


_WORDS = {
    "beast": {
        "LEAVE": Words("Leave the upcard", "it is out of play, and you see your cards", "l"),
        "TAKE": Words("Take the upcard", "before you see your cards: you are the Player", "t"),
        "PASS": Words("Pass", "", "p"),
        "PLAY": Words("I play", "win the hand and take the pot, or match it", "i"),
        "COUNTER": Words("I counter", "win the hand over the Player", "c"),
        "SHOW": Words("Show", "a hand that is sure to win", "s"),
    },
    "bestia": {
        "PASS": Words("Pass", "you may be offered new cards", "p"),
        "KNOCK": Words("Knock", "play these cards: a trick, or bête", "k"),
        "REFUSE": Words("Refuse", "out of this hand", "r"),
        "EXCHANGE": Words("Exchange", "three new cards: a trick, or bête", "e"),
    },
}


def words_of(game: Game, action: int) -> Words:
    """The words of an action that is no card."""
    return _WORDS[game.name][game.actions(action).name]


def label(game: Game, action: int) -> str:
    """What the button of an action says; cards by their full names."""
    is_card = action < game.pack.size
    return game.pack.long_name(action) if is_card else words_of(game, action).label


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
