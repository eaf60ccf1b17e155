"""Where to draw nodes: tidy trees, and layered diagrams. Geometry only; sizes in, positions out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

GAP = 22.0  # least horizontal distance of neighbours
_SWEEPS = 12
_RELAXATIONS = 40
_BEND_WEIGHT = 6.0


@dataclass
class Layout:
    """Positions of nodes and arcs."""

    x: list[float]
    """Centre of each node."""
    layer: list[int]
    """Row of each node, root 0."""
    bends: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    """dict of (node, side) to list of float: for each arc, the x positions at which it crosses the rows between its
    ends; side 0 is drawn left."""


def place_tree(children: Sequence[Sequence[int]], width: Sequence[float]) -> Layout:
    """Tidy drawing of a tree (after Reingold and Tilford, 1981): parents centred, sub-trees close but apart.

    Node 0 is the root, and children (none, one or two of each node) come after their parents.
    """
    n = len(children)
    offset = [0.0] * n  # of a node from its parent
    # Contours: the farthest extent of a sub-tree to either side, row by row, relative to its root.
    low = [[-w / 2] for w in width]
    high = [[w / 2] for w in width]
    for node in range(n - 1, -1, -1):
        if not children[node]:
            continue
        if len(children[node]) == 1:  # right below its parent
            only = children[node][0]
            low[node] += low[only]
            high[node] += high[only]
            low[only] = high[only] = []
            continue
        a, b = children[node]
        apart = max(h - lo for h, lo in zip(high[a], low[b], strict=False)) + GAP
        offset[a], offset[b] = -apart / 2, apart / 2
        low[node] += _joined(low[a], offset[a], low[b], offset[b], min)
        high[node] += _joined(high[b], offset[b], high[a], offset[a], max)
        low[a] = low[b] = high[a] = high[b] = []
    x, layer = [0.0] * n, [0] * n
    for node in range(n):
        for child in children[node]:
            x[child] = x[node] + offset[child]
            layer[child] = layer[node] + 1
    arcs = [(node, side) for node in range(n) for side in range(len(children[node]))]
    return Layout(x, layer, {arc: [] for arc in arcs})


def _joined(
    one: list[float],
    shift_one: float,
    two: list[float],
    shift_two: float,
    pick: Callable[[list[float]], float],
) -> list[float]:
    rows = max(len(one), len(two))
    made = []
    for row in range(rows):
        values = []
        if row < len(one):
            values.append(one[row] + shift_one)
        if row < len(two):
            values.append(two[row] + shift_two)
        made.append(pick(values))
    return made


def place_layers(children: Sequence[Sequence[int]], width: Sequence[float]) -> Layout:
    """Layered drawing of a diagram (after Sugiyama, Tagawa and Toda, 1981), in which nodes may be shared.

    Rows are longest distances from the root, all terminals in the last one; arcs over several rows get a bend in each;
    barycentre sweeps order the rows; least squares under the least distances place them.
    """
    n = len(children)
    layer = _layers(children)
    sizes = list(width)
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node in range(n):
        rows[layer[node]].append(node)
    chains: dict[tuple[int, int], list[int]] = {}
    for node in range(n):
        for side, child in enumerate(children[node]):
            chain = []
            last = node
            for row in range(layer[node] + 1, layer[child]):
                bend = len(sizes)
                sizes.append(6.0)
                above.append([])
                below.append([])
                rows[row].append(bend)
                chain.append(bend)
                below[last].append(bend)
                above[bend].append(last)
                last = bend
            below[last].append(child)
            above[child].append(last)
            chains[node, side] = chain
    rows = _ordered(rows, above, below)
    x = _coordinates(rows, above, below, sizes, n)
    bends = {arc: [x[bend] for bend in chain] for arc, chain in chains.items()}
    return Layout(x[:n], layer, bends)


def _layers(children: Sequence[Sequence[int]]) -> list[int]:
    layer = [0] * len(children)
    for node, pair in enumerate(children):
        for child in pair:
            layer[child] = max(layer[child], layer[node] + 1)
    last = max(layer)
    return [depth if children[node] else last for node, depth in enumerate(layer)]


def _ordered(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """Barycentre sweeps down and up; the order with the fewest crossings is kept."""
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    current = [list(row) for row in rows]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for index in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            neighbours = above if down else below
            fixed = current[index - 1 if down else index + 1]
            place = {node: position for position, node in enumerate(fixed)}
            here = {node: position for position, node in enumerate(current[index])}
            mean = {node: fmean([place[m] for m in neighbours[node]] or [at]) for node, at in here.items()}
            current[index].sort(key=mean.__getitem__)
        crossings = _crossings(current, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in current], crossings
    return best


def _crossings(rows: list[list[int]], below: list[list[int]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        place = {node: position for position, node in enumerate(lower)}
        ends = [place[child] for node in upper for child in sorted(below[node], key=place.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


def _coordinates(
    rows: list[list[int]], above: list[list[int]], below: list[list[int]], sizes: list[float], n_nodes: int
) -> list[float]:
    x = [0.0] * len(sizes)
    for row in rows:  # start: packed and centred
        steps = _distances(row, sizes)
        at = -sum(steps) / 2
        for node, step in zip(row, [*steps, 0.0], strict=True):
            x[node] = at
            at += step
    for turn in range(_RELAXATIONS):
        for row in rows if turn % 2 == 0 else reversed(rows):
            wanted = [_wanted(node, x, above[node] + below[node], n_nodes) for node in row]
            places, weights = [place for place, _ in wanted], [weight for _, weight in wanted]
            positions = spread(places, weights, _distances(row, sizes))
            for node, position in zip(row, positions, strict=True):
                x[node] = position
    return x


def _wanted(node: int, x: list[float], near: list[int], n_nodes: int) -> tuple[float, float]:
    """Weighted mean of the neighbours, and total weight; bends weigh more, which keeps long arcs straight."""
    weights = [_BEND_WEIGHT ** ((node >= n_nodes) + (m >= n_nodes)) for m in near]
    total = sum(weights)
    return (
        (sum(w * x[m] for w, m in zip(weights, near, strict=True)) / total, total) if near else (x[node], 1.0)
    )


def _distances(row: list[int], sizes: list[float]) -> list[float]:
    return [(sizes[a] + sizes[b]) / 2 + GAP for a, b in pairwise(row)]


def spread(wanted: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """Positions nearest to those wanted in weighted least squares, ``x[i + 1] - x[i] >= distances[i]``.

    With the distances subtracted this is isotonic regression, solved by pooling adjacent violators.
    """
    shift = [0.0]
    for distance in distances:
        shift.append(shift[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # weighted sum, weight, members
    for value, weight, moved in zip(wanted, weights, shift, strict=True):
        pool = (weight * (value - moved), weight, 1)
        while pools and pools[-1][0] / pools[-1][1] > pool[0] / pool[1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    level = [total / weight for total, weight, members in pools for _ in range(members)]
    return [base + moved for base, moved in zip(level, shift, strict=True)]
