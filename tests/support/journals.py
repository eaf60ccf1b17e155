"""What a problem answers with a journal, in any search that is answered in parts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import treeform as tf
from treeform.engines import Engine
from treeform.solve.result import SolveResult


def check_journal(problem: tf.Problem, engine: Engine, folder: Path, frame: pd.DataFrame) -> SolveResult:
    """Solve without a journal, with one, and once more from it; all agree. ``frame`` has the target in ``y``."""
    whole = problem.solve(engine)
    kept = problem.solve(engine, journal=folder)
    again = problem.solve(engine, journal=folder, executor="threading", workers=2)
    assert whole.objective == kept.objective == again.objective == again.bound
    assert kept.graph == again.graph
    assert any("of its parts were there" in note for note in again.notes)
    assert tf.check(again.certificate(), frame.drop(columns="y"), frame["y"]).ok
    return whole
