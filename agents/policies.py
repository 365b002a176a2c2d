"""Policies by name: one registry and one parser for every command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agents.baselines import Baseline
from agents.baselines.dispatch import act, baselines, unpunished
from agents.bidding.machine import MODULES, STACK, Program, decide, is_bid
from agents.networks import Network, load_network
from bestia_env.files import read_bounded
from bestia_env.games import game_named
from bestia_env.observe import layout, write_mask, write_observation

NETWORK = -1  # the kind of policies that are networks
DRAWS = 1000
MAX_RULE_BYTES = 1 << 16  # of a file; the language takes fewer characters
CHECKPOINTS = Path(__file__).with_name("checkpoints")
BEST_BASELINES = {"beast": "threshold:0.55", "bestia": "sound"}  # they play the cards of rules


@dataclass(frozen=True)
class Policy:
    """Something that chooses actions over what a seat may know.

    Attributes:
        spec: what names it on a command line, such as `threshold:0.4`.
        game: "beast" or "bestia".
        kind: its place among the game's baselines, or NETWORK.
        parameter: the baseline's number, 0 if it takes none.
        network: of a NETWORK policy.
        program: a bidding rule (see `agents.bidding`); kind, parameter and network then say who
            plays the cards.
        rule: its text.
        file: the network's weights, None if there is none or it was never saved.
    """

    spec: str
    game: str
    kind: int
    parameter: float = 0.0
    network: Network | None = None
    program: Program | None = None
    rule: str | None = None
    file: Path | None = None

    def same_as(self, other: Policy) -> bool:
        """Do both play alike, however they were spelt?"""
        if self.kind == other.kind != NETWORK and self.program is other.program is None:
            return self.parameter == other.parameter
        return self.spec == other.spec

    def act(self, view: np.ndarray, legal: int, rng: np.ndarray) -> int:
        """Choose an action.

        Args:
            view: (1,) array with the VIEW of the seat to act.
            legal: its legal actions as a set of bits.
            rng: (1,) uint64, the policy's generator, which moves on.
        """
        if self.program is not None and is_bid(view[0]):
            stack = np.empty(STACK)
            return int(decide(self.program, 0, view[0], np.uint64(legal), rng, stack))
        if self.network is not None:
            return self.network.act_on_view(view, legal, rng)
        return int(act(self.kind, self.parameter, view[0], np.uint64(legal), rng))

    def probabilities(self, view: np.ndarray, legal: int) -> np.ndarray:
        """The chance of every action, (A,) float64; view and legal as for `act`.

        For a bid by a rule, which may draw lots, it is the share of so many `DRAWS`.
        """
        mask = np.zeros(game_named(self.game).num_actions, np.int8)
        if self.program is not None and is_bid(view[0]):
            rng = np.zeros(1, np.uint64)
            bids = [self.act(view, legal, rng) for _ in range(DRAWS)]
            return np.bincount(bids, minlength=mask.size) / DRAWS
        if self.network is not None and not self.network.greedy:
            write_mask(np.uint64(legal), mask)
            return self.network.probabilities(_observation(view, self.game), mask[None])[0]
        if self.network is None and baselines(self.game)[self.kind].name == "random":
            write_mask(unpunished(view[0], np.uint64(legal)), mask)
        else:
            mask[self.act(view, legal, np.zeros(1, np.uint64))] = 1
        return mask / mask.sum()


def _observation(view: np.ndarray, game: str) -> np.ndarray:
    """What the viewer sees, (1, D) float32."""
    table = layout(game, int(view[0].num_players))
    observation = np.empty((1, table.size), np.float32)
    write_observation(view[0], int(view[0].viewer), table.offsets, observation[0])
    return observation


def parse_policy(spec: str, game: str, num_players: int) -> Policy:
    """The policy that a spec names: NAME, NAME:NUMBER, net:FILE, or a bidding rule.

    Args:
        spec: such as `random`, `threshold:0.4`, `net:runs/demo/bestia.safetensors`, `net:bestia-4`
            for a policy that comes with the project, `knock if trumps >= 2`, or `rule:FILE` with
            the text of a rule.
        game: "beast" or "bestia".
        num_players: seats at the table where it is to play.

    Raises:
        ValueError: no such policy, a number it does not take, a network that does not fit, or a
            rule in which something is wrong.
    """
    game_named(game).check_seats(num_players)
    name, _, file = spec.partition(":")
    if name == "rule" and file:
        return _bidder(spec, _text_of(spec, file), game, num_players)
    from agents.bidding.language import is_rule  # its parser takes a moment to import

    if is_rule(spec, game):
        return _bidder(spec, spec, game, num_players)
    begins = "/".join(MODULES[game].ACTIONS)
    rules = ["rule:FILE", f"a bidding rule, which begins with {begins}"]
    return _card_player(spec, game, num_players, rules)


def _card_player(spec: str, game: str, num_players: int, others: Sequence[str]) -> Policy:
    """A network or a baseline; an error names others that would do as well."""
    name, _, file = spec.partition(":")
    if name == "net" and file:
        path = _shipped_path(spec, file) if _is_bare(file) else Path(file)
        network = load_network(path, game, num_players)
        return Policy(spec, game, NETWORK, network=network, file=path)
    return _baseline(spec, game, [*_forms(game), "net:FILE", *others])


def _is_bare(file: str) -> bool:
    """Is it a name without folder and ending?"""
    return Path(file).name == file and not Path(file).suffix


def _shipped_path(spec: str, name: str) -> Path:
    path = CHECKPOINTS / f"{name}.safetensors"
    if not path.exists():
        names = ", ".join(sorted(file.stem for file in CHECKPOINTS.glob("*.safetensors")))
        raise ValueError(f"policy {spec!r}: none is shipped of this name: choose among {names}")
    return path


def _text_of(spec: str, file: str) -> str:
    try:
        text = read_bounded(Path(file), MAX_RULE_BYTES).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError) as error:
        raise ValueError(f"policy {spec!r}: cannot read a rule from {file}: {error}") from None


def _bidder(spec: str, text: str, game: str, num_players: int) -> Policy:
    """Who bids by a rule."""
    from agents.bidding.language import parse_rule

    program, cards = parse_rule(text, game)
    player = _card_player(cards or BEST_BASELINES[game], game, num_players, [])
    return replace(player, spec=spec, program=program, rule=text)


def parse_baseline(spec: str, game: str) -> Policy:
    """The baseline that a spec names, NAME or NAME:NUMBER; raises as `parse_policy` does."""
    return _baseline(spec, game, _forms(game))


def _baseline(spec: str, game: str, forms: list[str]) -> Policy:
    name, colon, argument = spec.partition(":")
    for kind, baseline in enumerate(baselines(game)):
        if baseline.name == name:
            number = _number(spec, argument, baseline) if colon else baseline.parameter or 0.0
            return Policy(spec, game, kind, number)
    raise ValueError(f"unknown policy {spec!r} for {game}: choose among {', '.join(forms)}")


def _forms(game: str) -> list[str]:
    """The specs of all baselines, as an error names them."""
    return [
        baseline.name if baseline.parameter is None else f"{baseline.name}:NUMBER"
        for baseline in baselines(game)
    ]


def _number(spec: str, argument: str, baseline: Baseline) -> float:
    if baseline.parameter is None:
        raise ValueError(f"policy {spec!r}: {baseline.name} takes no number")
    try:
        number = float(argument)
    except ValueError:
        number = float("nan")
    if not baseline.low <= number <= baseline.high:
        raise ValueError(
            f"policy {spec!r}: the number of {baseline.name} must be from {baseline.low:g} "
            f"to {baseline.high:g}, not {argument!r}"
        )
    return number


def default_specs(game: str) -> list[str]:
    """The specs of all baselines of a game, each with its default number."""
    return [
        baseline.name if baseline.parameter is None else f"{baseline.name}:{baseline.parameter:g}"
        for baseline in baselines(game)
    ]
