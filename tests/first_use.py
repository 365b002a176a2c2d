"""What somebody does first with an installed bestia_env; prints a digest, the same for all.

Run as a script, away from the checkout, with the games as arguments. It needs no package but those
that bestia_env needs.
"""

import hashlib
import importlib.resources
import json
import os
import sys

import gymnasium
import numpy as np
import pettingzoo

import bestia_env
from bestia_env.records import Record


def aec_hand(game: str) -> str:
    """One hand of random legal actions, as a record."""
    env = pettingzoo.make("aec", f"bestia_env/{game}-v0", num_players=4, render_mode="ansi")
    env.reset(seed=7)
    rng = np.random.default_rng(7)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        print(env.render())  # must not fail, whatever the terminal can show
        mask = observation["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    line = env.unwrapped.last_record.to_json()
    assert Record.from_json(line).to_json() == line
    return line


def single_seat(game: str) -> list:
    """Rewards of a learner's seat among random players."""
    env = gymnasium.make(f"bestia_env/{game.title()}-v0", num_players=4)
    observation, info = env.reset(seed=7)
    rewards, over = [], False
    while not over:
        action = int(np.flatnonzero(info["action_mask"])[0])
        observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        over = terminated or truncated
    return [rewards, observation.tolist()]


def many_tables(game: str) -> list:
    """Rewards at 16 tables, through Gymnasium's vector interface."""
    env = gymnasium.make_vec(f"bestia_env/{game.title()}-v0", num_envs=16)
    _, infos = env.reset(seed=7)
    total = np.zeros(16)
    for _ in range(20):
        _, rewards, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        total += rewards
    return total.tolist()


if __name__ == "__main__":
    where = os.path.dirname(bestia_env.__file__)
    assert os.path.dirname(where) in sys.path and "site-packages" in where, where
    rulebook = importlib.resources.files("bestia_env") / "rules" / "RULEBOOK.md"
    assert "Bestia" in rulebook.read_text(encoding="utf-8")
    found = {g: [aec_hand(g), single_seat(g), many_tables(g)] for g in sys.argv[1:]}
    print("versions", gymnasium.__version__, pettingzoo.__version__, np.__version__)
    print("digest", hashlib.sha256(json.dumps(found).encode()).hexdigest())
