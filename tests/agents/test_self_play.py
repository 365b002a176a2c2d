import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.arena import one_against_field
from agents.bidding.machine import is_bid
from agents.company import PAST, Company
from agents.matches import choose, turn_views
from agents.policies import CHOOSER, NETWORK, Policy, default_specs, parse_policy
from agents.self_play import LAST, LEARNER, Decisions, SelfPlay, _share, advantages
from bestia_env import engine
from bestia_env.bits import lowest, size
from bestia_env.cards import FRENCH, ITALIAN
from bestia_env.engine import new_states
from bestia_env.games import game_named
from bestia_env.rng import seed_sequence_keys, stream
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import equity
from bestia_env.suits import relabel, relabelling, suit_order
from tests.agents.test_networks import random_network

GAMES = ("beast", "bestia")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("sort_suits", [True, False])
def test_hands_replayed_one_by_one_show_the_same(game, sort_suits):
    network = random_network(game, sort_suits=sort_suits)
    table = SelfPlay(game, 4, sort_suits=sort_suits, pots={1: 1, 8: 1}, seed=5)
    decisions, hands = table.play(network, 400)
    labels = relabelling(game, 4, sort_suits)
    row, pots = 0, set()
    observations = decisions.observations.dense(table.num_inputs)
    seen = decisions.seen.dense(table.num_inputs + table.num_others)
    np.testing.assert_array_equal(seen[:, : table.num_inputs], observations)
    for hand in range(hands):
        row = replay(game, labels, decisions, seen, row, hand, pots)
    assert row == decisions.num_rows >= 400
    assert len(pots) == 2


