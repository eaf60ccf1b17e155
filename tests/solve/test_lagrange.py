"""Lagrangian bounds and proofs of infeasibility against enumeration, on tiny problems of many kinds."""

from __future__ import annotations

import random
import sys
from fractions import Fraction

import numpy as np
import pytest

import treeform as tf
from treeform.catalogue.solvers import find_engine
from treeform.engines.relaxation import relax
from treeform.errors import DataError, SpecError
from treeform.graph.evaluate import weighted_errors
from treeform.solve import Budget, Ledger
from treeform.solve.choice import choose
from treeform.solve.engines import run_engine
from treeform.solve.lagrangian import Lagrangian, rows_of, tighten
from treeform.solve.node import Node
from treeform.solve.repair import cheapest_labels, narrowed, relabel
from treeform.solve.result import SolveOptions
from treeform.solve.stage.given_models import constants, floor_bound
from treeform.solve.stage.unrolled_trees import first_trees
from treeform.solve.verification import verify

RATIOS = [Fraction(4, 5), Fraction(1, 2), Fraction(1), Fraction(1, 3)]
DIFFERENCES = [Fraction(0), Fraction(1, 20), Fraction(1, 4)]


def problem_of(seed):
    rng = np.random.default_rng(seed)
    n, classes, groups = int(rng.integers(4, 12)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
    X = rng.integers(0, int(rng.integers(2, 4)), size=(n, int(rng.integers(1, 4)))).astype(float)
    y, group = rng.integers(0, classes, n), rng.integers(0, groups, n)
    weights = [None, rng.integers(1, 6, n), rng.integers(0, 4, n), np.round(rng.random(n) * 3 + 0.1, 1)]
    problem = tf.Problem(X, y, shape=tf.Tree(int(rng.integers(1, 3))), sample_weight=weights[seed % 4])
    present = problem.data.n_classes
    cost = tf.Cost(rng.integers(0, 5, (present, present)))
    objectives = [
        tf.Error(),
        tf.Error() + Fraction(1, 2) * tf.Nodes(),
        2 * tf.Error() + tf.Leaves() / 3,
        cost,
    ]
    problem.minimize(objectives[int(rng.integers(0, 4))])
    positive = int(rng.choice(problem.data.classes))
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.5:
            how = {"ratio": RATIOS[int(rng.integers(0, len(RATIOS)))]}
        else:
            how = {"difference": DIFFERENCES[int(rng.integers(0, len(DIFFERENCES)))]}
        problem += tf.StatisticalParity(groups=group, positive=positive, **how)
    if rng.random() < 0.4:
        problem += tf.MinSupport(int(rng.integers(1, 4)))
    if rng.random() < 0.3:
        problem += tf.MaxNodes(int(rng.integers(0, 3)))
    if rng.random() < 0.4:
        problem += tf.MaxErrors(float(np.round(rng.random() * 0.6, 2)))
    return problem


@pytest.mark.parametrize("block", range(4))
def test_no_bound_exceeds_the_optimum(block, draw):
    compared = 0
    for seed in draw(range(40 * block, 40 * (block + 1)), 18):
        try:
            problem = problem_of(seed)
        except (DataError, SpecError):  # one class or group only, or infeasible at sight
            continue
        question, engine = problem.question, find_engine("contree")
        best = tf.testing.brute_force(problem.data, problem.shape, problem.objective, problem.requirements)
        ledger = Ledger(question, Budget(30))
        ledger.prove_lower(floor_bound(question), "identical rows")
        constants(question, ledger)
        relaxation = relax(question, engine)
        outcome = run_engine(engine, relaxation, ledger, ledger.budget)
        tighten(question, engine, relaxation, outcome, ledger, ledger.budget)
        compared += 1
        if best is None:
            assert ledger.upper is None
            continue
        optimum = best[0] * question.scale
        assert not ledger.impossible, seed
        assert ledger.lower <= optimum, seed
        assert ledger.upper is None or ledger.upper >= optimum, seed
        _at_any_multipliers(question, engine, relaxation, optimum, seed)
    assert compared > 7


def _at_any_multipliers(question, engine, relaxation, optimum, seed):
    """L is a bound wherever it is evaluated, not only where the ascent ends."""
    rows, rng = rows_of(question, relaxation.dropped), random.Random(seed)
    if not rows:
        return
    dual = Lagrangian(question, engine, relaxation, rows)
    for _ in range(3):
        point = tuple(
            rng.choice([0, 1, 1]) * Fraction(rng.randrange(40), rng.choice([1, 7, 16])) for _ in rows
        )
        if dual.within_range(list(point)):
            bound, _, _ = dual.solve(point, Budget(30))
            assert bound <= optimum, (seed, point)


def test_leaves_are_relabelled_only_towards_something_better() -> None:
    # The tree without errors favours every third of group 0 and nobody of group 1.
    X = np.array([[0, 0]] * 6 + [[1, 0]] * 3 + [[0, 1]] * 6 + [[2, 1]] * 3)
    y, group = (X[:, 0] == 1).astype(int), X[:, 1]
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    perfect = problem.solve("contree").graph
    problem += tf.StatisticalParity(group, ratio=0.8, positive=1)
    question = problem.question
    found = relabel(question, perfect, Budget())
    assert verify(question, found).ok
    assert weighted_errors(found, question.data) > weighted_errors(perfect, question.data) == 0
    assert relabel(question, perfect, Budget(), better_than=perfect) is None
    assert relabel(question, perfect, Budget(), better_than=found) == found


def test_an_integer_program_is_not_loaded_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement on paths gives it none; the import takes longer than a small solve."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    problem = tf.Problem([[0.0], [1.0], [2.0]], [0, 1, 1], shape=tf.Tree(1)) + tf.Monotone("x0")
    none = np.zeros((2, 2), dtype=np.int64)
    assert cheapest_labels(problem.question, np.array([0, 1, 1]), 2, none, 0.0, Budget()) is None


def test_arcs_of_a_diagram_are_relabelled_one_by_one() -> None:
    """Its branches share two leaves, which no relabelling of leaves could make fair without giving up the tests."""
    X = np.array([[0, 0]] * 6 + [[1, 0]] * 3 + [[0, 1]] * 6 + [[2, 1]] * 3)
    y, group = (X[:, 0] == 1).astype(int), X[:, 1]
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2))
    perfect = problem.solve("diagram-search").graph
    assert perfect.n_leaves == 2
    problem += tf.StatisticalParity(group, ratio=0.8, positive=1)
    found = relabel(problem.question, perfect, Budget())
    assert verify(problem.question, found).ok
    assert weighted_errors(found, problem.data) == 3


