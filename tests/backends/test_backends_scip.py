"""SCIP through MathOpt: what is switched off."""

from __future__ import annotations

import pytest

import treeform as tf
from treeform.backends import mathopt
from treeform.backends.base import Run
from treeform.model import Model


def test_no_rows_are_learnt_from_dual_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    # With them, SCIP of OR-Tools 9.15 called 16/20 optimal where 6/20 is: on the paper's formulation of eight rows and
    # Diagram(1, 2, 1), with 11 of 16 random seeds, whatever epsilon was.
    told = []
    load = mathopt.load

    class Solver:
        def __init__(self, core) -> None:
            self._core = core

        def solve(self, model, kind, start, settings, *rest):
            told.append(dict(settings.gscip.char_params))
            return self._core.solve(model, kind, start, settings, *rest)

    def watched(module: str, *rest):
        loaded = load(module, *rest)
        return Solver(loaded) if module.endswith("core.python.solver") else loaded

    monkeypatch.setattr(mathopt, "load", watched)
    m = Model("one column")
    x = m.bool("x", 2)
    m.add(x.sum() >= 1)
    m.minimize(x.sum())
    session = tf.MathOpt("scip").open(m)
    outcome = session.solve(Run())
    session.close()
    assert outcome.bound == 1
    assert told == [{"conflict/useinflp": "c", "conflict/useboundlp": "c"}]
