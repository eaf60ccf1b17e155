"""Values at the leaves of regression models, and what the training targets at each node are like."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeform.data.dataset import Dataset
from treeform.data.quantity import Quantity
from treeform.data.views import chunks
from treeform.graph import routing
from treeform.graph.structure import level_by_level
from treeform.utils.arrays import Floats


def in_order(
    values: Sequence[Fraction], label: NDArray[np.int32]
) -> tuple[tuple[Fraction, ...], NDArray[np.int32]]:
    """The values that leaves have, ascending and each once, and the position of each leaf's value among them.

    Positions that are none are left for the check of the arrays to refuse.
    """
    codes = label.tolist()
    exact = {code: Fraction(values[code]) for code in set(codes) if 0 <= code < len(values)}
    kept: list[Fraction] = []
    place: dict[int, int] = {}
    for code in sorted(exact, key=exact.__getitem__):
        if not kept or exact[code] != kept[-1]:
            kept.append(exact[code])
        place[code] = len(kept) - 1
    placed = [place.get(code, code if code < 0 else len(kept)) for code in codes]
    return tuple(kept), np.array(placed, dtype=np.int32)


def moments(graph: routing.Nodes, data: Dataset, quantity: Quantity) -> Floats:
    """Mean and standard deviation of the targets that reach each node, by weight: (N, 2), NaN where none does."""
    size, unit, origin = len(graph.feature), float(quantity.unit), float(quantity.to_value(0))
    in_levels = level_by_level(graph.feature, graph.left, graph.right)
    leaf = routing.Routed.leaf_known(graph, data.X) if in_levels else None
    if leaf is None:
        rows, nodes = map(np.concatenate, zip(*routing.steps(graph, graph.tested(data.X)), strict=True))
        weight, deviations = data.weights[rows], quantity.deviations[rows]
    else:  # what reaches a test is what reaches its children
        nodes, weight, deviations = leaf, data.weights, quantity.deviations

    total, sums, squares = np.zeros((3, size))
    for part in chunks(len(nodes), 8):
        summands = np.multiply(weight[part], deviations[part], dtype=np.float64)
        sums += np.bincount(nodes[part], summands, minlength=size)
        total += np.bincount(nodes[part], weight[part], minlength=size)
    with np.errstate(invalid="ignore"):  # nodes that nothing reaches: 0 / 0
        mean = sums / total
        for part in chunks(len(nodes), 8):
            apart = deviations[part] - mean[nodes[part]]
            squares += np.bincount(nodes[part], apart * apart * weight[part], minlength=size)
        if leaf is not None:
            _pool_upwards(graph, total, mean, squares)
        return np.array((origin + mean * unit, np.sqrt(squares / total) * unit)).T


def _pool_upwards(graph: routing.Nodes, total: Floats, mean: Floats, squares: Floats) -> None:
    """Weight, mean and sum of squares about it at the tests of a tree, from those at its leaves."""
    for node in np.flatnonzero(graph.feature >= 0)[::-1].tolist():  # children come after their parents
        low, high = graph.left[node], graph.right[node]
        total[node] = total[low] + total[high]
        if not total[low] or not total[high]:  # one side has no mean
            only = low if total[low] else high
            mean[node], squares[node] = mean[only], squares[only]
            continue
        apart = mean[high] - mean[low]
        mean[node] = mean[low] + apart * total[high] / total[node]
        squares[node] = squares[low] + squares[high] + apart**2 * total[low] * total[high] / total[node]


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
