"""A hand as data: all that it takes to play it over again, card by card, and to check it.

The format, "bestia_env hand 1": a hand is an object of JSON in one line, and a file holds one hand
a line (JSON lines, ASCII). These are its fields, in this order; all of them must be there.

| Field | Type | Meaning |
|---|---|---|
| `format` | string | `"bestia_env hand 1"` |
| `game` | string | `"beast"` or `"bestia"` |
| `num_players` | int | seats, n |
| `rules` | object | the options that differ from the defaults of `BeastRules`, `BestiaRules` |
| `dealer` | int | a seat; seats count from 0 in order of play |
| `pot` | int | coins carried in, before the stakes of this hand |
| `opening` | string | Beast: the stakes put on this hand, `"none"`, `"dealer_one"` or `"full"`; Bestia: `"auction"`, or `"force"` if it is a force hand |
| `hand_number` | int | its place in its session, from 0 |
| `coins` | n ints | net coins of every seat in the session before this hand |
| `deck` | string | the whole pack, first card dealt first, by short names: `"Ac 10h …"` |
| `heap` | string, null | likewise, the order of all cards in which gathered ones were dealt (BESTIA-20); null if none were gathered |
| `seed` | int, null | of the session; for information only |
| `players` | n strings, null | who plays each seat, a name or the spec of a policy |
| `actions` | array | `[seat, name]` in order; a card's short name, or `"PASS"`, `"KNOCK"` and so on |
| `gains` | n ints, null | net coins of every seat in this hand; null if it was not finished |
| `pot_after` | int, null | coins left in the pot; null likewise |

`gains` and `pot_after` are what the rest must lead to: `check` plays the hand over and compares.
A record shows all cards, discards and undealt ones too: it is nothing for a seat still playing.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NoReturn

import numpy as np

from bestia_env import engine
from bestia_env.deals import DealOptions, is_integer
from bestia_env.files import append_whole, write_whole
from bestia_env.games import GAMES, Game, game_named
from bestia_env.rules.beast import CARRY_STAKES
from bestia_env.rules.dispatch import deal_stacked
from bestia_env.rules.table import NOBODY, check_coins, next_card

FORMAT = "bestia_env hand 1"
OPENINGS = {"beast": CARRY_STAKES, "bestia": ("auction", "force")}
MAX_LINE = 1 << 16
"""The most characters that a line may have."""
MAX_NAME = 300
"""The most characters that the name of a player may have."""
_MAX_ACTIONS = 100  # no hand has as many
_MAX_SEED = 2**128 - 1
_MOST = 10**18  # coins in a long session; sums of some such stay within 64 bits
_HEAD = f'{{"format": {json.dumps(FORMAT)}, '.encode()  # how every line begins
# What of a dealt state a record does not settle: whence further cards come, and old plays.
_UNSETTLED = {"key", "rng", "settled", "pack", "heap", "heap_given", "play_card", "play_seat"}


@dataclass(frozen=True)
class Record:
    """A hand, as the module describes it; cards and actions are ids here, not names.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        rules: `BeastRules` or `BestiaRules`.
        dealer: a seat.
        pot: coins carried in, at least 0.
        opening: one of `OPENINGS[game]`.
        hand_number: from 0.
        coins: net coins of every seat before the hand.
        deck: all card ids, first card dealt first.
        heap: all card ids in the order in which gathered ones were dealt, or None.
        seed: of the session, or None.
        players: a name for every seat, or None.
        actions: (seat, action) in order.
        gains: net coins of every seat in the hand, None if it was not finished.
        pot_after: coins left in the pot, None likewise.

    Raises:
        ValueError: a field has a value that is not allowed.
    """

    game: str
    num_players: int
    rules: Any
    dealer: int
    pot: int
    opening: str
    hand_number: int
    coins: tuple[int, ...]
    deck: tuple[int, ...]
    heap: tuple[int, ...] | None = None
    seed: int | None = None
    players: tuple[str, ...] | None = None
    actions: tuple[tuple[int, int], ...] = ()
    gains: tuple[int, ...] | None = None
    pot_after: int | None = None

    def __post_init__(self) -> None:
        """Check every field by itself; whether the actions are legal, `check` tells."""
        game = game_named(self.game)
        if type(self.rules) is not game.rules:
            _refuse("rules", f"be {game.rules.__name__}", self.rules)
        game.check_num_players(self.num_players, self.rules)
        self._check_opening(game)
        self._check_cards(game)
        self._check_actions(game)
        self._check_people()
        self._check_end()

    def _check_opening(self, game: Game) -> None:
        check_coins("pot", self.pot, least=0, step=self.rules.pot_unit, most=_MOST)
        check_coins("hand_number", self.hand_number, least=0, most=_MOST)
        self._check_coins_by_seat("coins", self.coins)
        if not isinstance(self.opening, str) or self.opening not in OPENINGS[game.name]:
            allowed = ", ".join(map(repr, OPENINGS[game.name]))
            _refuse("opening", f"be one of {allowed}", self.opening)
        if self.opening == "none" and not self.pot:
            raise ValueError("opening must not be 'none' where the pot is 0")
        if self.opening == "force" and not self.rules.force:
            raise ValueError("opening must be 'auction' where the rules know no force")

    def _check_cards(self, game: Game) -> None:
        for name, order in (("deck", self.deck), ("heap", self.heap)):
            if name == "heap" and order is None:
                continue
            if not isinstance(order, tuple) or not all(map(is_integer, order)):
                _refuse(name, "be an order of all cards", order)
        if self.heap is not None and self.game == "beast":
            _refuse("heap", "be null in beast", self.heap)
        check_coins("dealer", self.dealer, least=0, most=self.num_players - 1)
        orders = {"deck": self.deck, "heap": self.heap}
        DealOptions.read(orders, game, self.num_players, 1, self.rules)

    def _check_actions(self, game: Game) -> None:
        if not isinstance(self.actions, tuple) or len(self.actions) > _MAX_ACTIONS:
            _refuse("actions", f"be at most {_MAX_ACTIONS} pairs of seat and action", self.actions)
        for number, pair in enumerate(self.actions, 1):
            if not isinstance(pair, tuple) or len(pair) != 2:
                _refuse(f"action {number}", "be a pair of seat and action", pair)
            check_coins(f"the seat of action {number}", pair[0], 0, most=self.num_players - 1)
            check_coins(f"action {number}", pair[1], 0, most=game.num_actions - 1)

    def _check_people(self) -> None:
        if self.seed is not None:
            check_coins("seed", self.seed, least=0, most=_MAX_SEED)
        if self.players is None:
            return
        if not isinstance(self.players, tuple) or len(self.players) != self.num_players:
            _refuse("players", f"be null or {self.num_players} names", self.players)
        for name in self.players:
            if not _is_name(name):
                _refuse("players", f"have names of 1 to {MAX_NAME} printable characters", name)

    def _check_end(self) -> None:
        if (self.gains is None) != (self.pot_after is None):
            raise ValueError("gains and pot_after must both be null, or neither")
        if self.gains is not None:
            self._check_coins_by_seat("gains", self.gains)
            check_coins("pot_after", self.pot_after, least=0, most=2 * _MOST)

    def _check_coins_by_seat(self, name: str, coins: Any) -> None:
        if not isinstance(coins, tuple) or len(coins) != self.num_players:
            _refuse(name, f"have a number for each of {self.num_players} seats", coins)
        for number in coins:
            check_coins(f"each of {name}", number, -2 * _MOST, most=2 * _MOST)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Read a line of the format, which may come from anybody.

        Raises:
            ValueError: it is no hand of this format; names the field, the value, what is allowed.
        """
        values = _fields_of(line)
        game = game_named(values["game"])
        values["rules"] = _rules(game, values["rules"])
        values["deck"] = _order(game, "deck", values["deck"])
        if values["heap"] is not None:
            values["heap"] = _order(game, "heap", values["heap"])
        values["actions"] = _actions(game, values["actions"])
        for name in ("coins", "players", "gains"):
            if isinstance(values[name], list):
                values[name] = tuple(values[name])
        return cls(**values)

    def to_json(self) -> str:
        """One line of the format, without its newline."""
        game = game_named(self.game)
        values = {"format": FORMAT} | {field.name: getattr(self, field.name) for field in _FIELDS}
        values["rules"] = self.changed_options()
        values["deck"] = _names(game, self.deck)
        values["heap"] = None if self.heap is None else _names(game, self.heap)
        values["actions"] = [[seat, game.action_name(action)] for seat, action in self.actions]
        return json.dumps(values, default=int)

    def changed_options(self) -> dict[str, Any]:
        """The options of the rules that differ from the defaults."""
        pairs = ((field, getattr(self.rules, field.name)) for field in fields(self.rules))
        return {field.name: value for field, value in pairs if value != field.default}


