"""Players that search: right where the answer is known, honest, and the same in any batch."""

import pickle
from random import Random

import numpy as np
import pytest

from agents.baselines.dispatch import baselines
from agents.matches import act_turns, choose, turn_views
from agents.policies import Policy, parse_baseline, parse_policy
from agents.search.cheat import Cheat
from agents.search.hearing import draw_heard_worlds
from agents.search.leaves import MOST_SOLVED, Field
from agents.search.pimc import Pimc, make_room
from agents.solve.search import make_room as solver_room
from agents.solve.values import solve
from agents.worlds import draw_worlds
from bestia_env.engine import new_states, start_stacked_session
from bestia_env.games import GAMES
from bestia_env.rules import beast, bestia
from bestia_env.rules.dispatch import legal
from tests.agents.test_reading import num_missed
from tests.agents.test_worlds import cards_at, hidden_places, late_table, possible_deals, surprise
from tests.sessions import EVERY, Table, members, random_session, walk

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

SPECS = ("pimc:worlds=3,rounds=2", "ismcts:iterations=20", "cheat")
HONEST = SPECS[:2]  # the others need the state


def generators(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**63, size=count).astype(np.uint64)


def moments(game: str, n: int, count: int, reduced: bool = False) -> list[Table]:
    """Tables at which somebody is to act, under any rules."""
    rng, found = Random(str((game, n))), []
    while len(found) < count:
        table = Table(random_session(rng, game, n, num_hands=1, reduced=reduced))
        stop = rng.randrange(3 * n)
        for k, _ in enumerate(walk(table, rng)):
            if k == stop and table.turn >= 0:
                found.append(table)
                break
    return found


def searcher(policy: Policy) -> Pimc:
    assert isinstance(policy.chooser, Pimc)
    return policy.chooser


@pytest.mark.parametrize(("game", "n", "reduced"), EVERY)
def test_whole_hands_are_played_legally_under_any_rules(game: str, n: int, reduced: bool) -> None:
    for spec in SPECS:
        policy = parse_policy(spec, game, n)
        states = np.concatenate([table.states for table in moments(game, n, 12, reduced)])
        while (states["turn"] >= 0).any():
            going = np.flatnonzero(states["turn"] >= 0)
            actions = choose(policy, states[going], generators(going.size))
            act_turns(states, going, actions)
        assert (states["gains"].sum(axis=1) + states["pot"] == states["carried"]).all()


@pytest.mark.parametrize(
    ("game", "n", "reduced"),
    [
        *[("beast", 4, False), ("bestia", 3, False), ("bestia", 8, False)],
        *[("beast", 2, True), ("beast", 5, True), ("bestia", 2, True), ("bestia", 7, True)],
    ],
)
@pytest.mark.parametrize("spec", HONEST)
def test_what_is_hidden_does_not_matter(game: str, n: int, reduced: bool, spec: str) -> None:
    policy = parse_policy(spec, game, n)
    for table in moments(game, n, 15, reduced):
        worlds = np.concatenate([table.states, draw_worlds(table.view(table.turn), 5, 1)])
        actions = choose(policy, worlds, np.full(6, 7, np.uint64))
        assert len(set(actions.tolist())) == 1


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("spec", SPECS)
def test_choices_do_not_depend_on_the_batch(game: str, spec: str) -> None:
    policy = pickle.loads(pickle.dumps(parse_policy(spec, game, 4)))
    states = np.concatenate([table.states for table in moments(game, 4, 20)])
    chances = generators(states.size)
    together, alone = chances.copy(), chances.copy()
    actions = choose(policy, states, together)
    for i in reversed(range(states.size)):
        assert choose(policy, states[i : i + 1], alone[i : i + 1])[0] == actions[i]
    assert (together == alone).all()
    if policy.spec != "cheat":
        views = turn_views(states, np.arange(states.size))
        assert (choose(policy, views, chances.copy()) == actions).all()


