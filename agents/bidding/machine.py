"""Compiled bidding rules: a stack machine in a kernel, several rules side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.bidding import beast, bestia
from bestia_env._jit import jit
from bestia_env.bits import has
from bestia_env.rules.dispatch import by_game

STACK = 64  # how deep expressions may be nested
NUMBER, NEGATE, NOT, LINK, DROP = range(5)
ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, MOST = range(5, 11)
LESS, AT_MOST, EQUAL, UNEQUAL, AT_LEAST, MORE, AND, OR = range(11, 19)
FEATURE = 19  # and all above: what a rule may ask, by its place in the game's table
GREATEST = float(np.finfo(np.float64).max)
MODULES = {"beast": beast, "bestia": bestia}


class Program(NamedTuple):
    """Compiled rules, their statements one after another.

    Attributes:
        operations: (L,) int64.
        numbers: (L,) float64, what an operation takes: a number, a rank's strength, or the
            comparison of a LINK.
        starts: (S + 1,) int64, where each statement's condition begins; the last is L.
        actions: (S,) int64, what each statement says.
        rules: (R + 1,) int64, which statements belong to each rule.
    """

    operations: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray
    actions: np.ndarray
    rules: np.ndarray


EMPTY = Program(
    np.empty(0, np.int64),
    np.empty(0),
    np.zeros(1, np.int64),
    np.empty(0, np.int64),
    np.zeros(2, np.int64),
)
"""One rule that says nothing."""


def joined(programs: Sequence[Program]) -> Program:
    """The programs of several policies as one, each its own rule; each holds one rule."""
    operations = [program.operations for program in programs]
    starts = np.cumsum([0, *(ops.size for ops in operations)])
    rules = np.cumsum([0, *(program.actions.size for program in programs)])
    return Program(
        np.concatenate([EMPTY.operations, *operations]),
        np.concatenate([EMPTY.numbers, *(program.numbers for program in programs)]),
        np.concatenate([*(p.starts[:-1] + at for p, at in zip(programs, starts)), starts[-1:]]),
        np.concatenate([EMPTY.actions, *(program.actions for program in programs)]),
        rules,
    )


@jit
def says_anything(program, rule):
    """Does the rule hold any statement?"""
    return program.rules[rule + 1] > program.rules[rule]


@jit
def decide(program, rule, v, legal, rng, stack):
    """The action of a rule where `is_bid(v)`.

    Args:
        program: that holds it.
        rule: its place.
        v: the VIEW of the seat to act, a record.
        legal: its legal actions, a set of bits, uint64.
        rng: (1,) uint64, the player's generator.
        stack: (STACK,) float64 to compute in.
    """
    for k in range(program.rules[rule], program.rules[rule + 1]):
        action = program.actions[k]
        if has(legal, action) and evaluate(program, k, v, rng, stack) != 0:
            return action
    return quiet(v)


@jit
def evaluate(program, k, v, rng, stack):
    """The value of a statement's condition, or of an expression; truth is 1, else 0."""
    top = -1
    for i in range(program.starts[k], program.starts[k + 1]):
        code, number = program.operations[i], program.numbers[i]
        if code == NUMBER:
            top += 1
            stack[top] = number
        elif code >= FEATURE:
            top += 1
            stack[top] = feature(code - FEATURE, np.int64(number), v, rng)
        elif code == NEGATE:
            stack[top] = -stack[top]
        elif code == NOT:
            stack[top] = stack[top] == 0
        elif code == LINK:
            top -= 1
            _link(np.int64(number), stack, top)
        elif code == DROP:
            top -= 1
        else:
            top -= 1
            stack[top] = _combine(code, stack[top], stack[top + 1])
    return stack[0]


@jit
def _link(comparison, stack, top):
    """Lay the next link to a chain of comparisons: its truth so far, a, b to its truth, b."""
    if not _compare(comparison, stack[top], stack[top + 1]):
        stack[top - 1] = 0
    stack[top] = stack[top + 1]


@jit
def _combine(code, a, b):
    if code <= MOST:
        return _calculate(code, a, b)
    if code == AND:
        return np.float64(a != 0 and b != 0)
    if code == OR:
        return np.float64(a != 0 or b != 0)
    return np.float64(_compare(code, a, b))


@jit
def _calculate(code, a, b):
    """The result, always finite, so that equal hands have equal values."""
    if code == ADD:
        return _bounded(a + b)
    if code == SUBTRACT:
        return _bounded(a - b)
    if code == MULTIPLY:
        return _bounded(a * b)
    if code == DIVIDE:
        return _bounded(a / b) if b != 0 else np.float64(0)
    return min(a, b) if code == LEAST else max(a, b)


@jit
def _bounded(a):
    """The number, or the greatest of its sign that there is."""
    return min(max(a, -GREATEST), GREATEST)


@jit
def _compare(code, a, b):
    if code == LESS:
        return a < b
    if code == AT_MOST:
        return a <= b
    if code == EQUAL:
        return a == b
    if code == UNEQUAL:
        return a != b
    return a >= b if code == AT_LEAST else a > b


# What differs between the games.


@by_game(beast.is_bid, bestia.is_bid)
def is_bid(v):
    """Does the seat to act decide by its bidding rule, if it has one?"""


@by_game(beast.quiet, bestia.quiet)
def quiet(v):
    """What a seat does about which its rule says nothing."""


@by_game(beast.feature, bestia.feature, of=2)
def feature(k, rank, v, rng):
    """The k-th feature of the game in a view."""
