import dataclasses
import itertools

import numpy as np
import pytest

from agents import arena, stand_ins
from agents.arena import (
    Luck,
    compare,
    duel,
    evaluate,
    mean_of,
    one_against_field,
)
from agents.control_variates import Deals, StandIn, model_for
from agents.deal_classes import class_deals, classes, num_packets, packet_worth, trump_chances
from agents.duplicate import Piece, Table, play_piece
from agents.estimates import Estimate, Moments
from agents.matches import deal_copies
from agents.policies import Policy, parse_policy
from agents.reports import gain_in_words
from agents.stand_ins import Pair, known_pairs, policies_of
from bestia_env.engine import new_states
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.bestia import EXCHANGE, PASS, BestiaRules, apply

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

KEY = seed_sequence_keys(3, 1)[0]
UNLIKE_SOUND = (
    *("random", "tight", "doctor", "bold"),
    *("knock if trumps >= 2", "knock if top_trump >= re"),
)
UNLIKE = {"bestia": ("bold", "tight", 24_000), "beast": ("spoiler", "bold", 8_000)}


def players(game: str, *specs: str) -> list[Policy]:
    return [parse_policy(spec, game, 4) for spec in specs]


def plain(scores: np.ndarray) -> Estimate:
    return Moments.of(scores).estimate()


def deals(seed: int, count: int) -> Deals:
    return Deals("bestia", 4, BestiaRules(), seed_sequence_keys(seed, 1)[0], count)


# The classes.


@pytest.mark.parametrize("bounds", [3, 6])
def test_chances_of_classes_are_those_of_all_hands(bounds: int) -> None:
    kinds = classes(bounds)
    assert kinds.bounds.size == bounds
    counts = np.zeros(bounds + 1)
    for upcard in range(10):
        for hand in itertools.combinations([card for card in range(40) if card != upcard], 3):
            bits = np.uint64(sum(1 << card for card in hand))
            worth = packet_worth(bits, upcard)
            counts[np.searchsorted(kinds.bounds, worth, side="right")] += 1
    np.testing.assert_allclose(kinds.chances, counts / counts.sum(), rtol=1e-12)
    np.testing.assert_allclose(kinds.pairs, kinds.pairs.T, rtol=1e-12)
    np.testing.assert_allclose(kinds.pairs.sum(axis=1), kinds.chances, rtol=1e-12)


def test_packets_of_dealt_cards_are_of_the_classes_as_often_as_they_should() -> None:
    kinds, count = classes(6), 40_000
    found = class_deals(5, KEY, 0, count, kinds.bounds)
    for a, b in ((0, 1), (4, 2), (3, 7)):
        seen = np.bincount(found[:, a] * 7 + found[:, b], minlength=49).reshape(7, 7)
        error = np.sqrt(kinds.pairs * (1 - kinds.pairs) * count)
        assert (np.abs(seen - count * kinds.pairs) < 5 * error).all()


def test_packets_are_the_hands_and_then_the_new_cards_of_the_arena() -> None:
    bounds = classes(6).bounds
    found = class_deals(4, KEY, 7, 50, bounds)
    states = new_states("bestia", 4, None, 50)
    deal_copies(states, 1, KEY, 7, 9)
    for s, kinds in zip(states, found, strict=True):
        order = [(int(s.dealer) + 1 + place) % 4 for place in range(4)]
        hands = [packet_worth(s.hands[seat], s.upcard) for seat in order]
        for action in (*[PASS] * 4, *[EXCHANGE] * 4):
            apply(s, action)
        fresh = [packet_worth(s.hands[seat], s.upcard) for seat in order[:3]]
        assert [*np.searchsorted(bounds, hands + fresh, side="right")] == [*kinds[: num_packets(4)]]
        held = [int(s.thrown[seat] >> np.uint64(10 * s.trump)) & 1023 for seat in order]
        trumps = [10 * t.bit_count() - 10 + t.bit_length() if t else 0 for t in held]
        assert trumps == [*kinds[num_packets(4) :]]


def test_chances_of_trumps_are_those_of_all_hands() -> None:
    counts = np.zeros(31, np.int64)
    for upcard in range(10):
        for hand in itertools.combinations([card for card in range(40) if card != upcard], 3):
            trumps = [card for card in hand if card < 10]
            counts[10 * len(trumps) - 10 + max(trumps) + 1 if trumps else 0] += 1
    np.testing.assert_allclose(trump_chances().ravel(), counts[1:] / counts.sum(), rtol=1e-12)


