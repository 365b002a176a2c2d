"""What a policy would do in the person's place, and what every action is worth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.advice import advise
from agents.estimates import Estimate
from bestia_env.engine import legal_actions, new_states, start_sessions
from bestia_env.games import GAMES, Game
from bestia_env.view import look
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


def answer(question: Question) -> dict[str, Any]:
    """The probability and the worth of every legal action, the best first, as JSON."""
    policy = question.settings.adviser()
    chances = policy.probabilities(question.view, sum(1 << action for action in question.legal))
    rows = [
        {
            "action": advice.action,
            "name": label(question.game, advice.action),
            "chance": float(chances[advice.action]),
            "worth": _interval(advice.worth),
            "behind": _interval(advice.behind),
        }
        for advice in advise(question.view, policy, WORLDS)
    ]
    return {"policy": question.settings.adviser_name, "num_worlds": WORLDS, "actions": rows}


def warm_up() -> None:
    """Compile what answers take, which else the first one in each game would wait for."""
    for game in GAMES.values():
        settings = Settings(game.name, 4, "", (), game.rules(), 0, 0)
        states = new_states(game.name, settings.num_players)
        start_sessions(states, np.zeros(1, np.uint64), 0, 0)
        view = np.empty_like(states)
        look(states, 0, states[0].turn, view, 0)
        legal = int(legal_actions(states, 0))
        choices = [action for action in range(game.num_actions) if legal >> action & 1]
        answer(Question(game, settings, view, choices))


def _interval(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "half_width": estimate.half_width}
