import choix
import numpy as np
import pytest

from agents.ratings import POINTS, fit_worths, rate


def tables(worths: np.ndarray, size: int, count: int, seed: int) -> np.ndarray:
    """Rankings of random tables, drawn from the model."""
    chances = np.random.default_rng(seed)
    sitting = chances.random((count, worths.size)).argsort(axis=1)[:, :size]
    noisy = worths[sitting] + chances.gumbel(size=sitting.shape)
    return np.take_along_axis(sitting, np.argsort(-noisy, axis=1), axis=1)


@pytest.mark.parametrize(("players", "size"), [(2, 2), (5, 4), (6, 6)])
def test_the_fit_is_that_of_another_program(players: int, size: int) -> None:
    rankings = tables(np.linspace(-0.8, 0.8, players), size, 400, seed=players)
    kinds, counts = np.unique(rankings, axis=0, return_counts=True)
    theirs = choix.ilsr_rankings(players, rankings.tolist())
    ours = fit_worths(kinds, counts, players)
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-4)
    one_by_one = fit_worths(rankings, np.ones(400), players)
    assert ours == pytest.approx(one_by_one, abs=1e-4)


def test_two_players_by_hand() -> None:
    # Nine victories to one are odds of 9.
    worths = fit_worths(np.array([[0, 1], [1, 0]]), np.array([9, 1]), 2)
    assert worths == pytest.approx([np.log(3), -np.log(3)], abs=1e-4)
    assert POINTS * np.log(10) == pytest.approx(400)


def test_the_intervals_hold_the_truth_as_often_as_they_say() -> None:
    truth = np.array([-0.3, -0.1, 0.0, 0.1, 0.3])
    hits = []
    for seed in range(50):
        ratings = rate(tables(truth, 4, 200, seed), 5, seed, samples=100)
        hits += [
            rating.low <= POINTS * worth <= rating.high for rating, worth in zip(ratings, truth)
        ]
    assert 0.90 <= np.mean(hits) <= 0.98


def test_the_order_of_play_does_not_matter() -> None:
    rankings = tables(np.array([0.0, 0.5, -0.5]), 3, 200, seed=1)
    assert rate(rankings, 3, seed=0) == rate(rankings[::-1], 3, seed=0)


def test_who_always_loses_gets_a_finite_rating_or_an_error() -> None:
    rankings = np.tile([[0, 1, 2]], (50, 1))
    low, high = rate(rankings, 3, seed=0)[2], rate(rankings, 3, seed=0)[0]
    assert -2000 < low.points < -100
    assert 100 < high.points < 2000
    with pytest.raises(RuntimeError, match="never ahead of anybody"):
        fit_worths(rankings[:1], np.array([50]), 3)
