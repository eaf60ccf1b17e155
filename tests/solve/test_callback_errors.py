"""An error of `on_progress`, whenever it comes, does not cost the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import treeform as tf


def problem(depth: int = 3) -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.random((400, 5))
    return tf.Problem(X, X[:, 0] > X[:, 1], shape=tf.Tree(depth))


def raising(when: Callable[[tf.Progress], bool]) -> Callable[[tf.Progress], None]:
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


def test_in_a_frontier_it_is_raised() -> None:
    asked = problem(2) + tf.MaxNodes(3)
    with pytest.raises(LookupError):
        asked.frontier(over=tf.MaxNodes(3), on_progress=raising(lambda progress: progress.upper is not None))


def test_an_engine_that_ends_by_itself_says_so() -> None:
    """One that proves nothing: no limit of time or memory ended it."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 2, 60)
    result = tf.Problem(X, y, shape="diagram:1,2,2").solve("diagram-heuristic")
    assert (result.status, str(result.limit)) == (tf.Status.FEASIBLE, "solver")
