"""Which given models an engine begins with: exactly those that its task admits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.engines.native_call import admissible_diagram, cost_of_admissible_tree
from treeform.engines.task import TreeTask

X = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
Y = ((X[:, 0] > 1) ^ (X[:, 1] > 1)).astype(int)
DATA = Dataset.from_user(X, Y)


def model(nested: Any) -> tf.DecisionGraph:
    return tf.DecisionGraph.from_nested(nested, DATA)


STUMP = model((0, 1.5, 0, 1))
FULL = model((0, 1.5, (1, 1.5, 0, 1), (1, 1.5, 1, 0)))
CHAIN = model((0, 0.5, 0, (0, 1.5, 1, (0, 2.5, 0, 1))))


@pytest.mark.parametrize(("graph", "tests", "cost"), [(STUMP, 1, 8), (FULL, 3, 0)])
def test_as_many_tests_as_the_task_allows_and_not_one_more(
    graph: tf.DecisionGraph, tests: int, cost: int
) -> None:
    assert graph.n_nodes == tests
    for price in (0, 2):
        assert cost_of_admissible_tree(graph, DATA, TreeTask(2, max_nodes=tests, node_penalty=price)) == (
            cost + price * tests
        )
    assert cost_of_admissible_tree(graph, DATA, TreeTask(2, max_nodes=tests - 1)) is None
    found = admissible_diagram(graph, DATA, TreeTask(2, max_nodes=tests))
    assert found is not None and (found.tests, found.cost) == (tests, cost)
    assert admissible_diagram(graph, DATA, TreeTask(2, max_nodes=tests - 1)) is None


@pytest.mark.parametrize(
    ("graph", "widths", "fits"),
    [
        (FULL, (1, 2), True),
        (FULL, (1, 1), False),
        (FULL, (1,), False),
        (FULL, (1, 2, 1), True),
        (STUMP, (1,), True),
        (STUMP, (1, 1), True),
        (CHAIN, (1, 1, 1), True),
        (CHAIN, (1, 1), False),
        (CHAIN, (1, 2, 2), True),
    ],
)
def test_layers_as_wide_as_the_task_allows_and_no_wider(
    graph: tf.DecisionGraph, widths: tuple[int, ...], fits: bool
) -> None:
    assert (admissible_diagram(graph, DATA, TreeTask(len(widths), widths=widths)) is not None) == fits


def test_a_tree_is_as_deep_as_the_task_allows_and_no_deeper() -> None:
    for graph, depth in ((STUMP, 1), (FULL, 2), (CHAIN, 3)):
        assert cost_of_admissible_tree(graph, DATA, TreeTask(depth)) is not None
        assert admissible_diagram(graph, DATA, TreeTask(depth)) is not None
        assert cost_of_admissible_tree(graph, DATA, TreeTask(depth - 1)) is None
        assert admissible_diagram(graph, DATA, TreeTask(depth - 1)) is None


def test_supports_and_flows_are_met_exactly() -> None:
    for support, fits in ((4, True), (5, False)):
        assert (cost_of_admissible_tree(FULL, DATA, TreeTask(2, min_support=support)) is not None) == fits
        assert (admissible_diagram(FULL, DATA, TreeTask(2, min_support=support)) is not None) == fits
    for flow, fits in ((8, True), (9, False)):
        assert (admissible_diagram(FULL, DATA, TreeTask(2, min_flow=flow)) is not None) == fits
    constant = model(0)
    for support, fits in ((16, True), (17, False)):
        assert (cost_of_admissible_tree(constant, DATA, TreeTask(1, min_support=support)) is not None) == fits
        assert (admissible_diagram(constant, DATA, TreeTask(1, min_support=support)) is not None) == fits
