"""The binary engines as citizens: settings, limits, stops, binarisation."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from timing import Timed
from typer.testing import CliRunner

import treeform as tf
from treeform.catalogue.solvers import engine_names, find_engine
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.engines import CADL85, DL85, Blossom, EngineRun, TreeTask
from treeform.engines.binary import binarise
from treeform.errors import SpecError
from treeform.utils.budget import Budget


def hard(n: int = 3000, features: int = 40) -> Dataset:
    """Noise: no proof within any patience."""
    rng = np.random.default_rng(11)
    return Dataset.from_user(rng.integers(0, 2, (n, features)).astype(float), rng.integers(0, 2, n))


@pytest.mark.parametrize("engine", [DL85(), CADL85(), Blossom()])
def test_time_limit_and_trace(engine: Any, timed: Timed) -> None:
    data, trace = hard(), []
    run = EngineRun(Budget(0.3), on_incumbent=lambda *event: trace.append(event))
    began = time.process_time()
    outcome = engine.run(data, TreeTask(depth=7), run)
    timed(time.process_time() - began, 2)
    assert (outcome.proved, outcome.reason) == (False, "time")
    assert outcome.graph is not None
    assert outcome.lower <= outcome.upper == (outcome.graph.predict_codes(data.X) != data.y).sum()
    uppers = [upper for _, upper, _, _ in trace]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] == outcome.upper
    assert all(lower <= outcome.upper for _, _, lower, _ in trace)


@pytest.mark.parametrize("engine", [DL85(), CADL85(), Blossom(), DL85(threads=2)])
def test_a_stop_at_any_moment(engine: Any) -> None:
    """Also in the middle of the first subtree that is solved outright."""
    data = hard(500, 90)
    for step in range(12):
        run = EngineRun(Budget().share(0.004 * step), upper=200)
        outcome = engine.run(data, TreeTask(depth=3), run)
        assert outcome.upper is None or outcome.upper < 200
        assert outcome.lower <= 200 or outcome.proved


@pytest.mark.parametrize("engine", [DL85(), CADL85(), Blossom(), DL85(threads=2)], ids=str)
@pytest.mark.parametrize(("support", "tests"), [(1, 7), (10, 7), (1, 4)])
def test_a_greedy_tree_comes_before_a_long_table_of_triples(engine: Any, support: int, tests: int) -> None:
    """Their number is the cube of that of the columns: 500 rows of 3,000 columns had the constant for seconds."""
    rng = np.random.default_rng(2)
    X = (rng.random((300, 600)) < 0.4).astype(float)
    y = np.where(X[:, 0] == 1, X[:, 1] == X[:, 2], X[:, 3] == X[:, 4]) ^ (rng.random(300) < 0.05)
    seen: list[Any] = []
    run = EngineRun(on_incumbent=lambda seconds, upper, lower, graph: seen.append(upper))
    found = engine.run(Dataset.from_user(X, y), TreeTask(depth=3, min_support=support, max_nodes=tests), run)
    greedy = DecisionTreeClassifier(
        max_depth=3, max_leaf_nodes=tests + 1, min_samples_leaf=support, random_state=0
    ).fit(X, y)
    assert found.proved
    assert found.upper < seen[0] <= (greedy.predict(X) != y).sum()


@pytest.mark.parametrize("tests", [1, 2])
def test_a_greedy_tree_of_few_tests_ranks_no_pairs(tests: int) -> None:
    """Of one test no pair of columns is weighed, and candidates were ranked by pairs that nobody had: it crashed."""
    rng = np.random.default_rng(2)
    X, y = (rng.random((200, 600)) < 0.4).astype(float), rng.integers(0, 2, 200)
    data = Dataset.from_user(X, y)
    found = [
        DL85(order=order).run(data, TreeTask(depth=depth, max_nodes=tests), EngineRun())
        for order, depth in (("lookahead", 4), ("gini", 2))
    ]
    assert all(one.proved for one in found) and found[0].upper == found[1].upper


@pytest.mark.parametrize("engine", [DL85(), CADL85(rule="top-k*"), Blossom()])
def test_stop_and_interrupt(engine: Any) -> None:
    data = hard()

    def interrupt() -> bool:
        raise KeyboardInterrupt

    for stop in (lambda: True, interrupt):
        outcome = engine.run(data, TreeTask(depth=7), EngineRun(Budget().until(stop)))
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


@pytest.mark.parametrize("limit", [1, 2**14, 2**20])
def test_tiny_cache_is_exact_and_forgets(limit: int, benchmark_data: Any) -> None:
    data = Dataset.from_user(*benchmark_data("binary/primary-tumor"))
    for engine in (DL85(memory_limit=limit), CADL85(memory_limit=limit), DL85(memory_limit=limit, threads=2)):
        outcome = engine.run(data, TreeTask(depth=5), EngineRun())
        assert (outcome.upper, outcome.proved) == (26, True)
        assert outcome.counters["cache_evictions"] > 0 or limit == 2**20


@pytest.mark.parametrize("engine", [DL85(threads=2), CADL85(threads=2), Blossom(threads=2), Blossom()])
def test_stop_keeps_the_best_within_a_tenth_of_a_second(engine: Any, timed: Timed) -> None:
    """Wide data, where one step of the search is long. The calling thread looks up every 0.05 s."""
    rng = np.random.default_rng(8)
    data = Dataset.from_user(rng.integers(0, 2, (2000, 200)).astype(float), rng.integers(0, 3, 2000))
    asked: list[float] = []
    found: list[int] = []
    stopped: list[float] = []

    def stop() -> bool:
        asked.append(time.process_time())
        if found and len(asked) > 6:
            stopped.append(asked[-1])
        return bool(stopped)

    run = EngineRun(Budget().until(stop), on_incumbent=lambda s, upper, *_: found.append(upper))
    outcome = engine.run(data, TreeTask(depth=6), run)
    late = time.process_time() - stopped[0]
    assert (outcome.proved, outcome.reason) == (False, "interrupted")
    assert outcome.upper == (outcome.graph.predict_codes(data.X) != data.y).sum()
    timed(late, 0.6)  # of the processor, of up to two threads


def test_start_tree_is_used_and_improved() -> None:
    """Its upper tests stay and its lower levels are solved anew, before anything else happens."""
    data = hard(400, 12)
    task = TreeTask(depth=4)
    shallow = DL85().run(data, TreeTask(depth=2), EngineRun())
    for engine in (DL85(), CADL85(rule="purity"), Blossom()):
        trace: list[int] = []
        run = EngineRun(
            Budget().until(lambda: True),
            start=shallow.graph,
            on_incumbent=lambda s, u, *_, t=trace: t.append(u),
        )
        outcome = engine.run(data, task, run)
        assert trace[0] == shallow.upper
        assert outcome.upper <= shallow.upper
    best = DL85().run(data, task, EngineRun())
    improved = best.graph
    again = DL85(exact_depth=2).run(data, task, EngineRun(start=improved))
    assert (again.upper, again.proved) == (best.upper, True)
    numeric = Dataset.from_user(np.linspace(0, 1, 40)[:, None], np.arange(40) // 10 % 2)
    first = DL85().run(numeric, TreeTask(depth=2), EngineRun())
    kept = DL85(binarize=1).run(
        numeric, TreeTask(depth=2), EngineRun(start=first.graph, upper=first.upper + 1)
    )
    assert (kept.upper, kept.graph) == (first.upper, first.graph)


def test_cutoff_from_outside_ends_blossom_too() -> None:
    data = hard(60, 8)
    best = DL85().run(data, TreeTask(depth=5), EngineRun())
    for engine in (DL85(parts=("cache", "similarity"), exact_depth=2), CADL85(), Blossom(exact_depth=2)):
        outcome = engine.run(data, TreeTask(depth=5), EngineRun(upper=lambda: best.upper))
        assert (outcome.graph, outcome.proved) == (None, True)


def test_settings_in_a_name() -> None:
    assert find_engine("dl85:binarize=10,memory_limit=268435456,threads=2") == DL85(
        binarize=10, memory_limit=2**28, threads=2
    )
    assert find_engine("cadl85:rule=gain+discrepancy,relaxation=luby") == CADL85(
        rule=("gain", "discrepancy"), relaxation="luby"
    )
    assert find_engine("cadl85:rule=top-k*").rule == "top-k*"
    assert find_engine("blossom:exact_depth=2,binarize=age@30+50.5+job income@2e3") == Blossom(
        exact_depth=2, binarize={"age": [30, 50.5], "job income": [2000]}
    )
    for wrong in ("dl85:10", "dl85:binarize=ab", "dl85:binarize=age@old", "dl85:colour=1", "dl86:binarize=1"):
        with pytest.raises(SpecError):
            find_engine(wrong)


def test_result_says_what_the_binarisation_is_worth(tmp_path: Any) -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 90), "y": rng.integers(0, 2, 90)})
    result = tf.Problem(frame[["age"]], frame["y"], shape=tf.Tree(depth=2)).solve("dl85:binarize=3")
    assert result.status is tf.Status.FEASIBLE
    assert any("3 of" in note and "optimal for that binarisation" in note for note in result.notes)
    frame.to_csv(tmp_path / "d.csv", index=False)
    given = ["fit", str(tmp_path / "d.csv"), "--target", "y", "--shape", "tree:2", "-v"]
    for how in ("3", "age@30+50"):
        shown = CliRunner().invoke(app, [*given, "--solver", f"dl85:binarize={how}"])
        assert "optimal for that binarisation" in " ".join(shown.output.split()), shown.output


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
        lambda: DL85(memory_limit=0), lambda: Blossom(threads=0), lambda: Blossom(exact_depth=4),
        lambda: CADL85(rule="luck"),
        lambda: CADL85(rule=()),
        lambda: CADL85(relaxation="slow"), lambda: CADL85(step=-1), lambda: DL85(exact_depth=True),
    ],
)  # fmt: skip
def test_bad_settings(make: Any) -> None:
    with pytest.raises(SpecError):
        make()


def test_names_and_values() -> None:
    assert {"dl85", "cadl85", "blossom"} <= set(engine_names())
    assert find_engine("cadl85") == CADL85(rule="discrepancy", relaxation="exponential")
    assert hash(CADL85(rule=["gain", "discrepancy"])) == hash(CADL85(rule=("gain", "discrepancy")))
    assert tf.DL85() == DL85()


@pytest.mark.parametrize("solver", ["dl85", "cadl85", "blossom"])
def test_through_the_problem(solver: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (80, 6)), rng.integers(0, 2, 80)
    result = tf.Problem(X, y, shape=tf.Tree(depth=3)).solve(solver)
    assert result.status is tf.Status.OPTIMAL
    assert result.errors == tf.Problem(X, y, shape=tf.Tree(depth=3)).solve(tf.ConTree()).errors
