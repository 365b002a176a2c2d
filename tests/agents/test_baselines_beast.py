"""The rule-of-thumb players of Beast: honest, never punished, each of them its own style."""

from collections import Counter
from random import Random

import numpy as np
import pytest

from agents.baselines import beast as baselines
from agents.baselines.beast import (
    BASELINES,
    BOLD,
    CAUTIOUS,
    RANDOM,
    SPOILER,
    THRESHOLD,
    TRAPPER,
    act,
)
from bestia_env import engine
from bestia_env.bits import ZERO
from bestia_env.games import GAMES
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules import beast
from bestia_env.rules.beast import (
    AT_COUNTER,
    AT_DECLARE,
    AT_TAKE,
    AT_TRICKS,
    COUNTER,
    LEAVE,
    PASS,
    PLAY,
    SHOW,
    TAKE,
)
from bestia_env.view import look
from tests.rules import hands
from tests.rules.hands import pack_order
from tests.sessions import Table, random_session

KINDS = range(len(BASELINES))
DEFAULT = BASELINES[THRESHOLD].parameter


def view_of(states):
    views = states.copy()
    look(states, 0, states[0].turn, views, 0)
    return views[0]


def act_on(view, kind, rng, parameter=DEFAULT):
    return int(act(kind, parameter, view, np.uint64(beast.legal(view)), rng))


def generator(seed=0):
    return seed_sequence_keys(seed, 1)


# Legal, obedient and honest, everywhere.


@pytest.mark.parametrize("num_players", [4, 5, 6])
def test_never_illegal_never_punished(num_players):
    rng, own = Random(num_players), generator()
    for _ in range(40):
        table = Table(random_session(rng, "beast", num_players))
        kinds = [rng.choice(KINDS) for _ in range(num_players)]
        for hand in range(len(table.session.decks)):
            if hand:
                table.deal_next()
            while table.turn >= 0:
                view = table.view(table.turn)[0]
                action = act_on(view, kinds[table.turn], own, rng.random())
                assert action in table.legal()
                table.act(action)
            assert not any(table.read("revoked"))


@pytest.mark.parametrize("num_players", [4, 6])
def test_the_view_alone_decides_and_chance_for_random_only(num_players):
    for table in random_hands(num_players, 25):
        s = table.states.copy()[0]  # all that is hidden in full sight
        s.viewer = s.turn
        if s.turn != s.dealer:
            s.discard = ZERO  # nobody else has a discard to go by
        for kind in KINDS:
            one, two = generator(3), generator(3)
            assert act_on(view_of(table.states), kind, one) == act_on(s, kind, two)
            assert one == two
            assert (kind == RANDOM) == (one != generator(3))


def random_hands(num_players, count):
    """A table at every decision of some hands, played by random players."""
    rng = Random(9)
    own = generator(9)
    for _ in range(count):
        table = Table(random_session(rng, "beast", num_players, 1))
        while table.turn >= 0:
            yield table
            table.act(act_on(table.view(table.turn)[0], RANDOM, own))


def test_random_does_every_legal_thing():
    states = engine.new_states("beast", 4)
    engine.start_session(states, 0, np.uint64(1), 0, 0)
    own = generator()
    taken = sum(act_on(view_of(states), RANDOM, own) == TAKE for _ in range(400))
    assert 150 < taken < 250


# Styles: seat 0 plays in one of them, the others at the default threshold.


def decisions(kind, hands, num_players=4, parameter=DEFAULT, cards=None, last=AT_TRICKS):
    """(state, view, action) at every decision of seat 0, and (state, None, None) after a hand.

    In the tricks seat 0 plays like `cards`, if that is given; `last` is the last phase played.
    """
    states = engine.new_states("beast", num_players)
    s, own = states[0], generator(1)
    for number, key in enumerate(seed_sequence_keys(2, hands)):
        engine.start_session(states, 0, key, number % num_players, 0)
        while s.turn >= 0 and s.phase <= last:
            view = view_of(states)
            if s.turn:
                action = act_on(view, THRESHOLD, own)
            else:
                plays = cards is not None and s.phase == AT_TRICKS
                action = act_on(view, cards if plays else kind, own, parameter)
                yield s, view, action
            beast.apply(s, action)
        yield s, None, None


