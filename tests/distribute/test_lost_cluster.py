"""A cluster that is gone: whatever its client raises or waits for, the search ends with what it had found."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.distribute import cluster
from treeform.errors import SolverFailed

released = threading.Event()


@pytest.fixture(autouse=True)
def release() -> Iterator[None]:
    """What waits is let go after each test; in another order a module may come to its end more than once."""
    released.clear()
    yield
    released.set()


def gone(*_: Any, **__: Any) -> None:
    raise AttributeError("'NoneType' object has no attribute 'scatter'")


def waits(*_: Any, **__: Any) -> None:
    released.wait(60)


class Dies:
    """A client, and its executor, that do one thing as ``way``, and all others as a cluster of one thread would."""

    scheduler = object()
    status = "running"

    def __init__(self, what: str, way: Callable[..., None]) -> None:
        self.what, self.way = what, way

    def _do(self, what: str, answer: Any) -> Any:
        return self.way() if what == self.what else answer

    def nthreads(self) -> Any:
        return self._do("nthreads", {"worker": 1})

    def scatter(self, work: Any, **_: Any) -> Any:
        return self._do("scatter", work)

    def get_executor(self, **_: Any) -> Any:
        return self

    def submit(self, *_: Any) -> Any:
        return self._do("submit", None)


def problem() -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (60, 4)).astype(float)
    return tf.Problem(X, (X[:, 0] > 4) ^ (rng.random(60) < 0.3), shape="tree:3")


@pytest.mark.parametrize("what", ["nthreads", "scatter", "submit"])
def test_the_incumbent_is_kept(what: str) -> None:
    start = problem().solve(warm_start=None).graph
    result = problem().solve("contree", executor=Dies(what, gone), warm_start=start)
    assert result.graph is not None
    assert result.errors == problem().solve().errors
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.SOLVER)
    assert any("the cluster cannot be reached any more (AttributeError" in note for note in result.notes)


@pytest.mark.parametrize("what", ["nthreads", "scatter"])
def test_a_client_that_waits_is_left_alone_at_the_limit(what: str) -> None:
    result = problem().solve("contree", executor=Dies(what, waits), time_limit=0.2)
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.TIME)
    assert result.graph is not None


def test_calls_of_a_cluster() -> None:
    assert cluster.reach(lambda: 3, lambda: False) == 3
    with pytest.raises(KeyError):
        cluster.reach(lambda: {}["a"], lambda: False)
    with pytest.raises(cluster.CutShort):
        cluster.reach(waits, lambda: True)
    with pytest.raises(SolverFailed, match="does not answer"):
        cluster.reach(waits, lambda: False, seconds=0.01)
    with pytest.raises(SolverFailed, match="cannot be reached"):
        cluster.scatter(Dies("scatter", gone), None, lambda: False)
    cluster.last_call(gone)
