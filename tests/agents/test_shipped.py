import json

import pytest

from agents import shipped
from agents.checkpoints import load_checkpoint
from agents.shipped import shipped_named
from experiments.reproduce import recipe

POLICIES = shipped.shipped()
NAMES = {f"bestia-{n}" for n in range(3, 7)} | {f"beast-{n}" for n in range(4, 7)}


def test_all_are_there():
    assert POLICIES.keys() == NAMES


@pytest.mark.parametrize("name", POLICIES)
def test_a_shipped_policy_is_small_and_says_what_it_is(name):
    policy = POLICIES[name]
    assert policy.path.stat().st_size < 1_000_000
    _, facts = load_checkpoint(policy.path)
    assert facts["command"] == " ".join(["python", *recipe(name), "--run-dir", f"runs/{name}"])
    assert facts["rules"] and facts["versions"]["torch"] and facts["git_commit"]
    assert "/tmp" not in json.dumps(facts)
    assert policy.policy.network.num_players == policy.num_players
    assert len(repr(policy.policy)) < 400  # the weights are left out


def test_unknown_names_are_listed():
    with pytest.raises(
        ValueError, match=r"no policy 'bestia-9' is shipped: choose among beast-4, "
    ):
        shipped_named("bestia-9")
