import numpy as np
import pytest
import torch

from experiments.perceptron import SparseLinear, network_of, perceptron, sparse_rows


def blocks(rows=37, widths=(11, 6), seed=0) -> list[np.ndarray]:
    """Mostly zeros; one row is empty."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(rows, w)) * (rng.random((rows, w)) < 0.3) for w in widths]
    for block in found:
        block[5] = 0
    return [block.astype(np.float32) for block in found]


@pytest.mark.parametrize("part", [slice(0, 37), slice(3, 9), slice(36, 37), slice(4, 4)])
@pytest.mark.parametrize("width", [1, 8, 13])
def test_a_sparse_layer_is_a_linear_layer(part, width):
    torch.manual_seed(0)
    layer, dense = SparseLinear(17, width), torch.nn.Linear(17, width)
    with torch.no_grad():
        layer.bias.normal_()
        dense.weight.copy_(layer.weight.T)
        dense.bias.copy_(layer.bias)
    inputs = blocks()
    x = torch.from_numpy(np.hstack(inputs))[part]
    outputs = layer(sparse_rows(*inputs).part(part)), dense(x)
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    direction = torch.randn(width)
    for output in outputs:
        (output * direction).tanh().sum().backward()
    torch.testing.assert_close(layer.weight.grad.T, dense.weight.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(layer.bias.grad, dense.bias.grad, atol=1e-5, rtol=1e-5)


def test_bytes_are_numbers_too():
    rows = sparse_rows(np.array([[0, 1, 0], [1, 0, 1]], np.int8))
    np.testing.assert_array_equal(rows.starts, [0, 1, 3])
    np.testing.assert_array_equal(rows.columns, [1, 0, 2])
    np.testing.assert_array_equal(rows.numbers, np.ones(3, np.float32))


@pytest.mark.parametrize("hidden", [(9,), (12, 7), (5, 6, 7)])
def test_its_network_answers_alike(hidden):
    from tests.agents.test_networks import positions

    torch.manual_seed(1)
    _, observations, masks = positions("bestia")
    layers = perceptron(observations.shape[1], hidden, masks.shape[1], 1.0)
    network = network_of(layers, "bestia", 4, sort_suits=False, factor=2.0)
    with torch.no_grad():
        logits = 2 * layers(sparse_rows(observations))
    logits[torch.from_numpy(masks == 0)] = -torch.inf
    np.testing.assert_allclose(
        network.probabilities(observations, masks), torch.softmax(logits, 1), atol=1e-5
    )
