"""HiGHS through highspy: arrays in, incumbents and bounds out.

Traps that this file works around: integers come back as 7.9999999; ``kInfeasible`` is also what a cutoff brings
about; completing a partial start runs a restricted search whose bounds mean nothing for the model, so it is a separate
search here; ``mip_rel_gap`` is 1e-4 by default; and interrupts are not polled during the root LP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session, check_threads
from treeform.backends.packages import HIGHSPY, Availability, load, probe, release
from treeform.backends.ranges import finite, narrowed, with_cutoff
from treeform.backends.run import IN_FLOATS, LINEAR, Answer, Capabilities, Reason, Run, Verdict
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed, SpecError
from treeform.model import Linear, Model

OLDEST = (1, 11)
REFUSED = {(1, 14): "its presolve cuts off optima (HiGHS issue 2957, mended in 1.15)"}
#: Nodes and seconds for completing a partial start.
START_NODES = 500
START_SECONDS = 5.0


class HiGHS(Backend):
    """The open mixed-integer solver HiGHS.

    Parameters
    ----------
    threads : int
        0 lets HiGHS choose.
    options : dict
        HiGHS options by their names, such as ``{"mip_heuristic_effort": 0.2}``.

    Raises
    ------
    SpecError
        On an option that HiGHS does not know, when a model is opened.
    """

    name = "highs"
    package = "highspy"
    module = "highspy"
    install = HIGHSPY
    capabilities = Capabilities(
        frozenset({LINEAR}), continuous=True, integer=True, objective=True, largest=IN_FLOATS
    )

    def __init__(self, threads: int = 1, options: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.threads = check_threads(threads, chosen_by="HiGHS")
        self.options = dict(options or {})

    @classmethod
    def availability(cls, variant: str = "") -> Availability:
        """As for any backend; versions before 1.11 pass points to callbacks in another way, and some are wrong."""
        package = probe(cls.package, cls.module)
        if not package.available or package.version is None:
            return package
        number = release(package.version)
        if number < OLDEST:
            return Availability(False, package.version, f"highspy {package.version} is too old")
        if number in REFUSED:
            return Availability(
                False, package.version, f"highspy {package.version} is refused: {REFUSED[number]}"
            )
        return package

    def open(self, model: Model) -> Session:
        self.require()
        if (session := self.open_apart(model)) is not None:
            return session
        self.instance()
        return HighsSession(self, model)

    def instance(self) -> Any:
        """A silent HiGHS with the settings of this backend."""
        highs = load("highspy", self.name, self.install).Highs()
        # First of all, since setting any other option may print.
        settings = {
            "output_flag": False,
            "log_to_console": False,
            "threads": self.threads,
            "mip_rel_gap": 0.0,
            **self.options,
        }
        for name, value in settings.items():
            if "kOk" not in str(highs.setOptionValue(name, value)):
                raise SpecError(
                    f"HiGHS refuses the option {name}={value!r}",
                    cause="there is no such option, or it takes another type or range",
                    fix="see the list of options in the HiGHS documentation",
                )
        return highs


def pass_model(highs: Any, model: Model, rows: Linear, lb: np.ndarray, ub: np.ndarray) -> None:
    """Hand columns, objective and rows to an instance of HiGHS. Raises SolverFailed if HiGHS refuses them."""
    cost = np.zeros(model.n_cols)
    cost[model.objective.cols] = model.objective.vals
    by_row, minimise = 2, 1
    status = highs.passModel(
        model.n_cols,
        rows.n_rows,
        rows.n_terms,
        by_row,
        minimise,
        model.objective.const,
        cost,
        lb,
        ub,
        rows.lo,
        rows.hi,
        rows.indptr.astype(np.int32),
        rows.cols.astype(np.int32),
        rows.vals,
        model.is_integer.astype(np.int32),
    )
    if "kError" in str(status):
        # HiGHS says no more when memory is short; this raises then, since its copy of the matrix is larger.
        np.empty(2 * (rows.cols.nbytes + rows.vals.nbytes), dtype=np.uint8)
        raise SolverFailed(
            "HiGHS refuses the model", cause="passModel returned an error", fix="report this model"
        )


class HighsSession(Session):
    """A model for HiGHS; every run loads its arrays into a fresh instance, since keeping it saves nothing."""

    backend: HiGHS

    def _search(self, run: Run, watch: Watch) -> Answer:
        lb, ub = narrowed(self.lowered, run.assumptions)
        if bool((lb > ub).any()):
            return Answer(Verdict.INFEASIBLE)
        search = _Search(self.backend, self.lowered, watch, with_cutoff(self.lowered, run.cutoff))
        start = search.completed(run.hint, lb, ub) if run.hint is not None else None
        answer = search.run(lb, ub, start)
        if answer.verdict is Verdict.OPTIMAL and not search.holds(answer.x):
            # A row with a large constant was satisfied by an integer that is only nearly one: use a smaller tolerance.
            search.settings |= dict.fromkeys(
                ("mip_feasibility_tolerance", "primal_feasibility_tolerance"), 1e-9
            )
            second = search.run(lb, ub, start)
            answer = second if second.verdict is not Verdict.INFEASIBLE else answer
            answer.info["retried"] = True
        return answer


class _Search:
    """Runs of HiGHS on one set of rows."""

    def __init__(self, backend: HiGHS, model: Model, watch: Watch, rows: Linear) -> None:
        self.core = load("highspy._core", backend.name, backend.install)
        self.backend, self.model, self.watch, self.rows = backend, model, watch, rows
        self.settings: dict[str, Any] = {}

    # -- one run --------------------------------------------------------------------------------

    def run(self, lb: np.ndarray, ub: np.ndarray, start: np.ndarray | None) -> Answer:
        """The search itself, from a complete point or none."""
        highs = self._loaded(lb, ub, {})
        if start is not None:
            every = np.arange(len(start), dtype=np.int32)
            highs.setSolution(len(start), every, start)
        self._listen(highs, bounds=True)
        self._go(highs)
        verdict, reason = self._read(highs.getModelStatus())
        info = highs.getInfo()
        x = self._point(highs)
        bound: float | None = info.mip_dual_bound if self.model.is_integer.any() else None
        if bound is None and verdict is Verdict.OPTIMAL:
            bound = info.objective_function_value
        if verdict is Verdict.UNKNOWN and reason is None and not self.watch.ending:
            verdict, reason = self._settle(lb, ub)
        if x is not None and not self.holds(x):
            x = self._polished(x)
        counters = {"nodes": int(info.mip_node_count), "iterations": int(info.simplex_iteration_count)}
        return Answer(verdict, x, finite(bound), reason, counters)

    def completed(self, hint: np.ndarray, lb: np.ndarray, ub: np.ndarray) -> np.ndarray | None:
        """A complete point from a partial one: a short search with the known integer columns fixed.

        HiGHS has an option for this, but the bounds that it reports meanwhile are those of the restricted model.
        """
        known = ~np.isnan(hint)
        if bool(known.all()):
            return hint
        known &= self.model.is_integer & (hint >= lb) & (hint <= ub)
        if not bool(known.any()):
            return None
        left = self.watch.remaining
        seconds = START_SECONDS if left is None else min(START_SECONDS, left / 4)
        limits = {"mip_max_nodes": START_NODES, "time_limit": seconds}
        highs = self._loaded(np.where(known, hint, lb), np.where(known, hint, ub), limits)
        self._listen(highs, bounds=False)
        self._go(highs)
        return self._point(highs)

    def holds(self, x: np.ndarray | None) -> bool:
        """Whether a point satisfies the model as it was stated, after rounding."""
        return x is not None and not any(
            self.watch.lowered.source.check(self.watch.lowered.to_source(x)).values()
        )

    # -- inside ---------------------------------------------------------------------------------

    def _loaded(self, lb: np.ndarray, ub: np.ndarray, limits: dict[str, Any]) -> Any:
        model, rows = self.model, self.rows
        highs = self.backend.instance()
        left = self.watch.remaining
        options = {} if left is None else {"time_limit": left}
        for name, value in {**self.settings, **options, **limits}.items():
            highs.setOptionValue(name, value)
        pass_model(highs, model, rows, lb, ub)
        return highs

    def _listen(self, highs: Any, bounds: bool) -> None:
        watch, kinds = self.watch, self.core.cb.HighsCallbackType
        improved, looked = kinds.kCallbackMipImprovingSolution, kinds.kCallbackMipInterrupt
        reported_bound = -np.inf

        def callback(kind: Any, message: str, out: Any, back: Any, data: Any) -> None:
            nonlocal reported_bound
            if kind == improved:
                watch.solution(np.array(out.mip_solution))
                return
            back.user_interrupt = watch.ending
            if bounds and kind == looked:
                watch.nodes(int(out.mip_node_count))
                if out.mip_dual_bound > reported_bound:
                    reported_bound = out.mip_dual_bound
                    watch.bound(reported_bound)

        highs.setCallback(callback, None)
        for kind in (improved, looked, kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt):
            highs.startCallback(kind)

    def _go(self, highs: Any) -> None:
        if not self.watch.ending:
            # Not Highs.solve(), which highspy overrides with its own thread and signal handler.
            self.core._Highs.run(highs)

    def _point(self, highs: Any) -> np.ndarray | None:
        feasible = highs.getInfo().primal_solution_status == self.core.SolutionStatus.kSolutionStatusFeasible
        return np.array(highs.getSolution().col_value) if feasible else None

    def _read(self, status: Any) -> tuple[Verdict, Reason | None]:
        kinds = self.core.HighsModelStatus
        broken = (
            kinds.kLoadError,
            kinds.kModelError,
            kinds.kPresolveError,
            kinds.kSolveError,
            kinds.kPostsolveError,
        )
        if status in broken:
            raise SolverFailed("HiGHS failed", cause=f"its status is {status.name}", fix="try another solver")
        verdicts = {kinds.kOptimal: Verdict.OPTIMAL, kinds.kInfeasible: Verdict.INFEASIBLE}
        reasons: dict[Any, Reason] = {kinds.kTimeLimit: "time", kinds.kMemoryLimit: "memory"}
        gave_up = (kinds.kIterationLimit, kinds.kSolutionLimit, kinds.kObjectiveTarget, kinds.kObjectiveBound)
        reasons |= dict.fromkeys(gave_up, "solver")
        return verdicts.get(status, Verdict.UNKNOWN), reasons.get(status)

    def _settle(self, lb: np.ndarray, ub: np.ndarray) -> tuple[Verdict, Reason | None]:
        """Unbounded or infeasible? Without an objective it can only be the latter."""
        highs = self._loaded(lb, ub, {})
        every = np.arange(self.model.n_cols, dtype=np.int32)
        highs.changeColsCost(len(every), every, np.zeros(len(every)))
        self._listen(highs, bounds=False)
        self._go(highs)
        verdict, reason = self._read(highs.getModelStatus())
        return (verdict, reason) if verdict is Verdict.INFEASIBLE else (Verdict.UNKNOWN, "solver")

    def _polished(self, x: np.ndarray) -> np.ndarray:
        """The best continuous columns for the rounded integer ones, where there are any."""
        whole = self.model.is_integer
        if bool(whole.all()) or not bool(whole.any()):
            return x
        rounded = np.rint(x)
        highs = self._loaded(
            np.where(whole, rounded, self.model.lb), np.where(whole, rounded, self.model.ub), {}
        )
        self._go(highs)
        point = self._point(highs)
        return x if point is None else point
