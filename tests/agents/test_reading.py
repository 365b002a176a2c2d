"""Worlds read from bids: just those that fit, as likely as Bayes says, by no more than is known."""

import functools
import itertools
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from agents import reading
from agents.networks import Network
from agents.policies import NETWORK, Policy, parse_policy
from agents.reading import draw_read_worlds
from agents.worlds import draw_worlds
from bestia_env.games import GAMES
from bestia_env.rules import beast, bestia
from bestia_env.view import look
from tests.sessions import Session, Table, members, random_session

CLEAR = {  # policies whose bids depend on the cards, without lots
    "beast": ("bold", "threshold:0.2", "play if trumps >= 2; counter if trumps >= 1"),
    "bestia": ("sound", "threshold:0.3", "knock if trumps >= 2; exchange if trumps == 1"),
}


def by_policy(table: Table, policy: Policy) -> int:
    return policy.act(table.view(table.turn), bits(table.legal()), np.zeros(1, np.uint64))


def bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)


def moment(rng: Random, game: str, n: int, policy: Policy, faith: float) -> Table:
    """Somebody is to act in a first hand in which bids mostly, by this chance, follow a policy."""
    while True:
        table = Table(random_session(rng, game, n, num_hands=1))
        for _ in range(rng.randrange(1, 4 * n)):
            told = rng.random() < faith
            table.act(by_policy(table, policy) if told else rng.choice(table.legal()))
            if table.turn < 0:
                break
        else:
            return table


def dealt(table: Table, world: np.record) -> Table:
    """The hand of a table from its deal, with the cards of a world."""
    n, dealer = table.session.num_players, table.session.dealer
    hands = [int(cards) for cards in world.hands[:n]]
    for k in range(int(world.plays)):
        hands[world.play_seat[k]] |= 1 << int(world.play_card[k])
    up = int(world.upcard)
    if table.session.game == "bestia":
        hands = [int(world.thrown[i]) or hands[i] for i in range(n)]
    elif world.upcard_is == beast.TAKEN:
        hands[dealer] = (hands[dealer] | int(world.discard)) & ~(1 << up)
    order = [card for i in range(n) for card in members(hands[(dealer + 1 + i) % n])]
    order = [up, *order] if table.session.game == "bestia" else [*order, up]
    order += [card for card in range(table.game.pack.size) if card not in order]
    return Table(replace(table.session, decks=[order], heaps=[list(range(len(order)))], key=None))


def num_missed(table: Table, world: np.record, policy: Policy) -> int:
    """How many bids of others the policy does not make, one at a time."""
    again, missed = dealt(table, world), 0
    for action in table.actions[0]:
        if again.phase == "TRICKS":
            break
        if again.phase == "DISCARD":
            action = int(world.discard).bit_length() - 1
        if again.turn != table.turn and again.phase != "TAKE":
            missed += by_policy(again, policy) != action
        again.act(action)
    return missed


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("beast", 6), ("bestia", 3), ("bestia", 7)])
def test_the_worlds_that_fit_when_replayed_one_by_one_are_taken_in_order(game: str, n: int) -> None:
    rng, some = Random(n), 0
    for number in range(9):
        policy = parse_policy(CLEAR[game][number % 3], game, n)
        table = moment(rng, game, n, policy, 0.9)
        view = table.view(table.turn)
        drawn = draw_worlds(view, 16, number)
        fit = drawn[[num_missed(table, world, policy) == 0 for world in drawn]]
        worlds, num_read = draw_read_worlds(view, 16, number, policy)
        assert worlds.shape == (16,) and num_read >= fit.size
        assert worlds[: fit.size].tobytes() == fit.tobytes()
        missed = [num_missed(table, world, policy) for world in worlds]
        assert missed == sorted(missed) and missed.count(0) == num_read
        some += 0 < fit.size < 16
    assert some >= 3


class Witness(Network):
    """Says what was said, and checks that it sees what was seen."""

    def __init__(self, game: str, n: int, heard: list[tuple[np.ndarray, np.ndarray, int]]) -> None:
        for name, value in (("game", game), ("num_players", n), ("heard", heard)):
            object.__setattr__(self, name, value)

    def act_batch(self, observations, masks, rngs) -> np.ndarray:
        seen, mask, action = self.heard.pop(0)
        assert (observations == seen).all() and (masks == mask).all()
        return np.full(len(masks), action)


