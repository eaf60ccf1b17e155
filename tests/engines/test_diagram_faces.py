"""DiagramSearch through the Python API and the command line: limits, stops, bad settings."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from diagram_reference import least_costs
from layered_reference import random_data
from step_one import step_one
from timing import Timed
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.engines import DiagramSearch, EngineRun, TreeTask
from treeform.engines.native_call import admissible_diagram
from treeform.errors import SpecError
from treeform.utils.budget import Budget

SHAPE = tf.Diagram(1, 2, 4, 4, 4)


def hard(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Noise: no proof in sight."""
    rng = np.random.default_rng(1)
    return rng.random((n, 12)), rng.integers(0, 3, n)


def test_requirements_costs_and_weights_through_a_problem() -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (8, 2)).astype(float)
    y, weight = np.array(list("abcabcab")), rng.integers(1, 4, 8)
    costs = np.array([[0, 2, 3], [1, 0, 1], [1, 2, 0]])
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2), sample_weight=weight)
    problem.minimize(tf.Cost(costs) + Fraction(1, 2) * tf.Nodes())
    problem += [tf.MinSupport(2), tf.MaxNodes(3), tf.Stability(3)]
    result = problem.solve(DiagramSearch())
    task = TreeTask(3, costs, 0, 2, 3, (1, 2, 2), 3)
    e = least_costs(problem.data, task)
    assert result.status is tf.Status.OPTIMAL
    assert result.objective == min(cost + Fraction(k, 2) for k, cost in enumerate(e))


def test_a_memory_limit_forgets_and_stays_exact() -> None:
    data = random_data(3, n=8, n_classes=3)
    for widths in ((1, 2, 3), (1, 2, 2, 2)):
        shape = tf.Diagram(*widths)
        whole = DiagramSearch().size_table(data, shape)
        assert DiagramSearch(memory_limit=20_000).size_table(data, shape).upper == whole.upper
    X, y = hard(60)
    few, task = Dataset.from_user(X[:, :4], y), TreeTask(3, widths=(1, 2, 3))
    whole, small = (
        DiagramSearch(memory_limit=limit).run(few, task, EngineRun()) for limit in (None, 100_000)
    )
    assert small.counters["evictions"] > 0 == whole.counters["evictions"]
    assert small.proved and small.upper == whole.upper


def test_data_too_large_for_the_memory() -> None:
    X, y = hard()
    engine = DiagramSearch(memory_limit=10_000)
    outcome = engine.run(Dataset.from_user(X, y), TreeTask(3, widths=(1, 2, 3)), EngineRun(Budget(250.0)))
    assert outcome.reason == "memory"
    assert not outcome.proved


def test_a_time_limit_is_kept(timed: Timed) -> None:
    X, y = hard()
    data = Dataset.from_user(X, y)
    began = time.process_time()
    outcome = DiagramSearch().run(data, TreeTask(5, widths=SHAPE.widths), EngineRun(Budget(0.5)))
    timed(time.process_time() - began, 2.0)
    assert (outcome.reason, outcome.proved) == ("time", False)
    found = (
        admissible_diagram(outcome.graph, data, TreeTask(5, widths=SHAPE.widths)) if outcome.graph else None
    )
    assert found is not None
    assert outcome.lower <= found.cost == outcome.upper


def test_a_stop_is_heeded(timed: Timed) -> None:
    X, y = hard()
    called = []

    def stop() -> bool:
        called.append(time.process_time())
        return len(called) > 4

    outcome = DiagramSearch().run(
        Dataset.from_user(X, y), TreeTask(5, widths=SHAPE.widths), EngineRun(Budget().until(stop))
    )
    ended = time.process_time()
    assert outcome.reason == "interrupted"
    timed(ended - called[4], 1.0)
    timed(called[3] - called[0], 2.0)


def test_ctrl_c_gives_the_best_so_far(timed: Timed) -> None:
    problem = tf.Problem(*hard(), shape=SHAPE)
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.process_time()
    result = problem.solve(DiagramSearch())
    timed(time.process_time() - began, 5.0)
    assert result.status is tf.Status.FEASIBLE
    assert result.graph is not None
    assert result.bound is not None