@pytest.mark.parametrize(("game", "n"), [("bestia", 4), ("beast", 4)])
@pytest.mark.parametrize(("leaf", "against"), [("maxn", "each"), ("coalition", "all")])
def test_cards_are_worth_what_they_are_in_worlds_solved_one_by_one(
    game: str, n: int, leaf: str, against: str
) -> None:
    spec = f"pimc:worlds=300,rounds=1,leaf={leaf},read=off,margin=0"
    policy, room, clear = parse_policy(spec, game, n), solver_room(game, n, 10), 0
    for table in moments(game, n, 120):
        if table.phase != "TRICKS" or len(table.legal()) == 1 or num_held(table) > MOST_SOLVED:
            continue
        view, column = table.view(table.turn), table.turn if against == "each" else 0
        worlds = draw_worlds(view, 100, 1)
        solved = [solve(worlds[i : i + 1], table.turn, against, room).values for i in range(100)]
        values = np.array([[each[column] for each in one.values()] for one in solved])
        found = searcher(policy).worths(view, generators(1))
        assert list(found) == table.legal()
        means, errors = values.mean(axis=0), values.std(axis=0) / 10
        for estimate, mean, error in zip(found.values(), means, errors, strict=True):
            spread = np.hypot(estimate.half_width / 1.96, error)
            assert abs(estimate.mean - mean) < 4.5 * spread + 1e-9
        order = np.argsort(means)
        if means[order[-1]] - means[order[-2]] > 6 * errors.max():
            clear += 1
            assert choose(policy, table.states, generators(1))[0] == table.legal()[order[-1]]
    assert clear


def num_held(table: Table) -> int:
    return sum(len(members(cards)) for cards in table.read("hands"))


@pytest.mark.parametrize(("game", "n", "most"), [("bestia", 3, 300), ("beast", 4, 1_000)])
def test_worlds_are_as_likely_as_bids_make_them(game: str, n: int, most: int) -> None:
    rng, ratio = Random(game), 0.25
    policy = parse_baseline({"bestia": "threshold:0.4", "beast": "bold"}[game], game)
    unlike = 0
    while unlike < 2:
        table = late_table(rng, game, n, {}, most)
        places, room = hidden_places(table), make_room(game, n, 4_000, 1)
        deals, worlds = possible_deals(table, places), np.zeros(4_000, table.states.dtype)
        room.asker[0] = table.view(table.turn)[0]
        count = draw_heard_worlds(room.asker, worlds, room, ratio, Field.of(policy), generators(1))
        missed = [num_missed(table, world_of(table, places, deal)[0], policy) for deal in deals]
        unlike += len(set(missed)) > 1
        chances = ratio ** np.array(missed, float)
        place = {deal: k for k, deal in enumerate(deals)}
        drawn = [place[tuple(cards)] for cards in cards_at(worlds[:count], places).tolist()]
        counts = np.bincount(drawn, minlength=len(deals))
        assert surprise(counts, chances / chances.sum()) < 5
        assert count == 4_000 or ratio ** max(missed) < 0.1


def world_of(table: Table, places: list, deal: tuple) -> np.ndarray:
    world = table.states.copy()
    for (name, i), cards in zip(places, deal):
        world[name][0, i] = cards
    return world


def dealt(game: str, cards: list[int], up: int, actions: list[int]) -> np.ndarray:
    """Four seats, the last deals; the eldest is dealt these cards, and has spoken if it is so."""
    size = GAMES[game].pack.size
    rest = [card for card in range(size) if card not in cards and card != up]
    order = [up, *cards, *rest] if game == "bestia" else [*cards, *rest]
    if game == "beast":
        order.insert(20, up)
    states = new_states(game, 4)
    order_ = np.array(order, np.int8)
    start_stacked_session(states, 0, np.uint64(0), 3, 0, order_, np.arange(size, dtype=np.int8))
    for action in actions:
        act_turns(states, np.zeros(1, np.int64), np.array([action]))
    return states


