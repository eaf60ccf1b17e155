"""The check-list *Add a stage* of `docs/design/solve.rst`, followed with a stage that treeform does not have."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from house_copy import HouseCopy, files_of
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


def listed(page: str) -> list[str]:
    """The stages of the table of a page."""
    table = page.split("what it gives")[1].split("A size table")[0]
    return [re.split(r"\s{2,}", row)[0] for row in table.splitlines() if row and row[0].isalpha()]


def test_the_page_has_every_stage_in_order() -> None:
    assert listed(PAGE) == [stage.name for stage in pipeline.PIPELINE]


FILE = '''"""A model that predicts the rarest class."""

from __future__ import annotations

import numpy as np

from treeform.graph import DecisionGraph
from treeform.solve.node import Node
from treeform.utils.budget import Budget


def rarest_class(node: Node, budget: Budget) -> None:
    """A model that predicts the rarest class."""
    rarest = int(np.argmin(node.question.data.class_weights))
    node.ledger.submit(DecisionGraph.leaf(rarest, node.question.data), "the rarest class")
'''
LINE = """    Stage(
        "rarest class", rarest_class.rarest_class, share=schedule.RAREST_CLASS,
        applies=lambda node: node.question.data.n_classes == 2,
    ),
"""
SOLVE = """
import treeform as tf
from treeform.solve.pipeline import PIPELINE
problem = tf.Problem([[0.0], [1.0], [2.0]] * 4, [0, 0, 1] * 4, shape=tf.Tree(1))
problem += tf.MinRecall(at_least="0.9", positive=1)
print(*[stage.name for stage in PIPELINE], sep="\\n")
print(*["planned " + stage.name for stage in problem.explain().stages], sep="\\n")
print(*["claimed " + claim.by for claim in problem.solve().claims], sep="\\n")
"""


def test_the_list_names_the_files_that_a_stage_touches(tmp_path: Path) -> None:
    house, first = HouseCopy(tmp_path), "constant models"
    house.write("treeform/solve/stage/rarest_class.py", FILE)
    house.add("treeform/solve/pipeline.py", "    steps,\n", "    rarest_class,\n")
    house.add("treeform/solve/pipeline.py", f'    Stage(\n        "{first}", ', LINE)
    share = 'RAREST_CLASS = Share(0.1)\n"""One model, found at once."""\n\n'
    house.add("treeform/solve/schedule.py", "FIRST_MODELS = ", share)
    house.add("docs/design/solve.rst", f"\n{first}  ", "\nrarest class  two classes  a model")
    steps = PAGE.split("Add a stage\n")[1].split("5. Tests")[0]
    assert house.touched() == files_of(steps, "rarest_class")
    said = house.run(SOLVE).splitlines()
    assert {"planned rarest class", "claimed the rarest class"} <= set(said)
    page = (tmp_path / "docs" / "design" / "solve.rst").read_text(encoding="utf-8")
    assert listed(page) == said[: len(pipeline.PIPELINE) + 1]
