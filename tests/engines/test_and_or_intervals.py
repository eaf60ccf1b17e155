"""The AND/OR graph over intervals of thresholds, against a count without bounds and the graph over a list of tests."""

from __future__ import annotations

import numpy as np
import pytest
from process_memory import needs_proc, resident

import treeform as tf
from treeform.certify.left_out import Reach, count_alternatives
from treeform.engines import TreeTask, and_or_graph
from treeform.engines.and_or_graph import GraphOfTrees, Priced, takes_intervals
from treeform.engines.enumeration import Enumeration
from treeform.solve.columns_on_demand import is_usual, priced_part
from treeform.utils.budget import Budget

APART = ("feature", "column", "partition")


def search_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few tests there are."""
    monkeypatch.setattr(and_or_graph, "FEW_TESTS", 0)
    monkeypatch.setattr(and_or_graph, "THRESHOLDS", 0)


@pytest.fixture
def intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    search_intervals(monkeypatch)


def stated(seed: int, depth: int, rows: int = 36) -> tf.Problem:
    """Two or three classes, weights, equal values, prices of tests, bounds on support and flow, parity, tests."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 3))
    X[:, 2] = np.floor(X[:, 2] * 6)
    if seed % 3 == 0:
        X = np.floor(X * 5)  # equal rows, too
    noise = rng.random(rows) < 0.2
    y = ((X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.4) * (seed % 2 + 1) ^ noise) % (2 + seed % 2)
    problem = tf.Problem(X, y, shape=tf.Tree(depth), sample_weight=rng.integers(1, 5, rows))
    problem.minimize(tf.Error() + seed % 3 * tf.Nodes())
    if seed % 4 >= 2:
        problem += tf.StatisticalParity(groups=rng.integers(0, 2, rows), difference="0.05", positive=1)
    if seed % 5 == 1:
        problem += tf.MinSupport(6)
    if seed % 5 == 2:
        problem += tf.Stability(20)
    if seed % 7 == 1:
        problem += tf.MaxNodes(3)
    return problem


