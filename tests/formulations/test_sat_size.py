"""SatSize: the fewest tests at the least depth, against brute force; the counter of labelled leaves."""

from __future__ import annotations

from functools import cache
from itertools import islice, product

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.backends import Run, Verdict
from treeform.errors import SpecError
from treeform.formulations.sat import LabelledLeaves, LeafClasses, SatDepth, SatSize, contradictory_rows
from treeform.language.objective import Objective
from treeform.testing import all_models, draw_cases


@cache
def consistent_cases(count):
    cases = draw_cases(80, seed=9, shapes=(tf.Tree(2),))
    return list(islice((case for case in cases if not contradictory_rows(case.data)), count))


@cache
def consistent_trees(number):
    """All trees without errors for one of the cases."""
    case = consistent_cases(6)[number]
    models = all_models(case.data, case.shape)
    return [graph for graph in models if (graph.predict_codes(case.data.X) == case.data.y).all()]


@pytest.mark.parametrize("solver", ["glucose42", "cp-sat"])
def test_fewest_tests_are_those_of_brute_force(solver):
    for number, case in enumerate(consistent_cases(4)):
        expected = min((graph.n_nodes for graph in consistent_trees(number)), default=None)
        problem = tf.Problem(case.data, None, shape=case.shape).minimize(tf.Nodes()).add(tf.MaxErrors(0))
        result = problem.solve(solver, formulation=SatSize(counterexamples=2), warm_start=None)
        if expected is None:
            assert str(result.status) == "infeasible", case.code()
        else:
            assert (str(result.status), result.objective) == ("optimal", expected), case.code()


def test_depth_first_then_size():
    for number, case in enumerate(consistent_cases(4)):
        trees = sorted((graph.depth, graph.n_nodes) for graph in consistent_trees(number))
        problem = tf.Problem(case.data, None, shape=case.shape).minimize(tf.Depth()).add(tf.MaxErrors(0))
        result = problem.solve("glucose42", formulation=SatSize(), warm_start=None)
        if trees:
            assert str(result.status) == "optimal"
            assert (result.graph.depth, result.graph.n_nodes) == trees[0], case.code()
            assert f"nodes at depth {trees[0][0]}: {trees[0][1]}" in result.notes
        else:
            assert str(result.status) == "infeasible", case.code()


def test_sizes_agree_with_unused_nodes_at_depth_three():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.integers(0, 2, (14, 5)), columns=list("abcde")).drop_duplicates()
    y = (X["a"] & X["b"]) | (X["c"] & ~X["d"] & 1)
    sizes = {}
    for formulation in (SatDepth(), SatSize()):
        problem = tf.Problem(X, y, shape=tf.Tree(4)).minimize(tf.Nodes()).add(tf.MaxErrors(0))
        result = problem.solve("glucose42", formulation=formulation, warm_start=None)
        assert str(result.status) == "optimal"
        sizes[formulation.name] = result.objective
    assert len(set(sizes.values())) == 1, sizes


def test_mouse_has_fifteen_nodes(benchmark_data):
    X, y = benchmark_data("sat/mouse-onehot")
    problem = tf.Problem(X, y, shape=tf.Tree(8)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    result = problem.solve(tf.SAT("glucose42"), formulation=SatSize(), warm_start=None)
    assert (str(result.status), result.objective) == ("optimal", 4)
    assert 2 * result.graph.n_nodes + 1 == 15  # the paper counts leaves too
    assert "nodes at depth 4: 7" in result.notes


def test_one_formula_answers_for_every_size():
    X = list(product((0, 1), repeat=3))
    y = [a ^ b for a, b, _ in X]
    data = tf.Dataset.from_user(X, y)
    formulation = SatSize()
    compiled = formulation.compile(data, tf.Tree(2), Objective.of(tf.Nodes()), [tf.MaxErrors(0)])
    session = tf.SAT("glucose42").open(compiled.model)
    blocks = len(compiled.model.blocks)
    for tests, verdict in ((2, False), (3, True), (1, False), (99, True)):
        while True:
            run = Run(assumptions=[formulation.at_most(compiled, tests)])
            outcome = session.solve(run)
            if outcome.x is None or not formulation.refine(compiled, formulation.decode(compiled, outcome.x)):
                break
            session.extend()
        assert (outcome.verdict is not Verdict.INFEASIBLE) == verdict
    assert not any("at most" in block.name for block in compiled.model.blocks[blocks:])
    session.close()


def test_every_consistent_tree_has_a_point():
    number = next(number for number in range(6) if consistent_trees(number))
    case = consistent_cases(6)[number]
    formulation = SatSize()
    compiled = formulation.compile(case.data, case.shape, Objective.of(tf.Nodes()), [tf.MaxErrors(0)])
    formulation.refine(compiled, tf.DecisionGraph.leaf(0, case.data))
    for graph in consistent_trees(number):
        if graph != graph.simplified(case.data):
            continue
        point = formulation.encode(compiled, graph)
        assert not any(compiled.model.check(point).values())
        assert compiled.objective_expr.value(point) == graph.n_nodes


def test_errors_are_not_for_this_formulation():
    data = tf.Dataset.from_user([[1], [2], [3]], [0, 1, 0])
    with pytest.raises(SpecError, match="not error"):
        tf.Problem(data, None, shape=tf.Tree(2)).solve(tf.SAT(), formulation=SatSize())
    with pytest.raises(SpecError, match="without training errors"):
        SatSize().compile(data, tf.Tree(2), Objective.of(tf.Nodes()), [])


def test_it_is_the_sum_of_its_components():
    assert SatDepth().replace(LeafClasses, LeafClasses(unlabelled=True)).components == (
        (SatSize() - LabelledLeaves).components
    )
