"""Policies by name: one registry and one parser for every command line."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from agents.baselines import Baseline
from agents.baselines.dispatch import act, baselines, unpunished
from agents.bidding.machine import MODULES, STACK, Program, decide, is_bid
from agents.networks import Network, load_network
from bestia_env.engine import legal_actions
from bestia_env.files import read_bounded
from bestia_env.games import game_named
from bestia_env.observe import layout, write_mask, write_observation
from bestia_env.rng import seed_sequence_keys
from bestia_env.view import look

NETWORK, CHOOSER = -1, -2  # the kinds of policies that are asked outside the kernel
DRAWS = 1000
MAX_RULE_BYTES = 1 << 16  # of a file; the language takes fewer characters
CHECKPOINTS = Path(__file__).with_name("checkpoints")
BEST_BASELINES = {"beast": "threshold:0.55", "bestia": "sound"}  # they play the cards of rules


class Family(NamedTuple):
    """Policies of which one name, before a colon, stands for all.

    Attributes:
        form: of their specs.
        module: whose `parse(spec, game, num_players)` gives the Policy that a spec names, or raises
            a ValueError. It is imported when it is asked for, since that takes a moment.
    """

    form: str
    module: str


FAMILIES = {
    "bids": Family("bids:FILE", "agents.bids.table"),
    "equilibrium": Family("equilibrium:NAME", "agents.equilibria.player"),
    "pimc": Family("pimc", "agents.search.specs"),
    "ismcts": Family("ismcts", "agents.search.specs"),
    "cheat": Family("cheat", "agents.search.specs"),
}

SHIPPED = {  # what comes with the project, by family
    "net": "checkpoints/*.safetensors",
    "bids": "checkpoints/*.bids",
    "equilibrium": "equilibria/solutions/*.npz",
}


class Chooser(Protocol):
    """Who chooses in batches, outside the kernel that plays hands: search, tables of bids.

    Choosers are pickled to be sent to other processes, so what is large or can be made again is
    made when first needed. Rooms to work in belong to a thread, not to a policy.
    """

    @property
    def bids_only(self) -> bool:
        """Does it answer bids alone (`is_bid`)? The policy's kind or network then plays the cards.

        Others answer all but the bids of the policy's rule, if it has one.
        """

    @property
    def num_players(self) -> int | None:
        """Seats of the tables at which it can sit, None if it can at all."""

    @property
    def draws(self) -> int:
        """Of how many answers the chance of an action is the share; 1 for who draws no lots."""

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Choose an action for the seat to act in each of some hands.

        What is chosen may depend on the hand's own generator and on what the seat to act may know
        (`matches.turn_views`), on nothing else: not on the other hands, nor on how they are
        divided into batches.

        Args:
            states: (B,) records; they stay as they are. Views will do just as well.
            hands: (H,) int64, places in `states`.
            chances: (H,) uint64, a generator for each of these hands, moved on.

        Returns:
            (H,) int64, legal actions.
        """