@pytest.mark.drawn(8)
@pytest.mark.parametrize("apart", APART)
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(14))
def test_it_is_the_graph_over_a_list_of_tests(
    seed: int, depth: int, apart: and_or_graph.Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = stated(seed, depth, rows=36 if depth < 4 else 12)
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    listed = GraphOfTrees(problem.data, relaxation.task, apart)
    search_intervals(monkeypatch)
    searched = GraphOfTrees(problem.data, relaxation.task, apart)
    found, own = listed.relax(), searched.relax()
    assert found is not None and own is not None and found.infeasible == own.infeasible
    if found.infeasible:
        return
    again = searched.price(found.multipliers, found.unit)
    assert again is not None and again.lower <= found.lower
    if relaxation.task.min_flow <= 1:
        assert again.lower == found.lower
    for step in (0, 4):
        one, other = listed.up_to(found.lower + step), searched.up_to(found.lower + step)
        assert one is not None and other is not None
        assert facts(one) == facts(other)


@pytest.mark.parametrize("scale", [1, 10**4, 10**8])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_numbers_of_every_width(seed: int, scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums in 16 bits, prices in 32, and wider ones."""
    drawn = stated(seed, 3, rows=24)
    weights = drawn.data.weights * scale
    problem = tf.Problem(drawn.data.X, drawn.data.y, shape=tf.Tree(3), sample_weight=weights)
    problem.minimize(tf.Error() + scale * tf.Nodes())
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    listed = GraphOfTrees(problem.data, relaxation.task)
    search_intervals(monkeypatch)
    searched = GraphOfTrees(problem.data, relaxation.task)
    found, own = listed.relax(), searched.relax()
    assert found is not None and own is not None and found.lower == own.lower > 0
    unbounded = searched.relax(0)
    assert unbounded is not None and unbounded.lower == 0
    one, other = listed.up_to(found.lower + 3 * scale), searched.up_to(found.lower + 3 * scale)
    assert one is not None and other is not None and one.n_alternatives > 20
    assert facts(one) == facts(other)


@pytest.mark.parametrize("cost", [2**31 - 1, 2**31, 2**32 + 3, None])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_cost_beyond_the_width_of_prices_is_that_of_any_tree(
    seed: int, cost: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = stated(seed, 2, rows=24)
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    listed = GraphOfTrees(problem.data, relaxation.task)
    search_intervals(monkeypatch)
    searched = GraphOfTrees(problem.data, relaxation.task)
    assert listed.relax() is not None and searched.relax() is not None
    one, other = listed.up_to(cost), searched.up_to(cost)
    assert one is not None and other is not None and one.n_alternatives > 500
    assert facts(one) == facts(other)


def under_parity(seed: int) -> tuple[tf.Problem, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((40, 3)).round(1 + seed % 2)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.6) ^ (rng.random(40) < 0.25)).astype(int)
    group = (rng.random(40) + 0.6 * X[:, 0] > 0.8).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=rng.integers(1, 3, 40)).minimize(tf.Error())
    return problem + tf.StatisticalParity(groups=group, difference="0.05", positive=1), group


def sums_of_trees(graph: and_or_graph.AndOrGraph, node: int = 0) -> set[tuple[int, ...]]:
    """What the trees of a graph add to the cost and to each row."""
    out: set[tuple[int, ...]] = set()
    for a in np.flatnonzero(graph.node == node).tolist():
        own = tuple(graph.sums[a].tolist())
        sides = [{(0,) * len(own)}, {(0,) * len(own)}]
        if graph.test[a] >= 0:
            sides = [sums_of_trees(graph, int(side[a])) for side in (graph.left, graph.right)]
        out |= {tuple(map(sum, zip(own, low, high, strict=True))) for low in sides[0] for high in sides[1]}
    return out


def test_other_multipliers_leave_out_no_admissible_tree(intervals: None) -> None:
    left_out = 0
    for seed in range(6):
        problem, _ = under_parity(seed)
        relaxation = priced_part(problem.question)
        assert relaxation is not None
        trees = GraphOfTrees(problem.data, relaxation.task, "partition")
        priced = trees.relax()
        assert priced is not None and trees.can_omit_excluded
        for cost in range(priced.lower, priced.lower + 6):
            whole, fewer = trees.up_to(cost), trees.up_to(cost, fewer=True)
            assert whole is not None and fewer is not None and fewer.omits_excluded and not fewer.undominated
            admissible = [
                {
                    (cheap, *rows)
                    for cheap, *rows in (sums_of_trees(graph) if graph.n_nodes else ())
                    if cheap <= cost and (rows >= trees.table.lo).all() and (rows <= trees.table.hi).all()
                }
                for graph in (whole, fewer)
            ]
            assert admissible[0] == admissible[1], (seed, cost)
            left_out += whole.n_alternatives - fewer.n_alternatives
    assert left_out > 0


def test_a_solver_proves_what_other_multipliers_leave(
    intervals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    whole = and_or_graph.GraphOfTrees.up_to

    def watched(self: GraphOfTrees, cost: int, most: int, *rest: object) -> and_or_graph.AndOrGraph | None:
        asked.append(bool(rest[-1]))
        return whole(self, cost, most, *rest) if rest[-1] or not self.can_omit_excluded else None  # type: ignore[arg-type]

    monkeypatch.setattr(and_or_graph.GraphOfTrees, "up_to", watched)
    for seed in range(2):
        problem, group = under_parity(seed)
        expected = under_parity(seed)[0].solve(tf.TotalsSearch())
        found = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
        assert (found.status, found.objective) == (tf.Status.OPTIMAL, expected.objective)
        report = tf.check(
            found.certificate(), problem.data.X, problem.data.y, problem.data.weights,
            sensitive_features=group, independent=True,
        )  # fmt: skip
        assert report.verdict != "false", report
    assert any(asked)


def facts(graph: and_or_graph.AndOrGraph) -> list[tuple[object, ...]]:
    """The alternatives, whatever the numbers of their nodes; of tests that part a node alike any one stands."""
    covers = [graph.covers[node].tobytes() for node in range(graph.n_nodes)]
    sides = [
        (b"", b"") if left < 0 else tuple(sorted((covers[left], covers[right])))
        for left, right in zip(graph.left.tolist(), graph.right.tolist(), strict=True)
    ]
    depth = graph.depth[graph.node].tolist()
    node = [covers[at] for at in graph.node.tolist()]
    return sorted(zip(depth, node, sides, graph.label.tolist(), graph.least.tolist(), strict=True))


@pytest.mark.drawn(4)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.usefixtures("intervals")
def test_nothing_is_left_out_that_a_cheap_tree_of_depth_three_uses(seed: int) -> None:
    problem = stated(seed, 3, rows=24)
    relaxation = priced_part(problem.question)
    assert relaxation is not None and takes_intervals(problem.data, relaxation.task)
    priced = (trees := GraphOfTrees(problem.data, relaxation.task)).relax()
    assert priced is not None
    if priced.infeasible:
        return
    cost = priced.lower + 2
    graph = trees.up_to(cost)
    assert graph is not None
    reach = Reach(cost, priced.multipliers, priced.unit, True)
    counted = count_alternatives(problem.data, relaxation.task, reach, Budget())
    assert (graph.n_nodes, graph.n_alternatives) == counted


@pytest.mark.usefixtures("intervals")
def test_it_is_stopped_and_ends_where_there_is_too_much() -> None:
    problem = stated(0, 3)
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    trees = GraphOfTrees(problem.data, relaxation.task)
    assert trees.relax(stop=lambda: True) is None or trees.relax() is not None
    priced = trees.relax()
    assert priced is not None
    assert trees.up_to(priced.lower + 5, most=10) is None
    graph = trees.up_to(priced.lower + 5)
    assert graph is not None and graph.n_alternatives > 10


def test_an_exception_of_the_caller_ends_the_search() -> None:
    """The whole search takes longer than any test."""
    rng = np.random.default_rng(0)
    problem = tf.Problem(rng.random((3000, 30)), rng.integers(0, 2, 3000), shape=tf.Tree(6))
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    trees, calls = GraphOfTrees(problem.data, relaxation.task), []

    def stop() -> bool:
        calls.append(len(calls))
        raise KeyboardInterrupt

    for search in (trees.relax, lambda stop: trees.price((), 1, stop=stop)):
        with pytest.raises(KeyboardInterrupt):
            search(stop=stop)
    assert len(calls) == 2


@needs_proc
@pytest.mark.parametrize("listed", [False, True])
def test_a_graph_that_is_refused_leaves_nothing_in_memory(
    listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next one, of a smaller cost, is refused for the memory of this one."""
    monkeypatch.setattr(and_or_graph, "FEW_TESTS", 10_000 if listed else 0)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 300 if listed else 2000, (2000, 8)), rng.integers(0, 2, 2000)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    trees = GraphOfTrees(problem.data, relaxation.task)
    assert takes_intervals(problem.data, relaxation.task) is not listed
    assert trees.relax() is not None
    assert trees.up_to(most=10) is None
    before = resident()
    assert trees.up_to(most=600_000) is None
    assert resident() - before < 2**26


@pytest.mark.drawn(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_bound_until_it_was_stopped_is_none_above_the_minimum(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = stated(seed, 3, rows=90)
    problem += tf.StatisticalParity(groups=np.arange(90) % 2, difference="0.05", positive=1)
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    listed = GraphOfTrees(problem.data, relaxation.task)
    search_intervals(monkeypatch)
    searched = GraphOfTrees(problem.data, relaxation.task)
    best = searched.relax()
    assert best is not None and best.complete
    multipliers = (best.multipliers, tuple(m // 2 for m in best.multipliers), (0,) * searched.n_rows)
    for at in multipliers:
        least, whole = listed.price(at, best.unit), searched.price(at, best.unit)
        assert least is not None and whole is not None and whole.complete and whole.lower <= least.lower
        for polls in range(4):
            left = iter(range(polls))
            found = searched.price(at, best.unit, stop=lambda left=left: next(left, None) is None)
            if found is not None:
                assert 0 <= found.lower <= whole.lower and found.multipliers == at
                assert not found.complete or found.lower == whole.lower


def test_a_search_that_is_stopped_has_a_bound() -> None:
    """On a machine that ends it within a fifth of a second, the bound is the whole one."""
    rng = np.random.default_rng(0)
    X, group = rng.random((1500, 8)), rng.integers(0, 2, 1500)
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3)) ^ (rng.random(1500) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(4)).minimize(tf.Error())
    problem += tf.StatisticalParity(groups=group, difference="0.05")
    relaxation = priced_part(problem.question)
    assert relaxation is not None and takes_intervals(problem.data, relaxation.task)
    trees = GraphOfTrees(problem.data, relaxation.task)
    asked = (trees.price((0,) * trees.n_rows, 1, seconds) for seconds in (0.2, 2, 20, 200))
    found = next(one for one in asked if one is not None)
    assert not found.infeasible
    assert 0 <= found.lower <= y.sum()  # a leaf satisfies parity


def test_which_tables_are_searched_by_intervals() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 2)), rng.integers(0, 2, 300)
    for depth in (1, 3, 4, 6):
        question = tf.Problem(X, y, shape=tf.Tree(depth)).question
        relaxation = priced_part(question)
        assert relaxation is not None and takes_intervals(question.data, relaxation.task)
    bits = tf.Problem(rng.integers(0, 2, (300, 280)), y, shape=tf.Tree(2)).question
    relaxation = priced_part(bits)
    assert relaxation is not None and not takes_intervals(bits.data, relaxation.task)


def test_deeper_trees_over_many_columns_of_few_values_are_stated_by_name_only() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    bits = rng.integers(0, 2, (600, 1100))
    question = tf.Problem(bits, y, shape=tf.Tree(4)).question
    assert priced_part(question) is not None and not is_usual(question)
    assert is_usual(tf.Problem(bits, y, shape=tf.Tree(2)).question)
    assert is_usual(tf.Problem(rng.random((600, 2)), y, shape=tf.Tree(4)).question)


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.usefixtures("intervals")
def test_it_is_the_same_with_each_instruction_set(seed: int) -> None:
    """Wide and narrow sums: with and without linear constraints."""
    problem = stated(seed, 3, rows=90)
    if seed == 1:
        problem += tf.StatisticalParity(groups=np.arange(90) % 2, difference="0.05", positive=1)
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    seen = []
    for path in ("plain", "auto"):
        trees = GraphOfTrees(problem.data, relaxation.task, simd=path)
        priced = trees.relax()
        assert priced is not None
        graph = trees.up_to(priced.lower)
        assert graph is not None
        seen.append((priced, facts(graph)))
    assert seen[0] == seen[1] and seen[0][1]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("seed", range(6))
def test_the_same_models_are_near_optimal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = stated(seed, 3, rows=24)
    listed = problem.near_optimal(within="0.1")
    search_intervals(monkeypatch)
    searched = stated(seed, 3, rows=24).near_optimal(within="0.1")
    assert (listed.count, listed.complete) == (searched.count, searched.complete)
    assert [m.objective for m in listed.models] == [m.objective for m in searched.models]


def by_column(problem: tf.Problem, monkeypatch: pytest.MonkeyPatch) -> tuple[TreeTask, GraphOfTrees, Priced]:
    """The task, and its trees over intervals of thresholds, where tests of different columns are apart."""
    relaxation = priced_part(problem.question)
    assert relaxation is not None
    search_intervals(monkeypatch)
    trees = GraphOfTrees(problem.data, relaxation.task, "column")
    priced = trees.relax()
    assert priced is not None
    return relaxation.task, trees, priced


@pytest.mark.drawn(8)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_trees_are_counted_without_their_graph(
    seed: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = stated(seed, depth, rows=36 if depth < 4 else 14)
    task, trees, priced = by_column(problem, monkeypatch)
    if trees.n_rows:
        assert trees.count(priced.lower) is None
        return
    listed = Enumeration(problem.data, task, 10**6)
    if priced.lower:
        assert trees.count(priced.lower - 1) == 0
    for cost in (priced.lower, priced.lower + 3, priced.lower + 5):
        numbers = listed.counts(cost)
        assert trees.count(cost) == (listed.trees(cost) if numbers is None else numbers).size
    assert trees.count(priced.lower, stop=lambda: True) in (None, trees.count(priced.lower))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", [4, 5, 9, 12, 16, 21])
def test_numbers_follow_rows_that_change_sides(
    seed: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of several blocks of values; neighbouring thresholds, and some that are far from each other."""
    problem = stated(seed, depth, rows=400)
    task, trees, priced = by_column(problem, monkeypatch)
    assert not trees.n_rows
    listed = Enumeration(problem.data, task, 10**6)
    for cost in (priced.lower + 6, priced.lower + 20 - 5 * depth):
        numbers = listed.counts(cost)
        assert trees.count(cost) == (listed.trees(cost) if numbers is None else numbers).size > 0


def test_trees_of_many_prices_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = stated(0, 2, rows=36)
    task, trees, priced = by_column(problem, monkeypatch)
    assert not trees.n_rows
    assert trees.count(priced.lower + 9_999) is not None
    narrow = GraphOfTrees(problem.data, task, "column", memory=1000)
    assert narrow.relax() is not None
    assert narrow.count(priced.lower) is None
    assert trees.count(priced.lower + 10**15) is None
