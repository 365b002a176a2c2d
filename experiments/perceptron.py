"""Multilayer perceptrons of torch for inputs that are mostly zeros, and their way into the kernels.

Torch multiplies by every zero, and the first layer is the widest: kernels that pass over zeros make
a training half as long again as fast. All behind the first layer is plain torch.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from agents.networks import Network
from bestia_env._jit import jit
from bestia_env.bits import nth


class SparseRows(NamedTuple):
    """K rows of numbers, of which those that are not zero.

    Attributes:
        starts: (K + 1,) int64, where each row begins, and where the last ends.
        columns: int32, the place of each number in its row.
        numbers: float32.
    """

    starts: np.ndarray
    columns: np.ndarray
    numbers: np.ndarray

    @property
    def num_rows(self) -> int:
        """K."""
        return self.starts.size - 1

    def part(self, rows: slice) -> SparseRows:
        """Some of the rows, which follow each other."""
        return self._replace(starts=self.starts[rows.start : rows.stop + 1])


def sparse_rows(*blocks: np.ndarray) -> SparseRows:
    """The rows of blocks (K, D1), (K, D2) … that stand side by side."""
    counts = sum((np.count_nonzero(block, axis=1) for block in blocks), np.zeros(1, np.int64))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = SparseRows(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32))
    ends, column = starts[:-1].copy(), 0
    for block in blocks:
        _gather(block, column, ends, rows.columns, rows.numbers)
        column += block.shape[1]
    return rows


class SparseLinear(nn.Module):
    """A linear layer on `SparseRows`; its weight is (inputs, outputs)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.orthogonal_(self.weight, 2**0.5)

    def forward(self, rows: SparseRows) -> torch.Tensor:
        """(K, outputs)."""
        return _SparseLinear.apply(rows, self.weight, self.bias)


class _SparseLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: SparseRows, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        ctx.rows, ctx.shape = rows, weight.shape
        out = torch.empty(rows.num_rows, weight.shape[1])
        _multiply(rows, weight.detach().numpy(), bias.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        (gradient,) = gradients
        to_weight = torch.zeros(ctx.shape)
        _multiply_back(ctx.rows, gradient.contiguous().numpy(), to_weight.numpy())
        return None, to_weight, gradient.sum(0)


def perceptron(inputs: int, hidden: Sequence[int], outputs: int, last_gain: float) -> nn.Sequential:
    """Layers with ReLU between them, the first on `SparseRows`; their weights are orthogonal.

    Args:
        inputs: D.
        hidden: widths of the layers between, at least one.
        outputs: of the last layer.
        last_gain: the scale of the last layer's first weights; small for policies, which are then
            near uniform (Andrychowicz et al. 2021).
    """
    layers: list[nn.Module] = [SparseLinear(inputs, hidden[0])]
    for size, then in itertools.pairwise([*hidden, outputs]):
        linear = nn.Linear(size, then)
        nn.init.orthogonal_(linear.weight, 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [nn.ReLU(inplace=True), linear]
    with torch.no_grad():
        linear.weight *= last_gain / 2**0.5
    return nn.Sequential(*layers)


def network_of(
    layers: nn.Sequential, game: str, num_players: int, sort_suits: bool, factor: float = 1.0
) -> Network:
    """A copy that plays in kernels, its outputs times a factor."""
    first, *others = (layer for layer in layers if hasattr(layer, "weight"))
    weights = [(_array(first.weight).T, _array(first.bias))]
    weights += [(_array(layer.weight), _array(layer.bias)) for layer in others]
    matrix, bias = weights[-1]
    weights[-1] = np.float32(factor) * matrix, np.float32(factor) * bias
    return Network(game, num_players, tuple(weights), "relu", sort_suits)


def _array(parameter: Any) -> np.ndarray:
    return parameter.detach().numpy().copy()


# The kernels. Four rows at a time, or else the sums would go to memory and back for each.


@jit
def _gather(block, column, ends, columns, numbers):
    """Append a block's numbers to each row, whose end moves on."""
    for i in range(block.shape[0]):
        end = ends[i]
        for j in range(block.shape[1]):
            if block[i, j] != 0:
                columns[end] = column + j
                numbers[end] = block[i, j]
                end += 1
        ends[i] = end


@jit
def _multiply(rows, weight, bias, out):
    starts, columns, numbers = rows
    width = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        for j in range(width):
            row[j] = bias[j]
        k, end = starts[i], starts[i + 1]
        while k + 4 <= end:
            w0, w1 = weight[nth(columns[k])], weight[nth(columns[k + 1])]
            w2, w3 = weight[nth(columns[k + 2])], weight[nth(columns[k + 3])]
            x0, x1, x2, x3 = numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]
            for j in range(width):
                row[j] += x0 * w0[j] + x1 * w1[j] + x2 * w2[j] + x3 * w3[j]
            k += 4
        while k < end:
            w0, x0 = weight[nth(columns[k])], numbers[k]
            for j in range(width):
                row[j] += x0 * w0[j]
            k += 1


@jit
def _multiply_back(rows, gradient, to_weight):
    starts, columns, numbers = rows
    width = gradient.shape[1]
    for i in range(gradient.shape[0]):
        row = gradient[i]
        for k in range(starts[i], starts[i + 1]):
            column, x = to_weight[nth(columns[k])], numbers[k]
            for j in range(width):
                column[j] += x * row[j]
