"""Whom a learner meets while it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.mixtures import is_number, weights
from agents.opponents import check_distinct
from agents.policies import Policy, parse_policy

PAST = "past"  # stands for the learner's past selves among the opponents


@dataclass(frozen=True)
class Company:
    """Whom the learner meets.

    In some hands it sits alone among n - 1 copies of an opponent, in some a single opponent joins
    n - 1 learners, in all others every seat is the learner's.

    Attributes:
        alone: the share of hands of the first kind.
        joined: the share of hands of the second kind.
        opponents: specs of policies, and PAST for one of the learner's past selves, with weights;
            until there is a past self, the learner sits in its stead.
        shared: the learner's seats share alike what they win together: a coalition against the
            others, each seat with its own view only.
        cards: the spec of who plays the cards in its stead, so that it decides bids alone
            (`is_bid`); "" for nobody.

    Raises:
        ValueError: a share or a weight is out of range.
    """

    alone: float = 0.0
    joined: float = 0.0
    opponents: Mapping[str, float] = field(default_factory=dict)
    shared: bool = False
    cards: str = ""

    def __post_init__(self) -> None:
        """Check the shares."""
        if not isinstance(self.shared, bool):
            raise ValueError(f"shared must be True or False, not {self.shared!r}")
        for name in ("alone", "joined"):
            share = getattr(self, name)
            if not is_number(share) or not 0 <= share <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {share!r}")
        if self.alone + self.joined > 1:
            raise ValueError(
                f"alone and joined must be at most 1 together, not {self.alone} + {self.joined}"
            )
        if self.opponents or self.alone + self.joined > 0:
            weights(self.opponents)

    @property
    def everybody(self) -> dict[str, float]:
        """All specs with their weights: opponents, who plays the cards, and PAST, the last."""
        everybody = {**self.opponents}
        past = everybody.pop(PAST, 0.0)
        if self.cards:
            everybody.setdefault(self.cards, 0.0)
        return {**everybody, PAST: past}

    def policies(self, game: str, num_players: int) -> list[Policy]:
        """All of `everybody` but PAST.

        Raises:
            ValueError: a spec names no policy for such a table, two are alike, or the cards cannot
                be played by who is named.
        """
        everybody = self.everybody
        policies = [parse_policy(spec, game, num_players) for spec in everybody if spec != PAST]
        check_distinct(policies)
        for spec, policy in zip(everybody, policies):
            # Others are asked outside the kernel, or do no more than bid.
            if spec == self.cards and (policy.chooser is not None or policy.program is not None):
                raise ValueError(f"cards must be played by a baseline or a network, not {spec!r}")
        return policies
