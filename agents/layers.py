"""The kernels of trained networks: a masked multilayer perceptron in numba.

Observations are mostly zeros, and so are the values behind a ReLU: every layer adds up only the
rows of what is there. Suits are relabelled on the way in, and actions back on the way out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agents.sparse import add_product
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, has, lowest, nth, without_lowest
from bestia_env.observe import write_observation
from bestia_env.rng import unit
from bestia_env.suits import Relabelling, suit_order

ACTIVATIONS = ("tanh", "relu")
TANH, RELU = range(2)


class Packed(NamedTuple):
    """A network as its kernels take it.

    Attributes:
        parameters: (P,) float32, of each layer the weights (inputs, outputs), then the bias.
        sizes: (layers + 1,) int64, from D to A.
        activation: TANH or RELU.
        labels: how suits are relabelled.
    """

    parameters: np.ndarray
    sizes: np.ndarray
    activation: int
    labels: Relabelling


class Scratch(NamedTuple):
    """Where the kernels compute.

    Attributes:
        layers: (2, widest) float32, a layer's values and those of the next.
        columns: (D or widest,) int32, the places of what is not zero.
        numbers: float32, what stands there.
    """

    layers: np.ndarray
    columns: np.ndarray
    numbers: np.ndarray


@jit
def act_batch(net, observations, masks, rngs, greedy, scratch, actions):
    """Choose an action for every row; masks are bool, and actions (K,) int64 are written."""
    for k in range(actions.size):
        choices = _set_of(masks[k])
        actions[k] = choose(net, observations[k], choices, rngs[k : k + 1], greedy, scratch)


@jit
def act_on_view(net, views, legal, rng, greedy, observation, scratch):
    """Choose an action for the seat of views[0], given the set of its legal ones."""
    write_observation(views[0], views[0].viewer, net.labels.at, observation)
    return choose(net, observation, legal, rng, greedy, scratch)


@jit
def probabilities(net, observations, masks, scratch, chances):
    """Write the probability of every action, (K, A) float64; masks are bool."""
    for k in range(len(chances)):
        order = suit_order(net.labels, observations[k])
        choices = relabel_actions(net.labels, order, _set_of(masks[k]))
        total = _weigh_observation(net, order, observations[k], choices, scratch)
        odds = scratch.layers[last_row(net)]
        for action in range(masks.shape[1]):
            place = net.labels.action[order, action]
            chances[k, action] = odds[place] / total if has(choices, place) else 0.0


@jit
def choose(net, observation, choices, rng, greedy, scratch):
    """Choose one of a set of actions on an observation (D,); rng moves on where it must draw."""
    if without_lowest(choices) == ZERO:
        return lowest(choices)
    order = suit_order(net.labels, observation)
    choices = relabel_actions(net.labels, order, choices)
    total = _weigh_observation(net, order, observation, choices, scratch)
    odds = scratch.layers[last_row(net)]
    action = _likeliest(odds, choices) if greedy else sample(odds, choices, total, rng)
    return net.labels.original[order, action]


@jit
def _weigh_observation(net, order, observation, choices, scratch):
    end = gather(net.labels, order, observation, scratch.columns, scratch.numbers, 0)
    run_layers(net, scratch.columns, scratch.numbers, 0, end, scratch)
    return weigh(scratch.layers[last_row(net)], choices)


@jit
def _set_of(mask):
    choices = ZERO
    for action in range(mask.size):
        choices |= np.uint64(mask[action]) << np.uint64(action)
    return choices


@jit
def relabel_actions(labels, order, choices):
    """The set of actions under their numbers in this order of the suits."""
    new = ZERO
    while choices != ZERO:
        new |= ONE << np.uint64(labels.action[order, lowest(choices)])
        choices = without_lowest(choices)
    return new


@jit
def gather(labels, order, observation, columns, numbers, start):
    """Write what is not zero, under its place in this order of the suits; returns the end."""
    end = start
    for i in range(observation.size):
        if observation[i] != 0:
            columns[end] = labels.observation[order, i]
            numbers[end] = observation[i]
            end += 1
    return end


@jit
def sample(odds, choices, total, rng):
    """Draw one of a set of actions by its weight, the weights' sum given."""
    left = unit(rng) * total
    while True:
        action = lowest(choices)
        choices = without_lowest(choices)
        left -= odds[action]
        if left < 0 or choices == ZERO:
            return action


@jit
def _likeliest(odds, choices):
    best = lowest(choices)
    while choices != ZERO:
        if odds[lowest(choices)] > odds[best]:
            best = lowest(choices)
        choices = without_lowest(choices)
    return best


@jit
def greatest(logits, choices):
    """The greatest logit of a set of actions."""
    top = -math.inf
    while choices != ZERO:
        top = max(top, logits[lowest(choices)])
        choices = without_lowest(choices)
    return top


@jit
def weigh(logits, choices):
    """Turn the logits of a set of actions into weights, the greatest 1; returns their sum."""
    top = greatest(logits, choices)
    total = 0.0
    while choices != ZERO:
        action = lowest(choices)
        logits[action] = math.exp(logits[action] - top)
        total += logits[action]
        choices = without_lowest(choices)
    return total


@jit
def last_row(net):
    """The row of `Scratch.layers` that the last layer writes."""
    return net.sizes.size % 2


@jit
def run_layers(net, columns, numbers, start, end, scratch):
    """Compute the logits of all actions from what an observation holds beside zeros.

    Args:
        net: `Packed`.
        columns: places in the observation, from start to end; may be those of `scratch`.
        numbers: what stands there.
        start: where the observation begins.
        end: where it ends.
        scratch: `Scratch`; the logits come into the row `last_row(net)` of its layers.
    """
    sizes, parameters = net.sizes, net.parameters
    first = _layer(parameters, 0, sizes, 0, columns, numbers, start, end, scratch)
    for layer in range(1, sizes.size - 1):
        values = scratch.layers[(layer - 1) % 2]
        count = _activate(net.activation, sizes[layer], values, scratch)
        first = _layer(
            parameters, first, sizes, layer, scratch.columns, scratch.numbers, 0, count, scratch
        )


@jit
def _layer(parameters, first, sizes, layer, columns, numbers, start, end, scratch):
    """Returns where the next layer's parameters begin."""
    outputs = sizes[layer + 1]
    bias = first + sizes[layer] * outputs
    values, row = scratch.layers[layer % 2, :outputs], parameters[bias : bias + outputs]
    for j in range(outputs):
        values[j] = row[j]
    add_product(columns, numbers, start, end, parameters, first, values)
    return bias + outputs


@jit
def _activate(activation, size, values, scratch):
    """Write what is not zero after the activation; returns how many there are."""
    count = 0
    for j in range(size):
        value = math.tanh(values[j]) if activation == TANH else max(values[j], np.float32(0))
        scratch.columns[nth(count)] = j
        scratch.numbers[nth(count)] = value
        count += value != 0
    return count
