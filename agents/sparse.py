"""Rows of numbers that are mostly zeros: only the others are kept, and multiplied by a matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestia_env._jit import jit
from bestia_env.bits import nth


class SparseRows(NamedTuple):
    """K rows of numbers, of which those that are not zero.

    Attributes:
        starts: (K,) int64, where each row begins in `columns` and `numbers`.
        ends: (K,) int64, where it ends.
        columns: int32, the place of each number in its row.
        numbers: float32.
    """

    starts: np.ndarray
    ends: np.ndarray
    columns: np.ndarray
    numbers: np.ndarray

    @property
    def num_rows(self) -> int:
        """K."""
        return self.starts.size

    def part(self, rows: slice) -> SparseRows:
        """Some of the rows."""
        return self._replace(starts=self.starts[rows], ends=self.ends[rows])

    def dense(self, width: int) -> np.ndarray:
        """All numbers of all rows, (K, width) float32."""
        whole = np.zeros((self.num_rows, width), np.float32)
        for row, start, end in zip(whole, self.starts, self.ends, strict=True):
            row[self.columns[start:end]] = self.numbers[start:end]
        return whole


# The kernels. Four rows at a time, or else the sums would go to memory and back for each; slices,
# or else the loops are not vectorised.


@jit
def add_product(columns, numbers, start, end, matrix, first, out):
    """Add the row from start to end times a matrix (inputs, outputs) to out, (outputs,) float32.

    The matrix begins at `first` in a flat array.
    """
    width = out.size
    k = start
    while k + 4 <= end:
        at0, at1 = first + width * columns[nth(k)], first + width * columns[nth(k + 1)]
        at2, at3 = first + width * columns[nth(k + 2)], first + width * columns[nth(k + 3)]
        row0, row1 = matrix[at0 : at0 + width], matrix[at1 : at1 + width]
        row2, row3 = matrix[at2 : at2 + width], matrix[at3 : at3 + width]
        x0, x1, x2, x3 = (
            numbers[nth(k)],
            numbers[nth(k + 1)],
            numbers[nth(k + 2)],
            numbers[nth(k + 3)],
        )
        for j in range(width):
            out[j] += x0 * row0[j] + x1 * row1[j] + x2 * row2[j] + x3 * row3[j]
        k += 4
    while k < end:
        at, x = first + width * columns[nth(k)], numbers[nth(k)]
        row = matrix[at : at + width]
        for j in range(width):
            out[j] += x * row[j]
        k += 1


@jit
def multiply(rows, matrix, bias, outs):
    """Every row times a flat matrix, plus a bias (outputs,); (K, outputs) is written."""
    for i in range(outs.shape[0]):
        out = outs[i]
        for j in range(bias.size):
            out[j] = bias[j]
        add_product(rows.columns, rows.numbers, rows.starts[i], rows.ends[i], matrix, 0, out)


@jit
def multiply_back(rows, gradients, to_matrix):
    """Add to the gradient of a matrix (inputs, outputs), given that of the product."""
    for i in range(gradients.shape[0]):
        gradient = gradients[i]
        for k in range(rows.starts[i], rows.ends[i]):
            to_row, x = to_matrix[nth(rows.columns[nth(k)])], rows.numbers[nth(k)]
            for j in range(gradient.size):
                to_row[j] += x * gradient[j]
