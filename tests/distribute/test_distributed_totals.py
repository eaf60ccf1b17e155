"""TotalsSearch in parts: cost, bound and witness of the undivided search, with any number of workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from in_parts import never, solve_in_parts

import treeform as tf
from treeform import _core
from treeform.data import Dataset
from treeform.distribute.journal import Parts, kept
from treeform.engines import EngineRun, TotalsSearch, TreeTask, totals
from treeform.engines.distributed import NOTHING, part_of, settles
from treeform.engines.relaxation import relax


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything of depth four travels, however small."""
    monkeypatch.setattr(totals, "LEAST_STEPS", 0.0)


def table(seed: int, n: int = 90, features: int = 6) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (n, features)), columns=[f"f{i}" for i in range(features)])
    frame["group"] = np.where((frame["f0"] ^ (rng.random(n) < 0.3)) == 1, "a", "b")
    frame["y"] = ((frame["f0"] ^ frame["f1"] ^ frame["f2"]) ^ (rng.random(n) < 0.2)).astype(int)
    return frame


def problem(seed: int, *more: tf.Requirement, depth: int = 4, **size: int) -> tf.Problem:
    frame = table(seed, **size)
    stated = tf.Problem(frame.drop(columns=["group", "y"]), frame["y"], shape=tf.Tree(depth))
    stated += tf.StatisticalParity(groups=frame["group"], positive=1, difference=["0.1", "0.02"][seed % 2])
    for one in more:
        stated += one
    return stated


def task_of(stated: tf.Problem) -> tuple[Dataset, TreeTask]:
    relaxation = relax(stated.question, TotalsSearch())
    assert relaxation is not None
    return stated.data, relaxation.task


def more_of(seed: int) -> list[tf.Requirement]:
    return [
        [],
        [tf.MinSupport(4)],
        [tf.FeatureBudget(5)],
        [tf.MaxNodes(9)],
        [tf.EqualOpportunity(groups=table(seed)["group"], positive=1, difference="0.05")],
        [],
    ][seed]


def test_the_searching_process_has_a_thread_for_each_idle_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    search, threads = _core.totals, list[int]()

    def spy(*arrays: Any, **given: Any) -> Any:
        threads.append(given["threads"])
        return search(*arrays, **given)

    monkeypatch.setattr(_core, "totals", spy)
    stated = problem(0)
    for engine, workers in ((TotalsSearch(), 1), (TotalsSearch(), 3), (TotalsSearch(threads=4), 3)):
        stated.solve(engine, executor="threading", workers=workers)
    assert threads == [1, 3, 4]


@pytest.mark.parametrize("seed", range(6))
def test_the_search_is_the_same_whoever_does_it(seed: int) -> None:
    data, task = task_of(problem(seed, *more_of(seed), depth=4 + (seed == 5)))
    alone = TotalsSearch().run(data, task, EngineRun())
    one, three = (solve_in_parts(TotalsSearch(), data, task, workers) for workers in (1, 3))
    assert (one.upper, one.lower, one.proved) == (alone.upper, alone.lower, True)
    assert (one.graph, one.upper, one.lower, one.witness) == (
        three.graph,
        three.upper,
        three.lower,
        three.witness,
    )
    assert one.counters["prices"] == alone.counters["prices"]


def test_what_cannot_be_satisfied_is_proved_in_parts() -> None:
    data, task = task_of(problem(0, tf.MinSupport(30), tf.MinRecall("0.9"), tf.MinSpecificity("0.9")))
    alone = TotalsSearch().run(data, task, EngineRun())
    assert alone.proved
    assert alone.graph is None
    found = solve_in_parts(TotalsSearch(), data, task, 2)
    assert (found.upper, found.lower, found.proved) == (None, alone.lower, True)


def test_problems_journals_and_messages(tmp_path: Path) -> None:
    stated = problem(1)
    whole = stated.solve(TotalsSearch())
    kept = stated.solve(TotalsSearch(), journal=tmp_path)
    for reply in list(tmp_path.glob("*/*"))[::2]:
        reply.unlink()
    again = stated.solve(TotalsSearch(), journal=tmp_path, executor="threading", workers=2)
    assert whole.objective == kept.objective == again.objective == again.bound
    assert kept.graph == again.graph
    assert any("of its parts were there" in note for note in again.notes)
    frame = table(1)
    X = frame.drop(columns=["group", "y"])
    assert tf.check(again.certificate(), X, frame["y"], sensitive_features=frame["group"]).ok


def test_replies_that_were_kept_answer_with_other_bounds(tmp_path: Path) -> None:
    parts = Parts()
    answered: list[int] = []
    question = np.array([50, 2, 7, 7, 2, 3, 9])
    assert part_of(question).tolist() == [3, 9]
    nothing, found = np.array([50, NOTHING, 4]), np.array([55, 55, 4])

    def ask(one: np.ndarray) -> np.ndarray:
        answered.append(int(one[0]))
        return found if one[0] > 50 else nothing

    answer = kept(tmp_path / "s", ask, parts, bounded=True)
    lower, higher = question.copy(), question.copy()
    lower[0], higher[0] = 20, 60
    for one, told in ((question, nothing), (lower, nothing), (higher, found), (question, found), (lower, found)):
        reply = answer(one)
        assert reply is not None
        assert reply.tolist() == told.tolist()
        assert settles(reply, one)
    assert answered == [50, 60]  # nothing below 50 says nothing of 60; what costs 55 answers all
    assert len(parts.found) == 3


def test_a_message_that_does_not_fit_is_refused() -> None:
    data, task = task_of(problem(0))
    evaluator = TotalsSearch().evaluator(data, task)
    for wrong in ([0], [10, 1], [10, 0, 4, 0, 99, 4, 1], [10, 5, 99, 0, 0, 0, 0, 6, 0, 4, 1, 0, 0, 0]):
        with pytest.raises(ValueError, match="does not fit"):
            evaluator.evaluate(np.array(wrong, dtype=np.int64), never)


def test_stopping_keeps_a_bound() -> None:
    data, task = task_of(problem(1))
    answers, evaluator = 0, TotalsSearch().evaluator(data, task)

    def ask(question: Any) -> Any:
        nonlocal answers
        answers += 1
        return None if answers > 5 else evaluator.evaluate(question, never)

    alone = TotalsSearch().run(data, task, EngineRun())
    stopped = TotalsSearch().run(data, task, EngineRun(ask=ask))
    assert alone.upper is not None
    assert not stopped.proved
    assert stopped.lower <= alone.upper
