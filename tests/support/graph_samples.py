"""Random data and graphs, and slow references to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.graph import DecisionGraph

GRID = (0.0, 0.5, 1.0, 2.0)


def random_data(rng: np.random.Generator, n: int = 30, features: int = 3, classes: int = 3) -> Dataset:
    X = rng.choice(GRID, (n, features))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return Dataset.from_user(X, np.array(list("abcdefgh"))[y], rng.integers(1, 4, n))


def random_nested(rng: np.random.Generator, data: Dataset, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return int(rng.integers(0, data.n_classes))
    threshold = float(rng.choice([*GRID, 0.25, 1.5]))
    sides = (random_nested(rng, data, depth - 1) for _ in range(2))
    return (int(rng.integers(0, data.n_features)), threshold, *sides)


def nodes_of(*described: tuple[int, float, int, int] | int) -> list[dict[str, Any]]:
    """Nodes for `DecisionGraph.build` in short: ``(feature, threshold, left, right)``, or the code of a class."""
    names = ("feature", "threshold", "left", "right")
    return [{"label": n} if isinstance(n, int) else dict(zip(names, n, strict=True)) for n in described]


def random_nodes(rng: np.random.Generator, data: Dataset, widths: tuple[int, ...]) -> dict[Any, Any]:
    """A layered diagram; arcs go to the next layer or to one of the terminals."""
    nodes: dict[Any, Any] = {}
    for layer, width in enumerate(widths):
        for place in range(width):
            targets: list[Any] = [f"t{k}" for k in range(data.n_classes)]
            if layer + 1 < len(widths):
                targets = [(layer + 1, i) for i in range(widths[layer + 1])] * 3 + targets
            left, right = (targets[rng.integers(0, len(targets))] for _ in range(2))
            nodes[layer, place] = {
                "feature": int(rng.integers(0, data.n_features)),
                "threshold": float(rng.choice([*GRID, 0.25, 1.5])),
                "left": left,
                "right": right,
            }
    return nodes | {f"t{k}": {"label": k} for k in range(data.n_classes)}


def random_graph(seed: int) -> tuple[DecisionGraph, Dataset]:
    """A tree for even seeds, a diagram for odd ones."""
    rng = np.random.default_rng(seed)
    data = random_data(rng)
    if seed % 2 == 0:
        return DecisionGraph.from_nested(random_nested(rng, data, 4), data), data
    return DecisionGraph.build(random_nodes(rng, data, (1, 2, 3, 3)), data), data


def walk(graph: DecisionGraph, row: np.ndarray) -> list[int]:
    """Nodes that one sample visits, one comparison at a time."""
    path = [0]
    while graph.feature[path[-1]] >= 0:
        node = path[-1]
        low = float(row[graph.feature[node]]) <= float(graph.threshold[node])
        path.append(int(graph.left[node] if low else graph.right[node]))
    return path


def every_point(features: int) -> np.ndarray:
    """One point in every cell that the thresholds of random graphs can tell apart."""
    values = [-1.0, 0.0, 0.2, 0.25, 0.4, 0.5, 0.7, 1.0, 1.2, 1.5, 1.7, 2.0, 9.0]
    return np.stack(np.meshgrid(*[values] * features), axis=-1).reshape(-1, features)
