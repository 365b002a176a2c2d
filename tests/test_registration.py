"""The ids of the environments, in this process and in others, whatever Python's hashes are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
import pytest

import bestia_env
from bestia_env import BeastRules, BestiaRules, beast_v0, bestia_v0
from bestia_env.aec import CheckedEnv
from bestia_env.games import GAMES
from bestia_env.registration import AEC, SINGLE, register_all
from bestia_env.single import BeastEnv, BestiaEnv

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import hashlib, json, pettingzoo, bestia_env
digest = hashlib.sha256()
for game in ("beast", "bestia"):
    env = pettingzoo.make("aec", f"bestia_env/{game}-v0", num_players=5, num_hands=2)
    env.reset(seed=2024)
    print(game, env.unwrapped.states["pack"][0, :8].tolist(), env.agent_selection)
    for agent in env.agent_iter():
        observation, reward, over, _, info = env.last()
        for name, array in observation.items():
            digest.update(name.encode() + array.tobytes())
        digest.update(json.dumps([agent, reward, info]).encode())
        env.step(None if over else int(observation["action_mask"].nonzero()[0][-1]))
print(digest.hexdigest())
"""


@pytest.mark.parametrize("env_id", AEC)
def test_pettingzoo_make(env_id):
    game = env_id.partition("/")[2].partition("-")[0]
    module = {"beast": beast_v0, "bestia": bestia_v0}[game]
    env = pettingzoo.make("aec", env_id)
    assert isinstance(env, CheckedEnv) and isinstance(env.unwrapped, module.raw_env)
    assert str(env) == str(module.env()) == env.metadata["name"] == f"{game}_v0"
    assert env.metadata["is_parallelizable"] is False
    env = pettingzoo.make(
        "aec", env_id, num_players=5, num_hands=3, revoke="penalty", reward="coins"
    )
    assert len(env.possible_agents) == 5
    assert (env.num_hands, env.reward, env.rules.revoke) == (3, "coins", "penalty")
    other = pettingzoo.make("aec", env_id.removesuffix("-v0"), render_mode="ansi")
    other.reset(seed=1)
    assert isinstance(other.render(), str)
    assert other.unwrapped is not env.unwrapped
    with pytest.raises(TypeError, match="unknown option 'max_cycles'"):
        pettingzoo.make("aec", env_id, max_cycles=100)


@pytest.mark.parametrize(("env_id", "entry"), [*zip(SINGLE, (BeastEnv, BestiaEnv))])
def test_gymnasium_make(env_id, entry):
    for name in (env_id, f"bestia_env:{env_id}"):
        env = gymnasium.make(name, num_players=5, seat=3, num_hands=2, illegal_action="raise")
        assert type(env.unwrapped) is entry
        assert (env.unwrapped.seat, env.unwrapped.table.num_hands) == (3, 2)
    assert gymnasium.spec(env_id).max_episode_steps is None  # nothing truncates a hand
    observation, info = env.reset(seed=np.int32(1))
    assert observation in env.observation_space
    assert (env.get_wrapper_attr("action_masks")() == info["action_mask"]).all()
    envs = gymnasium.make_vec(env_id, num_envs=3, num_players=4)
    assert envs.reset(seed=1)[0].shape == (3, *envs.single_observation_space.shape)
    envs.close()


def test_rules_in_one_piece():
    env = pettingzoo.make("aec", "bestia_env/bestia-v0", rules=BestiaRules.circle())
    assert env.rules == BestiaRules(force=True, maxims="penalty")
    rules = BeastRules(revoke="penalty", carry_stakes="full")
    env = gymnasium.make("bestia_env/Beast-v0", rules=rules, carry_stakes="none")
    assert env.unwrapped.table.rules == BeastRules(revoke="penalty")


def test_registering_again_changes_nothing():
    before = {name: gymnasium.spec(name) for name in SINGLE}
    register_all()
    assert {name: gymnasium.spec(name) for name in SINGLE} == before


def test_what_the_package_exports():
    assert sorted(bestia_env.__all__) == sorted(
        ["BeastRules", "BestiaRules", "beast_v0", "bestia_v0", "describe", "playouts"]
    )
    for name in bestia_env.__all__:
        assert getattr(bestia_env, name).__doc__


def test_action_ids_never_change():
    """Trained policies rely on them: a change needs a new version of the environment."""
    beast = {"LEAVE": 52, "TAKE": 53, "PASS": 54, "PLAY": 55, "COUNTER": 56, "SHOW": 57}
    bestia = {"PASS": 40, "KNOCK": 41, "REFUSE": 42, "EXCHANGE": 43}
    for game, actions in (("beast", beast), ("bestia", bestia)):
        assert {action.name: int(action) for action in GAMES[game].actions} == actions
        assert GAMES[game].num_actions == max(actions.values()) + 1
    assert [GAMES["beast"].action_name(a) for a in (0, 12, 13, 26, 51)] == "2c Ac 2d 2h As".split()
    assert [GAMES["bestia"].action_name(a) for a in (0, 9, 15, 28, 39)] == "2b Ab Fc 3d As".split()


def test_the_same_session_whatever_the_hashes_and_without_jit():
    """Deals are bit-exact: these cards stand here so that another machine must deal them too."""
    told = []
    for settings in ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "1", "NUMBA_DISABLE_JIT": "1"}):
        done = subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT],
            env={**os.environ, **settings},
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.splitlines())
    assert told[0] == told[1]
    assert told[0][:2] == [
        "beast [34, 30, 32, 13, 39, 4, 24, 5] player_2",
        "bestia [26, 23, 25, 11, 30, 4, 19, 5] player_3",
    ]


def test_gym_is_nowhere_imported():
    """The old library's spaces are not those of Gymnasium."""
    sources = [
        path
        for part in ("bestia_env", "agents", "experiments")
        for path in (ROOT / part).rglob("*.py")
    ]
    assert len(sources) > 20
    for path in sources:
        assert not re.search(r"^\s*(import|from) gym\b", path.read_text(encoding="utf-8"), re.M), (
            path
        )
