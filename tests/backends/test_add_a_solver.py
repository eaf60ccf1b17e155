"""The check-list *A solver* of CONTRIBUTING.md, followed with a copy of the template that begins at the end."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from repository import ROOT

import treeform as tf
from treeform.backends import Backend, Run, Verdict
from treeform.catalogue import find_solver
from treeform.model import Model
from treeform.testing.backends import check_backend
from treeform.utils.budget import Budget
from treeform.utils.extensions import BUILT_IN, SOLVERS

PLAIN_ROWS = "frozenset(f for f in ALL_FORMS if f.kind.name == 'LINEAR' and not f.enforced)"
TEMPLATE = ROOT / "treeform" / "backends" / "TEMPLATE.py"


@pytest.fixture
def backwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Backend]]:
    """Steps 1 and 2: a copy with another name, another order and fewer forms, and a line in the table of names."""
    text = TEMPLATE.read_text(encoding="utf-8")
    for old, new in [
        ("Enumeration", "Backwards"),
        ('name = "enumeration"', 'name = "backwards"'),
        ("Capabilities(ALL_FORMS,", f"Capabilities({PLAIN_ROWS},"),
        ("np.arange(low, high + 1.0)", "np.arange(high, low - 1.0, -1.0)"),
    ]:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "backwards_solver.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(BUILT_IN[SOLVERS], "backwards", "backwards_solver:Backwards")  # type: ignore[arg-type]
    yield importlib.import_module("backwards_solver").Backwards
    sys.modules.pop("backwards_solver")


def test_the_copy_passes_the_conformance_test(backwards: type[Backend]) -> None:
    """Step 2: rows of other forms are rewritten before they reach it."""
    report = check_backend(backwards(), models=4)
    assert report.runs >= 40 and len(report.forms) > 2


def test_it_is_found_by_its_name_and_proves_a_problem(backwards: type[Backend]) -> None:
    assert isinstance(find_solver("backwards"), backwards)
    assert "backwards" in {row.name for row in tf.solvers()}
    problem = tf.Problem(np.array([[0.0], [1], [2]]), [0, 1, 0], shape=tf.Tree(1))
    result = problem.solve("backwards", formulation="sat-depth", warm_start=None)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, 1)
    assert result.solver == "backwards" and result.formulation == "sat-depth"


def many_points() -> Model:
    """A model of 2^18 points, of which the first one that is tried is the worst."""
    model = Model()
    x = model.bool("x", 18)
    model.minimize(x.sum())
    return model


def test_limits_end_it_and_an_interrupt_keeps_the_best_point(backwards: type[Backend]) -> None:
    """Step 3."""
    ended = backwards().open(many_points()).solve(Run(Budget(1e-9)))
    assert (ended.verdict, ended.reason) == (Verdict.UNKNOWN, "time")
    seen: list[Any] = []
    stopped = (
        backwards()
        .open(many_points())
        .solve(Run(Budget().until(lambda: bool(seen)), on_solution=seen.append))
    )
    assert (stopped.verdict, stopped.reason) == (Verdict.FEASIBLE, "interrupted")
    assert stopped.x is not None and seen and stopped.x.sum() == seen[-1].sum()