def replay(game, labels, decisions: Decisions, all_seen, row: int, hand: int, pots: set) -> int:
    """Play a hand by its recorded decisions; returns the row after its last."""
    states = new_states(game, 4)
    key = stream(seed_sequence_keys(5, 2)[0], hand)
    opening = int(start(states, key, 0))
    seen, mask = np.empty(table_size(labels), np.float32), np.empty(actions(labels), np.int8)
    shown, allowed = np.empty_like(seen), np.empty_like(mask)
    size, pot_log = table_size(labels), all_seen[row, : table_size(labels)]
    for carried in {0, *carried_pots(game)}:  # the pot is drawn: find it by what the seat saw
        start(states, key, carried)
        forced(states)
        engine.observe(states, 0, states[0].turn, labels.at, seen, mask)
        relabel(labels, suit_order(labels, seen), seen, mask, shown, allowed)
        if (shown == pot_log).all():
            break
    pot, first, last = int(start(states, key, carried)), row, {}
    pots.add(pot // opening)
    while forced(states):
        seat = int(states[0].turn)
        engine.observe(states, 0, seat, labels.at, seen, mask)
        order = suit_order(labels, seen)
        relabel(labels, order, seen, mask, shown, allowed)
        np.testing.assert_array_equal(all_seen[row, :size], shown)
        np.testing.assert_array_equal(all_seen[row, size:], others(game, states, labels, order))
        np.testing.assert_array_equal(masks(decisions.legal[row], len(allowed)), allowed)
        assert decisions.seats[row] == seat
        if seat in last:
            assert decisions.following[last[seat]] == row
        last[seat] = row
        engine.act(states, 0, int(labels.original[order, decisions.actions[row]]))
        row += 1
    assert all(decisions.following[place] == LAST for place in last.values())
    expected = [equity(states[0], seat) / pot for seat in decisions.seats[first:row]]
    np.testing.assert_allclose(decisions.returns[first:row], expected, rtol=1e-6)
    return row


def table_size(labels) -> int:
    return labels.observation.shape[1]


def actions(labels) -> int:
    return labels.action.shape[1]


def start(states, key, carried) -> int:
    engine.start_sessions(states, np.array([key], np.uint64), -1, carried)
    return states[0].pot


def carried_pots(game):
    from agents.duplicate import Table

    return [Table(game, 4, None, 8).carried]


def forced(states) -> bool:
    """Carry out what leaves no choice; is there a choice now?"""
    while states[0].turn >= 0 and size(legal(states[0])) == 1:
        engine.act(states, 0, lowest(legal(states[0])))
    return states[0].turn >= 0


def masks(legal, num_actions) -> np.ndarray:
    """Sets of actions as (..., A) bool."""
    return legal[..., None] >> np.arange(num_actions, dtype=np.uint64) & np.uint64(1) > 0


def others(game, states, labels, order) -> np.ndarray:
    seat = int(states[0].turn)
    pack = FRENCH if game == "beast" else ITALIAN
    expected = np.zeros((3, pack.size), np.int8)
    for place in range(3):
        held = int(states[0].hands[(seat + 1 + place) % 4])
        for card in range(pack.size):
            expected[place, labels.action[order, card]] = held >> card & 1
    return expected.ravel()


@pytest.mark.parametrize("game", GAMES)
def test_log_probs_are_those_of_the_network(game):
    network = random_network(game)
    decisions, _ = SelfPlay(game, 4, seed=1).play(network, 500)
    observations = decisions.observations.dense(network.num_inputs)
    legal = masks(decisions.legal, network.num_actions)
    chances = network.probabilities(observations, legal)  # sorted already: no change
    chosen = chances[np.arange(decisions.num_rows), decisions.actions]
    np.testing.assert_allclose(decisions.log_probs, np.log(chosen), atol=1e-5)


def test_a_hand_depends_on_its_number_alone():
    network = random_network("bestia")
    table = SelfPlay("bestia", 4, company=company("random", PAST), seed=2)
    past = [random_network("bestia", seed=7).packed.parameters]
    whole, end = table.play(network, 300, 0, past)
    first, middle = table.play(network, 100, 0, past)
    second, then = table.play(network, 300 - first.num_rows, middle, past)
    assert then == end
    width = table.num_inputs + table.num_others
    played = [
        each._replace(observations=each.observations.dense(width), seen=each.seen.dense(width))
        for each in (whole, first, second)
    ]
    for name, parts in zip(Decisions._fields, zip(*played)):
        if name == "following":
            parts = parts[0], parts[1], np.where(parts[2] == LAST, LAST, parts[2] + first.num_rows)
        np.testing.assert_array_equal(parts[0], np.concatenate(parts[1:]))


def company(*opponents, alone=0.5, joined=0.3) -> Company:
    return Company(alone, joined, dict.fromkeys(opponents, 1.0))


def test_company_comes_as_often_as_was_asked():
    table = SelfPlay("bestia", 4, company=company("doctor", "tight", PAST), seed=3)
    network = random_network("bestia", (4,))
    decisions, hands = table.play(network, 30_000, 0, [network.packed.parameters] * 2)
    # The first decision of a hand shows who sat there; hands without any are left out.
    seats = {field: set() for field in range(5)}
    for field, seat in zip(decisions.fields, decisions.seats):
        seats[int(field)].add(int(seat))
    assert all(found == {0, 1, 2, 3} for found in seats.values())
    ends = decisions.following == LAST
    counts = np.bincount(decisions.fields[ends], minlength=5) / hands
    # Learners a hand: alone 1, joined 3; a few never have a choice.
    for field, share in enumerate((0.2 * 4, 0.8 / 3, 0.8 / 3, 0.8 / 6, 0.8 / 6)):
        mean = share if field == LEARNER else share * (0.5 * 1 + 0.3 * 3) / 0.8
        assert 0.85 * mean < counts[field] <= 1.05 * mean


@pytest.mark.parametrize("game", GAMES)
def test_who_shares_gets_the_mean_of_what_the_seats_win(game):
    network, victim = random_network(game, (8,)), f"net:{game}-4"
    own, shared = (
        SelfPlay(game, 4, company=Company(0, 1, {victim: 1.0}, share), pots=[1, 8], seed=6).play(
            network, 4000
        )[0]
        for share in (False, True)
    )
    np.testing.assert_array_equal(own.actions, shared.actions)
    hands = np.cumsum(starts(own))
    whole = 0
    for hand in range(1, hands[-1] + 1):
        rows = np.flatnonzero(hands == hand)
        assert len({*shared.returns[rows]}) == 1
        by_seat = dict(zip(own.seats[rows], own.returns[rows]))
        if len(by_seat) == 3:  # else a seat never had a choice
            whole += 1
            np.testing.assert_allclose(
                shared.returns[rows[0]], np.mean([*by_seat.values()]), atol=1e-6
            )
    assert whole > 100
    assert np.ptp(shared.returns) > 0.1


@given(st.sampled_from(GAMES), st.integers(0, 2**64 - 1), st.sets(st.integers(0, 3), min_size=1))
def test_what_is_shared_is_what_the_others_lose(game, key, learners):
    states, rng = new_states(game, 4), np.array([key], np.uint64)
    engine.start_sessions(states, rng, -1, 0)
    while engine.act(states, 0, engine.random_legal(states[0], rng)) != engine.HAND_SETTLED:
        pass
    seated = np.array([LEARNER if seat in learners else 1 for seat in range(4)])
    lost = -sum(equity(states[0], seat) for seat in range(4) if seat not in learners)
    assert _share(states[0], seated) == pytest.approx(lost / len(learners), abs=1e-9)


@pytest.mark.parametrize(("game", "spec"), [("beast", "threshold"), ("bestia", "sound")])
def test_somebody_may_play_the_cards_while_it_bids(game, spec):
    network, cards = random_network(game, (8,)), parse_policy(spec, game, 4)
    table = SelfPlay(game, 4, company=Company(cards=spec), seed=5)
    decisions, hands = table.play(network, 300)
    assert (decisions.fields == LEARNER).all()
    row, key = 0, seed_sequence_keys(5, 2)[0]
    for hand in range(hands):
        states, seats, first = new_states(game, 4), [], row
        pot = start(states, stream(key, hand), 0)
        while forced(states):
            if is_bid(states[0]):
                seats.append(int(states[0].turn))
                engine.act(states, 0, int(decisions.actions[row]))  # no bid is of a suit
                row += 1
            else:
                engine.act(states, 0, int(choose(cards, states, np.zeros(1, np.uint64))[0]))
        assert decisions.seats[first:row].tolist() == seats
        expected = [equity(states[0], seat) / pot for seat in seats]
        np.testing.assert_allclose(decisions.returns[first:row], expected, rtol=1e-6)
    assert row == decisions.num_rows


@pytest.mark.parametrize("spec", ["knock if trumps >= 2", "bids:bestia-4"])
def test_who_only_bids_plays_no_cards(spec):
    with pytest.raises(ValueError, match="cards must be played by a baseline or a network"):
        SelfPlay("bestia", 4, company=Company(cards=spec))


def test_without_past_selves_the_learner_sits_in_their_stead():
    table = SelfPlay("beast", 4, company=company(PAST, alone=1, joined=0), seed=3)
    decisions, _ = table.play(random_network("beast"), 200)
    assert (decisions.fields == LEARNER).all()


def test_past_selves_may_be_many():
    network = random_network("bestia", (4,))
    table = SelfPlay("bestia", 4, company=company(PAST, alone=1, joined=0), seed=1)
    decisions, _ = table.play(network, 3000, 0, [network.packed.parameters] * 300)
    assert 1 <= decisions.fields.min() and 250 < decisions.fields.max() <= 300


@pytest.mark.parametrize("game", GAMES)
def test_it_meets_the_opponents_that_the_arena_meets(game):
    network = random_network(game, (8,))
    rule = {"beast": "play if trumps >= 2", "bestia": "knock if trumps >= 2"}[game]
    for spec in (*default_specs(game)[:3], f"net:{game}-4", rule):
        table = SelfPlay(game, 4, company=company(spec, alone=1, joined=0), seed=4)
        decisions, hands = table.play(network, 20_000)
        ends = decisions.returns[decisions.following == LAST]
        assert len(ends) > 0.995 * hands  # hardly anybody never has a choice
        learner = Policy("net", game, NETWORK, network=network)
        found = one_against_field(learner, parse_policy(spec, game, 4), 2000, 9)
        error = 3 * (ends.std() / len(ends) ** 0.5 + found.half_width / 1.96)
        assert abs(ends.mean() - found.mean) < error


class Asked:
    """Answers outside the kernel as a policy does."""

    num_players, draws = None, 1

    def __init__(self, policy: Policy, bids_only: bool) -> None:
        self.policy, self.bids_only = policy, bids_only

    def act_batch(self, states, hands, chances):
        views, sets = turn_views(states, hands), [int(legal(states[i])) for i in hands]
        return [
            self.policy.act(views[k : k + 1], sets[k], chances[k : k + 1])
            for k in range(hands.size)
        ]


@pytest.mark.parametrize("bids_only", [True, False])
@pytest.mark.parametrize("spec", ["threshold:0.5", "random"])
@pytest.mark.parametrize("game", GAMES)
def test_who_is_asked_outside_plays_the_same_hands(game, spec, bids_only):
    network, who = random_network(game, (8,)), company(spec, PAST, alone=0.6, joined=0.3)
    tables = [SelfPlay(game, 4, company=who, pots=[1, 8], seed=7) for _ in range(2)]
    (policy,) = tables[1].opponents
    kind = policy.kind if bids_only else CHOOSER
    asked = dataclasses.replace(policy, chooser=Asked(policy, bids_only), kind=kind)
    tables[1].opponents[0] = asked
    past = [random_network(game, (8,), seed=3).packed.parameters]
    outside, end = tables[1].play(network, 1, 0, past)
    inside, then = tables[0].play(network, outside.num_rows, 0, past)
    assert then == end == 512 and outside.num_rows == inside.num_rows
    found = []
    for each in (inside, outside):
        lasting = advantages(each.log_probs, each, 0.5)  # by which decision follows which
        columns = lasting, each.log_probs, each.returns, each.actions, each.seats, each.fields
        sums = each.seen.dense(tables[0].num_inputs + tables[0].num_others).sum(1)
        rows = np.column_stack([*columns, sums])
        found.append(rows[np.lexsort(rows.T)])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("game", "num_players"), [("bestia", 10), ("beast", 4)])
