"""What an action is worth, against hands played one decision at a time."""

import itertools

import numpy as np
import pytest

from agents.arena import evaluate
from agents.bidding.language import parse_expressions
from agents.decisions import DECISIONS, Question, ask, decision_named
from agents.duplicate import Table
from agents.estimates import Proportion
from agents.growth import growth
from agents.paired import compare_paired
from agents.policies import parse_policy
from agents.worth import worth_of_actions
from bestia_env.engine import act, new_states, start_session
from bestia_env.games import GAMES
from bestia_env.rng import stream
from bestia_env.rules.dispatch import legal
from bestia_env.rules.table import equity
from bestia_env.view import look
from tests.sessions import members

FIELD = {"bestia": "threshold:0.4", "beast": "bold"}
ALL = [
    (game, decision.name, n)
    for game in DECISIONS
    for decision in DECISIONS[game]
    for n in ((3, 5, 10) if game == "bestia" else (4, 6))
]


def question(game, decision, n, by=("seat",), seat=None, asked=None, **table):
    field = parse_policy(FIELD[game], game, n)
    own = parse_policy(asked, game, n) if asked else field
    options = parse_expressions(by, game)
    where = Table(game, n, seed=11, **table)
    return Question(where, decision_named(decision, game), (field, own), options, seat)


def play_on(state, policies, stop):
    """Play until `stop(state)` or the end; these policies use no chance."""
    view = np.zeros(1, state.dtype)
    while state[0].turn >= 0 and not stop(state[0]):
        seat = state[0].turn
        look(state, 0, seat, view, 0)
        policy = policies[seat]
        act(state, 0, policy.act(view, legal(state[0]), np.zeros(1, np.uint64)))
    return state


def slowly(asked, deal):
    """Equity in pots by action of one deal, None if the seat is never asked."""
    table, decision = asked.table, asked.decision
    n = table.num_players
    state = new_states(table.game, n, table.rules)
    start_session(state, 0, np.uint64(stream(table.keys.deals, deal)), -1, table.carried)
    place = n - 1 if decision.name == "take" else deal % n if asked.seat is None else asked.seat
    seat = (state[0].dealer + 1 + place) % n
    field, own = asked.players
    phases = {**dict(decision.before), decision.phase: None}
    play_on(state, [field] * n, lambda s: s.turn == seat)
    while state[0].turn == seat and phases.get(state[0].phase) is not None:
        act(state, 0, phases[state[0].phase])
        play_on(state, [field] * n, lambda s: s.turn == seat)
    if state[0].turn != seat or state[0].phase != decision.phase:
        return None
    policies = [own if other == seat else field for other in range(n)]
    worth = {}
    for action in decision.actions:
        if action in members(legal(state[0])):
            after = state.copy()
            act(after, 0, action)
            play_on(after, policies, lambda s: False)
            worth[action] = equity(after[0], seat) / state[0].pot
    return worth


@pytest.mark.parametrize(("game", "decision", "n"), ALL)
def test_worth_is_what_the_hand_pays_after_each_action(game, decision, n):
    asked = question(game, decision, n, pot=2)
    answers = ask(asked, (100, 160))
    expected = [worth for deal in range(100, 160) if (worth := slowly(asked, deal)) is not None]
    assert len(expected) == len(answers.worth) > 3
    for row, worth in zip(answers.worth, expected):
        for value, action in zip(row, asked.decision.actions):
            assert np.isnan(value) if action not in worth else value == pytest.approx(worth[action])


@pytest.mark.parametrize(("game", "decision", "n"), ALL)
def test_a_hand_goes_as_if_nobody_had_asked_when_the_own_choice_is_made(game, decision, n):
    asked = question(game, decision, n)
    answers = ask(asked, (0, 300))
    seats = answers.classes[:, 0]
    if decision in ("knock", "take"):  # nothing was forced before
        assert len(answers.worth) == 300
        naturally = []
        for deal in range(300):
            state = new_states(game, n, asked.table.rules)
            start_session(
                state, 0, np.uint64(stream(asked.table.keys.deals, deal)), -1, asked.table.carried
            )
            seat = int(state[0].dealer + 1 + seats[deal]) % n
            pot = state[0].pot
            play_on(state, [asked.players[0]] * n, lambda s: False)
            naturally.append(equity(state[0], seat) / pot)
        own = np.take_along_axis(answers.worth, answers.chosen[:, None], 1)[:, 0]
        assert own == pytest.approx(naturally)
    assert set(seats) <= set(range(n))


def test_answers_depend_on_the_deals_alone():
    asked = question("bestia", "knock", 4, by=("trumps", "random"), asked="random")
    whole, parts = ask(asked, (0, 90)), [ask(asked, (0, 31)), ask(asked, (31, 90))]
    for name in whole._fields:
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(getattr(whole, name), joined, equal_nan=True)


def test_one_seat_or_all_in_turn():
    assert set(ask(question("bestia", "knock", 5, seat=3), (0, 40)).classes[:, 0]) == {3}
    assert set(ask(question("bestia", "knock", 5), (0, 40)).classes[:, 0]) == set(range(5))
    assert set(ask(question("beast", "take", 4), (0, 40)).classes[:, 0]) == {3}
    with pytest.raises(ValueError, match="seat must be an integer from 0 to 3"):
        worth_of_actions(question("bestia", "knock", 4, seat=4), 10)
    with pytest.raises(ValueError, match="seat must be 3: only the dealer may take"):
        worth_of_actions(question("beast", "take", 4, seat=0), 10)
    with pytest.raises(ValueError, match="decision of beast must be one of take, play, counter"):
        decision_named("knock", "beast")


