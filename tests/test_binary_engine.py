"""The binary engines against brute force, against each other, and against ConTree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from treeform.data import Dataset
from treeform.dp import CADL85, DL85, Blossom, ConTree, EngineRun, TreeTask
from treeform.dp.binary import RELAXATIONS, rule_names
from treeform.graph import DecisionGraph

LIMIT = EngineRun(time_limit=20)
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


def random_problem(seed: int) -> tuple[Dataset, TreeTask]:
    """A small table with a random task."""
    rng = np.random.default_rng(seed)
    n, features, k = int(rng.integers(3, 24)), int(rng.integers(1, 6)), int(rng.choice([2, 2, 3, 4]))
    X = (rng.random((n, features)) < rng.choice([0.5, 0.2])).astype(float)
    X[0], X[1] = 0, 1
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)[: len(y[:k])]
    weights = rng.integers(1, 6, n) if seed % 2 else None
    data = Dataset.from_user(X, y, weights)
    k = data.n_classes
    task = TreeTask(
        depth=int(rng.integers(1, 6)),
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
    DL85(cache=False),
    DL85(similarity=False, warm_up=False, exact_depth=2),
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
    blossom = [] if task.max_nodes is not None else [Blossom(), Blossom(exact_depth=2), Blossom(threads=2, exact_depth=2)]
    for engine in [*ENGINES, *blossom]:
        assert settled(engine, data, task) == want, engine


@pytest.mark.parametrize("seed", range(1000, 1300))
def test_default_against_brute_force(seed: int) -> None:
    data, task = random_problem(seed)
    assert settled(DL85(), data, task) == brute_force(data, task)


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


def test_preprocessing_keeps_the_optimum() -> None:
    """Repeated rows, contradictory rows, equal and complementary columns change nothing but known amounts."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        X = rng.integers(0, 2, (25, 4)).astype(float)
        y = rng.integers(0, 2, 25)
        y[:2] = 0, 1
        plain = settled(DL85(), Dataset.from_user(X, y), TreeTask(depth=4))
        twice = settled(DL85(), Dataset.from_user(np.vstack([X, X]), np.r_[y, y]), TreeTask(depth=4))
        wide = settled(DL85(), Dataset.from_user(np.hstack([X, 1 - X, X]), y), TreeTask(depth=4))
        noisy = settled(DL85(), Dataset.from_user(np.vstack([X, X]), np.r_[y, 1 - y]), TreeTask(depth=4))
        assert (twice, wide, noisy) == (2 * plain, plain, 25)


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
