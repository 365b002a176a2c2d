"""What a table is set up with, and what the form offers for it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from agents.baselines.dispatch import baselines
from agents.policies import BEST_BASELINES, Policy, default_specs, parse_policy
from agents.shipped import shipped
from bestia_env.engine import new_states, start_sessions
from bestia_env.games import GAMES, Game, game_named
from bestia_env.rules.bestia import BestiaRules
from bestia_env.rules.table import check_coins
from experiments.play.messages import Refusal, checked, quoted, refused

TRAINED = "trained"  # the spec of the policy that comes with the project for a table
FIELDS: dict[str, type] = {
    **{"game": str, "num_players": int, "name": str, "policies": list, "rules": dict},
    **{"seed": object, "pot": int},
}
_MAX_SEED = 2**53 - 1  # the greatest integer that JavaScript keeps exact
_LONGEST_NAME, _LONGEST_SPEC = 20, 200


@dataclass(frozen=True)
class Settings:
    """What a table is set up with; the person sits in seat 0.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        name: the person's.
        policies: the specs of the other seats, as `parse_policy` takes them, or "trained".
        rules: `BeastRules` or `BestiaRules`.
        seed: of all deals and of the policies' chances.
        pot: coins carried into the first hand, 0 for none.
    """

    game: str
    num_players: int
    name: str
    policies: tuple[str, ...]
    rules: Any
    seed: int
    pot: int

    @classmethod
    def read(cls, message: Mapping[str, Any]) -> Settings:
        """Check a message with `FIELDS`; a seed that is None is drawn.

        Raises:
            Refusal: something in it is not allowed.
        """
        with refused("game"):
            game = game_named(message["game"])
        rules = _rules(game, message["rules"])
        with refused("num_players"):
            game.check_num_players(message["num_players"], rules)
        with refused("pot"):
            check_coins("pot", message["pot"], least=0, step=rules.pot_unit)
        return cls(
            game.name,
            message["num_players"],
            _name(message["name"]),
            _specs(message["policies"], message["num_players"] - 1),
            rules,
            _seed(message["seed"]),
            message["pot"],
        )

    def to_message(self) -> dict[str, Any]:
        """What `read` gives these settings for."""
        return asdict(self)

    def opponents(self) -> dict[int, Policy]:
        """The policies by seat.

        Raises:
            Refusal: a spec names none that can play here.
        """
        return {seat: self._opponent(seat) for seat in range(1, self.num_players)}

    def _opponent(self, seat: int) -> Policy:
        spec = self.policies[seat - 1]
        with refused(f"policies.{seat - 1}"):
            if spec == TRAINED:
                return _trained(self.game, self.num_players)
            policy = _policy(spec, self.game, self.num_players)
            policy.check_sits(self._a_hand())
            return policy

    def _a_hand(self) -> np.ndarray:
        """Some first hand at such a table, (1,)."""
        states = new_states(self.game, self.num_players, self.rules)
        start_sessions(states, np.zeros(1, np.uint64), 0, 0)
        return states

    @property
    def adviser_name(self) -> str:
        """The trained policy for this table, else the strongest baseline."""
        return trained_name(self.game, self.num_players) or BEST_BASELINES[self.game]

    def adviser(self) -> Policy:
        """The policy of that name."""
        if self.adviser_name in shipped():
            return _trained(self.game, self.num_players)
        return parse_policy(self.adviser_name, self.game, self.num_players)


def trained_name(game: str, num_players: int) -> str | None:
    """The name of the trained policy that is shipped for a table, None if there is none."""
    name = f"{game}-{num_players}"
    return name if name in shipped() else None


def _trained(game: str, num_players: int) -> Policy:
    name = trained_name(game, num_players)
    if name is None:
        raise ValueError(
            f"no trained policy is shipped for {game} with {num_players} players: "
            f"there are {', '.join(shipped())}"
        )
    return shipped()[name].policy


def _policy(spec: str, game: str, num_players: int) -> Policy:
    """As `parse_policy`, whose errors quote a rule: not to whoever may only name its file."""
    try:
        policy = parse_policy(spec, game, num_players)
    except ValueError:
        if spec.startswith("rule:"):
            raise ValueError(f"policy {spec!r}: the file holds no rule of {game}") from None
        raise
    if policy.cheats:
        raise ValueError(f"policy {spec!r} sees all cards: it may not sit with people")
    return policy


def _name(name: str) -> str:
    name = name.strip()
    if not name.isprintable() or not 1 <= len(name) <= _LONGEST_NAME:
        raise Refusal(
            400,
            f"name must be of 1 to {_LONGEST_NAME} printable characters, not {quoted(name)}",
            "name",
        )
    return name


def _specs(policies: list, count: int) -> tuple[str, ...]:
    if len(policies) != count:
        raise Refusal(
            400,
            f"policies must name one for each of {count} seats, not {len(policies)}",
            "policies",
        )
    return tuple(_spec(spec, f"policies.{place}") for place, spec in enumerate(policies))


def _spec(spec: Any, field: str) -> str:
    if len(checked(spec, field, str)) > _LONGEST_SPEC:
        raise Refusal(
            400, f"{field} must have at most {_LONGEST_SPEC} characters, not {quoted(spec)}", field
        )
    return spec.strip()


def _rules(game: Game, values: dict) -> Any:
    for option, value in values.items():
        if not isinstance(value, str | bool | int):
            raise Refusal(
                400,
                f"option {quoted(option)} must be text, a number, true or false, "
                f"not {quoted(value)}",
                f"rules.{option}",
            )
    try:
        return game.make_rules(None, values)
    except (TypeError, ValueError):  # one at a time, to say which is wrong
        for option, value in values.items():
            with refused(f"rules.{option}"):
                game.make_rules(None, {option: value})
    with refused("rules"):
        return game.make_rules(None, values)


def _seed(seed: Any) -> int:
    if seed is None:
        return secrets.randbits(52)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _MAX_SEED:
        raise Refusal(
            400,
            f"seed must be an integer from 0 to {_MAX_SEED}, or null for a fresh one, "
            f"not {quoted(seed)}",
            "seed",
        )
    return seed


# What the form offers.


def choices() -> dict[str, Any]:
    """Everything that can be chosen, by game, as JSON."""
    return {name: _choices_of(game) for name, game in GAMES.items()}


def _choices_of(game: Game) -> dict[str, Any]:
    tables = {n: trained_name(game.name, n) for n in game.player_counts}
    presets = {"the base game": game.rules()}
    if game.rules is BestiaRules:
        presets["circle: force, and the maxims as penalties"] = BestiaRules.circle()
    specs = zip(default_specs(game.name), baselines(game.name), strict=True)
    return {
        "player_counts": list(game.player_counts),
        "policies": [{"spec": spec, "idea": baseline.idea} for spec, baseline in specs],
        "default_policy": BEST_BASELINES[game.name],
        "trained": {str(n): name for n, name in tables.items() if name},
        "options": _options(game),
        "presets": [{"name": name, "rules": asdict(rules)} for name, rules in presets.items()],
    }


def _options(game: Game) -> list[dict[str, Any]]:
    """The options of the rules: name, meaning, default, and the values if they are few."""
    meanings = _meanings(game.rules)
    return [
        {
            "name": field.name,
            "meaning": meanings[field.name],
            "default": field.default,
            "values": _values(game, field.name, field.default),
        }
        for field in fields(game.rules)
    ]


def _values(game: Game, option: str, default: Any) -> list[str] | None:
    """All values of an option that takes words; its rulebook lists them under the same name."""
    return list(getattr(game.module, option.upper())) if isinstance(default, str) else None


def _meanings(rules: type) -> dict[str, str]:
    """What the docstring of the rules says about every option."""
    attributes = (rules.__doc__ or "").partition("Attributes:\n")[2].partition("Raises:")[0]
    found = re.findall(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", attributes, re.MULTILINE)
    return {option: " ".join(meaning.split()) for option, meaning in found}
