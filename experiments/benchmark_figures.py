"""What `experiments.benchmark` measures of this project, and of Stable-Baselines3 beside it."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 1024


@dataclass
class Figure:
    """Something that is measured.

    Attributes:
        name: what, for the table.
        unit: of the value.
        work: does about `count` units of work and returns how many it did.
        target: the value that is aimed at, None for peers.
        values: one for each run.
        count: units of work for one timing, found by the first run.
    """

    name: str
    unit: str
    work: Callable[[int], int]
    target: float | None = None
    values: list[float] = field(default_factory=list)
    count: int = 1

    def calibrate(self, seconds: float) -> None:
        """Find how much work takes so long; compiles and warms up as well."""
        self.work(self.count)
        while True:
            start = time.perf_counter()
            done = self.work(self.count)
            taken = time.perf_counter() - start
            if taken > seconds / 4:
                self.count = max(1, round(self.count * seconds / taken))
                return
            self.count = max(self.count * 4, done)

    def measure(self) -> None:
        """Time the work once."""
        start = time.perf_counter()
        done = self.work(self.count)
        self.values.append(done / (time.perf_counter() - start))

    @property
    def median(self) -> float:
        """The value that is reported."""
        return statistics.median(self.values)


def playout_figures() -> list[Figure]:
    """Whole random hands in one compiled call."""
    from bestia_env import playouts

    def moves(game: str, num_players: int) -> Callable[[int], int]:
        return lambda hands: playouts(game, num_players, hands, seed=0)["moves"]

    return [
        Figure("playouts, Bestia, 4 players", "moves/s", moves("bestia", 4), 40e6),
        Figure("playouts, Beast, 4 players", "moves/s", moves("beast", 4), 30e6),
        Figure("playouts, Bestia, 10 players", "moves/s", moves("bestia", 10)),
        Figure("playouts, Beast, 6 players", "moves/s", moves("beast", 6)),
    ]


def batch_figures() -> list[Figure]:
    """A batch of hands stepped with observations and masks written."""
    return [
        Figure(
            f"batch of {BATCH}, {game.capitalize()}, 4 players, observations and masks",
            "steps/s",
            _batch_steps(game),
            8e6,
        )
        for game in ("bestia", "beast")
    ]


def _batch_steps(game: str) -> Callable[[int], int]:
    from bestia_env import engine
    from bestia_env.games import GAMES
    from bestia_env.observe import layout
    from bestia_env.rng import seed_sequence_keys
    from experiments.kernels import random_batch_steps

    table = layout(game, 4)
    states = engine.new_states(game, 4, count=BATCH)
    keys, rng = seed_sequence_keys(0, BATCH), seed_sequence_keys(1, 1)
    engine.start_sessions(states, keys, -1, 0)
    observations = np.zeros((BATCH, table.size), np.float32)
    masks = np.zeros((BATCH, GAMES[game].num_actions), np.int8)
    rewards, ended = np.zeros((BATCH, 4)), np.zeros(BATCH, np.int8)
    actions, legal_sets = np.zeros(BATCH, np.int64), np.zeros(BATCH, np.uint64)
    engine.observe_batch(states, table.offsets, observations, masks, legal_sets)

    def work(steps: int) -> int:
        rounds = -(-steps // BATCH)
        random_batch_steps(
            *(states, actions, keys, rewards, ended, table.offsets),
            *(observations, masks, legal_sets, rng, rounds),
        )
        return rounds * BATCH

    return work


def clone_figures() -> list[Figure]:
    """A state copied inside a kernel."""
    return [
        Figure(f"clone a state, {game.capitalize()}", "clones/s", _clones(game), 10e6)
        for game in ("bestia", "beast")
    ]


def _clones(game: str) -> Callable[[int], int]:
    from bestia_env import engine
    from experiments.kernels import clones

    states = engine.new_states(game, 4, count=BATCH)
    return lambda count: clones(states, count)


def vector_figures() -> list[Figure]:
    """Environments of many hands, driven from Python by random legal actions."""
    return [
        Figure(f"{name}, {game.capitalize()}, 4 players", "steps/s", make(game))
        for name, make in {
            f"TablesEnv, {BATCH} tables": _tables_steps,
            f"gymnasium.make_vec, {BATCH}": _gymnasium_vector_steps,
            f"LearnerVecEnv of sb3, {BATCH}": _learner_steps,
            "DummyVecEnv of sb3, 16": _dummy_steps,
        }.items()
        for game in ("bestia", "beast")
    ]


def _chosen(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """A random legal action of every row; 0 where there is none."""
    return (rng.random(masks.shape, np.float32) * masks).argmax(axis=1)


def _tables_steps(game: str) -> Callable[[int], int]:
    from bestia_env.vector import TablesEnv

    env, rng = TablesEnv(game, BATCH), np.random.default_rng(0)
    masks = env.reset(seed=0).masks

    def work(steps: int) -> int:
        nonlocal masks
        rounds = -(-steps // BATCH)
        for _ in range(rounds):
            masks = env.step(_chosen(rng, masks)).masks
        return rounds * BATCH

    return work


def _gymnasium_vector_steps(game: str) -> Callable[[int], int]:
    import gymnasium

    env = gymnasium.make_vec(f"bestia_env:bestia_env/{game.capitalize()}-v0", num_envs=BATCH)
    rng = np.random.default_rng(0)
    infos = env.reset(seed=0)[1]

    def work(steps: int) -> int:
        nonlocal infos
        rounds = -(-steps // BATCH)
        for _ in range(rounds):
            infos = env.step(_chosen(rng, infos["action_mask"]))[-1]
        return rounds * BATCH

    return work


def _learner_steps(game: str) -> Callable[[int], int]:
    from agents.learner_vec_env import LearnerVecEnv

    return _sb3_steps(LearnerVecEnv(game, num_envs=BATCH, opponents=["random"], seed=0))


def _dummy_steps(game: str) -> Callable[[int], int]:
    return _sb3_steps(_dummy_env(game))


def _dummy_env(game: str):
    import gymnasium
    from stable_baselines3.common.vec_env import DummyVecEnv

    def make() -> gymnasium.Env:
        return gymnasium.make(
            f"bestia_env:bestia_env/{game.capitalize()}-v0", disable_env_checker=True
        )

    return DummyVecEnv([make] * 16)


def _sb3_steps(env) -> Callable[[int], int]:
    rng = np.random.default_rng(0)
    env.reset()

    def work(steps: int) -> int:
        rounds = -(-steps // env.num_envs)
        for _ in range(rounds):
            env.step(_chosen(rng, np.stack(env.env_method("action_masks"))))
        return rounds * env.num_envs

    return work


def learning_figures() -> list[Figure]:
    """A 64-64 network that acts alone, and that learns by PPO: four epochs, batches of 4096."""
    figures = []
    for game in ("bestia", "beast"):
        name = f"{game.capitalize()}, 4 players"
        figures += [
            Figure(f"acting, SelfPlay, {name}", "decisions/s", _self_play(game)),
            Figure(f"acting, MaskablePPO on DummyVecEnv, {name}", "decisions/s", _sb3_acting(game)),
            Figure(f"training, train_ppo, {name}", "decisions/s", _ppo(game, True), 100e3),
            Figure(f"training, train_ppo --no-oracle, {name}", "decisions/s", _ppo(game, False)),
            Figure(
                f"training, MaskablePPO on LearnerVecEnv, {name}", "decisions/s", _sb3_fast(game)
            ),
            Figure(f"training, MaskablePPO on DummyVecEnv, {name}", "decisions/s", _sb3_slow(game)),
        ]
    return figures


_LEARNING: dict[str, Any] = {"hidden": (64, 64), "epochs": 4, "batch_size": 4096}


def _self_play(game: str) -> Callable[[int], int]:
    from agents.self_play import SelfPlay

    learner, tables = _learner(game), SelfPlay(game, 4, seed=0)
    network, an_update, hand = learner.network(), learner.arguments.steps_per_update, 0

    def work(count: int) -> int:
        nonlocal hand
        done = 0
        while done < count:
            decisions, hand = tables.play(network, an_update, hand)
            done += decisions.num_rows
        return done

    return work


def _ppo(game: str, oracle: bool) -> Callable[[int], int]:
    return _updates(_learner(game, alone=0, joined=0, oracle=oracle))


def _learner(game: str, **options: Any):
    from experiments.train_ppo import Arguments, Ppo

    options |= {"game": game, "steps_per_update": 32_768, **_LEARNING}  # as the recipes have it
    return Ppo(Arguments(Path("none"), **options))


def _updates(learner) -> Callable[[int], int]:
    def work(count: int) -> int:
        before = learner.steps
        while learner.steps < before + count:
            learner.update()
        return learner.steps - before

    return work


def _sb3_fast(game: str) -> Callable[[int], int]:
    from experiments.train_maskable_ppo import Arguments, Learner

    return _updates(Learner(Arguments(Path("none"), **{"game": game, **_LEARNING})))


def _sb3_slow(game: str) -> Callable[[int], int]:
    model = _dummy_model(game)

    def work(count: int) -> int:
        size = model.n_steps * model.n_envs
        rounds = -(-count // size)
        model.learn(rounds * size, reset_num_timesteps=False)
        return rounds * size

    return work


def _sb3_acting(game: str) -> Callable[[int], int]:
    model = _dummy_model(game)
    env = model.get_env()
    observations = env.reset()

    def work(count: int) -> int:
        nonlocal observations
        rounds = -(-count // env.num_envs)
        for _ in range(rounds):
            masks = np.stack(env.env_method("action_masks"))
            actions, _ = model.predict(observations, action_masks=masks)
            observations = env.step(actions)[0]
        return rounds * env.num_envs

    return work


def _dummy_model(game: str):
    import torch
    from sb3_contrib import MaskablePPO

    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    return MaskablePPO(
        "MlpPolicy",
        _dummy_env(game),
        n_steps=256,
        batch_size=_LEARNING["batch_size"],
        n_epochs=_LEARNING["epochs"],
        gamma=1.0,
        policy_kwargs={"net_arch": list(_LEARNING["hidden"]), "activation_fn": torch.nn.ReLU},
        seed=0,
        device="cpu",
    )


def aec_figures() -> list[Figure]:
    """PettingZoo environments with `last()` and `step()`, masked random actions."""
    from bestia_env import beast_v0, bestia_v0

    return [
        Figure("AEC raw_env, Bestia, 4 players", "steps/s", aec_steps(bestia_v0.raw_env()), 100e3),
        Figure("AEC raw_env, Beast, 4 players", "steps/s", aec_steps(beast_v0.raw_env()), 100e3),
        Figure("AEC env, Bestia, 4 players", "steps/s", aec_steps(bestia_v0.env())),
        Figure("AEC env, Beast, 4 players", "steps/s", aec_steps(beast_v0.env())),
    ]


def aec_steps(env) -> Callable[[int], int]:
    """A PettingZoo environment driven by random legal actions."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def work(steps: int) -> int:
        choices = rng.random(steps).tolist()
        for choice in choices:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.observe(env.agent_selection)
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(choice * len(legal))])
        return steps

    return work


