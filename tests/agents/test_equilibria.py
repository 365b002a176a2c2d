"""Trees, best responses and equilibria, judged by OpenSpiel and by a walk through the rules."""

import dataclasses
import hashlib
import io
import itertools
import json
import pickle

import numpy as np
import pyspiel
import pytest

from agents.arena import one_against_field
from agents.equilibria import solutions
from agents.equilibria.best_response import best_response, exploitability
from agents.equilibria.cfr import Solver, solve
from agents.equilibria.growth import find_sets, grow, opening
from agents.equilibria.openspiel import read_game, states_of, write_efg, write_policy
from agents.equilibria.player import TablePlayer
from agents.equilibria.seating import normal_form, retold
from agents.equilibria.solutions import SOLUTIONS, behaviour, certify, load, names, quantised
from agents.equilibria.tables import measure, policy_table
from agents.equilibria.tree import CHANCE, NONE, TERMINAL, Tree
from agents.matches import play, score_seats
from agents.policies import parse_baseline, parse_policy
from bestia_env import engine
from bestia_env.games import GAMES
from bestia_env.reductions import reduction_named

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

TINY = ("beast2-tiny", "beast3-tiny", "bestia2-tiny", "bestia3-tiny")
SMALL = (*TINY, "beast2-small", "bestia2-small", "bestia3-small")
FAST_NODES = 60_000
tiny = pytest.mark.parametrize("name", TINY)


def tree_of(name):
    return solutions.tree_of(reduction_named(name))


def random_behaviour(tree, seed):
    """Some actions are never taken, so that much is never reached."""
    table = np.random.default_rng(seed).exponential(size=tree.num_slots)
    table[table < 0.4] = 0
    table[tree.first_slot[:-1]] += 1e-3
    return table / np.add.reduceat(table, tree.first_slot[:-1])[tree.slot_set]


def judged_by_openspiel(tree, table):
    """NashConv of a behaviour in the tree as OpenSpiel reads it."""
    game = pyspiel.load_efg_game(write_efg(tree, "reduction"))
    policy = write_policy(tree, table, states_of(game))
    return pyspiel.nash_conv(game, pyspiel.TabularPolicy(policy))


# Games of OpenSpiel.


