import dataclasses

import numpy as np
import pytest
import torch

from agents.policies import parse_policy
from experiments.ppo_loss import STATISTICS, Targets, Weights, policy_loss
from experiments.train_ppo import Arguments, Ppo, train
from tests.agents.test_self_play import masks


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
    with torch.no_grad():
        log_probs = masked_log_probs(learner.actor(decisions.observations), decisions.legal)
    chosen = log_probs[range(decisions.num_rows), decisions.actions]
    torch.testing.assert_close(chosen.numpy(), decisions.log_probs, atol=1e-3, rtol=1e-4)


def masked_log_probs(logits: torch.Tensor, legal: np.ndarray) -> torch.Tensor:
    allowed = torch.from_numpy(masks(legal, logits.shape[1]))
    return torch.log_softmax(logits.masked_fill(~allowed, -1e30), 1)


@pytest.mark.parametrize("magnet", [False, True])
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_loss_and_its_gradient_are_those_that_torch_finds(magnet, size):
    rows, actions = 400, 58
    rng = np.random.default_rng(0)
    legal = rng.integers(1, 2**actions, rows, dtype=np.uint64)
    legal[:200] &= np.uint64(0x5000001)
    legal[:200] |= np.uint64(8)
    drawn = [rng.choice(np.flatnonzero(row)) for row in masks(legal, actions)]
    logits = torch.from_numpy(rng.normal(size=(rows, actions))).float().mul_(size)
    old = masked_log_probs(logits, legal)[range(rows), drawn] + 0.3 * torch.randn(rows)
    anchor = rng.normal(size=(rows * magnet, actions)).astype(np.float32)
    gains = rng.normal(size=rows).astype(np.float32)
    targets = Targets(legal, np.array(drawn), old.numpy(), gains, anchor)
    weights = Weights(0.2, 0.03, 0.5)
    gradients, losses = [], []
    for loss_of in (policy_loss, slow_policy_loss):
        leaf = logits.clone().requires_grad_()
        loss, record = loss_of(leaf, targets, weights)
        (3 * loss).backward()
        gradients.append(leaf.grad)
        losses.append([loss.item(), *(record[name] for name in STATISTICS)])
    np.testing.assert_allclose(*losses, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-7)
    assert 0.1 < losses[0][-1] < 0.9  # some ratios are clipped, some are not


def test_the_loss_may_be_differentiated_twice_and_of_nothing():
    empty = np.zeros((0, 44), np.float32)
    for rows in (0, 2):
        legal, drawn = np.full(rows, 7, np.uint64), np.zeros(rows, np.int64)
        numbers = np.ones(rows, np.float32)
        logits = torch.zeros(rows, 44, requires_grad=True)
        targets = Targets(legal, drawn, numbers, numbers, empty)
        loss, _ = policy_loss(logits, targets, Weights(0.2, 0.01, 0.0))
        loss.backward(retain_graph=True)
        once = logits.grad.clone()
        loss.backward()
        torch.testing.assert_close(logits.grad, 2 * once)


def slow_policy_loss(logits, targets: Targets, weights: Weights):
    """Schulman et al. 2017, equation 7, with an entropy bonus and a divergence from a magnet."""
    log_probs = masked_log_probs(logits, targets.legal)
    probs = log_probs.exp()
    drift = log_probs[range(len(logits)), targets.actions] - torch.from_numpy(targets.log_probs)
    ratio, gains = drift.exp(), torch.from_numpy(targets.advantages)
    clipped = ratio.clamp(1 - weights.clip, 1 + weights.clip)
    loss = -torch.min(ratio * gains, clipped * gains).mean()
    entropy = -(probs * log_probs).sum(1).mean()
    kl = torch.zeros(())
    if len(targets.magnet):
        magnet = masked_log_probs(torch.from_numpy(targets.magnet), targets.legal)
        kl = (probs * (log_probs - magnet)).sum(1).mean()
    moved = ((ratio - 1).abs() > weights.clip).float().mean()
    terms = loss, entropy, kl, (ratio - 1 - drift).mean(), moved
    record = {name: term.item() for name, term in zip(STATISTICS, terms, strict=True)}
    return loss - weights.entropy * entropy + weights.kl * kl, record


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


def test_it_may_start_from_a_network_and_leaves_its_opponents_as_they_are(tmp_path):
    spec = "net:bestia-4"
    shipped = parse_policy(spec, "bestia", 4).network
    company = {"opponents": (spec,), "alone": 0.0, "joined": 1.0, "shared": True}
    learner = Ppo(tiny(tmp_path, start=spec, hidden=(128, 128), **company))
    first = learner.network().packed.parameters
    np.testing.assert_array_equal(first, shipped.packed.parameters)
    (victim,) = learner.tables.opponents
    before = victim.network.packed.parameters.tobytes()
    for _ in range(3):
        learner.update()
    assert not np.array_equal(learner.network().packed.parameters, first)
    assert victim.network.packed.parameters.tobytes() == before == first.tobytes()


def test_past_selves_join(tmp_path):
    company = {"opponents": ("past",), "alone": 1.0, "joined": 0.0}
    learner = Ppo(tiny(tmp_path, total_steps=10_000, past_every=2, past_size=3, **company))
    for update in range(10):
        learner.update()
        assert len(learner.past) == min(3, update // 2)
    first, last = learner.past[0], learner.past[-1]
    assert not np.array_equal(first, last)