def arena_figures() -> list[Figure]:
    """Whole hands among baselines, and among 64-64 networks, as the arena plays them."""
    from agents.arena import baseline_hands

    figures = []
    for game in ("bestia", "beast"):
        name = game.capitalize()
        hands = functools.partial(baseline_hands, game, 4)
        figures += [
            Figure(f"arena, {name}, 4 baselines", "hands/s", hands, 200e3),
            Figure(f"arena, {name}, 4 networks", "decisions/s", _network_decisions(game), 100e3),
        ]
    return figures


def _network_decisions(game: str) -> Callable[[int], int]:
    from agents.duplicate import Piece, Table, play_piece
    from agents.policies import NETWORK, Policy
    from agents.self_play import SelfPlay

    network = _learner(game).network()
    policies = [Policy(f"network {seat}", game, NETWORK, network=network) for seat in range(4)]
    # How often there is a choice in a hand; the arena itself does not count.
    decisions, hands = SelfPlay(game, 4, seed=0).play(network, 50_000)
    a_deal = 4 * decisions.num_rows / hands

    def work(count: int) -> int:
        deals = max(1, round(count / a_deal))
        for start in range(0, deals, BATCH):
            stop = min(start + BATCH, deals)
            play_piece(Table(game), policies, Piece((0, 1, 2, 3), start, stop))
        return round(deals * a_deal)

    return work


