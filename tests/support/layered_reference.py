"""An exact reference for tiny layered diagrams: dynamic programming over the partition of a layer.

Independent of models and solvers. State: the sets of points that the nodes of a layer receive.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from treeform.data import Dataset


def optimum(data: Dataset, widths: tuple[int, ...], price: Fraction = Fraction(0)) -> Fraction:
    """The least weight of errors (weight units) plus ``price`` per test over all diagrams of these widths."""
    points = data.points
    masks = {int("".join("01"[int(b)] for b in side[::-1]), 2) for side in data.splits(None).left}
    weights = [[int(w) for w in row] for row in points.weights]

    @cache
    def leaf(group: int) -> int:
        totals = [0] * data.n_classes
        for p in range(points.n_points):
            if group >> p & 1:
                totals = [a + b for a, b in zip(totals, weights[p], strict=True)]
        return sum(totals) - max(totals)

    @cache
    def cuts(group: int) -> tuple[tuple[int, int], ...]:
        parting = [(group & m, group & ~m) for m in masks if group & m and group & ~m]
        return (*parting, (group, 0))  # the last is a pass-through

    @cache
    def best(layer: int, groups: tuple[int, ...]) -> Fraction | None:
        """The layer's nodes receive ``groups``, none of them empty; each makes a test or passes them on."""
        least = None
        width = widths[layer + 1] if layer + 1 < len(widths) else 0
        for chosen in product(*(cuts(group) for group in groups)):
            flows = [side for pair in chosen for side in pair]
            for ways in _ways(len(flows), width):
                if any(way >= 0 and not flow for flow, way in zip(flows, ways, strict=True)):
                    continue
                value = price * len(groups) + sum(
                    leaf(f) for f, way in zip(flows, ways, strict=True) if way < 0
                )
                below: dict[int, int] = {}
                for flow, way in zip(flows, ways, strict=True):
                    if way >= 0:
                        below[way] = below.get(way, 0) | flow
                rest = best(layer + 1, tuple(sorted(below.values()))) if below else Fraction(0)
                if rest is not None and (least is None or value + rest < least):
                    least = value + rest
        return least

    everything = (1 << points.n_points) - 1
    with_root = best(0, (everything,))
    constant = Fraction(leaf(everything))
    return constant if with_root is None else min(constant, with_root)


@cache
def _ways(n_flows: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Where flows go: -1 a terminal, else a node of the next layer, nodes numbered by first use."""

    def extend(prefix: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(prefix) == n_flows:
            yield prefix
            return
        for way in (-1, *range(min(used + 1, width))):
            if way >= 0 and len(prefix) % 2 and prefix[-1] == way:
                continue  # both sides of a node to one node: no test
            yield from extend((*prefix, way), max(used, way + 1))

    return tuple(extend((), 0))


def random_data(seed: int, n: int = 8, n_classes: int = 2, weighted: bool = False) -> Dataset:
    """A tiny table with ties: values 0 to 2 in two or three columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, int(rng.integers(2, 4)))).astype(float)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    return Dataset.from_user(X, y, rng.integers(1, 4, n) / 2 if weighted else None)
