"""A recorded hand as one page of HTML that needs nothing else, not even a server.

The page is `templates/replay.html` with its style and script beside it. All pictures stand in it
already drawn; what they have in common, such as the faces of cards, stands there once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.estimates import Estimate
from bestia_env.games import Game, game_named
from bestia_env.records import Record, states
from bestia_env.render import render_svg
from bestia_env.render.facts import facts_of
from experiments import narration
from experiments.hindsight import MOST_CARDS, Hindsight
from experiments.thoughts import Thought

_TEMPLATES = Path(__file__).with_name("templates")
_LONGEST = 24  # letters of a name where there is little room
_TAG = re.compile(r"(?=<)")


def replay_page(
    record: Record,
    thoughts: Sequence[Sequence[Thought]] = (),
    seat: int | None = None,
    hindsights: Sequence[Hindsight | None] = (),
) -> str:
    """A page on which a hand is played over.

    Args:
        record: the hand.
        thoughts: before each action, what policies thought of it; none at all if empty.
        seat: by whose view to begin, None with all cards open.
        hindsights: of each action, for the view with all cards open alone; none at all if empty.

    Raises:
        ValueError: the record is false (`bestia_env.records.check`), or there is no such seat.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    if seat is not None and not 0 <= seat < record.num_players:
        raise ValueError(f"seat must be from 0 to {record.num_players - 1}, not {seat!r}")
    scene = _Scene(record)
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pieces, pictures = _pieced(scene.pictures())
    return templates.get_template("replay.html").render(
        record=record,
        scene=scene,
        seat=seat,
        decisions=[_Decision(scene, k, told) for k, told in enumerate(thoughts) if told],
        hindsights=[_Open(scene, k, found) for k, found in enumerate(hindsights) if found],
        data={"pieces": pieces, "pictures": pictures, "steps": scene.steps()},
    )


def seat_names(record: Record) -> list[str]:
    """What the seats are called: short names, all different."""
    if record.players is None:
        return [f"seat {seat}" for seat in range(record.num_players)]
    short = [_short(name, seat) for seat, name in enumerate(record.players)]
    return [
        f"{name} ({seat})" if short.count(name) > 1 else name for seat, name in enumerate(short)
    ]


def _short(name: str, seat: int) -> str:
    """The name, without the folder of a network; what is too long is no name in a sentence."""
    kind, _, file = name.partition(":")
    if kind == "net" and file:
        name = f"net:{Path(file).stem}"
    return name if len(name) <= _LONGEST else f"seat {seat}"


def _pieced(pictures: list[list[str]]) -> tuple[list[str], list[list[list[int]]]]:
    """All different tags in the pictures, and each picture as a row of their numbers."""
    numbers: dict[str, int] = {}
    rows = [
        [[numbers.setdefault(tag, len(numbers)) for tag in _TAG.split(picture)] for picture in view]
        for view in pictures
    ]
    return list(numbers), rows


class _Scene:
    """A hand with all its states, in words and pictures.

    Attributes:
        game: the game.
        names: of the seats.
        options: of the rules that are not the defaults, as text.
        last: the number of the last step; step k shows the state after k actions.
    """

    def __init__(self, record: Record) -> None:
        self.record, self.game = record, game_named(record.game)
        self.names = seat_names(record)
        self.last = len(record.actions)
        self._states = list(states(record))
        changed = record.changed_options()
        self.options = ", ".join(f"{name}={value}" for name, value in changed.items())

    def pictures(self) -> list[list[str]]:
        """Of every step, open first and then as each seat saw it."""
        return [
            [render_svg(state, self.game.name, view, self.names) for state in self._states]
            for view in (None, *range(len(self.names)))
        ]

    def steps(self) -> list[dict[str, Any]]:
        """What led to each step: whose deed, in words, and in those for who may not know it."""
        deeds = [self._deed(number) for number in range(1, self.last + 1)]
        dealt = f"{narration.dealt(self.game, self._states[0], self.names)}."
        start = {"seat": None, "deed": dealt, "hidden": None, "then": self.then(0)}
        return [start, *deeds]

    def then(self, step: int) -> str:
        """Who is to act, or how the hand ended."""
        facts = facts_of(self._states[step], self.game.name, None, self.names)
        if facts.turn is None:
            return f"The hand is over: {facts.outcome()}."
        return f"{self.names[facts.turn]} is to act: {facts.phase()}."

    def _deed(self, number: int) -> dict[str, Any]:
        seat, action = self.record.actions[number - 1]
        before, after = self._states[number - 1 : number + 1]
        told = narration.effects(self.game, before, after, self.names)
        effects = "".join(f" {effect}." for effect in told)
        deed, hidden = narration.deed(self.game, before, action)
        name = self.names[seat]
        return {
            "seat": seat,
            "deed": f"{name} {deed}.{effects}",
            "hidden": f"{name} {hidden}.{effects}" if hidden else None,
            "then": self.then(number),
        }

    def pot_after(self) -> str:
        """Coins left in the pot, once the hand is over."""
        return _figure(self.record.pot_after or 0, ",")

    def outcome(self) -> list[dict[str, Any]]:
        """A row for each seat, once the hand is over."""
        gains, coins = self.record.gains or (), self.record.coins
        return [
            {"name": name, "gain": _figure(gain, "+,"), "coins": _figure(before + gain, "+,")}
            for name, gain, before in zip(self.names, gains, coins, strict=False)
        ]


