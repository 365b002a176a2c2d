"""A network of this project as RLlib's module: a masked perceptron, and a critic beside it.

Its actor has the layers of `agents.networks.Network`, so what Ray trained plays anywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from agents.networks import Network
from experiments.rllib.seats import MASK, OBSERVATIONS

ALL_SEATS = "all_seats"  # the one module, which plays every seat
NEVER = torch.finfo(torch.float32).min  # the logit of what is not legal


class MaskedPerceptron(TorchRLModule, ValueFunctionAPI, InferenceOnlyAPI):
    """Logits of the legal actions, from {"observations": (K, D), "action_mask": (K, A)}.

    `model_config["hidden"]` holds the widths of the layers between, with ReLU.

    Attributes:
        actor: the policy's layers.
        critic: the value's; not there on those that only play.
    """

    def setup(self) -> None:
        """Build the layers; their weights are orthogonal, those of the last of the actor small."""
        hidden = tuple(self.model_config["hidden"])
        inputs = self.observation_space[OBSERVATIONS].shape[0]
        self.actor = _layers((inputs, *hidden, int(self.action_space.n)), 0.01)
        self.critic = _layers((inputs, *hidden, 1), 1.0)

    def get_non_inference_attributes(self) -> list[str]:
        """What is not needed to play."""
        return ["critic"]

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, torch.Tensor]:
        seen = batch[Columns.OBS]
        logits = self.actor(seen[OBSERVATIONS])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen[MASK] == 0, NEVER)}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> torch.Tensor:
        """(K,): what the seats will win, in pots."""
        return self.critic(batch[Columns.OBS][OBSERVATIONS])[..., 0]


def _layers(sizes: Sequence[int], last_gain: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size, then in itertools.pairwise(sizes):
        linear = nn.Linear(size, then)
        nn.init.orthogonal_(linear.weight, 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    with torch.no_grad():
        linear.weight *= last_gain / 2**0.5
    return nn.Sequential(*layers[:-1])


def network_of(state: Mapping[str, Any], game: str, num_players: int, sort_suits: bool) -> Network:
    """The policy of a `MaskedPerceptron` by its `get_state()`.

    Args:
        state: arrays or tensors by name.
        game: "beast" or "bestia".
        num_players: seats.
        sort_suits: was it trained on relabelled suits?
    """
    names = [name.split(".") for name in state]
    places = sorted(int(n[1]) for n in names if (n[0], n[-1]) == ("actor", "weight"))
    weights = tuple(
        (_array(state[f"actor.{place}.weight"]), _array(state[f"actor.{place}.bias"]))
        for place in places
    )
    return Network(game, num_players, weights, "relu", sort_suits)


def _array(parameter: Any) -> np.ndarray:
    return torch.as_tensor(parameter).detach().cpu().numpy().astype(np.float32)
