"""Trained policies without their training library: a masked multilayer perceptron in numba.

Observations are mostly zeros, and so are the values behind a ReLU: every layer adds up only the
rows of what is there. An answer depends on its own row alone, never on how many rows are asked for
at once; deals that differ by the names of their suits get the same answer up to rounding.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.checkpoints import load_checkpoint, save_checkpoint, sidecar_path
from agents.sparse import add_product
from bestia_env._jit import jit
from bestia_env.bits import ONE, ZERO, has, lowest, nth, without_lowest
from bestia_env.games import game_named
from bestia_env.observe import layout, write_observation
from bestia_env.rng import unit
from bestia_env.suits import Relabelling, relabelling, suit_order

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


@dataclass(frozen=True, eq=False)
class Network:
    """A policy: a perceptron from observations to the logits of all actions, then the mask.

    Attributes:
        game: "beast" or "bestia".
        num_players: seats.
        weights: of each layer the matrix (outputs, inputs) and the bias (outputs,), float32.
        activation: between the layers, "tanh" or "relu".
        sort_suits: does it see the suits in the order of `bestia_env.suits`?
        greedy: play the likeliest action rather than draw one?

    Raises:
        ValueError: the weights do not fit the game's observations and actions, or each other.
    """

    game: str
    num_players: int
    weights: tuple[tuple[np.ndarray, np.ndarray], ...] = field(repr=False)
    activation: str = "relu"
    sort_suits: bool = True
    greedy: bool = False

    def __post_init__(self) -> None:
        """Check the shapes."""
        if self.activation not in ACTIVATIONS:
            words = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation must be one of {words}, not {self.activation!r}")
        for name in ("sort_suits", "greedy"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        _check_weights(self.weights, self.num_inputs, self.num_actions)
        _check_range(self.weights, self.activation, layout(self.game, self.num_players).high)

    @property
    def num_inputs(self) -> int:
        """D, the length of an observation."""
        return layout(self.game, self.num_players).size

    @property
    def num_actions(self) -> int:
        """A, the size of the action space."""
        return game_named(self.game).num_actions

    @property
    def architecture(self) -> dict[str, Any]:
        """What is needed beside the weights to build it again."""
        return {
            "hidden": [len(bias) for _, bias in self.weights[:-1]],
            "activation": self.activation,
            "sort_suits": self.sort_suits,
            "greedy": self.greedy,
        }

    def act_batch(
        self, observations: np.ndarray, masks: np.ndarray, rngs: np.ndarray
    ) -> np.ndarray:
        """Choose an action for every row.

        Args:
            observations: (K, D) float32, of the seats to act.
            masks: (K, A), what is not 0 is legal, at least one action in every row.
            rngs: (K,) uint64, a generator for every row; it moves on where there is a choice,
                unless `greedy`.

        Returns:
            (K,) int64.

        Raises:
            ValueError: a shape is wrong, or a row has no legal action.
        """
        masks = self._checked_masks(observations, masks)
        if rngs.shape != (len(masks),):
            raise ValueError(f"rngs must have shape ({len(masks)},), not {rngs.shape}")
        actions = np.empty(len(masks), np.int64)
        _act_batch(self.packed, observations, masks, rngs, self.greedy, self.scratch(), actions)
        return actions

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, (K, A) float64; arguments as for `act_batch`."""
        masks = self._checked_masks(observations, masks)
        chances = np.empty(masks.shape)
        _probabilities(self.packed, observations, masks, self.scratch(), chances)
        return chances

    def act_on_view(self, view: np.ndarray, legal: int, rng: np.ndarray) -> int:
        """Choose an action for one seat.

        Args:
            view: (1,) records, the VIEW of the seat to act.
            legal: its legal actions, a set of bits that is not empty.
            rng: (1,) uint64, its generator.

        Raises:
            ValueError: the view is of another game or another number of players, or no action is
                legal.
        """
        self._check_view(view)
        if not legal:
            raise ValueError("legal must be a set of actions that is not empty")
        observation = np.empty(self.num_inputs, np.float32)
        choices, scratch = np.uint64(legal), self.scratch()
        return _act_on_view(self.packed, view, choices, rng, self.greedy, observation, scratch)

    def _check_view(self, view: np.ndarray) -> None:
        if view.dtype != game_named(self.game).dtype:
            raise ValueError(f"the network plays {self.game}, and the view is of another game")
        if view[0]["num_players"] != self.num_players:
            raise ValueError(
                f"the network plays with {self.num_players} players, and the view is of a table "
                f"with {view[0]['num_players']}"
            )

    @functools.cached_property
    def packed(self) -> Packed:
        """The network as the kernels take it."""
        parts = [part.ravel() for matrix, bias in self.weights for part in (matrix.T, bias)]
        sizes = [self.num_inputs, *(len(bias) for _, bias in self.weights)]
        return Packed(
            np.concatenate(parts).astype(np.float32),
            np.array(sizes, np.int64),
            ACTIVATIONS.index(self.activation),
            relabelling(self.game, self.num_players, self.sort_suits),
        )

    def scratch(self) -> Scratch:
        """Room for the kernels."""
        widest = max(len(bias) for _, bias in self.weights)
        most = max(self.num_inputs, widest)
        return Scratch(
            np.empty((2, widest), np.float32), np.empty(most, np.int32), np.empty(most, np.float32)
        )

    def _checked_masks(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        rows = len(observations)
        if observations.shape != (rows, self.num_inputs):
            raise ValueError(
                f"observations of {self.game} with {self.num_players} players have shape "
                f"(K, {self.num_inputs}), not {observations.shape}"
            )
        if masks.shape != (rows, self.num_actions):
            raise ValueError(
                f"masks must have shape ({rows}, {self.num_actions}), not {masks.shape}"
            )
        masks = masks != 0
        if not masks.any(axis=1).all():
            row = int(np.argmin(masks.any(axis=1)))
            raise ValueError(f"row {row} of the masks has no legal action")
        return masks


def _check_weights(weights: tuple, inputs: int, actions: int) -> None:
    if not weights:
        raise ValueError("weights must be of at least one layer")
    size = inputs
    for number, (matrix, bias) in enumerate(weights):
        outputs = actions if number == len(weights) - 1 else bias.size
        if matrix.shape != (outputs, size) or bias.shape != (outputs,):
            raise ValueError(
                f"layer {number} must have weights of shape ({outputs}, {size}) and a bias of "
                f"shape ({outputs},), not {matrix.shape} and {bias.shape}"
            )
        if not matrix.dtype == bias.dtype == np.float32:
            raise ValueError(f"layer {number} must be float32, not {matrix.dtype}, {bias.dtype}")
        if not (np.isfinite(matrix).all() and np.isfinite(bias).all()):
            raise ValueError(f"layer {number} holds numbers that are not finite")
        size = outputs


def _check_range(weights: tuple, activation: str, high: np.ndarray) -> None:
    """Raise a ValueError if some observation could lead beyond what float32 holds."""
    most = high.astype(float)
    for number, (matrix, bias) in enumerate(weights):
        if number and activation == "tanh":
            most = np.ones(most.size)
        most = np.abs(matrix.astype(float)) @ most + np.abs(bias)
        if most.max() > np.finfo(np.float32).max / 2:
            raise ValueError(f"the weights of layer {number} are so great that sums could overflow")


def network_of_sb3(policy: Any, game: str, num_players: int, sort_suits: bool = True) -> Network:
    """The network of a trained `ActorCriticPolicy` of Stable-Baselines3, its critic left out.

    Args:
        policy: `model.policy`, of layers with weights and one activation.
        game: "beast" or "bestia".
        num_players: seats.
        sort_suits: was it trained on relabelled suits?

    Raises:
        ValueError: its activation is none of `ACTIVATIONS`, or its layers do not fit the game.
    """
    layers = [layer for layer in policy.mlp_extractor.policy_net if hasattr(layer, "weight")]
    weights = tuple(
        (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
        for layer in [*layers, policy.action_net]
    )
    return Network(game, num_players, weights, policy.activation_fn.__name__.lower(), sort_suits)


# Files.


def save_network(path: str | Path, network: Network, **facts: Any) -> None:
    """Save a network with a sidecar that says all that `load_network` checks, and the facts given.

    Args:
        path: ends in .safetensors.
        network: what to save.
        facts: more for the sidecar, such as command, seed, versions, rules and result.

    Raises:
        ValueError: the path has another ending, or JSON cannot hold the facts.
        OSError: the folder cannot be written to.
    """
    tensors = {}
    for number, (matrix, bias) in enumerate(network.weights):
        tensors[f"layers.{number}.weight"] = matrix
        tensors[f"layers.{number}.bias"] = bias
    save_checkpoint(
        path,
        tensors,
        {
            "game": network.game,
            "num_players": network.num_players,
            "layout": layout(network.game, network.num_players).hash,
            "num_actions": network.num_actions,
            "architecture": network.architecture,
            **facts,
        },
    )


def load_network(path: str | Path, game: str, num_players: int) -> Network:
    """Load a network that is to play at a table.

    Args:
        path: a .safetensors file with its sidecar beside it.
        game: "beast" or "bestia".
        num_players: seats at the table.

    Raises:
        ValueError: there is no checkpoint, or it is damaged, or for another game, another number
            of players, another observation or other actions; it says which.
    """
    tensors, sidecar = load_checkpoint(path)
    _check_fit(path, sidecar, game, num_players)
    try:
        return Network(game, num_players, *_parts(tensors, sidecar.get("architecture")))
    except ValueError as error:
        raise ValueError(f"{path} is no sound checkpoint: {error}") from None


def _parts(tensors: dict[str, np.ndarray], architecture: Any) -> tuple:
    """Weights, activation, sort_suits and greedy, as a `Network` takes and checks them."""
    names = ("hidden", "activation", "sort_suits", "greedy")
    if not isinstance(architecture, dict) or not architecture.keys() >= {*names}:
        raise ValueError(f"its architecture must name {', '.join(names)}, not {architecture!r}")
    hidden, activation, sort_suits, greedy = (architecture[name] for name in names)
    if not isinstance(hidden, list) or any(type(width) is not int for width in hidden):
        raise ValueError(f"hidden must be a list of widths, not {hidden!r}")
    layers = [
        (f"layers.{number}.weight", f"layers.{number}.bias") for number in range(len(hidden) + 1)
    ]
    wanted = {name for layer in layers for name in layer}
    if tensors.keys() != wanted:
        lacks, extra = sorted(wanted - tensors.keys()), sorted(tensors.keys() - wanted)
        raise ValueError(f"for hidden {hidden} it lacks tensors {lacks} and has {extra} too many")
    weights = tuple((tensors[weight], tensors[bias]) for weight, bias in layers)
    widths = [bias.size for _, bias in weights[:-1]]
    if widths != hidden:
        raise ValueError(f"hidden is {hidden}, but the weights are of widths {widths}")
    return weights, activation, sort_suits, greedy


def _check_fit(path: str | Path, sidecar: dict, game: str, num_players: int) -> None:
    """Raise a ValueError unless the sidecar's checkpoint can play at such a table."""
    if sidecar.get("game") != game:
        raise ValueError(f"{path} plays {sidecar.get('game')}, not {game}")
    seats = sidecar.get("num_players")
    if type(seats) is not int or seats != num_players:
        raise ValueError(f"{path} plays {game} with {seats!r} players, not {num_players}")
    for key, name, expected in (
        ("layout", "observation layout", layout(game, num_players).hash),
        ("num_actions", "number of actions", game_named(game).num_actions),
    ):
        if sidecar.get(key) != expected:
            raise ValueError(
                f"{path} was trained on another version of {game}: its {name} is "
                f"{sidecar.get(key)}, here it is {expected} ({sidecar_path(path).name} names the "
                "command that trains it anew)"
            )


# The kernels. Suits are relabelled on the way in, and actions back on the way out.


@jit
def _act_batch(net, observations, masks, rngs, greedy, scratch, actions):
    for k in range(actions.size):
        choices = _set_of(masks[k])
        actions[k] = _choose(net, observations[k], choices, rngs[k : k + 1], greedy, scratch)


@jit
def _act_on_view(net, views, legal, rng, greedy, observation, scratch):
    write_observation(views[0], views[0].viewer, net.labels.at, observation)
    return _choose(net, observation, legal, rng, greedy, scratch)


@jit
def _probabilities(net, observations, masks, scratch, chances):
    for k in range(len(chances)):
        order = suit_order(net.labels, observations[k])
        choices = relabel_actions(net.labels, order, _set_of(masks[k]))
        total = _weigh_observation(net, order, observations[k], choices, scratch)
        odds = scratch.layers[last_row(net)]
        for action in range(masks.shape[1]):
            place = net.labels.action[order, action]
            chances[k, action] = odds[place] / total if has(choices, place) else 0.0


@jit
def _choose(net, observation, choices, rng, greedy, scratch):
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
def weigh(logits, choices):
    """Turn the logits of a set of actions into weights, the greatest 1; returns their sum."""
    top, left = -math.inf, choices
    while left != ZERO:
        top = max(top, logits[lowest(left)])
        left = without_lowest(left)
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
