"""Tables of bids: the file, and the policy `bids:FILE` that bids by one.

A table holds one byte for every entry, how often of 255 times the loud bid is made: to knock, to
ask for new cards. Who plays the cards, the baseline or network for whose cards it was solved,
stands in the file as well.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.bids.games import MODULES, decides, entry, hand_class, loud, quiet
from agents.matches import choose, turn_views
from agents.policies import CHECKPOINTS, DRAWS, Policy, parse_compiled
from bestia_env._jit import jit
from bestia_env.files import read_bounded, write_whole
from bestia_env.games import GAMES
from bestia_env.rng import unit

FORMAT = "bestia_env bids 1"
ENDING = ".bids"
MAX_BYTES = 1 << 24
MAX_HEADER = 1 << 14
WHOLE = 255  # of a byte: always
_FACTS = {  # what a header must hold, and of which type
    **{"format": str, "game": str, "num_players": int, "cards": str},
    **{"classes": str, "entries": int, "sha256": str},
}


@dataclass(frozen=True, eq=False)
class BidTable:
    """Bids by table; a `Chooser` of bids.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        cards: the spec of who plays the cards, and bids where the table does not choose.
        shares: (entries,) uint8, how often of 255 times the loud bid is made.
        facts: the rest of the file's header: the rules, and how it was solved.
    """

    game: str
    num_players: int
    cards: str
    shares: np.ndarray
    facts: dict[str, Any]

    bids_only = True
    draws = DRAWS

    def __post_init__(self) -> None:
        """Check the shape."""
        wanted = MODULES[self.game].num_entries(self.num_players)
        if self.shares.shape != (wanted,) or self.shares.dtype != np.uint8:
            raise ValueError(
                f"bids of {self.game} with {self.num_players} players take {wanted} entries of a "
                f"byte each, not {self.shares.shape} {self.shares.dtype}"
            )

    @functools.cached_property
    def card_player(self) -> Policy:
        """Who plays the cards: no table, which might name itself, and nobody who asks one."""
        return parse_compiled(self.cards, self.game, self.num_players)

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Bid for the seat to act in each of some hands; see `Chooser`."""
        views = turn_views(states, hands)
        actions = np.empty(hands.size, np.int64)
        _bid(views, self.shares, chances, actions)
        left = np.flatnonzero(actions < 0)
        if left.size:
            luck = chances[left]
            actions[left] = choose(self.card_player, views[left], luck)
            chances[left] = luck
        return actions

    def share(self, view: np.ndarray) -> float:
        """How often the seat to act makes the loud bid, 0 to 1; view (1,), where it decides."""
        v = view[0]
        return int(self.shares[entry(v, hand_class(v, v.viewer))]) / WHOLE


@jit
def _bid(views, shares, chances, actions):
    """The bids of the seats to act; -1 where the table does not choose."""
    for k in range(actions.size):
        v = views[k]
        actions[k] = -1
        hand = hand_class(v, v.viewer)
        if decides(v) and hand >= 0:  # none of its classes in a reduction of other hands (I-24)
            share = shares[entry(v, hand)]
            is_loud = unit(chances[k : k + 1]) * WHOLE < share
            actions[k] = loud(v) if is_loud else quiet(v)


def rounded(chances: np.ndarray) -> np.ndarray:
    """Chances of the loud bid as a table keeps them, (entries,) uint8."""
    return np.round(chances.ravel() * WHOLE).astype(np.uint8)


# Files: a line of JSON, then the shares, compressed.


def save_table(path: Path, table: BidTable) -> None:
    """Write a table whole or not at all.

    Args:
        path: ends in .bids.
        table: what to write.

    Raises:
        ValueError: the path has another ending, or JSON cannot hold the facts.
        OSError: it cannot be written.
    """
    if path.suffix != ENDING:
        raise ValueError(f"a table's name ends in {ENDING}, not {str(path)!r}")
    header = {
        "format": FORMAT,
        "game": table.game,
        "num_players": table.num_players,
        "cards": table.cards,
        "classes": MODULES[table.game].CLASSES_HASH,
        "entries": int(table.shares.size),
        "sha256": hashlib.sha256(table.shares.tobytes()).hexdigest(),
        **table.facts,
    }
    line = json.dumps(header, allow_nan=False).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, line + b"\n" + zlib.compress(table.shares.tobytes(), 9))


