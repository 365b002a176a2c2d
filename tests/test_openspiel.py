"""Both games as games of OpenSpiel: they are the same, and its algorithms run on them."""

from __future__ import annotations

import copy
import importlib
import itertools
import os
import pickle
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

if not os.environ.get("CI"):  # where OpenSpiel is installed
    pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import (
    cfr,
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

from bestia_env import beast_v0, bestia_v0, engine
from bestia_env.games import GAMES
from bestia_env.openspiel import BeastGame, HandState, load_reduction
from bestia_env.reductions import REDUCTIONS
from bestia_env.rules import beast, bestia
from tests.sessions import OPTIONS, TABLES, members

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

ENVS = {"beast": beast_v0.raw_env, "bestia": bestia_v0.raw_env}
# Trees of some hundred or thousand states.
TINY = {
    "beast": "python_beast(players=2,ranks=2,suits=2,cards=1)",
    "bestia": "python_bestia(players=2,ranks=2,suits=2,cards=1)",
}
SMALL = (
    *TINY.values(),
    "python_beast(players=2,ranks=3,suits=2,cards=2,revoke=penalty,dealer=1)",
    "python_beast(players=3,ranks=2,suits=2,cards=1,losing_counterer=carry,pot=5)",
    "python_beast(players=2,ranks=2,suits=2,cards=1,carry_stakes=full,pot=7,dealer=-1)",
    "python_bestia(players=2,ranks=3,suits=2,cards=2,stake=6,must_head=True)",
    "python_bestia(players=3,ranks=2,suits=2,cards=1,dealer=-1)",
    "python_bestia(players=2,ranks=3,suits=2,cards=2,stake=6,maxims=penalty,revoke=penalty)",
    "python_bestia(players=2,ranks=3,suits=2,cards=1,maxims=mask,dealer_stake=only_if_empty,pot=9)",
)


def game_string(name: str, **params: Any) -> str:
    return f"python_{name}({','.join(f'{key}={value}' for key, value in params.items())})"


def random_options(rng: Random, name: str) -> dict[str, Any]:
    return {
        option: rng.choice([v for v in values if not isinstance(v, int) or v < 2**31])
        for option, values in OPTIONS[name].items()
    }


def walk(state: HandState, chance: float = 1.0) -> Iterator[tuple[HandState, float]]:
    """Every state of a tree, with the probability of its moves of chance."""
    yield state, chance
    if state.is_terminal():
        return
    if state.is_chance_node():
        outcomes = state.chance_outcomes()
    else:
        outcomes = [(action, 1.0) for action in state.legal_actions()]
    for action, probability in outcomes:
        yield from walk(state.child(action), chance * probability)


def states_of(game: pyspiel.Game) -> Iterator[HandState]:
    return (state for state, _ in walk(game.new_initial_state()))


def random_state(rng: Random, game: pyspiel.Game, moment: int) -> HandState:
    """A decision after about so many moves of seats, or the last before."""
    state = game.new_initial_state()
    while True:
        if state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(cards, chances)[0])
            continue
        following = state.child(rng.choice(state.legal_actions()))
        if following.is_terminal() or moment <= 0:
            return state
        state, moment = following, moment - 1


# The interface.


@pytest.mark.parametrize(
    "text",
    [
        *(game_string(name, players=n) for name, n in TABLES),
        *SMALL,
        "python_beast(dealer=-1,revoke=penalty,reward=coins,per_pot=False)",
        "python_bestia(players=8,reward=coins,maxims=penalty,revoke=penalty)",
    ],
)
def test_openspiel_finds_no_fault(text: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(text), 2, True, False)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_loaded_by_name(name: str) -> None:
    game, reduction = load_reduction(name, dealer=1), REDUCTIONS[name]
    assert game.table.rules == reduction.rules
    assert game.num_players() == reduction.num_players
    assert game.get_parameters()["dealer"] == 1
    assert pyspiel.load_game(str(game)).table is game.table
    pyspiel.random_sim_test(game, 1, True, False)


