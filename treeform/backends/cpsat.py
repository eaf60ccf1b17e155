"""CP-SAT through the rows of its protocol buffer: integers only, literals and enforcement as they are.

The model is filled row by row with flat lists; expressions of the Python wrapper would cost ten times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session, check_threads
from treeform.backends.packages import load
from treeform.backends.ranges import finite_ranges
from treeform.backends.run import ALL_FORMS, Answer, Capabilities, Run, Verdict
from treeform.backends.watch import Watch
from treeform.bridges import integer_rows, whole_objective
from treeform.errors import SolverFailed, SpecError
from treeform.model import Block, Cardinality, Clause, Linear, Model, Objective, exact
from treeform.model.blocks import negated_per_row
from treeform.utils.arguments import renamed

FURTHEST = 2**62
#: CP-SAT's marks for "no limit".
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class CPSAT(Backend):
    """The constraint solver CP-SAT of OR-Tools.

    Columns are integers; ``relax=True`` columns are taken as 0/1, continuous ones are refused. Rows with decimal
    coefficients are scaled to whole numbers exactly.

    Parameters
    ----------
    threads : int
        0 lets CP-SAT choose.
    seed : int
        Of the solver's random choices.
    options : dict
        Fields of ``SatParameters``, such as ``{"linearization_level": 2}``.
    """

    name = "cp-sat"
    package = "ortools"
    module = "ortools"
    install = "pip install ortools"
    aliases = {"cpsat": "cp-sat", "ortools": "cp-sat"}  # noqa: RUF012
    capabilities = Capabilities(ALL_FORMS, continuous=False, integer=True, objective=True)

    @renamed(workers="threads")
    def __init__(self, threads: int = 1, seed: int = 0, options: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.threads = check_threads(threads, chosen_by="CP-SAT")
        self.seed = seed
        self.options = dict(options or {})

    def open(self, model: Model) -> Session:
        self.require()
        if (session := self.open_apart(model)) is not None:
            return session
        self._solver()
        return CpSatSession(self, model)

    def for_flows(self) -> Backend:
        """With all rows in its linear program, which it would use for some of them only."""
        return CPSAT(self.threads, self.seed, {"linearization_level": 2, **self.options})

    def _solver(self) -> Any:
        solver = load("ortools.sat.python.cp_model", self.name, self.install).CpSolver()
        # The solver's signal handler would swallow Ctrl-C.
        settings = {
            "num_workers": self.threads,
            "random_seed": self.seed,
            "catch_sigint_signal": False,
            "log_search_progress": False,
            **self.options,
        }
        for name, value in settings.items():
            try:
                if not hasattr(solver.parameters, name):
                    raise AttributeError(f"SatParameters has no field {name!r}")
                setattr(solver.parameters, name, value)
            except (AttributeError, TypeError, ValueError) as error:
                raise SpecError(
                    f"CP-SAT refuses the option {name}={value!r}",
                    cause=str(error),
                    fix="see sat_parameters.proto of OR-Tools for the names and types",
                ) from error
        return solver


class CpSatSession(Session):
    """A CP-SAT model that grows with the model."""

    backend: CPSAT

    def __init__(self, backend: CPSAT, model: Model) -> None:
        self._solver: Any = None
        self._model: Any = None
        self._n_cols = 0
        super().__init__(backend, model)

    def _load(self, blocks: list[Block]) -> None:
        if self._model is None:
            self._model = load(
                "ortools.sat.python.cp_model", self.backend.name, self.backend.install
            ).CpModel()
            self._n_cols, blocks = 0, self.lowered.blocks
        lb, ub = finite_ranges(self.lowered)
        proto = self._model.Proto()
        for domain in np.column_stack([lb, ub])[self._n_cols :].astype(np.int64).tolist():
            proto.variables.add().domain.extend(domain)
        self._n_cols = len(lb)
        for block in blocks:
            if isinstance(block, Linear):
                _add_linear(proto, integer_rows(block))
            elif isinstance(block, Clause):
                _add_clauses(proto, block)
            else:
                _add_cardinalities(proto, block)

    def _search(self, run: Run, watch: Watch) -> Answer:
        if self._model is None:
            self._load([])
        proto, solver = self._model.Proto(), self.backend._solver()
        scale, const = _set_objective(proto, self.lowered.objective, run.cutoff)
        _set_hint(proto, run.hint)
        if watch.remaining is not None:
            solver.parameters.max_time_in_seconds = watch.remaining
        goal = bool(len(self.lowered.objective.cols))
        bounds: list[float] = []

        def on_bound(bound: float) -> None:
            bounds.append(bound / scale + const)
            watch.bound(bounds[-1])

        if goal:
            solver.best_bound_callback = on_bound
        fixed = _fix(proto, run.assumptions)
        self._solver = solver
        try:
            if watch.ending or fixed is None:
                return Answer(Verdict.UNKNOWN if watch.ending else Verdict.INFEASIBLE)
            status = solver.solve(self._model, _listener(watch))
            return self._answer(solver, int(status), watch, max(bounds, default=None), goal)
        finally:
            # A search that was left behind ends late, when the next one may be under way.
            self._solver = None if self._solver is solver else self._solver
            for domain, before in fixed or []:
                _replace(domain, before)

    def _answer(self, solver: Any, status: int, watch: Watch, reported: float | None, goal: bool) -> Answer:
        """The answer of a finished search.

        ``reported`` is the last bound of the callback. The bound in a response is no substitute: it reads 0 when
        the search was stopped before it had one, which is no bound where values are negative.
        """
        unknown, invalid, feasible, infeasible, optimal = range(5)
        response = solver.response_proto if hasattr(solver, "response_proto") else solver.ResponseProto()
        info = {"branches": int(solver.num_branches), "conflicts": int(solver.num_conflicts)}
        if status == invalid:
            raise SolverFailed(
                "CP-SAT refuses the model", cause=self._model.validate(), fix="report this model"
            )
        if status == infeasible:
            return Answer(Verdict.INFEASIBLE, info=info)
        x = None if status == unknown else np.array(response.solution, dtype=np.float64)
        if status == optimal:
            return Answer(Verdict.OPTIMAL, x, self.lowered.objective.value(x) if goal else None, None, info)
        left = watch.remaining
        reason = watch.reason or ("time" if left is not None and left < 0.05 else "solver")
        verdict = Verdict.FEASIBLE if status == feasible else Verdict.UNKNOWN
        return Answer(verdict, x, reported, reason, info)

    def _cancel(self) -> None:
        solver = self._solver
        if solver is not None:
            solver.stop_search()

    def _abandon(self) -> None:
        self._model = None


def _listener(watch: Watch) -> Any:
    from ortools.sat.python import cp_model

    class Listener(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            response: Any = self.Response()  # type: ignore[no-untyped-call]
            watch.solution(np.array(response.solution, dtype=np.float64))

    return Listener()


def _set_objective(proto: Any, goal: Objective, cutoff: float | None) -> tuple[int, float]:
    """Write the objective in whole numbers; the scale and the constant turn the solver's values into the model's."""
    proto.ClearField("objective") if hasattr(proto, "ClearField") else proto.clear_objective()
    if not len(goal.cols):
        return 1, goal.const
    whole, scale = whole_objective(goal)
    proto.objective.vars.extend(goal.cols.tolist())
    proto.objective.coeffs.extend(whole)
    if cutoff is not None:
        limit = floor(scale * (exact(cutoff) - exact(goal.const)) + Fraction(1, 10**6))
        proto.objective.domain.extend([LOWEST, max(-FURTHEST, min(FURTHEST, limit))])
    return scale, goal.const


def _set_hint(proto: Any, hint: np.ndarray | None) -> None:
    proto.ClearField("solution_hint") if hasattr(proto, "ClearField") else proto.clear_solution_hint()
    if hint is not None:
        known = np.flatnonzero(~np.isnan(hint))
        proto.solution_hint.vars.extend(known.tolist())
        proto.solution_hint.values.extend(hint[known].astype(np.int64).tolist())


def _fix(proto: Any, lits: Any) -> list[tuple[Any, list[int]]] | None:
    """Narrow domains for one run; the domains with what they were, or None when the literals cannot hold."""
    domains = [proto.variables[abs(lit) - 1].domain for lit in lits]
    before = [list(domain) for domain in domains]
    possible = all(was[0] <= (lit > 0) <= was[-1] for lit, was in zip(lits, before, strict=True))
    if not possible or any(-lit in lits for lit in lits):
        return None
    for lit, domain in zip(lits, domains, strict=True):
        _replace(domain, [int(lit > 0)] * 2)
    return list(zip(domains, before, strict=True))


def _replace(domain: Any, values: list[int]) -> None:
    # Protocol buffers of older OR-Tools are Python objects, later ones are wrapped C++.
    domain.clear() if hasattr(domain, "clear") else domain.__delitem__(slice(None))
    domain.extend(values)


def _whole(side: np.ndarray) -> list[int]:
    """Sides of rows as integers, infinite ones as CP-SAT's marks."""
    inside = np.clip(side, -float(FURTHEST), float(FURTHEST))
    low, high = np.isneginf(side), np.isposinf(side)
    whole = inside.astype(np.int64)
    whole[low], whole[high] = LOWEST, HIGHEST
    out: list[int] = whole.tolist()
    return out


