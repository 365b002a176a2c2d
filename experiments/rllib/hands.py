"""Runners that play whole hands in kernels, and the batches that RLlib learns from.

A runner deals, plays and settles thousands of hands in one call of `agents.self_play`, where RLlib
would step tables one action at a time. What it returns are decisions of seats: each seat's own, in
its order, with its own winnings at the end of the hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from ray import ObjectRef, get
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import COMPONENT_RL_MODULE
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    WEIGHTS_SEQ_NO,
)

from agents.company import Company
from agents.networks import Network
from agents.self_play import LAST, LEARNER, Decisions, SelfPlay, advantages
from experiments.rllib.module import ALL_SEATS, network_of
from experiments.rllib.seats import MASK, OBSERVATIONS, SeatsEnv

HANDS = "num_hands_sampled"
HAND_NUMBERS = 1 << 24  # hands a runner may play between two updates; more than any does
_RUNNERS = 1 << 15


class Hands:
    """Whole hands: what a runner's `sample` returns in place of RLlib's episodes.

    Attributes:
        decisions: of all the learner's seats.
    """

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions

    def __len__(self) -> int:
        """How many decisions there are."""
        return self.decisions.num_rows


class HandsRunner(EnvRunner, Checkpointable):
    """Plays whole hands by the network that it was sent last.

    Which hands it plays depends on its index and on how many updates the network has behind it, so
    there is nothing that a runner which was lost would have to remember. `config.env_config` holds
    what `SelfPlay` takes, `company` as a dict, and `decisions`, of all runners for an update.

    Attributes:
        module: RLlib's, from which the network is taken.
        network: which plays; None before there are weights.
    """

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        settings = dict(self.config.env_config)
        self._count = -(-settings.pop("decisions") // max(1, self.config.num_env_runners))
        company = Company(**settings.pop("company"))
        self.tables = SelfPlay(**settings, company=company)
        env = SeatsEnv({"game": self.tables.game, "num_players": self.tables.num_players})
        self._env_spaces = env.observation_space, env.action_space
        agent = env.possible_agents[0]
        self._spaces = env.observation_spaces[agent], env.action_spaces[agent]
        self.network: Network | None = None
        self._updates, self._next_hand = 0, self._first_hand(0)
        self.make_module()

    def make_module(self) -> None:
        """Build the module that weights are sent for."""
        spec = self.config.get_multi_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()

    def get_spaces(self) -> dict[str, Any]:
        """Observation and action spaces, of the module and of the environment."""
        return {
            INPUT_ENV_SPACES: self._env_spaces,
            INPUT_ENV_SINGLE_SPACES: self._env_spaces,
            ALL_SEATS: self._spaces,
        }

    def assert_healthy(self) -> None:
        """It can play."""
        assert self.module is not None

    def sample(self, **kwargs: Any) -> list[Hands]:
        """Play this runner's share of the decisions of an update."""
        assert self.network is not None
        first = self._next_hand
        decisions, self._next_hand = self.tables.play(self.network, self._count, first)
        self._log(decisions, self._next_hand - first)
        return [Hands(decisions)]

    def _log(self, decisions: Decisions, hands: int) -> None:
        counts = {
            NUM_ENV_STEPS_SAMPLED: decisions.num_rows,
            HANDS: hands,
            "illegal_moves": num_illegal(decisions),
        }
        for name, count in counts.items():
            self.metrics.log_value(name, count, reduce="sum")
        rows = decisions.num_rows
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, rows, reduce="lifetime_sum")
        met = (decisions.following == LAST) & (decisions.fields != LEARNER)
        if met.any():
            self.metrics.log_value("reward_mean", float(decisions.returns[met].mean()), window=1)

    def get_metrics(self) -> Any:
        """What there is to say of the hands since the last call."""
        return self.metrics.reduce()

    # What is sent, and what may be asked for.

    def get_state(
        self,
        components: Any = None,
        *,
        not_components: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The weights, and how many updates they have behind them."""
        if not self._check_component(COMPONENT_RL_MODULE, components, not_components):
            return {}
        state = self.module.get_state(
            components=self._get_subcomponents(COMPONENT_RL_MODULE, components), **kwargs
        )
        return {COMPONENT_RL_MODULE: state, WEIGHTS_SEQ_NO: self._updates}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Play by these weights from now on."""
        if COMPONENT_RL_MODULE not in state:
            return
        modules = state[COMPONENT_RL_MODULE]
        self.module.set_state(get(modules) if isinstance(modules, ObjectRef) else modules)
        tables = self.tables
        self.network = network_of(
            self.module[ALL_SEATS].get_state(),
            *(tables.game, tables.num_players, bool(tables.labels.enabled)),
        )
        self._updates = int(state.get(WEIGHTS_SEQ_NO, 0))
        self._next_hand = self._first_hand(self._updates)

    def _first_hand(self, updates: int) -> int:
        """The number of the first hand after so many updates; no two runners play the same."""
        return (updates * _RUNNERS + (self.worker_index or 0)) * HAND_NUMBERS

    def get_ctor_args_and_kwargs(self) -> tuple[tuple, dict[str, Any]]:
        """How to make another."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """The module."""
        return [(COMPONENT_RL_MODULE, self.module)]


def num_illegal(decisions: Decisions) -> int:
    """How many of the actions taken were not legal."""
    chosen = np.uint64(1) << decisions.actions.astype(np.uint64)
    return int(((decisions.legal & chosen) == 0).sum())


class HandsToBatch(ConnectorV2):
    """The learner's connector: a batch of decisions with their advantages.

    The trajectory of a seat are its own decisions in a hand, whoever acts in between.
    """

    def __init__(self, *spaces: Any, gae_lambda: float) -> None:
        super().__init__(*spaces)
        self.gae_lambda = gae_lambda

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: Sequence[Hands], **kwargs: Any
    ) -> dict[str, Any]:
        """Columns of tensors under `ALL_SEATS`."""
        parts = [self._columns(rl_module[ALL_SEATS], hands.decisions) for hands in episodes]
        gains = torch.cat([part[Postprocessing.ADVANTAGES] for part in parts])
        columns: dict[str, Any] = {
            name: torch.cat([part[name] for part in parts])
            for name in parts[0]
            if name != Columns.OBS
        }
        columns[Postprocessing.ADVANTAGES] = (gains - gains.mean()) / (gains.std() + 1e-8)
        columns[Columns.OBS] = {
            name: torch.cat([part[Columns.OBS][name] for part in parts])
            for name in (OBSERVATIONS, MASK)
        }
        return {ALL_SEATS: columns}

    def _columns(self, module: Any, decisions: Decisions) -> dict[str, Any]:
        seen = seen_by(decisions, module.observation_space)
        with torch.no_grad():
            values = module.compute_values({Columns.OBS: seen})
            logits = module.forward_train({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
        gains = torch.from_numpy(advantages(values.numpy(), decisions, self.gae_lambda))
        return {
            Columns.OBS: seen,
            Columns.ACTIONS: torch.tensor(decisions.actions),
            Columns.ACTION_LOGP: torch.tensor(decisions.log_probs),
            Columns.ACTION_DIST_INPUTS: logits,
            Postprocessing.ADVANTAGES: gains,
            Postprocessing.VALUE_TARGETS: values + gains,
        }


def seen_by(decisions: Decisions, space: Any) -> dict[str, torch.Tensor]:
    """What the module takes: observations (N, D) float32, and masks (N, A) int8."""
    actions = np.arange(space[MASK].shape[0], dtype=np.uint64)
    masks = (decisions.legal[:, None] >> actions) & np.uint64(1)
    dense = decisions.observations.dense(space[OBSERVATIONS].shape[0])
    return {
        OBSERVATIONS: torch.from_numpy(dense),
        MASK: torch.from_numpy(masks.astype(np.int8)),
    }
