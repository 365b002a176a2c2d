from random import Random

import numpy as np
import pytest

from agents.baselines.dispatch import baselines
from agents.bids import table
from agents.equilibria import solutions
from agents.matches import choose
from agents.networks import Network
from agents.policies import NETWORK, Policy, default_specs, parse_policy
from agents.rules import parse_rules
from agents.shipped import shipped
from bestia_env.bits import has
from bestia_env.engine import new_states, start_session
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.rules.beast import BeastRules
from bestia_env.rules.bestia import KNOCK, PASS, BestiaRules
from bestia_env.rules.dispatch import legal
from bestia_env.view import look
from tests.sessions import Table, random_session, walk

GAMES = ("beast", "bestia")


@pytest.mark.parametrize("game", GAMES)
def test_every_baseline_has_a_spec_that_is_read_back(game: str) -> None:
    specs = default_specs(game)
    assert len(set(specs)) == len(specs) == len(baselines(game))
    for kind, (spec, baseline) in enumerate(zip(specs, baselines(game))):
        policy = parse_policy(spec, game, 4)
        assert (policy.spec, policy.game, policy.kind) == (spec, game, kind)
        assert policy.network is None
        assert baseline.idea
        plain = parse_policy(baseline.name, game, 4)
        assert (plain.kind, plain.parameter) == (policy.kind, policy.parameter)
        if baseline.parameter is None:
            assert ":" not in spec
            with pytest.raises(ValueError, match=f"{baseline.name} takes no number"):
                parse_policy(f"{baseline.name}:0.5", game, 4)


@pytest.mark.parametrize("game", GAMES)
def test_numbers_are_taken_within_their_range_only(game: str) -> None:
    for baseline in baselines(game):
        if baseline.parameter is None:
            continue
        for number in (baseline.low, baseline.high):
            assert parse_policy(f"{baseline.name}:{number}", game, 4).parameter == number
        for bad in (f"{baseline.high + 1}", f"{baseline.low - 1}", "nan", "inf", "", "much", "1:2"):
            with pytest.raises(ValueError, match=f"the number of {baseline.name} must be from"):
                parse_policy(f"{baseline.name}:{bad}", game, 4)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("spec", ["", "net", "net:", "Random", "random ", "nobody", ":0.4"])
def test_unknown_policies_are_errors_that_list_the_known(game: str, spec: str) -> None:
    with pytest.raises(ValueError, match="unknown policy") as caught:
        parse_policy(spec, game, 4)
    message = str(caught.value)
    assert repr(spec) in message
    names = f"net:FILE (with the project: {'beast-4, beast-5' if game == 'beast' else 'bestia-3'}, "
    for word in (
        game,
        names,
        f"bids:FILE (with the project: {game}-",
        *(baseline.name for baseline in baselines(game)),
    ):
        assert word in message
    for family, names in (("net", shipped()), ("bids", table.names()), ("", solutions.names())):
        listed = message.partition(f"{family}:")[2]
        assert all((name in listed) == name.startswith(game) for name in names)


def test_missing_files_are_errors_that_list_what_is_shipped() -> None:
    for spec, known in (("net:a/b.safetensors", "beast-5"), ("bids:b.bids", "beast-4")):
        with pytest.raises(ValueError, match=r"there is no file .*\(with the project: ") as caught:
            parse_policy(spec, "beast", 4)
        assert known in str(caught.value) and "bestia" not in str(caught.value)
    with pytest.raises(ValueError, match=r"choose among .*beast3-tiny"):
        parse_policy("equilibrium:none", "beast", 4)
    with pytest.raises(ValueError, match="take rule:FILE with the text of a rule"):
        parse_policy("rule:none", "beast", 4)


def test_networks_and_tables_that_cannot_be_are_errors() -> None:
    with pytest.raises(ValueError, match=r"there is no file nowhere\.safetensors"):
        parse_policy("net:nowhere.safetensors", "beast", 4)
    with pytest.raises(ValueError, match="game must be one of"):
        parse_policy("random", "skat", 4)
    with pytest.raises(ValueError, match="num_players of beast"):
        parse_policy("random", "beast", 7)
    assert NETWORK < 0


@pytest.mark.parametrize("game", GAMES)
def test_a_policy_acts_on_a_view(game: str) -> None:
    states = new_states(game, 4)
    start_session(states, 0, np.uint64(3), -1, 0)
    view = np.zeros(1, states.dtype)
    look(states, 0, states[0].turn, view, 0)
    for spec in default_specs(game):
        actions = [
            parse_policy(spec, game, 4).act(view, legal(view[0]), np.array([5], np.uint64))
            for _ in range(2)
        ]
        assert actions[0] == actions[1]
        assert has(legal(states[0]), actions[0])