def test_hands_have_such_trumps_as_often_as_they_should() -> None:
    chances, count = trump_chances().ravel(), 40_000
    found = class_deals(5, KEY, 0, count, classes(6).bounds)[:, num_packets(5) :]
    for trumps in found.T:
        seen = np.bincount(trumps, minlength=31)[1:]
        assert (np.abs(seen - count * chances) <= 5 * np.sqrt(chances * count)).all()


@pytest.mark.parametrize(("count", "tops"), [(4000, False), (6000, True)])
def test_what_trumps_alone_explain_is_taken_off(count: int, tops: bool) -> None:
    assert model_for("bestia", 4, BestiaRules(), count).tops == tops
    found = class_deals(4, seed_sequence_keys(4, 1)[0], 0, count, classes(6).bounds)
    kinds = found[:, num_packets(4) + 2]
    scores = 1.0 * (kinds % 10 == 8 if tops else kinds > 10)
    truth = trump_chances()[:, 7].sum() if tops else trump_chances()[1:].sum()
    estimate = deals(4, count).estimate(plain(scores), scores)
    assert abs(estimate.mean - truth) < 1.5 * estimate.half_width
    assert estimate.factor > 25


def test_an_option_that_may_change_the_pack_leaves_luck_in() -> None:
    @dataclasses.dataclass(frozen=True)
    class Reduced(BestiaRules):
        ranks: int = 10

    assert model_for("bestia", 4, Reduced(maxims="mask", stake=6), 50_000).bounds == 6
    assert model_for("bestia", 4, Reduced(ranks=9), 50_000).bounds == 0


# The regression.


def luck_of(found: np.ndarray) -> np.ndarray:
    """A score that classes explain: of a good hand in front of another."""
    return 1.0 * (found[:, 0] >= 3) - 2.0 * ((found[:, 1] >= 4) & (found[:, 5] >= 2))


def test_intervals_hold_the_truth_as_often_as_they_say_and_the_mean_is_unbiased() -> None:
    kinds = classes(6)
    truth = kinds.chances[3:].sum() - 2 * kinds.pairs[4:, 2:].sum()
    runs, naive = [], []
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(0, 0.4, 900)
        key = seed_sequence_keys(seed, 1)[0]
        scores = luck_of(class_deals(4, key, 0, 900, kinds.bounds)) + noise
        runs.append(deals(seed, 900).estimate(plain(scores), scores))
        naive.append(plain(scores))
    assert 0.91 <= np.mean([run.low <= truth <= run.high for run in runs]) <= 0.985
    means = plain(np.array([run.mean for run in runs]))
    assert abs(means.mean - truth) < 1.5 * means.half_width
    spread = np.var([run.mean for run in naive]) / np.var([run.mean for run in runs])
    assert spread > 1.5
    assert np.mean([run.factor for run in runs]) == pytest.approx(spread, rel=0.35)


def test_where_nothing_is_explained_the_mean_is_the_plain_one() -> None:
    noise = np.random.default_rng(0).normal(0, 1, 5000)
    assert deals(1, 5000).estimate(plain(noise), noise) == plain(noise)
    assert deals(1, 5000).estimate(plain(noise * 0 + 0.1), noise * 0 + 0.1).factor == 1


def test_the_error_of_what_stand_ins_are_known_to_score_is_in_the_interval() -> None:
    chances = np.random.default_rng(5)
    other = chances.normal(2, 1, 3000)
    scores = 0.5 * other + chances.normal(0, 0.1, 3000)
    empty = Deals("beast", 4, None, KEY, 3000)
    exact = empty.estimate(plain(scores), scores, [StandIn(other, Estimate(2, 0.00006, 10**9))])
    rough = empty.estimate(plain(scores), scores, [StandIn(other, Estimate(2, 0.0196, 10**4))])
    assert exact.low <= 1 <= exact.high
    assert exact.factor > 15
    assert exact.mean == pytest.approx(rough.mean, abs=1e-3)
    assert rough.half_width == pytest.approx(np.hypot(exact.half_width, 0.5 * 0.0196), rel=0.02)
    useless = [StandIn(other, Estimate(2, 0.9, 5))]
    assert empty.estimate(plain(scores), scores, useless) == plain(scores)


def test_only_the_deals_in_which_somebody_sits_count() -> None:
    found = class_deals(4, seed_sequence_keys(2, 1)[0], 0, 6000, classes(6).bounds)
    present = np.random.default_rng(1).random(6000) < 0.5
    scores = luck_of(found)[present]
    estimate = deals(2, 6000).estimate(plain(scores), scores, present=present)
    assert estimate.num_deals == present.sum()
    assert estimate.factor > 2


