"""Solved reductions that come with the project: `solutions/NAME.npz`, and `NAME.json` beside it.

The first holds a whole number from 0 to 65535 for every slot of the tree, in the order in which
the tree is grown; probabilities are in proportion to these within each information set. The second
is the certificate: what game it is, a hash of its tree, and how much could be gained against what
the file holds.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from agents.equilibria.best_response import Exploitability, exploitability
from agents.equilibria.growth import Grown, grow
from agents.equilibria.tree import Tree
from bestia_env.files import read_bounded, write_whole
from bestia_env.games import GAMES
from bestia_env.reductions import Reduction, reduction_named

FORMAT = "bestia_env equilibrium 1"
SOLUTIONS = Path(__file__).with_name("solutions")
EXACT = 1e-9  # pots; figures that are measured again agree to this
_MOST = 65_535
_MAX_BYTES = 1 << 26


@dataclass(frozen=True, eq=False)
class Solution:
    """An equilibrium from a file.

    Attributes:
        reduction: of which game.
        weights: (S,) uint16, of every slot.
        certificate: what is said of it.
    """

    reduction: Reduction
    weights: np.ndarray
    certificate: dict[str, Any]

    def table(self, tree: Tree) -> np.ndarray:
        """The behaviour, (S,) float64.

        Raises:
            ValueError: the tree is not that of the certificate.
        """
        if tree.digest() != self.certificate["tree_sha256"]:
            raise ValueError(
                f"{self.reduction.name} was solved for another tree: the rules or the way in "
                "which trees are grown have changed; solve it again"
            )
        return behaviour(self.weights, tree)


def names(folder: Path = SOLUTIONS) -> list[str]:
    """The names of all solutions in a folder."""
    return sorted(path.stem for path in folder.glob("*.npz"))


def quantised(table: np.ndarray, tree: Tree) -> np.ndarray:
    """Weights (S,) uint16 in proportion to a behaviour, as near as they can be."""
    largest = np.maximum.reduceat(table, tree.first_slot[:-1])
    return np.rint(table / largest[tree.slot_set] * _MOST).astype(np.uint16)


def behaviour(weights: np.ndarray, tree: Tree) -> np.ndarray:
    """The behaviour (S,) float64 that weights (S,) stand for.

    Raises:
        ValueError: the weights of an information set are all 0.
    """
    sums = np.add.reduceat(weights.astype(np.float64), tree.first_slot[:-1])
    if not sums.all():
        raise ValueError(f"information set {int(sums.argmin())} has no weight on any action")
    return weights / sums[tree.slot_set]


def game_facts(reduction: Reduction) -> dict[str, Any]:
    """What a certificate says of the game: rules that are not the default."""
    default = GAMES[reduction.game].rules()
    rules = {
        field.name: getattr(reduction.rules, field.name)
        for field in fields(reduction.rules)
        if getattr(reduction.rules, field.name) != getattr(default, field.name)
    }
    return {
        "name": reduction.name,
        "game": reduction.game,
        "num_players": reduction.num_players,
        "rules": rules,
    }


def figures(found: Exploitability) -> dict[str, Any]:
    """What a certificate says of a behaviour, in pots per hand."""
    facts = asdict(found)
    return {
        "nash_conv": found.nash_conv,
        "values": list(facts["values"]),
        "best_responses": list(facts["best"]),
    }


def save(
    reduction: Reduction,
    grown: Grown,
    table: np.ndarray,
    facts: dict[str, Any],
    folder: Path = SOLUTIONS,
) -> Solution:
    """Write a solution and its certificate, each whole or not at all, the certificate last.

    Args:
        reduction: the game.
        grown: its tree.
        table: (S,) the behaviour; what is certified is what is left of it in 16 bits.
        facts: for the certificate, how it was found.
        folder: where to.

    Raises:
        OSError: the folder cannot be written to.
    """
    tree, weights = grown.tree, quantised(table, grown.tree)
    file = io.BytesIO()
    np.savez_compressed(file, weights=weights)
    certificate = {
        "format": FORMAT,
        **game_facts(reduction),
        "deals": grown.num_deals,
        "nodes": tree.num_nodes,
        "terminals": len(tree.utilities),
        "information_sets": tree.num_sets,
        "slots": tree.num_slots,
        "tree_sha256": tree.digest(),
        **figures(exploitability(tree, behaviour(weights, tree))),
        **facts,
        "file_sha256": hashlib.sha256(file.getvalue()).hexdigest(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{reduction.name}.npz", file.getvalue())
    text = json.dumps(certificate, indent=1, allow_nan=False)
    write_whole(folder / f"{reduction.name}.json", f"{text}\n".encode())
    return Solution(reduction, weights, certificate)


def load(name: str, folder: Path = SOLUTIONS) -> Solution:
    """Read a solution.

    Raises:
        ValueError: there is none of this name, or its files are not whole.
    """
    if name not in names(folder):
        known = ", ".join(names(folder)) or "none is there"
        raise ValueError(f"no equilibrium {name!r}: choose among {known}")
    path = folder / f"{name}.npz"
    certificate = _certificate(path.with_suffix(".json"))
    try:
        content = read_bounded(path, _MAX_BYTES)
        if hashlib.sha256(content).hexdigest() != certificate["file_sha256"]:
            raise ValueError("it does not belong to its certificate")
        with np.load(io.BytesIO(content)) as arrays:
            weights = arrays["weights"]
        if weights.shape != (certificate["slots"],) or weights.dtype != np.uint16:
            raise ValueError("its weights have another shape than it says")
        return Solution(_reduction(certificate), weights, certificate)
    except Exception as error:  # zip and numpy raise many kinds for what is no file of theirs
        raise ValueError(f"{path} is no equilibrium: {error}") from None


def _certificate(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(read_bounded(path, _MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no certificate: {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"{path} is no certificate of {FORMAT!r}")
    players = facts.get("num_players")
    sound = {
        "tree_sha256": isinstance(facts.get("tree_sha256"), str),
        "nash_conv": _are_numbers([facts.get("nash_conv")], 1),
        "values": _are_numbers(facts.get("values"), players),
        "best_responses": _are_numbers(facts.get("best_responses"), players),
    }
    wrong = [f"{name} is {facts.get(name)!r}" for name, is_sound in sound.items() if not is_sound]
    if wrong:
        raise ValueError(f"{path} is no certificate: its {wrong[0]}")
    return facts


def _are_numbers(values: Any, count: Any) -> bool:
    """Is it a list of so many finite numbers?"""
    return (
        isinstance(values, list)
        and len(values) == count
        and all(isinstance(value, int | float) and math.isfinite(value) for value in values)
    )


def _reduction(certificate: dict[str, Any]) -> Reduction:
    """The reduction of this name, if it is still what was solved."""
    reduction = reduction_named(certificate["name"])
    now = game_facts(reduction)
    was = {name: certificate[name] for name in now}
    if now != was:
        raise ValueError(f"the reduction {reduction.name} is now {now}, and was {was}")
    return reduction


def tree_of(reduction: Reduction) -> Grown:
    """The tree of a reduction."""
    return grow(reduction.game, reduction.num_players, reduction.rules)


def certify(solution: Solution, grown: Grown | None = None) -> Exploitability:
    """Measure a solution again, from nothing but its file and the rules.

    Args:
        solution: from `load`.
        grown: the tree, if it is there already.

    Raises:
        ValueError: something is not as the certificate says.
    """
    tree = (grown or tree_of(solution.reduction)).tree
    found = exploitability(tree, solution.table(tree))
    for name, values in figures(found).items():
        said = solution.certificate[name]
        if np.abs(np.array(values) - np.array(said)).max() > EXACT:
            raise ValueError(f"{solution.reduction.name}: {name} is {values}, not {said}")
    return found


@functools.lru_cache(maxsize=4)
def loaded(name: str) -> tuple[Grown, np.ndarray]:
    """The tree of a shipped solution, and its behaviour (S,) float64."""
    solution = load(name)
    grown = tree_of(solution.reduction)
    return grown, solution.table(grown.tree)
