import dataclasses
import itertools
import json
import math
import pickle
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.bids import beast, bestia, solver
from agents.bids.games import MODULES, entry, hand_class
from agents.bids.gaps import gap
from agents.bids.imitation import Answers, Places, _add, chances_in
from agents.bids.solver import Game, Solution
from agents.bids.table import (
    BidTable,
    chances_of,
    load_table,
    parse,
    rounded,
    save_table,
    table_of,
)
from agents.bids.traversal import Sums
from agents.bids.values import agent_worths, worths_of_bids
from agents.duplicate import Table, check_policies
from agents.matches import choose, play, turn_views
from agents.policies import parse_policy
from bestia_env.bits import has, lowest
from bestia_env.engine import new_states, start_session, start_stacked_session
from bestia_env.games import GAMES
from bestia_env.rng import stream
from bestia_env.rules.dispatch import apply, legal
from bestia_env.rules.table import NOBODY
from bestia_env.view import look

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

PACK = GAMES["bestia"].pack
RANKS = bestia.RANKS


def dealt(n: int, pack: list[int], game: str = "bestia") -> np.ndarray:
    """A hand dealt from a pack, the last seat dealing."""
    states = new_states(game, n)
    cards = np.array(pack, np.int8)
    start_stacked_session(states, 0, np.uint64(0), n - 1, 0, cards, np.arange(40))
    return states


def random_table(n: int, cards: str = "sound", seed: int = 0) -> BidTable:
    shares = np.random.default_rng(seed).integers(0, 256, bestia.num_entries(n), np.uint8)
    return BidTable("bestia", n, cards, shares, {"rules": {}})


# Classes of hands.


def test_there_are_as_many_classes_as_burnside_counts():
    trumps, side = RANKS - 1, RANKS
    alike = math.comb(trumps + 3 * side, 3)  # hands that no renaming of side suits changes: all
    swapped = math.comb(trumps + side, 3) + (trumps + side) * side  # under a swap of two suits
    turned = math.comb(trumps, 3) + side  # under a turn of all three
    assert (alike + 3 * swapped + 2 * turned) // 6 == bestia.CLASSES


packs = st.permutations(range(40))


