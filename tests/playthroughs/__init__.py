"""Golden playthroughs: whole sessions as text, each checked by hand against RULEBOOK.md.

A file begins with what is played, up to a line of `=`; the rest is written by
`python -m tests.playthroughs`, which rewrites all files, or those named. Read the diff.

The head is a title and then lines `key: words`, continued on lines that begin with a space:

    game, players, dealer, pot    as in `reset`
    options                       NAME=VALUE, those that are not the default
    key                           of the session, for deals at random, or else
    deck                          one for each hand: the first cards dealt, the rest by id
    heap                          one for each hand: the order of gathered cards, likewise
    play                          one for each hand: actions by name

Between actions, `(see)` shows the table as the seat to act sees it, and `(describe)` prints what
its observation says.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

from bestia_env import engine
from bestia_env.games import GAMES, Game
from bestia_env.render import render_text
from bestia_env.words import describe
from tests.sessions import Session, Table

FOLDER = Path(__file__).parent
RULE = "=" * 80
PER_HAND = ("deck", "heap", "play")
NEXT_STAKES = ("none", "one from the dealer", "full")


def paths() -> list[Path]:
    """All playthroughs."""
    return sorted(FOLDER.glob("*.txt"))


def retold(text: str) -> str:
    """The playthrough that follows from the head of one."""
    head = text.partition(RULE)[0].rstrip()
    return "\n".join([head, RULE, *_story(head), ""])


def _story(head: str) -> list[str]:
    given = _read_head(head)
    table = Table(_session(given))
    lines = []
    for number, play in enumerate(given["play"]):
        if number:
            table.deal_next()
        lines += ["", f"Hand {number + 1}", _shown(table), *_hand(table, play.split())]
    return lines


def _read_head(head: str) -> dict:
    """The words of each key; those that come once a hand as lists."""
    _, *lines = head.replace("\n ", " ").split("\n")
    given: dict = {key: [] for key in PER_HAND}
    for key, words in (line.split(":", 1) for line in lines if line):
        if key in PER_HAND:
            given[key].append(words)
        else:
            given[key] = words.strip()
    return given


def _session(given: dict) -> Session:
    game = GAMES[given["game"]]
    num_hands = len(given["play"])
    return Session(
        game.name,
        int(given["players"]),
        options=dict(map(_option, given.get("options", "").split())),
        dealer=int(given["dealer"]),
        pot=int(given.get("pot", 0)),
        decks=_orders(game, given["deck"], num_hands),
        heaps=_orders(game, given["heap"], num_hands),
        key=int(given["key"]) if "key" in given else None,
    )


def _option(words: str) -> tuple[str, object]:
    name, value = words.split("=")
    is_word = value.isidentifier() and value not in ("True", "False")
    return name, value if is_word else ast.literal_eval(value)


def _orders(game: Game, lines: list[str], num_hands: int) -> list[list[int]]:
    return [_order(game, line) for line in [*lines, *[""] * (num_hands - len(lines))]]


def _order(game: Game, line: str) -> list[int]:
    first = game.pack.cards(line)
    assert len(set(first)) == len(first), f"a card is twice in {line}"
    return first + [card for card in range(game.pack.size) if card not in first]


def _hand(table: Table, play: list[str]) -> list[str]:
    lines = [""]
    pot = table.read("pot")
    for word in play:
        lines += _ASIDES[word](table) if word in _ASIDES else _step(table, word)
    assert table.turn < 0, f"hand {table.hand + 1} goes on after {play[-1]}"
    return [*lines, "", _shown(table), *_books(table, pot)]


def _step(table: Table, word: str) -> list[str]:
    """A line with the legal actions, the one taken in brackets, and one for a trick taken."""
    names = {table.game.action_name(action): action for action in table.legal()}
    assert word in names, f"{word} is not among {', '.join(names)}"
    choice = " ".join(f"[{name}]" if name == word else name for name in names)
    line = f"player_{table.turn}  {table.phase:8} {choice}"
    tricks = table.read("tricks")
    table.act(names[word])
    takers = [seat for seat, before in enumerate(tricks) if table.read("tricks")[seat] > before]
    return [line, *[f"{'':20}trick {table.read('trick')} to player_{seat}" for seat in takers]]


def _books(table: Table, pot: int) -> list[str]:
    shares = np.empty(table.session.num_players)
    engine.write_rewards(table.states, 0, True, shares)
    equity = "  ".join(f"{seat}:{share:+.2f}" for seat, share in enumerate(shares))
    carried = f"pot: carried in {table.read('carried')}, P {pot}, left {table.read('pot')}"
    return [f"equity  {equity}", carried + _next(table)]


def _next(table: Table) -> str:
    if table.game.name == "beast":
        return f"; next stakes: {NEXT_STAKES[table.read('stakes')]}"
    return f"; next hand a force: {'yes' if table.read('forced') else 'no'}"


def _shown(table: Table, seat: int | None = None) -> str:
    return render_text(table.states, table.game.name, seat, ascii_only=False)


def _see(table: Table) -> list[str]:
    return [f"    {line}" for line in _shown(table, table.turn).splitlines()]


def _describe(table: Table) -> list[str]:
    table.observe(table.turn)
    words = describe(table.observation, game=table.game.name, num_players=table.session.num_players)
    return [f"    {line}" for line in words.splitlines()]


_ASIDES = {"(see)": _see, "(describe)": _describe}
