import dataclasses

import numpy as np
import pytest
import torch

from experiments.train_ppo import Arguments, Batch, Ppo, train


def tiny(tmp_path, **changes) -> Arguments:
    return dataclasses.replace(
        Arguments(tmp_path / "run"), **{**Arguments.SMOKE, "final_deals": 0, **changes}
    )


@pytest.mark.parametrize("game", ["beast", "bestia"])
@pytest.mark.parametrize("bias", [1.0, 1000.0])
def test_torch_learns_from_the_log_probs_of_the_network_that_played(game, bias, tmp_path):
    learner = Ppo(tiny(tmp_path, game=game))
    torch.nn.init.normal_(learner.actor[-1].weight)  # not near uniform any more
    torch.nn.init.normal_(learner.actor[-1].bias, std=bias)
    decisions, _ = learner.tables.play(learner.network(), 300)
    batch = Batch(decisions, oracle=True)
    with torch.no_grad():
        log_probs = batch.log_probs_of(learner.actor, slice(0, decisions.num_rows))
        logits = learner.actor(batch.observations)
    chosen = log_probs.gather(1, batch.chosen)[:, 0]
    torch.testing.assert_close(chosen, batch.log_probs, atol=1e-3, rtol=1e-4)
    logits[~torch.from_numpy(decisions.masks)] = -torch.inf
    expected = torch.log_softmax(logits, 1).gather(1, torch.from_numpy(decisions.actions)[:, None])
    torch.testing.assert_close(chosen, expected[:, 0], atol=1e-3, rtol=1e-4)
    np.testing.assert_array_equal((~batch.illegal).sum(1), decisions.masks.sum(axis=1))


def test_the_critic_alone_sees_all_cards(tmp_path):
    sizes = {
        oracle: Ppo(tiny(tmp_path, oracle=oracle)).critic[0].weight.shape[0]
        for oracle in (True, False)
    }
    actor = Ppo(tiny(tmp_path)).actor[0].weight.shape[0]
    assert sizes == {True: actor + 3 * 40, False: actor}


def test_a_strong_magnet_holds_the_policy_back(tmp_path):
    moved = {}
    for kl in (0.0, 1.0):
        for magnet in ("uniform", "ema", "refresh"):
            options = {"magnet": magnet, "kl": kl, "magnet_every": 10**6, "magnet_decay": 1.0}
            learner = Ppo(tiny(tmp_path, entropy=0.0, total_steps=10_000, **options))
            before = learner.actor[-1].weight.detach().clone()
            records = [learner.update() for _ in range(12)]
            moved[kl, magnet] = (learner.actor[-1].weight - before).norm().item()
            assert all(("kl" in record) == (kl > 0) for record in records)
            if kl and magnet != "uniform":  # it stands where the policy began
                assert abs(records[0]["kl"]) < records[-1]["kl"] < 0.1
    for magnet in ("uniform", "ema", "refresh"):
        assert moved[1.0, magnet] < moved[0.0, magnet]


def test_a_single_decision_is_enough_for_an_update(tmp_path):
    train(tiny(tmp_path, total_steps=20, steps_per_update=1, batch_size=1))


def test_past_selves_join(tmp_path):
    company = {"opponents": ("past",), "alone": 1.0, "joined": 0.0}
    learner = Ppo(tiny(tmp_path, total_steps=10_000, past_every=2, past_size=3, **company))
    for update in range(10):
        learner.update()
        assert len(learner.past) == min(3, update // 2)
    first, last = learner.past[0], learner.past[-1]
    assert not np.array_equal(first, last)
