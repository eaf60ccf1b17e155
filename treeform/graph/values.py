"""Values at the leaves of regression models, and what the training targets at each node are like."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.graph import routing

if TYPE_CHECKING:
    from treeform.data.dataset import Dataset
    from treeform.data.quantity import Quantity

Floats = NDArray[np.float64]


def in_order(
    values: Sequence[Fraction], label: NDArray[np.int32]
) -> tuple[tuple[Fraction, ...], NDArray[np.int32]]:
    """The values that leaves have, ascending and each once, and the position of each leaf's value among them.

    Positions that are none are left for the check of the arrays to refuse.
    """
    known = (label >= 0) & (label < len(values))
    kept = sorted({Fraction(values[code]) for code in label[known].tolist()})
    position = {value: code for code, value in enumerate(kept)}
    out = np.where(label >= len(values), len(kept), label).astype(np.int32)
    out[known] = [position[Fraction(values[code])] for code in label[known].tolist()]
    return tuple(kept), out


def moments(graph: routing.Nodes, data: Dataset, quantity: Quantity) -> Floats:
    """Mean and standard deviation of the targets that reach each node, by weight: (N, 2), NaN where none does."""
    rows, nodes = routing.visiting(graph, data.X)
    unit, origin = float(quantity.unit), float(quantity.to_value(0))
    weight = data.weights[rows].astype(np.float64)
    deviations = quantity.deviations[rows].astype(np.float64)

    def summed(amounts: Floats) -> Floats:
        return np.bincount(nodes, amounts, minlength=len(graph.feature)).astype(np.float64)

    with np.errstate(invalid="ignore"):  # nodes that nothing reaches: 0 / 0
        total = summed(weight)
        mean = summed(weight * deviations) / total
        spread = summed(weight * (deviations - mean[nodes]) ** 2) / total
    return np.column_stack([origin + mean * unit, np.sqrt(spread) * unit])


def pooled(weights: Floats, parts: Floats) -> Floats:
    """Mean and standard deviation of several groups together, from theirs: (G,) weights and (G, 2) moments."""
    total = weights.sum()
    if total <= 0:
        return np.full(2, np.nan)
    known = weights > 0
    weights, parts = weights[known], parts[known]
    mean = (weights * parts[:, 0]).sum() / total
    spread = (weights * (parts[:, 1] ** 2 + (parts[:, 0] - mean) ** 2)).sum() / total
    return np.array([mean, np.sqrt(spread)])


def value_text(value: Fraction) -> str:
    """A value for display: short decimals in full, others to six digits."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    exact = str(float(value))
    return exact if Fraction(exact) == value and len(exact) <= 10 else f"{float(value):.6g}"
