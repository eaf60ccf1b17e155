"""The check-list *Add a stage* of `docs/design/solve.rst`, followed with a stage that treeform does not have."""

from __future__ import annotations

import re

import numpy as np
import pytest
from repository import ROOT

import treeform as tf
from treeform.errors import SolverFailed
from treeform.graph import DecisionGraph
from treeform.solve import pipeline
from treeform.solve.node import Node, Stage
from treeform.utils.budget import Budget, Share

PAGE = (ROOT / "docs" / "design" / "solve.rst").read_text(encoding="utf-8")


def rarest_class(node: Node, budget: Budget) -> None:
    """A model that predicts the rarest class."""
    rarest = int(np.argmin(node.question.data.class_weights))
    node.ledger.submit(DecisionGraph.leaf(rarest, node.question.data), "the rarest class")


def breaks(node: Node, budget: Budget) -> None:
    raise SolverFailed("it is gone")


def problem() -> tf.Problem:
    X = np.arange(24.0).reshape(12, 2) % 7
    return tf.Problem(X, [0, 0, 1] * 4, shape=tf.Tree(2)).add(tf.MinRecall(at_least="0.9", positive=1))


@pytest.mark.parametrize("run", [rarest_class, breaks])
def test_a_stage_is_one_line(monkeypatch: pytest.MonkeyPatch, run: object) -> None:
    without = problem().solve()
    stage = Stage("rarest class", run, applies=lambda node: node.question.data.n_classes == 2, share=Share(0.1))
    monkeypatch.setattr(pipeline, "PIPELINE", (stage, *pipeline.PIPELINE))
    assert "rarest class" in [planned.name for planned in problem().explain().stages]
    result = problem().solve()
    assert (result.status, result.objective) == (without.status, without.objective)
    assert next(ran.name for ran in result.plan) == "rarest class"
    found = [claim.by for claim in result.claims]
    assert ("the rarest class" in found) == (run is rarest_class)
    assert any("rarest class broke down: it is gone" in note for note in result.notes) == (run is breaks)


def test_a_stage_of_no_use_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage("rarest class", rarest_class, applies=lambda node: node.question.data.n_classes > 2)
    monkeypatch.setattr(pipeline, "PIPELINE", (stage, *pipeline.PIPELINE))
    assert "rarest class" not in [ran.name for ran in problem().solve().plan]


def test_the_page_has_every_stage_in_order() -> None:
    table = PAGE.split("what it gives")[1].split("A size table")[0]
    listed = [re.split(r"\s{2,}", row)[0] for row in table.splitlines() if row and row[0].isalpha()]
    assert listed == [stage.name for stage in pipeline.PIPELINE]
