"""The paper's Step 1 by itself: what the search for diagrams begins with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from treeform.data import Dataset
from treeform.engines import EngineOutcome, EngineRun, TreeTask
from treeform.engines.diagram_core import CoreCall, DiagramSession
from treeform.shape import Shape, Tree


def step_one(
    data: Dataset, shape: Shape, price: Fraction = Fraction(0), seconds: float = 3600.0, starts: int = 2**62
) -> EngineOutcome:
    """The best of many greedy univariate diagrams, at a price of a test in errors."""
    cost = price.denominator * (1 - np.eye(data.n_classes, dtype=np.int64))
    widths = None if isinstance(shape, Tree) else shape.widths
    task = TreeTask(shape.depth, cost, price.numerator, widths=widths)
    run = DiagramSession(data, task, EngineRun())
    return run.outcome(CoreCall(start_seconds=seconds, starts=starts).run(data, task, run, None))
