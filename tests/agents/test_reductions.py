"""Policies, worlds and matches of reductions (B-19, I-24)."""

from random import Random

import numpy as np
import pytest

from agents import arena, duplicate
from agents.baselines import beast as beast_baselines
from agents.policies import default_specs, parse_policy
from agents.reading import draw_read_worlds
from bestia_env.bits import has
from bestia_env.engine import new_states, start_session
from bestia_env.reductions import REDUCTIONS, reduction_named
from bestia_env.rules.bestia import KNOCK, PASS, BestiaRules
from bestia_env.rules.dispatch import legal
from tests.agents.test_worlds import check_world
from tests.sessions import REDUCED, Table, random_session, walk

RULES = {"beast": "take if upcard >= jack; play if chance > 0.3", "bestia": "knock if voids >= 1"}


@pytest.mark.parametrize(("game", "n"), REDUCED)
def test_every_policy_plays_any_reduction(game: str, n: int) -> None:
    rng, own = Random(n), np.array([n], np.uint64)
    policies = [parse_policy(spec, game, n) for spec in [*default_specs(game), RULES[game]]]
    for _ in range(8):
        table = Table(random_session(rng, game, n, num_hands=2, reduced=True))
        for _ in walk(table, rng):
            if table.turn < 0:
                continue
            view = table.view(table.turn)
            for policy in policies:
                assert policy.act(view, legal(view[0]), own) in table.legal()
            if game == "beast":
                unseen = int(beast_baselines._unseen(view[0]))
                assert unseen & ~table.read("in_use") == 0
                assert 0 < beast_baselines.declared_chance(view[0]) < 1


@pytest.mark.parametrize(("game", "n"), [("beast", 2), ("beast", 3), ("bestia", 2), ("bestia", 3)])
def test_bids_are_read_in_a_reduction(game: str, n: int) -> None:
    rng, moves = Random(n), np.array([1], np.uint64)
    field, fitting = parse_policy("threshold", game, n), 0
    for _ in range(10):
        table = Table(random_session(rng, game, n, num_hands=1, reduced=True))
        for _ in walk(table, rng):
            if table.turn < 0 or rng.random() < 0.5:
                continue
            seat = table.turn
            worlds, fit = draw_read_worlds(table.view(seat), 4, rng.getrandbits(32), field)
            fitting += fit
            for i in range(worlds.size):
                check_world(table, seat, worlds[i : i + 1].copy(), moves)
    assert fitting > 0


def test_a_suit_that_is_left_out_is_no_void() -> None:
    policy = parse_policy("knock if voids >= 1", "bestia", 2)
    states = new_states("bestia", 2, BestiaRules(ranks=4, suits=2))
    bids = set()
    for key in range(200):
        start_session(states, 0, np.uint64(key), 0, 0)
        view = states.copy()
        view["viewer"] = 1
        suits = {card // 10 for card in range(40) if has(view[0].hands[1], card)}
        bid = policy.act(view, legal(view[0]), np.array([1], np.uint64))
        assert bid == (KNOCK if len(suits) == 1 else PASS)
        bids.add(bid)
    assert bids == {KNOCK, PASS}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_match_is_played(name: str) -> None:
    r = reduction_named(name)
    table = duplicate.Table(r.game, r.num_players, r.rules, pot=2)
    assert f"{r.num_players} players, pot 2" in table.words and "ranks=" in table.words
    players = [parse_policy(spec, r.game, r.num_players) for spec in default_specs(r.game)[:2]]
    lineup = [players[i % 2] for i in range(r.num_players)]
    scores = arena.evaluate(lineup, 50, 1, rules=r.rules, pot=2, control=False)
    assert abs(sum(score.mean for score in scores)) < 1e-9
    for plain, score in zip(scores, arena.evaluate(lineup, 50, 1, rules=r.rules, pot=2)):
        assert abs(score.mean - plain.mean) < plain.half_width + 1e-9


def test_tables_and_networks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="num_players of bestia must be an integer from 3 to 10"):
        duplicate.Table("bestia", 2)
    with pytest.raises(ValueError, match="at least 10 cards"):
        duplicate.Table("bestia", 3, BestiaRules(ranks=2, suits=2))
    with pytest.raises(ValueError, match="players"):
        parse_policy("net:bestia-4", "bestia", 2)
    assert parse_policy("net:bestia-4", "bestia", 4).network