def said(kind, num_players=4, parameter=DEFAULT, hands=500):
    """How often seat 0 does what in the rounds before the tricks."""
    moves = decisions(kind, hands, num_players, parameter, last=AT_COUNTER)
    return Counter(action for _, _, action in moves)


@pytest.mark.parametrize("num_players", [4, 6])
def test_from_the_spoiler_to_the_bold_they_declare_more_and_more(num_players):
    styles = [said(kind, num_players) for kind in (SPOILER, CAUTIOUS, THRESHOLD, BOLD)]
    declared = [style[PLAY] + style[COUNTER] + style[SHOW] for style in styles]
    assert declared == sorted(set(declared))
    taken = [style[TAKE] for style in styles]
    assert taken[:2] == [0, 0]
    assert 0 < taken[2] < taken[3]


def test_the_threshold_goes_from_always_to_never():
    styles = [said(THRESHOLD, parameter=x) for x in (0.0, 0.3, 0.5, 0.7, 1.0)]
    declared = [style[PLAY] + style[COUNTER] for style in styles]
    assert declared == sorted(set(declared), reverse=True)
    assert styles[0][LEAVE] == styles[0][PASS] == 0
    assert styles[-1][PLAY] == styles[-1][COUNTER] == styles[-1][TAKE] == 0


def test_beast_21_the_trapper_counters_rather_than_plays():
    passed_up = counters = 0
    for s, view, action in decisions(TRAPPER, 800, last=AT_COUNTER):
        if view and s.phase == AT_DECLARE and s.dealer != 0:
            assert action == PASS
            passed_up += act_on(view, THRESHOLD, generator()) != PASS
        counters += action == COUNTER
    assert passed_up > 40
    assert counters > 40


@pytest.mark.parametrize(("kind", "declares"), [(SPOILER, False), (THRESHOLD, True)])
def test_sound_cards_beat_random_ones(kind, declares):
    """An undeclared seat keeps declarers from winning (BEAST-40), a declarer wins more."""
    wins = Counter()
    for cards in (kind, RANDOM):
        for s, view, _ in decisions(kind, 1200, cards=cards):
            declarers = {int(s.player), int(s.counterer)} - {-1}
            if view is None and (0 in declarers) == declares:
                wins[cards] += s.front in declarers and (not declares or s.front == 0)
    if declares:
        assert wins[kind] > 1.2 * wins[RANDOM]
    else:
        assert wins[kind] < 0.95 * wins[RANDOM]


# The estimate.


def test_the_chances_are_as_estimated():
    """Seat 0 plays whatever it holds."""
    rows = []
    for s, view, _ in decisions(THRESHOLD, 1500, parameter=0.0):
        if view is None and rows and rows[-1][1] is None:
            rows[-1][1] = s.gains[0] > 0
        elif view and s.phase == AT_DECLARE:
            rows.append([baselines.declared_chance(view), None])
    chances, won = np.array(rows, float).T
    for low, high in ((0, 0.15), (0.15, 0.4), (0.4, 1)):
        group = (low <= chances) & (chances < high)
        deviation = np.sqrt((chances * (1 - chances))[group].sum())
        assert group.sum() > 150
        assert abs(chances[group].sum() - won[group].sum()) < 3 * deviation


