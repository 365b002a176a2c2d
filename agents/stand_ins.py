"""Stand-ins: baselines in the places of others on the same deals, whose mean score is well known.

What one baseline scores among copies of another is known from far more deals than an arena plays,
for the default rules and a fresh pot (`stand_ins.json`, measured by
`python -m experiments.measure_stand_ins`). Played on the same deals, with the same lots for those
who draw some, such a pair meets much of the luck that a line-up of others meets, and how far its
score there is from its mean tells how lucky they were.

Which pairs are played is chosen on deals of their own, which no result is made of.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.estimates import Estimate
from agents.policies import Policy, default_specs, parse_policy

SEED = 70_000_000  # of the deals of the measurement
FILE = Path(__file__).with_name("stand_ins.json")
PILOT = 512  # deals on which stand-ins are chosen
FAR = 1 << 40  # the number of the first of these, beyond all that are played
FEW = 8 * PILOT  # deals for which choosing costs too much
DEALS_EACH, MOST = 50, 6  # deals for each of several pairs at least, and pairs at most
CHECKED = 256  # deals of the measurement that are played again before its means are believed
CHOSEN = 3  # pairs at most that are chosen
# The most of the variance that a pair may leave of what was left without it, if it pays to play as
# many hands again of baselines: beside other compiled policies, and beside networks.
WORTHWHILE, CHEAP = 0.6, 0.85
NO_SPREAD = 1e-9  # a share of the variance that is all rounding
Play = Callable[[Policy, Policy, int, int], np.ndarray]


class Pair(NamedTuple):
    """One policy among copies of another, by their specs."""

    one: str
    field: str


class Known(NamedTuple):
    """What a pair is known to score.

    Attributes:
        score: the mean, with its interval.
        checked: pots that the one won in the first deals of the measurement.
    """

    score: Estimate
    checked: float


def pairs(game: str) -> list[Pair]:
    """All pairs of different baselines."""
    return [Pair(*pair) for pair in itertools.permutations(default_specs(game), 2)]


def policies_of(pair: Pair, game: str, num_players: int) -> tuple[Policy, Policy]:
    """The one and the field."""
    one, field = (parse_policy(spec, game, num_players) for spec in pair)
    return one, field


@functools.cache
def _measured() -> dict[str, dict]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def measured_tables() -> list[str]:
    """The tables of which pairs were measured, GAME-PLAYERS."""
    return sorted(_measured())


@functools.cache
def known_pairs(game: str, num_players: int) -> dict[Pair, Known]:
    """The pairs that were measured at such a table, none if it was not."""
    table = _measured().get(f"{game}-{num_players}", {})
    return {
        Pair(row["one"], row["field"]): Known(
            Estimate(row["mean"], row["half_width"], table["deals"]), row["checked"]
        )
        for row in table.get("pairs", ())
    }


def choose(
    one: Policy, field: Policy, num_players: int, known: Sequence[Pair], num_deals: int, play: Play
) -> list[Pair]:
    """The pairs that are to tell of the luck of one among copies of a field, if any are worth it.

    All that come into question are, beside search, where they cost nothing, and in few deals of a
    network; else those few that tell most together.

    Args:
        one: the one.
        field: the other.
        num_players: seats.
        known: the pairs that may be chosen.
        num_deals: that are played.
        play: plays one among copies of a field in the deals from the first number to before the
            second, and returns the scores (D,) of the one.
    """
    candidates = [pair for pair in known if _may_stand_in(pair, one, field, num_players)]
    asked = [policy for policy in (one, field) if policy.kind < 0]
    if asked and (num_deals < FEW or any(policy.network is None for policy in asked)):
        is_enough = len(candidates) * DEALS_EACH <= num_deals and len(candidates) <= MOST
        return candidates if is_enough else []
    if num_deals < FEW or not candidates:
        return []
    scores = play(one, field, FAR, FAR + PILOT)
    others = [
        play(*policies_of(pair, one.game, num_players), FAR, FAR + PILOT) for pair in candidates
    ]
    telling = _most_telling(scores, others, CHEAP if asked else WORTHWHILE)
    return [candidates[place] for place in telling]


def _may_stand_in(pair: Pair, one: Policy, field: Policy, num_players: int) -> bool:
    """A baseline stands in for itself; where both are baselines, one of them does."""
    mine, others = policies_of(pair, one.game, num_players)
    same = mine.same_as(one), others.same_as(field)
    is_baseline = [_is_baseline(policy, num_players) for policy in (one, field)]
    if all(is_baseline):
        return same[0] != same[1]
    return all(s or not b for s, b in zip(same, is_baseline))


def _is_baseline(policy: Policy, num_players: int) -> bool:
    """Is it one of those that were measured, however it was spelt?"""
    specs = default_specs(policy.game)
    return any(policy.same_as(parse_policy(spec, policy.game, num_players)) for spec in specs)


def _most_telling(scores: np.ndarray, others: Sequence[np.ndarray], worth: float) -> list[int]:
    """The places of those who tell most, one after the other, while each is worth it."""
    chosen: list[int] = []
    left, least = float(scores.var()), NO_SPREAD * float(scores.var())
    while len(chosen) < CHOSEN and left > least:
        told = [others[place] for place in chosen]
        lefts = [_left(scores, [*told, other]) for other in others]
        best = int(np.argmin(lefts))
        if lefts[best] > worth * left:
            break
        chosen.append(best)
        left = lefts[best]
    return chosen


def _left(scores: np.ndarray, others: Sequence[np.ndarray]) -> float:
    """The variance of scores that a regression on others leaves."""
    centred = np.column_stack([scores, *others])
    centred -= centred.mean(axis=0)
    weights = np.linalg.lstsq(centred[:, 1:], centred[:, 0], rcond=None)[0]
    return float((centred[:, 0] - centred[:, 1:] @ weights).var())


def is_as_measured(known: Known, scores: np.ndarray) -> bool:
    """Are these the scores of the first deals, as rules and baselines played them then?"""
    return abs(float(scores.sum()) - known.checked) < 1e-6
