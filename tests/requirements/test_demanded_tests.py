"""Requirements that ask for tests: pass-throughs count, tests that nothing reaches do not."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from asking_for_tests import AtLeastTests
from layered_reference import random_data

import treeform as tf
from treeform.errors import SpecError
from treeform.testing import brute_force


class ReadTwice(tf.Requirement):
    """Two tests read the first column."""

    name: ClassVar[str] = "read_twice_here"
    needs = frozenset({"feature"})

    def build(self, model, ports) -> None:
        model.add(ports.feature[:, 0].sum() >= 2)

    def violation(self, graph, data) -> int:
        return max(0, 2 - sum(0 in test.columns for test in graph.tests()))


WAYS = [("sat-depth", "cadical195"), ("odd", "cp-sat"), ("odd-paper", "highs")]
ASKED = [AtLeastTests(2), AtLeastTests(3), ReadTwice()]


@pytest.mark.drawn(5)
@pytest.mark.parametrize("requirement", ASKED, ids=str)
@pytest.mark.parametrize(("formulation", "solver"), WAYS)
def test_trees_against_enumeration(formulation: str, solver: str, requirement: tf.Requirement) -> None:
    for seed in (0, 1, 2):
        data = random_data(seed, n=6)
        problem = tf.Problem(data, None, shape=tf.Tree(2))
        problem += requirement
        expected = brute_force(data, problem.shape, "error", [requirement])
        result = problem.solve(solver, formulation=formulation, warm_start=None)
        if expected is None:
            assert str(result.status) == "infeasible"
        else:
            assert (result.objective, str(result.status)) == (expected[0], "optimal")
            assert not any(result.violations.values())


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize(("formulation", "solver"), WAYS[1:])
def test_diagrams_against_enumeration(formulation: str, solver: str, k: int) -> None:
    data = random_data(3, n=4)
    problem = tf.Problem(data, None, shape=tf.Diagram(1, 1, 2))
    problem += AtLeastTests(k)
    expected = brute_force(data, problem.shape, "error", [AtLeastTests(k)])
    result = problem.solve(solver, formulation=formulation, warm_start=None)
    if expected is None:
        assert str(result.status) == "infeasible"
    else:
        assert (result.objective, str(result.status)) == (expected[0], "optimal")


def test_seven_tests_for_four_rows() -> None:
    # Three tests tell four rows apart, and each of the leaves can be moved down by a pass-through.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    for formulation, solver in WAYS[:2]:
        problem = tf.Problem(X, [0, 1, 1, 0], shape=tf.Tree(3))
        problem += AtLeastTests(7)
        result = problem.solve(solver, formulation=formulation, warm_start=None)
        assert (result.objective, result.graph.n_nodes, int(result.graph.passes.sum())) == (0, 7, 4)
        problem += AtLeastTests(8)
        assert str(problem.solve(solver, formulation=formulation, warm_start=None).status) == "infeasible"


def test_who_counts_tests_by_leaves_refuses() -> None:
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(2)).minimize(tf.Nodes())
    problem += [tf.MaxErrors(0), AtLeastTests(2)]
    with pytest.raises(SpecError, match="sat-size cannot state at_least_tests:k=2"):
        problem.solve("cadical195", formulation="sat-size", warm_start=tf.DecisionGraph.leaf(0, problem.data))


@pytest.mark.parametrize("formulation", ["odd", "odd-paper"])
def test_a_test_above_two_leaves_of_one_class_meets_a_demand(formulation: str) -> None:
    """In a tree each arc has a leaf of its own, so the two sides may predict one class."""
    problem = tf.Problem(pd.DataFrame({"a": [0, 1]}), [1, 0], shape=tf.Tree(1))
    problem.minimize(tf.Cost([[5, "1/2"], [2, 0]]) + tf.Error())
    problem += [AtLeastTests(1), tf.MinSupport(fraction="0.3")]
    result = problem.solve("highs", formulation=formulation)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, Fraction(3, 2))