@pytest.mark.slow
@pytest.mark.parametrize("num_players", [4, 5, 6])
@pytest.mark.parametrize("phase", [AT_DECLARE, AT_COUNTER])
def test_the_weights_are_those_of_the_calibration(num_players, phase):
    from experiments.calibrate_beast import fit, sample

    drawn = sample(num_players, phase, 100_000, seed=4)
    used = baselines.WEIGHTS[int(phase == AT_COUNTER), num_players - 4]
    found = fit(drawn.features, drawn.won)
    chances = [1 / (1 + np.exp(-drawn.features @ weights)) for weights in (used, found)]
    assert np.abs(chances[0] - chances[1]).mean() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("num_players", [4, 5, 6])
def test_a_takers_chances_are_those_of_the_calibration(num_players):
    from experiments.calibrate_beast import sample

    drawn = sample(num_players, AT_TAKE, 100_000, seed=4)
    found = np.bincount(drawn.upcards, drawn.won) / np.bincount(drawn.upcards)
    assert np.abs(found - baselines.TAKER[num_players - 4]).max() < 0.03


# Single decisions. Seat 3 deals, hearts are trumps; who is not mentioned holds low cards.

SURE, STRONG, WEAK = "Ah Kh Qh 2c 3d", "Ah Kh 9h Ac 3d", "5h 2c 3d 4d 5c"
ALL_PASS = "LEAVE PASS*3"
THREAT = "LEAVE PASS PLAY PASS*2"  # seat 1 is the Player, seat 0 is the last who may counter
PLAYED = "LEAVE PLAY PASS*3"  # seat 0 is the Player and leads
PASSED = "LEAVE PASS*2 PLAY PASS*3"  # seat 2 is the Player, seat 0 leads


def choice(actions, kind=THRESHOLD, upcard="2h", options=None, **held):
    """What the seat to act does after these actions; held: a="Ah Kh …" for seat 0, b for 1 …."""
    cards = {"abcd".index(seat): names for seat, names in held.items()}
    table = hands.Table(
        "beast", pack_order("beast", cards, upcard, dealer=3), dealer=3, **(options or {})
    )
    states = table.play(actions).env.unwrapped.states
    return GAMES["beast"].action_name(act_on(view_of(states), kind, generator()))


def test_beast_21_the_trapper_shows_a_sure_hand_as_counterer():
    assert choice("LEAVE", TRAPPER, a=SURE) == "PASS"
    assert choice(THREAT, TRAPPER, a=SURE) == "SHOW"
    assert choice(THREAT, TRAPPER, a=STRONG) == "COUNTER"
    assert choice(ALL_PASS, TRAPPER, d=STRONG) == "PLAY"
    assert choice(ALL_PASS, TRAPPER, d=SURE) == "SHOW"


@pytest.mark.parametrize("kind", [CAUTIOUS, THRESHOLD, SPOILER, BOLD])
def test_beast_20_a_sure_hand_is_shown(kind):
    assert choice("LEAVE", kind, a=SURE) == "SHOW"
    assert choice("LEAVE", kind, options={"demonstration": "off"}, a=SURE) == "PLAY"


@pytest.mark.parametrize("option", ["pays_winner", "carry"])
def test_b_01_losing_to_the_player_counts(option):
    options = {"losing_counterer": option}
    assert choice("LEAVE", options=options, a=SURE) == "PLAY"  # a Counterer would have to pay
    assert choice(THREAT, options=options, a=SURE) == "SHOW"
    assert choice(THREAT, a="Kh 8h Kc 3d 4d") == "COUNTER"
    assert choice(THREAT, options=options, a="Kh 8h Kc 3d 4d") == "PASS"


def test_b_17_a_match_far_below_the_pot_makes_bold():
    options = {"match_limit": 1, "pot": 1000}
    assert choice("LEAVE", a=WEAK) == "PASS"
    assert choice("LEAVE", options=options, a=WEAK) == "PLAY"
    assert choice("LEAVE", CAUTIOUS, options=options, a=WEAK) == "PASS"


def test_beast_08_the_upcard_alone_decides_a_blind_take():
    for cards in (SURE.replace("Ah", "Jh"), WEAK):
        assert choice("", upcard="Ah", d=cards) == "TAKE"
        assert choice("", upcard="2h", d=cards) == "LEAVE"
        assert choice("", BOLD, upcard="2h", d=cards) == "TAKE"
        assert choice("", CAUTIOUS, upcard="Ah", d=cards) == "LEAVE"


