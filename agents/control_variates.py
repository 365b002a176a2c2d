"""Means with less noise: what luck in the deal explains is taken off the scores, without bias.

Some numbers of a deal have exactly known means: whether a packet is of a class, whether two are,
which trumps a hand has (`agents.deal_classes`), and what new cards brought, which is 0
(`agents.new_cards`). The scores of stand-ins on the same deals have well-known ones
(`agents.stand_ins`), and what new cards brought those is told of as well. A regression tells how
much of a score they explain; what is left of the score, plus the mean of what was taken off, has
the mean of the score and less variance.

The deals fall into folds, and the coefficients for a fold are fitted on the deals of the others
alone. Given those, a fold's deals are as random as ever, so the mean stays exactly unbiased; and
what is left of each deal's score is honest for the interval, as no deal has a part in its own
coefficients. Where the other folds see no gain the coefficients are 0, which is the plain mean.

Source: N. Burch, M. Schmid, M. Moravcik, D. Morrill and M. Bowling, AIVAT: A New Variance
Reduction Technique for Agent Evaluation in Imperfect Information Games, 2018.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from agents.deal_classes import Classes, class_deals, classes, num_packets, trump_chances
from agents.estimates import Z_95, Estimate, Moments
from bestia_env._jit import jit
from bestia_env.rules.bestia import CARDS_EACH, RANKS

FOLDS = 2
DEALS_EACH = 8  # deals for each coefficient that is fitted, at least
MOST_COEFFICIENTS = 1000  # so that a regression stays quick
BOUNDS = 6  # of the classes, if there are deals enough
RIDGE = 5.0  # so many imaginary deals in which nothing is explained
# The options under which all 40 cards are dealt as ever.
WITH_THE_WHOLE_PACK = frozenset(
    "stake dealer_stake all_pass first_lead must_head force revoke maxims maxim_1 maxim_2 maxim_3 "
    "match_limit".split()
)
STEPS = 12  # of the solution
TINY = 1e-300  # keeps a division by nothing from being one
NO_SPREAD = 1e-18  # a variance that is all rounding
LEAST_GAIN = 0.02  # of the variance, for which a regression is used


class Model(NamedTuple):
    """What of the cards of a deal a score is regressed on.

    Attributes:
        packets: classed in each deal.
        bounds: between the classes, 0 for no classes at all.
        pairs: are pairs of packets told apart too?
        hands: of which the trumps are counted.
        tops: is the highest of them told too?
    """

    packets: int
    bounds: int
    pairs: bool
    hands: int
    tops: bool

    @property
    def size(self) -> int:
        """F, the number of coefficients."""
        pairs = self.packets * (self.packets - 1) // 2 if self.pairs else 0
        holdings = CARDS_EACH * (RANKS if self.tops else 1)
        return self.packets * self.bounds + pairs * self.bounds**2 + self.hands * holdings


def model_for(game: str, num_players: int, rules: Any, num_deals: int) -> Model:
    """The finest classes that so many deals can tell of."""
    packets = num_packets(num_players)
    room = min(num_deals * (FOLDS - 1) // (FOLDS * DEALS_EACH), MOST_COEFFICIENTS)
    kinds = [(bounds, True) for bounds in range(BOUNDS, 2, -1)] + [(BOUNDS, False)]
    models = [Model(packets, *kind, num_players, tops) for kind in kinds for tops in (True, False)]
    fitting = [model for model in models if model.size <= room and _are_known(game, rules)]
    return fitting[0] if fitting else Model(0, 0, False, 0, False)


def _are_known(game: str, rules: Any) -> bool:
    """Are the chances of classes known? Of Bestia, unless an option might change the pack."""
    return game == "bestia" and all(
        field.name in WITH_THE_WHOLE_PACK or getattr(rules, field.name) == field.default
        for field in fields(rules)
    )


@dataclass(frozen=True)
class StandIn:
    """Scores of stand-ins on the same deals.

    Attributes:
        scores: (N,) float64.
        known: their mean, from far more deals, which are the same ones for all stand-ins.
        luck: (N,) float64, of which new cards brought them so much, with a mean of exactly 0; None
            where nothing is known of it.
    """

    scores: np.ndarray
    known: Estimate
    luck: np.ndarray | None = None


class Deals:
    """Deals as far as their luck is told of, to take it off any scores made on them.

    Attributes:
        num_deals: N; those from number 0 on.
    """

    def __init__(
        self, game: str, num_players: int, rules: Any, key: np.uint64, num_deals: int
    ) -> None:
        """Class the deals of a key, uint64, that `agents.matches.deal_copies` would deal."""
        self.num_deals = num_deals
        self._model = model_for(game, num_players, rules, num_deals)
        self._found = np.zeros((num_deals, 0), np.int8)
        self._means = np.empty(0)
        if self._model.bounds:
            kinds = classes(self._model.bounds)
            self._found = class_deals(num_players, key, 0, num_deals, kinds.bounds)
            self._means = _means(self._model, kinds)

    @functools.cached_property
    def _all(self) -> _Normal:
        return _Normal.of(self._model, self._found)

    def estimate(
        self,
        plain: Estimate,
        scores: np.ndarray,
        stand_ins: Sequence[StandIn] = (),
        exact: Sequence[np.ndarray] = (),
        present: np.ndarray | None = None,
    ) -> Estimate:
        """The mean of some scores with its interval.

        Args:
            plain: the mean by itself, which is returned where nothing is gained.
            scores: (N,) float64, one of each deal, or (K,) if only K are present.
            stand_ins: whose scores in the same deals tell more.
            exact: (N,) or (K,) float64 each, that tell more too and have a mean of exactly 0.
            present: (N,) bool, the deals that count, by a choice in which no card has a part.
        """
        normal = self._all if present is None else _Normal.of(self._model, self._found[present])
        told = [one.scores for one in stand_ins]
        exact = [*exact, *(one.luck for one in stand_ins if one.luck is not None)]
        columns = np.column_stack([scores, *told, *exact]).astype(float)
        measured = min((one.known.num_deals for one in stand_ins), default=1)
        doubts = np.array([1 / math.sqrt(measured)] * len(told) + [0.0] * len(exact))
        fits = [_fit(normal, fold, columns, doubts) for fold in range(FOLDS)]
        if not any(fit.weights.any() or fit.numbers.any() for fit in fits):
            return plain
        known = np.array([*(one.known.mean for one in stand_ins), *(0.0 for _ in exact)])
        left = np.empty(len(columns))
        for fold, fit in enumerate(fits):
            left[fold::FOLDS] = columns[fold::FOLDS, 0] - (
                (columns[fold::FOLDS, 1:] - known) @ fit.weights - fit.numbers @ self._means
            )
        _take_off(
            normal.found,
            self._model,
            _places(self._model),
            np.stack([fit.numbers for fit in fits]),
            left,
        )
        doubted = columns[:, 1:] @ (np.mean([fit.weights for fit in fits], axis=0) * doubts)
        return _controlled(plain, Moments.of(left).estimate(), float(doubted.std()))


def _means(model: Model, kinds: Classes) -> np.ndarray:
    """(F,): how often a packet, then a pair of packets, is of each class but the lowest.

    At the end, how often a hand has such trumps, but for none.
    """
    pairs = model.packets * (model.packets - 1) // 2 if model.pairs else 0
    return np.concatenate(
        [kinds.chances[1:]] * model.packets
        + [kinds.pairs[1:, 1:].ravel()] * pairs
        + [trump_chances().ravel() if model.tops else trump_chances().sum(axis=1)] * model.hands
    )


def _controlled(plain: Estimate, found: Estimate, error: float) -> Estimate:
    """What was found, with the error of the means that were not known exactly."""
    half_width = math.hypot(found.half_width, Z_95 * error)
    factor = (plain.half_width / half_width) ** 2 if half_width else 1.0
    return replace(found, half_width=half_width, factor=factor)


# The regression.


class _Normal(NamedTuple):
    """The part of the normal equations that does not depend on the scores.

    Attributes:
        model: what is regressed on.
        found: (N, packets + hands) int8, the classes and the trumps.
        sums: (FOLDS, F) float64, of the indicators of all deals but the fold's.
        products: (FOLDS, F, F) float64, likewise of their centred products.
    """

    model: Model
    found: np.ndarray
    sums: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, model: Model, found: np.ndarray) -> _Normal:
        """Add up the deals' indicators."""
        sums = np.zeros((FOLDS, model.size))
        products = np.zeros((FOLDS, model.size, model.size))
        _add_products(found, model, _places(model), sums, products)
        _centre(products, sums, np.array([_others(len(found), fold) for fold in range(FOLDS)]))
        return cls(model, found, sums, products)


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Coefficients (F, K) for K columns, nearly those of a ridge regression.

    By conjugate gradients for all columns at once: a few steps, which tell as much as the exact
    answer, are much quicker. Any coefficients leave the mean what it is.
    """
    found = np.zeros_like(right)
    diagonal = np.diag(matrix)[:, None] + RIDGE
    left, ahead = right.copy(), right / diagonal
    length = (left * ahead).sum(axis=0)
    for _ in range(STEPS if right.size else 0):
        bent = _times(matrix, ahead) + RIDGE * ahead
        step = length / np.maximum((ahead * bent).sum(axis=0), TINY)
        found += step * ahead
        left -= step * bent
        scaled = left / diagonal
        before, length = length, (left * scaled).sum(axis=0)
        ahead = scaled + length / np.maximum(before, TINY) * ahead
    return found


def _times(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The product of a symmetric matrix (F, F) and columns (F, K), on one core alone."""
    product = np.zeros(columns.T.shape)
    _add_rows(matrix, columns.T.copy(), product)
    return product.T


