"""DiagramSearch and its first models over the class of admissible models: pass-throughs, widths, arcs to one head.

A pass-through is a test without a column, all samples of which leave by one arc. The reference enumerates them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from diagram_reference import NEVER, fault_of, least_costs
from drawing import Draw
from step_one import step_one
from test_diagram_engine import limits_of, runs_here, shape_of

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, EngineRun, TreeTask
from treeform.engines.diagram import TECHNIQUES
from treeform.engines.native_call import admissible_diagram
from treeform.graph import DecisionGraph
from treeform.utils.budget import Budget

WIDTHS = [
    *[(1, 1, 2), (1, 1, 2, 2), (1, 2, 1), (1, 2, 2), (1, 2, 1, 2), (1, 1, 1, 2), (1, 2, 4), (1, 1, 2, 3)],
    *[(1, 1, 2, 4), (1, 2, 2, 2), (1, 1, 1), (1, 2, 3), None],
]
FEWER_TECHNIQUES = [("trees", "alternation"), ("transpositions",), ("pairs", "trees")]
SIMD = [simd for simd in ("auto", "avx512", "avx2", "plain") if runs_here(simd)]


def xor() -> Dataset:
    return Dataset.from_user(np.array(list(product((0.0, 1.0), repeat=2))), np.array([0, 1, 1, 0]))


def random_case(seed: int) -> tuple[Dataset, TreeTask, np.random.Generator]:
    """A tiny table, often with parity as its label, and a task with some of: costs, limits of weight and of tests."""
    rng = np.random.default_rng(seed)
    widths = WIDTHS[seed % len(WIDTHS)]
    small = widths is not None and sum(widths) > 5
    if rng.random() < 0.6:  # parity of some corners of a cube: what pass-throughs are good for
        cube = np.array(list(product((0.0, 1.0), repeat=int(rng.integers(2, 4)))))
        X = rng.permutation(cube)[: 5 if small else 7]
        y = ((X.sum(axis=1) + (rng.random(len(X)) < 0.1)) % 2).astype(int)
    else:
        n, columns = int(rng.integers(4, 6 if small else 8)), int(rng.integers(2, 4))
        X = rng.integers(0, 2 if small else 3, (n, columns)).astype(float)
        y = rng.integers(0, 3, n)
    y[:2] = (0, 1)
    weights = rng.integers(1, 4, len(X)) / 2 if rng.random() < 0.4 else None
    data = Dataset.from_user(X, np.unique(y, return_inverse=True)[1], weights)
    total, classes = data.total_weight, data.n_classes
    task = TreeTask(
        depth=2 if widths is None else len(widths),
        cost=rng.integers(0, 4, (classes, classes)) if rng.random() < 0.4 else None,
        min_support=int(rng.integers(1, total // 3 + 2)) if rng.random() < 0.2 else 0,
        max_nodes=int(rng.integers(0, 6)) if rng.random() < 0.2 else None,
        widths=widths,
        min_flow=int(rng.integers(1, total + 2)) if rng.random() < 0.3 else 0,
    )
    return data, task, rng


@pytest.mark.parametrize("chunk", range(5))
def test_least_costs_with_pass_throughs(chunk: int, draw: Draw) -> None:
    """Every number of tests and a price, with all techniques and with fewer, on every path of the kernels."""
    passes = 0
    for seed in draw(range(400 * chunk, 400 * chunk + 400), 50):
        data, task, rng = random_case(seed)
        e = least_costs(data, task)
        for techniques in (TECHNIQUES, FEWER_TECHNIQUES[seed % 3]):
            engine = DiagramSearch(parts=techniques, simd=str(rng.choice(SIMD)))
            table = engine.size_table(data, shape_of(task), **limits_of(task))
            assert table.reason is None
            found = [NEVER if value is None else value for value in table.upper]
            assert found == e[: len(found)], (seed, techniques)
            assert set(e[len(found) :]) <= {found[-1]}
            for k, (graph, cost) in enumerate(zip(table.graphs, table.upper, strict=True)):
                if graph is None:
                    continue
                assert fault_of(graph, data, task) is None, (seed, k)
                start = admissible_diagram(graph, data, task)
                assert start is not None
                assert start.cost == cost
                assert start.tests == graph.n_nodes <= k
                passes += int(graph.passes.sum())
        price = int(rng.integers(0, 3))
        priced = TreeTask(**{**task.__dict__, "node_penalty": price})
        outcome = DiagramSearch().run(data, priced, EngineRun())
        assert outcome.proved
        if e[0] < NEVER:
            assert outcome.upper == min(cost + price * k for k, cost in enumerate(e)), seed
    assert passes > 0


@pytest.mark.parametrize("seed", range(24))
def test_pass_throughs_into_shared_tests(seed: int) -> None:
    """Where an arc has to get to tests further down that others share: (a or b) ? p xor q : a third class."""
    rng = np.random.default_rng(seed)
    widths = [(1, 2, 1, 2), (1, 2, 2, 2), (1, 2, 1, 2, 1), (1, 2, 3, 2)][seed % 4]
    cube = np.array(list(product((0.0, 1.0), repeat=4)))
    a, b, p, q = cube.T.astype(int)
    y = np.where(a | b, p ^ q, 2)
    wrong = rng.random(len(y)) < 0.05
    y[wrong] = rng.integers(0, 3, wrong.sum())
    kept = rng.permutation(len(y))[: int(rng.integers(12, 17))]
    weights = rng.integers(1, 4, len(kept)) if seed % 3 == 0 else None
    data = Dataset.from_user(
        cube[kept][:, rng.permutation(4)], np.unique(y[kept], return_inverse=True)[1], weights
    )
    task = TreeTask(len(widths), widths=widths, max_nodes=6, min_flow=int(rng.integers(0, 5)))
    e = least_costs(data, task)
    for techniques in (TECHNIQUES, *FEWER_TECHNIQUES):
        table = DiagramSearch(parts=techniques).size_table(
            data, tf.Diagram(*widths), max_nodes=6, min_flow=task.min_flow
        )
        assert list(table.upper) == list(table.lower) == e, techniques
        for graph in table.graphs:
            assert graph is not None
            assert fault_of(graph, data, task) is None


def test_few_tests_predict_few_classes(draw: Draw) -> None:
    """At most k + 1 of up to five classes: every number of tests of tiny tables, with costs, weights and limits."""
    for seed in draw(range(1000), 60):
        rng = np.random.default_rng(seed)
        widths = [(1, 1, 2), (1, 2, 1), (1, 2, 2), (1, 2, 3), (1, 2, 1, 2), None][seed % 6]
        classes = int(rng.integers(3, 6))
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, int(rng.integers(0, 2)))])
        X = rng.integers(0, 3, (len(y), 2)).astype(float)
        data = Dataset.from_user(X, y, rng.integers(1, 4, len(y)) if rng.random() < 0.5 else None)
        task = TreeTask(
            depth=2 if widths is None else len(widths),
            cost=rng.integers(0, 4, (classes, classes)) if rng.random() < 0.3 else None,
            max_nodes=int(rng.integers(1, 5)) if rng.random() < 0.3 else None,
            widths=widths,
            min_flow=int(rng.integers(1, 4)) if rng.random() < 0.2 else 0,
        )
        table = DiagramSearch().size_table(data, shape_of(task), **limits_of(task))
        found = [NEVER if value is None else value for value in table.upper]
        assert found == least_costs(data, task)[: len(found)], seed
        assert table.lower == table.upper, seed


@pytest.mark.parametrize("widths", [(1, 2, 4), None])
def test_few_classes_bound_a_run_that_is_stopped_at_its_first_model(widths: tuple[int, ...] | None) -> None:
    """Eight classes of ten samples each: at most five tests leave the samples of two classes."""
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.random((80, 3)), np.repeat(np.arange(8), 10))
    found: list[int] = []
    run = EngineRun(Budget().until(lambda: bool(found)), on_incumbent=lambda _, upper, *__: found.append(upper))
    outcome = DiagramSearch().run(data, TreeTask(3, max_nodes=5, widths=widths), run)
    assert found
    assert outcome.lower >= 10 * (8 - 5 - 1)


def test_a_pass_through_beside_a_test() -> None:
    """The data of the test above without noise: six tests, one of them a pass-through beside the second test."""
    cube = np.array(list(product((0.0, 1.0), repeat=4)))
    a, b, p, q = cube.T.astype(int)
    table = DiagramSearch().size_table(
        Dataset.from_user(cube, np.where(a | b, p ^ q, 2)), tf.Diagram(1, 2, 1, 2)
    )
    assert table.upper[-1] == 0
    assert table.upper[-2] is not None
    assert table.upper[-2] > 0
    model = table.graphs[-1]
    assert model is not None
    assert int(model.passes.sum()) == 1
    assert not model.passes[0]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_from_trees_hold_on_larger_tables(seed: int) -> None:
    """Where no enumeration gets to: the search with bounds from trees and without them agree."""
    rng = np.random.default_rng(seed)
    widths = [(1, 1, 2), (1, 1, 2, 2), (1, 1, 2, 3), (1, 1, 1, 2), (1, 2, 2), (1, 2, 1, 2)][seed % 6]
    X = rng.integers(0, 4, (int(rng.integers(15, 30)), 3)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 1)).astype(int) ^ (rng.random(len(X)) < 0.2)
    data = Dataset.from_user(X, y)
    limits = {"max_nodes": 6, "min_flow": int(rng.integers(0, 4))}
    tables = [
        DiagramSearch(parts=techniques).size_table(data, tf.Diagram(*widths), **limits)
        for techniques in (TECHNIQUES, *FEWER_TECHNIQUES[1:])
    ]
    assert len({table.upper for table in tables}) == 1
    assert all(table.lower == table.upper for table in tables)
    for graph in tables[0].graphs:
        assert graph is not None
        assert fault_of(graph, data, TreeTask(len(widths), widths=widths, **limits)) is None


def test_the_root_may_pass() -> None:
    """XOR needs two tests in one layer: on 1-1-2 they have room when the root is a pass-through."""
    task = TreeTask(3, widths=(1, 1, 2))
    table = DiagramSearch().size_table(xor(), tf.Diagram(1, 1, 2))
    assert table.upper == table.lower == (2, 2, 1, 1, 0)
    model = table.graphs[-1]
    assert model is not None
    assert model.passes.tolist() == [True, *[False] * (len(model.feature) - 1)]
    assert fault_of(model, xor(), task) is None
    # A pass-through has an empty side, and is reached by all four samples.
    assert DiagramSearch().size_table(xor(), tf.Diagram(1, 1, 2), min_support=1).upper[-1] == 1
    assert DiagramSearch().size_table(xor(), tf.Diagram(1, 1, 2), min_flow=2).upper[-1] == 0
    assert DiagramSearch().size_table(xor(), tf.Diagram(1, 1, 2), min_flow=3).upper[-1] == 2
    assert DiagramSearch().size_table(xor(), tf.Diagram(1, 1, 2), max_nodes=3).upper[-1] == 1


def passing_xor(data: Dataset) -> DecisionGraph:
    """No errors on 1-1-2."""
    nodes = {
        "root": {"pass": "a"},
        "a": {"feature": 0, "threshold": 0.5, "left": "b", "right": "c"},
        "b": {"feature": 1, "threshold": 0.5, "left": "no", "right": "yes"},
        "c": {"feature": 1, "threshold": 0.5, "left": "yes", "right": "no"},
        "no": {"label": 0},
        "yes": {"label": 1},
    }
    return DecisionGraph.build(nodes, data)


def test_models_with_pass_throughs_are_taken_in() -> None:
    data = xor()
    model, shape = passing_xor(data), tf.Diagram(1, 1, 2)
    task = TreeTask(3, widths=(1, 1, 2), node_penalty=0)
    start = admissible_diagram(model, data, task)
    assert start is not None
    assert (start.tests, start.cost) == (4, 0)
    for wrong in (
        TreeTask(3, widths=(1, 1, 2), min_support=1),
        TreeTask(3, widths=(1, 1, 2), min_flow=3),
        TreeTask(3, widths=(1, 1, 2), max_nodes=3),
        TreeTask(3, widths=(1, 1, 1)),
        TreeTask(2, widths=(1, 1)),
    ):
        assert admissible_diagram(model, data, wrong) is None
    outcome = DiagramSearch().run(data, task, EngineRun(start=model))
    assert (outcome.upper, outcome.proved) == (0, True)
    assert outcome.graph == model
    assert DiagramSearch().size_table(data, shape, start=[model], lower=[2, 2, 1, 1, 0]).upper == (
        2,
        2,
        1,
        1,
        0,
    )


def test_a_start_is_judged_in_its_normal_form() -> None:
    """A test that sends all samples one way, or both arcs to one head, is a pass-through in its layer."""
    data = xor()
    shape, widths = tf.Diagram(1, 2, 1), (1, 2, 1)
    root = {"feature": 0, "threshold": 0.5, "left": "b", "right": "c"}
    same = {"feature": 1, "threshold": 0.5, "left": "d", "right": "d"}
    one_way = {"feature": 0, "threshold": 0.5, "left": "d", "right": "no"}
    last = {"feature": 1, "threshold": 0.5, "left": "no", "right": "yes"}
    ends = {"d": last, "no": {"label": 0}, "yes": {"label": 1}}
    for pass_like in (same, one_way):
        nodes = {"a": root, "b": pass_like, "c": {**last, "left": "yes", "right": "no"}, **ends}
        model = DecisionGraph.build(nodes, data)
        start = admissible_diagram(model, data, TreeTask(3, widths=widths))
        assert start is not None
        assert (start.tests, start.cost, int(start.graph.passes.sum())) == (4, 0, 1)
        assert admissible_diagram(model, data, TreeTask(3, widths=widths, min_support=2)) is None
        table = DiagramSearch().size_table(data, shape, start=[model], min_support=2)
        assert table.upper == DiagramSearch().size_table(data, shape, min_support=2).upper


def test_a_layer_one_test_too_wide_is_refused() -> None:
    data = xor()
    nodes = {
        "a": {"feature": 0, "threshold": 0.5, "left": "b", "right": "c"},
        "b": {"feature": 1, "threshold": 0.5, "left": "no", "right": "yes"},
        "c": {"feature": 1, "threshold": 0.5, "left": "yes", "right": "no"},
        "no": {"label": 0},
        "yes": {"label": 1},
    }
    model = DecisionGraph.build(nodes, data)
    assert admissible_diagram(model, data, TreeTask(2, widths=(1, 2))) is not None
    assert admissible_diagram(model, data, TreeTask(2, widths=(1, 1))) is None
    assert fault_of(model, data, TreeTask(2, widths=(1, 1))) == "layers hold [1, 2] tests"
    assert DiagramSearch().size_table(data, tf.Diagram(1, 1), start=[model]).upper == (2, 2, 1)


@pytest.mark.parametrize("seed", range(40))
def test_quick_diagrams_are_admissible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (60, 4)).astype(float)
    data = Dataset.from_user(X, np.r_[[0, 1, 2], rng.integers(0, 3, 57)])
    widths = [(1, 2, 2, 1), (1, 1, 2, 4), (1, 2, 4), (1, 2, 3, 3), None][seed % 5]
    task = TreeTask(
        depth=3 if widths is None else len(widths),
        widths=widths,
        min_support=int(rng.integers(0, 6)) * (seed % 2),
        min_flow=int(rng.integers(0, 10)) * (seed % 3 == 0),
        node_penalty=seed % 2,
    )
    outcome = step_one(data, task, seed=seed, starts=3)
    assert outcome.graph is not None
    assert outcome.upper is not None
    assert fault_of(outcome.graph, data, task) is None
    found = admissible_diagram(outcome.graph, data, task)
    assert found is not None
    assert found.cost + task.node_penalty * found.tests == outcome.upper


def test_quick_diagrams_begin_later_where_the_skeleton_is_wider_there() -> None:
    outcome = step_one(xor(), TreeTask(3, widths=(1, 1, 2)), seed=1, starts=20)
    assert outcome.upper == 0
    assert outcome.graph is not None
    assert outcome.graph.passes[0]
    assert fault_of(outcome.graph, xor(), TreeTask(3, widths=(1, 1, 2))) is None


def test_the_cheapest_start_of_at_most_so_many_tests_counts() -> None:
    """A start of more tests that costs more does not take the place of the better one."""
    data = xor()
    good = passing_xor(data)
    poor = DecisionGraph.build(
        [{"feature": 0, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}], data
    )
    table = DiagramSearch().size_table(data, tf.Diagram(1, 1, 2), start=[poor, good])
    for graph, cost in zip(table.graphs, table.upper, strict=True):
        assert graph is not None
        assert int((graph.predict_codes(data.X) != data.y).sum()) == cost
