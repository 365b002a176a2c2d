"""What policies think of the decisions in a recorded hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.advice import worth_of_actions
from agents.estimates import Estimate
from agents.policies import Policy, parse_policy
from bestia_env.engine import legal_actions
from bestia_env.records import Record, start, states
from bestia_env.view import look


@dataclass(frozen=True)
class Thought:
    """What one policy thinks of one decision.

    Attributes:
        policy: its spec.
        is_player: does it play the seat that decides?
        chances: the legal actions, and how likely the policy takes each.
        worths: what each is worth to the seat in pots per hand if all play on by this policy;
            None if that was not asked for.
    """

    policy: str
    is_player: bool
    chances: dict[int, float]
    worths: dict[int, Estimate] | None = None


def players_of(record: Record) -> list[Policy | None]:
    """The policies that play the seats, None where a name is not the spec of one.

    A record may come from anybody: of the files that it names, only regular ones are opened.
    """
    names = record.players or [""] * record.num_players
    return [_policy(name, record) for name in names]


def _policy(name: str, record: Record) -> Policy | None:
    kind, _, file = name.partition(":")
    is_shipped = kind in ("net", "bids") and Path(file).name == file and not Path(file).suffix
    try:
        if kind in ("net", "rule", "bids") and not is_shipped and not Path(file).is_file():
            return None
        return policy_to_ask(name, record)
    except (ValueError, OSError):
        return None


def policy_to_ask(spec: str, record: Record) -> Policy:
    """The policy of a spec, if it can think over what the seats of a hand may know.

    Raises:
        ValueError: there is no such policy, it sees all cards, or it plays by other rules.
    """
    policy = parse_policy(spec, record.game, record.num_players)
    if policy.cheats:
        raise ValueError(f"policy {spec!r} sees all cards: it cannot say what a seat might think")
    policy.check_sits(start(record))
    return policy


def think(
    record: Record,
    players: Sequence[Policy | None],
    others: Sequence[Policy] = (),
    num_worlds: int = 0,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> list[list[Thought]]:
    """What the player and others think of every decision, over no more than its seat may know.

    Args:
        record: a hand, to its end or not.
        players: the policy of every seat, or None.
        others: more policies, asked at every decision.
        num_worlds: by how many worlds the worth of actions is told, 0 for not at all.
        seed: of the worlds.
        progress: is called with 1 after each decision.

    Returns:
        For each action of the record the thoughts before it, the player's own first.

    Raises:
        ValueError: the record is false (`bestia_env.records.check`), or num_worlds is 1 or less
            than 0.
    """
    found = []
    for state, (seat, _) in zip(list(states(record)), record.actions, strict=False):
        own = players[seat]
        asked = [] if own is None else [own]
        asked += [other for other in others if own is None or not other.same_as(own)]
        view = state.copy()
        look(state, 0, seat, view, 0)
        found.append([_thought(policy, view, policy is own, num_worlds, seed) for policy in asked])
        progress(1)
    return found


def _thought(
    policy: Policy, view: np.ndarray, is_player: bool, num_worlds: int, seed: int
) -> Thought:
    legal = int(legal_actions(view, 0))
    chances = policy.probabilities(view, legal)
    actions = [action for action in range(chances.size) if legal >> action & 1]
    worths = worth_of_actions(view, policy, num_worlds, seed) if num_worlds else None
    return Thought(
        policy.spec, is_player, {action: float(chances[action]) for action in actions}, worths
    )