def test_a_network_of_another_table_is_refused(game, num_players):
    with pytest.raises(ValueError, match=f"with 4 players, not {game} with {num_players}"):
        SelfPlay(game, num_players).play(random_network("bestia"), 10)


def test_advantages_follow_the_seats_own_decisions():
    decisions, _ = SelfPlay("beast", 4, seed=6).play(random_network("beast"), 300)
    values = np.random.default_rng(0).normal(size=decisions.num_rows).astype(np.float32)
    lam = 0.9
    expected = np.zeros(decisions.num_rows)
    for row in range(decisions.num_rows):
        chain = [row]
        while decisions.following[chain[-1]] != LAST:
            chain.append(int(decisions.following[chain[-1]]))
        after = [*values[chain[1:]], decisions.returns[row]]
        errors = [then - now for now, then in zip(values[chain], after)]
        expected[row] = sum(lam**k * error for k, error in enumerate(errors))
    np.testing.assert_allclose(advantages(values, decisions, lam), expected, atol=1e-5)
    np.testing.assert_allclose(
        advantages(values, decisions, 1), decisions.returns - values, atol=1e-5
    )


@pytest.mark.parametrize(
    ("game", "num_players"),
    [*itertools.product(["beast"], range(4, 7)), *itertools.product(["bestia"], range(3, 11))],
)
def test_all_tables_and_rules_that_make_long_hands_fit(game, num_players):
    options = {"maxims": "penalty"} if game == "bestia" else {"revoke": "penalty"}
    rules = game_named(game).make_rules(None, options)
    network = random_network(game, (4,), num_players=num_players)
    decisions, hands = SelfPlay(game, num_players, rules=rules, seed=0).play(network, 500)
    assert hands > 1
    per_hand = np.bincount(np.cumsum(starts(decisions)))
    assert per_hand.max() < 16 * num_players