def decisions(game: str, n: int, count: int) -> list[np.ndarray]:
    """Views of seats to act."""
    rng, found = Random(n), []
    while len(found) < count:
        table = Table(random_session(rng, game, n, num_hands=1))
        found += [table.view(table.turn) for _ in walk(table, rng) if table.turn >= 0]
    return found[:count]


@pytest.mark.parametrize("game", GAMES)
def test_baselines_say_how_likely_every_action_is(game: str) -> None:
    for view in decisions(game, 4, 60):
        choices = legal(view[0])
        for spec in default_specs(game):
            policy, rng = parse_policy(spec, game, 4), np.array([5], np.uint64)
            chances = policy.probabilities(view, choices)
            drawn = {policy.act(view, choices, rng) for _ in range(200)}
            assert chances.shape == (game_named(game).num_actions,)
            assert set(np.flatnonzero(chances)) == drawn
            assert chances[list(drawn)] == pytest.approx(1 / len(drawn))


@pytest.mark.parametrize("spec", ["pimc", "ismcts", "cheat", "bids:bestia-4", "net:bestia-4"])
@pytest.mark.parametrize(("game", "n"), [("bestia", 3), ("bestia", 5), ("beast", 4)])
def test_hands_of_other_tables_are_refused(spec: str, game: str, n: int) -> None:
    policy, rng = parse_policy(spec, "bestia", 4), np.zeros(1, np.uint64)
    states = new_states(game, n)
    start_session(states, 0, np.uint64(1), 0, 0)
    view = states.copy()
    look(states, 0, int(states[0].turn), view, 0)
    message = f"plays with 4 players, not {n}" if game == "bestia" else "that is no hand of it"
    with pytest.raises(ValueError, match=message):
        policy.act(view, int(legal(view[0])), rng)
    with pytest.raises(ValueError, match=message):
        policy.probabilities(view, int(legal(view[0])))
    with pytest.raises(ValueError, match=message):
        choose(policy, states, rng)


def test_a_rule_that_mixes_says_how_likely_its_bids_are() -> None:
    policy = parse_policy("knock if random < 0.3", "bestia", 4)
    view = decisions("bestia", 4, 1)[0]
    chances = policy.probabilities(view, legal(view[0]))
    assert chances[KNOCK] == pytest.approx(0.3, abs=0.06)
    assert chances[PASS] == 1 - chances[KNOCK]


@pytest.mark.parametrize("greedy", [False, True])
def test_networks_say_how_likely_every_action_is(greedy: bool) -> None:
    shape = (game_named("bestia").num_actions, layout("bestia", 4).size)
    weights = np.random.default_rng(1).normal(size=shape).astype(np.float32) / 4
    network = Network("bestia", 4, ((weights, weights[:, 0].copy()),), greedy=greedy)
    policy = Policy("net:made-up", "bestia", NETWORK, network=network)
    for view in decisions("bestia", 4, 20):
        rng, choices = np.array([5], np.uint64), legal(view[0])
        chances = policy.probabilities(view, choices)
        drawn = [policy.act(view, choices, rng) for _ in range(400)]
        shares = np.bincount(drawn, minlength=chances.size) / 400
        assert chances.sum() == pytest.approx(1)
        assert abs(shares - chances).max() < (0 if greedy else 0.11) + 1e-12
        assert all(has(choices, action) for action in np.flatnonzero(chances))


# Rules as text.


def test_options_of_the_rules_are_read_from_text() -> None:
    options = ["maxims=penalty", "force=True", "maxim_2=false", "stake=6"]
    rules = parse_rules("bestia", options)
    assert rules == BestiaRules(maxims="penalty", force=True, maxim_2=False, stake=6)
    assert parse_rules("beast", []) == BeastRules()
    assert parse_rules("beast", ["revoke=penalty", "match_limit=20"]) == BeastRules(
        revoke="penalty", match_limit=20
    )


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("bestia", ["maxims=perhaps"], "maxims must be one of 'off', 'mask', 'penalty', not 'perh"),
        ("bestia", ["force=1"], "force must be one of False, True, not '1'"),
        ("bestia", ["stake=4"], "stake must be an integer .* multiple of 3, not 4"),
        ("bestia", ["stake=-3"], "stake must be .* not -3"),
        ("bestia", ["stake=3.0"], "stake must be .* not '3.0'"),
        ("beast", ["force=true"], "unknown option 'force' of beast: choose among losing_counterer"),
        ("beast", ["revoke"], "an option is NAME=VALUE, not 'revoke'"),
        ("beast", ["revoke=penalty", "revoke=forbidden"], "option 'revoke' is given twice"),
        ("skat", [], "game must be one of beast, bestia"),
    ],
)
def test_bad_options_are_errors(game: str, options: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rules(game, options)
