import functools
import math

import numpy as np
import pytest

from agents import arena
from agents.arena import compare, evaluate, one_against_field
from agents.duplicate import Piece, Table, play_piece, play_rotations
from agents.estimates import Estimate, Moments, holm
from agents.policies import NETWORK, Policy, default_specs, parse_policy
from agents.reports import labels
from bestia_env.rules.bestia import EXCHANGE, KNOCK, PASS, REFUSE, BestiaRules


class Knocker:
    """Bestia: knocks with some chance, else stays out of the hand; plays its lowest card."""

    def __init__(self, chance: float, num_players: int = 4) -> None:
        self.chance, self.num_players = chance, num_players

    def act_batch(self, observations, masks, rngs):
        rngs[:] = rngs * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        knocks = rngs / 2.0**64 < self.chance
        actions = np.argmax(masks, axis=1)
        actions[(masks[:, KNOCK] == 1) & knocks] = KNOCK
        actions[(masks[:, PASS] == 1) & ~knocks] = PASS
        actions[masks[:, EXCHANGE] == 1] = REFUSE
        return actions


def knocker(chance: float, n: int = 4) -> Policy:
    return Policy(f"net:knocker-{chance}", "bestia", NETWORK, network=Knocker(chance, n))


def baselines(game: str, n: int = 4) -> list[Policy]:
    return [parse_policy(spec, game, n) for spec in default_specs(game)]


# The diagonal.


@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_a_policy_among_its_copies_scores_zero_within_its_interval(game: str) -> None:
    for policy in baselines(game):
        estimate = one_against_field(policy, policy, 2000, seed=3)
        # Twice the interval: one of many policies may well lie outside it.
        assert abs(estimate.mean) <= 2 * estimate.half_width, policy.spec
        assert estimate.num_deals == 2000


@pytest.mark.parametrize("n", [3, 4, 7])
def test_a_deterministic_policy_among_its_copies_scores_zero_on_every_deal(n: int) -> None:
    scores = play_piece(Table("bestia", n, seed=1), [knocker(1, n)], Piece((0,) * n, 0, 200))
    assert (scores == 0).all()
    assert one_against_field(knocker(1, n), knocker(1, n), 200, seed=1, num_players=n) == Estimate(
        0, 0, 200
    )


def test_the_rotations_of_a_deal_have_the_mean_of_the_deal() -> None:
    table, piece = Table("beast", 4, seed=5), Piece((0, 1, 2, 3), 3, 40)
    scores = play_rotations(table, baselines("beast"), piece)
    assert scores.shape == (37, 4, 4)
    meaned = play_piece(table, baselines("beast"), piece)
    np.testing.assert_allclose(scores.mean(axis=1), meaned, atol=1e-12)
    np.testing.assert_allclose(scores.sum(axis=2), 0, atol=1e-12)
    assert scores.std(axis=1).max() > 0.1


# Cases known by thought alone.


@pytest.mark.parametrize("n", [3, 4, 7])
@pytest.mark.parametrize("pot", [1, 5])
@pytest.mark.parametrize("dealer_stake", ["always", "only_if_empty"])
def test_who_alone_takes_part_wins_the_pot_less_his_share(
    n: int, pot: int, dealer_stake: str
) -> None:
    # He gains P, of which 1/n was his; the dealer's stake comes round to everybody.
    estimate = one_against_field(
        knocker(1, n),
        knocker(0, n),
        60,
        seed=2,
        num_players=n,
        pot=pot,
        rules=BestiaRules(dealer_stake=dealer_stake, stake=6),
    )
    assert estimate.mean == pytest.approx((n - 1) / n, abs=1e-12)
    assert estimate.half_width == pytest.approx(0, abs=1e-6)


def test_the_rest_of_that_table_lose_alike() -> None:
    estimates = evaluate([knocker(1), *[knocker(0)] * 3], 50, seed=2)
    assert [estimate.mean for estimate in estimates] == pytest.approx([0.75, *[-0.25] * 3])