def test_classes_add_up_however_they_are_told_apart():
    asked = question("beast", "play", 4, by=("sure_tricks", "trumps", "seat"))
    worth = worth_of_actions(asked, 9_000)
    answers = ask(asked, (0, 9_000))
    assert worth.total.count == len(answers.worth) == sum(row.count for row in worth.classes)
    for rows in (worth.classes, worth.by_first(1), (worth.total,)):
        for row in rows:
            mine = (answers.classes[:, : len(row.values)] == row.values).all(axis=1)
            values = answers.worth[mine]
            assert row.count == mine.sum()
            for k, name in enumerate(GAMES["beast"].action_name(a) for a in (54, 55, 57)):
                able = ~np.isnan(values[:, k])
                assert row.worth[k].num_deals == able.sum(), name
                if able.sum() > 1:
                    assert row.worth[k].mean == pytest.approx(values[able, k].mean())
                    gains = values[able, k] - values[able, 0]
                    assert row.gain[k].mean == pytest.approx(gains.mean())
                    wide = 1.959964 * gains.std(ddof=1) / np.sqrt(gains.size)
                    assert row.gain[k].half_width == pytest.approx(wide, abs=1e-9)
                    wins = answers.change[mine, k][able] > 0
                    assert row.won[k] == Proportion(wins.sum(), able.sum())
            shares = [share.count for share in row.chosen]
            assert sum(shares) == row.count


def test_worth_does_not_depend_on_the_number_of_processes():
    asked = question("bestia", "exchange", 3, asked="random")
    seen = []
    once = worth_of_actions(asked, 17_000, progress=seen.append)
    again = worth_of_actions(asked, 17_000, jobs=2)
    assert once.classes == again.classes
    assert sum(seen) == 17_000


def test_a_sure_trick_is_sure():
    worth = worth_of_actions(question("bestia", "knock", 6, by=("sure_tricks",)), 20_000)
    for row in worth.classes:
        if row.values[0] >= 1:
            assert row.won[1].mean == 1.0
            assert row.lost[1].count == 0


# On the same deals.


def test_paired_scores_are_those_of_the_arena_and_differences_theirs():
    table = Table("bestia", 3, seed=4, pot=2)
    policies = [
        parse_policy(spec, "bestia", 3) for spec in ("tight", "knock if trumps > 1", "bold")
    ]
    field = parse_policy("sound", "bestia", 3)
    found = compare_paired(table, policies, field, 1_500)
    for policy, score in zip(policies, found.scores):
        assert score == evaluate([policy, field, field], 1_500, 4, pot=2)[0]
    for a, b in itertools.permutations(range(3), 2):
        gap = found.difference(a, b)
        scores = found.scores[a].mean - found.scores[b].mean  # of which other luck is taken off
        assert gap.score.mean == pytest.approx(scores, abs=gap.score.half_width / 4)
        assert gap.score.half_width < found.scores[a].half_width + found.scores[b].half_width
    assert found.ranking == sorted(range(3), key=lambda a: -found.scores[a].mean)
    assert compare_paired(table, policies, field, 1_500, jobs=2) == found


def test_a_policy_differs_from_itself_by_nothing():
    table = Table("beast", 4, seed=2)
    twice = [parse_policy("threshold:0.5", "beast", 4), parse_policy("threshold:0.50", "beast", 4)]
    found = compare_paired(table, twice, parse_policy("bold", "beast", 4), 300)
    assert found.differences[0].score.mean == found.differences[0].score.half_width == 0
    assert found.differences[0].p_value == 1
    with pytest.raises(ValueError, match="at least two policies, not 1"):
        compare_paired(table, twice[:1], twice[1], 300)


# The growth of the pot.


@pytest.mark.parametrize(("game", "rule"), [("bestia", "pass"), ("beast", "pass; show if 1 < 0")])
def test_a_pot_that_nobody_plays_for_stays(game, rule):
    found = growth(Table(game, 4, seed=1), parse_policy(rule, game, 4), 500)
    assert found.factor.mean == found.square.mean == 1
    assert found.daring.mean == 0


def test_of_three_who_all_knock_the_trickless_make_the_next_pot():
    policy = parse_policy("knock", "bestia", 3)
    found = growth(Table("bestia", 3, seed=1), policy, 4_000)
    assert found.daring.mean == 1
    # m is 0, 1 or 2 for three who share three tricks: 1-1-1, 2-1-0, 3-0-0.
    chances = np.linalg.solve(
        [[1, 1, 1], [0, 1, 2], [0, 1, 4]], [1, found.factor.mean, found.square.mean]
    )
    assert (chances > 0.05).all()
    again = growth(Table("bestia", 3, seed=1), policy, 4_000, jobs=2)
    assert again == found


def test_a_share_near_nothing_has_an_honest_interval():
    assert Proportion(0, 100).interval == pytest.approx((0, 0.037), abs=1e-3)
    assert Proportion(100, 100).interval == pytest.approx((0.963, 1), abs=1e-3)
    assert Proportion(50, 100).interval == pytest.approx((0.404, 0.596), abs=1e-3)
    assert Proportion(0, 0).interval == (0, 1)
