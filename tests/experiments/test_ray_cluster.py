"""Ray clusters of several nodes, all on the loopback, of which one is killed: `make test-rllib`."""

import os
import time

import numpy as np
import pytest

pytestmark = [
    pytest.mark.rllib,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

HOST = "127.0.0.2"  # of the loopback; for 127.0.0.1 Ray would take an address of the network
STORE = 80 << 20


@pytest.fixture
def cluster(monkeypatch):
    """A head without CPUs, and three nodes of one CPU each; the driver is connected."""
    monkeypatch.setitem(os.environ, "RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    node = {"node_ip_address": HOST, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 0})
    try:
        for _ in range(3):
            cluster.add_node(num_cpus=1, **node)
        ray.init(cluster.address, _node_ip_address=HOST, log_to_driver=False)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def check_left(nodes):
    """So many nodes are left; the head notices half a minute late that one is dead."""
    import ray

    for _ in range(120):
        if sum(node["Alive"] for node in ray.nodes()) == nodes:
            return
        time.sleep(0.5)
    raise AssertionError(f"{ray.nodes()} are not {nodes}")


def test_a_tournament_comes_out_the_same_though_a_node_is_killed(cluster):
    from agents.arena import compare
    from agents.cluster import connected
    from agents.duplicate import Table
    from agents.policies import parse_policy

    table = Table("bestia", 4, seed=3)
    policies = [parse_policy(spec, "bestia", 4) for spec in ("tight", "sound")]
    here = compare(table, policies, 20_000)
    done = 0

    def kill_in_the_middle(hands):
        nonlocal done
        if done < 60_000 <= done + hands:
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
        done += hands

    with connected() as workers:
        there = compare(table, policies, 20_000, jobs=workers, progress=kill_in_the_middle)
    check_left(3)
    assert done == 5 * 20_000 * 4
    assert there == here


def test_a_training_goes_on_though_a_node_is_killed(cluster, tmp_path):
    import ray

    from experiments.train_rllib import Arguments, RllibPpo

    settings = {**Arguments.SMOKE, "workers": 2, "total_steps": 10_000}
    learner = RllibPpo(Arguments(run_dir=tmp_path, **settings))
    group = learner.algorithm.env_runner_group
    records = [learner.update() for _ in range(2)]
    where = group.foreach_env_runner(
        lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
    )
    assert len(set(where)) == 2
    (node,) = (node for node in cluster.list_all_nodes() if node.node_id == where[0])
    cluster.remove_node(node, allow_graceful=False)
    before = learner.network().weights[0][0]
    while learner.num_restarts() == 0 or group.num_healthy_remote_workers() < 2:
        records.append(learner.update())
        assert len(records) < 60
    records.append(learner.update())
    now = group.foreach_env_runner(
        lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
    )
    assert len(set(now)) == 2 and where[0] not in now
    check_left(3)
    assert all(record["illegal_moves"] == 0 for record in records)
    assert learner.steps >= 256 * len(records)
    assert not np.array_equal(before, learner.network().weights[0][0])
