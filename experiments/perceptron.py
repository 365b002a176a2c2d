"""Multilayer perceptrons of torch for inputs that are mostly zeros, and their way into the kernels.

Torch multiplies by every zero, and the first layer is the widest: kernels that pass over zeros make
a training half as long again as fast. All behind the first layer is plain torch.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.networks import Network
from agents.sparse import SparseRows, multiply, multiply_back


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
        multiply(rows, weight.detach().numpy().ravel(), bias.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        (gradient,) = gradients
        to_weight = torch.zeros(ctx.shape)
        multiply_back(ctx.rows, gradient.contiguous().numpy(), to_weight.numpy())
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


def set_weights(layers: nn.Sequential, network: Network) -> None:
    """Give layers of the same widths the weights of a network."""
    targets = [layer for layer in layers if hasattr(layer, "weight")]
    for place, (layer, (matrix, bias)) in enumerate(zip(targets, network.weights, strict=True)):
        weight = matrix if place else matrix.T
        layer.load_state_dict(
            {"weight": torch.from_numpy(weight.copy()), "bias": torch.from_numpy(bias.copy())}
        )


def _array(parameter: Any) -> np.ndarray:
    return parameter.detach().numpy().copy()
