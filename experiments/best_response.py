"""What a best responder wins against frozen copies of a policy, and a coalition against one.

    python -m experiments.best_response --game bestia --policies net:bestia-4 sound

One responder sits alone among n - 1 copies of the victim; a coalition of n - 1 sits against one.
Learners are trained for it (see `experiments.responders`); the best bids against a table are found;
all baselines, the shipped policy and what else is named answer too. Whoever does best on some deals
is measured on others. Among copies of itself a victim scores 0, so the score is a gain: a lower
bound of what there is to gain.

A row is written for every victim when it is done; interrupted, the same command goes on where it
was.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.command_line import ends_cleanly, provenance, results_folder, runs_folder
from experiments.responders import (
    BASELINE_STEPS,
    Budget,
    Kind,
    Start,
    Victim,
    at_hand,
    candidates,
    trainings,
)

if TYPE_CHECKING:
    from agents.estimates import Estimate
    from agents.policies import Policy

Job = tuple[Victim, Kind]
FILE = "best-response.json"
VALIDATION_SEED = 70_000_000
AIM = 0.25  # of the least exploited baseline's: a learned policy is to lose no more
SMOKE: dict[str, Any] = {"steps": 1024, "deals": 50, "validation_deals": 20}


@dataclass(frozen=True)
class Arguments:
    """Measure what best responders and coalitions win against policies."""

    game: Literal["all", "bestia", "beast"] = "all"
    """Which game."""
    num_players: int = 4
    """Seats."""
    policies: tuple[str, ...] = ()
    """Specs of victims; all shipped policies and tables of bids, each at its own table, and all
    baselines if none are given."""
    kinds: tuple[Kind, ...] = ("one", "coalition")
    """One responder among n - 1 victims; n - 1 that share what they win against one victim."""
    starts: tuple[Start, ...] = ("warm", "scratch")
    """Train from the victim's weights, or those of the shipped policy if it has none; train from
    scratch."""
    responders: tuple[str, ...] = ()
    """Specs of policies that answer too."""
    steps: int = 0
    """The learner's decisions in each training; 0 for as many as the victim's own training had,
    and 8 million if it had none."""
    seed: int = 0
    """Of the trainings."""
    deals: int = 50_000
    """Duplicate deals for each figure."""
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
            raise ValueError("the policies are of one game: name it")

    @property
    def budget(self) -> Budget:
        """Of the trainings."""
        return Budget(self.steps, self.seed, self.starts, self.responders, self.smoke)


NOTE = """\
Gains in pots per hand, by whom in brackets: a policy, or a learner trained for it, warm (from the
victim's weights, or the shipped policy's) or from scratch; greedy takes its likeliest action only.
decisions: those that the learner took in training, in millions; * fewer than in the victim's own
training, or than 8 million if it had none."""


def main(arguments: Arguments) -> None:
    """Run the command line; exits with 2 if something is wrong with it, with 130 if interrupted."""
    with ends_cleanly("the same command goes on where it was"):
        rows, out = measure(arguments)
    print("\n".join(tables(rows)))
    print(NOTE)
    print(f"written to {out}")


def measure(arguments: Arguments) -> tuple[list[dict[str, Any]], Path]:
    """Train and measure, a row for each victim and kind.

    Returns:
        All rows of the file, those of earlier commands first, and the file.

    Raises:
        ValueError: an argument is out of range, or a victim cannot sit at the table.
        OSError: a folder cannot be written to.
    """
    from agents.checkpoints import write_whole
    from agents.duplicate import Table
    from agents.reports import check_writable

    if arguments.smoke:
        arguments = dataclasses.replace(arguments, **SMOKE)
    arguments.check()
    work = [(victim, kind) for victim in _victims(arguments) for kind in arguments.kinds]
    for victim, kind in work:
        Table(victim.game, victim.num_players)  # refuses too few or too many seats
        trainings(victim, kind, arguments.budget)
        at_hand(victim, arguments.budget)
    runs = arguments.runs or runs_folder(arguments.smoke) / "best-response"
    out = arguments.out or results_folder(arguments.smoke) / FILE
    for folder in (runs, out.parent):
        check_writable(folder)
    known = {_key(row) for row in saved(out)}
    for job in _shown(
        arguments, [job for job in work if _key(_facts(arguments, *job)) not in known]
    ):
        row = _row(arguments, job, runs)
        rows = [*(old for old in saved(out) if not _replaces(row, old)), row]
        write_whole(out, f"{json.dumps(rows, indent=1)}\n".encode())
    return saved(out), out


def _victims(arguments: Arguments) -> list[Victim]:
    from agents.bids.table import names
    from agents.policies import default_specs, parse_policy
    from agents.shipped import shipped

    n = arguments.num_players
    if arguments.policies:
        specs = dict.fromkeys(arguments.policies)
        return [Victim(parse_policy(spec, arguments.game, n), n) for spec in specs]
    games = ("bestia", "beast") if arguments.game == "all" else (arguments.game,)
    learned = [one for one in shipped().values() if one.game in games]
    solved = [(f"bids:{name}", *name.split("-")[:2]) for name in names()]
    baselines = [(game, spec) for game in games for spec in default_specs(game)]
    return [
        *(Victim(one.policy, one.num_players) for one in learned),
        *(
            Victim(parse_policy(spec, game, int(seats)), int(seats))
            for spec, game, seats in solved
            if game in games
        ),
        *(Victim(parse_policy(spec, game, n), n) for game, spec in baselines),
    ]


def _shown(arguments: Arguments, jobs: Sequence[Job]) -> Iterator[Job]:
    """The same jobs; says before each which it is, and how long all may take."""
    sizes = [arguments.budget.steps_for(victim) for victim, _ in jobs]
    began = time.perf_counter()
    for place, (victim, kind) in enumerate(jobs):
        left = ""
        if place:
            pace = (time.perf_counter() - began) / sum(sizes[:place])
            left = f", about {pace * sum(sizes[place:]) / 60:.0f} min left"
        print(f"[{place + 1}/{len(jobs)}] {victim}, {kind}{left}", flush=True)
        yield victim, kind


# A row.


def _facts(arguments: Arguments, victim: Victim, kind: Kind) -> dict[str, Any]:
    """What a figure is of."""
    return {
        "game": victim.game,
        "num_players": victim.num_players,
        "victim": victim.policy.spec,
        "digest": victim.digest,
        "kind": kind,
        "starts": list(arguments.starts),
        "responders": list(arguments.responders),
        "steps": arguments.budget.steps_for(victim),
        "seed": arguments.seed,
        "deals": arguments.deals,
        "deals_seed": arguments.deals_seed,
        "validation_deals": arguments.validation_deals,
    }


_VICTIM = ("game", "num_players", "victim")
_KEY = (
    *_VICTIM, "kind", "digest", "starts", "responders", "steps", "seed", "deals", "deals_seed",
    "validation_deals",
)  # fmt: skip


def _key(row: dict[str, Any]) -> str:
    return json.dumps([row[name] for name in _KEY])


def _replaces(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Is the old row the same figure, or of a victim that is no longer what it was?"""
    same_name = all(new[name] == old[name] for name in _VICTIM)
    return _key(new) == _key(old) or (same_name and new["digest"] != old["digest"])


