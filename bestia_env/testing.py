"""Checks for the AEC environments of this project and for variants of them.

Whoever changes a rule, a reward or an observation in a subclass can run

    from bestia_env.testing import check_table
    check_table(lambda: MyTable(num_players=5, num_hands=3))

beside `pettingzoo.test.api_test`, which knows nothing of cards and coins. Every check plays random
sessions and raises an AssertionError that says what is wrong; none needs a test framework.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from bestia_env.aec import TableEnv
from bestia_env.rules.table import NO_CARD
from bestia_env.view import look

EnvFn = Callable[[], AECEnv]
"""Makes a `TableEnv`, bare as of `raw_env()` or with the checks of `env()`."""

MOST_MOVES = 100  # in a hand; no game here comes near
CARD_SETS = ("hands", "discard", "thrown")  # fields of the state records
CARD_LISTS = ("pack", "heap")
SECRET_DEBTS = ("revoked", "breaches")
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone()": lambda env: env.unwrapped.clone(),
}


def check_table(env_fn: EnvFn, num_sessions: int = 10, seed: int = 0) -> None:
    """Run all checks of this module.

    Args:
        env_fn: makes the environment to be checked, another one at each call.
        num_sessions: sessions of random play for each check.
        seed: of the first session; the others follow.

    Raises:
        AssertionError: something does not hold; it says what.
    """
    for check in (check_play, check_seed, check_copies, check_hidden):
        check(env_fn, num_sessions, seed)


# Masks, rewards, coins, the end.


def check_play(env_fn: EnvFn, num_sessions: int = 10, seed: int = 0) -> None:
    """Check masks, spaces, rewards, coins and the end of sessions; arguments as `check_table`.

    Raises:
        AssertionError: something does not hold; it says what.
    """
    env = env_fn()
    for session in range(seed, seed + num_sessions):
        env.reset(seed=session)
        _check_session(env, np.random.default_rng(session))


def _check_session(env: AECEnv, rng: np.random.Generator) -> None:
    accounts = _Accounts(env)
    keys = _info_keys(env)
    _check_seen(env)
    for acting in _moves(env, rng):
        accounts.note(env, acting)
        _check_seen(env)
        _check_alive(env)
        assert _info_keys(env) == keys, f"keys of infos changed from {keys} to {_info_keys(env)}"
    assert not any(env.truncations.values()), f"agents are truncated at the end: {env.truncations}"
    accounts.close(env)


def _check_seen(env: AECEnv) -> None:
    """What every agent sees, and the state."""
    over = any(env.terminations.values())
    for agent in env.possible_agents:
        seen, again = env.observe(agent), env.observe(agent)
        space = env.observation_space(agent)
        assert space.contains(seen), f"the observation of {agent} is not in its space: {seen}"
        for name, array in seen.items():
            shared = np.shares_memory(array, again[name])
            assert not shared, f"two observations of {agent} share the memory of {name!r}"
        is_to_act = agent == env.agent_selection and not over
        _check_mask(agent, seen["action_mask"], env.action_space(agent).n, is_to_act)
    state = env.state()
    assert env.state_space.contains(state), f"state() is not in state_space: {state}"


def _check_mask(agent: str, mask: Any, num_actions: int, is_to_act: bool) -> None:
    assert isinstance(mask, np.ndarray), f"the mask of {agent} is no array: {mask!r}"
    assert mask.dtype == np.int8, f"the mask of {agent} must be int8, not {mask.dtype}"
    assert mask.shape == (num_actions,), (
        f"the mask of {agent} must have shape ({num_actions},) as its actions, not {mask.shape}"
    )
    assert np.isin(mask, (0, 1)).all(), f"the mask of {agent} must be of 0 and 1: {mask}"
    if is_to_act:
        assert mask.any(), f"{agent} is to act, but its mask is empty"
    else:
        assert not mask.any(), f"{agent} is not to act, but may {np.flatnonzero(mask)} by its mask"


def _check_alive(env: AECEnv) -> None:
    """Who is out of a hand stays an agent; all terminate together."""
    assert env.agents == env.possible_agents, (
        f"agents must stay to the end of the session; only {env.agents} are left"
    )
    assert len(set(env.terminations.values())) == 1, (
        f"agents do not terminate together: {env.terminations}"
    )


def _info_keys(env: AECEnv) -> dict[str, list[str]]:
    return {agent: sorted(info) for agent, info in env.infos.items()}


class _Accounts:
    """Coins, pot and rewards of one session."""

    def __init__(self, env: AECEnv) -> None:
        self.wealth = _coins(env).sum() + _pot(env)
        self.carried = int(env.unwrapped.states[0].carried)
        self.given = dict.fromkeys(env.possible_agents, 0.0)  # by env.rewards
        self.heard = dict.fromkeys(env.possible_agents, 0.0)  # by env.last()

    def note(self, env: AECEnv, acting: tuple[str, float]) -> None:
        """After a step, of which the agent had heard its rewards before."""
        agent, reward = acting
        self.heard[agent] += reward
        self._note_rewards(env)
        wealth = _coins(env).sum() + _pot(env)
        assert wealth == self.wealth, (
            f"coins of the seats and the pot together were {self.wealth} and are now {wealth}: "
            f"coins {_coins(env)}, pot {_pot(env)}"
        )

    def _note_rewards(self, env: AECEnv) -> None:
        rewards = list(env.rewards.values())
        for agent, reward in env.rewards.items():
            assert isinstance(reward, float), f"the reward of {agent} is no float: {reward!r}"
            self.given[agent] += reward
        if env.unwrapped.reward == "equity":
            assert _is_close(sum(rewards), 0, scale=max(map(abs, rewards))), (
                f'rewards must sum to zero under reward="equity": {rewards}'
            )
        if not env.unwrapped.hand_over:
            assert not any(rewards), f"rewards where hand_over says no hand is settled: {rewards}"

    def close(self, env: AECEnv) -> None:
        """When all agents have terminated: the rewards that they heard are what they won."""
        won, scale = self._won(env), abs(_coins(env)).max() + _pot(env)
        while env.agents:
            agent, (_, reward, *_) = env.agent_selection, env.last()
            self.heard[agent] += reward
            env.step(None)
        for agent, coins in won.items():
            for how, total in (("rewards", self.given[agent]), ("last()", self.heard[agent])):
                assert _is_close(total, coins, scale), (
                    f"{agent} won {coins} in the session, but its {how} came to {total}"
                )

    def _won(self, env: AECEnv) -> dict[str, float]:
        """By the coins, and by the pot that belongs to all alike under "equity" (B-18)."""
        pot = _pot(env) - self.carried if env.unwrapped.reward == "equity" else 0
        won = _coins(env) + pot / len(env.possible_agents)
        return dict(zip(env.possible_agents, won.tolist(), strict=True))


def _coins(env: AECEnv) -> np.ndarray:
    return np.array([env.infos[agent]["coins"] for agent in env.possible_agents])


def _pot(env: AECEnv) -> int:
    return env.infos[env.possible_agents[0]]["pot"]


def _is_close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= 1e-9 * max(1.0, scale)


# Seeds and copies.


def check_seed(env_fn: EnvFn, num_sessions: int = 10, seed: int = 0) -> None:
    """Check that a seed gives the same sessions again; arguments as `check_table`.

    Raises:
        AssertionError: something does not hold; it says what.
    """
    env, other = env_fn(), env_fn()
    for session in range(seed, seed + num_sessions):
        traces = []
        for table in (env, other, env):
            table.reset(seed=session)
            traces.append(_trace(table, session))
        first, another, again = traces
        assert first == another, f"two environments differ after reset(seed={session})"
        assert first == again, f"reset(seed={session}) is not the same the second time"


def check_copies(env_fn: EnvFn, num_sessions: int = 10, seed: int = 0) -> None:
    """Check that copies in mid-hand go on like the original; arguments as `check_table`.

    Raises:
        AssertionError: something does not hold; it says what.
    """
    env = env_fn()
    for session in range(seed, seed + num_sessions):
        rng = np.random.default_rng(session)
        env.reset(seed=session)
        for _ in zip(range(rng.integers(30)), _moves(env, rng)):
            pass
        before, traces = _snapshot(env), {}
        for how, copied in COPIES.items():
            twin = copied(env)
            assert twin.unwrapped.agents == env.agents, f"{how} loses the session in progress"
            traces[how] = _trace(twin, session)
            assert _snapshot(env) == before, f"what happens to a copy by {how} changes the original"
        original = _trace(env, session)
        for how, trace in traces.items():
            assert trace == original, f"after {how} copy and original do not go on alike"


def _trace(env: AECEnv, seed: int) -> list[str]:
    """All that happens to the end of the session with actions from a seed, and the next deal."""
    rng = np.random.default_rng(seed)
    trace = [_snapshot(env), *(_snapshot(env) for _ in _moves(env, rng))]
    env.reset()
    return [*trace, _snapshot(env)]


def _snapshot(env: AECEnv) -> str:
    seen = [array.tobytes() for a in env.possible_agents for array in env.observe(a).values()]
    public = env.agent_selection, env.rewards, env.infos, env.terminations, env.truncations
    return repr((seen, public, env.state().tobytes()))


# What is hidden.


def check_hidden(env_fn: EnvFn, num_sessions: int = 10, seed: int = 0) -> None:
    """Check that nobody sees what is hidden from him; arguments as `check_table`.

    At one moment in ten, and for every seat, all cards that the seat cannot know change places, and
    with them the source of all later deals; what the seat gets must be the same to the byte.

    Raises:
        AssertionError: something does not hold; it says what.
    """
    env = env_fn()
    for session in range(seed, seed + num_sessions):
        rng = np.random.default_rng(session)
        env.reset(seed=session)
        _check_hidden_now(env.unwrapped, rng)
        for _ in _moves(env, rng):
            if rng.random() < 0.1 and not any(env.terminations.values()):
                _check_hidden_now(env.unwrapped, rng)


def _check_hidden_now(table: TableEnv, rng: np.random.Generator) -> None:
    other = table.clone()
    for seat, agent in enumerate(table.possible_agents):
        other.states[:] = _redealt(table, seat, rng)
        other._write_infos()
        for name, array in table.observe(agent).items():
            same = array.tobytes() == other.observe(agent)[name].tobytes()
            assert same, f"{name!r} of {agent} changes with what is hidden from it"
        assert table.infos[agent] == other.infos[agent], (
            f"the infos of {agent} change with what is hidden from it"
        )
        assert table.render_view(agent) == other.render_view(agent), (
            f"the text for {agent} changes with what is hidden from it"
        )


def _redealt(table: TableEnv, seat: int, rng: np.random.Generator) -> np.ndarray:
    """The state with all that the seat cannot know drawn anew."""
    states, size = table.states.copy(), table.game.pack.size
    hidden = sorted(set(table.game.cards_in_use(table.rules)) - _cards_known(table, seat))
    renamed = np.append(np.arange(size), NO_CARD)  # whose place it keeps, for it is -1
    renamed[hidden] = rng.permutation(hidden)
    fields = states.dtype.names or ()
    for field in set(CARD_SETS) & set(fields):
        sets = states[field].reshape(-1)  # a window
        sets[:] = [_set(renamed[_members(bits)]) for bits in sets]
    for field in set(CARD_LISTS) & set(fields):
        states[field] = renamed[states[field]]
    others = np.arange(table.num_players) != seat
    for field in set(SECRET_DEBTS) & set(fields):
        states[field][0, : others.size][others] = rng.integers(2, size=others.sum())
    states["key"], states["rng"] = rng.integers(2**63, size=2)
    return states


def _cards_known(table: TableEnv, seat: int) -> set[int]:
    """All cards of which the seat knows where they are, by its view."""
    views = table.states.copy()
    look(table.states, 0, seat, views, 0)
    view, fields = views[0], views.dtype.names or ()
    sets = [bits for field in CARD_SETS if field in fields for bits in np.ravel(view[field])]
    played = view.play_card[: view.plays].tolist()
    return {int(view.upcard), *played, *(card for bits in sets for card in _members(bits))}


def _members(bits: Any) -> list[int]:
    return [card for card in range(64) if int(bits) >> card & 1]


def _set(cards: np.ndarray) -> int:
    return sum(1 << card for card in cards.tolist())


# Random play.


def _moves(env: AECEnv, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Random legal actions to the session's end; after each, who acted, and its reward before."""
    for _ in range(MOST_MOVES * env.unwrapped.num_hands):
        if any(env.terminations.values()):
            return
        agent = env.agent_selection
        seen, reward, *_ = env.last()
        env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        yield agent, reward
    raise AssertionError(f"the session has not ended after {MOST_MOVES} moves a hand")
