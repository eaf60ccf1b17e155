"""A solver backend to copy: it tries all points of tiny integer models.

To add a solver
1. copy this file, and name the class and the file after the solver;
2. list what it accepts in ``capabilities``; bridges rewrite everything else into that;
3. implement ``_search``; import the solver's package inside functions only, through ``packages.load``;
4. give it a name: an entry point in the group ``treeform.solvers``, or for a solver that comes with treeform a line in
   ``treeform/utils/extensions.py``; and run ``treeform.testing.check_backend(YourSolver())``.

What need not be done here: rounding and checking points, keeping the best one, polling the stop function, time-outs
of solvers that do not react, Ctrl-C, exceptions in callbacks, and columns that bridges appended.
"""

from __future__ import annotations

import itertools

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.run import ALL_FORMS, Answer, Capabilities, Run, Verdict
from treeform.backends.watch import Watch
from treeform.errors import RouteError
from treeform.model import Model

#: Points that are tried at most.
LIMIT = 10**6


class Enumeration(Backend):
    """Tries every point of a model with few integer columns.

    Settings of a solver are arguments here; check them in ``open``, so that mistakes are found before solving.
    """

    # The name in tf.solvers() and for solver="...".
    name = "enumeration"
    # What pip installs and Python imports; empty where nothing has to be installed.
    package = ""
    module = ""
    install = "nothing to install"
    # All forms of rows as they are; integer columns; an objective; literals fixed for one run.
    capabilities = Capabilities(ALL_FORMS, continuous=False, integer=True, objective=True, assumptions=True)

    def open(self, model: Model) -> Session:
        # Raises SolverNotAvailable with what to install.
        self.require()
        return EnumerationSession(self, model)


class EnumerationSession(Session):
    """A loaded model. ``self.lowered`` holds columns, blocks and objective in the forms of the capabilities.

    A solver that keeps its state between runs overrides ``_load`` for new rows, ``_abandon`` to drop that state, and
    ``close``; one that is interrupted from another thread overrides ``_cancel``.
    """

    def _search(self, run: Run, watch: Watch) -> Answer:
        """Runs in a separate thread; hint, cutoff and assumptions are in ``run``."""
        model = self.lowered
        lb, ub = model.lb, model.ub
        with np.errstate(over="ignore"):
            if float(np.prod(ub - lb + 1.0)) > LIMIT:
                raise RouteError(
                    "too many points to try", cause=f"more than {LIMIT}", fix="use another solver"
                )
        ranges = [np.arange(low, high + 1.0) for low, high in zip(lb, ub, strict=True)]
        best, best_value = None, np.inf if run.cutoff is None else run.cutoff + 1e-9
        for tried, point in enumerate(itertools.product(*ranges)):
            if tried % 64 == 0 and (watch.ending or watch.remaining == 0.0):
                # Time limit or interrupt: the watch holds which. The best point so far is already reported.
                return Answer(Verdict.UNKNOWN, reason=watch.reason or "time")
            x = np.array(point)
            if not all((x[abs(lit) - 1] > 0.5) == (lit > 0) for lit in run.assumptions):
                continue
            value = model.objective.value(x)
            better = value < best_value or (best is None and value <= best_value)
            if better and not any(model.check(x).values()):
                best, best_value = x, value
                watch.solution(x)
        if best is None:
            # Under this run's cutoff and assumptions; the layer above knows what follows.
            return Answer(Verdict.INFEASIBLE)
        # A lower bound of the objective belongs to the answer; it equals the value when optimality is proved.
        return Answer(Verdict.OPTIMAL, best, bound=best_value, info={"points": tried + 1})
