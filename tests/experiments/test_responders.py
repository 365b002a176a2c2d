import dataclasses
from pathlib import Path

import numpy as np
import pytest

from agents.arena import one_against_field
from agents.bids import bestia
from agents.bids.solver import Game
from agents.bids.table import BidTable, load_table, names, save_table
from agents.networks import Network
from agents.policies import NETWORK, Policy, default_specs, parse_policy
from agents.shipped import shipped
from bestia_env.files import write_arrays
from experiments import best_bids as module
from experiments.best_bids import best_bids
from experiments.best_response import Arguments, _victims
from experiments.responders import Budget, Victim, at_hand, candidates

slow = pytest.mark.slow  # its kernels take minutes to compile


def random_table(seed: int = 0, cards: str = "sound") -> BidTable:
    shares = np.random.default_rng(seed).integers(0, 256, bestia.num_entries(3), np.uint8)
    return BidTable("bestia", 3, cards, shares, {"rules": {}})


def bidder(folder: Path, table: BidTable) -> Victim:
    path = folder / "victim.bids"
    save_table(path, table)
    return Victim(parse_policy(f"bids:{path}", "bestia", 3), 3)


# Who is the victim?


def test_a_victim_is_told_from_others_of_its_name_by_all_that_it_plays_by(tmp_path):
    tables = [random_table(), random_table(1), random_table(0, "bold")]
    victims = [bidder(tmp_path, table) for table in tables]
    digests = {victim.digest for victim in victims}
    assert len({victim.policy.spec for victim in victims}) == 1 and len(digests) == 3
    rules = [f"knock if trumps >= {least}; cards by net:bestia-3" for least in (1, 2)]
    policies = [parse_policy(rule, "bestia", 3) for rule in [*rules, "net:bestia-3"]]
    assert policies[0].file == policies[2].file
    assert len({Victim(policy, 3).digest for policy in policies}) == 3


def test_the_figures_of_networks_and_baselines_keep_their_digests():
    victims = [Victim(parse_policy(spec, "bestia", 4), 4) for spec in ("net:bestia-4", "sound")]
    assert [victim.digest for victim in victims] == ["fe993a59", "dd29442d"]


def test_a_linear_network_is_answered_from_the_shipped_one():
    shipped = parse_policy("net:bestia-3", "bestia", 3).network
    assert shipped is not None
    (first, _), (_, last) = shipped.weights[0], shipped.weights[-1]
    linear = Network("bestia", 3, ((np.zeros((last.size, first.shape[1]), np.float32), last),))
    for network, model in ((linear, "net:bestia-3"), (shipped, "mine")):
        victim = Victim(Policy("mine", "bestia", NETWORK, network=network), 3)
        assert victim.model is not None and victim.model.spec == model
        names = [candidate.name for candidate in at_hand(victim, Budget(0, 0, ("warm",)))]
        assert names.count("net:bestia-3") == 1 and len({*names}) == len(names)


def test_all_that_is_shipped_and_all_baselines_are_victims_if_none_are_named():
    for game in ("bestia", "beast"):
        found = {victim.policy.spec for victim in _victims(Arguments(game=game))}
        tables = {f"bids:{name}" for name in names() if name.startswith(game)}
        networks = {f"net:{one.name}" for one in shipped().values() if one.game == game}
        assert found == {*default_specs(game), *tables, *networks}


# Best bids.


@slow
def test_the_best_bids_against_a_table_win_what_it_gives_away(tmp_path):
    victim = bidder(tmp_path, random_table())
    assert victim.table is not None
    path = best_bids(victim.table, 30_000, 0, tmp_path / "run")
    best = parse_policy(f"bids:{path}", "bestia", 3)
    gain = one_against_field(best, victim.policy, 2000, 9, num_players=3)
    others = [parse_policy(spec, "bestia", 3) for spec in ("sound", "bold")]
    scores = [one_against_field(one, victim.policy, 2000, 9, num_players=3) for one in others]
    assert gain.low > max(0.1, *(score.mean for score in scores))
    again = best_bids(load_table(path, "bestia", 3), 30_000, 0, tmp_path / "again")
    assert 0 < np.mean(load_table(again, "bestia", 3).shares != victim.table.shares) < 1


@slow
def test_best_bids_that_were_interrupted_come_out_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART", 300)
    monkeypatch.setattr(module, "SAVE_EVERY", 0)
    table, walk, walked = random_table(), Game.walk, []

    def interrupted(game, chances, first, stop):
        if len(walked) == 2:
            raise KeyboardInterrupt
        walked.append((first, stop))
        return walk(game, chances, first, stop)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Game, "walk", interrupted)
        best_bids(table, 1000, 4, tmp_path / "stopped")
    begun = best_bids(table, 1000, 4, tmp_path / "stopped")
    whole = best_bids(table, 1000, 4, tmp_path / "whole")
    assert begun.read_bytes() == whole.read_bytes()
    monkeypatch.setattr(Game, "walk", interrupted)
    assert best_bids(table, 1000, 4, tmp_path / "whole") == whole


def test_damaged_sums_are_named(tmp_path):
    (tmp_path / "sums.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"sums\.npz is damaged: delete it"):
        best_bids(random_table(), 1000, 0, tmp_path)
    sums = module._load(tmp_path / "none.npz", 7, 3)[1]
    write_arrays(tmp_path / "sums.npz", done=5, **sums._asdict())
    with pytest.raises(ValueError, match=r"sums\.npz is of another table: delete it"):
        best_bids(random_table(), 1000, 0, tmp_path)


@pytest.mark.parametrize(("kind", "found"), [("one", 1), ("coalition", 0)])
def test_who_bids_by_a_table_is_answered_by_best_bids_too(kind, found, tmp_path, monkeypatch):
    victim = bidder(tmp_path, random_table())
    asked = []

    def chosen(table, num_deals, seed, folder):
        asked.append((table, num_deals, seed, folder.parent))
        return Path(victim.policy.spec.removeprefix("bids:"))

    monkeypatch.setattr(module, "best_bids", chosen)
    monkeypatch.setattr("experiments.responders._trained", lambda *_: iter(()))
    budget = Budget(0, 6, ("warm",), smoke=True)
    names = [one.name for one in candidates(victim, kind, budget, tmp_path / "runs")]
    assert names.count("best bids") == found
    assert asked == [(victim.table, 1000, 6, tmp_path / "runs")] * found
    other = dataclasses.replace(victim, policy=parse_policy("sound", "bestia", 3))
    names = [one.name for one in candidates(other, kind, budget, tmp_path / "runs")]
    assert "best bids" not in names