@pytest.mark.parametrize("name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
def test_exploitability_is_that_of_openspiel(name):
    game = pyspiel.load_game(name)
    tree = read_game(game)
    policy = pyspiel.UniformRandomPolicy(game)
    ours = exploitability(tree, tree.uniform())
    assert ours.nash_conv == pytest.approx(pyspiel.nash_conv(game, policy), abs=1e-9)
    assert sum(ours.values) == pytest.approx(0, abs=1e-12)


def test_kuhn_poker_is_solved():
    tree = read_game(pyspiel.load_game("kuhn_poker"))
    for options in ({}, {"predictive": True}, {"predictive": True, "power": 4}):
        table, history = solve(Solver(tree, **options), aim=1e-4, seconds=20)
        found = exploitability(tree, table)
        assert found.nash_conv <= 1e-4
        assert found.nash_conv == min(measured.nash_conv for measured in history)
        assert found.values[0] == pytest.approx(-1 / 18, abs=1e-4)


# Trees of the rules.


def walked(states):
    """What uniformly random actions give every seat, by nothing but the rules and patience."""
    if states[0].turn < 0:
        rewards = np.empty(int(states[0].num_players))
        engine.write_rewards(states, 0, True, rewards)
        return rewards
    legal = int(engine.legal_actions(states, 0))
    values = []
    for action in range(legal.bit_length()):
        if legal >> action & 1:
            after = states.copy()
            engine.act(after, 0, action)
            values.append(walked(after))
    return np.mean(values, axis=0)


@pytest.mark.parametrize("name", [*TINY, "bestia2-small"])
def test_values_are_those_of_all_orders_of_the_pack(name):
    reduction, grown = reduction_named(name), tree_of(name)
    cards = GAMES[reduction.game].cards_in_use(reduction.rules)
    orders = [np.array(order) for order in itertools.permutations(cards)]
    gathers = reduction.game == "bestia" and len(cards) == 4  # the stock of others suffices
    states, values = engine.new_states(reduction.game, reduction.num_players, reduction.rules), 0.0
    heaps = orders if gathers else orders[:1]
    for order, heap in itertools.product(orders, heaps):
        dealer = reduction.num_players - 1
        engine.start_stacked_session(states, 0, np.uint64(1), dealer, 0, order, heap)
        values += walked(states.copy()) / states[0].pot
    found = exploitability(grown.tree, grown.tree.uniform())
    assert found.values == pytest.approx(values / len(orders) / len(heaps), abs=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_a_tree_is_as_large_as_it_must_be_and_its_chances_sum_to_one(name):
    grown, reduction = tree_of(name), reduction_named(name)
    tree, s = grown.tree, grown.views[0]
    inner = np.flatnonzero(tree.player != TERMINAL)
    assert tree.num_children[inner].min() >= 2
    assert tree.num_children.sum() == tree.num_nodes - 1
    for node in np.flatnonzero(tree.player == CHANCE):
        first = tree.first_child[node]
        assert tree.chance[first : first + tree.num_children[node]].sum() == pytest.approx(1)
    assert tree.utilities.sum(axis=1) == pytest.approx(0, abs=1e-12)
    assert np.array_equal(grown.views["viewer"], tree.set_player)
    assert (grown.views["trump"] == 0).all() and s["num_players"] == reduction.num_players


def test_a_seat_that_forgets_is_refused():
    # A seat that acts twice and the second time does not know what it did.
    arrays = {
        "player": np.array([0, 0, 0, *[TERMINAL] * 4], np.int8),
        "row": np.array([0, 1, 1, 0, 1, 2, 3], np.int32),
        "first_child": np.array([1, 3, 5, 0, 0, 0, 0], np.int32),
        "num_children": np.array([2, 2, 2, 0, 0, 0, 0], np.int32),
        "chance": np.ones(7),
        "utilities": np.zeros((4, 2)),
    }
    knows = {**arrays, "row": np.array([0, 1, 2, 0, 1, 2, 3], np.int32)}
    slots = np.arange(6, dtype=np.int16)
    Tree(
        2,
        **knows,
        first_slot=np.arange(0, 7, 2),
        slot_action=slots,
        set_player=np.zeros(3, np.int8),
    )
    with pytest.raises(ValueError, match="information set 1 is reached by different own actions"):
        Tree(
            2,
            **arrays,
            first_slot=np.arange(0, 5, 2),
            slot_action=slots[:4],
            set_player=np.zeros(2, np.int8),
        )


def test_too_large_trees_are_refused():
    with pytest.raises(ValueError, match="more than 1000 nodes"):
        grow("beast", 2, reduction_named("beast2-tiny").rules, max_nodes=1000)
    with pytest.raises(ValueError, match="more than"):
        grow("beast", 4, None)


# Best responses.


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_nash_conv_of_any_behaviour_is_that_of_openspiel(name, seed):
    tree = tree_of(name).tree
    table = random_behaviour(tree, seed)
    ours = exploitability(tree, table).nash_conv
    assert ours > 0.01
    assert ours == pytest.approx(judged_by_openspiel(tree, table), abs=1e-9)


@tiny
def test_a_best_response_gains_what_it_should(name):
    tree = tree_of(name).tree
    table = random_behaviour(tree, 3)
    found = exploitability(tree, table)
    for seat in range(tree.num_players):
        answer = best_response(tree, table, seat)
        assert exploitability(tree, answer).values[seat] == pytest.approx(found.best[seat])
        others = tree.set_player[tree.slot_set] != seat
        assert np.array_equal(answer[others], table[others])


def test_what_is_no_behaviour_is_refused():
    tree = tree_of("beast2-tiny").tree
    for wrong in (tree.uniform()[1:], tree.uniform() * 0.9, np.full(tree.num_slots, np.nan)):
        with pytest.raises(ValueError, match=r"must have shape|probabilities that are none"):
            exploitability(tree, wrong)
    with pytest.raises(ValueError, match="seat must be from 0 to 1, not 2"):
        best_response(tree, tree.uniform(), 2)


# Policies.


@tiny
def test_the_random_policy_is_the_uniform_behaviour(name):
    reduction, grown = reduction_named(name), tree_of(name)
    random = parse_baseline("random", reduction.game)
    for trump in (0, 1):
        assert policy_table(random, grown, trump) == pytest.approx(grown.tree.uniform())
    expected = exploitability(grown.tree, grown.tree.uniform())
    assert measure(random, grown).best == pytest.approx(expected.best)


@pytest.mark.parametrize("name", ["beast3-small", "bestia3-small"])
def test_a_shipped_policy_is_measured_to_be_what_its_certificate_says(name):
    reduction, said = reduction_named(name), load(name).certificate
    policy = parse_policy(f"equilibrium:{name}", reduction.game, reduction.num_players)
    found = measure(policy, tree_of(name))
    assert found.nash_conv == pytest.approx(said["nash_conv"], abs=1e-12)
    assert found.best == pytest.approx(said["best_responses"], abs=1e-12)


@pytest.mark.parametrize("name", ["beast3-small", "bestia3-small"])
def test_views_of_other_tables_come_back_to_the_information_sets(name):
    reduction, grown = reduction_named(name), tree_of(name)
    start = opening(reduction.game, reduction.num_players, reduction.rules)
    count, sets = len(grown.views), np.empty(len(grown.views), np.int64)
    for turns, trump in ((0, 0), (1, 1), (2, 0)):
        elsewhere = retold(grown.views, np.full(count, turns), np.full(count, trump))
        assert (elsewhere["dealer"] == (2 + turns) % 3).all()
        elsewhere["pot"] *= 6
        elsewhere["coins"][:, 0] = 7
        find_sets(grown.index, normal_form(elsewhere, start), sets)
        assert np.array_equal(sets, np.arange(count))
    strange = grown.views.copy()
    strange["match_limit"] += 3
    find_sets(grown.index, strange, sets)
    assert (sets == NONE).all()


# What is shipped.


def sizes():
    return {name: load(name).certificate["nodes"] for name in names()}


def test_three_reductions_of_each_game_are_solved_one_of_them_for_three():
    for game in GAMES:
        certificates = [load(name).certificate for name in names() if name.startswith(game)]
        solved = [facts for facts in certificates if facts["game"] == game]
        assert len(solved) >= 3 and {facts["num_players"] for facts in solved} >= {2, 3}
        assert all(facts["nash_conv"] <= 1e-4 for facts in solved)
    assert sum(path.stat().st_size for path in SOLUTIONS.iterdir()) < 3_000_000


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if nodes > FAST_NODES else ())
        for name, nodes in sizes().items()
    ],
)
def test_every_certificate_holds(name):
    found = certify(load(name))
    assert found.nash_conv <= 1e-4
    assert min(found.gains) > -1e-12


