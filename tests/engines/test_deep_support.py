"""The search for deep trees under a minimum support that is a large part of the rows of a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from treeform import _core
from treeform.data import Dataset
from treeform.engines import DeepTreeSearch, EngineRun, TreeTask

ROWS, COLUMNS, DEPTH = 3_000, 8, 5
LIMIT = 2


def table(classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(ROWS, COLUMNS))
    score = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.7 * rng.normal(size=ROWS)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)).astype(np.int32)


def first_trees(X: Any, y: Any, classes: int, support: int) -> int:
    """The elements that are read for them."""
    found = _core.contree(
        X, y, None, None, classes=classes, depth=DEPTH, max_nodes=2**60, min_support=support, node_penalty=0,
        upper=None, gap=0, prune=["neighbourhood", "shrinking", "subinterval", "features"], threads=1, simd="auto",
        memory_limit=0, improve=True, prove=False, seed=0, work_limit=1, time_limit=250.0, poll=None,
        ask=None, callers=1, ahead=32,
    )  # fmt: skip
    return int(found["work"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("support", [50, 150, 400])
def test_first_trees_take_little_more_work_under_a_support(classes: int, support: int) -> None:
    X, y = table(classes)
    assert first_trees(X, y, classes, support) < LIMIT * first_trees(X, y, classes, 0)


@pytest.mark.parametrize("support", [200, 400, 800])
def test_a_tree_that_need_not_be_the_best_does_not_take_a_split_for_each_row(support: int) -> None:
    """Some nodes have no good cut under the support. Proofs there made it three to six times the work without one."""
    X, y = make_classification(
        n_samples=20_000, n_features=8, n_informative=4, flip_y=0.1, random_state=0
    )
    assert first_trees(X, y.astype(np.int32), 2, support) < LIMIT * first_trees(X, y.astype(np.int32), 2, 0)


@pytest.mark.parametrize("support", [50, 150, 400])
def test_first_trees_under_a_support(support: int) -> None:
    """They keep it, and have no more errors than CART's tree that keeps it, too."""
    X, y = table(3)
    found = DeepTreeSearch(work_limit=1).run(
        Dataset.from_user(X, y), TreeTask(depth=DEPTH, min_support=support), EngineRun()
    )
    cart = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=support, random_state=0).fit(X, y)
    assert found.graph is not None
    assert found.upper == int((found.graph.predict(X) != y).sum()) <= int((cart.predict(X) != y).sum())
    assert np.bincount(found.graph.apply(X))[found.graph.feature < 0].min() >= support
