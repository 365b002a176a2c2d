"""Trained policies without their training library: a masked multilayer perceptron in numba.

Observations are mostly zeros, so the first layer adds up only the rows of what is there. An
answer depends on its own row alone, never on how many rows are asked for at once.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.checkpoints import load_checkpoint, save_checkpoint, sidecar_path
from bestia_env._jit import jit
from bestia_env.games import game_named
from bestia_env.observe import layout, write_mask, write_observation
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
    weights: tuple[tuple[np.ndarray, np.ndarray], ...]
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
            masks: (K, A) int8 or bool, at least one action legal in every row.
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
        _act_batch(self.packed, observations, masks, rngs, self.greedy, self._scratch(), actions)
        return actions

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, (K, A) float64; arguments as for `act_batch`."""
        masks = self._checked_masks(observations, masks)
        chances = np.empty(masks.shape)
        _probabilities(self.packed, observations, masks, self._scratch(), chances)
        return chances

    def act_on_view(self, view: np.ndarray, legal: int, rng: np.ndarray) -> int:
        """Choose an action for one seat.

        Args:
            view: (1,) records, the VIEW of the seat to act.
            legal: its legal actions, a set of bits that is not empty.
            rng: (1,) uint64, its generator.
        """
        observation = np.empty(self.num_inputs, np.float32)
        mask = np.empty(self.num_actions, np.int8)
        return _act_on_view(
            self.packed,
            view,
            np.uint64(legal),
            rng,
            self.greedy,
            observation,
            mask,
            self._scratch(),
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

    def _scratch(self) -> np.ndarray:
        widest = max(len(bias) for _, bias in self.weights)
        return np.empty((2, widest), np.float32)

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
        if not masks.any(axis=1).all():
            row = int(np.argmin(masks.any(axis=1)))
            raise ValueError(f"row {row} of the masks has no legal action")
        return masks.astype(np.int8, copy=False)


def _check_weights(weights: tuple, inputs: int, actions: int) -> None:
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


# The kernels. Scratch is (2, widest layer) float32: a layer's values and those of the next.


@jit
def _act_batch(net, observations, masks, rngs, greedy, scratch, actions):
    for k in range(actions.size):
        actions[k] = _choose(net, observations[k], masks[k], rngs[k : k + 1], greedy, scratch)


@jit
def _act_on_view(net, views, legal, rng, greedy, observation, mask, scratch):
    write_observation(views[0], views[0].viewer, net.labels.at, observation)
    write_mask(legal, mask)
    return _choose(net, observation, mask, rng, greedy, scratch)


@jit
def _probabilities(net, observations, masks, scratch, chances):
    for k in range(len(chances)):
        order = suit_order(net.labels, observations[k])
        run_layers(net, order, observations[k], scratch)
        logits = scratch[last_row(net)]
        total = weigh(net, order, logits, masks[k])
        for action in range(masks.shape[1]):
            place = net.labels.action[order, action]
            chances[k, action] = logits[place] / total if masks[k, action] else 0.0


@jit
def _choose(net, observation, mask, rng, greedy, scratch):
    chosen = _only(mask)
    if chosen >= 0:
        return chosen
    order = suit_order(net.labels, observation)
    run_layers(net, order, observation, scratch)
    weights = scratch[last_row(net)]
    total = weigh(net, order, weights, mask)
    if greedy:
        return _likeliest(net, order, weights, mask)
    return sample(net, order, weights, mask, total, rng)


@jit
def sample(net, order, weights, mask, total, rng):
    """Draw a legal action by its weight, the weights' sum given."""
    chosen = -1
    left = unit(rng) * total
    for action in range(mask.size):
        if mask[action]:
            chosen = action
            left -= weights[net.labels.action[order, action]]
            if left < 0:
                break
    return chosen


@jit
def _only(mask):
    """The only legal action, -1 if there are more."""
    only = -1
    for action in range(mask.size):
        if mask[action]:
            if only >= 0:
                return -1
            only = action
    return only


@jit
def _likeliest(net, order, weights, mask):
    best = -1
    most = -1.0
    for action in range(mask.size):
        if mask[action] and weights[net.labels.action[order, action]] > most:
            most = weights[net.labels.action[order, action]]
            best = action
    return best


@jit
def weigh(net, order, logits, mask):
    """Turn the logits of legal actions into weights, the greatest 1; returns their sum."""
    top = -math.inf
    for action in range(mask.size):
        if mask[action]:
            top = max(top, logits[net.labels.action[order, action]])
    total = 0.0
    for action in range(mask.size):
        if mask[action]:
            place = net.labels.action[order, action]
            logits[place] = math.exp(logits[place] - top)
            total += logits[place]
    return total


@jit
def last_row(net):
    """The row of scratch that the last layer writes."""
    return net.sizes.size % 2


@jit
def run_layers(net, order, observation, scratch):
    """Compute the logits of all actions, as they are numbered with the suits in this order."""
    sizes, parameters = net.sizes, net.parameters
    now = scratch[0]
    start = _bias(parameters, sizes[0] * sizes[1], sizes[1], now)
    for i in range(observation.size):
        if observation[i] != 0:
            row = net.labels.observation[order, i] * sizes[1]
            _add_row(parameters, row, sizes[1], observation[i], now)
    for layer in range(1, sizes.size - 1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        _activate(net.activation, inputs, now)
        then = scratch[layer % 2]
        end = _bias(parameters, start + inputs * outputs, outputs, then)
        for i in range(inputs):
            if now[i] != 0:
                _add_row(parameters, start + i * outputs, outputs, now[i], then)
        now, start = then, end


@jit
def _bias(parameters, start, outputs, values):
    """Begin with the bias; returns where the next layer's parameters begin."""
    row = parameters[start : start + outputs]
    for j in range(outputs):
        values[j] = row[j]
    return start + outputs


@jit
def _add_row(parameters, start, outputs, factor, values):
    row = parameters[start : start + outputs]  # a slice, or else the loop is not vectorised
    for j in range(outputs):
        values[j] += factor * row[j]


@jit
def _activate(activation, size, values):
    for j in range(size):
        values[j] = math.tanh(values[j]) if activation == TANH else max(values[j], np.float32(0))