def starts(decisions) -> np.ndarray:
    """A hand begins where no decision before it has one that follows it here or later."""
    reach = np.maximum.accumulate(np.maximum(decisions.following, np.arange(decisions.num_rows)))
    return np.concatenate([[True], reach[:-1] < np.arange(1, decisions.num_rows)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 0, {"random": 1}), "alone must be from 0 to 1, not 1.5"),
        ((0, float("nan"), {}), "joined must be from 0 to 1, not nan"),
        (("a", 0, {"random": 1}), "alone must be from 0 to 1, not 'a'"),
        ((0.5, 0, {"random": "a"}), "the weight of 'random' must be a number from 0, not 'a'"),
        ((0.6, 0.6, {}), r"alone and joined must be at most 1 together, not 0.6 \+ 0.6"),
        ((0.5, 0, {"random": -1}), "the weight of 'random' must be a number from 0, not -1"),
        ((0.5, 0, {"random": 0}), "the weights must have a sum above 0"),
        ((0.5, 0, {}), "the weights must have a sum above 0"),
        ((0.5, 0, {"wizard": 1}), "unknown policy 'wizard'"),
        ((0.5, 0, {"net:x.safetensors": 1}), "there is no file x.safetensors"),
        ((0.5, 0, {"net:bestia-5": 1}), "plays bestia with 5 players, not 4"),
        ((0.5, 0, {"net:beast-4": 1}), "plays beast, not bestia"),
        ((0.5, 0, {"knock if trumpets": 1}), "trumpets"),
        ((0.5, 0, {"random": 1}, "yes"), "shared must be True or False, not 'yes'"),
    ],
)
def test_bad_company_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelfPlay("bestia", 4, company=Company(*arguments))