def load_table(path: Path, game: str, num_players: int) -> BidTable:
    """Load a table that is to bid at some table.

    Raises:
        ValueError: there is no such file, or it is damaged, or for another game, another number
            of players, or other classes of hands; it says which.
    """
    header, packed = _parts(path)
    if header["game"] != game or header["num_players"] != num_players:
        raise ValueError(
            f"{path} bids in {header['game']} with {header['num_players']} players, not in {game} "
            f"with {num_players}"
        )
    if game not in MODULES or header["classes"] != MODULES[game].CLASSES_HASH:
        raise ValueError(
            f"{path} tells hands of {game} apart otherwise than this version does: it must be "
            "solved anew by experiments.solve_bids"
        )
    shares = _unpacked(path, packed, header)
    facts = {name: value for name, value in header.items() if name not in _FACTS}
    try:
        return BidTable(game, num_players, header["cards"], shares, facts)
    except ValueError as error:
        raise ValueError(f"{path} is no sound table: {error}") from None


def _parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header, checked for what it must hold, and the rest."""
    try:
        content = read_bounded(path, MAX_BYTES)
    except FileNotFoundError:
        raise ValueError(f"there is no table of bids {path}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    line, _, packed = content.partition(b"\n")
    try:
        header = json.loads(line) if len(line) <= MAX_HEADER else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is no table of bids: its first line does not say {FORMAT!r}")
    for name, kind in _FACTS.items():
        if type(header.get(name)) is not kind:
            raise ValueError(f"{path} is no sound table: its {name} is {header.get(name)!r}")
    return header, packed


def _unpacked(path: Path, packed: bytes, header: dict[str, Any]) -> np.ndarray:
    """The shares, no more of them than there should be."""
    wanted = MODULES[header["game"]].num_entries(header["num_players"])
    unpacker = zlib.decompressobj()
    try:
        whole = unpacker.decompress(packed, wanted + 1)
    except zlib.error as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    is_all = unpacker.eof and not unpacker.unused_data and header["entries"] == wanted
    if not is_all or hashlib.sha256(whole).hexdigest() != header["sha256"]:
        raise ValueError(f"{path} is damaged: its entries are not those that were written")
    return np.frombuffer(whole, np.uint8)


# Policies.


def parse(spec: str, game: str, num_players: int) -> Policy:
    """The policy of `bids:FILE`, or `bids:NAME` for a table that comes with the project.

    Raises:
        ValueError: there is no such table, or it does not fit.
    """
    name = spec.partition(":")[2]
    if not name:
        raise ValueError(f"policy {spec!r} lacks the table: bids:FILE or bids:{game}-{num_players}")
    bare = Path(name).name == name and not Path(name).suffix
    path = _shipped_path(spec, name) if bare else Path(name)
    table = load_table(path, game, num_players)
    try:
        cards = table.card_player
    except ValueError as error:
        raise ValueError(f"{path} is no sound table: {error}") from None
    chooser: Any = table  # the protocol would have what may be changed
    return dataclasses.replace(cards, spec=spec, chooser=chooser)


def names() -> list[str]:
    """The names of all tables that come with the project, such as bestia-4."""
    return sorted(file.stem for file in CHECKPOINTS.glob(f"*{ENDING}"))


def _shipped_path(spec: str, name: str) -> Path:
    if name not in names():
        known = ", ".join(names())
        raise ValueError(f"policy {spec!r}: none is shipped of this name: choose among {known}")
    return CHECKPOINTS / f"{name}{ENDING}"


def table_of(policy: Policy) -> BidTable:
    """The table by which a policy bids.

    Raises:
        ValueError: it bids by none.
    """
    if not isinstance(policy.chooser, BidTable):
        raise ValueError(f"policy {policy.spec!r} does not bid by a table")
    return policy.chooser


def chances_of(table: BidTable) -> np.ndarray:
    """(entries,) float32, the chances of the loud bid."""
    return (table.shares / WHOLE).astype(np.float32)


def num_players_of(name: str) -> tuple[str, int]:
    """Game and players of a shipped name, such as bestia-4.

    Raises:
        ValueError: it is no such name.
    """
    game, _, players = name.partition("-")
    if game not in MODULES or not players.isdecimal():
        raise ValueError(f"a name is a game and its players, such as bestia-4, not {name!r}")
    GAMES[game].check_num_players(int(players))
    MODULES[game].check_players(int(players))
    return game, int(players)