_FIELDS = fields(Record)


# A hand played over again.


def start(record: Record) -> np.ndarray:
    """The state as it was just after the deal, (1,) of the game's HAND dtype."""
    dealt = engine.new_states(record.game, record.num_players, record.rules)
    s = dealt[0]
    s.coins[: record.num_players] = record.coins
    s.hand_number = record.hand_number
    s.dealer = record.dealer
    s.pot = record.pot
    if record.game == "beast":
        s.stakes = CARRY_STAKES.index(record.opening)
    else:
        s.forced = record.opening == "force"
    deck = np.array(record.deck, np.int8)
    heap = deck if record.heap is None else np.array(record.heap, np.int8)
    deal_stacked(s, deck, heap)
    return dealt


def states(record: Record) -> Iterator[np.ndarray]:
    """The hand played over: its state as dealt and after each action, each a copy, (1,).

    Raises:
        ValueError: when its turn comes, an action is not legal or not that seat's; or, before the
            last state, the hand does not end as the record has it.
    """
    state = start(record)
    for number in range(len(record.actions) + 1):
        if number:
            _carry_out(state, number, *record.actions[number - 1])
            _check_heap(record, state)
        if number == len(record.actions):
            _check_outcome(record, state)
        yield state.copy()


def check(record: Record) -> np.ndarray:
    """Play the hand over.

    Returns:
        Its last state, (1,) of the game's HAND dtype.

    Raises:
        ValueError: an action is not legal, or coins are not what they must be; says which.
    """
    *_, last = states(record)
    return last


