"""Trees that requirements are given: plain nested values, what they do to a table, and how treeform reads them.

A tree is a label, or ``(feature key, right values start after this value, left, right)``; the key is the column, the
level that a text column is compared with, and where missing values stand.
"""

from __future__ import annotations

from typing import Any

import treeform as tf
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain

Tree = Any


def _feature(key: tuple[Any, ...], plain: Plain) -> int:
    return next(f for f, one in enumerate(plain.features) if (one.column, one.level, one.gaps) == tuple(key))


def predictions(tree: Tree, plain: Plain) -> list[Any]:
    """The label of each point."""
    return [_label(tree, plain, p) for p in range(len(plain.points))]


def _label(tree: Tree, plain: Plain, point: int) -> Any:
    while isinstance(tree, list | tuple):
        key, cut, left, right = tree
        tree = right if plain.features[_feature(key, plain)].values[point] > cut else left
    return tree


def parts(tree: Tree, plain: Plain) -> list[tuple[str, int, int]]:
    """Of each test: the column, the points that reach it, and those that go right."""
    out = []
    waiting = [(tree, plain.everything)]
    while waiting:
        at, mask = waiting.pop()
        if not isinstance(at, list | tuple):
            continue
        key, cut, left, right = at
        values = plain.features[_feature(key, plain)].values
        high = sum(1 << p for p in range(len(values)) if mask >> p & 1 and values[p] > cut)
        out.append((key[0], mask, high))
        waiting += [(left, mask & ~high), (right, high)]
    return out


def graph_of(tree: Tree, data: Any) -> Any:
    """The tree over the columns of a data set of treeform."""
    keys = [
        (c.source, None if c.kind != "category" else ("" if c.category is None else c.category), c.missing)
        for c in data.columns
    ]
    labels = list(data.classes.tolist())

    def nested(at: Tree) -> Any:
        if not isinstance(at, list | tuple):
            return labels.index(at)
        key, cut, left, right = at
        return (keys.index(tuple(key)), float(cut), nested(left), nested(right))

    made = nested(tree)
    if isinstance(made, int):
        return tf.DecisionGraph.leaf(made, data)
    return tf.DecisionGraph.from_nested(made, data)


def tree_of(m: Facts, plain: Plain) -> Tree:
    """A listed tree as nested values; thresholds are the greatest value that goes left."""

    def at(mask: int, layer: int) -> Tree:
        node = next((n for n in m.nodes if n.layer == layer and n.reached == mask), None)
        if node is None:
            return plain.classes[m.predicted[(mask & -mask).bit_length() - 1]]
        feature = plain.features[node.feature]
        low = mask & ~node.right
        cut = max(v for p, v in enumerate(feature.values) if low >> p & 1)
        cut = 0.5 if feature.level is not None else cut
        return (
            (feature.column, feature.level, feature.gaps), _finite(cut), at(low, layer + 1), at(node.right, layer + 1),
        )  # fmt: skip

    return at(plain.everything, 0)


def _finite(cut: float) -> float:
    """A threshold between a missing value and a value, as columns with gaps are encoded."""
    return cut if abs(cut) != float("inf") else (-(2.0**1010) if cut < 0 else 2.0**1010)
