"""DL85 in parts: the same cost as alone, and the same tree with any number of workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from in_parts import solve_in_parts
from journals import check_journal

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DL85, EngineRun, TreeTask
from treeform.errors import SpecError


def table(seed: int, n: int = 120, features: int = 9) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (n, features)), columns=[f"f{i}" for i in range(features)])
    frame["y"] = (frame["f0"] ^ frame["f1"] ^ frame["f2"]) + (rng.random(n) < 0.2) * rng.integers(0, 2, n)
    return frame


@pytest.mark.parametrize("seed", range(6))
def test_costs_and_bounds_are_those_of_the_search_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = table(seed)
    weights = rng.integers(1, 4, len(frame)) if seed % 2 else None
    data = Dataset.from_user(frame.drop(columns="y"), frame["y"], weights)
    cost = rng.integers(0, 5, (data.n_classes,) * 2) * (1 - np.eye(data.n_classes, dtype=int))
    task = TreeTask(
        int(rng.integers(3, 5)),
        cost if seed % 3 == 0 else None,
        int(rng.integers(0, 3)),
        int(rng.choice([0, 6])),
    )
    engine = DL85(exact_depth=2)
    alone = engine.run(data, task, EngineRun())
    one, three = (solve_in_parts(engine, data, task, workers) for workers in (1, 3))
    assert (one.upper, one.lower, one.proved) == (alone.upper, alone.lower, True)
    assert (one.graph, one.upper, one.lower) == (three.graph, three.upper, three.lower)
    start = EngineRun(start=alone.graph, upper=None)
    proved = solve_in_parts(engine, data, task, 2, start)
    assert (proved.upper, proved.lower, proved.graph) == (alone.upper, alone.lower, alone.graph)


def test_a_root_test_stopped_early_leaves_a_bound() -> None:
    data = Dataset.from_user(table(1).drop(columns="y"), table(1)["y"])
    engine, task = DL85(exact_depth=2), TreeTask(4)
    alone, evaluator, answers = engine.run(data, task, EngineRun()), engine.evaluator(data, task), 0

    def ask(question: Any) -> Any:
        nonlocal answers
        answers += 1
        return None if answers > 3 else evaluator.evaluate(question, lambda: (False, None))

    stopped = engine.run_distributed(data, task, EngineRun(), ask, 1)
    assert alone.upper is not None
    assert stopped.upper is not None
    assert not stopped.proved
    assert stopped.lower <= alone.upper <= stopped.upper


def test_problems_and_journals(tmp_path: Path) -> None:
    frame = table(2, 150, 12)
    problem = tf.Problem(frame, "y", shape="tree:4")
    engine = tf.DL85(exact_depth=2)
    whole = check_journal(problem, engine, tmp_path, frame)
    assert problem.solve(executor="threading", workers=2).bound == whole.bound  # the usual engine
    with pytest.raises(SpecError, match="one budget of tests"):
        problem.add(tf.MaxNodes(6)).solve(engine, executor="threading")
