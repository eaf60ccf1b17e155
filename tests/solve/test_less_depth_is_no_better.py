"""No run ends with a worse tree than it found at a smaller depth, whatever the requirements are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawing import Draw
from own_rules import OneFeature

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.language.question import Question
from treeform.solve.ledger import Ledger
from treeform.solve.stage import deep_trees
from treeform.solve.stage.deep_trees import DeepTrees
from treeform.utils.budget import Budget

Rules = Callable[[np.ndarray, np.ndarray, int], list[Any]]


def upper_part(X: np.ndarray, y: np.ndarray, depth: int) -> tf.DecisionGraph:
    """A tree of two levels less than the question's."""
    graph = tf.Problem(X, y, shape=tf.Tree(depth - 2)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    assert graph is not None
    return graph


KINDS: dict[str, Rules] = {
    "Monotone": lambda X, y, depth: [tf.Monotone("x0"), tf.Monotone("x1", "decreasing")],
    "own": lambda X, y, depth: [OneFeature(2)],
    "MaxThresholds": lambda X, y, depth: [tf.MaxThresholds("x0", 1), tf.MaxThresholds("x2", 1)],
    "Fix": lambda X, y, depth: [tf.Fix(upper_part(X, y, depth))],
    "parity and support": lambda X, y, depth: [
        tf.StatisticalParity(groups=np.arange(len(y)) % 2, difference="0.1", positive=1),
        tf.MinSupport(4),
    ],
    "parity and Monotone": lambda X, y, depth: [
        tf.StatisticalParity(groups=np.arange(len(y)) % 2, difference="0.1", positive=1),
        tf.Monotone("x1"),
    ],
}


def question(kind: str, seed: int, depth: int) -> Question:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(40, 90))
    X = rng.normal(size=(rows, 4)).round(1)
    y = (np.sin(2.5 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, rows) > 0).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += KINDS[kind](X, y, depth)
    return problem.question


@pytest.mark.parametrize("kind", KINDS)
def test_less_depth_is_no_better(kind: str, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_trees, "FIRST_WORK", 10**5)
    for seed in draw(range(40), 2):
        of = question(kind, seed, 4 + seed % 3)
        search = DeepTrees(of, Ledger(of, Budget()))
        for _ in range(3):
            search._step(ContinuousTotals(), Budget())
        larger = search
        while larger._less is not None:
            less = larger._less
            if less.ledger.upper is not None:
                assert larger.ledger.upper is not None and larger.ledger.upper <= less.ledger.upper
            larger = less


def test_a_step_that_is_broken_off_loses_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    of = question("Monotone", 2, 6)
    search = DeepTrees(of, Ledger(of, Budget()))
    assert search._less is not None and search._less._less is not None
    least = search._less._less
    found = least._searched

    def broken_off(*of: Any) -> None:
        found(*of)
        raise KeyboardInterrupt

    monkeypatch.setattr(least, "_searched", broken_off)
    monkeypatch.setattr(search, "_searched", lambda *_: None)
    monkeypatch.setattr(search._less, "_searched", lambda *_: None)
    search._first = search._less._first = iter(())
    search._seconds, search._less._seconds = 1000.0, 100.0
    with pytest.raises(KeyboardInterrupt):
        search._step(ContinuousTotals(), Budget())
    assert least.ledger.upper is not None
    assert search.ledger.upper == search._less.ledger.upper == least.ledger.upper


def test_each_depth_has_a_tree_before_any_has_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    of = question("parity and support", 0, 6)
    search = DeepTrees(of, Ledger(of, Budget()))
    found, asked = DeepTrees._searched, []

    def searched(self: DeepTrees, prices: list[Any], *more: Any) -> Any:
        asked.append((self.question.shape.depth, any(prices)))
        if any(prices):
            raise KeyboardInterrupt
        return found(self, prices, *more)

    monkeypatch.setattr(DeepTrees, "_searched", searched)
    with pytest.raises(KeyboardInterrupt):
        search.first(Budget())
    assert asked == [(4, False), (5, False), (6, False), (4, True)]