def _carry_out(state: np.ndarray, number: int, seat: int, action: int) -> None:
    """One action, which is the number-th, from 1."""
    turn = int(state[0].turn)
    game = _game_of(state)
    if seat == turn and engine.act_if_legal(state, 0, action) != engine.ILLEGAL:
        return
    what = f"action {number}, {game.action_name(action)} of seat {seat},"
    if turn == NOBODY:
        raise ValueError(f"{what} comes after the hand is over")
    legal = int(engine.legal_actions(state, 0))
    names = " ".join(game.action_name(a) for a in range(game.num_actions) if legal >> a & 1)
    why = "is not legal" if seat == turn else f"is out of turn: seat {turn} is to act"
    raise ValueError(f"{what} {why}; the legal actions of seat {turn} are {names}")


def _check_heap(record: Record, state: np.ndarray) -> None:
    if record.heap is None and record.game == "bestia" and state[0].gathered:
        raise ValueError("heap must not be null: in this hand cards are gathered")


def _check_outcome(record: Record, state: np.ndarray) -> None:
    found = _outcome(state)
    if found["gains"] is None and record.gains is not None:
        raise ValueError("gains must be null: the actions do not end the hand")
    for name, value in found.items():
        said = getattr(record, name)
        if said != value:
            raise ValueError(
                f"{name} must be {_plain(value)} after these actions, not {_plain(said)}"
            )