@pytest.mark.parametrize("name", ["beast2-medium", "bestia3-small"])
def test_openspiel_confirms_a_certificate(name):
    solution, tree = load(name), tree_of(name).tree
    theirs = judged_by_openspiel(tree, solution.table(tree))
    assert theirs == pytest.approx(solution.certificate["nash_conv"], abs=1e-9)


def test_weights_keep_a_behaviour_to_five_digits():
    tree = tree_of("bestia3-small").tree
    table = random_behaviour(tree, 4)
    assert behaviour(quantised(table, tree), tree) == pytest.approx(table, abs=2e-5)


def test_broken_files_are_refused(tmp_path):
    grown, reduction = tree_of("beast2-tiny"), reduction_named("beast2-tiny")
    solutions.save(reduction, grown, grown.tree.uniform(), {}, tmp_path)
    solution = load("beast2-tiny", tmp_path)
    assert certify(solution).nash_conv > 0.1
    with pytest.raises(ValueError, match="solved for another tree"):
        solution.table(tree_of("beast2-small").tree)
    with pytest.raises(ValueError, match="no equilibrium 'poker': choose among beast2-tiny"):
        load("poker", tmp_path)
    wrong = solutions.Solution(
        reduction, solution.weights, {**solution.certificate, "nash_conv": 0}
    )
    with pytest.raises(ValueError, match="nash_conv is"):
        certify(wrong, grown)
    file = tmp_path / "beast2-tiny.npz"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="does not belong to its certificate"):
        load("beast2-tiny", tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tree_sha256": None}, "is no certificate: its tree_sha256 is None"),
        ({"nash_conv": float("nan")}, "is no certificate: its nash_conv is nan"),
        ({"values": [0.0]}, r"is no certificate: its values is \[0.0\]"),
        ({"best_responses": "xy"}, "is no certificate: its best_responses is 'xy'"),
        ({"num_players": 3}, "is no certificate: its values"),
        ({"rules": {}}, "the reduction beast2-tiny is now"),
    ],
)
def test_certificates_that_say_too_little_are_refused(changes, message, tmp_path):
    copied(tmp_path, json.loads((SOLUTIONS / "beast2-tiny.json").read_text()) | changes)
    with pytest.raises(ValueError, match=message):
        load("beast2-tiny", tmp_path)