@pytest.mark.parametrize("spec", ["pimc:margin=0", "pimc:bids=maxn", "ismcts"])
def test_bids_that_are_clear_are_found(spec: str) -> None:
    certain, hopeless = [39, 38, 37], [0, 11, 21]  # the top of spades; low cards of other suits
    policy = parse_policy(spec, "bestia", 4)
    assert choose(policy, dealt("bestia", certain, 30, []), generators(1))[0] == bestia.KNOCK
    assert choose(policy, dealt("bestia", hopeless, 30, []), generators(1))[0] == bestia.PASS
    policy = parse_policy(spec, "beast", 4)
    low = dealt("beast", [0, 1, 13, 14, 26], 40, [beast.LEAVE])
    assert choose(policy, low, generators(1))[0] == beast.PASS
    high = dealt("beast", [49, 48, 47, 12, 25], 40, [beast.LEAVE])
    assert choose(policy, high, generators(1))[0] == beast.PLAY


def test_bids_by_habit_are_those_of_the_baseline() -> None:
    for game in GAMES:
        tables = [table for table in moments(game, 4, 40) if table.phase not in ("TRICKS",)]
        states = np.concatenate([table.states for table in tables])
        for name in [baseline.name for baseline in baselines(game)][1:]:
            bidder = parse_policy(f"pimc:worlds=2,bids={name}", game, 4)
            expected = choose(parse_policy(name, game, 4), states, generators(states.size))
            assert (choose(bidder, states, generators(states.size)) == expected).all()


def test_worths_have_intervals_that_narrow() -> None:
    states = dealt("bestia", [39, 5, 17], 30, [])
    view = turn_views(states, np.zeros(1, np.int64))
    few, many = (
        searcher(parse_policy(f"pimc:worlds={count},rounds=2,bids=sound", "bestia", 4)).worths(
            view, generators(1)
        )
        for count in (50, 800)
    )
    assert list(few) == list(many) == [bestia.PASS, bestia.KNOCK]
    for action, estimate in many.items():
        assert estimate.num_deals == 1600
        assert 0 < estimate.half_width < few[action].half_width / 2


def test_the_cheat_is_told_apart_and_takes_no_view() -> None:
    for game in GAMES:
        policy = parse_policy("cheat", game, 4)
        assert isinstance(policy.chooser, Cheat)
        table = moments(game, 4, 1)[0]
        with pytest.raises(ValueError, match="cheat sees all cards"):
            policy.act(table.view(table.turn), legal(table.states[0]), generators(1))
        with pytest.raises(ValueError, match="cheat sees all cards"):
            policy.probabilities(table.view(table.turn), legal(table.states[0]))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:", "an option of pimc is KEY=VALUE, not ''"),
        ("pimc:worlds", "an option of pimc is KEY=VALUE, not 'worlds'"),
        ("pimc:words=4", "pimc has no option 'words': choose among worlds, rounds, leaf, bids"),
        ("pimc:worlds=4,worlds=5", "worlds is given twice"),
        ("pimc:worlds=0", "worlds must be a whole number from 1 to 10000, not '0'"),
        ("pimc:worlds=1e3", "worlds must be a whole number from 1 to 10000, not '1e3'"),
        (f"pimc:worlds={'9' * 5000}", "worlds must be a whole number from 1 to 10000, not '99"),
        ("pimc:leaf=best", "leaf must be one of rollout, maxn, coalition, not 'best'"),
        ("pimc:bids=loud", "bids must be one of rollout, maxn, coalition, random, .*not 'loud'"),
        ("pimc:read=threshold:7", "read must be one of off, random, .*not 'threshold:7'"),
        ("pimc:doubt=nan", "doubt must be a number from 0 to 0.5, not 'nan'"),
        ("pimc:margin=-1", "margin must be a number from 0 to 1, not '-1'"),
        ("ismcts:worlds=40", "ismcts has no option 'worlds': choose among iterations"),
        ("cheat:leaf=rollout", "leaf must be one of maxn, coalition, not 'rollout'"),
    ],
)
def test_options_that_cannot_be_are_errors_that_say_what_can(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"policy '{spec}': {message}"):
        parse_policy(spec, "bestia", 4)


def test_families_are_listed_where_a_policy_is_unknown() -> None:
    with pytest.raises(ValueError, match="unknown policy") as caught:
        parse_policy("nobody", "beast", 4)
    for name in (spec.partition(":")[0] for spec in SPECS):
        assert name in str(caught.value)
        assert parse_policy(name, "beast", 5).num_players == 5