def test_unknown_reductions_are_named() -> None:
    with pytest.raises(ValueError, match=r"reduction must be one of beast2-tiny, .*not 'beast9'"):
        load_reduction("beast9")


@pytest.mark.parametrize("name", GAMES)
def test_parameters_are_those_of_the_rules(name: str) -> None:
    kind = pyspiel.load_game(f"python_{name}").get_type()
    for option, values in OPTIONS[name].items():
        default = kind.parameter_specification[option]
        assert default in values, option
        assert default == getattr(GAMES[name].rules(), option)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python_beast(players=3)", "num_players of beast must be"),
        ("python_beast(revoke=allowed)", "revoke must be one of"),
        ("python_beast(dealer=4)", "dealer must be a seat from 0 to 3"),
        ("python_bestia(pot=2)", "pot must be .* multiple of 3"),
        ("python_bestia(reward=chips)", "reward must be one of equity, coins, not 'chips'"),
        ("python_bestia(ranks=1,suits=2,players=2)", "ranks and suits"),
    ],
)
def test_bad_parameters_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(text)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"match_limit": 2**31}, "match_limit must be at most 2147483647 .* 32 bits"),
        ({"pot": 10**30}, "pot must be at most 2147483647 .* 32 bits"),
        ({"pot": -(10**30)}, "pot must be at most 2147483647"),
        ({"pot": 3.0}, "pot must be of type int, not 3.0"),
        ({"players": True}, "players must be of type int, not True"),
        ({"dealer": None}, "dealer must be of type int, not None"),
        ({"per_pot": 1}, "per_pot must be of type bool, not 1"),
        ({"force": True}, "unknown parameter 'force' of beast: choose among cards, "),
    ],
)
def test_what_openspiel_cannot_hold_is_named(params: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_reduction("beast2-tiny", **params)
    with pytest.raises(ValueError, match=message):
        BeastGame(params)


def test_without_openspiel_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "bestia_env.openspiel")
    with pytest.raises(ImportError, match=r"pip install 'bestia_env\[openspiel\]'"):
        importlib.import_module("bestia_env.openspiel")


def test_illegal_moves_are_refused() -> None:
    state = pyspiel.load_game(TINY["beast"]).new_initial_state()
    with pytest.raises(ValueError, match="card 0 cannot be dealt now"):
        state.apply_action(0)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    for action in (0, beast.PLAY, 64):
        with pytest.raises(ValueError, match=f"action {action} is not legal for seat 0"):
            state.apply_action(action)


