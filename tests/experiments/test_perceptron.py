import numpy as np
import pytest
import torch

from agents.sparse import SparseRows
from experiments.perceptron import SparseLinear, network_of, perceptron


def sparse(dense: np.ndarray) -> SparseRows:
    """With a gap between two rows, as rows may have."""
    counts = (dense != 0).sum(1)
    ends = np.cumsum(counts + 1)
    rows = SparseRows(ends - counts, ends, np.zeros(ends[-1], np.int32), np.zeros(ends[-1], "f"))
    for row, start, end in zip(dense, rows.starts, rows.ends, strict=True):
        rows.columns[start:end] = row.nonzero()[0]
        rows.numbers[start:end] = row[row != 0]
    return rows


def mostly_zeros(rows=37, columns=17, seed=0) -> np.ndarray:
    """One row is empty."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.3)
    found[5] = 0
    return found.astype(np.float32)


def test_sparse_rows_stand_for_dense_ones():
    dense = mostly_zeros()
    np.testing.assert_array_equal(sparse(dense).dense(17), dense)
    np.testing.assert_array_equal(sparse(dense).part(slice(4, 9)).dense(17), dense[4:9])


@pytest.mark.parametrize("part", [slice(0, 37), slice(3, 9), slice(36, 37), slice(4, 4)])
@pytest.mark.parametrize("width", [1, 8, 13])
def test_a_sparse_layer_is_a_linear_layer(part, width):
    torch.manual_seed(0)
    layer, dense = SparseLinear(17, width), torch.nn.Linear(17, width)
    with torch.no_grad():
        layer.bias.normal_()
        dense.weight.copy_(layer.weight.T)
        dense.bias.copy_(layer.bias)
    x = mostly_zeros()
    outputs = layer(sparse(x).part(part)), dense(torch.from_numpy(x[part]))
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    direction = torch.randn(width)
    for output in outputs:
        (output * direction).tanh().sum().backward()
    torch.testing.assert_close(layer.weight.grad.T, dense.weight.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(layer.bias.grad, dense.bias.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("hidden", [(9,), (12, 7), (5, 6, 7)])
def test_its_network_answers_alike(hidden):
    from tests.agents.test_networks import positions

    torch.manual_seed(1)
    _, observations, masks = positions("bestia")
    layers = perceptron(observations.shape[1], hidden, masks.shape[1], 1.0)
    network = network_of(layers, "bestia", 4, sort_suits=False, factor=2.0)
    with torch.no_grad():
        logits = 2 * layers(sparse(observations))
    logits[torch.from_numpy(masks == 0)] = -torch.inf
    np.testing.assert_allclose(
        network.probabilities(observations, masks), torch.softmax(logits, 1), atol=1e-5
    )