def test_the_intervals_hold_the_truth_as_often_as_they_say() -> None:
    # Half of the time he takes part alone, else nobody does and the pot stays.
    truth = 0.75 / 2
    runs = [one_against_field(knocker(0.5), knocker(0), 60, seed=seed) for seed in range(300)]
    hits = sum(run.low <= truth <= run.high for run in runs)
    assert 0.92 <= hits / len(runs) <= 0.98
    every = Moments.of(np.array([run.mean for run in runs])).estimate()
    assert every.low <= truth <= every.high


# Sums and reproducibility.


@pytest.mark.parametrize(("game", "n"), [("beast", 6), ("bestia", 3), ("bestia", 5)])
def test_scores_of_a_table_sum_to_zero(game: str, n: int) -> None:
    policies = [*baselines(game, n), parse_policy("random", game, n)]
    scores = play_piece(Table(game, n, seed=4), policies, Piece(None, 0, 500))
    assert np.abs(scores.sum(axis=1)).max() < 1e-12
    assert np.abs(scores).max() > 0


@functools.cache
def small_comparison(jobs: int) -> arena.Result:
    policies = [parse_policy("random", "bestia", 4), *baselines("bestia")[1:3], knocker(0.3)]
    done: list[int] = []
    table = Table("bestia", seed=8)
    result = compare(table, policies, 1500, jobs=jobs, progress=done.append)
    assert sum(done) == arena.num_hands(table, len(policies), 1500)
    return result


def test_the_numbers_do_not_depend_on_the_jobs() -> None:
    assert small_comparison(1) == small_comparison(2)


def test_the_seed_and_nothing_else_decides() -> None:
    random = parse_policy("random", "bestia", 4)
    again = [one_against_field(random, knocker(1), 100, seed=seed) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]
    result = small_comparison(1)
    cell = result.matrix[0][-1]
    assert cell == one_against_field(random, knocker(0.3), 1500, seed=8)


def test_mixed_tables_rank_by_score_and_sum_to_zero() -> None:
    result = small_comparison(1)
    scores = [standing.score for standing in result.standings]
    assert [scores[a].mean for a in result.ranking] == sorted(
        (score.mean for score in scores), reverse=True
    )
    if len(scores) <= 4:  # then all sit at every table
        assert {score.num_deals for score in scores} == {1500}
    assert sum(standing.rating.points for standing in result.standings) == pytest.approx(
        0, abs=1e-6
    )
    for standing in result.standings:
        assert standing.rating.low <= standing.rating.points <= standing.rating.high


def test_deals_too_few_for_all_to_sit_twice_are_refused_before_any_is_played() -> None:
    policies, played = [knocker(i) for i in range(9)], []
    with pytest.raises(ValueError, match=r"must be more than 2 for 9 policies .* would sit in"):
        compare(Table("bestia", 3, seed=1), policies, 2, progress=played.append)
    assert not played


@pytest.mark.parametrize("deals", [2, 3])
@pytest.mark.parametrize("control", [True, False])
def test_few_deals_and_copies_of_one_policy_have_finite_scores(deals: int, control: bool) -> None:
    table = Table("bestia", 2, BestiaRules(ranks=4, suits=2), pot=5, seed=1)
    sound = parse_policy("sound", "bestia", 2)
    result = compare(table, [sound, sound], deals, control=control)
    for row in result.matrix:
        for cell in row:
            assert (cell.mean, cell.half_width) == (0, 0)
    assert all(np.isfinite(standing.rating.points) for standing in result.standings)


def test_two_policies_mirror_each_other() -> None:
    one, other = compare(Table("bestia", seed=1), [knocker(0), knocker(1)], 300).standings
    assert one.score.mean == pytest.approx(-other.score.mean)
    assert one.score.half_width == pytest.approx(other.score.half_width)
    assert one.rating.points == pytest.approx(-other.rating.points)
    assert (one.rating.points > 0) == (one.score.mean > 0)


# Estimates.


