"""Hands built from the names of cards, and driven by the names of actions."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestia_env import beast_v0, bestia_v0
from bestia_env.games import GAMES


def pack_order(
    game: str,
    hands: Mapping[int, str],
    upcard: str,
    num_players: int = 4,
    dealer: int = 0,
    stock: str = "",
    **options: Any,
) -> list[int]:
    """A whole pack, first card dealt first.

    Args:
        game: "beast" or "bestia".
        hands: seat -> the cards dealt to it, such as "As 10h". Seats left out, and hands too short,
            are filled up with the lowest cards that nobody names, suit after suit, trumps last.
        upcard: the card turned up.
        num_players: seats.
        dealer: the seat that deals.
        stock: the cards that follow those dealt.
        **options: of the rules.
    """
    pack, rules = GAMES[game].pack, GAMES[game].rules(**options)
    each, ranks = GAMES[game].tricks(num_players, rules), len(pack.ranks)
    named = {seat: pack.cards(cards) for seat, cards in hands.items()}
    turned, later = pack.card(upcard), pack.cards(stock)
    used = [turned, *later, *(card for cards in named.values() for card in cards)]
    assert len(used) == len(set(used)), "a card is named twice"
    assert all(len(cards) <= each for cards in named.values()), "too many cards in a hand"
    trump = turned // ranks
    in_use = GAMES[game].cards_in_use(rules)
    rest = sorted(set(in_use) - set(used), key=lambda card: (card // ranks == trump, card))
    dealt = []
    for place in range(1, num_players + 1):
        cards = named.get((dealer + place) % num_players, [])
        dealt += cards + [rest.pop(0) for _ in range(each - len(cards))]
    head = [turned, *dealt] if game == "bestia" else [*dealt, turned]
    return head + later + rest


class Table:
    """A session of a raw environment, each of its hands dealt from a given pack.

    Args:
        game: "beast" or "bestia".
        decks: a pack order for each hand, as of `pack_order`; that many hands are played.
        num_players: seats.
        dealer: the seat that deals first.
        pot: coins carried in.
        heaps: Bestia: for each of the first hands the order in which gathered cards are dealt.
        reward: "equity" or "coins".
        options: of the rules, such as `revoke="penalty"`.
    """

    def __init__(
        self,
        game: str,
        *decks: Sequence[int],
        num_players: int = 4,
        dealer: int = 0,
        pot: int = 0,
        heaps: Sequence[Sequence[int]] | None = None,
        reward: str = "equity",
        **options: object,
    ) -> None:
        self.game = GAMES[game]
        make = {"beast": beast_v0, "bestia": bestia_v0}[game].raw_env
        self.env = make(num_players=num_players, num_hands=len(decks), reward=reward, **options)
        self.env.reset(seed=0, options={"deck": decks, "heap": heaps, "dealer": dealer, "pot": pot})
        self.gains: list[int] = []  # net coins of each seat in the hand settled last
        self.left = pot  # what that hand left in the pot

    @property
    def s(self) -> np.record:
        """The state record; after the last hand, still that hand's."""
        return self.env.unwrapped.states[0]

    @property
    def turn(self) -> int:
        """The seat to act, -1 when the session is over."""
        return -1 if self.over else self.env.possible_agents.index(self.env.agent_selection)

    @property
    def over(self) -> bool:
        """Is the session over?"""
        return all(self.env.terminations.values())

    @property
    def pot(self) -> int:
        """P, this hand's stakes included; after the session what is left."""
        return int(self.s.pot)

    @property
    def rewards(self) -> list[float]:
        """Of the last step, for each seat."""
        return list(self.env.rewards.values())

    @property
    def legal(self) -> list[str]:
        """The names of what the seat to act may do, in order of id; empty after the session."""
        return [] if self.over else self._names(self.env.observe(self.env.agent_selection))

    def _names(self, observed: Mapping[str, np.ndarray]) -> list[str]:
        return [self.game.action_name(int(a)) for a in np.flatnonzero(observed["action_mask"])]

    def held(self, seat: int) -> list[str]:
        """The names of the cards that a seat holds, in order of id."""
        bits = int(self.s.hands[seat])
        return [self.game.pack.name(c) for c in range(self.game.pack.size) if bits >> c & 1]

    def seen(self, seat: int) -> bytes:
        """All that the environment tells a seat: observation, mask and infos."""
        agent = self.env.possible_agents[seat]
        observed = self.env.observe(agent)
        return (
            b"".join(observed[key].tobytes() for key in observed)
            + repr(self.env.infos[agent]).encode()
        )

    def step(self, name: str) -> int:
        """Carry out one action, named like As or PASS; returns the seat that did it.

        "?" is the legal action of lowest id.
        """
        seat = self.turn
        name = self.legal[0] if name == "?" else name
        coins = self.s.coins.copy()
        self.env.step(self.action(name))
        if self.env.hand_over:
            self.gains = (self.s.coins - coins)[: self.env.num_players].tolist()
            self.left = self.pot if self.over else int(self.s.carried)
        return seat

    def action(self, name: str) -> int:
        """The id of an action, named like As or PASS."""
        words = self.game.actions.__members__
        return int(words[name]) if name in words else self.game.pack.card(name)

    def play(self, names: str) -> Table:
        """Carry out actions in turn, as in "LEAVE PASS*2 PLAY As ?*3"; returns the table."""
        self.asked(names)
        return self

    def asked(self, names: str) -> list[int]:
        """Carry out actions in turn; returns the seats that did them."""
        counted = [word.partition("*") for word in names.split()]
        return [self.step(name) for name, _, times in counted for _ in range(int(times or 1))]

    def finish(self) -> Table:
        """Everybody does the legal thing of lowest id until the hand is settled."""
        self.step("?")
        while not self.env.hand_over:
            self.step("?")
        return self

    def clone(self) -> Table:
        """An independent copy in mid-hand."""
        twin = copy.copy(self)
        twin.env = self.env.clone()
        return twin
