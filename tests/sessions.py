"""Sessions as data: options, packs and heaps drawn at random, and the engine that plays them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from bestia_env import engine
from bestia_env.games import GAMES
from bestia_env.observe import layout
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.table import next_card
from bestia_env.view import look

OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "beast": {
        "losing_counterer": ("both_lose", "pays_winner", "carry"),
        "carry_stakes": ("none", "dealer_one", "full"),
        "counter_order": ("player_left", "eldest"),
        "demonstration": ("sure_tricks", "top_trumps", "off"),
        "revoke": ("forbidden", "penalty"),
        "match_limit": (1, 10, 100, 999_999_999, 10**12),
    },
    "bestia": {
        "stake": (3, 6, 30),
        "dealer_stake": ("always", "only_if_empty"),
        "all_pass": ("carry", "dealer_takes"),
        "first_lead": ("next_active", "first_knocker"),
        "must_head": (False, True),
        "force": (False, True),
        "revoke": ("forbidden", "penalty"),
        "maxims": ("off", "mask", "penalty"),
        "maxim_1": (True, False),
        "maxim_2": (True, False),
        "maxim_3": (True, False),
        "match_limit": (3, 12, 120, 999_999_999, 10**12 - 1),
    },
}
POTS = (0, 0, 3, 30, 10**9 - 1, 10**12 - 1)
CHANCES = (0.1, 0.5, 0.9)
SIZES = {name: (len(game.pack.suits), len(game.pack.ranks)) for name, game in GAMES.items()}
TABLES = [(name, n) for name, game in GAMES.items() for n in game.player_counts]
REDUCED = [(name, n) for name, game in GAMES.items() for n in range(2, game.player_counts.stop)]
EVERY = [(*table, False) for table in TABLES] + [(*table, True) for table in REDUCED]
"""Game, number of players, and whether it is reduced."""


@dataclass
class Session:
    """All that settles a session; its repr is Python.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        options: of the rules, those left out having their defaults.
        dealer: the seat that deals first.
        pot: coins carried in.
        decks: a pack order for each hand.
        heaps: an order of gathered cards for each hand.
        key: None, or the key from which the engine deals by itself; `decks` must then agree.
        actions: those carried out, by hand.
    """

    game: str
    num_players: int
    options: dict[str, Any]
    dealer: int
    pot: int
    decks: list[list[int]]
    heaps: list[list[int]]
    key: int | None = None
    actions: list[list[int]] = field(default_factory=list)


def random_session(
    rng: Random, game: str, num_players: int, num_hands: int = 4, *, reduced: bool = False
) -> Session:
    """Every option at random; one session in five dealt from a key, the rest from random packs.

    A reduction, if it shall be one, is random too (B-19, I-24).
    """
    options = {name: rng.choice(values) for name, values in OPTIONS[game].items()}
    if reduced:
        options = random_reduction(rng, game, num_players, options)
    rules = GAMES[game].rules(**options)
    in_use = GAMES[game].cards_in_use(rules)
    session = Session(
        game,
        num_players,
        options=options,
        dealer=rng.randrange(num_players),
        pot=rng.choice(POTS) // rules.pot_unit * rules.pot_unit,
        decks=[random_pack(rng, game, num_players, rules) for _ in range(num_hands)],
        heaps=[rng.sample(in_use, len(in_use)) for _ in range(num_hands)],
    )
    return keyed(session, rng.getrandbits(64)) if rng.random() < 0.2 else session


def random_reduction(
    rng: Random, game: str, num_players: int, options: dict[str, Any]
) -> dict[str, Any]:
    """The options with fewer cards, mostly few more than are needed."""
    most, (suits, ranks) = GAMES[game].tricks(num_players), SIZES[game]
    while True:
        cards = rng.randint(1, most)
        needed = num_players * cards + 1
        size = rng.randint(needed, min(suits * ranks, 2 * needed))
        in_suits = rng.randint(-(-size // ranks), suits)
        reduction = {"ranks": -(-size // in_suits), "suits": in_suits, "cards": cards}
        if cards < most or in_suits * reduction["ranks"] < suits * ranks:
            break
    if game == "bestia" and cards == 2:
        reduction |= {name: max(6, options[name] // 6 * 6) for name in ("stake", "match_limit")}
    return options | reduction


def keyed(session: Session, key: int) -> Session:
    """The same session dealt from a key."""
    rules = GAMES[session.game].rules(**session.options)
    place = session.game, session.num_players, rules, key
    decks = [pack_of_key(*place, hand) for hand in range(len(session.decks))]
    return replace(session, key=key, decks=decks)


def pack_of_key(game: str, num_players: int, rules: Any, key: int, hand_number: int) -> list[int]:
    """The order in which the engine deals a hand, had it to deal the whole pack."""
    states = engine.new_states(game, num_players, rules)
    engine.start_sessions(states, np.array([key], np.uint64), 0, 0)
    for _ in range(hand_number):
        engine.deal_next_hand(states, 0)
    size = int(states[0].pack_size)
    while states[0].dealt < size:
        next_card(states[0])
    return states[0].pack[:size].tolist()


def random_pack(rng: Random, game: str, num_players: int, rules: Any) -> list[int]:
    """Mostly with the high trumps in one hand, so that there is something to show or to obey."""
    in_use, ranks = GAMES[game].cards_in_use(rules), len(GAMES[game].pack.ranks)
    each = GAMES[game].tricks(num_players, rules)
    deck = rng.sample(in_use, len(in_use))
    if rng.random() < 0.3:
        return deck
    up = num_players * each if game == "beast" else 0
    start = rng.randrange(num_players) * each + (game == "bestia")
    low = deck[up] // ranks * ranks
    high = [c for c in reversed(range(low, low + ranks)) if c != deck[up] and c in in_use]
    favoured = [card for card in high if rng.random() < 0.8][: rng.randint(min(2, each), each)]
    for place, card in enumerate(favoured, start):
        other = deck.index(card)
        deck[place], deck[other] = deck[other], deck[place]
    return deck


def random_style(rng: Random) -> dict[str, float]:
    """How likely something bold is in each phase: no pass, no refusal, a show where it may be."""
    names = [phase.name for game in GAMES.values() for phase in game.phases]
    return {name: rng.choice(CHANCES) for name in names}


def random_action(rng: Random, table: Table, style: dict[str, float], legal: list[int]) -> int:
    """Any card, or the first of the other actions unless the style is bold."""
    cards = legal[0] < table.game.pack.size
    if cards or len(legal) == 1:
        return rng.choice(legal)
    return rng.choice(legal[1:]) if rng.random() < style[table.phase] else legal[0]


@functools.lru_cache(1 << 16)
def members(bits: int) -> frozenset[int]:
    """The members of a set of bits."""
    return frozenset(i for i in range(bits.bit_length()) if bits >> i & 1)


class Table:
    """A session in the engine, by its kernels.

    Attributes:
        session: what is played; heaps that the engine drew from a key are noted in it.
        states: (1,) the state.
        actions: those carried out, by hand.
        hand: the number of the hand that is on or has just been settled.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.game = GAMES[session.game]
        rules = self.game.rules(**session.options)
        self.states = engine.new_states(session.game, session.num_players, rules)
        self._fields = {name: self.states[name][0, ...] for name in self.game.dtype.names}
        for name in SEAT_FIELDS & self._fields.keys():
            self._fields[name] = self._fields[name][: session.num_players]
        self.layout = layout(session.game, session.num_players)
        self.observation = np.zeros(self.layout.size, np.float32)
        self.mask = np.zeros(self.game.num_actions, np.int8)
        self.hand = 0
        self.actions: list[list[int]] = [[]]
        place = (self.states, 0, np.uint64(session.key or 0), session.dealer, session.pot)
        if session.key is None:
            engine.start_stacked_session(*place, *self._orders())
        else:
            engine.start_session(*place)

    def _orders(self) -> tuple[np.ndarray, np.ndarray]:
        orders = self.session.decks[self.hand], self.session.heaps[self.hand]
        return np.array(orders[0], np.int8), np.array(orders[1], np.int8)

    def read(self, name: str) -> Any:
        """A field of the state, as int or list."""
        return self._fields[name].tolist()

    def observe(self, seat: int) -> None:
        """Write `observation` and `mask` as the seat sees the table."""
        offsets = self.layout.offsets
        engine.observe(self.states, 0, seat, offsets, self.observation, self.mask)

    def view(self, seat: int) -> np.ndarray:
        """What the seat may know, (1,) like the state."""
        views = self.states.copy()
        look(self.states, 0, seat, views, 0)
        return views

    @property
    def turn(self) -> int:
        """The seat to act, -1 when the hand is over."""
        return self.read("turn")

    @property
    def phase(self) -> str:
        """The name of the phase."""
        return PHASE_NAMES[self.session.game][self.read("phase")]

    @property
    def gathered(self) -> bool:
        """Were cards gathered for an exchange?"""
        return self.session.game == "bestia" and self.read("gathered")

    def legal(self) -> list[int]:
        """The mask of the seat to act, as a list of actions."""
        self.observe(self.turn)
        return self.mask.nonzero()[0].tolist()

    def act(self, action: int) -> None:
        """Carry out a legal action."""
        self.actions[-1].append(action)
        engine.act(self.states, 0, action)
        if self.session.key is not None and self.phase == "TRICKS" and self.gathered:
            self.session.heaps[self.hand] = self.read("heap")[: self.read("pack_size")]

    def deal_next(self) -> None:
        """The next hand of the session."""
        self.hand += 1
        self.actions.append([])
        if self.session.key is None:
            engine.deal_next_stacked_hand(self.states, 0, *self._orders())
        else:
            engine.deal_next_hand(self.states, 0)