def test_a_column_with_a_mean_of_zero_is_taken_off_without_doubt() -> None:
    chances = np.random.default_rng(8)
    column = chances.normal(0, 1, 3000)
    scores = 0.5 * column + chances.normal(1, 0.1, 3000)
    empty = Deals("beast", 4, None, KEY, 3000)
    found = empty.estimate(plain(scores), scores, exact=[column])
    assert found.low <= 1 <= found.high
    assert found.factor > 20
    vague = StandIn(chances.normal(0, 1, 3000), Estimate(0, 0.6, 10))
    assert empty.estimate(plain(scores), scores, [vague], [column]).factor > 20


# In the arena.


def test_without_control_the_results_are_the_plain_means() -> None:
    table, lineup = Table("bestia", seed=4), players("bestia", "bold", *["tight"] * 3)
    pieces = [Piece((0, 1, 2, 3), 0, 1024), Piece((0, 1, 2, 3), 1024, 1500)]
    scores = [play_piece(table, lineup, piece) for piece in pieces]
    for place, found in enumerate(evaluate(lineup, 1500, 4, control=False)):
        sums = sum((Moments.of(piece[:, place]) for piece in scores), Moments())
        assert found == sums.estimate()
        assert found.factor == 1


@pytest.mark.parametrize("game", ["bestia", "beast"])
def test_unlike_policies_take_a_fourth_of_the_hands(game: str) -> None:
    one, field, count = UNLIKE[game]
    policies = players(game, one, field)
    found = one_against_field(*policies, count, seed=6)
    raw = one_against_field(*policies, count, seed=6, control=False)
    assert found.factor > 4
    assert found.factor == pytest.approx((raw.half_width / found.half_width) ** 2)
    assert abs(found.mean - raw.mean) < 1.5 * raw.half_width


@pytest.mark.parametrize("one", UNLIKE_SOUND)
def test_unlike_policies_take_a_fourth_of_the_hands_among_good_ones_too(one: str) -> None:
    assert one_against_field(*players("bestia", one, "sound"), 20_000, seed=6).factor > 4


@pytest.mark.parametrize("one", ["random", "bold", "cautious"])
def test_so_do_they_in_beast(one: str) -> None:
    assert one_against_field(*players("beast", one, "threshold"), 20_000, seed=6).factor > 4


@pytest.mark.parametrize(
    ("game", "one", "field"), [("beast", "spoiler", "bold"), ("bestia", "doctor", "sound")]
)
def test_numbers_do_not_depend_on_the_jobs(game: str, one: str, field: str) -> None:
    policies = players(game, one, field)
    found = [one_against_field(*policies, stand_ins.FEW, seed=3, jobs=jobs) for jobs in (1, 2)]
    assert found[0] == found[1]
    assert found[0].factor > 2


def test_the_gain_is_told_in_words() -> None:
    policies = players("bestia", "bold", "tight")
    result = compare(Table("bestia", seed=1), policies, 1500)
    cell = result.matrix[0][1].factor
    assert cell > 1.5
    assert f"{cell:.1f}" in gain_in_words(result)
    assert "times as many hands" in gain_in_words(result)
    raw = compare(Table("bestia", seed=1), policies, 200, control=False)
    assert "luck" in gain_in_words(raw).lower()
    assert "1.0 times" in gain_in_words(raw)
    assert (
        result.standings[0].rating
        == compare(Table("bestia", seed=1), policies, 1500, control=False).standings[0].rating
    )


# Stand-ins.


@pytest.mark.parametrize("name", stand_ins.measured_tables())
def test_stand_ins_still_play_as_they_were_measured(name: str) -> None:
    """Or else `python -m experiments.measure_stand_ins` is to be run again."""
    game, _, num_players = name.partition("-")
    assert set(arena._believed(game, int(num_players))) == set(stand_ins.pairs(game))


def test_pairs_that_play_otherwise_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_ins, "is_as_measured", lambda known, scores: False)
    assert arena._believed.__wrapped__("beast", 4) == {}


def test_nobody_stands_in_at_unusual_tables_or_for_few_deals() -> None:
    spoiler, bold = players("beast", "spoiler", "bold")
    assert Luck(Table("beast"), stand_ins.FEW).stand_ins(spoiler, bold)
    for table in (Table("beast", pot=2), Table("beast", rules=stand_in_rules())):
        assert not Luck(table, stand_ins.FEW).stand_ins(spoiler, bold)
    assert not Luck(Table("beast"), stand_ins.FEW - 1).stand_ins(spoiler, bold)
    assert not Luck(Table("beast"), stand_ins.FEW).stand_ins(bold, bold)


