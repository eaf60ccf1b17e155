"""DeepTreeSearch and the search beside ConTree's proof: admissible trees, the optimum of small problems, CART, work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import Draw
from ended_early import pressed_when
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from test_contree import NOTHING, brute_force, problem, solve, walk

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DeepTreeSearch, EngineOutcome, EngineRun, TreeTask
from treeform.engines.contree import with_stages
from treeform.errors import SpecError
from treeform.graph import evaluate


def blobs(n: int = 400, features: int = 6, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)).round(2)
    score = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + 0.5 * rng.normal(size=n)
    return x, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)).astype(np.int32)


@pytest.mark.parametrize("block", range(6))
def test_small_problems_are_solved_and_their_limits_kept(block: int, draw: Draw) -> None:
    for seed in draw(range(60 * block, 60 * block + 60), 20):
        depth, x, y, w, cost, limits, _, _ = problem(seed)
        tests = min(limits["max_nodes"], 2**depth - 1)
        best = brute_force(x, y, w, cost, depth, tests, limits["min_support"], limits["node_penalty"])
        matrix = None if (cost == 1 - np.eye(len(cost))).all() else cost
        weights = None if (w == 1).all() else w
        from treeform import _core

        found = _core.contree(
            x, y, weights, matrix, classes=len(cost), depth=depth, **limits, upper=None, gap=0,
            prune=["neighbourhood", "shrinking", "subinterval", "features"], threads=1, simd="auto", memory_limit=0,
            improve=True, prove=False, seed=seed, work_limit=0, time_limit=250.0, poll=None,
            ask=None, callers=1, ahead=32,
        )  # fmt: skip
        if best == NOTHING:
            assert found["tree"] is None
            continue
        tree = found["tree"]
        total = walk(tree, x, y, w, cost, limits["min_support"], limits["node_penalty"])
        assert best <= total == tree["cost"]
        assert (tree["feature"] >= 0).sum() <= tests
        if limits["max_nodes"] >= 2**depth - 1:  # of fewer tests the best tree may be missed
            assert total == best, seed


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(3, 6))
@settings(max_examples=8, deadline=None)
def test_never_worse_than_cart(seed: int, classes: int, depth: int) -> None:
    x, y = blobs(120, 4, classes, seed)
    data = Dataset.from_user(x, y)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y)
    engine = DeepTreeSearch(work_limit=10**7)
    found = engine.run(data, TreeTask(depth=depth), EngineRun())
    assert found.graph is not None and found.graph.depth <= depth
    assert found.upper == evaluate.errors(found.graph, data) <= int((cart.predict(x) != y).sum())


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("support", [0, 5])
def test_very_many_columns(depth: int, support: int) -> None:
    """They are cut to those that look best: no worse than CART, which is given no support."""
    rng = np.random.default_rng(depth)
    x = rng.normal(size=(150, 300)).round(1)
    y = ((x[:, 3] * x[:, 270] > 0) ^ (rng.random(150) < 0.1)).astype(np.int32)
    data = Dataset.from_user(x, y)
    task = TreeTask(depth=depth, min_support=support)
    runs = [DeepTreeSearch(work_limit=10**7).run(data, task, EngineRun()) for _ in range(2)]
    graph = runs[0].graph
    assert graph is not None and graph == runs[1].graph and graph.depth <= depth
    assert runs[0].upper == evaluate.errors(graph, data)
    if support:
        assert np.bincount(graph.apply(x))[graph.feature < 0].min() >= support
    else:
        cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y)
        assert runs[0].upper <= int((cart.predict(x) != y).sum())


@pytest.mark.parametrize("more", [{}, {"max_nodes": 2}, {"node_penalty": 2}], ids=str)
def test_the_proof_on_very_many_columns_is_the_same(more: dict[str, int]) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, (40, 300)).astype(float)
    y = rng.integers(0, 3, 40).astype(np.int32)
    costs = {
        solve(x, y, None, 1 - np.eye(3, dtype=np.int64), 2, improve=improve, **more)["tree"]["cost"]
        for improve in (True, False)
    }
    assert len(costs) == 1


def test_a_given_start_is_not_lost() -> None:
    x, y = blobs(300, 5, 2, 4)
    start = tf.Problem(x, y, shape=tf.Tree(depth=4)).solve(DeepTreeSearch(work_limit=10**8))
    problem_ = tf.Problem(x, y, shape=tf.Tree(depth=5))
    result = problem_.solve(DeepTreeSearch(work_limit=1), warm_start=start.graph)
    assert result.errors <= start.errors


def test_same_seed_and_work_give_the_same_tree() -> None:
    x, y = blobs(200, 3, 4)
    data = Dataset.from_user(x, y)
    runs = [
        DeepTreeSearch(seed=3, work_limit=5 * 10**7, simd=simd).run(data, TreeTask(depth=6), EngineRun())
        for simd in ("auto", "auto", "plain")
    ]
    assert runs[0].graph == runs[1].graph == runs[2].graph
    assert not runs[0].proved and runs[0].lower == 0
    assert any("all trees of depth three" in note and "tried at a node" in note for note in runs[0].notes)


def test_a_search_that_found_and_ended_nothing_has_no_note() -> None:
    outcome = EngineOutcome(None, None, 0, False)
    for stages, moves, notes in (([], 0, 0), (["all trees of depth three"], 0, 1), ([], 2, 1)):
        assert len(with_stages(outcome, {"stages": stages, "moves": moves, "work": 5}).notes) == notes


def test_more_work_is_never_worse_and_support_is_kept() -> None:
    x, y = blobs(600, 5, 3, 1)
    data = Dataset.from_user(x, y)
    costs = []
    for work in (10**6, 10**8, 5 * 10**8):
        found = DeepTreeSearch(work_limit=work).run(data, TreeTask(depth=5, min_support=20), EngineRun())
        assert found.graph is not None and found.upper is not None
        assert np.bincount(found.graph.apply(x))[found.graph.feature < 0].min() >= 20
        costs.append(found.upper)
    assert costs == sorted(costs, reverse=True)
    depth_three = solve(x, y, None, 1 - np.eye(3, dtype=np.int64), 3, min_support=20)
    assert costs[0] < depth_three["tree"]["cost"]


def test_the_proof_is_the_same_with_and_without() -> None:
    x, y = blobs(150, 3, 2, 2)
    for depth in (3, 4):
        costs = {
            solve(x, y, None, 1 - np.eye(2, dtype=np.int64), depth, improve=improve, threads=threads)["tree"][
                "cost"
            ]
            for improve in (True, False)
            for threads in (1, 2)
        }
        assert len(costs) == 1


def test_a_solve_that_is_ended_has_its_best_tree() -> None:
    x, y = blobs(2_000, 8, 2, 3)
    problem_ = tf.Problem(x, y, shape=tf.Tree(depth=7))
    stump = tf.Problem(x, y, shape=tf.Tree(depth=2)).solve()
    better = pressed_when(lambda progress: progress.upper is not None and progress.upper < stump.errors)
    result = problem_.solve(on_progress=better)
    assert result.limit is tf.Limit.INTERRUPTED and result.errors < stump.errors


@pytest.mark.parametrize("bad", [{"seed": -1}, {"work_limit": 0}, {"simd": "mmx"}, {"seed": 1.5}])
def test_bad_settings(bad: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        DeepTreeSearch(**bad)


@given(st.integers(0, 10**6), st.integers(10, 80), st.integers(2, 5), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=12, deadline=None)
def test_trees_of_depth_two_are_written_out_at_their_costs(
    seed: int, n: int, classes: int, support: int, price: int
) -> None:
    """The search passes on which features the lower tests have; they are placed again among the rows."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 4)).round(1), rng.integers(0, classes, n)
    problem = tf.Problem(x, y, shape=tf.Tree(depth=2)).minimize(tf.Error() + price * tf.Nodes())
    problem += tf.MinSupport(support)
    found, proved = problem.solve(DeepTreeSearch(seed=0)), problem.solve(tf.ConTree(improve=False))
    assert found.objective == proved.objective
