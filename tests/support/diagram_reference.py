"""Tiny layered diagrams: their least cost for every number of tests, and a judge of models.

The costs come by recursion over the parts of a layer.

Independent of the native search: no bounds, and no order of tests. Unlike `layered_reference` it has pass-throughs
(tests without a column, all samples of which leave by one arc), and it knows costs and minimum weights.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from layered_reference import _ways

from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.graph import DecisionGraph

NEVER = 10**12


def least_costs(data: Dataset, task: TreeTask) -> list[int]:
    """e(0), e(1), ...: the least cost with at most k tests; the widths (or the depth) bound k."""
    points = data.points
    cost = 1 - np.eye(data.n_classes, dtype=np.int64) if task.cost is None else task.cost
    value = (points.weights @ cost).tolist()
    weight = points.weights.sum(axis=1).tolist()
    masks = {sum(1 << int(p) for p in np.flatnonzero(side)) for side in data.splits(None).left}
    is_tree = task.widths is None
    widths = tuple(2**level for level in range(task.depth)) if task.widths is None else task.widths

    @cache
    def weight_of(group: int) -> int:
        return sum(w for p, w in enumerate(weight) if group >> p & 1)

    @cache
    def leaf(group: int) -> int:
        rows = [value[p] for p in range(points.n_points) if group >> p & 1]
        return min((sum(column) for column in zip(*rows, strict=True)), default=0)

    @cache
    def cuts(group: int) -> tuple[tuple[int, int], ...]:
        sides = {(group & mask, group & ~mask) for mask in masks}
        parting = tuple(pair for pair in sides if all(pair) and min(map(weight_of, pair)) >= task.min_support)
        passing = () if is_tree or task.min_support else ((group, 0),)
        return (*parting, *passing)

    @cache
    def best(layer: int, groups: tuple[int, ...], left: int) -> int:
        """The parts of a layer, each of which makes a test; ``left`` tests for the layers below."""
        least = NEVER
        width = min(widths[layer + 1] if layer + 1 < len(widths) else 0, left)
        for chosen in product(*(cuts(group) for group in groups)):
            flows = [side for pair in chosen for side in pair]
            for ways in _ways(len(flows), width):
                paid = sum(leaf(f) for f, way in zip(flows, ways, strict=True) if way < 0)
                below: dict[int, list[int]] = {}
                for flow, way in zip(flows, ways, strict=True):
                    if way >= 0:
                        below.setdefault(way, []).append(flow)
                if is_tree and any(len(into) > 1 for into in below.values()):
                    continue
                parts = tuple(sorted(sum(into) for into in below.values()))
                if any(weight_of(part) < max(task.min_flow, 1) for part in parts) or paid >= least:
                    continue
                rest = best(layer + 1, parts, left - len(parts)) if parts else 0
                least = min(least, paid + rest)
        return least

    everything = (1 << points.n_points) - 1
    total = sum(widths) if task.max_nodes is None else min(task.max_nodes, sum(widths))
    out = [leaf(everything) if weight_of(everything) >= task.min_support else NEVER]
    for k in range(1, total + 1):
        found = best(0, (everything,), k - 1) if weight_of(everything) >= task.min_flow else NEVER
        out.append(min(out[-1], found))
    return out


def fault_of(graph: DecisionGraph, data: Dataset, task: TreeTask) -> str | None:
    """What makes a model of the engine inadmissible, sample by sample, or None; nothing is rewritten first."""
    arrive: list[list[int]] = [[] for _ in graph.feature]
    arrive[0] = list(range(data.n_samples))
    layer, heads = {0: 0}, [0]
    weight = [int(w) for w in data.weights]
    for node in range(len(graph.feature)):
        if graph.feature[node] < 0:
            continue
        rows, left, right = arrive[node], int(graph.left[node]), int(graph.right[node])
        if not rows or sum(weight[i] for i in rows) < task.min_flow:
            return f"test {node} sees too little"
        if graph.passes[node]:
            if left != right or task.min_support or task.widths is None:
                return f"pass-through {node} has no place"
            arcs = [(left, rows)]
        else:
            goes = [bool(data.X[i, graph.feature[node]] <= graph.threshold[node]) for i in rows]
            arcs = [
                (head, [i for i, at in zip(rows, goes, strict=True) if at is side])
                for head, side in ((left, True), (right, False))
            ]
            if any(not part or sum(weight[i] for i in part) < task.min_support for _, part in arcs):
                return f"a side of test {node} sees too little"
            ends = {
                int(graph.label[head]) if graph.feature[head] < 0 else -1 - head for head in (left, right)
            }
            if len(ends) < 2:
                return f"the arcs of test {node} lead to one head"
        for head, part in arcs:
            arrive[head] += part
            if graph.feature[head] >= 0:
                heads.append(head)
                if layer.setdefault(head, layer[node] + 1) != layer[node] + 1:
                    return f"test {head} lies in two layers"
    sizes = [list(layer.values()).count(level) for level in range(max(layer.values()) + 1)]
    if graph.feature[0] < 0:
        return None
    widths = [2**level for level in range(task.depth)] if task.widths is None else list(task.widths)
    if len(sizes) > len(widths) or any(size > width for size, width in zip(sizes, widths, strict=False)):
        return f"layers hold {sizes} tests"
    if task.widths is None and len(set(heads)) < len(heads):
        return "tests of a tree are shared"
    return None if task.max_nodes is None or len(layer) <= task.max_nodes else "too many tests"