def copies(states: np.ndarray, view: np.ndarray, count: int, seed: int) -> np.ndarray:
    return states.repeat(count)


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("beast", 5), ("bestia", 3), ("bestia", 8)])
def test_in_the_true_world_bidders_see_again_what_they_saw(
    game: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In later hands as well, with their pots and forces."""
    rng, total = Random(n), 0
    for _ in range(8):
        table, heard = Table(random_session(rng, game, n, num_hands=2)), []
        for hand in range(2):
            if hand:
                table.deal_next()
            heard.clear()
            while table.turn >= 0:
                seat, view = table.turn, table.view(table.turn)
                others = [bid for who, bid in heard if who != seat]
                total += len(others)
                spy = Policy("spy", game, NETWORK, network=Witness(game, n, others))
                truth = functools.partial(copies, table.states)
                monkeypatch.setattr(reading, "draw_worlds", truth)
                assert draw_read_worlds(view, 3, 0, spy)[1] == 3 and not others
                table.observe(seat)
                action = rng.choice(table.legal())
                if table.phase not in ("TAKE", "TRICKS"):
                    heard.append((seat, (table.observation.copy(), table.mask.copy(), action)))
                table.act(action)
    assert total > 30


# Bayes.


def test_a_knock_is_read_by_bayes_rule() -> None:
    """First hand of three knocked: the chance of each of his hands is that of his knocking on it.

    Chances are worked out for all 7140 hands that he may have.
    """
    deck = Random(1).sample(range(40), 40)
    table = Table(Session("bestia", 3, {}, 2, 0, [deck], [deck]))
    table.act(bestia.KNOCK)
    known = members(table.read("hands")[1]) | {table.read("upcard")}
    unseen = [card for card in range(40) if card not in known]
    trump = table.read("trump")
    rule = parse_policy("knock if trumps >= 2 or random < 0.2", "bestia", 3)
    hands = list(itertools.combinations(unseen, 3))
    chances = np.array([1 if sum(c // 10 == trump for c in h) >= 2 else 0.2 for h in hands])
    chances /= chances.sum()
    worlds, num_read = draw_read_worlds(table.view(1), 20_000, 5, rule)
    assert num_read == 20_000
    place = {bits(hand): k for k, hand in enumerate(hands)}
    counts = np.bincount([place[int(h)] for h in worlds["hands"][:, 0]], minlength=len(hands))
    squares = ((counts / 20_000 - chances) ** 2 / chances).sum() * 20_000
    assert abs(squares - len(hands)) / (2 * len(hands)) ** 0.5 < 5
    for card in unseen:
        holds = np.array([card in hand for hand in hands])
        expected = chances[holds].sum()
        error = (expected * (1 - expected) / 20_000) ** 0.5
        assert abs(counts[holds].sum() / 20_000 - expected) < 4.5 * error


@pytest.mark.parametrize(("game", "field"), [("bestia", "threshold:0.6"), ("beast", "threshold")])
def test_read_worlds_are_like_the_deals_that_came_to_these_bids(game: str, field: str) -> None:
    """Trumps that each of the others holds, and aces that he had put away, over many deals."""
    policy, rng = parse_policy(field, game, 4), Random(3)
    differences = []
    while len(differences) < 150:
        deck = rng.sample(range(GAMES[game].pack.size), GAMES[game].pack.size)
        table = Table(Session(game, 4, {}, 3, 0, [deck], [deck]))
        while table.turn >= 0 and table.phase != "TRICKS":
            table.act(by_policy(table, policy))
        if table.turn < 0:
            continue
        view = table.view(table.turn)
        worlds, num_read = draw_read_worlds(view, 10, len(differences), policy)
        if num_read > 0:
            read = np.mean([described(world) for world in worlds[:num_read]], axis=0)
            differences.append(described(table.states[0]) - read)
    differences = np.array(differences)
    errors = differences.std(axis=0, ddof=1) / len(differences) ** 0.5
    assert (abs(differences.mean(axis=0)) <= 4 * errors).all()


def described(s: np.record) -> np.ndarray:
    ranks = s.pack.size // 4
    trumps = ((1 << ranks) - 1) << int(s.trump) * ranks
    aces = sum(1 << ranks * suit + ranks - 1 for suit in range(4))
    away = [int(s.discard)] if "discard" in s.dtype.names else s.thrown[:4].tolist()
    held = [int(cards) for cards in s.hands[:4]]
    return np.array(
        [len(members(cards & trumps)) for cards in [*held, *away]]
        + [len(members(cards & aces)) for cards in away],
        float,
    )


# What is not read.


@pytest.mark.parametrize(("game", "n"), [("beast", 5), ("bestia", 4)])
def test_nothing_but_the_view_tells(game: str, n: int) -> None:
    """The view that a read world gives, whatever it hides, leads to the same worlds."""
    rng = Random(n)
    for number in range(10):
        policy = parse_policy(CLEAR[game][number % 3], game, n)
        table = moment(rng, game, n, policy, 0.8)
        view, other = table.view(table.turn), table.view(table.turn)
        worlds, num_read = draw_read_worlds(view, 20, number, policy)
        look(worlds, rng.randrange(20), table.turn, other, 0)
        again = draw_read_worlds(other, 20, number, policy)
        assert again[0].tobytes() == worlds.tobytes() and again[1] == num_read


def test_own_bids_and_a_blind_take_are_not_read() -> None:
    """The doctor never knocks, nor does the cautious ever take."""
    deck = Random(2).sample(range(40), 40)
    table = Table(Session("bestia", 3, {}, 2, 0, [deck], [deck]))
    for action in (bestia.KNOCK, bestia.PASS, bestia.PASS):
        table.act(action)
    table.act(bestia.EXCHANGE)
    table.act(bestia.EXCHANGE)
    assert draw_read_worlds(table.view(0), 30, 0, parse_policy("doctor", "bestia", 3))[1] == 30
    deck = list(range(52))
    table = Table(Session("beast", 4, {}, 3, 0, [deck], [deck]))
    cautious = parse_policy("cautious", "beast", 4)
    table.act(beast.TAKE)
    table.act(by_policy(table, cautious))
    table.act(beast.PLAY)
    assert draw_read_worlds(table.view(0), 30, 0, cautious)[1] == 30


def test_a_bid_that_the_field_never_makes_counts_for_nothing_and_the_rest_is_read() -> None:
    """It never asks for new cards, whatever it holds; but it knocks on two trumps only."""
    deck = Random(4).sample(range(40), 40)
    table = Table(Session("bestia", 4, {}, 3, 0, [deck], [deck]))
    for action in (bestia.KNOCK, *[bestia.PASS] * 3, bestia.EXCHANGE):
        table.act(action)
    rule = parse_policy("knock if trumps >= 2", "bestia", 4)
    worlds, num_read = draw_read_worlds(table.view(2), 50, 0, rule)
    assert num_read == 0
    trumps = ((1 << 10) - 1) << table.read("trump") * 10
    assert all(len(members(int(w.hands[0]) & trumps)) >= 2 for w in worlds)
    assert all(len(members(int(w.thrown[1]) & trumps)) <= 1 for w in worlds)
