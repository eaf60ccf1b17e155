"""DiagramSearch in parts: cost and bound of the undivided search, and one diagram for any number of workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from in_parts import cost_of, never, solve_in_parts, weighted
from journals import check_journal

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, EngineRun, TreeTask

# Without alternation the search finds most models itself.
ENGINE = DiagramSearch(parts=("trees", "transpositions", "pairs"))


def table(seed: int, n: int = 60, features: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 6, (n, features)), columns=list("abcdefgh"[:features]))
    frame["y"] = ((frame["a"] > 2) ^ (frame["b"] > 2) ^ (frame["c"] > 3)) ^ (rng.random(n) < 0.15)
    return frame


@pytest.mark.parametrize("seed", range(6))
def test_costs_and_bounds_are_those_of_the_search_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = weighted(table(seed), seed, rng)
    widths = [(1, 2, 3), (1, 1, 2), None, (1, 2, 2), (1, 2, 4), None][seed]
    cost = rng.integers(0, 5, (2, 2)) * (1 - np.eye(2, dtype=int))
    task = TreeTask(
        3,
        cost if seed == 3 else None,
        int(rng.integers(0, 2)),
        min_support=[0, 5][seed == 4],
        max_nodes=[None, 5][seed == 0],
        widths=widths,
        min_flow=[0, 9][seed == 3],
    )
    alone = ENGINE.run(data, task, EngineRun())
    one, three = (solve_in_parts(ENGINE, data, task, workers) for workers in (1, 3))
    assert alone.proved
    assert (one.upper, one.lower, one.proved) == (alone.upper, alone.lower, True)
    assert (three.upper, three.lower, three.proved, three.graph) == (one.upper, one.lower, True, one.graph)


def test_parts_cover_the_search_and_their_bounds_are_true() -> None:
    frame = table(7, 40, 3)
    data = Dataset.from_user(frame.drop(columns="y"), frame["y"])
    task = TreeTask(3, widths=(1, 2, 3))
    questions: list[Any] = []
    evaluator = ENGINE.evaluator(data, task)

    def ask(question: Any) -> Any:
        questions.append(question)
        return evaluator.evaluate(question, never)

    outcome = ENGINE.run(data, task, EngineRun(ask=ask))
    assert outcome.proved
    last = [question for question in questions if question[3] == questions[-1][3]]
    least = []
    for question in last:
        open_question = question.copy()
        open_question[0] = 10**6
        reply = evaluator.evaluate(open_question, never)
        assert reply is not None
        cost = cost_of(reply)
        assert cost is not None  # without a bound every part has a diagram
        least.append(cost)
        for upper in (cost, cost + 1, cost - 1):
            bounded = question.copy()
            bounded[0] = upper
            again = evaluator.evaluate(bounded, never)
            assert again is not None
            assert (cost_of(again) == cost) is (upper > cost)
            assert again[0] <= cost
    tests = int(last[0][3])
    alone = ENGINE.run(data, TreeTask(3, widths=(1, 2, 3), max_nodes=tests), EngineRun())
    of_equal_rows = int(data.points.weights.min(axis=1).sum())  # parts leave out what every model costs
    assert min(least) + of_equal_rows == alone.upper


def test_problems_and_journals(tmp_path: Path) -> None:
    frame = table(2)
    problem = tf.Problem(frame, "y", shape=tf.Diagram(1, 2, 3))
    check_journal(problem, ENGINE, tmp_path, frame)


def test_a_message_that_does_not_fit_is_refused() -> None:
    data = Dataset.from_user(table(0).drop(columns="y"), table(0)["y"])
    evaluator = ENGINE.evaluator(data, TreeTask(3, widths=(1, 2, 3)))
    for wrong in ([0], [5, 0, 3, 4, 5, 5], [5, 0, 3, 99, 0, 1], [5, 0, 3, 4, 0, 999]):
        with pytest.raises(ValueError, match="does not fit"):
            evaluator.evaluate(np.array(wrong, dtype=np.int64), never)