@given(packs, st.permutations(range(4)), st.integers(0, RANKS - 1), st.integers(3, 6))
def test_suits_and_the_rank_of_the_upcard_tell_nothing(pack, order, rank, n):
    renamed = [order[card // RANKS] * RANKS + card % RANKS for card in pack]
    raised = with_upcard(renamed, rank)
    for seat in range(n):
        assert hand_class(dealt(n, pack)[0], seat) == hand_class(dealt(n, raised)[0], seat)


def with_upcard(pack: list[int], rank: int) -> list[int]:
    """The same deal with another upcard, the other trumps moved up or down in their order."""
    trump, was = divmod(pack[0], RANKS)
    others = [r for r in range(RANKS) if r != was]
    moved = dict(zip(others, [r for r in range(RANKS) if r != rank], strict=True))
    moved[was] = rank
    return [
        trump * RANKS + moved[card % RANKS] if card // RANKS == trump else card for card in pack
    ]


@given(packs, st.integers(0, RANKS - 1), st.integers(3, 5), st.integers(0, 2**20))
def test_deals_that_differ_by_the_upcard_come_out_alike(pack, rank, n, seed):
    outcomes = []
    for deck in (pack, with_upcard(pack, rank)):
        states = dealt(n, deck)
        policy = parse_policy("sound", "bestia", n)
        policy = dataclasses.replace(policy, chooser=random_table(n, seed=seed))
        play(states, [policy], np.zeros((1, n), np.int64), np.arange(n, dtype=np.uint64)[None])
        outcomes.append((*states["gains"][0], states["pot"][0], states["gathered"][0]))
    assert outcomes[0] == outcomes[1]
    assert not outcomes[0][-1]


@given(packs, packs)
def test_hands_of_one_class_are_of_one_family(one, other):
    hands = [hand_class(dealt(6, pack)[0], seat) for pack in (one, other) for seat in range(6)]
    assert min(hands) >= 0
    assert bestia.SHARES[hands].min() > 0
    by_class = dict(zip(hands, bestia.FAMILIES[hands], strict=True))
    assert all(by_class[hand] == bestia.FAMILIES[hand] for hand in hands)


# Places in the bidding.


@pytest.mark.parametrize("n", [3, 4, 5])
def test_every_bidding_has_a_node_of_its_own(n):
    said: dict[int, tuple] = {}
    before: dict[int, int] = {}
    _walk_biddings(dealt(n, list(range(40))), said, before, {})
    assert sorted(said) == list(range(bestia.num_nodes(n)))
    assert [said[node][0] for node in sorted(said)] == bestia.askers(n).tolist()
    assert [before[node] for node in sorted(said)] == bestia.parents(n).tolist()


def _walk_biddings(states, said, before, own):
    s = states[0]
    module = beast if "said" in states.dtype.names else bestia
    if not module.bidding(s):
        return
    if not module.decides(s):
        apply(s, lowest(legal(s)))
        _walk_biddings(states, said, before, own)
        return
    node, agent = int(module.node(s)), int(module.agent(s))
    public = (agent, *_said(s))
    assert said.setdefault(node, public) == public
    before[node] = own.get(agent, -1)
    for bid in (module.quiet(s), module.loud(s)):
        assert has(legal(s), bid)
        then = states.copy()
        apply(then[0], bid)
        _walk_biddings(then, said, before, {**own, agent: node})


def _said(s) -> tuple:
    """What everybody has heard."""
    if "said" in s.dtype.names:
        return (
            int(s.phase),
            int(s.player),
            int(s.upcard_is),
            *s.said.tolist(),
            *s.countered.tolist(),
        )
    return int(s.knocked), int(s.passed), int(s.refused), int(s.exchanged)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_every_bidding_of_beast_has_a_node_of_its_own(n):
    said: dict[int, tuple] = {}
    before: dict[int, int] = {}
    for upcard in (12, 11, 10, 9, 7, 6, 0):  # an ace, two honours, two of the middle, two others
        cards = [card for card in range(52) if card != upcard]
        pack = np.random.default_rng(0).permutation(cards).tolist()
        pack.insert(n * (n + 1), upcard)
        _walk_biddings(dealt(n, pack, "beast"), said, before, {})
    assert sorted(said) == list(range(beast.num_nodes(n)))
    assert [said[node][0] for node in sorted(said)] == beast.askers(n).tolist()
    assert [before[node] for node in sorted(said)] == beast.parents(n).tolist()


@given(st.permutations(range(52)), st.permutations(range(4)), st.integers(4, 6))
def test_suits_tell_nothing_in_beast(pack, order, n):
    renamed = [order[card // 13] * 13 + card % 13 for card in pack]
    for seat in range(n):
        hands = [hand_class(dealt(n, deck, "beast")[0], seat) for deck in (pack, renamed)]
        assert hands[0] == hands[1]
        assert 0 <= hands[0] < beast.CLASSES


def test_buckets_of_beast_tell_apart_what_they_should():
    upcard = "10h"

    def bucket(hand: str) -> int:
        pack = GAMES["beast"].pack
        held, turned = pack.cards(hand), pack.card(upcard)
        others = [card for card in range(52) if card not in held and card != turned]
        deck = [*held, *others[:15], turned, *others[15:]]
        return hand_class(dealt(4, deck, "beast")[0], 0)

    alike = ("Ah 9h 2h Kc 3d", "Ah 9h 6h Kd 4s")
    different = ("Ah 8h 2h Kc 3d", "Ah 9h 2h Qc 3d", "Ah 9h 2h Kc 3c", "Ah 9h 2h 3h Kc")
    assert bucket(alike[0]) == bucket(alike[1])
    assert len({bucket(hand) for hand in (alike[0], *different)}) == 5


# Deals walked through, against plain recursion.


class Recursion:
    """The worth of a hand for one agent, bid by bid, the others bidding purely."""

    def __init__(self, game: Game, chances: np.ndarray, agent: int) -> None:
        self.game, self.chances, self.agent = game, chances.ravel(), agent
        self.asked: set[int] = set()

    def worth(self, deal: int, own: np.ndarray) -> float:
        table, n = self.game.table, self.game.table.num_players
        module, states = MODULES[table.game], new_states(table.game, n, table.rules)
        key = np.uint64(stream(table.keys.deals, deal))
        start_session(states, 0, key, n - 1, table.carried)
        hands = [hand_class(states[0], seat) for seat in range(n)]
        pot, s = int(states[0].pot), states[0]
        while s.turn != NOBODY and module.bidding(s):
            if module.decides(s):
                at = int(entry(s, hands[s.turn]))
                is_own = module.agent(s) == self.agent
                if is_own:
                    self.asked.add(at)
                is_loud = (own if is_own else self.chances)[at] > 0.5
                apply(s, module.loud(s) if is_loud else module.quiet(s))
            else:
                apply(s, choose(self.game.cards, states, np.zeros(1, np.uint64))[0])
        play(states, [self.game.cards], np.zeros((1, n), np.int64), np.zeros((1, n), np.uint64))
        seat = min(self.agent, n - 1)
        gains = states["gains"][0, seat] + (states["pot"][0] - states["carried"][0]) / n
        return gains / pot


CARDS = {"bestia": "sound", "beast": "threshold"}


@pytest.fixture(scope="module", params=["bestia", "beast"])
def either(request) -> Game:
    name = request.param
    n = GAMES[name].player_counts[0]
    return Game(Table(name, n, seed=5), parse_policy(CARDS[name], name, n))


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(Table("bestia", 3, seed=5), parse_policy("sound", "bestia", 3))


@pytest.fixture(scope="module")
def pure(game) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2, game.shape).astype(float)


def test_worths_of_the_table_are_those_of_hands_bid_one_by_one(either):
    pure, own = np.random.default_rng(2).integers(0, 2, (2, *either.shape)).astype(float)
    sums = either.walk(pure, 0, 60)
    found = agent_worths(sums, either.parents, either.askers, own)
    for agent in range(either.agents):
        recursion = Recursion(either, pure, agent)
        expected = sum(recursion.worth(deal, own.ravel()) for deal in range(60))
        assert found[agent] == pytest.approx(expected)


def test_the_upper_bound_is_the_best_of_all_responses(game, pure):
    deals = range(100, 102)
    best = mean = 0.0
    for seat in range(3):
        recursion = Recursion(game, pure, seat)
        mean += sum(recursion.worth(deal, pure.ravel()) for deal in deals)
        # Whatever the seat bids first, it is asked what it may be asked.
        for deal in deals:
            recursion.worth(deal, np.zeros(pure.size))
            recursion.worth(deal, np.ones(pure.size))
        own_entries = sorted(recursion.asked)
        worths = []
        for bids in itertools.product((0, 1), repeat=len(own_entries)):
            own = np.zeros(pure.size)
            own[own_entries] = bids
            worths.append(sum(recursion.worth(deal, own) for deal in deals))
        best += max(worths)
    sums = game.walk(pure, deals[0], deals[-1] + 1)
    found = gap(_Remembering(game, sums), pure, 20, 0)
    assert found.high * 20 == pytest.approx(best - mean)


class _Remembering:
    """A game whose first part of all deals gave these sums, and the others nothing."""

    def __init__(self, game: Game, sums: Sums) -> None:
        self.parents, self.askers, self.shape = game.parents, game.askers, game.shape
        self.families, self._sums = game.families, sums

    def walk(self, chances, first, stop):
        return self._sums if first == 0 else Sums.nothing(chances.size, 3)


def test_deals_may_be_walked_in_any_pieces(game):
    chances = np.random.default_rng(3).random(game.shape)
    whole = game.walk(chances, 0, 300, 0.1)
    parts = game.walk(chances, 100, 300, 0.1).plus(game.walk(chances, 0, 100, 0.1))
    assert (whole.visits == parts.visits).all()
    assert np.allclose(whole.worths, parts.worths, atol=1e-9)


def test_pots_of_all_sizes_make_the_same_bids_right(game):
    """Without a limit every payment is a multiple of P, but for the stake, which is paid before."""
    chances = np.random.default_rng(3).random(game.shape)
    small = game.walk(chances, 0, 500)
    big = Game(Table("bestia", 3, pot=8, seed=5), game.cards).walk(chances, 0, 500)
    gains = [np.diff(worths_of_bids(sums, game.parents, chances), axis=-1) for sums in (small, big)]
    assert np.abs(gains[0]).max() > 1
    assert np.allclose(gains[0], gains[1], atol=1e-9)


# Bids of any policy.


def test_every_place_of_a_deal_is_found_once(either):
    states, entries, deals = Places(either).of(7, 9)
    nodes = entries // either.shape[1]
    assert sorted(set(deals)) == [7, 8]
    for deal in (7, 8):
        found = nodes[deals == deal]
        assert len(set(found)) == found.size
        told = states[deals == deal]
        assert all(
            entry(s, hand_class(told[k : k + 1][0], s.turn)) == at
            for k, (s, at) in enumerate(zip(told, entries[deals == deal], strict=True))
        )
    if either.table.game == "bestia":
        assert sorted(nodes) == sorted([*range(either.shape[0])] * 2)
    else:
        assert set(either.askers[nodes]) == set(range(either.agents))


def test_the_bids_of_a_table_are_read_as_they_stand(game):
    chances = chances_in(game, parse_policy("bids:bestia-3", "bestia", 3), 1, 0)
    table = table_of(parse_policy("bids:bestia-3", "bestia", 3))
    assert (rounded(chances) == table.shares).all()


def test_a_table_of_bids_says_what_was_bid_in_the_deals_by_which_it_was_made(either):
    """Of one deal, in which no two hands are of a class: the table must bid as the policy does."""
    rule = {"beast": "play if trumps >= 2", "bestia": "knock if trumps >= 2"}[either.table.game]
    n = either.table.num_players
    for spec in (CARDS[either.table.game], rule):
        policy = parse_policy(spec, either.table.game, n)
        chances = chances_in(either, policy, 1, 3)
        states, entries, _ = Places(either).of(3, 4)
        bids = [MODULES[either.table.game].loud(s) for s in states]
        bid = choose(policy, states, np.zeros(states.size, np.uint64)) == bids
        assert (chances.ravel()[entries] == bid).all()


def test_hands_of_one_class_count_by_how_often_they_come_there(game):
    """Two thirds of a class always knock, the rest never: whoever was not asked before has the
    mean, and those who passed never knock afterwards, for only the others come there."""
    nodes, hands = game.shape[0], 3
    chances = np.zeros((hands, nodes))
    chances[:2] = 1
    classes = np.full((hands, nodes), 11)
    sums = np.zeros((2, *game.shape))
    _add(sums, game, Answers(chances, classes))
    found = sums[0, :, 11] / sums[1, :, 11]
    assert found[game.parents < 0] == pytest.approx(2 / 3)
    assert found[game.parents >= 0] == pytest.approx(0, abs=1e-5)


def test_where_no_hand_of_a_class_came_its_family_speaks(game):
    policy = parse_policy("net:bestia-3", "bestia", 3)
    few, many = (chances_in(game, policy, count, 0) for count in (300, 3000))
    assert few.shape == game.shape
    assert ((few >= 0) & (few <= 1)).all()
    came = np.zeros(game.shape, bool)
    for first in range(0, 300, 60):
        came.ravel()[Places(game).of(first, first + 60)[1]] = True
    assert 0.05 < came.mean() < 0.5
    away = np.abs(few - many)[~came].mean()
    assert away < 0.8 * np.abs(few.mean() - many)[~came].mean()


# The solver, on a game of which the equilibria are known.


class Kuhn:
    """Kuhn poker: nodes of the first seat, of the second after a pass and a bet, of the first."""

    parents, askers, shape = np.array([-1, -1, -1, 0]), np.array([0, 1, 1, 0]), (4, 3)
    families = np.arange(3)
    table = Table("bestia", 3)

    def walk(self, chances, first, stop, tremble=0.0):
        sums = Sums.nothing(12, 2)
        visits, worths = sums.visits.reshape(4, 3), sums.worths.reshape(4, 3, 2)
        for a, b in itertools.permutations(range(3), 2):
            won = 1 if a > b else -1
            bets, calls = chances[[0, 3], a]
            after_pass, after_bet = chances[[1, 2], b]
            visits[[0, 1, 2, 3], [a, b, b, a]] += 1
            worths[0, a, 1] += after_bet * 2 * won + (1 - after_bet)
            worths[0, a, 0] += (1 - after_pass) * won
            worths[3, a] += after_pass * np.array([-1, 2 * won])
            worths[1, b, 0] -= (1 - bets) * won
            worths[1, b, 1] -= (1 - bets) * (calls * 2 * won - (1 - calls))
            worths[2, b] -= bets * np.array([1, 2 * won])
        return Sums(sums.visits * (stop - first), sums.worths * (stop - first) / 6, sums.unasked)


def test_the_solver_finds_the_equilibrium_of_kuhn_poker():
    game, solution = Kuhn(), Solution.new(Kuhn.shape)
    for _ in range(3000):
        chances = solution.chances(game.families)
        solution.step(game.walk(chances, 0, 1), game.parents, chances)
    found = solution.average(game.families)
    assert found[1, 0] == pytest.approx(1 / 3, abs=0.03)  # the bluff with the knave
    assert found[2, 1] == pytest.approx(1 / 3, abs=0.03)  # the call with the queen
    assert found[0, 2] == pytest.approx(3 * found[0, 0], abs=0.06)
    bounds = gap(game, found, 20, 0)
    assert bounds.worths == pytest.approx([-1 / 18, 1 / 18], abs=0.003)
    assert -1e-9 <= bounds.low.mean <= bounds.high <= 0.02
    assert gap(game, np.full(Kuhn.shape, 0.5), 20, 0).high > 0.3


def test_a_run_goes_on_as_if_it_had_not_been_stopped(game, tmp_path):
    def steps(solution: Solution, stop: int) -> Solution:
        while solution.iterations < stop:
            chances = solution.chances(game.families)
            first = solution.iterations * 100
            solution.step(game.walk(chances, first, first + 100, 0.01), game.parents, chances)
        return solution

    families = game.families
    whole = steps(Solution.new(game.shape), 4)
    path = tmp_path / "solution.npz"
    half = steps(Solution.new(game.shape), 2)
    half.seconds = 1.5
    half.save(path, "this")
    assert Solution.load(path, "this").seconds == 1.5
    assert (
        steps(Solution.load(path, "this"), 4).average(families) == whole.average(families)
    ).all()
    with pytest.raises(ValueError, match="was begun otherwise: this, and now that"):
        Solution.load(path, "that")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="holds no run of the solver"):
        Solution.load(path, "this")
    assert Solution.load(tmp_path / "missing.npz", "this") is None


# The policy.


def bidders(n: int, count: int) -> np.ndarray:
    """Hands in the bidding, played on by a few random bids."""
    states = new_states("bestia", n, count=count)
    chances = np.random.default_rng(4)
    for i in range(count):
        start_session(states, i, np.uint64(i), i % n, 0)
        for _ in range(chances.integers(0, 2 * n)):
            then = states[i : i + 1].copy()
            apply(then[0], chances.choice([bestia.quiet(then[0]), bestia.loud(then[0])]))
            if not bestia.bidding(then[0]):
                break
            states[i] = then[0]
    return states


@pytest.mark.parametrize("n", [3, 4, 6])
def test_bids_are_legal_and_the_same_whatever_the_batch_and_the_hidden_cards(n):
    table, states = random_table(n), bidders(n, 200)
    hands, chances = np.arange(200), np.arange(200, dtype=np.uint64)
    luck = chances.copy()
    actions = table.act_batch(states, hands, luck)
    assert all(has(legal(s), action) for s, action in zip(states, actions, strict=True))
    assert (luck != chances).all()
    views = turn_views(states, hands)
    for i in range(200):
        alone = chances[i : i + 1].copy()
        assert table.act_batch(views[i : i + 1], np.zeros(1, np.int64), alone)[0] == actions[i]
        assert alone[0] == luck[i]
    few = np.array([150, 3, 77])
    assert (table.act_batch(states, few, chances[few]) == actions[few]).all()


def test_a_table_is_a_policy_for_every_purpose(tmp_path):
    save_table(tmp_path / "some.bids", random_table(4))
    policy = parse_policy(f"bids:{tmp_path / 'some.bids'}", "bestia", 4)
    check_policies(Table("bestia", 4), [policy])
    with pytest.raises(ValueError, match="plays with 4 players, not 3"):
        check_policies(Table("bestia", 3), [policy])
    copy = pickle.loads(pickle.dumps(policy))
    states, view = bidders(4, 1), np.zeros(1, GAMES["bestia"].dtype)
    look(states, 0, states[0].turn, view, 0)
    share = policy.chooser.share(view)
    actions = int(legal(states[0]))
    chances = policy.probabilities(view, actions)
    assert chances[int(bestia.loud(states[0]))] == pytest.approx(share, abs=0.06)
    assert chances.sum() == pytest.approx(1)
    rngs = [np.array([9], np.uint64) for _ in range(2)]
    assert policy.act(view, actions, rngs[0]) == copy.act(view, actions, rngs[1])


def test_a_table_that_says_always_or_never_is_obeyed():
    states, hands = bidders(3, 50), np.arange(50)
    for share, bid in ((0, bestia.quiet), (255, bestia.loud)):
        shares = np.full(bestia.num_entries(3), share, np.uint8)
        table = BidTable("bestia", 3, "sound", shares, {})
        actions = table.act_batch(states, hands, np.arange(50, dtype=np.uint64))
        assert actions.tolist() == [bid(s) for s in states]


# Files.


def test_files_keep_tables(tmp_path):
    table, path = random_table(3), tmp_path / "folder" / "some.bids"
    save_table(path, table)
    found = load_table(path, "bestia", 3)
    assert (found.shares == table.shares).all()
    assert (found.cards, found.facts) == (table.cards, table.facts)
    assert (rounded(chances_of(found)) == table.shares).all()
    assert [file.name for file in path.parent.iterdir()] == ["some.bids"]
    with pytest.raises(ValueError, match="ends in"):
        save_table(tmp_path / "some.json", table)


def changed(content: bytes, **facts) -> bytes:
    line, _, packed = content.partition(b"\n")
    return json.dumps({**json.loads(line), **facts}).encode() + b"\n" + packed


def without_end(content: bytes) -> bytes:
    return content[:-50]


def with_endless_zeros(content: bytes) -> bytes:
    return content.partition(b"\n")[0] + b"\n" + zlib.compress(bytes(1 << 26))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"", "is no table of bids"),
        (lambda content: b"{}\n", "is no table of bids"),
        (lambda content: b"[" * 100_000, "is no table of bids"),
        (lambda content: changed(content, format="bestia_env bids 2"), "is no table of bids"),
        (lambda content: changed(content, entries=None), "its entries is None"),
        (lambda content: changed(content, num_players=True), "its num_players is True"),
        (lambda content: changed(content, num_players=4), "with 4 players, not in bestia with 3"),
        (lambda content: changed(content, game="beast"), "bids in beast with 3 players, not in"),
        (lambda content: changed(content, classes="others"), "must be solved anew"),
        (lambda content: changed(content, cards="nobody"), "is no sound table: unknown policy"),
        (lambda content: changed(content, cards="knock"), "no sound table: unknown policy 'knock'"),
        (lambda content: changed(content, cards="bids:bestia-3"), "unknown policy 'bids:bestia-3'"),
        (lambda content: changed(content, entries=5), "is damaged"),
        (without_end, "is damaged"),
        (lambda content: content[:-1], "is damaged"),
        (lambda content: content + b"more", "is damaged"),
        (lambda content: content.partition(b"\n")[0] + b"\nrubbish", "is damaged"),
        (with_endless_zeros, "is damaged"),
    ],
)
def test_damaged_files_are_refused(damage, message, tmp_path):
    path = tmp_path / "some.bids"
    save_table(path, random_table(3))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        parse(f"bids:{path}", "bestia", 3)