@dataclass(frozen=True)
class Policy:
    """Something that chooses actions over what a seat may know.

    Attributes:
        spec: what names it on a command line, such as `threshold:0.4`.
        game: "beast" or "bestia".
        kind: its place among the game's baselines, NETWORK, or CHOOSER.
        parameter: the baseline's number, 0 if it takes none.
        network: of a NETWORK policy.
        program: a bidding rule (see `agents.bidding`); kind, parameter and network then say who
            plays the cards.
        rule: its text.
        file: the network's weights, None if there is none or it was never saved.
        chooser: of a CHOOSER policy; or one that answers its bids, see `Chooser.bids_only`.
        cheats: does it see what is hidden? Such a policy is for the arena alone.
    """

    spec: str
    game: str
    kind: int
    parameter: float = 0.0
    network: Network | None = None
    program: Program | None = None
    rule: str | None = None
    file: Path | None = None
    chooser: Chooser | None = None
    cheats: bool = False

    @property
    def num_players(self) -> int | None:
        """The seats of the tables at which it can sit, None if it can at all."""
        for part in (self.network, self.chooser):
            if part is not None and part.num_players is not None:
                return part.num_players
        return None

    def same_as(self, other: Policy) -> bool:
        """Do both play alike, however they were spelt?"""
        if self._is_baseline and other._is_baseline and self.kind == other.kind:
            return self.parameter == other.parameter
        return self.spec == other.spec

    @property
    def _is_baseline(self) -> bool:
        return self.kind >= 0 and self.program is self.chooser is None

    def chooser_for(self, is_bid: bool) -> Chooser | None:
        """Who is asked outside the kernel for a bid, or for anything else, if it is a chooser."""
        if self.chooser is None or self.chooser.bids_only:
            return self.chooser if is_bid else None
        return None if is_bid and self.program is not None else self.chooser

    def check_sits(self, state: np.ndarray) -> None:
        """Raise a ValueError unless it can act in a hand, by its rules and by no more than a view.

        Args:
            state: (1,) records, a hand in which a seat is to act and nothing is hidden.
        """
        if self.chooser is None:
            return
        view = state.copy()
        look(state, 0, int(state[0].turn), view, 0)
        self.act(view, int(legal_actions(state, 0)), np.zeros(1, np.uint64))

    def check_table(self, states: np.ndarray) -> None:
        """Raise a ValueError unless it plays their game and can sit with so many.

        Compiled code would read and write beyond its arrays otherwise.

        Args:
            states: (B,) records, or views.
        """
        if getattr(states, "dtype", None) != game_named(self.game).dtype:
            raise ValueError(f"policy {self.spec!r} plays {self.game}: that is no hand of it")
        if self.num_players is None:
            return
        others = states["num_players"][states["num_players"] != self.num_players]
        if others.size:
            raise ValueError(
                f"policy {self.spec!r} plays with {self.num_players} players, not {others[0]}"
            )

    def act(self, view: np.ndarray, legal: int, rng: np.ndarray) -> int:
        """Choose an action.

        Args:
            view: (1,) array with the VIEW of the seat to act.
            legal: its legal actions as a set of bits.
            rng: (1,) uint64, the policy's generator, which moves on.

        Raises:
            ValueError: the view is of another game or number of players.
        """
        self.check_table(view)
        chooser = self.chooser_for(is_bid(view[0]))
        if chooser is not None:
            return int(chooser.act_batch(view, np.zeros(1, np.int64), rng)[0])
        if self.program is not None and is_bid(view[0]):
            stack = np.empty(STACK)
            return int(decide(self.program, 0, view[0], np.uint64(legal), rng, stack))
        if self.network is not None:
            return self.network.act_on_view(view, legal, rng)
        return int(act(self.kind, self.parameter, view[0], np.uint64(legal), rng))

    def probabilities(self, view: np.ndarray, legal: int) -> np.ndarray:
        """The chance of every action, (A,) float64; view and legal as for `act`.

        For a bid by a rule, which may draw lots, it is the share of so many `DRAWS`; for a chooser
        that of `Chooser.draws`.
        """
        self.check_table(view)
        mask = np.zeros(game_named(self.game).num_actions, np.int8)
        chooser = self.chooser_for(is_bid(view[0]))
        if chooser is not None:
            chances = seed_sequence_keys(0, chooser.draws)
            hands = np.zeros(chances.size, np.int64)
            drawn = chooser.act_batch(view, hands, chances)
            return np.bincount(drawn, minlength=mask.size) / chances.size
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
    """The policy that a spec names: NAME, NAME:NUMBER, net:FILE, a family's, or a bidding rule.

    Args:
        spec: such as `random`, `threshold:0.4`, `net:runs/demo/bestia.safetensors`, `net:bestia-4`
            for a policy that comes with the project, `knock if trumps >= 2`, or `rule:FILE` with
            the text of a rule; or one of the `FAMILIES`.
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
    """A network, one of a family, or a baseline; an error names others that would do as well."""
    name = spec.partition(":")[0]
    if name in FAMILIES:
        if name in SHIPPED:
            _check_file(spec, game)
        module = importlib.import_module(FAMILIES[name].module)
        policy: Policy = module.parse(spec, game, num_players)
        return policy
    families = [_form(family, game) for family in FAMILIES]
    return parse_compiled(spec, game, num_players, [*families, *others])


def _form(family: str, game: str) -> str:
    """A family's form as an error names it, with what comes with the project for the game."""
    form = FAMILIES[family].form if family in FAMILIES else f"{family}:FILE"
    names = [name for name in _shipped_names(family) if name.startswith(game)]
    return f"{form} (with the project: {', '.join(names)})" if names else form


def _shipped_names(family: str) -> list[str]:
    files = Path(__file__).parent.glob(SHIPPED[family]) if family in SHIPPED else ()
    return sorted(file.stem for file in files)


def parse_compiled(spec: str, game: str, num_players: int, others: Sequence[str] = ()) -> Policy:
    """A baseline or a network, who ask nobody else; as `parse_policy`.

    An error names others that would do as well.
    """
    name, _, file = spec.partition(":")
    if name == "net" and file:
        _check_file(spec, game)
        path = _shipped_path(spec, file) if _is_bare(file) else Path(file)
        network = load_network(path, game, num_players)
        return Policy(spec, game, NETWORK, network=network, file=path)
    return _baseline(spec, game, [*_forms(game), _form("net", game), *others])


def _is_bare(file: str) -> bool:
    """Is it a name without folder and ending?"""
    return Path(file).name == file and not Path(file).suffix


def _check_file(spec: str, game: str) -> None:
    """Raise a ValueError that says what would do if the file is missing that a spec names."""
    family, _, file = spec.partition(":")
    if "\0" in file:
        raise ValueError(f"policy {spec!r}: a file's name holds no null character")
    if file and not _is_bare(file) and not os.path.exists(file):
        raise ValueError(f"policy {spec!r}: there is no file {file}: take {_form(family, game)}")


def _shipped_path(spec: str, name: str) -> Path:
    names = _shipped_names("net")
    if name not in names:
        known = ", ".join(names)
        raise ValueError(f"policy {spec!r}: none is shipped of this name: choose among {known}")
    return CHECKPOINTS / f"{name}.safetensors"


def _text_of(spec: str, file: str) -> str:
    try:
        text = read_bounded(Path(file), MAX_RULE_BYTES).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"policy {spec!r}: cannot read a rule from {file}: {why}: take rule:FILE with the text "
            "of a rule, or the rule itself"
        ) from None


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
