"""What a best responder wins against frozen copies of a policy, and a coalition against one.

    python -m experiments.best_response --game bestia --policies net:bestia-4 sound

A learner is trained by PPO at tables of the victim, once from a network that plays well already and
once from scratch; all baselines and the shipped policy answer too. Whoever does best on some deals
is measured on others. One responder sits alone among n - 1 copies of the victim. A coalition sits
at n - 1 seats against one victim and shares what it wins; its members share weights and nothing
else: each decides by its own view. Among copies of itself a victim scores 0, so a score is a gain.

Any gain that is found is a lower bound of what there is to gain. A row is written for every victim
when it is done; interrupted, the same command goes on where it was.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.command_line import ends_cleanly, provenance, results_folder, runs_folder

if TYPE_CHECKING:
    from agents.estimates import Estimate
    from agents.networks import Network
    from agents.policies import Policy
    from experiments import train_ppo

ONE, COALITION = "one", "coalition"
WARM, SCRATCH = "warm", "scratch"
BASELINE_STEPS = 8_000_000  # against victims that were not trained
VALIDATION_SEED = 70_000_000
AIM = 0.25  # of the least exploited baseline's, a learned policy's gain is to be at most
SMOKE = {"steps": 1024, "deals": 50, "validation_deals": 20}
SMOKE_TRAINING = {"steps_per_update": 256, "batch_size": 64}


@dataclass(frozen=True)
class Arguments:
    """Measure what best responders and coalitions win against policies."""

    game: Literal["all", "bestia", "beast"] = "all"
    """Which game."""
    num_players: int = 4
    """Seats."""
    policies: tuple[str, ...] = ()
    """Specs of victims; all shipped policies, each at its own table, and all baselines if none are
    given."""
    kinds: tuple[Literal["one", "coalition"], ...] = (ONE, COALITION)
    """One responder among n - 1 victims, n - 1 against one victim."""
    starts: tuple[Literal["warm", "scratch"], ...] = (WARM, SCRATCH)
    """Train from the victim's weights, or from those of the shipped policy if it has none; train
    from scratch."""
    steps: int = 0
    """The learner's decisions in each training; 0 for as many as the victim's own training had,
    and 8 million if it had none."""
    seed: int = 0
    """Of the trainings."""
    deals: int = 50_000
    """Duplicate deals for the figure."""
    deals_seed: int = 60_000_000
    """Of these deals."""
    validation_deals: int = 5_000
    """Others, by which the responder is chosen."""
    jobs: int = 1
    """Processes that play the deals. The numbers do not depend on it."""
    runs: Path | None = None
    """Where the trainings go; runs/best-response if none is given."""
    out: Path | None = None
    """Where the figures go; experiments/results/best-response.json if none is given."""
    smoke: bool = False
    """A tiny budget, to see whether all runs; then both go below runs/smoke."""

    def check(self) -> None:
        """Raise a ValueError for a number that is out of range."""
        from bestia_env.rules.table import check_coins

        check_coins("deals", self.deals, least=2)
        check_coins("validation_deals", self.validation_deals, least=2)
        check_coins("jobs", self.jobs, least=1)
        check_coins("steps", self.steps, least=0)
        check_coins("seed", self.seed, least=0, most=2**32 - 1)
        check_coins("deals_seed", self.deals_seed, least=0)
        if self.deals_seed in (self.seed, VALIDATION_SEED):
            raise ValueError(
                f"deals_seed must be neither the seed of the trainings, {self.seed}, nor that of "
                f"the validation, {VALIDATION_SEED}"
            )
        for name in ("kinds", "starts"):
            words = getattr(self, name)
            if not words or len({*words}) < len(words):
                raise ValueError(f"{name} must be at least one and different, not {words}")
        if self.policies and self.game == "all":
            raise ValueError("policies are of one game: name it")


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
        """Tells it from all others that are named alike."""
        policy = self.policy
        weights = policy.file.read_bytes() if policy.file is not None else b""
        text = policy.rule or policy.spec
        return hashlib.sha256(weights or text.encode()).hexdigest()[:8]

    @functools.cached_property
    def own_steps(self) -> int | None:
        """The decisions that its own training took; None if it had none."""
        from agents.checkpoints import load_checkpoint

        if self.policy.file is None:
            return None
        steps = load_checkpoint(self.policy.file)[1].get("steps")
        return steps if type(steps) is int else None

    @functools.cached_property
    def model(self) -> tuple[str, Network] | None:
        """The spec and the network that a responder may start from; None if there is none."""
        from agents.policies import parse_policy
        from agents.shipped import shipped

        if self.policy.network is not None and self.policy.network.activation == "relu":
            return self.policy.spec, self.policy.network
        name = f"{self.game}-{self.num_players}"
        if name not in shipped():
            return None
        network = parse_policy(f"net:{name}", self.game, self.num_players).network
        assert network is not None
        return f"net:{name}", network

    def __str__(self) -> str:
        return f"{self.game}, {self.num_players} players: {self.policy.spec}"


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
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        rows, out = measure(arguments)
    print("\n".join(tables(rows)))
    print(f"written to {out}")


def measure(arguments: Arguments) -> tuple[list[dict[str, Any]], Path]:
    """Train and measure, a row for each victim and kind; returns them, and the file.

    Raises:
        ValueError: an argument is out of range, or a victim cannot sit at the table.
        OSError: a folder cannot be written to.
    """
    from agents.checkpoints import write_whole
    from agents.reports import check_writable

    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **SMOKE)
    arguments.check()
    work = [(victim, kind) for victim in _victims(arguments) for kind in arguments.kinds]
    for victim, kind in work:
        _trainings(arguments, victim, kind)
    runs = arguments.runs or runs_folder(arguments.smoke) / "best-response"
    out = arguments.out or results_folder(arguments.smoke) / "best-response.json"
    for folder in (runs, out.parent):
        check_writable(folder)
    known = {_key(row): row for row in _saved(out)}
    todo = [job for job in work if _key(_facts(arguments, *job)) not in known]
    for victim, kind in _shown(arguments, todo):
        row = _row(arguments, victim, kind, runs)
        known = {_key(row): row for row in _saved(out)} | {_key(row): row}
        write_whole(out, f"{json.dumps([*known.values()], indent=1)}\n".encode())
    return [known[_key(_facts(arguments, *job))] for job in work], out


def _victims(arguments: Arguments) -> list[Victim]:
    from agents.policies import default_specs, parse_policy
    from agents.shipped import shipped

    n = arguments.num_players
    if arguments.policies:
        return [
            Victim(parse_policy(spec, arguments.game, n), n)
            for spec in dict.fromkeys(arguments.policies)
        ]
    games = ("bestia", "beast") if arguments.game == "all" else (arguments.game,)
    learned = [
        Victim(one.policy, one.num_players) for one in shipped().values() if one.game in games
    ]
    baselines = [
        Victim(parse_policy(spec, game, n), n) for game in games for spec in default_specs(game)
    ]
    return [*learned, *baselines]


def _shown(arguments: Arguments, todo: list[tuple[Victim, str]]) -> Iterator[tuple[Victim, str]]:
    """The same jobs; says before each which it is, and how long all may take."""
    sizes = [_steps(arguments, victim) for victim, _ in todo]
    began = time.perf_counter()
    for place, (victim, kind) in enumerate(todo):
        left = ""
        if place:
            pace = (time.perf_counter() - began) / sum(sizes[:place])
            left = f", about {pace * sum(sizes[place:]) / 60:.0f} min left"
        print(f"[{place + 1}/{len(todo)}] {victim}, {kind}{left}", flush=True)
        yield victim, kind


def _steps(arguments: Arguments, victim: Victim) -> int:
    return arguments.steps or victim.own_steps or BASELINE_STEPS


# One row.


def _facts(arguments: Arguments, victim: Victim, kind: str) -> dict[str, Any]:
    """What a figure is of."""
    return {
        "game": victim.game,
        "num_players": victim.num_players,
        "victim": victim.policy.spec,
        "digest": victim.digest,
        "kind": kind,
        "starts": list(arguments.starts),
        "steps": _steps(arguments, victim),
        "seed": arguments.seed,
        "deals": arguments.deals,
        "deals_seed": arguments.deals_seed,
        "validation_deals": arguments.validation_deals,
    }


_KEY = (
    "game", "num_players", "victim", "digest", "kind", "starts", "steps", "seed", "deals",
    "deals_seed", "validation_deals",
)  # fmt: skip


def _key(row: dict[str, Any]) -> str:
    return json.dumps([row[name] for name in _KEY])


def _saved(path: Path) -> list[dict[str, Any]]:
    """The rows of earlier runs."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [row for row in rows if _key(row) and row["gain"]["half_width"] is not None]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} holds no figures of this kind: delete it") from None


