"""Bugs and refusals of solvers that adapters met, each as a tiny model that every solver has to answer.

A case states a model, what is true of it, and in whom the bug was found. A new adapter is asked all of them
(`check_solver_bugs`), since what one solver gets wrong the next one may, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeform.backends import Backend, by_name
from treeform.backends.run import Outcome, Run, Verdict
from treeform.errors import RouteError
from treeform.model import Model, any_of, exactly, sum_of_squares
from treeform.testing.backends import CLOSE, written
from treeform.utils.budget import Budget

TIME_LIMIT = 30.0


@dataclass(frozen=True)
class SolverBug:
    """One bug."""

    name: str
    found_in: str
    """The solver and the version in which it was found, and what happened."""
    state: Callable[[Model], float | None]
    """States the model: ``state(model)`` returns the optimum, None where nothing is feasible, minus infinity where the
    objective is unbounded."""
    run: dict[str, Any] = field(default_factory=dict)
    """Parameters of the `Run`."""
    early: bool = False
    """Whether the run may end without a proof."""


def _cut_off_in_presolve(model: Model) -> float:
    x, z = model.continuous("x", 1, ub=10), model.integer("z", 1, ub=10)
    model.add(x + z >= 4.5)
    model.minimize(2 * x.sum() + 3 * z.sum())
    return 9.0


def _cut_off_beside_clauses(model: Model) -> float:
    b, k, c = model.bool("b", 3), model.integer("k", 2, lb=-1, ub=2), model.continuous("c", lb=-1.0, ub=2.0)
    model.add(2 * b[0] + 3 * b[2] - 2 * k[0] + 3 * c <= 2)
    model.add(any_of(b[0], ~b[1]))
    model.minimize(b[0] - 3 * b[1] + 4 * b[2] - 3 * k[0] + 4 * k[1] - 2 * c - 2)
    return -50 / 3


def _nearly_whole(model: Model) -> float:
    amount, switch = model.continuous("amount", 1, ub=10.0), model.bool("switch", 1)
    model.add(amount <= 10**9 * switch)
    model.add(amount >= 5)
    model.minimize(switch.sum())
    return 1.0


def _large_integers(model: Model) -> float:
    k, c = model.integer("k", 3, lb=0, ub=10**6), model.continuous("c", 3)
    model.add(k + 1e-4 * c == np.array([7.0, 80000.0, 999999.0]))
    model.minimize(-k.sum() - c.sum())
    return -1080006.0


def _bound_before_the_first(model: Model) -> float:
    x, weights = model.bool("x", 300), np.random.default_rng(1).integers(1, 9, 300)
    for first in range(0, 300, 3):
        model.add(x[first : first + 3].sum() <= 2)
    model.minimize(5000 - weights @ x)
    triples = np.sort(weights.reshape(100, 3), axis=1)
    return float(5000 - triples[:, 1:].sum())


def _no_count_fits(model: Model) -> None:
    x, switch = model.bool("x", 2), model.bool("switch")
    model.add(exactly(x.reshape((1, 2)), 3), when=switch.reshape((1,)))
    model.add(switch >= 1)


def _row_without_columns(model: Model) -> None:
    x = model.bool("x", 3)
    model.add(x - x >= 1)


def _columns_that_occur_nowhere(model: Model) -> float:
    x = model.bool("x", 4)
    model.integer("k", 2, lb=-2, ub=3)
    model.add(x[0] + x[1] >= 1)
    model.minimize(x[0] + 2 * x[1])
    return 1.0


def _no_objective(model: Model) -> float:
    x = model.bool("x", 3)
    model.add(x.sum() >= 2)
    return 0.0


def _no_rows(model: Model) -> float:
    model.minimize(-model.bool("x", 3).sum())
    return -3.0


def _nothing(model: Model) -> float:
    return 0.0


def _terms_out_of_order(model: Model) -> float:
    x = model.bool("x", 4)
    model.add(3 * x[3] + x[1] + 2 * x[0] >= 3)
    model.add(x[2] + x[0] + x[2] <= 2)
    model.minimize(2 * x[3] + x[1] + x[0])
    return 2.0


def _decimals(model: Model) -> float:
    x = model.bool("x", 2)
    model.add(0.1 * x[0] + 0.2 * x[1] <= 0.3)
    model.minimize(-0.25 * x.sum())
    return -0.5


def _fixed_by_an_assumption(model: Model) -> None:
    one = model.integer("one", 2, lb=1, ub=1)
    model.add(one[0] + model.bool("y") >= 1)


def _range_by_rows(model: Model) -> float:
    k = model.integer("k", 2, lb=-math.inf)
    model.add(k <= 9)
    model.add(k[0] + 2 * k[1] >= -7)
    model.minimize(k.sum())
    return -16.0


def _unbounded(model: Model) -> float:
    model.minimize(-model.integer("k", 1).sum())
    return -math.inf


def _empty_range(model: Model) -> None:
    k = model.integer("k", 1)
    model.add(k <= -1)
    model.minimize(-k.sum())


def _large_squares(model: Model) -> float:
    b, c = model.bool("b", 4), model.continuous("c", 2, lb=-1.0, ub=2.0)
    model.add(b.sum() >= 1)
    model.add(c <= 2 * b[:2])
    model.add(c[0] + c[1] >= 1)
    model.minimize(sum_of_squares(c - np.array([1.0, 0.5]), np.array([4000.0, 2000.0])) + b.sum())
    return 2.0


BUGS = (
    SolverBug("an optimum cut off", "HiGHS 1.14.0: presolve, optimal at 12 (9 is)", _cut_off_in_presolve),
    SolverBug("an optimum cut off beside clauses", "HiGHS 1.14.0: presolve", _cut_off_beside_clauses),
    SolverBug(
        "a switch that is nearly off", "HiGHS: 1e-7 opens a row with a constant of 1e9", _nearly_whole, early=True
    ),
    SolverBug("large integers", "HiGHS, SCIP: they come back within 1e-6 of whole numbers", _large_integers),
    SolverBug(
        "no bound yet", "CP-SAT 9.15: stopped before its first bound it reports 0", _bound_before_the_first,
        {"time_limit": 1e-4, "hint": np.zeros(300), "cutoff": 5000.0}, early=True,
    ),
    SolverBug("a count that is too large", "CP-SAT: a crossed domain is no valid model", _no_count_fits),
    SolverBug("a row without columns", "Pyomo: a constraint that is constant is an error", _row_without_columns),
    SolverBug("columns in no row", "Pyomo: they come back without a value", _columns_that_occur_nowhere),
    SolverBug("no objective", "LP files: an objective needs a column", _no_objective),
    SolverBug("no rows", "LP files: a section of rows is expected", _no_rows),
    SolverBug("no columns", "LP files, SAT solvers: an empty model", _nothing),
    SolverBug("terms out of order", "MathOpt: refuses rows whose columns do not ascend", _terms_out_of_order),
    SolverBug("decimals", "float64: 0.1 + 0.2 <= 0.3 does not hold", _decimals),
    SolverBug(
        "an assumption against a bound", "HiGHS, MathOpt: refuse a column with crossed bounds",
        _fixed_by_an_assumption, {"assumptions": [-1]},
    ),
    SolverBug("a range by rows", "CP-SAT: refuses columns without bounds", _range_by_rows),
    SolverBug("an unbounded objective", "HiGHS, SCIP: unbounded or infeasible, as one", _unbounded, early=True),
    SolverBug("an empty range", "CP-SAT: a crossed domain; HiGHS: unbounded or infeasible, as one", _empty_range),
    SolverBug(
        "large squares", "SCIP 9: aborts with numerical troubles from weights of 1000 on", _large_squares, early=True
    ),
    SolverBug("part of a second", "GLPK: refuses a time limit that is not whole", _decimals, {"time_limit": 9.5}),
)  # fmt: skip


def check_solver_bugs(backend: Backend | str) -> list[str]:
    """Ask a solver, or the one of that name, every known bug that it can be asked; the names of these.

    Raises AssertionError on the first wrong answer, with the model written out.
    """
    asked = by_name(backend) if isinstance(backend, str) else backend
    return [bug.name for bug in BUGS if check_solver_bug(asked, bug)]


def check_solver_bug(backend: Backend, bug: SolverBug) -> bool:
    """Ask one bug; False where the model cannot be stated to this solver.

    Raises AssertionError if the answer is wrong.
    """
    model = Model(bug.name)
    optimum = bug.state(model)
    if "cutoff" in bug.run and not backend.capabilities.objective:
        return False
    points: list[np.ndarray] = []
    asked = {"time_limit": TIME_LIMIT, "on_solution": points.append, **bug.run}
    run = Run(Budget(asked.pop("time_limit")), **asked)
    try:
        session = backend.open(model)
        try:
            outcome = session.solve(run)
        finally:
            session.close()
    except RouteError:  # a session in a child opens its model when it is first asked
        return False
    wrong = _wrong(model, outcome, optimum, bug, proves=backend.capabilities.objective)
    if any(any(model.check(x).values()) for x in points):
        wrong = f"on_solution got a point that violates rows: {points}"
    if wrong:
        raise AssertionError(f"{backend!r} on {bug.name} (found in {bug.found_in}): {wrong}\n{written(model)}")
    return True


def _wrong(model: Model, outcome: Outcome, optimum: float | None, bug: SolverBug, proves: bool) -> str | None:
    """What is not true of the outcome; None if all is."""
    verdict, x, bound = outcome.verdict, outcome.x, outcome.bound
    if verdict is Verdict.UNKNOWN:
        allowed = bug.early and (bound is None or optimum is None or bound <= optimum + CLOSE)
        return None if allowed else f"no verdict, bound {bound}: {outcome.info}"
    if optimum is None or verdict is Verdict.INFEASIBLE:
        return None if optimum is None and verdict is Verdict.INFEASIBLE else f"{verdict.name} at {x}"
    if x is None or any(model.check(x).values()):
        return f"{verdict.name}, and the point {x} is none"
    if (x[model.is_integer] != np.rint(x[model.is_integer])).any():
        return f"integer columns are not whole in {x}"
    if bound is not None and not bound <= optimum + CLOSE * max(1.0, abs(optimum)):
        return f"bound {bound} exceeds the optimum {optimum}"
    value = model.objective.value(x)
    if verdict is Verdict.OPTIMAL:
        return None if abs(value - optimum) <= CLOSE * max(1.0, abs(optimum)) else f"optimal at {value}, not {optimum}"
    return None if bug.early or not proves else f"only feasible at {value}"