def test_a_tree_is_pruned_to_the_widths_of_a_diagram() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 6, (80, 3)), rng.integers(0, 2, 80)
    tree = tf.Problem(X, y, shape=tf.Tree(3)).solve("contree").graph
    assert tree.n_nodes == 7
    narrow = tf.Problem(X, y, shape=tf.Diagram(1, 2, 3)).question
    pruned = narrowed(tree, narrow)
    assert verify(narrow, pruned).ok
    assert pruned.n_nodes == 6
    assert weighted_errors(pruned, narrow.data) >= weighted_errors(tree, narrow.data)
    wide = tf.Problem(X, y, shape=tf.Diagram(1, 2, 4)).question
    assert narrowed(tree, wide) is tree
    assert narrowed(tree, narrow.with_(shape=tf.Diagram(1, 1, 1))).n_nodes <= 3


def test_a_fair_diagram_is_no_worse_than_a_fair_tree_in_it() -> None:
    rng = np.random.default_rng(6)
    X, group = rng.integers(0, 5, (150, 4)), rng.integers(0, 2, 150)
    y = ((X[:, 0] + X[:, 1] + 2 * group + rng.integers(0, 3, 150)) > 6).astype(int)
    X = np.column_stack([X, group])
    found = {}
    for shape in (tf.Tree(2), tf.Diagram(1, 2)):
        problem = tf.Problem(X, y, shape=shape)
        problem += tf.StatisticalParity(group, ratio=0.8, positive=1)
        ledger, budget = Ledger(problem.question, Budget(10)), Budget(10)
        constants(problem.question, ledger)
        first_trees(Node(ledger, choose(problem.question, SolveOptions())), budget)
        found[str(shape)] = weighted_errors(ledger.graph, problem.data)
    assert len(set(found.values())) == 1