def test_in_few_deals_all_who_may_stand_in_tell_of_the_luck_of_a_network() -> None:
    tight, bold = players("bestia", "tight", "bold")
    (network,) = players("bestia", "net:bestia-4")
    table = Table("bestia", seed=1)
    told = Luck(table, 300).stand_ins(network, tight)
    known = {found.score: pair for pair, found in known_pairs("bestia", 4).items()}
    assert len(told) == 5
    assert {known[one.known].field for one in told} == {"tight"}
    assert not Luck(table, 200).stand_ins(network, tight)
    assert not Luck(table, 300).stand_ins(bold, tight)
    assert one_against_field(network, tight, 300, seed=1).factor > 3


def stand_in_rules():
    from bestia_env.rules.beast import BeastRules

    return BeastRules(revoke="penalty")


def test_those_are_chosen_who_tell_most_together() -> None:
    chances = np.random.default_rng(3)
    a, b, noise, other = chances.normal(0, 1, (4, stand_ins.PILOT))
    near = a + chances.normal(0, 0.4, a.size)
    scores = 2 * a + b + 0.1 * other
    assert stand_ins._most_telling(scores, [near, noise, b, a], 0.6) == [3, 2]
    assert stand_ins._most_telling(scores, [noise, b], 0.6) == []
    assert stand_ins._most_telling(2 * a, [near, b, a], 0.6) == [2]
    assert stand_ins._most_telling(0 * a, [a, b], 0.6) == []


@pytest.mark.parametrize("specs", [("spoiler", "bold"), ("cautious", "threshold:0.550")])
def test_baselines_are_never_their_own_stand_ins(specs: tuple[str, str]) -> None:
    policies, table = players("beast", *specs), Table("beast", seed=2)
    tells = Luck(table, stand_ins.FEW).stand_ins(*policies)
    assert tells
    for told in tells:
        known = known_pairs("beast", 4)
        (pair,) = [pair for pair, found in known.items() if found.score == told.known]
        others = policies_of(pair, "beast", 4)
        same = [mine.same_as(other) for mine, other in zip(policies, others, strict=True)]
        assert sorted(same) == [False, True]
        np.testing.assert_array_equal(told.scores, duel(table, *others, 0, stand_ins.FEW))


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    ("game", "one", "field"),
    [
        *(("bestia", "bold", "tight"), ("beast", "spoiler", "bold")),
        *(("bestia", one, "sound") for one in UNLIKE_SOUND),
        *(("beast", one, "threshold") for one in ("random", "cautious")),
    ],
)
def test_a_million_hands_have_the_same_mean(game: str, one: str, field: str) -> None:
    policies = players(game, one, field)
    found = one_against_field(*policies, 250_000, seed=11)
    raw = one_against_field(*policies, 250_000, seed=12, control=False)
    error = np.hypot(found.half_width, raw.half_width) / 1.96
    assert abs(found.mean - raw.mean) < 3 * error
    again = one_against_field(*policies, 250_000, seed=11, control=False)
    difference = np.sqrt(max(again.half_width**2 - found.half_width**2, 0)) / 1.96
    assert abs(found.mean - again.mean) < 3 * difference


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(("game", "count"), [("bestia", 1000), ("beast", stand_ins.FEW)])
def test_intervals_of_played_hands_hold_the_truth(game: str, count: int) -> None:
    one, field, _ = UNLIKE[game]
    policies = players(game, one, field)
    table = Table(game, seed=99)
    truth = plain(duel(table, *policies, 0, 600_000))
    runs = [one_against_field(*policies, count, seed=seed) for seed in range(200)]
    hits = np.mean([abs(run.mean - truth.mean) <= run.half_width for run in runs])
    assert 0.90 <= hits <= 0.985


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("game", ["bestia", "beast"])
def test_what_stand_ins_are_known_to_score_is_so(game: str) -> None:
    table = Table(game, seed=123)
    for pair, known in known_pairs(game, 4).items():
        found = plain(duel(table, *policies_of(pair, game, 4), 0, 20_000))
        error = np.hypot(found.half_width, known.score.half_width) / 1.96
        assert abs(found.mean - known.score.mean) < 4.5 * error, Pair(*pair)


def test_what_is_told_lessens_the_interval_of_a_difference() -> None:
    luck = Luck(Table("bestia", seed=1), 3000)
    bold, tight = players("bestia", "bold", "tight")
    scores = duel(Table("bestia", seed=1), bold, tight, 0, 3000)
    assert mean_of([scores], luck).factor > 2
    assert mean_of([scores], None) == plain(scores)
