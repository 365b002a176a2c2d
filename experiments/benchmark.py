"""Measure the speed of engine, environments and arena, beside peers in the same run.

    python -m experiments.benchmark            # or: make bench
    python -m experiments.benchmark --only batch aec

Every figure is the median of several timings taken in turn (A B C, A B C, …), so that a drift of
the machine's speed touches all alike. Peers that are not installed are skipped with a note.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

GROUPS = ("playouts", "batch", "clone", "vector", "learning", "aec", "arena", "start", "peers")
BATCH = 1024


@dataclass
class Args:
    """Measure speed on one core."""

    runs: int = 5
    """timings of each figure, of which the median is reported"""
    seconds: float = 1.0
    """about how long one timing takes"""
    only: tuple[str, ...] = GROUPS
    """groups to measure: playouts, batch, clone, vector, learning, aec, arena, start, peers"""
    out: Path | None = None
    """where the figures go; for all groups experiments/results/benchmark.json, else nowhere"""


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


# What is measured.


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
    """A 64-64 network that acts alone, and that is trained by PPO in four epochs."""
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


_LEARNING: dict[str, Any] = {"hidden": (64, 64), "epochs": 4}


def _self_play(game: str) -> Callable[[int], int]:
    from agents.self_play import SelfPlay

    network, tables = _learner(game).network(), SelfPlay(game, 4, seed=0)
    return lambda count: tables.play(network, count)[0].num_rows


def _ppo(game: str, oracle: bool) -> Callable[[int], int]:
    return _updates(_learner(game, alone=0, joined=0, oracle=oracle))


def _learner(game: str, **options: Any):
    from experiments.train_ppo import Arguments, Ppo

    options |= {"game": game, **_LEARNING}
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
        batch_size=2048,
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
        Figure("AEC raw_env, Bestia, 4 players", "steps/s", _aec(bestia_v0.raw_env()), 100e3),
        Figure("AEC raw_env, Beast, 4 players", "steps/s", _aec(beast_v0.raw_env()), 100e3),
        Figure("AEC env, Bestia, 4 players", "steps/s", _aec(bestia_v0.env())),
        Figure("AEC env, Beast, 4 players", "steps/s", _aec(beast_v0.env())),
    ]


def _aec(env) -> Callable[[int], int]:
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
    from agents.arena import Piece, Table, play_piece
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


def peer_figures() -> tuple[list[Figure], list[str]]:
    """Comparable environments that are installed, and notes on those that are not."""
    peers = {
        "PettingZoo tictactoe_v3, env()": ("steps/s", _tictactoe),
        "OpenSpiel euchre, C++ bots": ("moves/s", _openspiel_bots),
        "OpenSpiel euchre, from Python": ("moves/s", _openspiel_python),
        "RLCard bridge": ("moves/s", _rlcard),
        f"pgx leduc_holdem, batch of {BATCH}, CPU": ("steps/s", _pgx),
    }
    figures, notes = [], []
    for name, (unit, make) in peers.items():
        try:
            figures.append(Figure(name, unit, make()))
        except Exception as error:  # whatever a peer's import or construction raises
            notes.append(f"{name}: skipped ({type(error).__name__}: {error})")
    return figures, notes


def _tictactoe() -> Callable[[int], int]:
    from pettingzoo.classic import tictactoe_v3

    return _aec(tictactoe_v3.env())


def _openspiel_bots() -> Callable[[int], int]:
    import pyspiel

    game = pyspiel.load_game("euchre")
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(game.num_players())]

    def work(moves: int) -> int:
        done = 0
        while done < moves:
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, done)
            done += state.move_number()
        return done

    return work


def _openspiel_python() -> Callable[[int], int]:
    import pyspiel

    game = pyspiel.load_game("euchre")
    rng = np.random.default_rng(0)

    def work(moves: int) -> int:
        done = 0
        while done < moves:
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
                done += 1
        return done

    return work


def _rlcard() -> Callable[[int], int]:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("bridge")
    env.set_agents([RandomAgent(env.num_actions) for _ in range(env.num_players)])

    def work(moves: int) -> int:
        done = 0
        while done < moves:
            trajectories, _ = env.run(is_training=False)
            done += sum(len(seat) // 2 for seat in trajectories)
        return done

    return work


def _pgx() -> Callable[[int], int]:
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("leduc_holdem")
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def rollout(state, key):
        def body(carry, _):
            state, key = carry
            key, choice = jax.random.split(key)
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            action = jax.random.categorical(choice, logits, axis=-1)
            keys = jax.random.split(key, BATCH)
            return (step(state, action, keys), key), None

        return jax.lax.scan(body, (state, key), None, length=100)[0]

    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, BATCH))
    jax.block_until_ready(rollout(state, key))

    def work(steps: int) -> int:
        calls = -(-steps // (100 * BATCH))
        carry = (state, key)
        for _ in range(calls):
            carry = rollout(*carry)
        jax.block_until_ready(carry)
        return calls * 100 * BATCH

    return work


# From import to the first step, in processes of their own.

_FIRST_STEP = """
import time; start = time.perf_counter()
from bestia_env import {game}_v0
env = {game}_v0.env(); env.reset(seed=0)
env.step(env.last()[0]["action_mask"].nonzero()[0][0])
print(time.perf_counter() - start)
"""


def start_seconds(runs: int) -> dict[str, float]:
    """Seconds from import to the first step: once with an empty cache, then the median warm."""
    seconds = {}
    for game in ("bestia", "beast"):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-W", "ignore", "-c", _FIRST_STEP.format(game=game)]
            times = [
                float(
                    subprocess.run(command, env=environment, capture_output=True, check=True).stdout
                )
                for _ in range(runs + 1)
            ]
        name = f"import to first step, {game.capitalize()}"
        seconds[f"{name}, cold cache"] = times[0]
        seconds[f"{name}, warm cache"] = statistics.median(times[1:])
    return seconds


def main(args: Args) -> None:
    """Measure, print a Markdown table, and write the JSON."""
    unknown = [group for group in args.only if group not in GROUPS]
    if unknown:
        print(f"error: --only takes {', '.join(GROUPS)}, not {unknown[0]!r}", file=sys.stderr)
        sys.exit(2)
    if args.runs < 1 or not args.seconds > 0:
        print("error: --runs must be at least 1, and --seconds above 0", file=sys.stderr)
        sys.exit(2)
    figures, notes = _figures(args.only)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _measure(figures, args)
    seconds = start_seconds(args.runs) if "start" in args.only else {}
    lines = _table(figures, seconds, notes)
    print("\n".join(lines))
    everything = set(args.only) == set(GROUPS)
    out = args.out or (Path("experiments/results/benchmark.json") if everything else None)
    if out is not None:
        _write(out, args.runs, figures, seconds, notes)


def _figures(groups: tuple[str, ...]) -> tuple[list[Figure], list[str]]:
    figures: list[Figure] = []
    notes: list[str] = []
    makers = {
        "playouts": playout_figures,
        "batch": batch_figures,
        "clone": clone_figures,
        "vector": vector_figures,
        "learning": learning_figures,
        "aec": aec_figures,
        "arena": arena_figures,
    }
    for group, make in makers.items():
        if group in groups:
            figures += make()
    if "peers" in groups:
        peers, notes = peer_figures()
        figures += peers
    return figures, notes


def _measure(figures: list[Figure], args: Args) -> None:
    from rich.progress import track

    for figure in track(figures, "warming up", transient=True):
        figure.calibrate(args.seconds)
    for _ in track(range(args.runs), "measuring", transient=True):
        for figure in figures:
            figure.measure()


def _table(figures: list[Figure], seconds: dict[str, float], notes: list[str]) -> list[str]:
    lines = ["| | median | range | aim |", "|---|---|---|---|"]
    for figure in figures:
        spread = f"{_short(min(figure.values))} – {_short(max(figure.values))}"
        aim = "" if figure.target is None else f"{_short(figure.target)} {figure.unit}"
        lines.append(
            f"| {figure.name} | {_short(figure.median)} {figure.unit} | {spread} | {aim} |"
        )
    for name, value in seconds.items():
        aim = "60 s" if "cold" in name else "1.5 s"
        lines.append(f"| {name} | {value:.2f} s | | {aim} |")
    lines += ["", *_ratios({figure.name: figure.median for figure in figures}), *notes]
    return lines


_COMPARED = {
    "playouts, Bestia, 4 players": (
        "OpenSpiel euchre, C++ bots",
        "OpenSpiel euchre, from Python",
        "RLCard bridge",
    ),
    f"batch of {BATCH}, Bestia, 4 players, observations and masks": (
        f"pgx leduc_holdem, batch of {BATCH}, CPU",
    ),
    f"LearnerVecEnv of sb3, {BATCH}, Bestia, 4 players": (
        "DummyVecEnv of sb3, 16, Bestia, 4 players",
    ),
    **{
        f"{work}, {ours}, {game}, 4 players": (
            f"{work}, MaskablePPO on DummyVecEnv, {game}, 4 players",
        )
        for game in ("Bestia", "Beast")
        for work, ours in (("acting", "SelfPlay"), ("training", "train_ppo"))
    },
    "AEC env, Bestia, 4 players": ("PettingZoo tictactoe_v3, env()",),
}


def _ratios(medians: dict[str, float]) -> list[str]:
    return [
        f"{ours} is {medians[ours] / medians[peer]:.1f} times {peer}."
        for ours, peers in _COMPARED.items()
        for peer in peers
        if ours in medians and peer in medians
    ]


def _short(value: float) -> str:
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _write(
    out: Path, runs: int, figures: list[Figure], seconds: dict[str, float], notes: list[str]
) -> None:
    from agents.checkpoints import write_whole

    report = {
        "command": "python -m experiments.benchmark",
        "runs": runs,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "figures": [
            {
                "name": f.name,
                "unit": f.unit,
                "median": f.median,
                "values": f.values,
                "aim": f.target,
            }
            for f in figures
        ],
        "seconds": seconds,
        "notes": notes,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, f"{json.dumps(report, indent=2)}\n".encode())
    print(f"written to {out}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Args, prog="python -m experiments.benchmark"))
