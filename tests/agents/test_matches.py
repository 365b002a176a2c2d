import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from agents.duplicate import (
    PIECE,
    Piece,
    Table,
    check_policies,
    lineups,
    play_piece,
)
from agents.matches import choose, deal_copies, play, seed_players, tag, turn_views
from agents.networks import Network
from agents.policies import (
    BEST_BASELINES,
    CHOOSER,
    NETWORK,
    Policy,
    default_specs,
    parse_policy,
)
from bestia_env.bits import has
from bestia_env.engine import act, new_states, start_session
from bestia_env.games import GAMES
from bestia_env.observe import layout
from bestia_env.rng import below, stream
from bestia_env.rules.dispatch import legal
from bestia_env.view import look


def random_network(game: str, n: int) -> Policy:
    chances = np.random.default_rng(0)
    sizes = (layout(game, n).size, 8, GAMES[game].num_actions)
    weights = tuple(
        (chances.normal(size=(b, a)).astype(np.float32), chances.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(sizes)
    )
    return Policy("net:made-up", game, NETWORK, network=Network(game, n, weights))


def some_policies(game: str, n: int) -> list[Policy]:
    return [random_network(game, n), *(parse_policy(s, game, n) for s in default_specs(game))]


def play_slowly(
    states: np.ndarray, i: int, policies: list[Policy], seated: np.ndarray, rngs: np.ndarray
) -> None:
    """One hand, one decision at a time."""
    view = np.zeros(1, states.dtype)
    while (seat := int(states[i].turn)) >= 0:
        look(states, i, seat, view, 0)
        actions = legal(states[i])
        act(states, i, policies[seated[seat]].act(view, actions, rngs[seat : seat + 1]))


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("beast", 6), ("bestia", 3), ("bestia", 10)])
def test_networks_and_baselines_share_a_table_as_if_asked_one_by_one(game: str, n: int) -> None:
    policies = some_policies(game, n)
    states = new_states(game, n, None, 12 * n)
    deal_copies(states, n, np.uint64(7), 0, 0)
    seated = np.random.default_rng(1).integers(len(policies), size=(states.size, n))
    rngs = np.random.default_rng(2).integers(2**63, size=(states.size, n)).astype(np.uint64)
    slow_states, slow_rngs = states.copy(), rngs.copy()
    play(states, policies, seated, rngs)
    for i in range(states.size):
        play_slowly(slow_states, i, policies, seated[i], slow_rngs[i])
    assert (states["turn"] == -1).all()
    assert states.tobytes() == slow_states.tobytes()
    assert (rngs == slow_rngs).all()


@pytest.mark.parametrize(("game", "n", "pot"), [("beast", 5, 1), ("bestia", 4, 3)])
def test_a_deal_is_scored_over_all_rotations_in_pots(game: str, n: int, pot: int) -> None:
    policies = some_policies(game, n)
    table = Table(game, n, pot=pot, seed=5)
    lineup = tuple(i % len(policies) for i in range(n))
    scores = play_piece(table, policies, Piece(lineup, 3, 6))
    tags = np.array([tag(policy) for policy in policies], np.uint64)
    for deal in range(3, 6):
        expected = np.zeros(n)
        for rotation in range(n):
            states = new_states(game, n)
            key = np.uint64(stream(table.keys.deals, deal))
            start_session(states, 0, key, -1, table.carried)
            base_pot = int(states[0].pot)
            assert base_pot == pot * table.rules.opening_pot(n)
            seated = np.array([lineup[(seat - rotation) % n] for seat in range(n)])
            rngs = np.zeros((1, n), np.uint64)
            seed_players(rngs, seated[None], tags, table.keys.players, deal * n + rotation)
            play_slowly(states, 0, policies, seated, rngs[0])
            s = states[0]
            for player in range(n):
                gain = int(s.gains[(player + rotation) % n])
                expected[player] += (gain + (int(s.pot) - int(s.carried)) / n) / base_pot / n
        assert scores[deal - 3] == pytest.approx(expected, abs=1e-12)


def test_deals_and_chances_do_not_depend_on_how_the_work_is_cut() -> None:
    policies = some_policies("bestia", 4)
    table, lineup = Table("bestia", seed=9), (0, 1, 1, 0)
    whole = play_piece(table, policies, Piece(lineup, 0, 30))
    parts = [play_piece(table, policies, Piece(lineup, a, b)) for a, b in ((0, 7), (7, 8), (8, 30))]
    assert (whole == np.concatenate(parts)).all()


def test_no_two_players_share_a_generator() -> None:
    rngs = np.zeros((4000, 4), np.uint64)
    seated = np.arange(16000).reshape(4000, 4) % 3
    seed_players(rngs, seated, np.array([1, 2, 3], np.uint64), np.uint64(1), 0)
    assert np.unique(rngs).size == rngs.size
    others = rngs.copy()
    seed_players(others, seated, np.array([1, 2, 4], np.uint64), np.uint64(1), 0)
    assert ((others == rngs) == (seated != 2)).all()


