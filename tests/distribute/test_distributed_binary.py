"""DL85 in parts: the same cost as alone, and the same tree with any number of workers."""

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
from treeform.distribute.search import with_bounds_of_pairs
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
    data = weighted(table(seed), seed, rng)
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
        return None if answers > 3 else evaluator.evaluate(question, never)

    stopped = engine.run(data, task, EngineRun(ask=ask))
    assert alone.upper is not None
    assert stopped.upper is not None
    assert not stopped.proved
    assert stopped.lower <= alone.upper <= stopped.upper


MOST_PAIRED = 600
"""The tests up to which bounds of pairs travel (``binary/parts.cpp``)."""


def work_of(reply: Any) -> int:
    """The work that a reply states: the last but one of its counters, which follow two lists."""
    return int(reply[3 + int(reply[2]) + 3 + 10])


def _asked(engine: DL85, data: Dataset, task: TreeTask, most: int = 10**9) -> list[tuple[Any, Any]]:
    """The questions of a search with one worker, and their replies; the search stops after so many."""
    evaluator, asked = engine.evaluator(data, task), []

    def ask(question: Any) -> Any:
        asked.append((question, evaluator.evaluate(question, never)))
        return asked[-1][1] if len(asked) < most else None

    engine.run(data, task, EngineRun(ask=with_bounds_of_pairs(ask)))
    return asked


@pytest.mark.parametrize("seed", range(3))
def test_what_a_worker_remembers_and_what_others_tell_changes_no_cost(seed: int) -> None:
    frame = table(seed, 200, 10)
    data, task = Dataset.from_user(frame.drop(columns="y"), frame["y"]), TreeTask(4, node_penalty=seed % 2)
    engine = DL85(exact_depth=2)
    asked = _asked(engine, data, task)
    assert any(question[1] > 0 and question[2:-2].any() for question, _ in asked)
    fresh_work = 0
    for question, reply in asked:
        plain = np.array([question[0], 0, 1, question[-1]])
        fresh = engine.evaluator(data, task).evaluate(plain, never)
        assert fresh is not None
        assert cost_of(fresh) == cost_of(reply)
        assert min(fresh[0], question[0]) >= min(reply[0], question[0])
        fresh_work += work_of(fresh)
    assert sum(work_of(reply) for _, reply in asked) < fresh_work


def test_a_test_and_its_opposite_are_asked_about_once() -> None:
    frame = table(3)
    both = pd.concat([frame.drop(columns="y"), 1 - frame.drop(columns="y").add_prefix("not_")], axis=1)
    engine, task = DL85(exact_depth=2), TreeTask(4)
    once = _asked(engine, Dataset.from_user(frame.drop(columns="y"), frame["y"]), task)
    twice = _asked(engine, Dataset.from_user(both, frame["y"]), task)
    assert len(once) == len(twice)


def test_messages_with_many_tests_are_small() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    for tests in (MOST_PAIRED, MOST_PAIRED + 1):
        data = Dataset.from_user(rng.integers(0, 2, (150, tests)), y)
        asked = _asked(DL85(exact_depth=2), data, TreeTask(3), 2)
        assert [len(question) > 4 for question, _ in asked] == [False, tests == MOST_PAIRED]
        assert all(message.nbytes < 20_000 for pair in asked for message in pair)


def test_messages_that_do_not_fit_are_refused() -> None:
    frame = table(4)
    data, task = Dataset.from_user(frame.drop(columns="y"), frame["y"]), TreeTask(4)
    evaluator = DL85().evaluator(data, task)
    with pytest.raises(ValueError, match="does not fit"):
        evaluator.evaluate(np.array([9, 7, 0, 0, 1]), never)


def test_problems_and_journals(tmp_path: Path) -> None:
    frame = table(2, 150, 12)
    problem = tf.Problem(frame, "y", shape="tree:4")
    engine = tf.DL85(exact_depth=2)
    whole = check_journal(problem, engine, tmp_path, frame)
    assert problem.solve(executor="threading", workers=2).bound == whole.bound  # the usual engine
    with pytest.raises(SpecError, match="one budget of tests"):
        problem.add(tf.MaxNodes(6)).solve(engine, executor="threading")


def test_bounds_of_pairs_are_known_from_both_tests() -> None:
    unknown = -9
    asked: list[list[int]] = []

    def ask(question: Any) -> Any:
        asked.append(question.tolist())
        pairs = [unknown] + [unknown] * 12
        if question[-2] == 0:  # of the first of three tests: its side 1 with side 0 of the last one
            pairs[1 + (1 * 3 + 2) * 2 + 0] = 7
        return np.array([1, 1, len(pairs), *pairs])

    pool = with_bounds_of_pairs(ask)
    for test, price in ((0, 5), (2, 5), (2, 6)):
        pool(np.array([50, 0, 2, test, price]))
    first, second, third = asked
    assert first == [50, 0, 2, 0, 5]
    hints = [unknown] * 12
    hints[(0 * 3 + 0) * 2 + 1] = 7  # of the last test: its side 0 with side 1 of the first one
    assert second == [50, 12, *hints, 2, 2, 5]
    assert third == [50, 0, 2, 2, 6]  # at other prices nothing is known
