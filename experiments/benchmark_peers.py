"""Comparable environments of others, measured beside this project's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.benchmark_figures import BATCH, Figure, aec_steps


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

    return aec_steps(tictactoe_v3.env())


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
