import numpy as np

from agents.networks import load_network, network_of_sb3, save_network
from experiments import train_maskable_ppo as script


def test_the_network_is_the_models(tmp_path):
    import torch

    arguments = script.Arguments(tmp_path / "run", num_envs=16, hidden=(12, 9))
    learner = script.Learner(arguments)
    env, model = learner.env, learner.model
    observations = env.reset()
    save_network(tmp_path / "net.safetensors", network_of_sb3(model.policy, "bestia", 4))
    network = load_network(tmp_path / "net.safetensors", "bestia", 4)
    rng = np.random.default_rng(0)
    for _ in range(8):
        masks = env.action_masks()
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.from_numpy(observations), masks)
        np.testing.assert_allclose(
            network.probabilities(observations, masks),
            distribution.distribution.probs.numpy(),
            atol=1e-5,
        )
        observations, *_ = env.step((masks * rng.random(masks.shape)).argmax(axis=1))
