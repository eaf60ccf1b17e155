"""Deep trees under `tf.Monotone`: labels by program, a search that knows which labels clash, and `tf.Fix`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.language.question import Question
from treeform.solve.choice import Plan
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.repair import relabel
from treeform.solve.stage.deep_trees import first_deep_trees
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget

PLAN = Plan(ContinuousTotals(), None, None, None, None, ())
RULES = tf.Monotone("x0", "increasing"), tf.Monotone("x1", "decreasing")


@pytest.fixture(autouse=True)
def programs_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is."""
    monkeypatch.setattr("treeform.solve.repair.SECONDS", 600.0)


def problem(rows: int, seed: int, depth: int, *more: Any) -> tf.Problem:
    """A table whose labels rise with the first column, for the most part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    y = ((X[:, 0] - 0.5 * X[:, 1] + X[:, 2] * X[:, 3] > 0) ^ (rng.random(rows) < 0.1)).astype(int)
    out = tf.Problem(X, y, shape=tf.Tree(depth))
    out += [*RULES, *more]
    return out


def plain_tree(of: Question) -> tf.DecisionGraph:
    """A deep tree that does not know the requirements."""
    free = tf.Problem(of.data.X, of.data.y, shape=of.shape).solve(tf.DeepTreeSearch(work_limit=1)).graph
    assert free is not None
    return free.reclassified(of.data)


def errors(graph: tf.DecisionGraph, of: Question) -> int:
    return int((graph.predict_codes(of.data.X) != of.data.y).sum())


def least_errors(graph: tf.DecisionGraph, of: Question) -> int:
    """Of all labels without a clash: by the set of labels below each node."""
    arrived = graph.route(of.data.X)
    lower = {0: 1, 1: 0}  # by the feature, the label that is on the lower side alone if the other one is above

    def below(node: int) -> dict[int, int]:
        if graph.feature[node] < 0:
            here = of.data.y[arrived[:, node]]
            return {1 << label: int((here != label).sum()) for label in (0, 1)}
        out: dict[int, int] = {}
        for low, a in below(int(graph.left[node])).items():
            for high, b in below(int(graph.right[node])).items():
                bad = lower.get(int(graph.feature[node]))
                if bad is None or not (low >> bad & 1 and high >> (1 - bad) & 1):
                    out[low | high] = min(a + b, out.get(low | high, a + b))
        return out

    return min(below(0).values())


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_the_best_ones(seed: int) -> None:
    of = problem(500, seed, 5).question
    graph = plain_tree(of)
    assert graph.n_leaves > 12 and any(one.violation(graph, of.data) for one in of.requirements)
    repaired = relabel(of, graph, Budget())
    assert repaired is not None and not any(one.violation(repaired, of.data) for one in of.requirements)
    assert errors(repaired, of) == least_errors(graph, of)


def test_labels_that_are_fair_and_do_not_clash() -> None:
    group = np.arange(500) % 2
    of = problem(500, 3, 5, tf.StatisticalParity(groups=group, difference="0.01", positive=1)).question
    repaired = relabel(of, plain_tree(of), Budget())
    assert repaired is not None and not any(one.violation(repaired, of.data) for one in of.requirements)


def test_first_trees_test_the_columns_that_are_required_to_act_monotonically() -> None:
    of = problem(600, 4, 5).question
    ledger = Ledger(of, Budget())
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None and ledger.judged is not None and ledger.judged.ok
    assert ledger.graph.depth > 3 and ledger.graph.features_used() & {0, 1}
    assert errors(ledger.graph, of) <= least_errors(plain_tree(of), of)


@pytest.mark.parametrize("labels", [(0, 1, 1), (1, 0, 0)], ids=["admissible", "other labels needed"])
def test_the_given_tests_alone_are_a_model(labels: tuple[int, int, int]) -> None:
    """The classes at the leaves that are given do not matter."""
    low, middle, high = labels
    data = problem(600, 5, 2).data
    given = tf.DecisionGraph.from_nested((0, 0.0, (2, 0.0, low, middle), high), data)
    of = problem(600, 5, 6, tf.MinSupport(20), tf.Fix(given)).question
    clashes = any(one.violation(given, of.data) for one in of.requirements)
    assert clashes is (labels == (1, 0, 0))
    ledger = Ledger(of, Budget())
    constants(of, ledger)
    assert ledger.graph is not None and ledger.judged is not None and ledger.judged.ok
    assert errors(ledger.graph, of) <= errors(given, of) or clashes
