"""Tests that a tree lacks of requirements such as `treeform.Uses`: added where they cost the fewest errors.

A search that does not know such a requirement finds trees that violate it, and neither other labels nor fewer tests
help them. A leaf with room below it, or a test above two leaves, gives way to a test of a column that is missing, at
the threshold of the fewest errors. Columns are those whose tests add to the sums of the requirement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import by_source
from treeform.data.midpoints import midpoint
from treeform.graph import DecisionGraph, normalised
from treeform.graph.structure import levels
from treeform.language.question import Question
from treeform.utils.budget import Budget


def with_missing_tests(question: Question, graph: DecisionGraph, budget: Budget) -> DecisionGraph:
    """The tree with tests that lower what it lacks of requirements that no tree without a test satisfies.

    The same tree where it lacks nothing, or where one more test is no help; with some of them at the end of the time.
    """
    data = question.data
    rules = [one for one in question.requirements if one.demands_tests and "feature" in one.needs]
    if not rules or graph.values or not (question.shape.own_leaves and graph.is_plain_tree):
        return graph
    counted = [sums.per_test for one in rules if (sums := one.totals(data)) is not None and sums.per_test is not None]
    while lacking := sum(one.violation(graph, data) for one in rules):
        trees = (
            tree
            for features in by_source(data.columns, range(data.n_features)).values()
            if any(np.any(each[features]) for each in counted)
            for tree in _with_test(graph, data, features, question.shape.depth)
            if not budget.stop() and sum(one.violation(tree, data) for one in rules) < lacking
        )
        better = next(trees, None)
        if better is None:
            break
        graph = better
    return graph


def _with_test(graph: DecisionGraph, data: Dataset, features: list[int], depth: int) -> Iterator[DecisionGraph]:
    """The tree with a test of one of these features in place of a leaf, and of a test above two leaves."""
    at = graph.apply(data.X)
    level = levels(graph.feature, graph.left, graph.right)
    leaves = [int(v) for v in np.unique(at) if level[v] < depth]
    ends = graph.feature < 0
    above = [
        int(v) for v in np.flatnonzero(~ends) if ends[graph.left[v]] and ends[graph.right[v]] and level[v] < depth
    ]
    wrong = data.weights * (graph.predict_codes(data.X) != data.y)
    for nodes in (leaves, above):
        places = []
        for node in nodes:
            here = np.isin(at, (node, graph.left[node], graph.right[node]) if not ends[node] else (node,))
            found = min(_thresholds(data, here, features), default=None)
            if found is not None:
                places.append((found[0] - int(wrong[here].sum()), node, found))
        if places:
            _, node, (_, feature, threshold, labels) = min(places)
            yield _replaced(graph, data, node, feature, threshold, labels)


def _thresholds(
    data: Dataset, here: np.ndarray, features: list[int]
) -> Iterator[tuple[int, int, float, tuple[int, int]]]:
    """For each feature with two values among some rows: the fewest errors of one test, with threshold and labels."""
    for feature in features:
        x = data.X[here, feature]
        order = np.argsort(x, kind="stable")
        x = x[order]
        cuts = np.flatnonzero(x[1:] > x[:-1])
        if not len(cuts):
            continue
        weight = np.zeros((len(x), data.n_classes), dtype=np.int64)
        weight[np.arange(len(x)), data.y[here][order]] = data.weights[here][order]
        low = weight.cumsum(axis=0)
        high = low[-1] - low
        errors = int(low[-1].sum()) - low[cuts].max(axis=1) - high[cuts].max(axis=1)
        best = int(errors.argmin())
        cut = cuts[best]
        labels = int(low[cut].argmax()), int(high[cut].argmax())
        yield int(errors[best]), feature, midpoint(x[cut], x[cut + 1]), labels


def _replaced(
    graph: DecisionGraph, data: Dataset, node: int, feature: int, threshold: float, labels: tuple[int, int]
) -> DecisionGraph:
    """The tree with that test and two leaves in place of a node."""
    size = len(graph.feature)
    ends = {"feature": -1, "threshold": np.nan, "left": -1, "right": -1}
    old: dict[str, Any] = {name: getattr(graph, name) for name in (*ends, "label")}
    arrays: dict[str, Any] = {name: np.append(values, [ends.get(name, -1)] * 2) for name, values in old.items()}
    arrays["label"][size:] = labels
    test = {"feature": feature, "threshold": threshold, "left": size, "right": size + 1, "label": -1}
    for name, value in test.items():
        arrays[name][node] = value
    return normalised(DecisionGraph.from_arrays(**arrays, data=data), data, own_leaves=True)