def _refs(lits: np.ndarray) -> list[int]:
    """Literals ``+-(col + 1)`` in CP-SAT's numbering: column, or -column - 1."""
    out: list[int] = np.where(lits > 0, lits - 1, lits).tolist()
    return out


def _constraints(proto: Any, block: Block) -> Iterator[tuple[int, Any]]:
    """A constraint for each row, with the literal that enforces it."""
    when = None if block.when is None else _refs(block.when)
    add = proto.constraints.add
    for r in range(block.n_rows):
        constraint = add()
        if when is not None:
            constraint.enforcement_literal.append(when[r])
        yield r, constraint


def _add_linear(proto: Any, block: Linear) -> None:
    ends, cols, vals = block.indptr.tolist(), block.cols.tolist(), block.vals.astype(np.int64).tolist()
    lo, hi = _whole(block.lo), _whole(block.hi)
    for r, constraint in _constraints(proto, block):
        linear = constraint.linear
        linear.vars.extend(cols[ends[r] : ends[r + 1]])
        linear.coeffs.extend(vals[ends[r] : ends[r + 1]])
        linear.domain.extend([lo[r], hi[r]])


def _add_clauses(proto: Any, block: Clause) -> None:
    ends, lits = block.indptr.tolist(), _refs(block.lits)
    for r, constraint in _constraints(proto, block):
        constraint.bool_or.literals.extend(lits[ends[r] : ends[r + 1]])