def _row(arguments: Arguments, victim: Victim, kind: str, runs: Path) -> dict[str, Any]:
    """Train, choose and measure."""
    trained = _trained(arguments, victim, kind, runs)
    found = {
        candidate.name: (candidate, _gain(arguments, victim, kind, candidate, validating=True))
        for candidate in [*trained, *_ready(victim)]
    }
    best, _ = max(found.values(), key=lambda pair: pair[1].mean)
    gain = _gain(arguments, victim, kind, best, validating=False)
    return {
        **_facts(arguments, victim, kind),
        "own_steps": victim.own_steps,
        "responder": best.name,
        "gain": dataclasses.asdict(gain),
        "candidates": [
            {"name": name, "validation": dataclasses.asdict(estimate), **candidate.facts}
            for name, (candidate, estimate) in found.items()
        ],
        "provenance": provenance([victim.policy, best.policy]),
    }


def _gain(
    arguments: Arguments, victim: Victim, kind: str, candidate: Candidate, validating: bool
) -> Estimate:
    """What the responder wins, or what the coalition takes from its victim, in pots per hand."""
    from agents.arena import one_against_field

    one, field = candidate.policy, victim.policy
    if kind == COALITION:
        one, field = field, one
    score = one_against_field(
        one,
        field,
        arguments.validation_deals if validating else arguments.deals,
        VALIDATION_SEED if validating else arguments.deals_seed,
        num_players=victim.num_players,
        jobs=arguments.jobs,
    )
    return score if kind == ONE else dataclasses.replace(score, mean=-score.mean)


