"""Relaxations for engines: tasks, factors and what is dropped. Quick: for mutation testing."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from bound_samples import ALL, AtMost, Scripted, question

import treeform as tf
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.solve import lagrangian

# -- relaxations ------------------------------------------------------------------------------------------------


def test_errors_are_counted_without_a_matrix():
    r = relax(question("3*error"), Scripted())
    assert r.task.cost is None and r.task.node_penalty == 0 and r.task.depth == 2
    assert (r.factor, r.offset, r.dropped, r.exact) == (3, 0, (), True)
    assert (r.task.min_support, r.task.max_nodes, r.task.widths, r.task.min_flow) == (0, None, None, 0)
    assert r.task.max_features is None and r.task.totals is None
    assert relax(question(), Scripted(), depth=1).task.depth == 1
    weighted = question("1/2*error", weights=[0.25, 1, 1, 1, 1, 1])
    r = relax(weighted, Scripted())
    # One unit of weight, a quarter, costs an eighth; that is the scale of the question.
    assert weighted.scale == 8 and r.factor == 1


def test_a_price_per_test_is_a_whole_number_of_errors_or_part_of_a_matrix():
    r = relax(question("2*error + 4*nodes"), Scripted())
    assert r.task.cost is None and (r.task.node_penalty, r.factor, r.offset) == (2, 2, 0)
    r = relax(question("2*error + nodes"), Scripted())
    assert r.task.cost.tolist() == [[0, 2], [2, 0]] and (r.task.node_penalty, r.factor, r.offset) == (1, 1, 0)
    q = question("error + 2/3*nodes")
    r = relax(q, Scripted())
    assert r.task.cost.tolist() == [[0, 3], [3, 0]] and r.task.cost.dtype == np.int64
    assert (r.task.node_penalty, r.factor) == (2, Fraction(q.scale, 3)) and r.exact
    r = relax(question("error + 2*leaves"), Scripted())
    assert (r.task.cost, r.task.node_penalty, r.factor, r.offset, r.exact) == (None, 2, 1, 2, True)
    r = relax(question("error + nodes + leaves"), Scripted())
    assert (r.task.node_penalty, r.offset) == (2, 1)
    r = relax(question("error + 1/2*leaves"), Scripted())
    assert (r.task.node_penalty, r.factor, r.offset) == (1, 1, 1)


def test_cost_matrices_become_whole():
    q = question("cost[0 1/2; 2/3 0] + 1/4*nodes")
    r = relax(q, Scripted())
    assert r.task.cost.tolist() == [[0, 6], [8, 0]] and r.task.node_penalty == 3
    assert r.factor == Fraction(q.scale, 12) and r.exact
    both = relax(question("cost[0 1; 2 0] + error"), Scripted())
    assert both.task.cost.tolist() == [[0, 2], [3, 0]]
    assert relax(q, Scripted(ALL - {"cost"})) is None
    # Whole numbers of errors need no matrix.
    assert relax(question("error + nodes"), Scripted(ALL - {"cost"})).task.node_penalty == 1
    assert relax(question("error + 1/2*nodes"), Scripted(ALL - {"cost"})) is None


def test_costs_beyond_64_bits_are_left_to_others():
    assert relax(question(f"cost[0 {2**57}; {2**57} 0]"), Scripted()) is not None
    assert relax(question(f"cost[0 {2**57}; {2**57} 0] + {2**60 - 6 * 2**57}*nodes"), Scripted()) is None
    below = question(f"cost[0 {2**57}; {2**57} 0] + {2**60 - 6 * 2**57 - 1}*nodes")
    assert relax(below, Scripted()).task.node_penalty == 2**60 - 6 * 2**57 - 1


def test_what_an_engine_does_not_know_is_dropped_by_name():
    support, few, flow = tf.MinSupport(2), tf.MaxNodes(2), tf.Stability(3)
    q = question("error", support, few, flow)
    r = relax(q, Scripted())
    assert (r.task.min_support, r.task.max_nodes, r.task.min_flow, r.dropped) == (2, 2, 3, ())
    r = relax(q, Scripted({"min_support"}))
    assert (r.task.min_support, r.task.max_nodes, r.task.min_flow) == (2, None, 0)
    assert r.dropped == ("max_nodes:2", "stability:3") and not r.exact
    r = relax(question("error + 2*nodes"), Scripted(set()))
    assert r.dropped == ("the objective term nodes",) and r.task.node_penalty == 0
    r = relax(question("error + 2*leaves"), Scripted({"cost"}))
    assert r.dropped == ("the objective term leaves",) and r.offset == 0
    assert relax(question("error", tf.Monotone("x0")), Scripted()).dropped == (
        "monotone:x0,increasing,positive=1",
    )


def test_of_two_limits_the_tighter_one_is_kept():
    q = question(
        "error",
        tf.MaxNodes(2),
        tf.MaxNodes(1),
        tf.MinSupport(1),
        tf.MinSupport(3),
        tf.Stability(5),
        tf.Stability(4),
    )
    task = relax(q, Scripted()).task
    assert (task.max_nodes, task.min_support, task.min_flow) == (1, 3, 5)
    q = question("error", tf.MaxNodes(1), tf.MaxNodes(2), tf.FeatureBudget(2), tf.FeatureBudget(1))
    task = relax(q, Scripted()).task
    assert (task.max_nodes, task.max_features) == (1, 1)


def test_limits_that_bind_nothing_are_left_out():
    assert relax(question("error", tf.MaxNodes(3)), Scripted()).task.max_nodes is None
    assert relax(question("error", tf.MaxNodes(2)), Scripted()).task.max_nodes == 2
    assert relax(question("error", tf.MaxNodes(4)), Scripted()).task.max_nodes is None
    assert relax(question("error", tf.MaxNodes(4), shape="diagram:1,2,2"), Scripted()).task.max_nodes == 4


def test_a_bound_on_the_objective_itself_is_no_limit():
    r = relax(question("error", tf.MaxErrors(1)), Scripted())
    assert r.exact and r.dropped == ()
    r = relax(question("error + nodes", tf.MaxErrors(1)), Scripted())
    assert r.dropped == ("max_errors:1",)
    r = relax(question("error", tf.MaxErrors(1), tf.MaxNodes(1)), Scripted())
    assert r.exact and r.task.max_nodes == 1


def test_diagrams_are_bounded_by_trees():
    q = question("error + nodes", tf.MinSupport(2), shape="diagram:1,2,2")
    r = relax(q, Scripted())
    assert r.task.widths == (1, 2, 2) and r.task.depth == 3 and r.exact and r.task.min_support == 2
    r = relax(q, Scripted(ALL - {"widths"}))
    assert r.task.widths is None and r.task.min_support == 0 and r.task.node_penalty == 0
    assert r.dropped == ("min_support:2", "the widths of diagram:1,2,2", "the objective term nodes")


def test_hyperplanes_are_no_business_of_engines():
    assert relax(question("error", shape="tree:2:multivariate"), Scripted()) is None


def test_totals_are_given_to_engines_that_know_them():
    fair = tf.StatisticalParity(ratio=0.5, positive=1)
    r = relax(question("error", fair), Scripted(ALL | {"totals"}))
    assert r.exact and r.task.totals is not None and len(r.task.totals.rows) == 2
    assert relax(question("error", fair), Scripted()).dropped == (
        "statistical_parity:groups=<array>,ratio=0.5,positive=1",
    )
    two = relax(
        question("error", fair, tf.StatisticalParity(difference=0.5, positive=0)),
        Scripted(ALL | {"totals"}),
    )
    assert two.exact and len(two.task.totals.rows) == 3
    diagram = relax(question("error", fair, shape="diagram:1,2"), Scripted({"totals", "cost"}))
    assert diagram.dropped == ("the widths of diagram:1,2",) and diagram.task.totals is not None


def test_values_are_mapped_both_ways():
    r = Relaxation(None, Fraction(3, 2), Fraction(1, 4), (), None)
    for value in range(6):
        exact = Fraction(3, 2) * value + Fraction(1, 4)
        assert r.lower(value) == math.ceil(exact)
        assert r.at_least(math.ceil(exact)) in (value, value + 1)
        assert r.upper(math.floor(exact)) in (value, value - 1)
    assert [r.at_least(s) for s in (1, 2, 3, 4)] == [1, 2, 2, 3]
    assert [r.upper(s) for s in (1, 2, 3, 4)] == [0, 1, 1, 2]


def trees(data, rng, count=40):
    """Random trees of two levels."""
    for _ in range(count):
        tests = [(f, t) for f in range(2) for t in data.ranks.thresholds(f).tolist()]
        nodes = [{"feature": f, "threshold": t} for f, t in (rng.choice(tests) for _ in range(3))]
        nodes[0] |= {"left": 1, "right": 2 if rng.random() < 0.5 else 3}
        nodes[1] |= {"left": 3, "right": 4}
        nodes[2] |= {"left": rng.choice((3, 4)), "right": rng.choice((3, 4))}
        yield DecisionGraph.build([*nodes, {"label": rng.randint(0, 1)}, {"label": rng.randint(0, 1)}], data)


@pytest.mark.parametrize(
    "goal", ["error", "1/2*error + 3/4*nodes", "cost[0 1/2; 3 0] + leaves", "error + 2*leaves"]
)
@pytest.mark.parametrize("weights", [None, [0.5, 1, 2, 0.25, 1, 3]])
def test_engine_values_are_the_values_of_models(goal, weights):
    q = question(goal, weights=weights)
    r = relax(q, Scripted())
    assert r.exact
    cost = r.task.cost if r.task.cost is not None else 1 - np.eye(2, dtype=np.int64)
    for graph in trees(q.data, random.Random(3)):
        engine = int((cost[q.data.y, graph.predict_codes(q.data.X)] * q.data.weights).sum())
        tests = graph.n_nodes
        engine += r.task.node_penalty * tests
        value = sum(
            (
                w * (t.evaluate(graph, q.data) if str(t) != "leaves" else tests + 1)
                for w, t in q.objective.terms
            ),
            Fraction(0),
        )
        assert r.factor * engine + r.offset == value * q.scale


class PerTest(AtMost):
    """Linear constraints over sums, to which tests add."""

    name: ClassVar[str] = "per_test_in_bounds"

    def __init__(self, tests):
        super().__init__([])
        self.tests = tests

    def totals(self, data):
        zero = np.zeros((data.n_samples, data.n_classes, 1), dtype=np.int64)
        each = np.ones((data.n_features, 1), dtype=np.int64) if self.tests else None
        return tf.Totals(("x",), zero, (tf.TotalRow((1,), hi=3),), each)


def test_totals_that_tests_add_to_say_nothing_about_diagrams():
    engine = Scripted({"totals", "cost"})
    for tests, shape, dropped in (
        (True, "diagram:1,2", ("per_test_in_bounds", "the widths of diagram:1,2")),
        (False, "diagram:1,2", ("the widths of diagram:1,2",)),
        (True, "tree:2", ()),
    ):
        r = relax(question("error", PerTest(tests), shape=shape), engine)
        assert r.dropped == dropped and (r.task.totals is None) == ("per_test_in_bounds" in dropped)
    assert relax(question("error", tf.Monotone("x0")), engine).dropped == (
        "monotone:x0,increasing,positive=1",
    )
    assert lagrangian.ceiling(question("error + cost[0 4; 1 0]")) == 6 + 2 * 4 + 4 * 1


def test_large_prices_of_tests_count_in_whole_units():
    just = Fraction(2**60 - 6 * 2**57 - 1, 2)
    assert (
        relax(question(f"cost[0 {2**56}; {2**56} 0] + {just}*nodes"), Scripted()).task.node_penalty
        == 2 * just
    )
    assert relax(question(f"cost[0 {2**56}; {2**56} 0] + {just + 1}*nodes"), Scripted()) is None
