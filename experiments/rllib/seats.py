"""A table as RLlib's `MultiAgentEnv`.

RLlib's own wrapper of PettingZoo loses the infos of a reset, deals once at construction without a
seed, holds agents in the order of their hashes, and cannot be rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from bestia_env import beast_v0, bestia_v0

OBSERVATIONS = "observations"  # as RLlib's masking modules call them
MASK = "action_mask"


class SeatsEnv(MultiAgentEnv):
    """All seats of a table; each call tells of the seat to act, the last one of all.

    A seat's reward is what it got since it acted last, so that its own decisions with their own
    rewards are one trajectory. All seats terminate together, with masks of zeros.

    Attributes:
        env: the PettingZoo environment.
        possible_agents: in the order of the seats.
        illegal_moves: how many there were; each ends its session.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Seat the players.

        Args:
            config: `game` ("bestia" or "beast"), and keywords of `env()` in `bestia_env.bestia_v0`
                or `beast_v0`, such as num_players, rules, num_hands and render_mode.

        Raises:
            ValueError: an argument has a value that is not allowed.
        """
        super().__init__()
        keywords = dict(config or {})
        game = keywords.pop("game", "bestia")
        modules = {"bestia": bestia_v0, "beast": beast_v0}
        if game not in modules:
            raise ValueError(f"game must be one of {', '.join(modules)}, not {game!r}")
        self.env = modules[game].env(obs_key=OBSERVATIONS, **keywords)
        self.render_mode = self.env.unwrapped.render_mode
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = {a: self.env.observation_space(a) for a in self.agents}
        self.action_spaces = {a: self.env.action_space(a) for a in self.agents}
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)
        self.illegal_moves = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal the first hand: what the seat to act sees, and its info; see `TableEnv.reset`."""
        self.env.reset(seed=seed, options=options)
        agent = self.env.agent_selection
        return {agent: self.env.observe(agent)}, {agent: self.env.infos[agent]}

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Carry out the action of the seat to act.

        Args:
            action_dict: its action alone.

        Returns:
            Observations, rewards, terminated, truncated (never) and infos.

        Raises:
            ValueError: it is not the turn of who acts, or the action is none of the action space.
        """
        agent = self.env.agent_selection
        if [*action_dict] != [agent]:
            raise ValueError(
                f"it is the turn of {agent}, not of {', '.join(action_dict) or 'nobody'}"
            )
        action = action_dict[agent]
        legal = np.flatnonzero(self.env.observe(agent)[MASK])
        self.env.step(action)
        self.illegal_moves += action not in legal
        told = [self.env.agent_selection]
        over = self.env.terminations[told[0]]
        if over:
            told = self.possible_agents
        rewards = self.env.unwrapped._cumulative_rewards
        return (
            {agent: self.env.observe(agent) for agent in told},
            {agent: rewards[agent] for agent in told},
            {**dict.fromkeys(told, over), "__all__": over},
            {**dict.fromkeys(told, False), "__all__": False},
            {agent: self.env.infos[agent] for agent in told},
        )

    def render(self) -> Any:
        """The table in its render mode, see `TableEnv.render`."""
        return self.env.render()

    def close(self) -> None:
        """Close a window, if there is one."""
        self.env.close()


def count_illegal(*, env_runner: Any, metrics_logger: Any, **kwargs: Any) -> None:
    """For RLlib's `on_sample_end`: log the illegal moves of a runner's environments."""
    for env in env_runner.env.envs:
        seats = env.unwrapped
        metrics_logger.log_value("illegal_moves", seats.illegal_moves, reduce="sum")
        seats.illegal_moves = 0
