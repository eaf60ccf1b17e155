"""Under a minimum support, or what the search does not know, trees of one level less are searched for as well."""

from __future__ import annotations

from typing import Any

import pytest
from test_deep_trees_under_totals import question

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.solve.ledger import Ledger
from treeform.solve.stage.deep_trees import DeepTrees
from treeform.utils.budget import Budget


@pytest.mark.parametrize(
    ("depth", "more", "smaller"),
    [
        (5, (tf.MinSupport(15),), True),
        (4, (tf.MinSupport(15),), False),
        (5, (tf.Monotone("x0"),), True),
        (5, (), False),
    ],
    ids=["depth five", "depth four", "a requirement over tests", "neither"],
)
def test_where_less_depth_is_searched(depth: int, more: tuple[Any, ...], smaller: bool) -> None:
    of = question(200, 3, depth, *more)
    search = DeepTrees(of, Ledger(of, Budget()))
    search._step(ContinuousTotals(), Budget())
    graph, less = search.ledger.graph, search._less
    assert graph is not None and search.ledger.judged is not None and search.ledger.judged.ok
    assert (less is not None) == smaller
    if less is not None:
        assert less.ledger.graph is not None and less.ledger.graph.depth < depth
        assert less.ledger.upper is not None and search.ledger.upper is not None
        assert search.ledger.upper <= less.ledger.upper


def test_nothing_is_searched_at_less_depth_once_the_answer_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    of = question(200, 3, 5, tf.MinSupport(15))
    search = DeepTrees(of, Ledger(of, Budget()))
    less = search._less
    assert less is not None
    steps: list[int | None] = []

    def closing(*_: object) -> None:
        less._seconds += 1
        steps.append(less._turns)
        search.ledger.prove_infeasible("a proof beside it")

    monkeypatch.setattr(less, "_step", closing)
    monkeypatch.setattr(search, "_searched", lambda *_: None)
    search._seconds, search._first = 100.0, iter(())
    search._step(ContinuousTotals(), Budget())
    assert steps == [0]
