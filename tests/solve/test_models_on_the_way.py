"""The models that an engine shows while it runs, beside the one that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.engines import Engine, EngineOutcome, EngineRun, TreeTask

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 0]])
y = np.array([0, 1, 1, 1, 1, 0])  # a test of either column has one error


@dataclass(frozen=True)
class ShowsOneReturnsAnother(Engine):
    """Shows the test of one column, and returns that of the other one, which has as many errors."""

    name: ClassVar[str] = "two models"
    understands: ClassVar[frozenset[str]] = frozenset({"weights"})
    shown: tuple[int, ...]

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        assert run.on_incumbent is not None
        stumps = [tf.DecisionGraph.from_nested((feature, 0.5, 0, 1), data) for feature in range(2)]
        for feature in self.shown:
            run.on_incumbent(0.0, 1, 0, stumps[feature])
        return EngineOutcome(stumps[1], 1, 1, True)


@pytest.mark.parametrize("shown", [(), (0,), (1,), (0, 1), (1, 0)])
def test_the_answer_is_what_an_engine_returns(shown: tuple[int, ...]) -> None:
    result = tf.Problem(X, y, shape=tf.Tree(1)).solve(ShowsOneReturnsAnother(shown))
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, 1)
    assert result.graph is not None and result.graph.features_used() == {1}
