"""The trained policies that come with the project, `agents/checkpoints/GAME-PLAYERS`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agents.policies import CHECKPOINTS, Policy, parse_policy


class Shipped(NamedTuple):
    """A policy that comes with the project.

    Attributes:
        name: such as "bestia-4".
        game: "beast" or "bestia".
        num_players: seats.
        path: of its weights; the sidecar stands beside it.
    """

    name: str
    game: str
    num_players: int
    path: Path

    @property
    def policy(self) -> Policy:
        """What plays."""
        return parse_policy(f"net:{self.name}", self.game, self.num_players)


def shipped() -> dict[str, Shipped]:
    """All of them by name."""
    found = {}
    for path in sorted(CHECKPOINTS.glob("*.safetensors")):
        game, _, players = path.stem.partition("-")
        found[path.stem] = Shipped(path.stem, game, int(players), path)
    return found


def shipped_named(name: str) -> Shipped:
    """One of them.

    Raises:
        ValueError: there is none of this name.
    """
    policies = shipped()
    if name not in policies:
        raise ValueError(f"no policy {name!r} is shipped: choose among {', '.join(policies)}")
    return policies[name]
