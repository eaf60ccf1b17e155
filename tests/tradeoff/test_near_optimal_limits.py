"""What a list of near-optimal models says where there are too many of them."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.engines import enumeration
from treeform.errors import SpecError


def stated() -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.6) ^ (rng.random(300) < 0.2)).astype(int)
    return tf.Problem(X, y, shape=tf.Tree(2))


def test_a_graph_that_does_not_fit_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stated().near_optimal(within="0.1")
    monkeypatch.setattr(enumeration, "MOST_ALTERNATIVES", 40)
    asked: list[int | None] = []
    up_to = enumeration.GraphOfTrees.up_to

    def counting(self: enumeration.GraphOfTrees, cost: int | None, *rest: object) -> object:
        asked.append(cost)
        return up_to(self, cost, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(enumeration.GraphOfTrees, "up_to", counting)
    found = stated().near_optimal(within="0.1")
    assert len(asked) == len(set(asked))
    assert found.counted and found.count == whole.count > len(found.models) > 0
    assert found.best.objective == whole.best.objective
    assert found.trees is None and "of those listed" in str(found)
    with pytest.raises(SpecError, match="more than 40 alternatives, or fills the memory"):
        found.importance()
    monkeypatch.setattr(enumeration.GraphOfTrees, "count", lambda *_: None)
    found = stated().near_optimal(within="0.1")
    assert not found.counted and found.count <= whole.count
    assert "more than 40 alternatives, or fills the memory" in str(found)