class Batch:
    """Sessions side by side, and all that the batch kernels write of them.

    Attributes:
        states: (B,) the states.
        generators: (B,) uint64, from which further sessions draw their keys.
        observations, masks, legal_sets, rewards, ended: what the kernels write.
        rng: (1,) uint64, which chooses the actions.
    """

    def __init__(self, game: str, num_players: int, count: int, seed: int, rules=None) -> None:
        self.layout = layout(game, num_players)
        self.states = engine.new_states(game, num_players, rules, count)
        self.legal_sets = np.zeros(count, np.uint64)
        self.observations = np.zeros((count, self.layout.size), np.float32)
        self.masks = np.zeros((count, GAMES[game].num_actions), np.int8)
        self.rewards = np.zeros((count, num_players))
        self.ended = np.zeros(count, np.int8)
        keys = seed_sequence_keys(seed, 2 * count + 1)
        self.generators, self.rng = keys[count:-1], keys[-1:]
        engine.start_sessions(self.states, keys[:count], -1, 0)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that a step and a look change."""
        seen = self.observations, self.masks, self.legal_sets
        return self.states, self.generators, self.rewards, self.ended, *seen

    def random_actions(self) -> np.ndarray:
        """A legal action for every state, (B,)."""
        return np.array([engine.random_legal(state, self.rng) for state in self.states])

    def observe(self) -> None:
        """Observe every state from the seat to act."""
        seen = self.observations, self.masks, self.legal_sets
        engine.observe_batch(self.states, self.layout.offsets, *seen)

    def step(self, actions: np.ndarray, num_hands: int, as_equity: bool) -> None:
        """Step every state, and observe it."""
        rule = self.generators, num_hands, as_equity
        seen = self.observations, self.masks, self.legal_sets
        written = self.rewards, self.ended, self.layout.offsets, *seen
        engine.step_batch(self.states, actions, *rule, *written)


def walk(table: Table, rng: Random) -> Iterator[Table]:
    """Play the session at random; the table at every decision and after every settlement."""
    style = random_style(rng)
    for hand in range(len(table.session.decks)):
        if hand:
            table.deal_next()
        while table.turn >= 0:
            yield table
            table.act(random_action(rng, table, style, table.legal()))
        yield table


PHASE_NAMES = {name: [phase.name for phase in game.phases] for name, game in GAMES.items()}
SEAT_FIELDS = {
    *("coins", "gains", "hands", "tricks", "voids", "revoked"),
    *("said", "countered", "thrown", "breaches"),
}
