"""Ray where it is not installed, or not asked for; `make test-rllib` has the rest."""

import sys

import pytest

from agents.cluster import Cluster, connected
from agents.processes import in_order
from experiments import arena


@pytest.fixture
def without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)


def test_without_ray_it_says_what_makes_an_environment_that_has_it(without_ray):
    with pytest.raises(ValueError, match="make install-rllib"), connected():
        pass


def test_the_arena_takes_ray_only_where_it_is_asked_for(without_ray, tmp_path, capsys):
    words = [
        "--game",
        "bestia",
        "--policies",
        "tight",
        "bold",
        "--deals",
        "8",
        "--seed",
        "1",
        "--out",
        str(tmp_path),
    ]
    arena.main([*words])
    with pytest.raises(SystemExit) as ended:
        arena.main([*words, "--backend", "ray"])
    assert ended.value.code == 2
    assert "Ray is not installed here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--address", "h:1"], "takes --backend ray"),
        (["--address", "h:1", "--backend", "ray", "--jobs", "2"], "jobs must be 1 with an address"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(words, message, capsys):
    with pytest.raises(SystemExit):
        arena.main(["--game", "bestia", *words])
    assert message in capsys.readouterr().err


class Loose:
    """A Ray that forgets nothing, of so many CPUs."""

    def __init__(self, cpus):
        self.cpus, self.waiting, self.most = cpus, 0, 0

    def cluster_resources(self):
        return {"CPU": self.cpus}

    def remote(self, **options):
        def task(function):
            return type("Task", (), {"remote": lambda _, *words: self.sent(function, words)})()

        return task

    def sent(self, function, words):
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return function(*words)

    def put(self, thing):
        return thing

    def get(self, thing):
        self.waiting -= 1
        return thing


def test_pieces_come_in_order_and_only_some_are_under_way():
    ray = Loose(2)
    assert list(in_order(pow, (2,), range(50), Cluster(ray), 0)) == [2**k for k in range(50)]
    assert ray.most == 8
