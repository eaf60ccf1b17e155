"""SatDepth: clauses against the paper's recursive algorithms, lazy examples, the search over depths, bad input."""

from __future__ import annotations

import copy
import pickle
import time
from functools import cache
from itertools import islice, product

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.backends import Run, Verdict
from treeform.catalogue.solvers import find_formulation
from treeform.errors import Infeasible, PortError, SpecError
from treeform.formulations.sat import ExamplePaths, LeafClasses, NodeFeatures, SatDepth, contradictory_rows
from treeform.formulations.sat.clauses import (
    equal_and,
    expected_per_example,
    leaf_clauses,
    left_when_unused,
    same_class_clauses,
    split_clauses,
)
from treeform.formulations.sat.examples import distances, first_examples, nearest
from treeform.formulations.sat.formula import Formula
from treeform.language.objective import Objective
from treeform.testing import all_models, brute_force, draw_cases


def clause_set(rows):
    return {frozenset(int(v) for v in row if v) for row in rows}


# -- clauses -------------------------------------------------------------------------------------------


def algorithm_1(example, x, f, depth, clause=(), q=1, level=0):
    """The paper's recursion, one clause at a time."""
    if level == depth:
        return set()
    out = set()
    for j, value in enumerate(example):
        turn = x[level] if value else -x[level]
        out.add(frozenset((*clause, turn, -f(q, j))))
    out |= algorithm_1(example, x, f, depth, (*clause, -x[level]), 2 * q + 1, level + 1)
    return out | algorithm_1(example, x, f, depth, (*clause, x[level]), 2 * q, level + 1)