def test_an_estimate_is_the_mean_and_the_normal_interval() -> None:
    observations = np.random.default_rng(0).normal(2, 3, 1000)
    parts = [Moments.of(part) for part in np.array_split(observations, 7)]
    estimate = sum(parts, Moments()).estimate()
    assert estimate.mean == pytest.approx(observations.mean())
    spread = 1.959964 * observations.std(ddof=1) / math.sqrt(1000)
    assert estimate.half_width == pytest.approx(spread)
    assert estimate.num_deals == 1000


@pytest.mark.parametrize(("ratio", "p"), [(1.0, 0.05), (0.0, 1.0), (1.31430, 0.01)])
def test_p_values_agree_with_the_interval(ratio: float, p: float) -> None:
    assert Estimate(-ratio * 0.2, 0.2, 100).p_value == pytest.approx(p, abs=1e-5)


def test_an_estimate_without_spread_is_sure() -> None:
    assert Estimate(0.0, 0.0, 10).p_value == 1
    assert Estimate(0.1, 0.0, 10).p_value == 0


def test_holm_by_hand() -> None:
    # 4 x .01; then 3 x .015 = .045; then 2 x .03 = .06; the last may not come below it.
    assert holm([0.03, 0.01, 0.05, 0.015]) == pytest.approx([0.06, 0.04, 0.06, 0.045])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_only_cells_off_the_diagonal_are_corrected() -> None:
    result = small_comparison(1)
    k = len(result.specs)
    for a in range(k):
        assert result.p_values[a][a] == result.matrix[a][a].p_value
    off = [(a, b) for a in range(k) for b in range(k) if a != b]
    expected = holm([result.matrix[a][b].p_value for a, b in off])
    assert [result.p_values[a][b] for a, b in off] == expected


# Errors.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "skat"}, "game must be one of beast, bestia, not 'skat'"),
        ({"num_players": 11}, "from 3 to 10, not 11"),
        ({"pot": 0}, "pot must be an integer from 1"),
        ({"pot": 1.5}, "pot must be an integer"),
        ({"pot": 10**9, "rules": BestiaRules(stake=3000)}, "the pot carried in must be"),
        ({"seed": -1}, "seed must be an integer from 0"),
    ],
)
def test_a_table_that_cannot_be_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(**({"game": "bestia"} | changes))


def test_bad_comparisons_are_refused() -> None:
    random = parse_policy("random", "bestia", 4)
    with pytest.raises(ValueError, match="at least two policies, not 1"):
        compare(Table("bestia"), [random], 100)
    with pytest.raises(ValueError, match="num_deals must be an integer from 2"):
        one_against_field(random, random, 1, seed=0)
    with pytest.raises(ValueError, match="jobs must be an integer from 1"):
        one_against_field(random, random, 10, seed=0, jobs=0)
    with pytest.raises(ValueError, match="'random' plays beast, not bestia"):
        evaluate([random, random, random, parse_policy("random", "beast", 4)], 10, seed=0)
    with pytest.raises(ValueError, match="plays with 5 players, not 4"):
        one_against_field(knocker(1, 5), random, 10, seed=0)


def test_hands_for_the_benchmark_are_counted() -> None:
    assert arena.baseline_hands("bestia", 3, 100) == 102
    assert arena.baseline_hands("beast", 5, 1) == 10


def test_networks_are_called_by_their_file_or_run_where_that_tells_them_apart() -> None:
    specs = ["net:runs/a/policy.safetensors", "net:x/bestia-4.safetensors", "sound"]
    assert labels(specs) == ["net:a", "net:bestia-4", "sound"]
    alike = ["net:runs/a/policy.safetensors", "net:other/a/policy.safetensors"]
    assert labels(alike) == alike
    assert labels(["net:policy.safetensors"]) == ["net:policy"]
    assert labels(["rule:my/first.rule", "rule:my/policy.rule"]) == ["rule:first", "rule:my"]


def test_rules_are_cut_to_a_line() -> None:
    long = "knock if trumps >= 2\n  or top_trump == ace and seat > 1"
    short = "knock if trumps >= 2 or top_trump == ac…"
    assert labels([long, "knock\n", "sound"]) == [short, "knock", "sound"]
    assert labels([long, "sound", long + " + 1"]) == [f"{short} (1)", "sound", f"{short} (3)"]