def test_step_one_alone_and_its_seed(timed: Timed) -> None:
    X, y = hard(120)
    data = Dataset.from_user(X, y)
    task = TreeTask(4, widths=(1, 2, 4, 8), node_penalty=1)
    runs = [step_one(data, task, seed=seed, starts=20) for seed in (1, 1, 2)]
    assert runs[0].counters["starts"] == 20
    assert runs[0].upper == runs[1].upper
    for run in runs:
        assert run.graph is not None
        assert run.upper is not None
        found = admissible_diagram(run.graph, data, task)
        assert found is not None
        assert (found.tests, found.cost) == (run.graph.n_nodes, run.upper - run.graph.n_nodes)
    short = step_one(data, task, seconds=0.2)
    timed(short.seconds, 2.0)
    exact = DiagramSearch().run(random_data(4), TreeTask(2, widths=(1, 2)), EngineRun())
    greedy = step_one(random_data(4), TreeTask(2, widths=(1, 2)), seconds=0.1)
    assert greedy.upper is not None
    assert exact.upper is not None
    assert greedy.upper >= exact.upper


@pytest.mark.parametrize(
    ("setting", "cause"),
    [
        ({"threads": 2}, "one thread"),
        ({"memory_limit": 0}, "bytes"),
        ({"memory_limit": 1.5}, "bytes"),
        ({"parts": ("trees", "luck")}, "the parts are"),
        ({"simd": "mmx"}, ""),
    ],
)
def test_settings_that_are_not_possible(setting: dict[str, object], cause: str) -> None:
    with pytest.raises(SpecError) as caught:
        DiagramSearch(**setting)  # type: ignore[arg-type]
    assert cause in str(caught.value)


def test_tasks_that_are_not_possible() -> None:
    data = random_data(1)
    with pytest.raises(SpecError, match="univariate tests only"):
        DiagramSearch().size_table(data, tf.Diagram(1, 2, splits="multivariate"))
    with pytest.raises(SpecError, match="cannot cost"):
        DiagramSearch().size_table(data, tf.Diagram(1, 2), [-1])
    with pytest.raises(SpecError, match="free"):
        DiagramSearch().size_table(data, tf.Diagram(1, 2), [1], free=-1)
    with pytest.raises(SpecError, match="64 tests in a layer"):
        DiagramSearch().size_table(data, tf.Diagram(1, 2, 4, 8, 16, 32, 64, 128))
    table = DiagramSearch().size_table(data, tf.Diagram(1, 2), [1], min_support=10**6)
    assert table.upper[-1] is None
    with pytest.raises(SpecError, match="no model"):
        table.best(1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    data = random_data(11, n=8, n_classes=2)
    frame = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.n_features)]).assign(target=data.y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def command(name: str, table: Path, shape: str, solver: str = "diagram-search") -> list[str]:
    return [name, str(table), "--target", "target", "--shape", shape, "--solver", solver]


def test_command_line_fit(table: Path) -> None:
    solver = f"diagram-search:memory_limit={2**22},parts=trees+transpositions"
    arguments = command("fit", table, "diagram:1,2,3", solver)
    done = CliRunner().invoke(app, [*arguments, "-v", "--time-limit", "20"])
    assert done.exit_code == 0, done.output
    assert "optimal" in done.output
    frame = pd.read_csv(table)
    data = Dataset.from_user(frame.drop(columns="target"), frame["target"])
    least = least_costs(data, TreeTask(3, widths=(1, 2, 3)))[-1]
    assert f"{least} of 8" in done.output
    assert "transpositions" in done.output


def test_command_line_requirements(table: Path) -> None:
    arguments = command("fit", table, "diagram:1,2,2")
    limits = ["--require", "min_support:2", "--require", "max_nodes:3", "--minimize", "error + 1/4*nodes"]
    done = CliRunner().invoke(app, [*arguments, *limits, "--quiet"])
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(table)
    data = Dataset.from_user(frame.drop(columns="target"), frame["target"])
    e = least_costs(data, TreeTask(3, None, 0, 2, 3, (1, 2, 2)))
    found = min(cost + Fraction(k, 4) for k, cost in enumerate(e))
    done = CliRunner().invoke(app, [*arguments, *limits])
    assert f"objective          {float(found):g}" in done.output


def test_command_line_size_table(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "sizes.json"
    arguments = command("size-table", table, "diagram:1,2,3")
    done = CliRunner().invoke(app, [*arguments, "--output", str(out), "--quiet"])
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(table)
    data = Dataset.from_user(frame.drop(columns="target"), frame["target"])
    e = least_costs(data, TreeTask(3, widths=(1, 2, 3)))
    rows = json.loads(out.read_text())["rows"]
    assert [Fraction(row["upper"]) for row in rows] == e[: len(rows)]
    assert [row["lower"] for row in rows] == [row["upper"] for row in rows]
    alphas = ["--alpha", "1", "--alpha", "0.01", "--price", "2"]
    done = CliRunner().invoke(app, [*arguments, *alphas, "--quiet"])
    assert done.exit_code == 0, done.output
    assert done.output.count("alpha") == 2