def _add_cardinalities(proto: Any, block: Cardinality) -> None:
    """``at_most_one`` and ``exactly_one`` where they fit (neither may be enforced), counts as linear rows otherwise."""
    lengths = np.diff(block.indptr)
    lo, hi = np.maximum(block.lo, 0), np.minimum(block.hi, lengths)
    plain = np.full(block.n_rows, block.when is None)
    exactly_one = plain & (lo == 1) & (hi == 1)
    at_most_one = plain & (lo == 0) & (hi == 1)
    _add_families(proto, block, np.flatnonzero(exactly_one), "exactly_one")
    _add_families(proto, block, np.flatnonzero(at_most_one), "at_most_one")
    rest = np.flatnonzero(~exactly_one & ~at_most_one)
    if len(rest):
        shift = negated_per_row(block.indptr, block.lits)
        sides = (lo - shift).astype(np.float64), (hi - shift).astype(np.float64)
        # integer_rows states rows that no count satisfies as 0 >= 1: domains must not be crossed.
        _add_linear(proto, integer_rows(Linear(block.name, *block.rows, *sides, block.when).take(rest)))


def _add_families(proto: Any, block: Cardinality, rows: np.ndarray, kind: str) -> None:
    ends, lits = block.indptr.tolist(), _refs(block.lits)
    add = proto.constraints.add
    for r in rows.tolist():
        getattr(add(), kind).literals.extend(lits[ends[r] : ends[r + 1]])
