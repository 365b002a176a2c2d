"""The luck of new cards: drawn from where they come from, with a mean of exactly zero."""

import itertools

import numpy as np
import pytest

from agents.duplicate import Piece, Table, played
from agents.equilibria.exchange import exchange_pool
from agents.matches import deal_copies, play
from agents.new_cards import DRAWS, _bid_again, draw_new_cards, luck_of_new_cards
from agents.policies import parse_policy
from bestia_env.engine import new_states
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.bestia import BestiaRules
from bestia_env.rules.table import settled_score

pytestmark = pytest.mark.slow  # its kernels take a while to compile

KEY, OTHER = seed_sequence_keys(5, 2)
SMALL = BestiaRules(suits=2, ranks=5, cards=1)
TABLES = {
    "usual": (4, BestiaRules(), 0),
    "gathered": (8, BestiaRules(), 0),
    "crowded": (10, BestiaRules(), 6),
    "circle": (5, BestiaRules.circle(), 3),
    "strict": (3, BestiaRules(must_head=True, maxims="mask", revoke="penalty"), 0),
    "small": (3, SMALL, 0),
}


def settled(name: str, count: int, specs: str = "doctor random bold sound") -> np.ndarray:
    n, rules, pot = TABLES[name]
    states = new_states("bestia", n, rules, count)
    deal_copies(states, 1, KEY, 0, pot)
    policies = [parse_policy(spec, "bestia", n) for spec in specs.split()]
    seated = np.resize(np.arange(len(policies)), (count, n))
    rngs = np.random.default_rng(1).integers(2**64, size=(count, n), dtype=np.uint64)
    play(states, policies, seated, rngs)
    return states


def before(states: np.ndarray, i: int) -> np.ndarray:
    """The hand at its first trick, and room for another record."""
    work = np.empty(2, states.dtype)
    _bid_again(states, i, work)
    return work


def exchanged(states: np.ndarray) -> np.ndarray:
    several = states["playing"] & (states["playing"] - np.uint64(1))
    return np.flatnonzero((states["exchanged"] != 0) & (several != 0))


@pytest.mark.parametrize("name", TABLES)
def test_bids_heard_again_lead_to_the_cards_that_were_played(name: str) -> None:
    states = settled(name, 200)
    found = exchanged(states)
    assert found.size > 20
    for i in found:
        hands = states["hands"][i].copy()
        for k in range(states["plays"][i]):
            hands[states["play_seat"][i, k]] |= np.uint64(1 << int(states["play_card"][i, k]))
        s = before(states, i)[0]
        assert (s.hands == hands).all()
        assert s.gathered == states["gathered"][i]


def new_cards(s) -> list[int]:
    seats = [seat for seat in range(s.num_players) if int(s.exchanged) >> seat & 1]
    return [int(s.hands[seat]) for seat in seats]


def z_of_draws(name: str, pool_of) -> float:
    """How far new cards are from those drawn again, in the most telling of some respects."""
    states, rng = settled(name, 4000), np.array([9], np.uint64)
    differences = []
    for i in exchanged(states):
        s = before(states, i)[0]
        marked = [1023 << 10 * int(s.trump), 1 << int(s.upcard), _set(s.thrown)]
        dealt = _counts(s, marked)
        pool = np.uint64(pool_of(s))
        draw_new_cards(s, pool, pool, rng)
        differences.append(dealt - _counts(s, marked))
    found = np.array(differences)
    spread = np.where(found.std(axis=0) > 0, found.std(axis=0), np.inf)
    return float(np.abs(found.mean(axis=0) / spread).max() * np.sqrt(len(found)))


def _set(sets) -> int:
    return int(np.bitwise_or.reduce(sets))


def _counts(s, marked: list[int]) -> np.ndarray:
    cards = new_cards(s)
    first = [(cards[0] & mark).bit_count() for mark in marked]
    return np.array([*first, *((cards[-1] & mark).bit_count() for mark in marked)])


@pytest.mark.parametrize("name", ["usual", "gathered", "crowded", "small"])
def test_cards_drawn_again_are_like_those_dealt(name: str) -> None:
    assert z_of_draws(name, exchange_pool) < 4


