"""PettingZoo AEC environments over a batch of one hand.

They are rendered as text, as pictures or in a window (`bestia_env.render.screen`).
"""

from __future__ import annotations

import copy
import operator
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from bestia_env import engine
from bestia_env.deals import DealOptions, checked_seed, is_integer
from bestia_env.games import game_named
from bestia_env.observe import layout, state_pieces, write_state
from bestia_env.records import Record, record_hand
from bestia_env.render import render_svg, render_text
from bestia_env.render.screen import FPS, MODES, Screen
from bestia_env.rules.table import match

REWARDS = ("equity", "coins")
# What no step changes in place, and is dear to copy.
_SHARED = (
    *("game", "rules", "observation_spaces", "action_spaces", "state_space"),
    *("possible_agents", "_seats", "_layout", "_at", "_deals", "_dealt", "_last_dealt"),
)


class IllegalActionError(ValueError):
    """An action of the action space that is not legal now."""


class TableEnv(AECEnv):
    """A session of hands of one game; `BeastTable` and `BestiaTable` say which.

    Attributes:
        states: (1,) record, the whole state.
        history: (seat, action) pairs of the hand in progress; holds hidden discards.
        last_history: those of the hand settled last.
        hand_over: did the last step settle a hand?
        seen_from: the seat whose view is rendered; None for all cards open.
    """

    game_name: ClassVar[str]
    metadata: ClassVar[dict[str, Any]]

    def __init__(
        self,
        num_players: int = 4,
        rules: Any = None,
        num_hands: int = 1,
        reward: str = "equity",
        render_mode: str | None = None,
        obs_key: str = "observation",
        **options: Any,
    ) -> None:
        """Seat the players; every option of the rules may be given as a keyword.

        Raises:
            ValueError: an argument has a value that is not allowed.
            TypeError: there is no such option.
            ImportError: the render mode needs the extra `human`, which is not installed.
        """
        super().__init__()
        self.game = game_named(self.game_name)
        self.rules = self.game.make_rules(rules, options)
        self.game.check_num_players(num_players, self.rules)
        self.num_hands = checked_num_hands(num_hands)
        self.reward = checked_choice("reward", reward, REWARDS)
        modes = (None, *self.metadata["render_modes"])
        self.render_mode = checked_choice("render_mode", render_mode, modes)
        self.seen_from: int | None = None
        self._screen = Screen(self.render_mode, self.game.name.title(), self.metadata["render_fps"])
        self.obs_key = _checked_obs_key(obs_key)
        self.num_players = int(num_players)
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._layout = layout(self.game.name, self.num_players)
        self._at, self._size = self._layout.offsets, self._layout.size
        self._num_actions = self.game.num_actions
        self._make_spaces()
        self.states = engine.new_states(self.game.name, self.num_players, self.rules)
        self._turn = self.states["turn"]
        self._public = np.zeros(2 * self.num_players + 2, np.int64)
        self._deals = DealOptions()
        self._np_random: np.random.Generator | None = None
        self.agents: list[str] = []
        self._begun = False
        self.hand_over = False
        self.history: list[tuple[int, int]] = []
        self.last_history: list[tuple[int, int]] = []
        self._dealt: np.ndarray | None = None  # the state at the start of the hand in progress
        self._last_dealt: np.ndarray | None = None  # and of the hand settled last

    def _make_spaces(self) -> None:
        low = np.zeros(self._layout.size, np.float32)
        space = spaces.Dict(
            {
                self.obs_key: spaces.Box(low, self._layout.high, dtype=np.float32),
                "action_mask": spaces.Box(0, 1, (self.game.num_actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: copy.deepcopy(space) for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(self.game.num_actions) for agent in self.possible_agents
        }
        extra = sum(piece.size for piece in state_pieces(self.game.name, self.num_players)[1:])
        high = np.concatenate([self._layout.high, np.ones(extra, np.float32)])
        self.state_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def observation_space(self, agent: str) -> gymnasium.Space:
        """A Dict of the observation, Box (D,) float32, and the action mask, Box (A,) int8."""
        self._seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        """Discrete(A): the cards first, then the actions of the rulebook."""
        self._seat_of(agent)
        return self.action_spaces[agent]

    @property
    def observation_pieces(self) -> dict[str, slice]:
        """The place of every piece of the observation by its name."""
        return dict(self._layout.slices)

    # One session.

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the first hand of a session.

        Args:
            seed: of all deals; without one the deals go on from the last seed.
            options: `deck`, `dealer`, `pot`, in Bestia `heap`, of the first hand or hands.

        Raises:
            ValueError: the seed or an option is malformed; nothing has changed then.
        """
        seed = checked_seed(seed)
        deals = DealOptions.read(options, self.game, self.num_players, self.num_hands, self.rules)
        if seed is not None or self._np_random is None:
            self._np_random, _ = seeding.np_random(seed)
        self.reset_from(self._np_random, deals)

    def reset_from(self, np_random: np.random.Generator, deals: DealOptions) -> None:
        """As `reset`, with the session's key drawn from a generator of the caller's."""
        self._deals = deals
        key = np.uint64(np_random.bit_generator.random_raw())
        deck = deals.deck(0)
        if deck is None:
            engine.start_session(self.states, 0, key, deals.dealer, deals.pot)
        else:
            engine.start_stacked_session(self.states, 0, key, deals.dealer, deals.pot, deck, deck)
        self._lay_heap(0)
        self._dealt, self._last_dealt = self.states.copy(), None
        self._begun = True
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self.possible_agents[self._turn[0]]
        self._skip_agent_selection = None
        self._rewarded = self.hand_over = False
        self.history, self.last_history = [], []
        self._write_infos()
        self._show()

    def step(self, action: Any) -> None:
        """Carry out an action of the agent selected; `None` once the session is over.

        Raises:
            ValueError: the action is not one of the action space, or not legal now
                (IllegalActionError); nothing has changed then.
        """
        if not self.agents:
            raise RuntimeError("no hand is in progress: call reset() first")
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            self.hand_over = False
            return
        action = self._index_of(action)
        event = engine.act_if_legal(self.states, 0, action)
        if event == engine.ILLEGAL:
            raise IllegalActionError(self._illegal(action))
        self._begin_step()
        self.history.append((self._seats[self.agent_selection], action))
        if event == engine.HAND_SETTLED:
            self._settle()
        elif event == engine.TRICK_TAKEN:
            self._write_infos()
        if self._turn[0] >= 0:
            self.agent_selection = self.possible_agents[self._turn[0]]
        self._show()

    def annul(self) -> None:
        """End the session with the hand in progress annulled, the seat to act at fault.

        Stakes go back; pot and coins are as before the hand. The offender's reward is
        -min(P, match_limit), and the others share that alike, in both reward modes.

        Raises:
            RuntimeError: no hand is in progress.
        """
        if not self.agents or self.terminations[self.agent_selection]:
            raise RuntimeError("no hand is in progress: call reset() first")
        self._begin_step()
        offender = self.agent_selection
        fine = float(match(self.states[0]))
        engine.annul_hand(self.states, 0)
        share = fine / (self.num_players - 1)
        self._reward([-fine if agent == offender else share for agent in self.possible_agents])
        self._write_infos()
        self._dealt = self._last_dealt = None
        self._end()
        self._show()

    def _begin_step(self) -> None:
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.hand_over = False
        if self._rewarded:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._rewarded = False

    def _settle(self) -> None:
        """Give the hand's rewards, and deal the next or end the session."""
        self.hand_over = True
        self.last_history, self.history = self.history, []
        self._last_dealt, self._dealt = self._dealt, None
        coins = np.empty(self.num_players)
        engine.write_rewards(self.states, 0, self.reward == "equity", coins)
        self._reward(coins.tolist())
        hand_number = self._public.item(-1) + 1
        if hand_number < self.num_hands:
            self._show()
            self._deal_next(hand_number)
        self._write_infos()
        if hand_number == self.num_hands:
            self._end()

    def _deal_next(self, hand_number: int) -> None:
        deck = self._deals.deck(hand_number)
        if deck is None:
            engine.deal_next_hand(self.states, 0)
        else:
            engine.deal_next_stacked_hand(self.states, 0, deck, deck)
        self._lay_heap(hand_number)
        self._dealt = self.states.copy()

    def _lay_heap(self, hand_number: int) -> None:
        """In Bestia, gathered cards are dealt in the order given, or else in one from the seed."""
        if self.game.name == "bestia" and (self._deals.decks or self._deals.heaps):
            heap = self._deals.heap(hand_number)
            self.states["heap_given"] = heap is not None
            if heap is not None:
                self.states["heap"][:, : heap.size] = heap

    def _reward(self, coins: list[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, coins, strict=True))
        self._rewarded = True
        self._accumulate_rewards()

    def _end(self) -> None:
        """All seats terminate together, none is truncated."""
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def _write_infos(self) -> None:
        """Coins since the session began (stakes of this hand included), pot, hand, tricks."""
        n = self.num_players
        engine.write_infos(self.states, 0, self._public)
        public = self._public.tolist()
        pot, hand_number = public[2 * n :]
        self.infos = {
            agent: {
                "coins": public[seat],
                "pot": pot,
                "hand_number": hand_number,
                "tricks": public[n + seat],
            }
            for seat, agent in enumerate(self.possible_agents)
        }

    def _check_begun(self) -> None:
        if not self._begun:
            raise RuntimeError("no session has begun: call reset() first")

    def _seat_of(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except (KeyError, TypeError):
            names = ", ".join(self.possible_agents)
            raise ValueError(f"agent must be one of {names}, not {agent!r}") from None

    def _index_of(self, action: Any) -> int:
        try:
            index = -1 if isinstance(action, bool) else operator.index(action)
        except TypeError:
            index = -1
        if not 0 <= index < self._num_actions:
            raise ValueError(
                f"an action must be an integer from 0 to {self._num_actions - 1}, not {action!r}"
            )
        return index

    def _illegal(self, action: int) -> str:
        mask = self.observe(self.agent_selection)["action_mask"]
        return (
            f"{self.game.action_name(action)} ({action}) is not legal for {self.agent_selection}: "
            f"the legal actions are {self.game.action_names(mask)} "
            f"({', '.join(map(str, np.flatnonzero(mask)))})"
        )

    # What is seen.

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What the agent's seat knows: the observation (D,) float32 and the mask (A,) int8."""
        seat = self._seat_of(agent)
        self._check_begun()
        observation = np.empty(self._size, np.float32)
        mask = np.empty(self._num_actions, np.int8)
        engine.observe(self.states, 0, seat, self._at, observation, mask)
        return {self.obs_key: observation, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last step, and so on, of the agent selected."""
        self._check_begun()
        if not self.agents:
            raise RuntimeError("no agent is left: the session is over, call reset()")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def state(self) -> np.ndarray:
        """All cards of all seats, for critics at training time; not for policies.

        Returns:
            `state_space`: float32, laid out by `bestia_env.observe.state_pieces`.
        """
        self._check_begun()
        out = np.empty(self.state_space.shape, np.float32)
        write_state(self.states, 0, self._at, out)
        return out

    def render(self) -> str | np.ndarray | None:
        """The table with all cards open, or as `seen_from` sees it, in the render mode.

        Returns:
            "ansi": the text. "rgb_array": the picture, (512, 640, 3) uint8. "human", where a
            window shows it, and None, which warns: None.
        """
        if self.render_mode is not None:
            self._check_begun()
        return self._screen.render(self.states, self.game.name, self.seen_from)

    def render_view(self, agent: str | None) -> str:
        """The table as text, as the agent sees it, or open if None."""
        seat = None if agent is None else self._seat_of(agent)
        self._check_begun()
        return render_text(self.states, self.game.name, seat)

    def _repr_svg_(self) -> str | None:
        """The same as a picture for notebooks; nothing before the first deal."""
        return render_svg(self.states, self.game.name, self.seen_from) if self._begun else None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window if there is one."""
        self._screen.close()

    # The hand as data.

    @property
    def record(self) -> Record | None:
        """The hand in progress, or None; it shows all cards and is not for policies."""
        return None if self._dealt is None else record_hand(self._dealt, self.history)

    @property
    def last_record(self) -> Record | None:
        """The hand settled last in this session; None before the first, or if one was annulled."""
        dealt = self._last_dealt
        return None if dealt is None else record_hand(dealt, self.last_history)

    # Copies.

    def clone(self) -> TableEnv:
        """An independent copy in mid-hand, which will see the same deals.

        Unlike `copy.deepcopy` it shares the spaces, and with them their sampling generators.
        """
        twin = object.__new__(type(self))
        shared = {name: self.__dict__[name] for name in _SHARED}
        changing = {name: v for name, v in self.__dict__.items() if name not in _SHARED}
        twin.__setstate__(shared | copy.deepcopy(changing))
        return twin

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Open a copy's window on its own state."""
        self.__dict__.update(attributes)
        self._turn = self.states["turn"]

    def __str__(self) -> str:
        """The name of the environment, as `beast_v0`."""
        return self.metadata["name"]


def _metadata(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "render_modes": list(MODES),
        "is_parallelizable": False,
        "render_fps": FPS,
    }


class BeastTable(TableEnv):
    """Beast; specified in `bestia_env.beast_v0`."""

    game_name = "beast"
    metadata: ClassVar[dict[str, Any]] = _metadata("beast_v0")


class BestiaTable(TableEnv):
    """Bestia; specified in `bestia_env.bestia_v0`."""

    game_name = "bestia"
    metadata: ClassVar[dict[str, Any]] = _metadata("bestia_v0")


class CheckedEnv(OrderEnforcingWrapper):
    """The checks of PettingZoo's usual wrappers in one layer.

    Calls out of order are refused; an action outside the space is a ValueError; an illegal one
    annuls the hand and ends the session (see `TableEnv.annul`).
    """

    def step(self, action: Any) -> None:
        """Carry out an action; an illegal one annuls the hand."""
        if not self._has_reset or not self.env.agents:
            super().step(action)
            return
        self._has_updated = True
        try:
            self.env.step(action)
        except IllegalActionError:
            self.env.annul()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What the agent's seat knows."""
        return self.env.observe(agent) if self._has_reset else super().observe(agent)

    def last(self, observe: bool = True) -> tuple:
        """Observation, reward and so on of the agent selected."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def _repr_svg_(self) -> str | None:
        """The table as a picture for notebooks; nothing before the first deal."""
        return self.env._repr_svg_()

    def __str__(self) -> str:
        """The name of the environment, as `beast_v0`."""
        return str(self.env)


def checked_num_hands(num_hands: Any) -> int:
    """The length of a session in hands, or a ValueError if it is none."""
    if not is_integer(num_hands) or not 1 <= num_hands < 2**63:
        raise ValueError(f"num_hands must be an integer of at least 1, not {num_hands!r}")
    return int(num_hands)


def checked_choice(name: str, value: Any, allowed: tuple) -> Any:
    """The value, or a ValueError if it is none of those allowed."""
    if not isinstance(value, str | None) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
    return value


def _checked_obs_key(obs_key: Any) -> str:
    if not isinstance(obs_key, str) or obs_key in ("", "action_mask"):
        raise ValueError(f'obs_key must be a name other than "action_mask", not {obs_key!r}')
    return obs_key