def saved(path: Path) -> list[dict[str, Any]]:
    """The rows of earlier runs, none if there is no such file.

    Raises:
        ValueError: it holds no figures of this kind.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        for row in rows:
            _key(row), _line([row], row["victim"]), _verdicts([row])
        return [*rows]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{path} holds no figures of this kind: delete it") from None


def _row(arguments: Arguments, job: Job, runs: Path) -> dict[str, Any]:
    """Train, choose and measure."""
    victim, kind = job
    found = []
    for candidate in candidates(victim, kind, arguments.budget, runs):
        score = _gain(arguments, job, candidate.policy, validating=True)
        print(f"{candidate.name}: {score} on the deals of the validation", flush=True)
        found.append((candidate, score))
    best, _ = max(found, key=lambda pair: pair[1].mean)
    gain = _gain(arguments, job, best.policy, validating=False)
    print(f"{best.name}: {gain}", flush=True)
    return {
        **_facts(arguments, victim, kind),
        "own_steps": victim.own_steps,
        "responder": best.name,
        "gain": dataclasses.asdict(gain),
        "candidates": [
            {"name": candidate.name, "validation": dataclasses.asdict(score), **candidate.facts}
            for candidate, score in found
        ],
        "provenance": provenance([victim.policy, best.policy]),
    }


def _gain(arguments: Arguments, job: Job, responder: Policy, validating: bool) -> Estimate:
    """What the responder wins, or what the coalition takes from its victim, in pots per hand."""
    from agents.arena import one_against_field

    victim, kind = job
    one, field = (responder, victim.policy) if kind == "one" else (victim.policy, responder)
    score = one_against_field(
        one,
        field,
        arguments.validation_deals if validating else arguments.deals,
        VALIDATION_SEED if validating else arguments.deals_seed,
        num_players=victim.num_players,
        jobs=arguments.jobs,
    )
    return score if kind == "one" else dataclasses.replace(score, mean=0.0 - score.mean)


def best_known(
    rows: Iterable[dict[str, Any]], game: str, num_players: int, digest: str
) -> dict[str, Any] | None:
    """The row of whoever does best alone among copies of a policy, None if nobody was measured.

    Args:
        rows: of a file, see `saved`.
        game: "beast" or "bestia".
        num_players: at the table.
        digest: of the policy, see `Victim.digest`.
    """
    names = ("game", "num_players", "digest", "kind")
    wanted = [game, num_players, digest, "one"]
    mine = [row for row in rows if [row[name] for name in names] == wanted]
    return max(mine, key=_validated, default=None)


# What is shown.


def tables(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The figures in Markdown, a table for each game and number of players."""
    by_table: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        by_table.setdefault((row["game"], row["num_players"]), []).append(row)
    lines: list[str] = []
    for (game, n), some in by_table.items():
        lines += [
            f"| {game.capitalize()}, {n} players | one gains | {n - 1} gain together | decisions |",
            "|---|---|---|---|",
            *(_line(some, victim) for victim in dict.fromkeys(row["victim"] for row in some)),
            "",
            *_verdicts(some),
        ]
    return lines


