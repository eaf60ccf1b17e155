"""Trees with other tests at the root, and what holds of every model that the search returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DeepTreeSearch, EngineRun, TreeTask


def waves(seed: int, n: int, features: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)).round(1)
    score = np.sin(2 * x[:, 0]) * x[:, 1] + x[:, -1] * x[:, -2] + 0.5 * x[:, 2]
    return x, (score + 0.3 * rng.normal(size=n) > 0).astype(int)


def test_other_root_tests_are_tried() -> None:
    """Cycles from the first tree alone ended at 54 errors, with this work and with twice as much."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 6)).round(1)
    score = np.sin(2 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3] + 0.5 * x[:, 4]
    y = (score + 0.3 * rng.normal(size=600) > 0).astype(int)
    found = DeepTreeSearch(seed=1, work_limit=5 * 10**8).run(
        Dataset.from_user(x, y), TreeTask(depth=5), EngineRun()
    )
    assert found.upper is not None and found.upper <= 52


@pytest.mark.parametrize("depth", [4, 5])
def test_rounds_are_the_same_for_the_same_work(depth: int) -> None:
    x, y = waves(1, 150, 3)
    data = Dataset.from_user(x, y)
    runs = [
        DeepTreeSearch(seed=2, work_limit=3 * 10**8, simd=simd).run(data, TreeTask(depth=depth), EngineRun())
        for simd in ("auto", "plain")
    ]
    assert runs[0].graph == runs[1].graph and runs[0].notes == runs[1].notes


@given(st.integers(0, 10**6), st.integers(30, 120), st.integers(3, 5), st.integers(1, 8))
@settings(max_examples=10, deadline=None)
def test_support_holds_and_no_simple_tree_is_better(seed: int, n: int, depth: int, support: int) -> None:
    """Of models that moves and restarts have changed: no worse than the given best tree of depth two, and CART."""
    x, y = waves(seed, n, 4)
    problem, small = (tf.Problem(x, y, shape=tf.Tree(depth=size)) for size in (depth, 2))
    for one in (problem, small):
        one += tf.MinSupport(support)
    smaller = small.solve(tf.ConTree())
    found = problem.solve(DeepTreeSearch(seed=seed, work_limit=10**7), warm_start=smaller.graph)
    assert smaller.errors is not None and found.graph is not None and found.errors is not None
    assert problem.judge(found.graph).ok
    assert np.bincount(found.graph.apply(x))[found.graph.feature < 0].min() >= support
    assert found.errors <= smaller.errors
    cart = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=support, random_state=0).fit(x, y)
    assert found.errors <= int((cart.predict(x) != y).sum())


@given(st.integers(0, 10**6), st.integers(20, 60), st.integers(4, 6), st.integers(1, 6), st.booleans())
@settings(max_examples=8, deadline=None)
def test_no_smaller_tree_is_better(seed: int, n: int, depth: int, support: int, costs: bool) -> None:
    """Without a start: the first trees are no worse than the best tree of depth two, longer runs than that of three."""
    x, y = waves(seed, n, 3)
    best = []
    for size in (2, 3):
        small = tf.Problem(x, y, shape=tf.Tree(size))
        small += tf.MinSupport(support)
        small.minimize(tf.Cost([[0, 1], [3, 0]]) if costs else tf.Error())
        best.append(small.solve(tf.ConTree(improve=False)).objective)
    task = TreeTask(depth=depth, min_support=support, cost=np.array([[0, 1], [3, 0]]) if costs else None)
    data = Dataset.from_user(x, y)
    brief, long = (
        DeepTreeSearch(seed=seed, work_limit=work).run(data, task, EngineRun()) for work in (1, 5 * 10**8)
    )
    assert brief.upper is not None and brief.upper <= best[0]
    assert long.upper is not None and (long.upper == 0 or "all trees of depth three" in long.notes[0])
    assert long.upper <= best[1]


def test_depth_two_on_very_many_rows_is_proved_as_without_a_first_tree() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 12, size=(200_001, 3)).astype(float)
    y = ((x[:, 0] > 5) ^ (x[:, 1] > 3) ^ (rng.random(len(x)) < 0.1)).astype(int)
    data, task = Dataset.from_user(x, y), TreeTask(depth=2)
    seen = {improve: tf.ConTree(improve=improve).run(data, task, EngineRun()) for improve in (True, False)}
    assert seen[True].proved and seen[False].proved and seen[True].upper == seen[False].upper
    for found in seen.values():
        assert found.graph is not None and found.upper == int((found.graph.predict(x) != y).sum())


@pytest.mark.parametrize("seed", [0, 1])
def test_a_minimum_support_limits_the_height(seed: int) -> None:
    """Leaves of a fifth of the rows allow three tests: the search for depth eight is that for depth three, and ends."""
    x, y = waves(seed, 200)
    problems = [tf.Problem(x, y, shape=tf.Tree(depth)) for depth in (3, 8)]
    for one in problems:
        one += tf.MinSupport(41)
    best, found = problems[0].solve(tf.ConTree()), problems[1].solve(DeepTreeSearch(work_limit=10**9))
    assert best.status is tf.Status.OPTIMAL and found.errors == best.errors
    assert any("exact subtrees of depth three; another test tried at a node 0 times" in note for note in found.notes)