def _others(num_deals: int, fold: int) -> int:
    """How many deals are not of the fold."""
    return num_deals - len(range(fold, num_deals, FOLDS))


class _Fit(NamedTuple):
    """What is taken off the scores of a fold.

    Attributes:
        weights: (K,) float64, of the stand-ins' scores.
        numbers: (F,) float64, of the indicators.
    """

    weights: np.ndarray
    numbers: np.ndarray


def _fit(normal: _Normal, fold: int, columns: np.ndarray, doubts: np.ndarray) -> _Fit:
    """Regress the first column on the indicators and the other columns, in all folds but one.

    The doubts, (K,), are how far the others' means may be off, in their standard deviations.
    """
    count = _others(len(columns), fold)
    others = np.arange(len(columns)) % FOLDS != fold
    centred = columns[others] - columns[others].mean(axis=0)
    products = centred.T @ centred
    by_number = np.zeros((normal.model.size, columns.shape[1]))
    _add_columns(normal.found, normal.model, _places(normal.model), columns, fold, by_number)
    by_number -= np.outer(normal.sums[fold], columns[others].mean(axis=0))
    numbers = _solve(normal.products[fold], by_number)
    explained = numbers.T @ by_number
    left = products - explained - explained.T + numbers.T @ _times(normal.products[fold], numbers)
    fitted = normal.model.size + len(left) - 1
    weights = np.linalg.pinv(left[1:, 1:], rcond=1e-9, hermitian=True) @ left[1:, 0]
    spare = left[0, 0] - left[0, 1:] @ weights
    variance = spare / max(count - fitted - 1, 1)
    doubted = weights * doubts
    variance += doubted @ products[1:, 1:] @ doubted  # of means not known exactly
    plain = products[0, 0] / max(count - 1, 1)
    if plain < NO_SPREAD or variance > (1 - LEAST_GAIN) * plain:
        return _Fit(np.zeros(len(weights)), np.zeros(normal.model.size))
    return _Fit(weights, numbers[:, 0] - numbers[:, 1:] @ weights)


