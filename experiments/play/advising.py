"""What a policy would do in the person's place, and what every action is worth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bestia_env.games import Game
from experiments.play.settings import Settings
from experiments.play.words import label

WORLDS = 200


class Question(NamedTuple):
    """What is asked; all that the person may know, and nothing else.

    Attributes:
        game: the game.
        settings: of the table.
        view: (1,) record.
        legal: the actions to choose from.
    """

    game: Game
    settings: Settings
    view: np.ndarray
    legal: list[int]


def advise(question: Question) -> dict[str, Any]:
    """The probability and the worth of every legal action, as JSON."""
    from agents.advice import worth_of_actions

    policy = question.settings.adviser()
    chances = policy.probabilities(question.view, sum(1 << action for action in question.legal))
    worths = worth_of_actions(question.view, policy, num_worlds=WORLDS)
    rows = [
        {
            "action": action,
            "name": label(question.game, action),
            "chance": float(chances[action]),
            "worth": worths[action].mean,
            "half_width": _finite(worths[action].half_width),
        }
        for action in question.legal
    ]
    return {"policy": question.settings.adviser_name, "num_worlds": WORLDS, "actions": rows}


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None
