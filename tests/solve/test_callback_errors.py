"""An error of `on_progress`, whenever it comes, does not cost the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.tradeoff.conflict import Conflict

Report = Callable[[Any], None]


def problem(depth: int = 3) -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.random((400, 5))
    return tf.Problem(X, X[:, 0] > X[:, 1], shape=tf.Tree(depth))


def raising(when: Callable[[tf.Progress], bool]) -> Report:
    def report(progress: tf.Progress) -> None:
        if when(progress):
            raise LookupError("the display is gone")

    return report


@pytest.mark.parametrize(
    ("how", "phase"),
    [
        ({}, "constant models"),
        ({}, "exact search"),
        ({"solver": "highs", "formulation": "odd"}, "relaxed search"),
        ({"solver": "highs", "formulation": "odd", "warm_start": None}, "solver"),
    ],
)
def test_between_stages(how: dict[str, Any], phase: str) -> None:
    report = raising(lambda progress: progress.phase == phase and progress.upper is not None)
    with pytest.raises(LookupError, match="the display is gone") as raised:
        problem().solve(**how, on_progress=report)
    result = raised.value.result  # type: ignore[attr-defined]
    assert isinstance(result, tf.Result)
    assert result.graph is not None and result.objective == problem().judge(result.graph).objective
    assert str(result.limit) == ("interrupted" if result.status is tf.Status.FEASIBLE else "None")
    assert "attribute `result`" in raised.value.__notes__[0]


def test_within_a_search() -> None:
    """The model that was reported is the one that is kept."""
    seen: list[Any] = []

    def better(progress: tf.Progress) -> bool:
        seen.append(progress.upper)
        return progress.upper is not None and progress.upper < 150

    with pytest.raises(LookupError) as raised:
        problem().solve(on_progress=raising(better))
    assert raised.value.result.objective <= seen[-1] < 150  # type: ignore[attr-defined]


WORK: dict[str, Callable[[tf.Problem, Report], Any]] = {
    "frontier": lambda asked, report: asked.frontier(over="max_nodes", on_progress=report),
    "size table": lambda asked, report: asked.size_table(on_progress=report),
    "curve": lambda asked, report: asked.pareto(on_progress=report),
    "near-optimal": lambda asked, report: asked.near_optimal(on_progress=report),
    "prices": lambda asked, report: asked.solve().prices(on_progress=report),
}


@pytest.mark.parametrize("name", WORK)
def test_other_work_carries_its_answer(name: str) -> None:
    """It is of the kind that the call returns, and not that of the solve which was under way."""
    asked = problem(2) + tf.MaxNodes(3)
    expected = WORK[name](asked, lambda progress: None)
    with pytest.raises(LookupError) as raised:
        WORK[name](asked, raising(lambda progress: progress.upper is not None))
    assert type(raised.value.result) is type(expected)  # type: ignore[attr-defined]
    assert len(raised.value.__notes__) == 1


def test_a_conflict_carries_its_answer() -> None:
    asked = problem(2) + tf.MaxNodes(1) + tf.MaxErrors(count=0)
    with pytest.raises(LookupError) as raised:
        asked.conflict(on_progress=raising(lambda progress: progress.lower is not None))
    assert isinstance(raised.value.result, Conflict)  # type: ignore[attr-defined]


def test_an_engine_that_ends_by_itself_says_so() -> None:
    """One that proves nothing: no limit of time or memory ended it."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 2, 60)
    result = tf.Problem(X, y, shape="tree:4").solve("deep-tree-search:work_limit=1000")
    assert (result.status, str(result.limit)) == (tf.Status.FEASIBLE, "solver")
