"""The binary engines against brute force, against each other, and against ConTree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from drawing import Draw
from hypothesis import given, settings
from hypothesis import strategies as st

from treeform.data import Dataset
from treeform.engines import CADL85, DL85, Blossom, ConTree, EngineRun, TreeTask
from treeform.engines.binary import RELAXATIONS, rule_names
from treeform.graph import DecisionGraph

LIMIT = EngineRun()
BIG = 10**12


def brute_force(data: Dataset, task: TreeTask) -> int:
    """The cheapest tree by recursion over all tests of all subsets."""
    points = data.points
    k = data.n_classes
    cost = 1 - np.eye(k, dtype=np.int64) if task.cost is None else task.cost
    value, weight = points.weights @ cost, points.weights.sum(axis=1)
    splits = data.splits("feature")
    masks = [sum(1 << int(i) for i in np.flatnonzero(row)) for row in splits.left]
    most = task.max_nodes if task.max_nodes is not None else BIG

    @cache
    def best(rows: int, depth: int, tests: int) -> int:
        inside = [i for i in range(points.n_points) if rows >> i & 1]
        found = BIG
        if weight[inside].sum() >= task.min_support:
            found = int(value[inside].sum(axis=0).min())
        if depth and tests:
            full = 2 ** (depth - 1) - 1
            for mask in masks:
                left, right = rows & mask, rows & ~mask
                if left and right:
                    for a in range(min(full, tests - 1) + 1):
                        below = best(left, depth - 1, a) + best(right, depth - 1, min(full, tests - 1 - a))
                        found = min(found, below + task.node_penalty)
        return found

    return best((1 << points.n_points) - 1, task.depth, min(most, 2**task.depth - 1))


def cost_of(graph: DecisionGraph, data: Dataset, task: TreeTask) -> int:
    """The cost of a tree, and a check of the task's limits on it."""
    leaf = graph.apply(data.X)
    wrong = (data.y != graph.label[leaf]).astype(np.int64)
    unit = wrong if task.cost is None else task.cost[data.y, graph.label[leaf]]
    assert graph.depth <= task.depth
    assert task.max_nodes is None or graph.n_nodes <= task.max_nodes
    for node in np.unique(leaf):
        assert data.weights[leaf == node].sum() >= task.min_support
    return int((data.weights * unit).sum()) + task.node_penalty * graph.n_nodes


def random_problem(seed: int, rows: int = 23, features: int = 5, depth: int = 5) -> tuple[Dataset, TreeTask]:
    """A small table with a random task, at most that large."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, rows + 1)), int(rng.choice([2, 2, 3, 4]))
    features = int(rng.integers(1, features + 1))
    X = (rng.random((n, features)) < rng.choice([0.5, 0.2])).astype(float)
    X[0], X[1] = 0, 1
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)[: len(y[:k])]
    weights = rng.integers(1, 6, n) if seed % 2 else None
    data = Dataset.from_user(X, y, weights)
    k = data.n_classes
    task = TreeTask(
        depth=int(rng.integers(1, depth + 1)),
        cost=rng.integers(0, 5, (k, k)) if seed % 3 == 0 else None,
        node_penalty=int(rng.choice([0, 0, 1, 2])),
        min_support=int(rng.choice([0, 0, 1, 2, 3])),
        max_nodes=None if seed % 4 else int(rng.integers(1, 9)),
    )
    return data, task


def settled(engine: Any, data: Dataset, task: TreeTask) -> int:
    """Run to the end; the claimed cost, the tree's and the bound must agree."""
    outcome = engine.run(data, task, LIMIT)
    assert outcome.proved, engine
    assert outcome.graph is not None
    assert outcome.upper == outcome.lower == cost_of(outcome.graph, data, task), engine
    return int(outcome.upper)


ENGINES = [
    DL85(),
    DL85(parts=("similarity", "warm-up")),
    DL85(parts=("cache",), exact_depth=2),
    DL85(memory_limit=1, order="lookahead"),
    DL85(simd="plain"),
    DL85(threads=3),
    CADL85(rule="top-k", threads=2, exact_depth=2),
    CADL85(rule=("gain", "discrepancy"), exact_depth=2),
    *[CADL85(rule=rule, relaxation=how, exact_depth=2) for rule in rule_names() for how in RELAXATIONS],
]


@pytest.mark.parametrize("seed", range(60))
def test_every_strategy_finds_the_optimum(seed: int) -> None:
    data, task = random_problem(seed)
    want = brute_force(data, task)
    blossom = [Blossom(), Blossom(exact_depth=2), Blossom(threads=2, exact_depth=2)]
    for engine in [*ENGINES, *(blossom if task.max_nodes is None else [])]:
        assert settled(engine, data, task) == want, engine