# Who answers.


def _ready(victim: Victim) -> Iterator[Candidate]:
    """Policies that need no training."""
    from agents.policies import default_specs, parse_policy

    for spec in default_specs(victim.game):
        yield Candidate(spec, parse_policy(spec, victim.game, victim.num_players))
    if victim.model is not None:
        spec, _ = victim.model
        yield from _both(spec, parse_policy(spec, victim.game, victim.num_players))


def _both(name: str, policy: Policy, **facts: Any) -> Iterator[Candidate]:
    """A network's policy as it draws its actions, and as it takes the likeliest."""
    yield Candidate(name, policy, facts)
    assert policy.network is not None
    greedy = dataclasses.replace(policy.network, greedy=True)
    yield Candidate(
        f"{name}, greedy",
        dataclasses.replace(policy, spec=f"{policy.spec}!", network=greedy),
        facts,
    )


def _trained(arguments: Arguments, victim: Victim, kind: str, runs: Path) -> Iterator[Candidate]:
    """Train them, or go on with it, or find it done."""
    from agents.checkpoints import load_checkpoint
    from agents.policies import parse_policy
    from experiments import train_ppo

    for start, training in _trainings(arguments, victim, kind).items():
        training = dataclasses.replace(training, run_dir=runs / training.run_dir)
        print(f"training, {start}: {training.run_dir}", flush=True)
        path = train_ppo.train(training)
        sidecar = load_checkpoint(path)[1]
        facts = {name: sidecar[name] for name in ("command", "steps", "seconds")}
        policy = parse_policy(f"net:{path}", victim.game, victim.num_players)
        yield from _both(f"trained, {start}", policy, **facts)


def _trainings(arguments: Arguments, victim: Victim, kind: str) -> dict[str, train_ppo.Arguments]:
    """By how they start; their run folders are relative to that of all runs.

    Raises:
        ValueError: they are to start from a network, and there is none.
    """
    if arguments.starts == (WARM,) and victim.model is None:
        raise ValueError(f"{victim} has no network to start from: take --starts scratch")
    starts = [start for start in arguments.starts if start == SCRATCH or victim.model]
    return {start: _training(arguments, victim, kind, start) for start in starts}


