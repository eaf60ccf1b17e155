"""The binary engines as citizens: settings, limits, stops, binarisation."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.dp import CADL85, DL85, Blossom, EngineRun, TreeTask, by_name, names
from treeform.dp.binary import binarise
from treeform.errors import SpecError


def hard(n: int = 3000, features: int = 40) -> Dataset:
    """Noise: no proof within any patience."""
    rng = np.random.default_rng(11)
    return Dataset.from_user(rng.integers(0, 2, (n, features)).astype(float), rng.integers(0, 2, n))


@pytest.mark.parametrize("engine", [DL85(), CADL85(), Blossom()])
def test_time_limit_and_trace(engine: Any) -> None:
    data, trace = hard(), []
    run = EngineRun(time_limit=0.6, on_incumbent=lambda *event: trace.append(event))
    began = time.perf_counter()
    outcome = engine.run(data, TreeTask(depth=7), run)
    assert time.perf_counter() - began < 3
    assert (outcome.proved, outcome.reason) == (False, "time")
    assert outcome.graph is not None
    assert outcome.lower <= outcome.upper == (outcome.graph.predict_codes(data.X) != data.y).sum()
    uppers = [upper for _, upper, _, _ in trace]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] == outcome.upper
    assert all(lower <= outcome.upper for _, _, lower, _ in trace)


@pytest.mark.parametrize("engine", [DL85(), CADL85(rule="top-k*"), Blossom()])
def test_stop_and_interrupt(engine: Any) -> None:
    data = hard()

    def interrupt() -> bool:
        raise KeyboardInterrupt

    for stop in (lambda: True, interrupt):
        outcome = engine.run(data, TreeTask(depth=7), EngineRun(time_limit=30, stop=stop))
        assert (outcome.proved, outcome.reason) == (False, "interrupted")


def test_cutoff_and_start() -> None:
    data = hard(60, 8)
    task = TreeTask(depth=3)
    best = DL85().run(data, task, EngineRun())
    for engine in (DL85(), CADL85(), Blossom()):
        none = engine.run(data, task, EngineRun(upper=best.upper))
        assert (none.graph, none.proved) == (None, True)
        assert none.lower >= best.upper
        again = engine.run(data, task, EngineRun(upper=lambda: best.upper + 1))
        assert (again.upper, again.proved) == (best.upper, True)
        kept = engine.run(data, task, EngineRun(start=best.graph))
        assert (kept.upper, kept.proved) == (best.upper, True)


def test_tiny_cache_is_exact_and_forgets(benchmark_data: Any) -> None:
    data = Dataset.from_user(*benchmark_data("binary/primary-tumor"))
    outcome = DL85(memory_limit=2**14).run(data, TreeTask(depth=5), EngineRun())
    assert (outcome.upper, outcome.proved) == (26, True)
    assert outcome.counters["cache_evictions"] > 0


def test_binarisation_and_its_claims() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 120),
            "owner": rng.random(120) < 0.5,
            "job": rng.choice(list("abc"), 120),
        }
    )
    data = Dataset.from_user(frame, rng.integers(0, 2, 120))
    task = TreeTask(depth=2)
    full = DL85().run(data, task, EngineRun())
    assert (full.counters["lossless"], full.proved) == (1, True)
    few = DL85(binarize=4).run(data, task, EngineRun())
    assert (few.counters["lossless"], few.counters["optimal_for_binarisation"], few.proved) == (0, 1, False)
    assert few.counters["lower_for_binarisation"] == few.upper >= full.upper >= few.lower
    given = DL85(binarize={"age": [30, 50.5]})
    table = binarise(data, given.binarize)
    assert {"age <= 30", "age <= 50.5"} < set(table.tests(data))
    outcome = given.run(data, task, EngineRun())
    ages = [
        t
        for f, t in zip(outcome.graph.feature, outcome.graph.threshold, strict=True)
        if data.columns[max(f, 0)].name == "age" and f >= 0
    ]
    assert set(ages) <= {30.0, 50.5}
    assert outcome.upper == (outcome.graph.predict_codes(data.X) != data.y).sum()
    with pytest.raises(SpecError, match="income"):
        DL85(binarize={"income": [1.0]}).run(data, task, EngineRun())


@pytest.mark.parametrize(
    "make",
    [
        lambda: DL85(binarize="some"), lambda: DL85(binarize=0), lambda: DL85(order="best"), lambda: DL85(simd="mmx"),
        lambda: DL85(memory_limit=0), lambda: Blossom(exact_depth=4), lambda: CADL85(rule="luck"),
        lambda: CADL85(rule=()),
        lambda: CADL85(relaxation="slow"), lambda: CADL85(step=-1), lambda: DL85(exact_depth=True),
    ],
)  # fmt: skip
def test_bad_settings(make: Any) -> None:
    with pytest.raises(SpecError):
        make()


def test_names_and_values() -> None:
    assert {"dl85", "cadl85", "blossom"} <= set(names())
    assert by_name("cadl85") == CADL85(rule="discrepancy", relaxation="monotonic")
    assert hash(CADL85(rule=["gain", "discrepancy"])) == hash(CADL85(rule=("gain", "discrepancy")))
    assert tf.DL85() == DL85()


@pytest.mark.parametrize("solver", ["dl85", "cadl85", "blossom"])
def test_through_the_problem(solver: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (80, 6)), rng.integers(0, 2, 80)
    result = tf.Problem(X, y, shape=tf.Tree(depth=3)).solve(solver)
    assert result.status is tf.Status.OPTIMAL
    assert result.errors == tf.Problem(X, y, shape=tf.Tree(depth=3)).solve(tf.ConTree()).errors