def test_a_table_whose_cards_are_its_own_is_refused(tmp_path):
    path = tmp_path / "some.bids"
    save_table(path, dataclasses.replace(random_table(3), cards=f"bids:{path}"))
    with pytest.raises(ValueError, match="is no sound table: unknown policy 'bids:"):
        parse(f"bids:{path}", "bestia", 3)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bids", "lacks the table: bids:FILE or bids:bestia-3"),
        ("bids:", "lacks the table"),
        ("bids:nobody", "none is shipped of this name"),
        ("bids:" + "x" * 5000, "none is shipped of this name"),
        ("net:" + "x" * 5000, "none is shipped of this name"),
        ("bids:no/such.bids", "there is no file no/such.bids"),
    ],
)
def test_specs_without_a_table_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        parse_policy(spec, "bestia", 3)


def test_tables_with_the_upcard_back_in_play_are_refused():
    with pytest.raises(ValueError, match="solved for 3 to 6 players, not 7"):
        Game(Table("bestia", 7), parse_policy("sound", "bestia", 7))


def test_reductions_are_not_solved_and_the_player_of_the_cards_bids_in_them():
    rules = GAMES["bestia"].rules(cards=2, stake=6, match_limit=6)
    with pytest.raises(ValueError, match="with all cards in the pack"):
        Game(Table("bestia", 3, rules), parse_policy("sound", "bestia", 3))
    states = new_states("bestia", 3, rules)
    start_session(states, 0, np.uint64(1), 0, 0)
    bid = random_table(3).act_batch(states, np.zeros(1, np.int64), np.zeros(1, np.uint64))[0]
    assert has(legal(states[0]), bid)


def test_entries_must_be_as_many_as_there_are(game):
    with pytest.raises(ValueError, match="take 55484 entries of a byte each"):
        BidTable("bestia", 3, "sound", np.zeros(5, np.uint8), {})
    assert solver.MODULES["bestia"].num_entries(3) == 26 * 2134 == 55484