def test_deep_certificates_are_refused(tmp_path):
    copied(tmp_path, {})
    (tmp_path / "beast2-tiny.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="is no certificate"):
        load("beast2-tiny", tmp_path)


def as_npy(weights):
    file = io.BytesIO()
    np.save(file, weights)
    return file.getvalue()


@pytest.mark.parametrize("rubbish", [b"", b"PK", as_npy(np.ones(9)), as_npy("text")])
def test_rubbish_that_is_certified_is_refused(rubbish, tmp_path):
    certificate = json.loads((SOLUTIONS / "beast2-tiny.json").read_text())
    copied(tmp_path, {**certificate, "file_sha256": hashlib.sha256(rubbish).hexdigest()})
    (tmp_path / "beast2-tiny.npz").write_bytes(rubbish)
    with pytest.raises(ValueError, match="is no equilibrium"):
        load("beast2-tiny", tmp_path)


def test_weights_must_say_something_everywhere():
    solution, tree = load("beast2-tiny"), tree_of("beast2-tiny").tree
    weights = solution.weights.copy()
    weights[tree.first_slot[3] : tree.first_slot[4]] = 0
    with pytest.raises(ValueError, match="information set 3 has no weight"):
        dataclasses.replace(solution, weights=weights).table(tree)


def copied(folder, certificate):
    """A shipped solution with another certificate."""
    name = "beast2-tiny.npz"
    (folder / name).write_bytes((SOLUTIONS / name).read_bytes())
    (folder / name).with_suffix(".json").write_text(json.dumps(certificate))


# The player.


@pytest.mark.parametrize("name", ["beast3-small", "bestia3-small"])
def test_the_player_plays_what_is_certified_whoever_deals(name):
    reduction, hands = reduction_named(name), 40_000
    n, policy = reduction.num_players, parse_policy(f"equilibrium:{name}", reduction.game, 3)
    policy = pickle.loads(pickle.dumps(policy))
    states = engine.new_states(reduction.game, n, reduction.rules, hands)
    keys = np.random.SeedSequence(5).generate_state((1 + n) * hands, np.uint64)
    engine.start_sessions(states, keys[:hands], -1, 0)
    dealers, pot = states["dealer"].astype(np.int64), int(states["pot"][0])
    play(states, [policy], np.zeros((hands, n), np.int64), keys[hands:].reshape(hands, n))
    scores = np.empty((hands, n), np.int64)
    score_seats(states, scores)
    seats = (np.arange(n) + dealers[:, None] + 1) % n
    won = np.take_along_axis(scores, seats, axis=1) / (n * pot)
    error = won.std(axis=0) / np.sqrt(hands) + 1e-9
    said = load(name).certificate["values"]
    assert (np.abs(won.mean(axis=0) - said) < 4.5 * error).all()


def test_the_player_sits_in_the_arena_at_any_pot():
    reduction = reduction_named("bestia2-medium")
    spec, random = "equilibrium:bestia2-medium", parse_policy("random", "bestia", 2)
    score = one_against_field(
        parse_policy(spec, "bestia", 2), random, 500, 1, num_players=2, rules=reduction.rules, pot=4
    )
    assert score.mean - score.half_width > 0


def test_the_player_refuses_other_tables():
    with pytest.raises(ValueError, match="plays beast with 2 players, not beast with 3"):
        parse_policy("equilibrium:beast2-small", "beast", 3)
    with pytest.raises(ValueError, match="no equilibrium 'poker'"):
        parse_policy("equilibrium:poker", "beast", 4)
    states = engine.new_states("beast", 2, reduction_named("beast2-medium").rules)
    engine.start_sessions(states, np.ones(1, np.uint64), -1, 0)
    with pytest.raises(ValueError, match="this is no such hand"):
        TablePlayer("beast2-small", 2).act_batch(
            states, np.zeros(1, np.int64), np.ones(1, np.uint64)
        )
