import itertools
from random import Random

import numpy as np
import pytest

from agents.advice import advise, worth_of_actions
from agents.matches import seed_players, tag
from agents.networks import Network
from agents.policies import NETWORK, Policy, parse_policy
from agents.reading import draw_read_worlds
from agents.worlds import draw_worlds
from bestia_env.engine import act
from bestia_env.games import GAMES
from bestia_env.observe import layout
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules import bestia
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import equity
from bestia_env.view import look
from tests.sessions import Session, Table, random_session, walk


def random_network(game: str, n: int) -> Policy:
    chances = np.random.default_rng(0)
    sizes = (layout(game, n).size, 8, GAMES[game].num_actions)
    weights = tuple(
        (chances.normal(size=(b, a)).astype(np.float32), chances.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(sizes)
    )
    return Policy("net:made-up", game, NETWORK, network=Network(game, n, weights))


def moments(game: str, n: int, count: int) -> list[tuple[np.ndarray, list[int]]]:
    """Views of seats that have a choice, with their legal actions."""
    rng, found = Random(n), []
    while len(found) < count:
        table = Table(random_session(rng, game, n, num_hands=1))
        found += [
            (table.view(table.turn), table.legal())
            for _ in walk(table, rng)
            if table.turn >= 0 and len(table.legal()) > 1 and rng.random() < 0.2
        ]
    return found[:count]


def slow_scores(
    view: np.ndarray, action: int, policy: Policy, field: Policy, worlds: np.ndarray, seed: int
) -> np.ndarray:
    """The same, one decision at a time."""
    seat, n = int(view[0].viewer), int(view[0].num_players)
    players, scores = seed_sequence_keys(seed, 2)[1], []
    for number, state in enumerate(worlds):
        states, seen = np.array([state], view.dtype), view.copy()
        sitting = [policy if i == seat else field for i in range(n)]
        rngs, tags = np.zeros((1, n), np.uint64), np.array([tag(policy), tag(field)], np.uint64)
        seed_players(rngs, np.array([[i != seat for i in range(n)]], int), tags, players, number)
        act(states, 0, action)
        while (turn := int(states[0].turn)) >= 0:
            look(states, 0, turn, seen, 0)
            choice = sitting[turn].act(seen, legal(states[0]), rngs[0, turn : turn + 1])
            act(states, 0, choice)
        scores.append(equity(states[0], seat) / int(view[0].pot))
    return np.array(scores)


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("bestia", 5)])
def test_a_worth_is_the_mean_of_hands_played_out_one_by_one(game: str, n: int) -> None:
    players = [parse_policy("random", game, n), random_network(game, n)]
    players += [parse_policy("bold", game, n)]
    for number, (view, actions) in enumerate(moments(game, n, 6)):
        policy, field = players[number % 3], players[(number + number // 3) % 3]
        arguments, read = (view, policy, 15, number, field), number % 4 > 0
        worths = worth_of_actions(*arguments, read_bids=read)
        advice = advise(*arguments, read_bids=read)
        assert list(worths) == actions
        world_seed = int(seed_sequence_keys(number, 2)[0])
        worlds, num_read = draw_worlds(view, 15, world_seed), 0
        if read:
            worlds, num_read = draw_read_worlds(view, 15, world_seed, field)
        best = slow_scores(view, advice[0].action, policy, field, worlds, number)
        for one in advice:
            scores = slow_scores(view, one.action, policy, field, worlds, number)
            assert one.worth == worths[one.action]
            assert one.num_read == num_read
            assert one.name == GAMES[game].action_name(one.action)
            for found, expected in ((one.worth, scores), (one.behind, scores - best)):
                assert found.mean == pytest.approx(expected.mean(), abs=1e-9)
                error = 1.959964 * expected.std(ddof=1) / 15**0.5
                assert found.half_width == pytest.approx(error, abs=1e-6)
                assert found.num_deals == 15
        means = [one.worth.mean for one in advice]
        assert means == sorted(means, reverse=True)


def test_what_is_certain_is_found_for_certain() -> None:
    """Three players have passed, two refuse: the dealer gets the pot alone, or it is carried."""
    deck = list(range(40))
    table = Table(Session("bestia", 3, {}, 2, 0, [deck], [deck]))
    for action in (*[bestia.PASS] * 3, *[bestia.REFUSE] * 2):
        table.act(action)
    best, other = advise(table.view(2), parse_policy("sound", "bestia", 3), 10)
    assert (best.name, other.name) == ("EXCHANGE", "REFUSE")
    assert (best.worth.mean, other.worth.mean) == (0, pytest.approx(-2 / 3))
    assert best.worth.half_width == best.behind.half_width == 0
    assert (best.behind.mean, other.behind.mean) == (0, pytest.approx(-2 / 3))


def test_a_seed_repeats_and_the_field_is_the_policy_unless_another_is_named() -> None:
    deck = list(range(40))
    view = Table(Session("bestia", 4, {}, 0, 0, [deck], [deck])).view(1)
    sound, doctor = (parse_policy(name, "bestia", 4) for name in ("sound", "doctor"))
    worths = worth_of_actions(view, sound, 60, 7)
    assert worths == worth_of_actions(view, sound, 60, 7, sound)
    assert worths != worth_of_actions(view, sound, 60, 8)
    assert worths != worth_of_actions(view, sound, 60, 7, doctor)


def test_who_bids_first_has_nothing_to_read() -> None:
    deck, sound = list(range(40)), parse_policy("sound", "bestia", 4)
    table = Table(Session("bestia", 4, {}, 3, 0, [deck], [deck]))
    first = worth_of_actions(table.view(0), sound, 60, 7)
    assert first == worth_of_actions(table.view(0), sound, 60, 7, read_bids=False)
    assert advise(table.view(0), sound, 60)[0].num_read == 60
    table.act(bestia.KNOCK)
    second = worth_of_actions(table.view(1), sound, 60, 7)
    assert second != worth_of_actions(table.view(1), sound, 60, 7, read_bids=False)


def test_a_knock_is_respected_and_one_that_nobody_makes_is_said_to_be_unread() -> None:
    """With nothing in hand against a knock from the near-certain, and then from the doctor."""
    deck = [39, *range(30, 33), 0, 10, 20, *range(1, 10), *range(11, 20), *range(21, 30)]
    deck += range(33, 39)
    table = Table(Session("bestia", 3, {}, 2, 0, [deck], [deck]))
    table.act(bestia.KNOCK)
    tight, doctor = (parse_policy(name, "bestia", 3) for name in ("tight", "doctor"))
    sound = parse_policy("sound", "bestia", 3)
    read = worth_of_actions(table.view(1), sound, 400, 0, tight)
    blind = worth_of_actions(table.view(1), sound, 400, 0, tight, read_bids=False)
    assert read[bestia.KNOCK].high < blind[bestia.KNOCK].low
    assert advise(table.view(1), sound, 40, 0, tight)[0].num_read == 40
    assert advise(table.view(1), sound, 40, 0, doctor)[0].num_read == 0


def test_bad_arguments_are_errors() -> None:
    view, _ = moments("bestia", 4, 1)[0]
    sound = parse_policy("sound", "bestia", 4)
    of_five, of_beast = random_network("bestia", 5), parse_policy("bold", "beast", 4)
    elsewhere, over = view.copy(), view.copy()
    elsewhere["viewer"] = (view["viewer"] + 1) % 4
    over["turn"] = -1
    for error, arguments in (
        ("num_worlds must be an integer from 2 to .* not 1", (view, sound, 1)),
        ("num_worlds must be an integer from 2 to .* not 2.5", (view, sound, 2.5)),
        ("seed must be None or an integer of at least 0, not -1", (view, sound, 9, -1)),
        (r"view must have shape \(1,\), not \(2,\)", (view.repeat(2), sound)),
        ("policy 'net:made-up' plays with 5 players, not 4", (view, of_five)),
        ("policy 'net:made-up' plays with 5 players, not 4", (view, sound, 9, 0, of_five)),
        ("policy 'bold' plays beast, the view another game", (view, of_beast)),
        ("view must be of the seat to act, which is", (elsewhere, sound)),
        ("view must be of a hand that is not over", (over, sound)),
    ):
        with pytest.raises(ValueError, match=error):
            worth_of_actions(*arguments)
