"""Multilayer perceptrons of torch, and their way into the kernels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from agents.networks import Network


def perceptron(inputs: int, hidden: Sequence[int], outputs: int, last_gain: float) -> nn.Sequential:
    """Layers with ReLU between them, their weights orthogonal.

    Args:
        inputs: D.
        hidden: widths of the layers between.
        outputs: of the last layer.
        last_gain: the scale of the last layer's first weights; small for policies, which are then
            near uniform (Andrychowicz et al. 2021).
    """
    sizes = [inputs, *hidden, outputs]
    layers: list[nn.Module] = []
    for number, (size, then) in enumerate(itertools.pairwise(sizes)):
        linear = nn.Linear(size, then)
        nn.init.orthogonal_(linear.weight, last_gain if number == len(hidden) else 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def network_of(
    layers: nn.Sequential, game: str, num_players: int, sort_suits: bool, factor: float = 1.0
) -> Network:
    """A copy that plays in kernels, its outputs times a factor."""
    weights = [
        (_array(layer.weight), _array(layer.bias))
        for layer in layers
        if isinstance(layer, nn.Linear)
    ]
    weights[-1] = tuple(np.float32(factor) * part for part in weights[-1])
    return Network(game, num_players, tuple(weights), "relu", sort_suits)


def _array(parameter: nn.Parameter) -> np.ndarray:
    return parameter.detach().numpy().copy()
