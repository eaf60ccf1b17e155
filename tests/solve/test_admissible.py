"""What a model is: the judge, the normal form and the brute force against the definition (docs/design)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from diagram_samples import LATE, LEAVES, NARROW, XOR, A, B, handed_on_late, xor_below
from graph_samples import random_graph
from hypothesis import example, given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.data import Dataset
from treeform.graph import DecisionGraph, normalised
from treeform.graph.routing import sides_taken
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.totals import Totals
from treeform.shape import MARGIN
from treeform.solve import judge_candidate, misfit, verify
from treeform.testing import all_models, brute_force

TABLE = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})


def question(shape: Any, objective: Any = "error", *requirements: Any, data: Dataset = XOR) -> Question:
    return Question(data, shape, Objective.of(objective), tuple(r.bind(data) for r in requirements))


# -- W1: a test through which everything passes one way -------------------------------------------------


def test_a_pass_through_at_the_root_is_admissible() -> None:
    graph = xor_below({"pass": "a"})
    judged = verify(question(NARROW), graph)
    assert judged.ok
    assert judged.value == 0
    assert (graph.n_nodes, graph.depth, graph.passes.sum()) == (4, 3, 1)
    assert brute_force(XOR, NARROW, "error")[0] == 0
    priced = tf.Error() + Fraction(1, 10) * tf.Nodes()
    assert brute_force(XOR, NARROW, priced)[0] == Fraction(4, 10)
    assert verify(question(NARROW, priced), graph).value == 4  # in tenths


@pytest.mark.parametrize(
    "root",
    [
        {"feature": 0, "threshold": 9.0, "left": "a", "right": "no"},  # all go left
        {"feature": 1, "threshold": -9.0, "left": "yes", "right": "a"},  # all go right
        {"feature": 0, "threshold": 0.5, "left": "a", "right": "a"},  # both arcs lead to one test
    ],
)
def test_what_decides_nothing_is_kept_as_a_pass_through(root: dict[str, Any]) -> None:
    given_graph = xor_below(root)
    kept, judged = judge_candidate(question(NARROW), given_graph)
    assert judged.ok
    assert judged.value == 0
    assert kept == xor_below({"pass": "a"})
    assert "pass-through" in misfit(given_graph, NARROW, XOR)


def test_pass_throughs_that_no_layer_needs_go() -> None:
    graph = xor_below({"pass": "a"})
    kept, judged = judge_candidate(question(tf.Diagram(1, 2, 2)), graph)
    assert judged.ok
    assert kept.n_nodes == 3
    assert not kept.passes.any()


def test_pass_throughs_count_as_tests() -> None:
    graph = xor_below({"pass": "a"})
    assert tf.MaxNodes(3).violation(graph, XOR) == 1
    assert tf.FeatureBudget(1).violation(graph, XOR) == 1
    assert tf.FeatureBudget(2).violation(graph, XOR) == 0
    assert tf.Stability(2).violation(graph, XOR) == 0
    assert tf.Stability(3).violation(graph, XOR) == 1
    assert tf.MinSupport(1).violation(graph, XOR) == 1  # its other side is empty
    assert tf.MinSupport(0).violation(graph, XOR) == 0
    assert brute_force(XOR, NARROW, "error", [tf.MinSupport(1)])[0] == 1
    assert brute_force(XOR, NARROW, "error", [tf.Stability(2)])[0] == 0


# -- W2: two arcs to one node ---------------------------------------------------------------------------


def test_two_arcs_to_one_node_do_not_meet_a_minimum_support() -> None:
    graph = handed_on_late()
    asked = question(tf.Diagram(1, 2, 1), "error", tf.MinSupport(2), data=LATE)
    assert tf.MinSupport(2).violation(graph, LATE) == 0  # as it stands
    assert "one node" in verify(asked, graph).misfit
    kept, judged = judge_candidate(asked, graph)
    assert not judged.ok
    assert (kept.n_nodes, kept.passes.sum()) == (4, 1)
    assert judged.violations == {"min_support:2": 2}


def test_equal_leaves_are_one_terminal_of_a_diagram_and_two_leaves_of_a_tree() -> None:
    nodes = [{**A, "left": 1, "right": 2}, {"label": 0}, {"label": 0}]
    graph = DecisionGraph.build(nodes, XOR)
    assert misfit(graph, tf.Tree(1), XOR) is None
    assert "one node" in misfit(graph, tf.Diagram(1), XOR)
    assert not normalised(graph, XOR, own_leaves=True).passes.any()
    assert normalised(graph, XOR).passes.tolist() == [True, False]


# -- W6: leaves -----------------------------------------------------------------------------------------


def test_leaves_are_counted_by_arcs_and_not_by_nodes_of_the_arrays() -> None:
    nodes = {"root": {**A, "left": "b0", "right": "b1"}, **LEAVES}
    nodes["b0"] = {**B, "left": "no", "right": "yes"}
    nodes["b1"] = {**B, "left": "yes", "right": "no"}
    shared = DecisionGraph.build(nodes, XOR)
    own = DecisionGraph.from_nested((0, 0.5, (1, 0.5, 0, 1), (1, 0.5, 1, 0)), XOR)
    asked = question(tf.Tree(2), "1/5*leaves")
    assert verify(asked, shared).value == verify(asked, own).value == 4
    kept, judged = judge_candidate(asked, shared)
    assert kept == own
    assert judged.value == 4


# -- the judge, condition by condition -------------------------------------------------------------------


def random_nodes(*layers: int) -> DecisionGraph:
    """A diagram with layers of exactly so many tests, in normal form, over data with a column for each test."""
    n = 3 * sum(layers)
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.random((8 * n, n)), rng.permutation([0, 1] * 4 * n))
    nodes: dict[Any, Any] = {"no": {"label": 0}, "yes": {"label": 1}}
    made: dict[Any, Any] = {}
    column = iter(range(n))
    for level, size in enumerate(layers):
        below = [(level + 1, i) for i in range(layers[level + 1])] if level + 1 < len(layers) else []
        ends = [*below, "no", "yes"]
        for i in range(size):
            left, right = ends[(2 * i) % len(ends)], ends[(2 * i + 1) % len(ends)]
            made[level, i] = {"feature": next(column), "threshold": 0.5, "left": left, "right": right}
    return DecisionGraph.build({**made, **nodes}, data)


@pytest.mark.parametrize("widths", [(1, 2), (1, 2, 3), (1, 2, 4, 2), (1, 1, 2)])
def test_a_layer_one_test_too_wide_is_refused(widths: tuple[int, ...]) -> None:
    graph = random_nodes(*widths)
    assert graph.n_nodes == sum(widths)
    assert misfit(graph, tf.Diagram(*widths)) is None
    for layer in range(1, len(widths)):
        less = [w - (i == layer) for i, w in enumerate(widths)]
        if min(less) < 1 or any(b > 2 * a for a, b in pairwise(less)):
            continue
        assert f"layer {layer} has {widths[layer]} tests and the skeleton allows {less[layer]}" in misfit(
            graph, tf.Diagram(*less)
        )
    assert "depth" in misfit(graph, tf.Diagram(*widths[:-1]))


@pytest.mark.parametrize("shared", [A, B])
def test_arcs_that_skip_a_layer_are_refused(shared: dict[str, Any]) -> None:
    nodes = {
        "root": {**A, "left": "b", "right": "c"},
        "b": {**B, "left": "c", "right": "no"},
        "c": {**shared, "left": "yes", "right": "no"},
        **LEAVES,
    }
    graph = DecisionGraph.build(nodes, XOR)
    assert "two depths" in misfit(graph, tf.Diagram(1, 2, 2))
    assert "share test 2" in misfit(graph, tf.Tree(3))


def test_two_tests_are_two_heads_whatever_they_read() -> None:
    nodes = {
        "root": {**B, "left": "a0", "right": "a1"},
        "a0": {**A, "left": "no", "right": "yes"},
        "a1": {**A, "left": "yes", "right": "no"},
        **LEAVES,
    }
    for shape in (tf.Diagram(1, 2), tf.Tree(2)):
        assert misfit(DecisionGraph.build(nodes, XOR), shape, XOR) is None


def test_tests_that_no_arc_leads_to_are_refused() -> None:
    graph = DecisionGraph.from_arrays(
        feature=[0, 1, -1, -1],
        threshold=[0.5, 0.5, np.nan, np.nan],
        left=[2, 2, -1, -1],
        right=[3, 3, -1, -1],
        label=[-1, -1, 0, 1],
        data=XOR,
    )
    for shape in (tf.Tree(2), tf.Diagram(1, 1)):
        assert "no arc leads to test 1" in misfit(graph, shape)
        assert misfit(normalised(graph, XOR), shape, XOR) is None


def test_tests_with_all_samples_on_one_side_are_refused_as_they_stand() -> None:
    graph = DecisionGraph.from_nested((0, 9.0, 0, 1), XOR)
    assert misfit(graph, tf.Tree(1)) is None  # without samples nobody can tell
    assert "one side" in misfit(graph, tf.Tree(1), XOR)


def test_hyperplanes_and_pass_throughs_in_univariate_shapes() -> None:
    oblique = DecisionGraph.build(
        [{"weights": {0: 1.0, 1: 1.0}, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}],
        XOR,
    )
    assert "weighted sums" in misfit(oblique, tf.Tree(1), XOR)
    assert misfit(oblique, tf.Tree(1, "multivariate"), XOR) is None
    passing = DecisionGraph.build([{"pass": 1}, {"label": 0}], XOR)
    for shape in (tf.Tree(1), tf.Diagram(1), tf.Tree(1, "multivariate")):
        assert misfit(passing, shape, XOR) is None


@pytest.mark.parametrize("weight", [1.0, -3.0])
def test_margins_in_multivariate_shapes(weight: float) -> None:
    """A margin is a share of the range of the values, whatever their offset and the size of the weights."""
    low = 5.5 * weight
    for share, ok in ((0.95, False), (0.98, True)):
        high = 5.5 + share * float(MARGIN)
        data = Dataset.from_user([[5.0], [5.5], [high], [6.0]], [0, 0, 1, 1])
        test = {"weights": {0: weight}, "threshold": (low + high * weight) / 2, "left": 1, "right": 2}
        graph = DecisionGraph.build([test, {"label": 0}, {"label": 1}], data)
        fault = misfit(graph, tf.Tree(1, "multivariate"), data)
        assert (fault is None) == ok
        assert ok or "less than the margin" in fault
    column = DecisionGraph.from_nested((0, 5.5, 0, 1), data)
    assert misfit(column, tf.Tree(1), data) is None
    near = Dataset.from_user([[5.0], [5.5], [5.5 + 0.5 * float(MARGIN)], [6.0]], [0, 0, 1, 1])
    assert "less than the margin" in misfit(column, tf.Tree(1, "multivariate"), near)
    assert misfit(column, tf.Tree(1), near) is None
    passing = DecisionGraph.build([{"pass": 1}, {"label": 0}], data)
    assert misfit(passing, tf.Tree(1, "multivariate"), data) is None


# -- W3: requirements on columns, and hyperplanes ---------------------------------------------------------

SLOPE = Dataset.from_user(pd.DataFrame({"x": [0.0, 0, 1, 1], "z": [0.0, 1, 0, 1]}), [1, 0, 0, 0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_monotone_reads_the_signs_of_weights(sign: float) -> None:
    """x + z <= 0.5 predicts 1: greater values of x speak against it, however the test is turned."""
    low, high = (1, 2) if sign > 0 else (2, 1)
    test = {"weights": {0: sign, 1: sign}, "threshold": sign * 0.5, "left": low, "right": high}
    graph = DecisionGraph.build([test, {"label": 1}, {"label": 0}], SLOPE)
    assert graph.predict_codes(SLOPE.X).tolist() == [1, 0, 0, 0]
    for column in ("x", "z"):
        assert tf.Monotone(column).bind(SLOPE).violation(graph, SLOPE) == 1
        assert tf.Monotone(column, "decreasing").bind(SLOPE).violation(graph, SLOPE) == 0


def test_monotone_with_weights_of_both_signs() -> None:
    graph = DecisionGraph.build(
        [{"weights": {0: 1.0, 1: -1.0}, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}],
        SLOPE,
    )
    assert tf.Monotone("x").bind(SLOPE).violation(graph, SLOPE) == 0
    assert tf.Monotone("z").bind(SLOPE).violation(graph, SLOPE) == 1
    assert tf.Monotone("z", "decreasing").bind(SLOPE).violation(graph, SLOPE) == 0


def test_feature_budget_counts_the_columns_of_hyperplanes() -> None:
    graph = DecisionGraph.build(
        [{"weights": {0: 1.0, 1: -1.0}, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}],
        SLOPE,
    )
    assert tf.FeatureBudget(1).violation(graph, SLOPE) == 1
    assert tf.FeatureBudget(2).violation(graph, SLOPE) == 0


def test_brute_force_with_requirements_on_columns() -> None:
    shape = tf.Tree(1, "multivariate")
    assert brute_force(SLOPE, shape, "error")[0] == 0
    assert brute_force(SLOPE, shape, "error", [tf.FeatureBudget(1)])[0] == 1
    assert brute_force(SLOPE, shape, "error", [tf.Monotone("x")])[0] == 1
    assert brute_force(SLOPE, shape, "error", [tf.Monotone("x", "decreasing")])[0] == 0


# -- the normal form ----------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(st.integers(0, 2**31), st.booleans())
def test_the_normal_form(seed: int, own_leaves: bool) -> None:
    graph, data = random_graph(seed)
    normal = normalised(graph, data, own_leaves=own_leaves)
    assert (normal.predict_codes(data.X) == graph.predict_codes(data.X)).all()
    assert normal.n_nodes <= graph.n_nodes
    assert normal.depth <= graph.depth
    assert normalised(normal, data, own_leaves=own_leaves) == normal
    assert (normal.counts == replace(normal).with_counts(data).counts).all()
    taken = sides_taken(normal, data)
    for test in normal.tests():
        assert taken[test.node].tolist() == [True, not test.passes]
    assert not normal.simplified(data).passes.any()


@settings(max_examples=80)
@given(st.integers(0, 2**31))
@example(434326)  # two equal tests in one layer, which the canonical form merges
def test_the_normal_form_is_admissible_where_layers_and_widths_allow(seed: int) -> None:
    """Of a graph with layers, the normal form has the same layers: it fits exactly the shapes that are wide enough."""
    graph, data = random_graph(seed | 1)  # a diagram
    normal = normalised(graph, data)
    if not normal.n_nodes:
        return
    layer = {0: 0}
    for test in normal.tests():
        for child in (int(normal.left[test.node]), int(normal.right[test.node])):
            if normal.feature[child] >= 0:
                layer[child] = layer[test.node] + 1
    sizes = np.bincount(list(layer.values())).tolist()
    assert misfit(normal, tf.Diagram(*sizes), data) is None
    for level, size in enumerate(sizes):
        if size > 1:
            less = [w - (i == level) for i, w in enumerate(sizes)]
            if all(b <= 2 * a for a, b in pairwise(less)):
                assert f"layer {level}" in misfit(normal, tf.Diagram(*less), data)
    raw = misfit(graph, tf.Diagram(1, 2, 3, 3), data)
    assert (raw is None) == (graph.n_nodes == normal.n_nodes and graph == normal)


# -- the brute force against plain enumeration -----------------------------------------------------------------


def every_diagram(data: Dataset, widths: tuple[int, ...]) -> set[tuple[int, DecisionGraph]]:
    """Normal forms of all graphs over a skeleton: any test at any node, any two arcs, unused nodes left out."""
    tests = [
        {"feature": f, "threshold": float(t)}
        for f in range(data.n_features)
        for t in (*data.ranks.thresholds(f).tolist(), 1e9)  # the last one sends everything left
    ]
    terminals = {f"t{k}": {"label": k} for k in range(data.n_classes)}
    slots = [(level, i) for level, width in enumerate(widths) for i in range(width)]
    choices = []
    for level, _ in slots:
        below = [(level + 1, i) for i in range(widths[level + 1])] if level + 1 < len(widths) else []
        heads = [*below, *terminals]
        choices.append([{**t, "left": a, "right": b} for t in tests for a, b in product(heads, heads)])
    out = set()
    for chosen in product(*choices):
        graph = DecisionGraph.build({**dict(zip(slots, chosen, strict=True)), **terminals}, data)
        normal = normalised(graph, data)
        out.add((normal.n_nodes, normal))
    out |= {(0, DecisionGraph.leaf(k, data)) for k in range(data.n_classes)}
    return out


@pytest.mark.parametrize("widths", [(1,), (1, 1), (1, 2), (1, 1, 1)])
def test_brute_force_looks_at_every_diagram_and_no_other(widths: tuple[int, ...]) -> None:
    data = Dataset.from_user([[0.0], [1.0], [1.0]], [0, 1, 0])
    shape = tf.Diagram(*widths)
    listed = list(all_models(data, shape))
    assert all(misfit(graph, shape, data) is None for graph in listed)
    assert all(normalised(graph, data) == graph for graph in listed)
    assert {(graph.n_nodes, graph) for graph in listed} == every_diagram(data, widths)


def every_tree(data: Dataset, depth: int) -> list[Any]:
    """All trees as nodes for `DecisionGraph.build`: any test anywhere, pass-throughs too."""
    leaves = [("leaf", k) for k in range(data.n_classes)]
    if not depth:
        return leaves
    below = every_tree(data, depth - 1)
    tests = [(f, float(t)) for f in range(data.n_features) for t in (*data.ranks.thresholds(f).tolist(), 1e9)]
    return [
        *leaves,
        *(("pass", x) for x in below),
        *((f, t, x, y) for f, t in tests for x, y in product(below, below)),
    ]


def described(tree: Any, nodes: dict[Any, Any], path: str = "r") -> str:
    nodes[path] = {}
    if tree[0] == "leaf":
        nodes[path] = {"label": tree[1]}
    elif tree[0] == "pass":
        nodes[path] = {"pass": described(tree[1], nodes, path + "p")}
    else:
        sides = {
            "left": described(tree[2], nodes, path + "0"),
            "right": described(tree[3], nodes, path + "1"),
        }
        nodes[path] = {"feature": tree[0], "threshold": tree[1], **sides}
    return path


@pytest.mark.parametrize("depth", [1, 2])
def test_brute_force_looks_at_every_tree_and_no_other(depth: int) -> None:
    data = Dataset.from_user([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 0])
    shape = tf.Tree(depth)
    listed = list(all_models(data, shape))
    assert all(misfit(graph, shape, data) is None for graph in listed)
    assert all(normalised(graph, data, own_leaves=True) == graph for graph in listed)
    expected = set()
    for tree in every_tree(data, depth):
        nodes: dict[Any, Any] = {}
        described(tree, nodes)
        expected.add(normalised(DecisionGraph.build(nodes, data), data, own_leaves=True))
    assert set(listed) == expected
    assert len(listed) == len(expected)


def test_totals_over_tests_with_hyperplanes_and_pass_throughs() -> None:
    nodes = [
        {"pass": 1},
        {"weights": {0: 1.0, 1: -1.0}, "threshold": 0.5, "left": 2, "right": 3},
        {**A, "left": 3, "right": 4},
        {"label": 0},
        {"label": 1},
    ]
    totals = Totals(("tests",), np.zeros((4, 2, 1), dtype=np.int64), (), np.array([[1], [10]]))
    assert totals.values(DecisionGraph.build(nodes, XOR), XOR) == [12]
