"""Equal rows of a large table are one row of their weight: costs, bounds and supports are those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import Draw
from test_contree_binding import call

from treeform.data import Dataset
from treeform.data.views import merge_points
from treeform.engines import ConTree, EngineRun, TreeTask, contree
from treeform.graph import evaluate


def random_case(seed: int) -> tuple[Dataset, TreeTask]:
    """A table in which each row occurs five times on average, sometimes with another class, and limits."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(10_000, 12_000)), int(rng.integers(2, 4))
    few = rng.normal(size=(n // 10, 2))[rng.integers(0, n // 10, n)]
    y = ((few > 0).sum(axis=1) + (rng.random(n) < 0.02)) % classes
    return Dataset.from_user(few, y), TreeTask(
        depth=int(rng.integers(1, 4)),
        node_penalty=int(rng.choice([0, 20])),
        min_support=int(rng.choice([0, 1, 500])),
    )


def outcome_of(data: Dataset, task: TreeTask) -> Any:
    return ConTree().run(data, task, EngineRun())


@pytest.mark.parametrize("block", range(2))
def test_costs_are_those_of_all_rows(block: int, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in draw(range(100 * block, 100 * block + 100), 6):
        data, task = random_case(seed)
        assert len(contree._arrays(data, task)[0]) * 3 <= data.n_samples
        merged = outcome_of(data, task)
        with monkeypatch.context() as patched:
            patched.setattr(contree, "_few_rows_differ", lambda data: False)
            assert len(contree._arrays(data, task)[0]) == data.n_samples
            whole = outcome_of(data, task)
        assert merged.proved
        assert (merged.upper, merged.lower) == (whole.upper, whole.lower)
        graph = merged.graph
        tested = np.asarray(graph.feature) >= 0
        assert merged.upper == evaluate.weighted_errors(graph, data) + task.node_penalty * tested.sum()
        assert np.asarray(graph.counts).sum(axis=1)[~tested].min() >= task.min_support


def heavy_case(times: int = 3_000, others: int = 6) -> Dataset:
    """A table of which one row occurs many times."""
    rng = np.random.default_rng(times)
    x = rng.normal(size=(4_000, 2))[np.r_[np.repeat(0, times), np.repeat(np.arange(4_000), others)]]
    return Dataset.from_user(x, (x.sum(axis=1) + 0.3 * rng.normal(size=len(x)) > 0).astype(int))


def test_a_row_of_large_weight_is_several() -> None:
    data, task = heavy_case(), TreeTask(depth=2)
    X, y, weights, _ = contree._arrays(data, task)
    assert weights.max() == contree._NARROW_WEIGHT
    points = merge_points(X, y.astype(np.int64), weights, 2)
    assert np.array_equal(points.X, data.points.X)
    assert np.array_equal(points.weights, data.points.weights)
    assert call(X, y, weights)["width"] == "narrow"
    assert call(X, y, weights)["tree"]["cost"] == call(data.X, data.y.astype(np.int32))["tree"]["cost"]


@pytest.mark.parametrize("seed", range(3))
def test_rows_without_a_label_are_in_no_list(seed: int) -> None:
    """Rows so many that sides are lists take the same splits as one of their weight each, with sorted sides."""
    X, y = np.random.default_rng(seed).integers(0, 5, (40, 2)).astype(float), np.arange(40, dtype=np.int32) % 2
    times = 1_700
    asked: dict[str, Any] = {"depth": 4, "min_support": 3 * times, "improve": False}
    merged = call(X, y, np.full(40, times), **asked)
    listed = call(np.repeat(X, times, axis=0), np.repeat(y, times), **asked)
    assert merged["complete"] and listed["complete"]
    assert (merged["lower"], merged["tree"]["cost"]) == (listed["lower"], listed["tree"]["cost"])
    assert merged["counters"]["splits"] == listed["counters"]["splits"]


@pytest.mark.parametrize("what", ["sums are small", "rows are many", "many rows are heavy", "costs"])
def test_a_row_of_large_weight_stays_one(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times, others = 100 if what == "sums are small" else 3_000, 20 if what == "many rows are heavy" else 6
    data, task = heavy_case(times, others), TreeTask(depth=2)
    if what == "rows are many":
        monkeypatch.setattr(contree, "_NARROW_ROWS", 5_000)
    elif what == "costs":
        task = TreeTask(depth=2, cost=np.array([[0, 3], [1, 0]]))
    assert len(contree._arrays(data, task)[0]) == len(data.points.cells[0])


@pytest.mark.parametrize("what", ["few rows", "weights", "rows that differ", "a third, but for classes"])
def test_other_tables_stay(what: str) -> None:
    rng = np.random.default_rng(0)
    n = 9_000 if what == "few rows" else 10_000
    x, y, w = rng.integers(0, 30, (n, 2)).astype(float), rng.integers(0, 2, n), None
    if what == "weights":
        w = np.arange(n) % 2
    elif what == "rows that differ":
        x = rng.normal(size=(n, 2))
    elif what.startswith("a third"):
        x, y = rng.permutation(n)[:, None] % (n // 3) * 1.0, np.arange(n) * 3 // n
    data = Dataset.from_user(x, y, w)
    assert len(contree._arrays(data, TreeTask(depth=2))[0]) == data.n_samples