def _outcome(state: np.ndarray) -> dict[str, Any]:
    """The fields of a record that tell the outcome."""
    s = state[0]
    if s.turn != NOBODY:
        return {"gains": None, "pot_after": None}
    return {"gains": tuple(s.gains[: s.num_players].tolist()), "pot_after": int(s.pot)}


def _plain(value: Any) -> Any:
    """As it stands in JSON."""
    return "null" if value is None else list(value) if isinstance(value, tuple) else value


# A hand being recorded.


def record_hand(
    dealt: np.ndarray,
    actions: Iterable[tuple[int, int]],
    *,
    seed: int | None = None,
    players: Sequence[str] | None = None,
) -> Record:
    """The record of a hand that was played in the engine.

    Args:
        dealt: (1,) of a game's HAND dtype, the state as it was just after the deal.
        actions: (seat, action) in order, to the end of the hand or not so far.
        seed: of the session, for information.
        players: a name for every seat.

    Raises:
        ValueError: that is no state just after the deal, or an action is not legal.
    """
    game, s = _game_of(dealt), dealt[0]
    record = Record(
        game=game.name,
        num_players=int(s.num_players),
        rules=game.rules.read(s),
        dealer=int(s.dealer),
        pot=int(s.carried),
        opening=OPENINGS[game.name][int(s.stakes if game.name == "beast" else s.forced)],
        hand_number=int(s.hand_number),
        coins=tuple(s.coins[: s.num_players].tolist()),
        deck=_pack_order(dealt),
        seed=seed,
        players=None if players is None else tuple(players),
        actions=tuple((int(seat), int(action)) for seat, action in actions),
    )
    _check_dealt(record, dealt)
    end = dealt.copy()
    for number, (seat, action) in enumerate(record.actions, 1):
        _carry_out(end, number, seat, action)
    gathered = game.name == "bestia" and end[0].gathered
    heap = tuple(end[0].heap[: end[0].pack_size].tolist()) if gathered else None
    return replace(record, heap=heap, **_outcome(end))


def _game_of(state: np.ndarray) -> Game:
    for game in GAMES.values():
        if isinstance(state, np.ndarray) and state.dtype == game.dtype and state.shape == (1,):
            return game
    raise ValueError("dealt must be an array (1,) of state records of one of the games")


def _pack_order(dealt: np.ndarray) -> tuple[int, ...]:
    """The whole pack, had all of it to be dealt; it is shuffled no further than it has to be."""
    s = dealt.copy()[0]
    while s.dealt < s.pack_size:
        next_card(s)
    return tuple(s.pack[: s.pack_size].tolist())


def _check_dealt(record: Record, dealt: np.ndarray) -> None:
    again = start(record)
    for name in dealt.dtype.names or ():
        if name not in _UNSETTLED and again[name].tobytes() != dealt[name].tobytes():
            raise ValueError(f"dealt must be a state just after the deal: its {name} is not")


# Files.