@pytest.mark.parametrize("text", SMALL)
def test_copies_are_faithful_and_their_own(text: str) -> None:
    rng = Random(text)
    for moment in range(6):
        state = random_state(rng, pyspiel.load_game(text), moment)
        before = str(state)
        for other in (state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert str(other) == before
            assert other.history() == state.history()
            assert other.view(0).tobytes() == state.view(0).tobytes()
            other.apply_action(rng.choice(other.legal_actions()))
            assert str(state) == before


# The same games as in the other environments.


def exchanged_cards(env: Any) -> Iterator[int]:
    """New cards in the order of OpenSpiel's moves of chance."""
    s, n = env.states[0], env.num_players
    for seat in [(int(s.dealer) + 1 + place) % n for place in range(n)]:
        if seat in members(int(s.exchanged)):
            yield from sorted(members(int(s.hands[seat])))


def deal_alike(rng: Random, env: Any, state: HandState, dealer: int, pot: int) -> None:
    """Deal the same cards at random."""
    name, in_use = env.game.name, env.game.cards_in_use(env.rules)
    deck, heap = rng.sample(in_use, len(in_use)), rng.sample(in_use, len(in_use))
    options = {"deck": deck, "heap": heap, "dealer": dealer, "pot": pot}
    env.reset(options={key: options[key] for key in options if key != "heap" or name == "bestia"})
    each, n = env.game.tricks(env.num_players, env.rules), env.num_players
    start = int(name == "bestia")
    hands = [sorted(deck[start + each * k : start + each * (k + 1)]) for k in range(n)]
    upcard = [deck[0 if start else each * n]]
    for card in itertools.chain(*([upcard, *hands] if start else [*hands, upcard])):
        state.apply_action(card)


def assert_alike(env: Any, state: HandState) -> None:
    assert state.current_player() == env.states[0].turn
    for seat, agent in enumerate(env.possible_agents):
        seen = env.observe(agent)
        tensor = np.array(state.information_state_tensor(seat), np.float32)
        assert np.array_equal(tensor, seen["observation"])
        assert state.legal_actions(seat) == np.flatnonzero(seen["action_mask"]).tolist()


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_hands_go_as_in_the_aec_environment(name: str, players: int) -> None:
    rng = Random(players)
    for _ in range(8):
        options, dealer = random_options(rng, name), rng.randrange(players)
        pot, reward = rng.choice((0, 3, 30)), rng.choice(("equity", "coins"))
        env = ENVS[name](num_players=players, reward=reward, **options)
        params = {"dealer": dealer, "pot": pot, "reward": reward, "per_pot": False}
        game = pyspiel.load_game(game_string(name, players=players, **params, **options))
        state = game.new_initial_state()
        deal_alike(rng, env, state, dealer, pot)
        while not state.is_terminal():
            assert_alike(env, state)
            action = rng.choice(state.legal_actions())
            env.step(action)
            state.apply_action(action)
            for card in exchanged_cards(env) if state.is_chance_node() else ():
                state.apply_action(card)
        assert all(env.terminations.values())
        assert state.returns() == list(env.rewards.values())


@pytest.mark.parametrize("name", GAMES)
def test_utilities_are_pots(name: str) -> None:
    rng = Random(1)
    coins, pots = (
        pyspiel.load_game(game_string(name, pot=30, per_pot=per_pot)) for per_pot in (False, True)
    )
    state = random_state(rng, coins, 99)
    state.apply_action(state.legal_actions()[0])
    other = pots.new_initial_state()
    for action in state.history():
        other.apply_action(action)
    whole = {"beast": 30, "bestia": 33}[name]
    assert np.allclose(np.array(state.returns()), whole * np.array(other.returns()))
    assert np.isclose(coins.max_utility(), whole * pots.max_utility())


# Chance.


def first_deals(game: pyspiel.Game) -> dict[bytes, list[float]]:
    """The chances of the histories of each first deal."""
    deals = defaultdict(list)

    def descend(state: HandState, chance: float) -> None:
        if state.is_chance_node():
            for card, probability in state.chance_outcomes():
                descend(state.child(card), chance * probability)
        else:
            deals[cards_of(state._hand.states)].append(chance)

    descend(game.new_initial_state(), 1.0)
    return deals


def cards_of(states: np.ndarray) -> bytes:
    """Who holds and has thrown what."""
    s = states[0]
    own = s.hands.tobytes() + np.uint64(s.upcard).tobytes()
    return own + (s.thrown.tobytes() if "thrown" in s.dtype.names else b"")


@pytest.mark.parametrize(
    "text",
    [
        "python_beast(players=2,ranks=3,suits=2,cards=2)",
        "python_bestia(players=2,ranks=3,suits=2,cards=2,stake=6)",
        "python_bestia(players=3,ranks=3,suits=2,cards=1)",
    ],
)
def test_each_deal_of_the_engine_comes_by_one_history_and_all_alike(text: str) -> None:
    game = pyspiel.load_game(text)
    table, found = game.table, first_deals(game)
    deals = Counter(
        cards_of(table.dealt(0, order)) for order in itertools.permutations(table.deal.pool)
    )
    assert found.keys() == deals.keys()
    assert len(set(deals.values())) == 1
    assert all(chances == pytest.approx([1 / len(deals)]) for chances in found.values())


def chances_after(game: pyspiel.Game, actions: list[int]) -> dict[bytes, list[float]]:
    """The chances of the histories with these acts, by what they lead to."""
    chances = defaultdict(list)

    def descend(state: HandState, left: list[int], chance: float) -> None:
        if state.is_chance_node():
            for card, probability in state.chance_outcomes():
                descend(state.child(card), left, chance * probability)
        elif left:
            descend(state.child(left[0]), left[1:], chance)
        else:
            chances[cards_of(state._hand.states)].append(chance)

    descend(game.new_initial_state(), actions, 1.0)
    return chances


@pytest.mark.parametrize(
    ("params", "acts", "gathered"),
    [
        ("players=2,ranks=3,suits=2,cards=1", "PASS KNOCK EXCHANGE", False),
        ("players=3,ranks=3,suits=2,cards=1", "PASS KNOCK PASS EXCHANGE REFUSE", False),
        ("players=3,ranks=2,suits=2,cards=1", "PASS KNOCK PASS REFUSE EXCHANGE", True),
        ("players=3,ranks=2,suits=2,cards=1", "PASS KNOCK PASS EXCHANGE", True),
        ("players=3,ranks=5,suits=1,cards=1", "PASS PASS PASS EXCHANGE EXCHANGE", True),
    ],
)
def test_new_cards_come_as_in_the_engine(params: str, acts: str, gathered: bool) -> None:
    game = pyspiel.load_game(f"python_bestia({params})")
    actions, pool = [int(bestia.Action[act]) for act in acts.split()], game.table.deal.pool
    heaps = list(itertools.permutations(pool)) if gathered else [pool]
    counts = Counter()
    for pack, heap in itertools.product(itertools.permutations(pool), heaps):
        states = game.table.dealt(0, pack)
        states["heap"][0, : len(heap)] = heap
        for action in actions:
            engine.act(states, 0, action)
        assert states[0].gathered == gathered
        counts[cards_of(states)] += 1
    found = chances_after(game, actions)
    assert found.keys() == counts.keys()
    whole = sum(counts.values())
    assert all(found[key] == pytest.approx([counts[key] / whole]) for key in counts)


def test_the_dealer_by_lot_is_any_seat() -> None:
    state = pyspiel.load_game("python_bestia(players=5,dealer=-1)").new_initial_state()
    assert state.chance_outcomes() == [(seat, 0.2) for seat in range(5)]
    assert state.action_to_string(pyspiel.PlayerId.CHANCE, 3) == "dealer 3"
    state.apply_action(3)
    assert state.action_to_string(pyspiel.PlayerId.CHANCE, 3) == "6b"
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert state.current_player() == 4


def test_a_lone_taker_gets_no_new_cards() -> None:
    state = pyspiel.load_game("python_bestia").new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    for act in (*["PASS"] * 4, "EXCHANGE", *["REFUSE"] * 3):
        state.apply_action(bestia.Action[act])
    assert state.is_terminal()
    assert state.returns() == [-1, 1, 0, 0]
    assert state.view(1)[0].hands[1] == 0


# What is seen.


@pytest.mark.parametrize("text", SMALL)
def test_strings_and_tensors_tell_apart_what_views_do(text: str) -> None:
    """A test of views finds nothing hidden in them."""
    game = pyspiel.load_game(text)
    strings, tensors, views = {}, {}, {}
    rng = Random(text)
    for _ in range(400):
        state = random_state(rng, game, rng.randrange(12))
        if rng.random() < 0.3:
            state.apply_action(state.legal_actions()[0])
        if state.is_chance_node():
            continue
        for seat in range(game.num_players()):
            view, string = state.view(seat).tobytes(), state.information_state_string(seat)
            tensor = seat, tuple(state.information_state_tensor(seat))
            assert strings.setdefault(view, string) == string
            assert views.setdefault(string, view) == view
            assert tensors.setdefault(view, tensor) == tensor
            assert state.observation_string(seat) == string
            assert tuple(state.observation_tensor(seat)) == tensor[1]
    if "dealer=-1" not in text:
        assert len(set(tensors.values())) == len(strings)


def test_settlements_tell_what_views_tell() -> None:
    """Where tricks are cut short, only what is paid shows who has revoked (B-13, B-15)."""
    views, told = {}, defaultdict(set)
    for state in filter(pyspiel.State.is_terminal, states_of(pyspiel.load_game(SMALL[2]))):
        view, string = state.view(0).tobytes(), state.information_state_string(0)
        assert views.setdefault(string, view) == view
        told[string.partition("; gains")[0]].add(string)
    assert len(set(views.values())) == len(views)
    assert max(map(len, told.values())) == 2


@pytest.mark.parametrize("text", SMALL[:3])
def test_players_forget_nothing(text: str) -> None:
    game = pyspiel.load_game(text)
    pasts = {}

    def descend(state: HandState, past: tuple) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for card in state.legal_actions():
                descend(state.child(card), past)
            return
        seat, string = state.current_player(), state.information_state_string()
        assert pasts.setdefault(string, past[seat]) == past[seat]
        for action in state.legal_actions():
            own = (*past[seat], (string, action))
            descend(state.child(action), (*past[:seat], own, *past[seat + 1 :]))

    descend(game.new_initial_state(), ((),) * game.num_players())


def test_the_dealer_decides_blind() -> None:
    game = pyspiel.load_game(TINY["beast"])
    states = [s for s in states_of(game) if s.current_player() == 0 and not s._hand.moves]
    assert {s.information_state_string() for s in states} == {
        f"seat 0; hand unseen; dealer 0; upcard {card};" for card in ("Kc", "Ac", "Kd", "Ad")
    }
    assert len({tuple(s.information_state_tensor()) for s in states}) == 4
    assert "hand Kc;" in {s.information_state_string(1)[8:16] for s in states}


def test_discards_are_read_by_the_dealer_alone() -> None:
    game = pyspiel.load_game(TINY["beast"])
    taken = [s for s in states_of(game) if s._hand.moves[-1:] and len(s._hand.moves) == 2]
    taken = [s for s in taken if s._hand.moves[0][1] == beast.TAKE]
    assert all(s.information_state_string(1).endswith("0 TAKE 0 discards") for s in taken)
    assert all(" discard " in s.information_state_string(0) for s in taken)
    assert " discard " not in "".join(s.information_state_string(1) for s in taken)


def test_observations_come_by_pieces_and_kinds() -> None:
    kinds = {
        (public, private): pyspiel.IIGObservationType(
            public_info=public, perfect_recall=True, private_info=private
        )
        for public in (True, False)
        for private in pyspiel.PrivateInfoType.__members__.values()
    }
    single, none = pyspiel.PrivateInfoType.SINGLE_PLAYER, pyspiel.PrivateInfoType.NONE
    game = pyspiel.load_game("python_beast")
    state = random_state(Random(2), game, 9)
    whole = make_observation(game, INFO_STATE_OBS_TYPE)
    public, own = (make_observation(game, kinds[kind]) for kind in ((True, none), (False, single)))
    for observation in (whole, public, own):
        observation.set_from(state, 2)
    assert np.array_equal(whole.tensor, state.information_state_tensor(2))
    assert sorted(own.dict) == ["discard", "hand", "revoked"]
    assert whole.dict.keys() == own.dict.keys() | public.dict.keys()
    for observation in (public, own):
        for piece, values in observation.dict.items():
            assert np.array_equal(values, whole.dict[piece])
    told = [observation.string_from(state, 2) for observation in (own, public)]
    assert " ".join(told) == whole.string_from(state, 2) == state.information_state_string(2)
    with pytest.raises(ValueError, match="not of all"):
        make_observation(game, kinds[True, pyspiel.PrivateInfoType.ALL_PLAYERS])
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(game, INFO_STATE_OBS_TYPE, {"colour": 1})


# Bounds.


def lengths(state: HandState) -> tuple[int, int]:
    players = [move.player for move in state.full_history()]
    return sum(p >= 0 for p in players), sum(p < 0 for p in players)


@pytest.mark.parametrize("text", SMALL)
def test_no_hand_is_out_of_bounds(text: str) -> None:
    game, rng = pyspiel.load_game(text), Random(text)
    for _ in range(300):
        state = random_state(rng, game, 99)
        state.apply_action(state.legal_actions()[-1])
        moves, chances = lengths(state)
        assert moves <= game.max_game_length()
        assert chances <= game.max_chance_nodes_in_history()
        assert sum(state.returns()) == pytest.approx(0)
        assert game.min_utility() - 1e-9 <= min(state.returns())
        assert max(state.returns()) <= game.max_utility() + 1e-9


@pytest.mark.parametrize("text", TINY.values())
def test_bounds_are_those_of_the_tree(text: str) -> None:
    game = pyspiel.load_game(text)
    ends = [state for state in states_of(game) if state.is_terminal()]
    utilities = [utility for state in ends for utility in state.returns()]
    assert min(utilities) == pytest.approx(game.min_utility())
    assert max(utilities) == pytest.approx(game.max_utility())
    assert max(lengths(state)[0] for state in ends) <= game.max_game_length()


# Other deals that a player cannot tell from the true one.


@pytest.mark.parametrize("text", [*SMALL[:5], *SMALL[6:8]])
def test_resampling_finds_all_that_a_player_cannot_tell_apart(text: str) -> None:
    game, rng = pyspiel.load_game(text), Random(text)
    alike = defaultdict(set)
    for state in states_of(game):
        if state.current_player() >= 0:
            alike[state.information_state_string()].add(str(state))
    for moment in range(5):
        state = random_state(rng, game, moment)
        seat, string = state.current_player(), state.information_state_string()
        count = 60 * len(alike[string])
        found = Counter(
            str(state.resample_from_infostate(seat, rng.random)) for _ in range(min(count, 900))
        )
        assert found.keys() <= alike[string]
        if count <= 900:
            assert found.keys() == alike[string]
            assert min(found.values()) > 25
            assert max(found.values()) < 110


def test_resampling_knows_that_gathered_cards_come_again() -> None:
    """The new card that seat 1 has played was the upcard, or else what seat 0 had thrown."""
    game = pyspiel.load_game("python_bestia(players=3,ranks=2,suits=2,cards=1,dealer=2)")
    acts = "0 PASS 1 PASS 2 KNOCK 0 REFUSE 1 EXCHANGE 1 "
    states = [state for state in states_of(game) if acts in str(state) and not state.is_terminal()]
    alike = defaultdict(set)
    for state in states:
        alike[state.information_state_string()].add(str(state))
    assert {len(group) for group in alike.values()} == {1, 2}
    for state in states[::7]:
        found = {str(state.resample_from_infostate(2, Random(k).random)) for k in range(20)}
        assert found == alike[state.information_state_string()]


@pytest.mark.parametrize("name", GAMES)
def test_resampling_serves_the_full_games(name: str) -> None:
    rng = Random(name)
    for players in GAMES[name].player_counts:
        game = pyspiel.load_game(game_string(name, players=players, dealer=players - 1))
        state = random_state(rng, game, rng.randrange(3 * players))
        for seat in {0, state.current_player()}:
            other = state.resample_from_infostate(seat, rng.random)
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.current_player() == state.current_player()
            assert other.history() != state.history()


def test_only_decisions_are_resampled() -> None:
    game = pyspiel.load_game(TINY["bestia"])
    with pytest.raises(ValueError, match="no view before the deal"):
        game.new_initial_state().resample_from_infostate(0, lambda: 0.5)
    end = next(state for state in states_of(game) if state.is_terminal())
    with pytest.raises(ValueError, match="only states in which a seat is to act"):
        end.resample_from_infostate(0, lambda: 0.5)


# Algorithms of OpenSpiel.


def gap(game: pyspiel.Game, policy: policies.Policy) -> float:
    return exploitability.nash_conv(game, policy)


@pytest.mark.parametrize("text", TINY.values())
def test_counterfactual_regret_falls(text: str) -> None:
    game = pyspiel.load_game(text)
    uniform = gap(game, policies.UniformRandomPolicy(game))
    assert uniform == pytest.approx(pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)))
    solvers = cfr.CFRSolver(game), pyspiel.CFRSolver(game)
    for _ in range(4):
        for solver in solvers:
            solver.evaluate_and_update_policy()
    python, compiled = (solver.average_policy() for solver in solvers)
    assert gap(game, python) == pytest.approx(pyspiel.nash_conv(game, compiled))
    assert gap(game, python) < uniform / 2


