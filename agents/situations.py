"""A seat's view of a hand, from what somebody tells about it: the cards, the upcard, the bids."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from agents.duplicate import Table
from bestia_env.bits import has, lowest
from bestia_env.engine import new_states, start_stacked_session
from bestia_env.games import Game, game_named
from bestia_env.rules import beast
from bestia_env.rules.dispatch import apply, legal, over, rulebook_of
from bestia_env.view import is_blind, look

TRUMP = "t"  # stands for the suit of the upcard, unless a suit has this letter


def view_of_bidder(table: Table, hand: str, upcard: str, said: str) -> np.ndarray:
    """What the seat to act knows; who that is follows from what has been said.

    A dealer of Beast who takes discards face down: that is passed over, but for the seat that is
    to discard itself.

    Args:
        table: the game, seats, rules and pot; the last seat deals.
        hand: the cards that the seat was dealt, such as "Ad 3d 7c", or "At 3t 7c" for the ace and
            the three of trumps; empty for a dealer who has not looked (B-06).
        upcard: such as "Rd".
        said: all bids so far in order, such as "pass knock"; empty at the beginning.

    Returns:
        (1,) records, the VIEW.

    Raises:
        ValueError: a card or a bid is none, or could not be; it says which. Or the game is a
            reduction (I-24).
    """
    game = game_named(table.game)
    if game.is_reduced(table.num_players, table.rules):
        raise ValueError(f"all cards must be in the pack, unlike in {table.words}")
    turned = game.pack.card(upcard)
    cards = _cards(game, hand, turned)
    others = [card for card in range(game.pack.size) if card != turned]
    first = _played_on(table, _pack(table, game, turned, [], 0, others), said)
    s = first[0]
    held = _hand(game, cards, turned, 0 if is_blind(s, s.turn) else game.tricks(table.num_players))
    pack = _pack(table, game, turned, held, int(s.turn), [c for c in others if c not in held])
    states, view = _played_on(table, pack, said), np.zeros(1, game.dtype)
    look(states, 0, states[0].turn, view, 0)
    return view


def _cards(game: Game, text: str, turned: int) -> list[int]:
    trump = game.pack.suits[turned // len(game.pack.ranks)][0]
    names = [re.sub(f"{TRUMP}$", trump, name, flags=re.IGNORECASE) for name in text.split()]
    return game.pack.cards(" ".join(names))


def _hand(game: Game, cards: list[int], turned: int, count: int) -> list[int]:
    """The cards, which must be as many as are held, and all different."""
    if cards and count == 0:
        raise ValueError(
            f"hand must hold no cards here, not {len(cards)}: the dealer decides blind whether to "
            "take (the history of a later bid begins with take or leave)"
        )
    if len(cards) != count:
        raise ValueError(f"hand must hold {count} cards here, not {len(cards)}")
    for card in cards:
        if card == turned:
            raise ValueError(f"hand holds {game.pack.name(card)}, which is the upcard")
        if cards.count(card) > 1:
            raise ValueError(f"hand holds {game.pack.name(card)} twice")
    return cards


def _pack(
    table: Table, game: Game, turned: int, held: Sequence[int], seat: int, others: list[int]
) -> list[int]:
    """A pack in which the seat, counted from the eldest, is dealt what it holds."""
    each = game.tricks(table.num_players)
    before = others[: seat * each]
    hands, rest = [*before, *held], others[len(before) :]
    if rulebook_of(new_states(table.game, table.num_players)[0]) is beast:
        more = (table.num_players * each) - len(hands)
        return [*hands, *rest[:more], turned, *rest[more:]]
    return [turned, *hands, *rest]


def _played_on(table: Table, pack: list[int], said: str) -> np.ndarray:
    """(1,) the state after these bids."""
    game, n = game_named(table.game), table.num_players
    states = new_states(table.game, n, table.rules)
    heap = np.arange(game.pack.size)
    start_stacked_session(states, 0, np.uint64(0), n - 1, table.carried, np.array(pack), heap)
    names = {action.name.lower(): int(action) for action in game.actions}
    s = states[0]
    for number, word in enumerate(re.findall(r"[^\s,;]+", said), start=1):
        if word.lower() not in names:
            raise ValueError(f"unknown bid {word!r}: choose among {', '.join(names)}")
        if s.phase == beast.AT_DISCARD and table.game == "beast":
            apply(s, lowest(legal(s)))
        if not has(legal(s), names[word.lower()]):
            raise ValueError(f"bid {number}, {word!r}, is not legal: {_legal_words(game, s)} is")
        apply(s, names[word.lower()])
        if s.phase in (over(s), rulebook_of(s).AT_TRICKS):
            raise ValueError(f"after bid {number}, {word!r}, the bidding is over")
    return states


def _legal_words(game: Game, s: np.record) -> str:
    bids = [action for action in game.actions if has(legal(s), int(action))]
    return " or ".join(action.name for action in bids)