def read_records(path: str | Path) -> list[Record]:
    """All hands of a file; empty lines count for nothing.

    A last line without its newline that breaks off in the middle was being written when something
    crashed: it is left out.

    Raises:
        ValueError: a line holds no hand; names the file and the line.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        lines = iter(functools.partial(file.readline, MAX_LINE + 1), b"")
        found = (_read_line(path, number, line) for number, line in enumerate(lines, 1))
        return [record for record in found if record is not None]


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write a file of hands whole or not at all; one of that name is replaced.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(Path(path), "".join(f"{record.to_json()}\n" for record in records).encode())


def append_record(path: str | Path, record: Record) -> None:
    """Add a hand to the end of a file, which is made if it is missing.

    The line is written by a single call, so that several programs may add to one file. A last line
    that a crash broke off, as `read_records` knows it, is replaced.

    Raises:
        ValueError: the last line is neither a hand nor the beginning of one.
        OSError: the file cannot be written.
    """
    line = record.to_json().encode()
    tail = _open_line(path)
    if _is_torn(tail):
        os.truncate(path, os.path.getsize(path) - len(tail))
    elif tail:
        _read_line(path, "last", tail)
        line = b"\n" + line
    append_whole(Path(path), line)


def _read_line(path: str | Path, number: int | str, line: bytes) -> Record | None:
    if not line.strip() or (not line.endswith(b"\n") and _is_torn(line)):
        return None
    try:
        return Record.from_json(line.decode().removesuffix("\n"))
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None


def _open_line(path: str | Path) -> bytes:
    """What stands after the last newline of a file, cut to what a line may have."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_LINE - 1))
        return file.read().rpartition(b"\n")[2]


def _is_torn(line: bytes) -> bool:
    """Is it the beginning of a hand's line, and not all of it?"""
    if not line or len(line) > MAX_LINE or not (_HEAD.startswith(line) or line.startswith(_HEAD)):
        return False
    try:
        json.JSONDecoder().raw_decode(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return True
    return False  # all of it is there, and maybe more


# JSON that may come from anybody.


def _fields_of(line: str) -> dict[str, Any]:
    """The fields but `format`, all there and no others."""
    values = _parsed(line)
    if not isinstance(values, dict):
        _refuse("a hand", "be an object of JSON", values)
    if values.get("format") != FORMAT:
        _refuse("format", f"be {FORMAT!r}", values.get("format"))
    names = {"format", *(field.name for field in _FIELDS)}
    for name in sorted(names ^ values.keys()):
        what = "there is no field" if name in names else "unknown field"
        raise ValueError(f"{what} {shortened(name)}")
    return {name: value for name, value in values.items() if name != "format"}


def _parsed(line: str) -> Any:
    if len(line) > MAX_LINE:
        raise ValueError(f"a line must have at most {MAX_LINE} characters")
    try:
        return json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise ValueError("a line must not be nested so deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error.msg}, at character {error.colno}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("an object must not have a field twice")
    return values


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _rules(game: Game, options: Any) -> Any:
    if not isinstance(options, dict):
        _refuse("rules", "be an object of options", options)
    try:
        return game.make_rules(None, options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"rules: {error}") from None


def _order(game: Game, name: str, cards: Any) -> tuple[int, ...]:
    if not isinstance(cards, str):
        _refuse(name, "be the short names of all cards, separated by spaces", cards)
    try:
        return tuple(_card(game, card) for card in cards.split())
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _card(game: Game, name: str) -> int:
    """The card of this name, in either case."""
    card = _actions_by_name(game.name).get(name.upper(), game.pack.size)
    return card if card < game.pack.size else game.pack.card(name[:MAX_NAME])


def _actions(game: Game, pairs: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        _refuse("actions", "be pairs [seat, name]", pairs)
    return tuple((seat, _action(game, name)) for seat, name in pairs)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)


def _action(game: Game, name: str) -> int:
    try:
        return _actions_by_name(game.name)[name.upper()]
    except KeyError:
        words = ", ".join(action.name for action in game.actions)
        what = f"be a card such as {game.action_name(0)} or one of {words}"
        _refuse("the name of an action", what, name)


@functools.cache
def _actions_by_name(game: str) -> dict[str, int]:
    """All actions of a game by their names in capitals."""
    chosen = game_named(game)
    return {chosen.action_name(action).upper(): action for action in range(chosen.num_actions)}


def _names(game: Game, cards: Iterable[int]) -> str:
    return " ".join(map(game.pack.name, cards))


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()


def _refuse(name: str, what: str, value: Any) -> NoReturn:
    raise ValueError(f"{name} must {what}, not {shortened(value)}")