def _line(rows: list[dict[str, Any]], victim: str) -> str:
    best = [_best(rows, victim, kind) for kind in ("one", "coalition")]
    cells = [_cell(row) if row else "" for row in best]
    return f"| {victim} | {' | '.join(cells)} | {', '.join(_budget(row) for row in best if row)} |"


def _best(rows: list[dict[str, Any]], victim: str, kind: str) -> dict[str, Any] | None:
    """Of several budgets, the one whose responder did best on the deals of the validation."""
    some = [row for row in rows if (row["victim"], row["kind"]) == (victim, kind)]
    return max(some, key=_validated, default=None)


def _validated(row: dict[str, Any]) -> float:
    return max(candidate["validation"]["mean"] for candidate in row["candidates"])


def _cell(row: dict[str, Any]) -> str:
    mean, half = row["gain"]["mean"], row["gain"]["half_width"]
    words = "found none" if mean - half <= 0 else row["responder"]
    return f"{mean:+.4f} ± {half:.4f} ({words})"


def _budget(row: dict[str, Any]) -> str:
    """In millions; * if it is less than it ought to be."""
    return f"{row['steps'] / 1e6:.1f} M{'*' if is_short(row) else ''}"


def is_short(row: dict[str, Any]) -> bool:
    """Were the trainings shorter than the victim's own, or than a baseline's ought to be?"""
    return row["steps"] < (row["own_steps"] or BASELINE_STEPS)


def _verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """The loss of each victim that is no baseline beside the least of the baselines'."""
    from agents.policies import default_specs

    best = [_best(rows, victim, "one") for victim in dict.fromkeys(row["victim"] for row in rows)]
    gains = {row["victim"]: max(0.0, row["gain"]["mean"]) for row in best if row}
    baselines = [spec for spec in default_specs(rows[0]["game"]) if spec in gains]
    if not baselines:
        return []
    least = min(baselines, key=gains.__getitem__)
    bound = AIM * gains[least]
    lines = [
        f"{victim}: {gain:.4f} is {'within' if gain <= bound else 'beyond'} a quarter of what one "
        f"gains against the least exploited baseline, {least}: {gains[least]:.4f}"
        for victim, gain in gains.items()
        if victim not in baselines
    ]
    return [*lines, ""] if lines else []


if __name__ == "__main__":
    import tyro

    words = f"{__doc__}\n{NOTE}"
    main(tyro.cli(Arguments, prog="python -m experiments.best_response", description=words))
