"""SCIP through MathOpt of OR-Tools: protocol buffers filled in bulk, interruptible.

MathOpt's Python wrapper breaks on a reached cutoff (``12 is not a valid Limit``) and on solvers that are not compiled
in, so the layer below it is called, and a cutoff is a row of the model.

SCIP as of OR-Tools 9.15 learns rows from dual proofs of linear programs that exceed the objective limit, and some of
these rows cut off optima (11 of 16 random seeds on one small model, with tolerances that play no part in it; none
with conflict graphs only). Both uses of dual proofs are switched off.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session, check_threads
from treeform.backends.packages import load
from treeform.backends.ranges import finite, narrowed, with_cutoff
from treeform.backends.run import IN_FLOATS, LINEAR, Answer, Capabilities, Reason, Run, Verdict
from treeform.backends.stderr import without_lines
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed, unknown_name
from treeform.model import Linear, Model

#: Of the solvers of MathOpt, the wheels of OR-Tools contain this one and CP-SAT, which has its own backend.
SOLVERS = {"scip": "SOLVER_TYPE_GSCIP"}
#: Where SCIP learns from linear programs: "c" for conflict graphs, "d" for dual proofs, "b" (its default) for both.
DUAL_PROOFS = ("conflict/useinflp", "conflict/useboundlp")
CONFLICT_GRAPHS = "c"
#: SCIP aborts with numerical troubles where squares have large weights next to rows over 0/1 columns (from a thousand
#: on), so the greatest weight is brought to about this by a power of two.
LARGEST_SQUARE = 1.0
#: How exactly rows are held beside squares: with SCIP's own 1e-6 its bounds are lower by up to 1e-5 of the optimum, and
#: with 1e-9 its linear programs fail.
FEASIBILITY = 1e-8
#: What SCIP writes to the standard error stream whenever it can be interrupted; nothing is wrong then.
NOISE = (b"SCIPcatchEvent does not support variable or row change events", b"gscip_event_handler.cc")


class MathOpt(Backend):
    """SCIP, by OR-Tools' MathOpt.

    It reports no points before it is done; what it has found when it is stopped is kept.

    Parameters
    ----------
    solver : str
        "scip".
    threads : int
        At least 1.
    """

    name = "mathopt"
    package = "ortools"
    module = "ortools"
    install = "pip install ortools"
    aliases = {"mathopt": "mathopt:scip", "scip": "mathopt:scip"}  # noqa: RUF012
    capabilities = Capabilities(
        frozenset({LINEAR}), continuous=True, integer=True, objective=True, squares=True, largest=IN_FLOATS
    )

    def __init__(self, solver: str = "scip", threads: int = 1) -> None:
        self.solver = str(solver).lower()
        if self.solver not in SOLVERS:
            fix = "use tf.HiGHS(), tf.CPSAT(), or tf.Pyomo() for others"
            raise unknown_name(solver, SOLVERS, "MathOpt solver", fix=fix)
        self.threads = check_threads(threads)
        self.name = f"mathopt:{self.solver}"  # type: ignore[misc]
        super().__init__()

    @classmethod
    def variants(cls) -> tuple[str, ...]:
        return tuple(f"mathopt:{solver}" for solver in SOLVERS)

    @classmethod
    def named(cls, variant: str, **settings: Any) -> Backend:
        return cls(variant.partition(":")[2], **settings)

    def open(self, model: Model) -> Session:
        self.require()
        return self.open_apart(model) or MathOptSession(self, model)


class MathOptSession(Session):
    """A model for MathOpt; every run sends its arrays anew."""

    backend: MathOpt
    _interrupter: Any = None

    def _search(self, run: Run, watch: Watch) -> Answer:
        name, install = self.backend.name, self.backend.install
        core = load("ortools.math_opt.core.python.solver", name, install)
        parameters = load("ortools.math_opt.parameters_pb2", name, install)
        settings = parameters.SolveParametersProto(threads=self.backend.threads, enable_output=False)
        settings.relative_gap_tolerance = 0.0
        for use in DUAL_PROOFS:
            settings.gscip.char_params[use] = CONFLICT_GRAPHS
        if len(self.lowered.objective.squares):
            settings.gscip.real_params["numerics/feastol"] = FEASIBILITY
        if watch.remaining is not None:
            settings.time_limit.FromTimedelta(datetime.timedelta(seconds=max(watch.remaining, 1e-3)))
        lb, ub = narrowed(self.lowered, run.assumptions)
        if bool((lb > ub).any()):
            return Answer(Verdict.INFEASIBLE)
        # A cutoff on squares would be a quadratic row, which only costs time: points beyond are refused anyway, and a
        # bound beyond it proves that none are within.
        cutoff = None if len(self.lowered.objective.squares) else run.cutoff
        model = self._proto(lb, ub, with_cutoff(self.lowered, cutoff))
        callbacks = load("ortools.math_opt.callback_pb2", name, install).CallbackRegistrationProto()
        interrupter = load("ortools.util.python.solve_interrupter", name, install).SolveInterrupter()
        self._interrupter = interrupter
        if watch.ending:
            return Answer(Verdict.UNKNOWN)
        kind, nothing = getattr(parameters, SOLVERS[self.backend.solver]), parameters.SolverInitializerProto()
        hint, handle = self._hint(run.hint), interrupter.pybind_interrupter
        try:
            with without_lines(NOISE):
                result = core.solve(model, kind, nothing, settings, hint, None, callbacks, None, handle)
        except Exception as error:
            raise SolverFailed(f"{name} failed", cause=str(error), fix="try another solver") from error
        finally:
            # A search that was left behind ends late, when the next one may be under way.
            self._interrupter = None if self._interrupter is interrupter else self._interrupter
        return self._answer(result, watch)

    def _proto(self, lb: np.ndarray, ub: np.ndarray, rows: Linear) -> Any:
        proto = load("ortools.math_opt.model_pb2", self.backend.name, self.backend.install).ModelProto()
        goal, row_of = self.lowered.objective, rows.rows.row_of_term()
        # MathOpt wants the terms of a row in order of columns.
        order = np.lexsort((rows.cols, row_of))
        proto.variables.ids.extend(range(len(lb)))
        proto.variables.lower_bounds.extend(lb.tolist())
        proto.variables.upper_bounds.extend(ub.tolist())
        proto.variables.integers.extend(self.lowered.is_integer.tolist())
        scale = self._scale
        proto.objective.offset = goal.const * scale
        proto.objective.linear_coefficients.ids.extend(goal.cols.tolist())
        proto.objective.linear_coefficients.values.extend((goal.vals * scale).tolist())
        quadratic = proto.objective.quadratic_coefficients
        quadratic.row_ids.extend(goal.squares.cols.tolist())
        quadratic.column_ids.extend(goal.squares.cols.tolist())
        quadratic.coefficients.extend((goal.squares.vals * scale).tolist())
        proto.linear_constraints.ids.extend(range(rows.n_rows))
        proto.linear_constraints.lower_bounds.extend(rows.lo.tolist())
        proto.linear_constraints.upper_bounds.extend(rows.hi.tolist())
        proto.linear_constraint_matrix.row_ids.extend(row_of.tolist())
        proto.linear_constraint_matrix.column_ids.extend(rows.cols[order].tolist())
        proto.linear_constraint_matrix.coefficients.extend(rows.vals[order].tolist())
        return proto

    @property
    def _scale(self) -> float:
        """By what an objective with squares is multiplied for the solver."""
        squares = self.lowered.objective.squares
        return 2.0 ** np.floor(np.log2(LARGEST_SQUARE / squares.vals.max())) if len(squares) else 1.0

    def _hint(self, hint: np.ndarray | None) -> Any:
        module = load("ortools.math_opt.model_parameters_pb2", self.backend.name, self.backend.install)
        proto = module.ModelSolveParametersProto()
        if hint is not None:
            known = np.flatnonzero(~np.isnan(hint))
            values = proto.solution_hints.add().variable_values
            values.ids.extend(known.tolist())
            values.values.extend(hint[known].tolist())
        return proto

    def _answer(self, result: Any, watch: Watch) -> Answer:
        kinds = load("ortools.math_opt.result_pb2", self.backend.name, self.backend.install)
        ended, limit = result.termination.reason, result.termination.limit
        info = {"nodes": int(result.solve_stats.node_count)}
        x = None
        if len(result.solutions) and result.solutions[0].HasField("primal_solution"):
            values = result.solutions[0].primal_solution.variable_values
            x = np.zeros(self.lowered.n_cols)
            x[np.asarray(values.ids, dtype=np.int64)] = np.asarray(values.values)
        if ended == kinds.TERMINATION_REASON_INFEASIBLE:
            return Answer(Verdict.INFEASIBLE, info=info)
        bound = finite(result.termination.objective_bounds.dual_bound)
        bound = None if bound is None else bound / self._scale
        if ended == kinds.TERMINATION_REASON_OPTIMAL:
            return Answer(Verdict.OPTIMAL, x, bound, None, info)
        reasons: dict[int, Reason] = {kinds.LIMIT_TIME: "time", kinds.LIMIT_MEMORY: "memory"}
        reason = watch.reason or reasons.get(limit, "solver")
        return Answer(Verdict.UNKNOWN if x is None else Verdict.FEASIBLE, x, bound, reason, info)

    def _cancel(self) -> None:
        interrupter = self._interrupter
        if interrupter is not None:
            interrupter.interrupt()
