"""Minimal cost-complexity pruning, and models that are given to start from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeform as tf
from treeform.engines.pruning import prunings


def test_squared_errors_are_pruned_as_scikit_learn_prunes():
    X, y = make_regression(120, 3, random_state=1, noise=3)
    y = np.round(y, 1)
    problem = tf.Problem(X, y, shape="tree:4").minimize(tf.SquaredError())
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    found = prunings(problem.question, tf.DecisionGraph.from_sklearn(tree, problem.data))
    path = tree.cost_complexity_pruning_path(X, y)
    assert [float(one.price) / len(y) for one in found] == pytest.approx(path.ccp_alphas.tolist(), rel=1e-6)
    value = [float(problem.objective.evaluate(one.graph, problem.data)) / len(y) for one in found]
    assert value == pytest.approx(path.impurities.tolist(), rel=1e-6)


def _all_prunings(graph, node=0):
    """Sets of nodes that may become leaves."""
    yield frozenset([node])
    if graph.feature[node] >= 0:
        for left in _all_prunings(graph, graph.left[node]):
            for right in _all_prunings(graph, graph.right[node]):
                yield left | right


@pytest.mark.parametrize("seed", range(4))
def test_each_tree_is_the_best_pruning_at_its_price(seed):
    sizes = {"n_informative": 3, "n_redundant": 0, "n_classes": 3, "n_clusters_per_class": 1}
    X, y = make_classification(80, 4, **sizes, random_state=seed)
    cost = tf.Cost([[0, 2, 1], [3, 0, 1], [1, 1, 0]])
    problem = tf.Problem(X, y, shape="tree:3").minimize(cost)
    tree = tf.DecisionGraph.from_sklearn(
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), problem.data
    )
    matrix = np.array([[0, 2, 1], [3, 0, 1], [1, 1, 0]])
    reached = tree.route(problem.data.X)

    def value(leaves, price):
        total = Fraction(0)
        for node in leaves:
            each = matrix[problem.data.y[reached[:, node]]].sum(axis=0)
            total += int(each[tree.label[node]] if tree.feature[node] < 0 else each.min())
        return total + price * (len(leaves) - 1)

    sets = list(_all_prunings(tree))
    found = prunings(problem.question, tree)
    assert [one.graph.n_nodes for one in found] == sorted((one.graph.n_nodes for one in found), reverse=True)
    for at, one in enumerate(found):
        above = found[at + 1].price if at + 1 < len(found) else one.price + 5
        for price in (one.price, (one.price + above) / 2):
            mine = cost.evaluate(one.graph, problem.data) + price * one.graph.n_nodes
            assert mine == min(value(leaves, price) for leaves in sets)


def _late():
    """A progress callback that stops the solve once the given model is in."""

    def stop(progress):
        if progress.upper is not None:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize(
    ("depth", "requirements"),
    [(6, []), (3, []), (3, [tf.MinSupport(30)]), (2, [tf.MaxNodes(2)]), (3, [tf.NoTestOn("x0")])],
)
def test_a_tree_of_scikit_learn_is_made_admissible(depth, requirements):
    X, y = make_classification(400, 6, n_informative=4, random_state=1)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += requirements
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    result = problem.solve(warm_start=tree, time_limit=0.2)
    own = [claim for claim in result.claims if claim.by == "the given warm start"]
    assert not any(result.violations.values()) and result.graph.depth <= depth
    whole = tf.DecisionGraph.from_sklearn(tree, problem.data)
    cut = min(
        value
        for one in prunings(problem.question, whole, depth)
        if not any((judged := problem.judge(one.graph)).violations.values())
        for value in [judged.objective]
    )
    assert result.objective <= cut
    assert own or result.objective <= cut


def test_models_in_any_form_are_read():
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=2)
    problem = tf.Problem(X, y, shape="tree:2")
    fitted = tf.OptimalTreeClassifier(2).fit(X, y)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    for model in (fitted, fitted.graph_, fitted.graph_.to_dict(), tree):
        assert problem.judge(model).errors >= problem.solve(warm_start=model).errors == fitted.result_.errors
