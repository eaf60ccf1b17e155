"""First models of diagrams under requirements: the best trees that fit the widths whatever their form."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import treeform as tf
from treeform.engines import TotalsSearch
from treeform.engines.relaxation import relax
from treeform.shape import Shape
from treeform.solve.choice import choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.result import SolveOptions
from treeform.solve.stage.engine_search import relaxed_search
from treeform.solve.stage.unrolled_trees import first_trees, most_that_fit, submit_fitting_trees
from treeform.utils.budget import Budget

FITTING = "totals-search, trees that fit the widths"


def layers_of_trees(depth: int) -> set[tuple[int, ...]]:
    """How many tests the layers of a tree can have."""
    found: set[tuple[int, ...]] = set()
    for counts in product(*(range(2**level + 1) for level in range(depth))):
        if all(below <= 2 * above for above, below in pairwise(counts)):
            found.add(counts)
    return found


@pytest.mark.parametrize(
    "widths", [(1,), (1, 1), (1, 2, 2), (1, 2, 3), (1, 2, 4), (1, 2, 2, 4), (1, 2, 4, 3), (1, 1, 2, 2)]
)
def test_as_many_tests_as_always_fit(widths: tuple[int, ...]) -> None:
    most = most_that_fit(tf.Diagram(*widths))
    trees = layers_of_trees(len(widths))
    too_wide = [sum(t) for t in trees if any(n > width for n, width in zip(t, widths, strict=True))]
    assert most == min([min(too_wide, default=10**9) - 1, sum(widths)])


def problem(shape: Shape) -> tf.Problem:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (120, 5)).astype(float)
    y = ((X[:, 0] + X[:, 1] + X[:, 2] > 1) ^ (rng.random(120) < 0.15)).astype(int)
    out = tf.Problem(
        X, y, shape=shape, sensitive_features=(rng.random(120) < 0.4 + 0.2 * X[:, 0]).astype(int)
    )
    out += tf.StatisticalParity(difference="0.1")
    return out


def test_the_best_small_fair_tree_is_a_first_model() -> None:
    """Its value is that of the best fair tree of so few tests, and no solver has run."""
    made = problem(tf.Diagram(1, 2, 2))
    small = problem(tf.Tree(3))
    small += tf.MaxNodes(most_that_fit(tf.Diagram(1, 2, 2)))
    expected = small.solve("totals-search")
    assert expected.status is tf.Status.OPTIMAL
    assert expected.graph is not None
    assert expected.graph.n_nodes > 2
    question, budget = made.question, Budget(250.0)
    ledger = Ledger(question, budget)
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None
    submit_fitting_trees(question, TotalsSearch(), relaxation, ledger, budget)
    assert ledger.upper is not None
    assert question.to_units(ledger.upper) == expected.errors
    assert ledger.lower is None
    assert {claim.by for claim in ledger.claims if claim.kind == "upper"} == {FITTING}


def test_they_are_submitted_on_the_way_to_a_diagram() -> None:
    question, budget = problem(tf.Diagram(1, 1, 2)).question, Budget(250.0)
    ledger = Ledger(question, budget)
    first_trees(Node(ledger, choose(question, SolveOptions())), budget)
    assert ledger.closed or any(claim.by == FITTING for claim in ledger.claims)
    assert ledger.graph is not None


def test_where_every_tree_fits_there_is_nothing_to_add() -> None:
    question, budget = problem(tf.Diagram(1, 2, 4)).question, Budget(250.0)
    ledger = Ledger(question, budget)
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None
    submit_fitting_trees(question, TotalsSearch(), relaxation, ledger, budget)
    assert ledger.upper is None


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_the_best_small_regression_tree_is_a_first_model(loss: str) -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(0, 6, (60, 3)).astype(float)
    y = X[:, 0] * 2 + (X[:, 1] > 2) * 3 + rng.integers(0, 3, 60)
    made = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2)).minimize(loss)
    small = tf.Problem(X, y, shape=tf.Tree(3)).minimize(loss) + tf.MaxNodes(5)
    ledger = Ledger(made.question, Budget(250.0))
    relaxed_search(Node(ledger, choose(made.question, SolveOptions())), Budget(250.0))
    assert ledger.upper is not None
    assert ledger.upper / made.question.scale == small.solve(tf.RegressionSearch()).objective
    assert ledger.graph is not None
    assert ledger.graph.n_nodes == 5
    assert ledger.lower is not None
    assert ledger.lower < ledger.upper
