"""Trained policies without their training library: a masked multilayer perceptron.

`agents.layers` computes it. An answer depends on its own row alone, never on how many rows are
asked for at once; deals that differ by the names of their suits get the same answer up to rounding.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents import layers
from agents.checkpoints import load_checkpoint, save_checkpoint, sidecar_path
from agents.layers import ACTIVATIONS, Packed, Scratch
from bestia_env.games import game_named
from bestia_env.observe import layout
from bestia_env.suits import relabelling


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
        layers.act_batch(
            self.packed, observations, masks, rngs, self.greedy, self.scratch(), actions
        )
        return actions

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, (K, A) float64; arguments as for `act_batch`."""
        masks = self._checked_masks(observations, masks)
        chances = np.empty(masks.shape)
        layers.probabilities(self.packed, observations, masks, self.scratch(), chances)
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
        return layers.act_on_view(
            self.packed, view, choices, rng, self.greedy, observation, scratch
        )

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