@pytest.mark.parametrize(("policies", "n"), [(2, 3), (3, 3), (4, 10), (9, 4)])
def test_mixed_line_ups_are_balanced_and_as_varied_as_can_be(policies: int, n: int) -> None:
    table = Table("bestia", n, seed=1)
    drawn = lineups(table, policies, Piece(None, 0, PIECE))
    assert (drawn[:50] == lineups(table, policies, Piece(None, 0, 50))).all()
    assert not (drawn == lineups(table, policies, Piece(None, PIECE, 2 * PIECE))).all()
    counts = np.array([(drawn == policy).sum(axis=1) for policy in range(policies)])
    assert counts.min() >= n // policies
    assert counts.max() <= -(-n // policies)
    places = np.array([(drawn == policy).mean(axis=0) for policy in range(policies)])
    assert np.abs(places - 1 / policies).max() < 5 * np.sqrt(1 / policies / PIECE)


class Stubborn:
    """Always the same action, legal or not."""

    num_players = 4

    def __init__(self, action: int) -> None:
        self.action = action

    def act_batch(self, observations, masks, rngs):
        return np.full(len(masks), self.action)


@pytest.mark.parametrize("action", [3, 40, 43])
def test_an_illegal_choice_of_a_network_is_an_error_that_names_it(action: int) -> None:
    bad = Policy("net:bad", "bestia", NETWORK, network=Stubborn(action))
    with pytest.raises(ValueError, match=rf"'net:bad' chose action {action}"):
        play_piece(Table("bestia"), [bad], Piece((0, 0, 0, 0), 0, 5))


@dataclass(frozen=True)
class Drawer:
    """A chooser that draws one of the legal actions by lot, and sees a VIEW."""

    bids_only: bool = False
    num_players: int | None = None
    draws: int = 50

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        views, actions = turn_views(states, hands), np.empty(hands.size, np.int64)
        for k, view in enumerate(views):
            choices = [action for action in range(64) if has(legal(view), action)]
            actions[k] = choices[below(chances[k : k + 1], len(choices))]
        return actions


def choosing_policies(game: str, n: int) -> list[Policy]:
    """Choosers of all, of bids among a baseline's or a network's cards, and beside a rule."""
    baseline, network = parse_policy(BEST_BASELINES[game], game, n), random_network(game, n)
    bids = {"beast": "play if trumps >= 2", "bestia": "knock if trumps >= 1"}
    rule = parse_policy(bids[game], game, n)
    drawn = Policy("drawn", game, CHOOSER, chooser=Drawer())
    return [
        drawn,
        replace(baseline, spec="bids drawn", chooser=Drawer(bids_only=True)),
        replace(network, spec="bids drawn, cards by a network", chooser=Drawer(bids_only=True)),
        replace(drawn, spec="cards drawn", program=rule.program),
    ]


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("bestia", 5)])
def test_choosers_play_as_if_asked_one_by_one(game: str, n: int) -> None:
    policies = [*choosing_policies(game, n), *some_policies(game, n)]
    states = new_states(game, n, None, 12 * n)
    deal_copies(states, n, np.uint64(7), 0, 0)
    seated = np.random.default_rng(1).integers(len(policies), size=(states.size, n))
    rngs = np.random.default_rng(2).integers(2**63, size=(states.size, n)).astype(np.uint64)
    slow_states, slow_rngs = states.copy(), rngs.copy()
    play(states, policies, seated, rngs)
    for i in range(states.size):
        play_slowly(slow_states, i, policies, seated[i], slow_rngs[i])
    assert states.tobytes() == slow_states.tobytes()
    assert (rngs == slow_rngs).all()


@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_choosers_answer_in_the_place_of_whoever_is_to_act(game: str) -> None:
    states = new_states(game, 4, None, 20)
    deal_copies(states, 1, np.uint64(7), 0, 0)
    chances = np.arange(20, dtype=np.uint64)
    for policy in choosing_policies(game, 4):
        asked = chances.copy()
        actions = choose(policy, states, asked)
        for i in range(states.size):
            view, rng = turn_views(states, np.array([i])), chances[i : i + 1].copy()
            assert policy.act(view, legal(view[0]), rng) == actions[i]
            assert rng[0] == asked[i]
    drawn = choosing_policies(game, 4)[0].probabilities(turn_views(states, np.array([0])), 0)
    assert drawn.sum() == pytest.approx(1)
    assert np.count_nonzero(drawn) == 2


def test_choosers_are_held_to_the_rules_and_to_their_table() -> None:
    class Wrong(Drawer):
        def act_batch(self, states, hands, chances):
            return np.full(hands.size, 64)

    policy = Policy("wrong", "bestia", CHOOSER, chooser=Wrong(num_players=4))
    assert policy.same_as(replace(policy))
    assert not policy.same_as(choosing_policies("bestia", 4)[0])
    states = new_states("bestia", 4)
    deal_copies(states, 1, np.uint64(7), 0, 0)
    with pytest.raises(ValueError, match="'wrong' chose action 64, which is not legal"):
        play(states, [policy], np.zeros((1, 4), np.int64), np.zeros((1, 4), np.uint64))
    with pytest.raises(ValueError, match="'wrong' plays with 4 players, not 5"):
        check_policies(Table("bestia", 5), [policy])