def algorithm_2(label, x, c, depth, clause=(), q=0, level=0):
    if level == depth:
        return {frozenset((*clause, c(q, label)))}
    low = algorithm_2(label, x, c, depth, (*clause, x[level]), 2 * q, level + 1)
    return low | algorithm_2(label, x, c, depth, (*clause, -x[level]), 2 * q + 1, level + 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_bulk_clauses_are_those_of_the_papers_algorithms(depth):
    rng = np.random.default_rng(depth)
    n, m, classes = 4, 3, 3
    right = rng.random((n, m)) < 0.5
    path = 1000 + np.arange(n * depth).reshape(n, depth)
    features = 1 + np.arange((2**depth - 1) * m).reshape(-1, m)
    leaves = 2000 + np.arange(2**depth * classes).reshape(-1, classes)
    truth = rng.integers(0, classes, n)

    bulk = [
        split_clauses(path, features[2**level - 1 : 2 ** (level + 1) - 1], right, level)
        for level in range(depth)
    ]
    expected = set().union(
        *(
            algorithm_1(right[i], path[i].tolist(), lambda q, j: int(features[q - 1, j]), depth)
            for i in range(n)
        )
    )
    assert set().union(*map(clause_set, bulk)) == expected

    expected = set().union(
        *(algorithm_2(truth[i], path[i].tolist(), lambda v, a: int(leaves[v, a]), depth) for i in range(n))
    )
    assert clause_set(leaf_clauses(path, leaves[:, truth].T)) == expected
    per_example = sum(map(len, bulk)) // n
    assert per_example == (2**depth - 1) * m < expected_per_example(depth, m, classes)


def truth_table(rows, variables):
    """The points over ``variables`` that satisfy clauses."""
    good = set()
    for values in product((False, True), repeat=len(variables)):
        held = dict(zip(variables, values, strict=True))
        if all(any(held[abs(v)] == (v > 0) for v in row if v) for row in rows):
            good.add(values)
    return good


def test_definitions():
    rows = [r for part in equal_and(np.array([1]), np.array([2]), np.array([-3])) for r in part.tolist()]
    assert truth_table(rows, [1, 2, 3]) == {
        v for v in product((False, True), repeat=3) if v[0] == (v[1] and not v[2])
    }


def test_what_is_predicted_is_the_class_of_the_leaf():
    path, leaf, predicted = np.array([[1, 2]]), np.array([3, 4, 5, 6]), np.array([7])
    rows = same_class_clauses(path, leaf, predicted).tolist()
    good = truth_table(rows, range(1, 8))
    assert good == {v for v in product((False, True), repeat=7) if v[6] == v[2 + 2 * v[0] + v[1]]}


def test_unused_nodes_send_left():
    rows = [
        r
        for level in (0, 1)
        for r in left_when_unused(np.array([[1, 2]]), [[3], [4, 5]][level], level).tolist()
    ]

    def allowed(v):
        used = v[2], v[3 + v[0]]
        return (used[0] or not v[0]) and (used[1] or not v[1])

    assert truth_table(rows, range(1, 6)) == {v for v in product((False, True), repeat=5) if allowed(v)}


def test_clauses_are_generated_fast(timed):
    rng = np.random.default_rng(0)
    right = rng.random((200, 21)) < 0.5
    path = 1 + np.arange(200 * 8).reshape(200, 8)
    features = 10_000 + np.arange(255 * 21).reshape(255, 21)
    start, made = time.process_time(), 0
    for level in range(8):
        made += len(split_clauses(path, features[2**level - 1 : 2 ** (level + 1) - 1], right, level))
    assert made == 200 * 255 * 21
    timed(time.process_time() - start, made / 1e6)


# -- examples ------------------------------------------------------------------------------------------


def test_nearest_examples_come_first():
    right = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    truth = np.array([0, 1, 1, 1])
    assert distances(right, np.array([0]), np.arange(4)).tolist() == [[0, 1, 4, 2]]
    assert nearest(right, truth, np.array([1, 2, 3]), np.array([0]), 2).tolist() == [1, 3]
    assert nearest(right, truth, np.array([2, 3]), np.array([1]), 5).tolist() == [2, 3]
    assert sorted(first_examples(right, truth, 1).tolist()) == [0, 1, 3]


def test_contradictory_rows_are_named():
    data = tf.Dataset.from_user([[1], [2], [1], [2], [3]], [0, 1, 1, 1, 0], [1, 1, 1, 0, 1])
    assert contradictory_rows(data) == [[0, 2]]
    assert contradictory_rows(tf.Dataset.from_user([[1], [2]], [0, 1])) == []


def test_no_tree_without_errors_for_contradictory_rows():
    class NoErrors(tf.Requirement):
        """Promises what it does not check."""

        name = "no_errors_in_test_sat"

        def build(self, model, ports):
            pass

        def violation(self, graph, data):
            return int((graph.predict_codes(data.X) != data.y).sum())

        def limits(self, data):
            return tf.Limits(max_errors=0)

    data = tf.Dataset.from_user([[1], [2], [1]], ["a", "b", "b"])
    with pytest.raises(Infeasible, match="rows 0, 2"):
        SatDepth().compile(data, tf.Tree(1), Objective(()), [NoErrors()])


# -- minimum depth --------------------------------------------------------------------------------------


@cache
def consistent_cases(count):
    cases = draw_cases(60, seed=5, shapes=(tf.Tree(2),))
    return list(islice((case for case in cases if not contradictory_rows(case.data)), count))


@cache
def least_depths():
    """Of trees without errors, by enumeration."""
    no_errors = [tf.MaxErrors(0)]
    return [brute_force(case.data, tf.Tree(2), tf.Depth(), no_errors) for case in consistent_cases(8)]


@pytest.mark.parametrize(
    "formulation",
    [
        SatDepth(NodeFeatures("pairwise") + ExamplePaths(start=1) + LeafClasses(), choice="first"),
        SatDepth(NodeFeatures(tests="ordered") + ExamplePaths(start=1) + LeafClasses(), counterexamples=2),
        SatDepth(NodeFeatures("auto", tests="each") + ExamplePaths() + LeafClasses()),
    ],
)
def test_least_depth_is_that_of_brute_force(formulation):
    for case, least in zip(consistent_cases(8), least_depths(), strict=True):
        problem = tf.Problem(case.data, None, shape=tf.Tree(2)).minimize(tf.Depth()).add(tf.MaxErrors(0))
        result = problem.solve(tf.SAT(), formulation=formulation, warm_start=None)
        if least is not None:
            assert (str(result.status), result.objective) == ("optimal", least[0]), case.code()
        else:
            assert str(result.status) == "infeasible", case.code()


def test_mouse_needs_depth_four(benchmark_data):
    X, y = benchmark_data("sat/mouse-onehot")
    problem = tf.Problem(X, y, shape=tf.Tree(8)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    for solver in ("glucose42", "minisat22", "cadical195"):
        result = problem.solve(tf.SAT(solver), formulation=SatDepth(), warm_start=None)
        assert (str(result.status), result.objective, result.bound, result.errors) == ("optimal", 4, 4, 0)
        assert result.graph.depth == 4


def test_few_examples_are_enough(benchmark_data):
    X, y = benchmark_data("sat/mouse-onehot")
    data = tf.Dataset.from_user(X, y)
    formulation = SatDepth()
    session = None
    compiled = formulation.compile(data, tf.Tree(4), Objective(()), [tf.MaxErrors(0)])
    session = tf.SAT("glucose42").open(compiled.model)
    while True:
        outcome = session.solve(Run())
        graph = formulation.decode(compiled, outcome.x)
        if not formulation.refine(compiled, graph):
            break
        session.extend()
    session.close()
    assert tf.graph.evaluate.errors(graph, data) == 0
    assert len(compiled.shared.get(Formula).inside) < data.points.n_points
    # What mattered is there at once the next time, at any depth.
    again = formulation.compile(data, tf.Tree(3), Objective(()), [tf.MaxErrors(0)])
    assert set(compiled.shared.get(Formula).inside) <= set(again.shared.get(Formula).inside)
    session = tf.SAT("glucose42").open(again.model)
    assert session.solve(Run()).verdict is Verdict.INFEASIBLE
    session.close()


def test_fewest_nodes_without_errors():
    # Exclusive or of two columns, and a third that is of no use.
    X = pd.DataFrame(list(product((0, 1), repeat=3)), columns=list("abc"))
    y = X["a"] ^ X["b"]
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Nodes()).add(tf.MaxErrors(0))
    result = problem.solve(tf.SAT(), formulation=SatDepth(), warm_start=None)
    assert (str(result.status), result.objective, result.errors) == ("optimal", 3, 0)
    assert result.graph.features_used() == {0, 1}


# -- models to points and back ------------------------------------------------------------------------


@pytest.mark.parametrize("tests", ["each", "ordered"])
@pytest.mark.parametrize("requirement", [None, tf.MinSupport(1), tf.MaxNodes(3)])
def test_every_tree_has_a_point_that_satisfies_all_rows(requirement, tests):
    case = next(iter(consistent_cases(1)))
    formulation = SatDepth().replace(NodeFeatures, NodeFeatures(tests=tests))
    held = [] if requirement is None else [requirement]
    compiled = formulation.compile(case.data, tf.Tree(2), Objective.of(tf.Error()), held)
    for graph in list(all_models(case.data, tf.Tree(2)))[::7]:
        point = formulation.encode(compiled, graph)
        assert point is not None
        assert not np.isnan(point).any()
        assert not any(compiled.model.check(point).values())
        assert (
            compiled.objective_expr.value(point)
            == tf.Error().evaluate(graph, case.data) / case.data.weight_unit
        )
        read = formulation.decode(compiled, point)
        assert (read.predict_codes(case.data.X) == graph.predict_codes(case.data.X)).all()


def test_a_tree_that_is_too_deep_has_no_point():
    data = tf.Dataset.from_user([[1], [2], [3]], [0, 1, 0])
    formulation = SatDepth()
    compiled = formulation.compile(data, tf.Tree(1), Objective.of(tf.Error()), [])
    deep = tf.DecisionGraph.from_nested((0, 1.5, 0, (0, 2.5, 1, 0)), data)
    assert formulation.encode(compiled, deep) is None


# -- composing, and bad input ---------------------------------------------------------------------------


def test_it_is_the_sum_of_its_components():
    assert SatDepth() == NodeFeatures() + ExamplePaths() + LeafClasses()
    assert SatDepth() == SatDepth()
    assert SatDepth().replace(NodeFeatures, NodeFeatures("pairwise")) != SatDepth()
    assert SatDepth().offers >= {"predicted", "reaches", "branch", "active", "feature", "leaf", "label"}


def test_a_part_left_out_is_missed_before_anything_is_built():
    data = tf.Dataset.from_user([[1], [2]], [0, 1])
    with pytest.raises(PortError, match=r"predicted|correct"):
        (SatDepth() - LeafClasses).compile(data, tf.Tree(1), Objective.of(tf.Error()), [])


def test_diagrams_are_refused():
    problem = tf.Problem([[1], [2]], [0, 1], shape=tf.Diagram(1, 2))
    with pytest.raises(SpecError, match="states trees"):
        problem.solve(tf.SAT(), formulation=SatDepth())


EACH = SatDepth().replace(NodeFeatures, NodeFeatures(tests="each"))


def test_too_many_clauses_are_refused_before_they_are_built():
    rng = np.random.default_rng(0)
    problem = tf.Problem(rng.random((300, 5)), rng.integers(0, 2, 300), shape=tf.Tree(12))
    with pytest.raises(SpecError, match="clauses for each of 300 examples"):
        problem.solve(tf.SAT(), formulation=EACH)


def test_too_many_examples_are_refused_before_they_are_built():
    rng = np.random.default_rng(0)
    data = tf.Dataset.from_user(rng.random((400, 20)), rng.integers(0, 2, 400))
    with pytest.raises(SpecError, match=r"400 examples, 79.. distinct tests and depth 7"):
        EACH.compile(data, tf.Tree(7), Objective.of(tf.Error()), [])


def test_it_can_be_pickled_after_use():
    formulation = SatDepth(counterexamples=3)
    data = tf.Dataset.from_user([[1], [2], [3]], [0, 1, 0])
    compiled = formulation.compile(data, tf.Tree(2), Objective(()), [tf.MaxErrors(0)])
    formulation.refine(compiled, tf.DecisionGraph.leaf(0, data))
    assert pickle.loads(pickle.dumps(formulation)) == formulation
    assert copy.deepcopy(formulation) == formulation


@pytest.mark.parametrize("formulation", ["sat-depth", "sat-size"])
def test_a_table_without_tests_has_a_constant_model(formulation):
    problem = tf.Problem([[1], [1], [1]], [0, 1, 1], shape=tf.Tree(2))
    if formulation == "sat-depth":
        result = problem.solve("sat", formulation=formulation, warm_start=None)
        assert (str(result.status), result.errors, result.graph.n_nodes) == ("optimal", 1, 0)
        least_depth = problem.minimize(tf.Depth()).add(tf.MaxErrors(1))
        shallow = least_depth.solve("sat", formulation=formulation, warm_start=None)
        assert (str(shallow.status), shallow.objective) == ("optimal", 0)
    with pytest.raises(Infeasible, match=r"rows 0, 1, 2.*\n.*minimise tf.Error"):
        problem.minimize(tf.Depth()).add(tf.MaxErrors(0))


def test_ordered_thresholds_give_the_same_optimum():
    rng = np.random.default_rng(1)
    X = rng.random((40, 3)).round(2)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    y[::9] ^= 1
    found = []
    for tests in ("each", "ordered"):
        formulation = SatDepth().replace(NodeFeatures, NodeFeatures(tests=tests))
        result = tf.Problem(X, y, shape=tf.Tree(2)).solve("sat", formulation=formulation, warm_start=None)
        assert str(result.status) == "optimal"
        found.append(result.errors)
    assert found[0] == found[1] == tf.Problem(X, y, shape=tf.Tree(2)).solve("contree").errors


def test_ordered_thresholds_are_the_default_for_real_numbers(timed):
    rng = np.random.default_rng(0)
    real = tf.Dataset.from_user(rng.random((1000, 10)), rng.integers(0, 2, 1000))
    codes = tf.Dataset.from_user(rng.integers(0, 4, (1000, 10)), rng.integers(0, 2, 1000))
    assert NodeFeatures().ordered(real)
    assert not NodeFeatures().ordered(codes)
    start = time.process_time()
    assert SatDepth().supports(tf.Tree(3), real, Objective.of(tf.Error())) is None
    assert "clauses for each" in EACH.supports(tf.Tree(8), real, Objective.of(tf.Error()))
    timed(time.process_time() - start, 1.0)


@pytest.mark.parametrize("wrong", [{"at_most_one": "some"}, {"tests": "none"}])
def test_unknown_encodings_are_refused(wrong):
    with pytest.raises(SpecError, match="is not known"):
        NodeFeatures(**wrong)


def test_rounds_that_add_nothing_are_refused():
    with pytest.raises(SpecError, match="counterexamples=0"):
        SatDepth(counterexamples=0)


def test_options_by_name():
    found = find_formulation("sat-depth:counterexamples=3,tests=ordered,choice=first")
    assert (found.counterexamples, found.choice) == (3, "first")
    assert found.components == SatDepth(tests="ordered").components
    assert SatDepth(tests="ordered") == SatDepth(
        NodeFeatures(tests="ordered") + ExamplePaths() + LeafClasses()
    )
    for wrong in ("sat-depth:colour=red", "sat-depth:choice=best", "sat-size:start=x"):
        with pytest.raises(SpecError):
            find_formulation(wrong)
    with pytest.raises(SpecError, match="beside them"):
        SatDepth(NodeFeatures() + ExamplePaths() + LeafClasses(), tests="each")