# Kernels. The indicators of a deal that are 1 are few: they are found from its classes.


def _places(model: Model) -> np.ndarray:
    """Room for the places of all indicators of a deal."""
    return np.empty(model.packets * (model.packets + 1) // 2 + model.hands, np.int64)


@jit
def _indicators(classes, model, at):
    """Write the places of a deal's indicators that are 1 into `at`; returns how many they are."""
    found, start = 0, 0
    for i in range(model.packets):
        if classes[i] > 0:
            at[found] = start + classes[i] - 1
            found += 1
        start += model.bounds
    if model.pairs:
        for i in range(model.packets):
            for j in range(i):
                if classes[i] > 0 and classes[j] > 0:
                    at[found] = start + (classes[i] - 1) * model.bounds + classes[j] - 1
                    found += 1
                start += model.bounds**2
    apart = 1 if model.tops else RANKS
    for i in range(model.packets, model.packets + model.hands):
        if classes[i] > 0:
            at[found] = start + (classes[i] - 1) // apart
            found += 1
        start += CARDS_EACH * RANKS // apart
    return found


@jit
def _add_products(found, model, at, sums, products):
    """Add up the indicators and, below the diagonal, their products, of deals outside each fold."""
    for i in range(found.shape[0]):
        ones = _indicators(found[i], model, at)
        for fold in range(sums.shape[0]):
            if i % FOLDS != fold:
                for a in range(ones):
                    sums[fold, at[a]] += 1
                    for b in range(a + 1):
                        products[fold, at[a], at[b]] += 1


@jit
def _centre(products, sums, counts):
    """Take the products of means off those below the diagonals, and put the same above them."""
    for fold in range(sums.shape[0]):
        for a in range(sums.shape[1]):
            mean = sums[fold, a] / counts[fold]
            for b in range(a + 1):
                products[fold, a, b] -= mean * sums[fold, b]
                products[fold, b, a] = products[fold, a, b]


@jit
def _add_rows(matrix, rows, product):
    """Add the rows, (K, F), times a symmetric matrix, row by row of that, which is quick."""
    for a in range(matrix.shape[0]):
        for k in range(rows.shape[0]):
            number = rows[k, a]
            for b in range(matrix.shape[1]):
                product[k, b] += number * matrix[a, b]


@jit
def _add_columns(found, model, at, columns, fold, sums):
    """Add up the columns of the deals outside a fold by indicator, (F, columns) float64."""
    for i in range(found.shape[0]):
        if i % FOLDS != fold:
            for a in range(_indicators(found[i], model, at)):
                for k in range(columns.shape[1]):
                    sums[at[a], k] += columns[i, k]


@jit
def _take_off(found, model, at, numbers, left):
    """Take the numbers, (FOLDS, F), of each deal's indicators off what is left, (N,)."""
    for i in range(found.shape[0]):
        for a in range(_indicators(found[i], model, at)):
            left[i] -= numbers[i % FOLDS, at[a]]