def test_beast_09_the_dealer_keeps_trumps_and_side_aces():
    assert choice("TAKE", d="3h Ac Kd 7d 9s") == "7d"
    assert choice("TAKE", d="3h 4h 5h 6h 7h") == "2h"


def test_a_declarer_draws_trumps_and_the_others_lead_their_high_cards():
    cards = "9h 3h Kc 4s 8c"
    assert choice(PLAYED, a=cards) == "9h"
    assert choice(PASSED, a=cards) == "Kc"
    assert choice(PASSED, a="Ah 3h Ac 4s 8c") == "Ah"
    assert choice(PASSED, a="Kh 3h Kc 4s 8c") == "Kc"
    assert choice(PASSED, upcard="Ah", a="Kh 3h Kc 4s 8c") == "Kh"
    assert choice(PLAYED, a="3h Ac Kd Ks 4s") == "Ac"


def test_the_others_give_the_player_nothing_to_ruff():
    cards = {"a": "Ac Kc 9d 8s 3s", "c": "Qd Jd 10d 8d 7d"}
    assert choice(PASSED, **cards) == "Ac"
    # After the ace the Player is known to hold no clubs: the king would be ruffed.
    kept = {"a": "Ac Qc 9d 8s 3s", "b": "4c 5c 6c 7c 8c", "c": "Qd Jd 10d 8d 7d"}
    assert choice(f"{PASSED} Ac 4c 7d 2c", **kept) == "9d"


def test_a_declarer_wins_as_cheaply_as_he_can():
    assert choice(f"{PASSED} 2c 6c", b="6c 7c 8c 7d 8d", c="Kc Jc 9c 9d 2d") == "9c"
    assert choice(f"{PASSED} 2c 6c", b="6c 7c 8c 7d 8d", c="Kh 4h 9s 9d 3s") == "4h"


def test_who_cannot_win_plays_his_lowest():
    assert choice(f"{PLAYED} Ac", a="Ac", b="Kc 7c 8c 7d 8d") == "7c"
    assert choice(f"{PLAYED} Ah", a="Ah", b="6c Ac 8s 7d Ad") == "6c"


def test_the_others_win_high_ahead_of_a_declarer_and_cheaply_behind():
    cards = {"a": "2c", "b": "Kc 9c 8c 7d 8d"}
    assert choice(f"{PASSED} 2c", **cards) == "Kc"
    assert choice(f"{PLAYED} 2c", **cards) == "8c"


def test_the_others_leave_a_trick_to_one_of_them():
    for led in ("Kc", "Qc"):  # one unseen card at most may beat it
        assert choice(f"{PASSED} {led}", a=led, b="Ac 7c 8c 7d 8d") == "7c"
    assert choice(f"{PASSED} Jc", a="Jc", b="Ac 7c 8c 7d 8d") == "Ac"
    behind = {"a": "2c", "b": "Jc 7c 8c 7d 8d", "c": "5c", "d": "Kc 6c 7s 10d 3d"}
    assert choice(f"{PASSED} 2c Jc 5c", **behind) == "6c"


def test_who_has_more_tricks_takes_them_from_the_others():
    cards = {"a": "2c 2d 5s", "c": "5c 3d As"}
    ahead = cards | {"b": "Ac Kd 4d 3s", "d": "6c Qd 4s"}
    assert choice(f"{PASSED} 2c Ac 5c 6c 3s As 4s 5s 3d Qd 2d", **ahead) == "Kd"
    behind = cards | {"b": "7c Kd 4d 3s", "d": "Kc Qd 4s"}
    assert choice(f"{PASSED} 2c 7c 5c Kc 4s 5s 3s As 3d Qd 2d", **behind) == "4d"
