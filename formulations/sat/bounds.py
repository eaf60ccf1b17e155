"""Before the first call: depths that are too small, and a tree to begin with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.graph import DecisionGraph


def least_depth(data: Dataset, allowed: int, depth: int, native: int) -> int:
    """The least depth at which ``allowed`` errors (in weight units) are not ruled out; at most ``depth`` + 1.

    A tree of depth ``k`` predicts at most ``2^k`` classes and errs on all others. Up to depth ``native`` the
    fewest errors are computed.
    """
    heaviest = np.sort(np.asarray(data.class_weights))[::-1]
    k = 1
    while k <= depth and int(heaviest[1 << k :].sum()) > allowed:
        k += 1
    while k <= min(depth, native):
        outcome = ConTree().run(data, TreeTask(k), EngineRun())
        if outcome.lower <= allowed:
            break
        k += 1
    return k


def greedy_tree(data: Dataset, depth: int) -> DecisionGraph:
    """CART on the distinct feature vectors, by the ranks of their values: scikit-learn's trees hold float32 only."""
    from sklearn.tree import DecisionTreeClassifier

    points = data.points
    weights = np.asarray(points.weights)
    ranks = np.empty(points.X.shape, dtype=np.float32)
    ranks[np.asarray(points.index)] = data.ranks.codes
    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(
        ranks, weights.argmax(axis=1), sample_weight=weights.sum(axis=1)
    )
    tree = fitted.tree_

    def below(node: int) -> Any:
        if tree.children_left[node] < 0:
            return int(fitted.classes_[tree.value[node][0].argmax()])
        feature = int(tree.feature[node])
        # Left of k + 1/2 are the ranks up to k.
        threshold = data.ranks.thresholds(feature)[math.floor(tree.threshold[node])]
        return (
            feature,
            float(threshold),
            below(int(tree.children_left[node])),
            below(int(tree.children_right[node])),
        )

    return DecisionGraph.from_nested(below(0), data)
