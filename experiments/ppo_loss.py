"""The loss of a policy under PPO and its gradient, in one kernel.

Few actions are ever legal, so all sums go over the legal ones alone; torch would need some thirty
operations over all of them, which took longer than a layer.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.layers import greatest
from bestia_env._jit import jit
from bestia_env.bits import ZERO, lowest, without_lowest

STATISTICS = ("policy_loss", "entropy", "kl", "approx_kl", "clip_fraction")


class Targets(NamedTuple):
    """What a policy is taught about K decisions.

    Attributes:
        legal: (K,) uint64, sets of actions.
        actions: (K,) int64, those taken.
        log_probs: (K,) float32, theirs under the network that played.
        advantages: (K,) float32, normalised.
        magnet: (K, A) float32, the magnet's logits; (0, A) if there is none.
    """

    legal: np.ndarray
    actions: np.ndarray
    log_probs: np.ndarray
    advantages: np.ndarray
    magnet: np.ndarray

    def part(self, rows: slice) -> Targets:
        """Some of the rows."""
        return Targets(*(array[rows] for array in self))


class Weights(NamedTuple):
    """Of the terms of the loss.

    Attributes:
        clip: how far from 1 the ratio of probabilities is rewarded to move.
        entropy: of the bonus.
        kl: of the divergence from the magnet; not looked at if there is none.
    """

    clip: float
    entropy: float
    kl: float


def policy_loss(
    logits: torch.Tensor, targets: Targets, weights: Weights
) -> tuple[torch.Tensor, dict[str, float]]:
    """The clipped loss, less the entropy bonus, plus the pull towards the magnet.

    Args:
        logits: (K, A) float32.
        targets: of the same K decisions.
        weights: of the terms.

    Returns:
        The loss, a scalar that can be differentiated, and the means of `STATISTICS`.
    """
    sums = np.zeros(len(STATISTICS))
    loss = _PolicyLoss.apply(logits, targets, weights, sums)
    means = sums / max(1, len(logits))
    return loss, dict(zip(STATISTICS, means.tolist(), strict=True))


class _PolicyLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, targets: Targets, weights: Weights, sums: np.ndarray
    ) -> torch.Tensor:
        ctx.gradient = torch.zeros_like(logits)
        total = _lose(logits.numpy(), targets, weights, ctx.gradient.numpy(), sums)
        return torch.tensor(total / max(1, len(logits)), dtype=logits.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        (gradient,) = gradients
        return ctx.gradient * (gradient / max(1, len(ctx.gradient))), None, None, None


# The kernel. Let p be the probabilities, H the entropy, D the divergence and m the magnet's
# log-probabilities: the gradient of -H is p (log p + H), and that of D is p (log p - m - D).


@jit
def _lose(logits, targets, weights, gradients, sums):
    """The sum of the losses of all rows; their gradients and the sums of statistics are written."""
    total = 0.0
    for i in range(targets.actions.size):
        row, choices, action = logits[i], targets.legal[i], targets.actions[i]
        norm = _log_sum(row, choices)
        drift = row[action] - norm - targets.log_probs[i]
        loss, slope = _clipped(math.exp(drift), targets.advantages[i], weights.clip)
        _push(row, norm, choices, -slope, gradients[i])
        gradients[i, action] += slope
        entropy = _push_to_entropy(row, norm, choices, weights.entropy, gradients[i])
        pull = 0.0
        if targets.magnet.shape[0] > 0:
            pull = _push_to_magnet(row, norm, choices, targets.magnet[i], weights.kl, gradients[i])
        total += loss - weights.entropy * entropy + weights.kl * pull
        change = math.exp(drift) - 1
        sums[0] += loss
        sums[1] += entropy
        sums[2] += pull
        sums[3] += change - drift
        sums[4] += abs(change) > weights.clip
    return total


@jit
def _log_sum(logits, choices):
    """The logarithm of the sum of exponentials over a set."""
    top, total = greatest(logits, choices), 0.0
    while choices != ZERO:
        total += math.exp(logits[lowest(choices)] - top)
        choices = without_lowest(choices)
    return top + math.log(total)


@jit
def _clipped(ratio, gain, clip):
    """PPO's loss, and its derivative by the action's log-probability."""
    free = -ratio * gain
    bounded = -min(max(ratio, 1 - clip), 1 + clip) * gain
    return (free, free) if free >= bounded else (bounded, 0.0)


@jit
def _push(logits, norm, choices, amount, gradient):
    """Add the probabilities times an amount."""
    while choices != ZERO:
        a = lowest(choices)
        gradient[a] += amount * math.exp(logits[a] - norm)
        choices = without_lowest(choices)


@jit
def _push_to_entropy(logits, norm, choices, weight, gradient):
    """Add the gradient of the negative entropy times a weight; returns the entropy."""
    entropy, left = 0.0, choices
    while left != ZERO:
        log_p = logits[lowest(left)] - norm
        entropy -= math.exp(log_p) * log_p
        left = without_lowest(left)
    while choices != ZERO:
        a = lowest(choices)
        log_p = logits[a] - norm
        gradient[a] += weight * math.exp(log_p) * (log_p + entropy)
        choices = without_lowest(choices)
    return entropy


@jit
def _push_to_magnet(logits, norm, choices, magnet, weight, gradient):
    """Add the gradient of the divergence from the magnet times a weight; returns the divergence."""
    magnet_norm = _log_sum(magnet, choices)
    divergence, left = 0.0, choices
    while left != ZERO:
        a = lowest(left)
        log_p = logits[a] - norm
        divergence += math.exp(log_p) * (log_p - magnet[a] + magnet_norm)
        left = without_lowest(left)
    while choices != ZERO:
        a = lowest(choices)
        log_p = logits[a] - norm
        push = log_p - magnet[a] + magnet_norm - divergence
        gradient[a] += weight * math.exp(log_p) * push
        choices = without_lowest(choices)
    return divergence