@pytest.mark.parametrize("batch", range(10))
def test_thousands_of_tiny_problems(batch: int, draw: Draw) -> None:
    """One engine each, in turn: what it proves is what enumeration finds."""
    blossoms = [Blossom(exact_depth=2), Blossom()]
    for seed in draw(range(1000 + 200 * batch, 1200 + 200 * batch), 100):
        data, task = random_problem(seed, rows=14, features=4, depth=4)
        engines = [*ENGINES, *(blossoms if task.max_nodes is None else [])]
        engine = engines[seed // 2 % len(engines)] if seed % 2 else DL85()
        assert settled(engine, data, task) == brute_force(data, task), (seed, engine)


@pytest.mark.parametrize("scale", [2**16 - 1, 2**33 + 1])
@pytest.mark.parametrize("simd", ["auto", "plain"])
def test_large_weights_take_wider_lanes(scale: int, simd: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (40, 5)).astype(float)
    y, weights = rng.integers(0, 3, 40), rng.integers(1, 5, 40)
    weights[0] = 5
    small, large = Dataset.from_user(X, y, weights), Dataset.from_user(X, y, weights * scale + (y == 0))
    task = TreeTask(depth=3)
    assert settled(DL85(simd=simd), large, task) == brute_force(large, task)
    assert settled(DL85(simd=simd), small, task) == brute_force(small, task)


TABLES = st.integers(0, 2**32 - 1)


def random_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (int(rng.integers(4, 30)), int(rng.integers(1, 5)))).astype(float)
    X[0], X[1] = 0, 1
    y = rng.integers(0, int(rng.integers(2, 4)), len(X))
    y[:2] = 0, 1
    return X, y


def optimum(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, depth: int = 3) -> int:
    engines = [DL85(), CADL85(rule="top-k*"), Blossom()]
    found = {settled(e, Dataset.from_user(X, y, weights), TreeTask(depth=depth)) for e in engines}
    assert len(found) == 1
    return found.pop()


@given(seed=TABLES, times=st.integers(2, 4))
@settings(max_examples=20)
def test_merging_equal_rows(seed: int, times: int) -> None:
    """Repeating all rows multiplies the optimum; a weight is as good as repetitions."""
    X, y = random_table(seed)
    plain = optimum(X, y)
    assert optimum(np.repeat(X, times, axis=0), np.repeat(y, times)) == times * plain
    weights = np.random.default_rng(seed).integers(1, 4, len(y))
    weights[0] = 1
    assert optimum(X, y, weights) == optimum(np.repeat(X, weights, axis=0), np.repeat(y, weights))


@given(seed=TABLES)
@settings(max_examples=20)
def test_cancelling_contradictory_rows(seed: int) -> None:
    """A pair of equal rows of the two classes costs exactly one more, whatever the tree."""
    X, y = random_table(seed)
    y = np.minimum(y, 1)
    some = np.random.default_rng(seed).integers(0, len(X), 5)
    noisy = np.vstack([X, X[some], X[some]]), np.r_[y, np.zeros(5, int), np.ones(5, int)]
    assert optimum(*noisy) == optimum(X, y) + 5


@given(seed=TABLES)
@settings(max_examples=20)
def test_equal_and_complementary_features(seed: int) -> None:
    """Copies, complements, constants and another order of the columns change nothing."""
    X, y = random_table(seed)
    wide = np.hstack([1 - X, X, np.zeros((len(X), 1)), X])
    shuffled = wide[:, np.random.default_rng(seed).permutation(wide.shape[1])]
    assert optimum(wide, y) == optimum(shuffled, y) == optimum(X, y)


@pytest.mark.parametrize("name", ["anneal", "tic-tac-toe", "vote", "primary-tumor"])
def test_published_optima(name: str, benchmark_data: Any) -> None:
    optimum = {"anneal": (112, 91), "tic-tac-toe": (216, 137), "vote": (12, 5), "primary-tumor": (46, 34)}
    data = Dataset.from_user(*benchmark_data(f"binary/{name}"))
    for depth, want in zip((3, 4), optimum[name], strict=True):
        for engine in (DL85(), CADL85()):
            outcome = engine.run(data, TreeTask(depth=depth), LIMIT)
            assert (outcome.upper, outcome.proved) == (want, True)


def test_agrees_with_the_continuous_engine(benchmark_data: Any) -> None:
    data = Dataset.from_user(*benchmark_data("binary/hepatitis"))
    for depth in (2, 3):
        task = TreeTask(depth=depth)
        assert DL85().run(data, task, LIMIT).upper == ConTree().run(data, task, LIMIT).upper
    rng = np.random.default_rng(3)
    for _ in range(10):
        numeric = Dataset.from_user(rng.normal(size=(40, 3)).round(1), rng.integers(0, 3, 40))
        task = TreeTask(depth=int(rng.integers(1, 4)))
        assert settled(DL85(), numeric, task) == ConTree().run(numeric, task, LIMIT).upper