def test_external_sampling_approaches_an_equilibrium() -> None:
    game = pyspiel.load_game(TINY["beast"])
    np.random.seed(0)
    solvers = (
        external_sampling_mccfr.ExternalSamplingSolver(game),
        outcome_sampling_mccfr.OutcomeSamplingSolver(game),
    )
    for solver in solvers:
        for _ in range(300):
            solver.iteration()
        assert gap(game, solver.average_policy()) < 0.45
    compiled = pyspiel.ExternalSamplingMCCFRSolver(game, seed=1)
    for _ in range(300):
        compiled.run_iteration()
    assert pyspiel.nash_conv(game, compiled.average_policy(), True) < 0.45


@pytest.mark.parametrize("text", TINY.values())
def test_expected_scores_are_those_of_the_tree(text: str) -> None:
    game = pyspiel.load_game(text)

    def worth(state: HandState) -> np.ndarray:
        if state.is_terminal():
            return np.array(state.returns())
        if state.is_chance_node():
            return sum(p * worth(state.child(card)) for card, p in state.chance_outcomes())
        return sum(map(worth, map(state.child, state.legal_actions()))) / len(state.legal_actions())

    start = game.new_initial_state()
    uniform = [policies.UniformRandomPolicy(game)] * 2
    assert expected_game_score.policy_value(start, uniform) == pytest.approx(worth(start))


