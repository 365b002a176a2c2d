"""Whole hands played by a learner at many seats, and what it decided in them.

One kernel deals, plays and settles: the learner's network, opponents that stay as they are, and the
learner's past selves sit at the same tables. No hand is cut short, so the return of every decision
is known, and the decision that follows it is the next of the same seat in the same hand, whoever
acts in between.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.bidding.machine import is_bid
from agents.company import Company
from agents.layers import (
    Packed,
    gather,
    last_row,
    relabel_actions,
    run_layers,
    sample,
    weigh,
)
from agents.matches import act_turns, choose_outside, mark_bids
from agents.mixtures import chances, drawn, pot_mixture, weights
from agents.networks import Network
from agents.opponents import Desk, Opponents, act_in, desk, opponents_of
from agents.sparse import SparseRows
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, without_lowest
from bestia_env.deals import checked_seed
from bestia_env.engine import new_states, start_session
from bestia_env.games import game_named
from bestia_env.observe import layout, write_observation
from bestia_env.rng import below, seed_sequence_keys, stream, unit
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY, equity
from bestia_env.suits import relabelling, suit_order

LAST = -1  # follows the last decision of a seat in a hand
LEARNER = 0  # its place among the players at a table; opponents and past selves follow it
_LONGEST = 16  # no seat decides more often in a hand
_BATCH = 512  # hands that are played side by side where choosers sit


class Decisions(NamedTuple):
    """N decisions of a learner; those that leave no choice are not among them.

    They stand hand by hand, but where choosers sit (`agents.policies`): there hands are played side
    by side, in batches.

    Attributes:
        observations: N rows of D numbers, what the seat knew, suits sorted.
        seen: N rows of D + (n - 1) * cards numbers, the same and a 1 for every card that the other
            seats held, from the next seat on, suits sorted alike: for critics that see all cards
            while training, not for policies.
        legal: (N,) uint64, the sets of legal actions, suits sorted alike.
        actions: (N,) int64, numbered alike.
        log_probs: (N,) float32, of the actions, under the network that played.
        following: (N,) int64, the place of the same seat's next decision in this hand, or LAST.
        returns: (N,) float32, the seat's equity in the hand, or its share of what the learner's
            seats have together, divided by P: pots.
        seats: (N,) int8.
        fields: (N,) int16, who else sat there: LEARNER, 1 + opponent, 1 + opponents + past self.
    """

    observations: SparseRows
    seen: SparseRows
    legal: np.ndarray
    actions: np.ndarray
    log_probs: np.ndarray
    following: np.ndarray
    returns: np.ndarray
    seats: np.ndarray
    fields: np.ndarray

    @property
    def num_rows(self) -> int:
        """N."""
        return self.actions.size

    def first(self, count: int) -> Decisions:
        """The first so many of them."""
        rows = slice(0, count)
        return Decisions(
            self.observations.part(rows),
            self.seen.part(rows),
            *(array[rows] for array in self[2:]),
        )


class _Players(NamedTuple):
    """All who may sit at a table, as the kernel takes them.

    Attributes:
        network: of the learner, whose layers the past selves share.
        opponents: K of them, and M past selves.
        chances: (K + 1,) float64, cumulated, of the opponents, the last PAST's.
        num_past: M, which may be 0.
        alone: the share of hands with the learner alone.
        joined: the share of hands with one opponent.
        shared: do the learner's seats share what they win?
        cards: who of them plays the cards in the learner's stead, LEARNER if nobody.
    """

    network: Packed
    opponents: Opponents
    chances: np.ndarray
    num_past: int
    alone: float
    joined: float
    shared: bool
    cards: int


class _Room(NamedTuple):
    """Where B hands are played.

    Attributes:
        states: (B,) records, the hands in play.
        pots: (B,) int64, their P.
        rngs: (B,) uint64, of all chances in them but the deals.
        players: (B, n) int64, who sits where.
        fields: (B,) int64, whom the learner meets.
        latest: (B, n) int64, every seat's latest decision, or LAST.
        hands: int64, to which of them each decision belongs.
        desk: where opponents think, and the learner.
    """

    states: np.ndarray
    pots: np.ndarray
    rngs: np.ndarray
    players: np.ndarray
    fields: np.ndarray
    latest: np.ndarray
    hands: np.ndarray
    desk: Desk


class SelfPlay:
    """Plays hands and notes the learner's decisions.

    Hand k depends on the seed, on k and on the networks that play, so the number of the next hand
    is all that there is to remember.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats, n.
        labels: how suits are relabelled.
        num_inputs: D.
        num_actions: A.
        num_others: the length of a row of `Decisions.others`.
        opponents: policies, in the order of the company's specs without PAST; behind them who
            plays the cards, unless it is one of them.
    """

    def __init__(
        self,
        game: str,
        num_players: int = 4,
        *,
        company: Company | None = None,
        rules: Any = None,
        pots: Mapping[int, float] | Sequence[int] | None = None,
        sort_suits: bool = True,
        seed: int | None = None,
    ) -> None:
        """Prepare a table; nothing is dealt before `play`.

        Args:
            game: "beast" or "bestia".
            num_players: seats.
            company: whom the learner meets; only itself if None.
            rules: `BeastRules` or `BestiaRules`; the game's defaults if None.
            pots: P in opening pots, with weights if a mapping; None for opening pots only.
            sort_suits: relabel suits as `bestia_env.suits` does.
            seed: of deals, company and all moves.

        Raises:
            ValueError: an argument is out of range; it says which and what is allowed.
            TypeError: the rules are not the game's.
        """
        chosen, table = game_named(game), layout(game, num_players)
        self.game, self.num_players = game, num_players
        rules = chosen.make_rules(rules, {})
        new_states(game, num_players, rules)  # refuses what does not fit
        self._rules = rules
        self._company = company or Company()
        everybody = self._company.everybody
        self.opponents = self._company.policies(game, num_players)
        self._chances = chances(everybody)
        cards = self._company.cards
        self._cards = 1 + [*everybody].index(cards) if cards else LEARNER
        self._pots = pot_mixture(weights(pots or {1: 1.0}), rules, game, num_players)
        self.labels = relabelling(game, num_players, sort_suits)
        self.num_inputs, self.num_actions = table.size, chosen.num_actions
        self.num_others = (num_players - 1) * chosen.pack.size
        self._keys = seed_sequence_keys(checked_seed(seed), 2)

    def play(
        self, network: Network, count: int, first_hand: int = 0, past: Sequence[np.ndarray] = ()
    ) -> tuple[Decisions, int]:
        """Play whole hands until the learner has decided at least so often.

        Other threads may work meanwhile.

        Args:
            network: the learner's.
            count: decisions, at least 1.
            first_hand: the number of the first.
            past: `network.packed.parameters` of its past selves.

        Returns:
            The decisions, and the number of the hand after the last.

        Raises:
            ValueError: the network is for another table.
        """
        if (network.game, network.num_players) != (self.game, self.num_players):
            raise ValueError(
                f"the network plays {network.game} with {network.num_players} players, "
                f"not {self.game} with {self.num_players}"
            )
        packed = network.packed._replace(labels=self.labels)
        asks = any(policy.chooser is not None for policy in self.opponents)
        hands = _BATCH if asks else 1
        out = self._empty(count + hands * self.num_players * _LONGEST)
        selves = [packed._replace(parameters=parameters) for parameters in past]
        players = _Players(
            packed,
            opponents_of(self.opponents, self.game, self.num_players, selves),
            self._chances,
            len(past),
            self._company.alone,
            self._company.joined,
            self._company.shared,
            self._cards,
        )
        room = self._room(hands, out.actions.size, players.opponents, packed)
        play = self._play_asking if asks else _play
        decided, hand = play(players, self._pots, self._keys, first_hand, count, room, out)
        return out.first(decided), hand

    def _play_asking(self, players, pots, keys, hand, count, room, out):
        """The same in batches of hands, which wait while choosers are asked."""
        decided = 0
        while decided < count:
            first = decided
            _deal_batch(players, pots, keys, hand, room)
            waiting = np.arange(room.states.size)
            while waiting.size > 0:
                decided, waits = _play_batch(players, room, waiting, decided, out)
                waiting = waiting[:waits]
                self._ask(room, waiting)
            _pay(players, room, first, decided, out)
            hand += room.states.size
        return decided, hand

    def _ask(self, room: _Room, hands: np.ndarray) -> None:
        """One action of the chooser that is to act, in every hand that waits."""
        players, bids = room.players[hands, room.states["turn"][hands]], np.empty(hands.size, bool)
        mark_bids(room.states, hands, bids)
        for player, bid in sorted(set(zip(players.tolist(), bids.tolist()))):
            mine = hands[(players == player) & (bids == bid)]
            rngs = room.rngs[mine]
            actions = choose_outside(self.opponents[player - 1], bid, room.states, mine, rngs)
            room.rngs[mine] = rngs
            act_turns(room.states, mine, actions)

    def _room(self, hands: int, rows: int, opponents: Opponents, packed: Packed) -> _Room:
        states = new_states(self.game, self.num_players, self._rules, hands)
        return _Room(
            states,
            np.empty(hands, np.int64),
            np.empty(hands, np.uint64),
            np.empty((hands, self.num_players), np.int64),
            np.empty(hands, np.int64),
            np.empty((hands, self.num_players), np.int64),
            np.empty(rows, np.int64),
            desk(states[:1], self.num_inputs, opponents, packed),
        )

    def _empty(self, rows: int) -> Decisions:
        starts, numbers = np.empty(rows, np.int64), rows * (self.num_inputs + self.num_others)
        columns, values = np.empty(numbers, np.int32), np.empty(numbers, np.float32)
        return Decisions(
            SparseRows(starts, np.empty(rows, np.int64), columns, values),
            SparseRows(starts, np.empty(rows, np.int64), columns, values),
            np.empty(rows, np.uint64),
            np.empty(rows, np.int64),
            np.empty(rows, np.float32),
            np.empty(rows, np.int64),
            np.empty(rows, np.float32),
            np.empty(rows, np.int8),
            np.empty(rows, np.int16),
        )


# The kernel.


@jit
def _play(players, pots, keys, hand, count, room, out):
    """Returns how many decisions were noted, and the number of the hand after the last."""
    decided = 0
    while decided < count:
        first = decided
        _deal(players, pots, keys, hand, room, 0)
        decided = _play_on(players, room, 0, decided, out)
        _pay(players, room, first, decided, out)
        hand += 1
    return decided, hand


@jit
def _deal_batch(players, pots, keys, hand, room):
    for i in range(room.states.size):
        _deal(players, pots, keys, hand + i, room, i)


@jit
def _play_batch(players, room, hands, decided, out):
    """Play on; returns how many decisions were noted, and how many hands wait: the first ones."""
    waits = 0
    for i in hands:
        decided = _play_on(players, room, i, decided, out)
        if room.states[i].turn != NOBODY:
            hands[waits] = i
            waits += 1
    return decided, waits


@jit
def _deal(players, pots, keys, hand, room, i):
    rng = room.rngs[i : i + 1]
    rng[0] = stream(keys[1], hand)
    room.fields[i] = _sit_down(players, rng, room.players[i])
    carried = pots.coins[drawn(rng, pots.chances)]
    start_session(room.states, i, stream(keys[0], hand), NOBODY, carried)
    room.pots[i] = room.states[i].pot
    room.latest[i] = LAST


@jit
def _sit_down(players, rng, seated):
    """Draw who sits where; returns whom the learner meets."""
    n = seated.size
    kind, opponent = unit(rng), _draw_opponent(players, rng)
    single = below(rng, n)
    if kind < players.alone:
        seated[:] = opponent
        seated[single] = LEARNER
    elif kind < players.alone + players.joined:
        seated[:] = LEARNER
        seated[single] = opponent
    else:
        seated[:] = LEARNER
        opponent = LEARNER
    return opponent


@jit
def _draw_opponent(players, rng):
    others, past = players.chances.size - 1, players.num_past
    place = drawn(rng, players.chances)
    if place < others:
        return 1 + place
    return 1 + others + below(rng, past) if past > 0 else LEARNER


@jit
def _play_on(players, room, i, decided, out):
    """Play a hand until it is settled or waits for a chooser; returns the decisions noted."""
    s, rng, opponents = room.states[i], room.rngs[i : i + 1], players.opponents
    while s.turn != NOBODY:
        seat, choices = np.int64(s.turn), legal(s)
        who = room.players[i, seat]
        if who == LEARNER and not is_bid(s):
            who = players.cards
        if without_lowest(choices) == ZERO:
            action = lowest(choices)
        elif who == LEARNER:
            action = _decide(players.network, s, choices, rng, room.desk, decided, out)
            _note(room, i, seat, decided, out)
            decided += 1
        elif opponents.asked[who - 1, np.int64(is_bid(s))]:
            break
        else:
            action = act_in(opponents, who - 1, room.states, i, choices, rng, room.desk)
        apply(s, action)
    return decided


@jit
def _pay(players, room, first, decided, out):
    """Write the returns of decisions in hands that are settled."""
    for row in range(first, decided):
        i = room.hands[row]
        s = room.states[i]
        own = _share(s, room.players[i]) if players.shared else equity(s, out.seats[row])
        out.returns[row] = own / room.pots[i]


@jit
def _share(s, seated):
    """What every seat of the learner has if they share alike; what the others lose, in sum."""
    total, count = 0.0, 0
    for seat in range(seated.size):
        if seated[seat] == LEARNER:
            total += equity(s, seat)
            count += 1
    return total / count


@jit
def _decide(net, s, choices, rng, desk, row, out):
    """Ask the learner; what it sees and what it does is written into a row."""
    seat, labels, rows = np.int64(s.turn), net.labels, out.observations
    observation, scratch = desk.observation, desk.scratch
    write_observation(s, seat, labels.at, observation)
    order = suit_order(labels, observation)
    start = out.seen.ends[row - 1] if row > 0 else 0
    end = gather(labels, order, observation, rows.columns, rows.numbers, start)
    rows.starts[row], rows.ends[row] = start, end
    out.seen.ends[row] = _gather_others(
        s, seat, labels.action[order], observation.size, out.seen, end
    )
    run_layers(net, rows.columns, rows.numbers, start, end, scratch)
    odds, choices = scratch.layers[last_row(net)], relabel_actions(labels, order, choices)
    total = weigh(odds, choices)
    action = sample(odds, choices, total, rng)
    out.legal[row], out.actions[row] = choices, action
    out.log_probs[row] = math.log(odds[action] / total)
    return labels.original[order, action]


@jit
def _gather_others(s, seat, new, first, seen, end):
    """Append the cards of the others, from the next seat on, to a row; returns its new end."""
    n, cards = s.num_players, s.pack.size
    for place in range(n - 1):
        held = s.hands[(seat + 1 + place) % n]
        while held != ZERO:
            seen.columns[end] = first + place * cards + new[lowest(held)]
            seen.numbers[end] = 1
            held = without_lowest(held)
            end += 1
    return end


@jit
def _note(room, i, seat, row, out):
    """The decision in this row is the seat's next after its latest in hand i."""
    latest = room.latest[i]
    room.hands[row] = i
    out.seats[row] = seat
    out.fields[row] = room.fields[i]
    out.following[row] = LAST
    if latest[seat] != LAST:
        out.following[latest[seat]] = row
    latest[seat] = row


def advantages(values: np.ndarray, decisions: Decisions, lam: float) -> np.ndarray:
    """Advantages (Schulman et al. 2016) along each seat's own decisions of a hand.

    A hand pays at its settlement and nothing before, and gamma is 1.

    Args:
        values: (N,) float32, the critic's value of each decision, in pots.
        decisions: what was decided.
        lam: decay of later errors.

    Returns:
        (N,) float32, in pots.
    """
    found = np.empty(decisions.num_rows, np.float32)
    _advantages(values, decisions.following, decisions.returns, lam, found)
    return found


@jit
def _advantages(values, following, returns, lam, out):
    for row in range(out.size - 1, -1, -1):
        then = following[row]
        if then == LAST:
            out[row] = returns[row] - values[row]
        else:
            out[row] = values[then] - values[row] + lam * out[then]
