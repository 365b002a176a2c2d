"""Who may be a best responder to a policy: learners trained against it, best bids, and others.

A learner is trained by PPO at tables of the victim, which does not learn. It is the one responder
among n - 1 copies, or all n - 1 members of a coalition against one: these share weights and what
they win, and nothing else, for each decides by its own view. Where the victim bids by a table, the
best bids against it are found as well. Baselines and networks that are there anyway answer too.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agents.bids.table import BidTable
    from agents.networks import Network
    from agents.policies import Policy
    from experiments import train_ppo

Kind = Literal["one", "coalition"]
Start = Literal["warm", "scratch"]
BASELINE_STEPS = 8_000_000  # of a training against a victim that had none itself
BID_DEALS, SMOKE_BID_DEALS = 1_000_000, 1000  # on which best bids are chosen
SMOKE = {"steps_per_update": 256, "batch_size": 64}


@dataclass(frozen=True)
class Victim:
    """Whose loss is to be found.

    Attributes:
        policy: the victim.
        num_players: at the table.
    """

    policy: Policy
    num_players: int

    @property
    def game(self) -> str:
        """Which game."""
        return self.policy.game

    @functools.cached_property
    def digest(self) -> str:
        """Tells it from others of the same name."""
        return hashlib.sha256(b"".join(self._parts) or self.policy.spec.encode()).hexdigest()[:8]

    @property
    def _parts(self) -> Iterator[bytes]:
        """All that it plays by and that its name does not tell."""
        policy, table = self.policy, self.table
        if policy.file is not None:
            yield policy.file.read_bytes()
        if policy.rule is not None:
            yield policy.rule.encode()
        if table is not None:
            yield table.cards.encode() + table.shares.tobytes()

    @property
    def table(self) -> BidTable | None:
        """By which it bids; None if it bids by none."""
        from agents.bids.table import BidTable

        return self.policy.chooser if isinstance(self.policy.chooser, BidTable) else None

    @functools.cached_property
    def own_steps(self) -> int | None:
        """The decisions that its own training took; None if it had none."""
        from agents.checkpoints import load_checkpoint

        if self.policy.file is None:
            return None
        steps = load_checkpoint(self.policy.file)[1].get("steps")
        return steps if type(steps) is int else None

    @functools.cached_property
    def model(self) -> Policy | None:
        """A policy with a network to start from, if possible its own; None if there is none."""
        network = self.policy.network
        if network is not None and network.activation == "relu" and len(network.weights) > 1:
            return self.policy
        return self.shipped

    @functools.cached_property
    def shipped(self) -> Policy | None:
        """The policy that comes with the project for such a table, if there is one."""
        from agents.shipped import shipped

        one = shipped().get(f"{self.game}-{self.num_players}")
        return None if one is None else one.policy

    def __str__(self) -> str:
        return f"{self.game}, {self.num_players} players: {self.policy.spec}"


@dataclass(frozen=True)
class Budget:
    """What is spent on a victim.

    Attributes:
        steps: of each training; 0 for as many as the victim's own had, or `BASELINE_STEPS`.
        seed: of the trainings.
        starts: "warm" from the victim's weights, or from those of the shipped policy if it has
            none; "scratch" from weights drawn by the seed.
        responders: specs of policies that answer too.
        smoke: tiny updates.
    """

    steps: int
    seed: int
    starts: tuple[Start, ...]
    responders: tuple[str, ...] = ()
    smoke: bool = False

    def steps_for(self, victim: Victim) -> int:
        """Of each training."""
        return self.steps or victim.own_steps or BASELINE_STEPS


@dataclass(frozen=True)
class Candidate:
    """Who may be the best responder.

    Attributes:
        name: in words.
        policy: who plays.
        facts: how it came to be, if it was made for this.
    """

    name: str
    policy: Policy
    facts: dict[str, Any] = field(default_factory=dict)


def candidates(victim: Victim, kind: Kind, budget: Budget, runs: Path) -> Iterator[Candidate]:
    """All of them, each made, or gone on with, or found done, when its turn comes.

    Args:
        victim: whom they answer.
        kind: "one" or "coalition".
        budget: of the trainings.
        runs: the folder of the trainings.
    """
    yield from _trained(victim, kind, budget, runs)
    if victim.table is not None and kind == "one":
        yield from _best_bidder(victim, victim.table, budget, runs)
    yield from at_hand(victim, budget)


def _best_bidder(
    victim: Victim, table: BidTable, budget: Budget, runs: Path
) -> Iterator[Candidate]:
    """Who bids best among bidders by a table, and plays the cards as they do."""
    from agents.policies import parse_policy
    from experiments.best_bids import best_bids

    num_deals = SMOKE_BID_DEALS if budget.smoke else BID_DEALS
    folder = runs / _folder(victim, "best-bids", num_deals, budget.seed)
    print(f"best bids: {folder}", flush=True)
    path = best_bids(table, num_deals, budget.seed, folder)
    policy = parse_policy(f"bids:{path}", victim.game, victim.num_players)
    yield from _both("best bids", policy, {"deals": num_deals})


def _trained(victim: Victim, kind: Kind, budget: Budget, runs: Path) -> Iterator[Candidate]:
    from agents.checkpoints import load_checkpoint
    from agents.policies import parse_policy
    from experiments import train_ppo

    for start, training in trainings(victim, kind, budget).items():
        training = replace(training, run_dir=runs / training.run_dir)
        print(f"training, {start}: {training.run_dir}", flush=True)
        path = train_ppo.train(training)
        sidecar = load_checkpoint(path)[1]
        facts = {name: sidecar[name] for name in ("command", "steps", "seconds")}
        policy = parse_policy(f"net:{path}", victim.game, victim.num_players)
        yield from _both(f"trained, {start}", policy, facts)


def at_hand(victim: Victim, budget: Budget) -> list[Candidate]:
    """Those that need no training for this: baselines, networks, and what the budget names.

    Raises:
        ValueError: what is named is no policy for the victim's table.
    """
    from agents.policies import default_specs, parse_policy

    specs = dict.fromkeys([*default_specs(victim.game), *budget.responders])
    policies = [parse_policy(spec, victim.game, victim.num_players) for spec in specs]
    networks = [policy for policy in (victim.model, victim.shipped) if policy is not None]
    policies += {one.spec: one for one in networks if one.spec not in specs}.values()
    return [candidate for policy in policies for candidate in _both(policy.spec, policy, {})]


def _both(name: str, policy: Policy, facts: dict[str, Any]) -> Iterator[Candidate]:
    """A policy with a network that draws its actions, and one that takes the likeliest.

    Their chances depend on their names, not on where their weights lie.
    """
    yield Candidate(name, replace(policy, spec=name), facts)
    if policy.network is not None:
        greedy = replace(policy.network, greedy=True)
        name = f"{name}, greedy"
        yield Candidate(name, replace(policy, spec=name, network=greedy), facts)


def trainings(victim: Victim, kind: Kind, budget: Budget) -> dict[Start, train_ppo.Arguments]:
    """By how they start; their run folders are to lie in that of all.

    Raises:
        ValueError: they are all to start from a network, and there is none; or one is out of range.
    """
    starts = [start for start in budget.starts if start == "scratch" or victim.model]
    if not starts:
        raise ValueError(f"{victim} has no network to start from: take --starts scratch")
    return {start: _training(victim, kind, start, budget) for start in starts}


def _training(victim: Victim, kind: Kind, start: Start, budget: Budget) -> train_ppo.Arguments:
    from experiments import train_ppo

    model, steps = victim.model, budget.steps_for(victim)
    options: dict[str, Any] = {
        "game": victim.game,
        "steps_per_update": 32_768,
        "batch_size": 4096,
        "learning_rate": 1e-3 if start == "warm" else 2e-3,
        "start": model.spec if model is not None and start == "warm" else "",
        **_shape(model.network if model is not None else None),
        **(SMOKE if budget.smoke else {}),
    }
    training = train_ppo.Arguments(
        run_dir=Path(_folder(victim, kind, start, steps, budget.seed)),
        num_players=victim.num_players,
        total_steps=steps,
        seed=budget.seed,
        alone=float(kind == "one"),
        joined=float(kind == "coalition"),
        shared=kind == "coalition",
        opponents=(f"{victim.policy.spec}=1",),
        epochs=2,
        gae_lambda=0.95,
        final_deals=0,
        **options,
    )
    training.check()
    return training


def _shape(network: Network | None) -> dict[str, Any]:
    """Of the learner's network: the same as this one's."""
    if network is None:
        return {}
    return {"hidden": tuple(network.architecture["hidden"]), "sort_suits": network.sort_suits}


def _folder(victim: Victim, *rest: str | int) -> str:
    """For what is made against a victim in the way that the rest tells."""
    name = re.sub(r"[^\w.-]+", "_", victim.policy.spec)[:24]
    table = f"{victim.game}-{victim.num_players}"
    return "-".join(map(str, (table, name, victim.digest, *rest)))
