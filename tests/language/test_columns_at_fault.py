"""Requirements over tests that the search for deep trees does not know: what is at fault is left out of its trees."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.language.columns_at_fault import columns_at_fault, without_tests_at_fault
from treeform.language.question import Question
from treeform.solve.choice import Plan
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.stage.deep_trees import first_deep_trees
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget

PLAN = Plan(ContinuousTotals(), None, None, None, None, ())


def problem(depth: int, rows: int = 400, fair: bool = False) -> tf.Problem:
    """Labels that rise and fall with two columns, which a tree of few errors tests against their direction."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 6))
    wave = np.sin(2.5 * X[:, 0]) + np.sin(2.5 * X[:, 1])
    y = (wave + X[:, 2] * X[:, 3] + X[:, 4] > 0).astype(int)
    made = tf.Problem(X, y, shape=tf.Tree(depth))
    made += [tf.Monotone("x0"), tf.Monotone("x1", "decreasing")]
    if fair:
        made += tf.StatisticalParity(groups=np.arange(rows) % 2, difference="0.1", positive=1)
    return made


def with_missing_values() -> tf.Problem:
    """Some values of a column with a requirement are missing: no finite threshold is below or above all of them."""
    of = problem(6).question.data
    X = np.array(of.X)
    X[np.sin(2.5 * X[:, 0]) < -0.9, 0] = np.nan
    made = tf.Problem(X, of.y, shape=tf.Tree(6))
    return made.add([tf.Monotone("x0"), tf.Monotone("x1", "decreasing")])


def plain_tree(of: Question) -> tf.DecisionGraph:
    found = tf.Problem(of.data.X, of.data.y, shape=of.shape).solve(tf.DeepTreeSearch(work_limit=1)).graph
    return found.reclassified(of.data)


def test_the_columns_at_fault_are_those_with_a_requirement() -> None:
    of = problem(6).question
    graph = plain_tree(of)
    assert all(one.violation(graph, of.data) for one in of.requirements)
    found = columns_at_fault(of, graph, of.labels, Budget())
    assert found is not None and found[0] == frozenset({0, 1})
    assert found[1].features_used() and not found[1].features_used() & {0, 1}
    assert not any(one.violation(found[1], of.data) for one in of.requirements)
    first = columns_at_fault(of, graph, of.labels[:1], Budget())
    assert first is not None and first[0] == frozenset({0})


def test_a_column_with_a_requirement_is_at_fault_before_others_of_less_weight() -> None:
    rows = {(-1, -1): 6, (-1, 0): 1, (-1, 1): 4, (1, -1): 4, (1, 0): 1, (1, 1): 5}
    X = np.repeat(np.array(list(rows), dtype=float), list(rows.values()), axis=0)
    made = tf.Problem(X, (X[:, 1] > 0).astype(int), shape=tf.Tree(2))
    of = made.add(tf.Monotone("x0")).question
    arrays = {
        "feature": [0, 1, 1, -1, -1, -1, -1],
        "threshold": [0.0, 0.5, -0.5, *[np.nan] * 4],
        "left": [1, 3, 5, *[-1] * 4],
        "right": [2, 4, 6, *[-1] * 4],
        "label": [-1, -1, -1, 0, 1, 0, 1],
    }
    graph = tf.DecisionGraph.from_arrays(**arrays, data=of.data)
    found = columns_at_fault(of, graph, of.labels, Budget())
    assert found is not None and found[0] == frozenset({0})


def test_nothing_is_left_out_where_nothing_is_violated_or_no_column_helps() -> None:
    of = problem(6).question
    graph = plain_tree(of)
    assert columns_at_fault(of, graph, (), Budget()) is None
    alike = graph.with_labels(dict.fromkeys(np.flatnonzero(graph.feature < 0).tolist(), 0))
    assert columns_at_fault(of, alike, of.labels, Budget()) is None
    assert columns_at_fault(of, graph, of.labels, Budget().until(lambda: True)) is None
    used = problem(6)
    used += tf.Uses("x0")
    assert columns_at_fault(used.question, graph, used.question.labels, Budget()) is None


@pytest.mark.parametrize(
    "rule", [tf.OncePerPath(), tf.MaxThresholds("x2", 1), tf.MaxTestsPerPath(["x2", "x3"], 1)]
)
def test_fewer_tests_go_one_by_one_than_by_columns(rule: tf.Requirement) -> None:
    of = problem(6).question
    of = of.with_(requirements=(rule.bind(of.data),))
    plain = plain_tree(of)
    assert of.requirements[0].violation(plain, of.data)
    fewer = without_tests_at_fault(of, plain, of.labels, Budget())
    columns = columns_at_fault(of, plain, of.labels, Budget())
    assert fewer is not None and columns is not None
    for graph in (fewer, columns[1]):
        assert not of.requirements[0].violation(graph, of.data)
    assert fewer.n_nodes > columns[1].n_nodes
    assert fewer.depth <= 6 and without_tests_at_fault(of, fewer, of.labels, Budget()) is None


def test_missing_values() -> None:
    of = with_missing_values().question
    ledger = Ledger(of, Budget())
    constants(of, ledger)
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None and ledger.graph.depth > 3


@pytest.mark.parametrize("fair", [False, True], ids=["monotone", "with parity"])
def test_first_deep_trees_under_monotone_columns_are_better_than_the_best_small_tree(fair: bool) -> None:
    of = problem(6, fair=fair).question
    smaller = problem(2, fair=fair).solve()
    assert smaller.status is tf.Status.OPTIMAL and smaller.objective is not None
    ledger = Ledger(of, Budget())
    constants(of, ledger)
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None and ledger.judged is not None and ledger.judged.ok
    assert ledger.upper is not None and ledger.upper < 0.8 * smaller.objective * of.scale
    assert ledger.graph.depth > 3