@pytest.mark.parametrize("text", [*TINY.values(), "python_beast", "python_bestia(players=3)"])
def test_search_among_information_sets_finds_an_action(text: str) -> None:
    game = pyspiel.load_game(text)
    bot = ismcts.ISMCTSBot(
        game,
        mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)),
        2.0,
        30,
        random_state=np.random.RandomState(2),
    )
    state = random_state(Random(3), game, 6)
    assert bot.step(state) in state.legal_actions()


def play_learners(game: pyspiel.Game, make: Callable[[int, int, int], Any]) -> None:
    """Some episodes of one learner for each player."""
    env = rl_environment.Environment(game)
    width, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    learners = [make(player, width, actions) for player in range(game.num_players())]
    for _ in range(10):
        step = env.reset()
        while not step.last():
            step = env.step([learners[step.observations["current_player"]].step(step).action])
        for learner in learners:
            learner.step(step)


def test_policy_gradients_run() -> None:
    gradients = pytest.importorskip("open_spiel.python.pytorch.policy_gradient")
    play_learners(
        load_reduction("beast3-tiny"),
        lambda *sizes: gradients.PolicyGradient(*sizes, hidden_layers_sizes=(8,), batch_size=4),
    )


def test_fictitious_self_play_runs() -> None:
    pytest.importorskip("tree")  # which OpenSpiel does not bring along
    nfsp = pytest.importorskip("open_spiel.python.pytorch.nfsp")
    play_learners(
        pyspiel.load_game(TINY["bestia"]),
        lambda *sizes: nfsp.NFSP(*sizes, [8], reservoir_buffer_capacity=50, anticipatory_param=0.1),
    )


def test_deep_counterfactual_regret_runs() -> None:
    pytest.importorskip("tree")
    deep_cfr = pytest.importorskip("open_spiel.python.pytorch.deep_cfr")
    game = pyspiel.load_game(TINY["beast"])
    solver = deep_cfr.DeepCFRSolver(
        game,
        policy_network_layers=(8,),
        advantage_network_layers=(8,),
        num_iterations=2,
        num_traversals=4,
        memory_capacity=1000,
    )
    _, losses, _ = solver.solve()
    assert sorted(losses) == [0, 1]