@dataclass(frozen=True)
class _Row:
    """An action as a policy thinks of it.

    Attributes:
        name: of the action.
        is_chosen: was it the one?
        share: how likely the policy takes it, in percent.
        worth: what it is worth, or None.
        is_best: is nothing worth more?
        mark: where the worth stands between the least and the most of all, 0 to 100: low end of the
            interval, mean, high end.
    """

    name: str
    is_chosen: bool
    share: float
    worth: str | None = None
    is_best: bool = False
    mark: tuple[float, float, float] | None = None


class _Decision:
    """What policies thought before an action.

    Attributes:
        step: at which it is shown.
        seat: whose it is.
        name: of the seat.
        tables: a policy's spec, whether it plays the seat, and its rows.
        num_worlds: over how many worlds the worths are told, 0 if none are.
    """

    def __init__(self, scene: _Scene, step: int, thoughts: Sequence[Thought]) -> None:
        self.step = step
        self.seat, self._action = scene.record.actions[step]
        self.name = scene.names[self.seat]
        self.tables = [
            (thought.policy, thought.is_player, self._rows(scene.game, thought))
            for thought in thoughts
        ]
        worths = (worth for thought in thoughts for worth in (thought.worths or {}).values())
        self.num_worlds = max((worth.num_deals for worth in worths), default=0)

    def _rows(self, game: Game, thought: Thought) -> list[_Row]:
        worths = thought.worths or {}
        ends = [end for worth in worths.values() for end in (worth.low, worth.high)]
        best = max((worth.mean for worth in worths.values()), default=0.0)
        rows = []
        for action, chance in thought.chances.items():
            name, is_chosen = _action_words(game, action), action == self._action
            worth = worths.get(action)
            if worth is None:
                rows.append(_Row(name, is_chosen, 100 * chance))
                continue
            mark = _mark(worth, min(ends), max(ends))
            told = f"{_figure(worth.mean, '+.2f')} ± {worth.half_width:.2f}"
            rows.append(_Row(name, is_chosen, 100 * chance, told, worth.mean == best, mark))
        return rows


class _Open:
    """What the cards are worth with all of them open.

    Attributes:
        step: at which it is shown.
        num_cards: how many all hold.
        most_cards: how many they may hold for it to be solved, if that is bounded.
        rows: of each card its name, whether it was played, and by each of `AGAINST` its worth and
            whether nothing is worth more; none if it is not solved.
        costs: by each of `AGAINST` what the card played is worth less than the best.
    """

    def __init__(self, scene: _Scene, step: int, hindsight: Hindsight) -> None:
        self.step, self.num_cards = step, hindsight.num_cards
        self.most_cards = MOST_CARDS
        self.rows: list[tuple[str, bool, list[tuple[str, bool]]]] = []
        self.costs: list[str] = []
        if hindsight.solutions is None:
            return
        played = scene.record.actions[step][1]
        columns = [(hindsight.worths(a), found.best) for a, found in hindsight.solutions.items()]
        self.costs = [f"{max(worths.values()) - worths[played]:.2f}" for worths, _ in columns]
        for card in columns[0][0]:
            cells = [(_figure(worths[card], "+.2f"), card in best) for worths, best in columns]
            self.rows.append((_action_words(scene.game, card), card == played, cells))


def _action_words(game: Game, action: int) -> str:
    """A card's long name, or a word such as Knock."""
    if action < game.pack.size:
        return game.pack.long_name(action)
    return game.action_name(action).capitalize()


def _figure(number: float, form: str) -> str:
    """With a proper minus, and spaces between thousands as the picture has them."""
    return format(number, form).replace("-", "−").replace(",", "\N{NARROW NO-BREAK SPACE}")


def _mark(worth: Estimate, least: float, most: float) -> tuple[float, float, float]:
    width = most - least or 1.0
    low, mean, high = ((x - least) / width * 100 for x in (worth.low, worth.mean, worth.high))
    return low, mean, high