def solve_figures() -> list[Figure]:
    """Hands of the solvers' corpus, with all cards open; the nodes stand in the name."""
    return [
        _solver("bestia", 4, "each", 1000, 30e3),
        _solver("bestia", 4, "all", 1000, 170e3),
        _solver("beast", 4, "each", 1000),
        _solver("beast", 4, "all", 1000, 17e3),
        _solver("beast", 6, "all", 200, 230),
    ]


def _solver(
    game: str, num_players: int, against: str, count: int, target: float | None = None
) -> Figure:
    from agents.solve.corpus import Measured

    hands = Measured(game, num_players, against, count)
    hands.solve()

    def work(deals: int) -> int:
        rounds = -(-deals // count)
        for _ in range(rounds):
            hands.solve()
        return rounds * count

    who = "each for itself" if against == "each" else "one against all"
    name = f"solver, {game.capitalize()}, {num_players} players, {who}"
    nodes = hands.num_nodes / count
    return Figure(f"{name}, {nodes:.0f} cards tried", "deals/s", work, target)


def search_figures() -> list[Figure]:
    """What a searching player is asked for, one of four among the best baselines."""
    return [
        Figure(f"{spec}, {game.capitalize()}, 4 players", "decisions/s", work, target)
        for game, spec, target in (
            ("bestia", "pimc:worlds=40", 5e3),
            ("beast", "pimc:worlds=40", None),
            ("bestia", "ismcts:iterations=500", None),
            ("beast", "ismcts:iterations=500", None),
        )
        for work in [_search_decisions(game, spec)]
    ]


def _search_decisions(game: str, spec: str) -> Callable[[int], int]:
    from agents.duplicate import Piece, Table, play_piece
    from agents.policies import BEST_BASELINES, parse_policy

    searcher, field = (parse_policy(each, game, 4) for each in (spec, BEST_BASELINES[game]))
    asked = _Asked(searcher.chooser)
    policies = [replace(searcher, chooser=asked), field]

    def work(count: int) -> int:
        asked.count, deal = 0, 0
        while asked.count < count:
            play_piece(Table(game), policies, Piece((0, 1, 1, 1), deal, deal + 16))
            deal += 16
        return asked.count

    return work


@dataclass
class _Asked:
    """A chooser, and how many actions it has been asked for."""

    chooser: Any
    count: int = 0
    bids_only: bool = False
    num_players: int | None = None
    draws: int = 1

    def act_batch(self, states: np.ndarray, hands: np.ndarray, chances: np.ndarray) -> np.ndarray:
        self.count += hands.size
        return self.chooser.act_batch(states, hands, chances)
