"""Calls that make no sense are refused in words, and change nothing."""

import gymnasium
import numpy as np
import pytest

from bestia_env import beast_v0, bestia_v0

MODULES = pytest.mark.parametrize("module", [beast_v0, bestia_v0])


@MODULES
@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.observe("player_0"),
        lambda env: env.state(),
        lambda env: env.last(),
        lambda env: env.step(0),
        lambda env: env.annul(),
        lambda env: env.render_view(None),
    ],
)
def test_before_reset_there_is_no_table(module, call) -> None:
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        call(module.raw_env())


@MODULES
@pytest.mark.parametrize("options", ["x", 5, [1], []])
def test_options_are_a_dict(module, options) -> None:
    env = module.raw_env()
    env.reset(seed=1)
    before = env.states.tobytes()
    with pytest.raises(ValueError, match="options must be None or a dict"):
        env.reset(seed=2, options=options)
    assert env.states.tobytes() == before


@MODULES
@pytest.mark.parametrize("name", ["observe", "observation_space", "action_space", "render_view"])
@pytest.mark.parametrize("agent", ["bob", 0, [1]])
def test_an_agent_that_there_is_not(module, name, agent) -> None:
    env = module.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"agent must be one of player_0, .*, not"):
        getattr(env, name)(agent)


@MODULES
def test_truth_values_are_no_actions(module) -> None:
    for env in (module.raw_env(), module.env()):
        env.reset(seed=1)
        for action in (True, False, np.True_):
            with pytest.raises(ValueError, match="an action must be an integer"):
                env.step(action)


@MODULES
@pytest.mark.parametrize("name", ["reward", "render_mode"])
def test_arrays_are_no_choices(module, name) -> None:
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        module.raw_env(**{name: np.array([1, 2])})


class Failing:
    """A policy whose answer is none."""

    def act(self, view, legal, rng) -> int:
        return -1


@pytest.mark.parametrize("game", ["Beast", "Bestia"])
def test_the_learner_does_not_act_for_an_opponent_that_failed(game) -> None:
    env = gymnasium.make(f"bestia_env/{game}-v0", opponents=Failing()).unwrapped
    for seed in range(20):
        try:
            env.reset(seed=seed)
        except ValueError:
            break
    before = env.table.states.tobytes()
    for call in (env.action_masks, lambda: env.step(52 if game == "Beast" else 40)):
        with pytest.raises(RuntimeError, match="an opponent failed to act"):
            call()
    assert env.table.states.tobytes() == before


def test_what_is_no_policy_or_no_option() -> None:
    with pytest.raises(ValueError, match="must have a method act"):
        gymnasium.make("bestia_env/Beast-v0", opponents=Failing)
    with pytest.raises(TypeError, match="unknown option 'obs_key' of beast"):
        gymnasium.make("bestia_env/Beast-v0", obs_key="o")


@MODULES
@pytest.mark.parametrize("name", ["deck", "heap"])
def test_an_order_for_more_hands_than_there_are(module, name) -> None:
    env = module.raw_env(num_hands=2)
    env.reset(seed=1)
    before = env.states.tobytes()
    orders = [list(range(env.game.pack.size))] * 3
    with pytest.raises(ValueError, match=f"{name} must .* at most num_hands = 2 hands, not 3"):
        env.reset(seed=2, options={name: orders})
    assert env.states.tobytes() == before
    env.reset(seed=2, options={name: orders[:2]})
