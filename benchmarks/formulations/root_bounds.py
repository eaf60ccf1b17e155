"""A bound for every test at the root of a tree, as one row for the solver.

With the test f at the root, a tree costs at least what the best two subtrees below f cost together. An engine finds
these without the requirements that it does not support. Since there is one test at the root,

    objective >= L + sum over tests f of (L_f - L) * [f is the test at the root],

where L bounds every model. Tests that no better model can have at its root are then out at once, and branching on the
test at the root raises the bound.

Moving samples from one side to the other changes what the best subtrees cost by no more than these samples at their
worst. So a bound at one threshold bounds the thresholds next to it, and few of many need a search.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.relaxation import Relaxation
from treeform.formulations.odd.thresholds import Tests
from treeform.language.compiled import Compiled
from treeform.solve.neighbourhoods import rows_of, task_of
from treeform.utils.budget import Budget

Ints = NDArray[np.int64]
OBJECTIVE = "a bound for each test at the root"


def state_root_bounds(
    compiled: Compiled, engine: Engine, relaxation: Relaxation, known: int, upper: int | None, budget: Budget
) -> int:
    """Add the row to ODD's model of a tree; returns for how many tests it says more than the bound of all models.

    Parameters
    ----------
    known : int
        No model has a smaller scaled value.
    upper : int or None
        The scaled value of the incumbent: a bound above it need not be any greater.
    budget : Budget
        For all searches together.
    """
    tests = compiled.shared.get(Tests)
    search = _Search(compiled.data, engine, relaxation.task, tests.feature, tests.threshold, budget)
    enough = None if upper is None else relaxation.at_least(upper + 1)
    scaled = np.array(
        [math.ceil(relaxation.factor * int(b) + relaxation.offset) for b in search.run(enough)], dtype=object
    )
    if upper is not None:
        scaled = np.minimum(scaled, upper + 1)
    more = np.maximum(scaled - known, 0).astype(float)
    if more.any():
        # A cumulative literal less the next one of its feature is the choice of one test.
        less = more.copy()
        less[tests.later] -= more[tests.later - 1]
        literals = compiled.ports.read("g")[0]
        compiled.model.add(compiled.objective_expr >= known + (literals * less).sum(), OBJECTIVE)
    return int((more > 0).sum())


class _Search:
    """Bounds L_f in the engine's units, by the best subtrees at some thresholds of each feature."""

    def __init__(
        self,
        data: Dataset,
        engine: Engine,
        task: TreeTask,
        feature: Ints,
        threshold: np.ndarray,
        budget: Budget,
    ) -> None:
        self.data, self.engine, self.task, self.budget = data, engine, task, budget
        self.feature, self.threshold = feature, threshold
        self.worst = data.weights * (1 if task.cost is None else int(task.cost.max()))
        self.bound = np.zeros(len(feature), dtype=np.int64)

    def run(self, enough: int | None) -> Ints:
        """Bisect the thresholds of all features in turn, while there is time; no bound need be above ``enough``."""
        cuts = np.flatnonzero(np.diff(self.feature)) + 1
        ends = [0, *cuts.tolist(), len(self.feature)]
        waiting = [(a, b) for a, b in pairwise(ends)]
        while waiting and not self.budget.stop():
            first, last = waiting.pop(0)
            open_ = [k for k in range(first, last) if enough is None or self.bound[k] < enough]
            if not open_:
                continue
            middle = open_[len(open_) // 2]
            self._spread(middle, self._at(middle, enough), first, last)
            waiting += [(a, b) for a, b in ((first, middle), (middle + 1, last)) if a < b]
        return self.bound

    def _left(self, k: int) -> NDArray[np.bool_]:
        return np.asarray(self.data.X[:, self.feature[k]] <= self.threshold[k])

    def _at(self, k: int, enough: int | None) -> int:
        """What the best subtrees below test k cost together, with the test; less when the time is over."""
        left = self._left(k)
        first = self.task.node_penalty + self._subtree(left, enough)
        return first + self._subtree(~left, None if enough is None else max(1, enough - first))

    def _subtree(self, here: NDArray[np.bool_], enough: int | None) -> int:
        if self.task.depth == 1:
            weight = np.bincount(
                self.data.y[here], weights=self.data.weights[here], minlength=self.data.n_classes
            )
            cost = (
                1 - np.eye(self.data.n_classes, dtype=np.int64) if self.task.cost is None else self.task.cost
            )
            return int((weight.astype(np.int64) @ cost).min())
        run = EngineRun(self.budget, upper=enough)
        part = task_of(self.task, here, self.task.depth - 1)
        return int(self.engine.run(rows_of(self.data, here), part, run).lower)

    def _spread(self, k: int, value: int, first: int, last: int) -> None:
        """Enter a bound, and what it says of the thresholds next to it."""
        left = self._left(k)
        self.bound[k] = max(self.bound[k], value)
        for step, stop in ((-1, first - 1), (1, last)):
            for j in range(k + step, stop, step):
                moved = int(self.worst[left != self._left(j)].sum())
                if value - moved <= self.bound[j]:
                    if moved >= value:
                        break
                    continue
                self.bound[j] = value - moved