def _training(arguments: Arguments, victim: Victim, kind: str, start: str) -> train_ppo.Arguments:
    from experiments import train_ppo

    spec, network = victim.model or ("", None)
    steps = _steps(arguments, victim)
    name = re.sub(r"[^\w.-]+", "_", victim.policy.spec)[:24]
    table = f"{victim.game}-{victim.num_players}"
    words = (table, name, victim.digest, kind, start, str(steps), str(arguments.seed))
    options: dict[str, Any] = {"steps_per_update": 32_768, "batch_size": 4096}
    training = train_ppo.Arguments(
        run_dir=Path("-".join(words)),
        game=victim.game,  # type: ignore[arg-type]
        num_players=victim.num_players,
        total_steps=steps,
        seed=arguments.seed,
        alone=float(kind == ONE),
        joined=float(kind == COALITION),
        shared=kind == COALITION,
        opponents=(f"{victim.policy.spec}=1",),
        start=spec if start == WARM else "",
        hidden=tuple(network.architecture["hidden"]) if network else (128, 128),
        sort_suits=network.sort_suits if network else True,
        epochs=2,
        gae_lambda=0.95,
        learning_rate=1e-3 if start == WARM else 2e-3,
        final_deals=0,
        **(options | SMOKE_TRAINING if arguments.smoke else options),
    )
    training.check()
    return training


# What is shown.


def tables(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The figures in Markdown, a table for each game and number of players."""
    lines: list[str] = []
    by_table: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        by_table.setdefault((row["game"], row["num_players"]), []).append(row)
    for (game, n), some in by_table.items():
        lines += [
            f"| {game.capitalize()}, {n} players | one gains | {n - 1} gain together | steps |",
            "|---|---|---|---|",
            *(_line(some, victim) for victim in dict.fromkeys(row["victim"] for row in some)),
            "",
            *_verdicts(some),
        ]
    return lines


def _line(rows: list[dict[str, Any]], victim: str) -> str:
    best = {kind: _best(rows, victim, kind) for kind in (ONE, COALITION)}
    cells = [_cell(row) if row else "" for row in best.values()]
    return f"| {victim} | {' | '.join(cells)} | {_budget(best.values())} |"


def _best(rows: list[dict[str, Any]], victim: str, kind: str) -> dict[str, Any] | None:
    """Of several budgets, the one whose responder did best on the deals of the validation."""
    some = [row for row in rows if (row["victim"], row["kind"]) == (victim, kind)]
    return max(some, key=_validation, default=None)


def _validation(row: dict[str, Any]) -> float:
    return max(candidate["validation"]["mean"] for candidate in row["candidates"])


def _cell(row: dict[str, Any]) -> str:
    mean, half = row["gain"]["mean"], row["gain"]["half_width"]
    nothing = " found none" if mean <= 0 else ""
    return f"{mean:+.4f} ± {half:.4f}{nothing} ({row['responder']})"


def _budget(rows: Iterable[dict[str, Any] | None]) -> str:
    """In millions; * if it is less than the victim's own."""
    words = []
    for row in rows:
        if row:
            less = row["own_steps"] is not None and row["steps"] < row["own_steps"]
            words.append(f"{row['steps'] / 1e6:.1f} M{'*' if less else ''}")
    return ", ".join(dict.fromkeys(words))


def _verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Each trained victim's gain beside the least of the baselines'."""
    best = [_best(rows, victim, ONE) for victim in dict.fromkeys(row["victim"] for row in rows)]
    gains = {row["victim"]: max(0.0, row["gain"]["mean"]) for row in best if row}
    learned = {row["victim"] for row in rows if row["own_steps"] is not None}
    others = {victim: gain for victim, gain in gains.items() if victim not in learned}
    if not others:
        return []
    least = min(others, key=others.__getitem__)
    lines = []
    for victim in gains.keys() & learned:
        within = "within" if gains[victim] <= AIM * others[least] else "beyond"
        lines.append(
            f"{victim}: {gains[victim]:.4f}, {within} a quarter of {others[least]:.4f}, what is "
            f"gained against {least}, the least exploited baseline"
        )
    return [*lines, ""] if lines else []


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Arguments, prog="python -m experiments.best_response", description=__doc__))