@pytest.mark.parametrize("name", ["usual", "gathered", "crowded", "small"])
def test_cards_drawn_from_elsewhere_are_not(name: str) -> None:
    def with_thrown(s) -> int:
        return int(exchange_pool(s)) | _set(s.thrown)

    def with_the_upcard_turned(s) -> int:
        return int(exchange_pool(s)) ^ 1 << int(s.upcard)

    assert z_of_draws(name, with_thrown) > 6
    assert z_of_draws(name, with_the_upcard_turned) > 6


@pytest.mark.parametrize("name", TABLES)
def test_the_luck_of_new_cards_is_nothing_in_the_mean(name: str) -> None:
    states = settled(name, 20_000)
    luck = luck_of_new_cards(states, OTHER, 0)
    np.testing.assert_allclose(luck.sum(axis=1), 0, atol=1e-6)
    others = np.setdiff1d(np.arange(states.size), exchanged(states))
    assert not luck[others].any()
    assert luck.std() > 0.1
    z = luck.mean(axis=0) / luck.std(axis=0) * np.sqrt(states.size)
    assert np.abs(z).max() < 4


@pytest.mark.parametrize("name", ["usual", "gathered"])
def test_no_card_comes_twice_while_there_are_others(name: str) -> None:
    states, rng = settled(name, 60), np.array([9], np.uint64)
    for i in exchanged(states):
        s = before(states, i)[0]
        left = pool = np.uint64(exchange_pool(s))
        need = 3 * len(new_cards(s))
        while int(left).bit_count() >= need:
            rest = np.uint64(draw_new_cards(s, pool, left, rng))
            drawn = _set(new_cards(s))
            assert drawn.bit_count() == need
            assert int(left) & ~drawn == int(rest) == int(left) ^ drawn
            left = rest
        again = draw_new_cards(s, pool, left, rng)
        assert int(again) == int(pool) ^ _set(new_cards(s))


def test_it_is_what_all_ways_to_deal_them_make_it() -> None:
    """On a pack so small that they can be listed; the first draws have no card that was dealt."""
    states = settled("small", 60, "sound doctor tight")
    sound = [parse_policy("sound", "bestia", 3)]
    for i in exchanged(states)[:6]:
        s = before(states, i)[0]
        seats = [seat for seat in range(3) if int(s.exchanged) >> seat & 1]
        pool = [card for card in range(40) if int(exchange_pool(s)) >> card & 1]
        ways = list(itertools.permutations(pool, len(seats)))
        hands = np.repeat(before(states, i)[:1], len(ways))
        hands["hands"][:, seats] = np.uint64(1) << np.array(ways, np.uint64)
        play(hands, sound, np.zeros((len(ways), 3), np.int64), np.zeros((len(ways), 3), np.uint64))
        scores = np.array([[settled_score(hand, seat) for seat in range(3)] for hand in hands])
        dealt = np.array([settled_score(states[i], seat) for seat in range(3)])
        others = np.isin(ways, [card.bit_length() - 1 for card in new_cards(before(states, i)[0])])
        fresh = min(len(pool) // len(seats) - 1, DRAWS)
        means = scores[~others.any(axis=1)].mean(axis=0), scores.mean(axis=0)
        drawn = (fresh * means[0] + (DRAWS - fresh) * means[1]) / DRAWS if fresh else means[1]
        luck = luck_of_new_cards(np.repeat(states[i : i + 1], 4000), OTHER, 0)
        error = np.maximum(luck.std(axis=0), 1e-9) / np.sqrt(len(luck))
        assert (np.abs(luck.mean(axis=0) - (dealt - drawn)) < 4.5 * error).all()


def test_it_hangs_on_the_number_of_the_hand_alone() -> None:
    table = Table("bestia", seed=3)
    policies = [parse_policy(spec, "bestia", 4) for spec in ("doctor", "sound")]
    whole = played(table, policies, True, Piece((0, 1, 1, 1), 0, 40)).luck
    rest = played(table, policies, True, Piece((0, 1, 1, 1), 25, 40)).luck
    assert whole is not None
    assert rest is not None
    assert rest.any()
    np.testing.assert_array_equal(whole[25:], rest)
