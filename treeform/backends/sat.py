"""SAT solvers through PySAT: clauses in, models out, incremental, stoppable.

Few of these solvers can be interrupted, but nearly all take a budget of conflicts and keep what they have learnt
when it is used up. A run is therefore cut into slices that last about a tenth of a second each. Two traps: in the
main thread PySAT jumps out of C++ code on Ctrl-C, so it is always called from another one; and Kissat ends the
process when it is used twice, so it, and Lingeling, which has no budgets, run in a child process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.memory import check_memory_limit
from treeform.backends.packages import load
from treeform.backends.run import CARDINALITY, CLAUSE, Answer, Capabilities, Run, Verdict
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed, SpecError, unknown_name
from treeform.model import Block, Cardinality, Clause, Model

#: The fastest on the benchmark sets by measurement.
DEFAULT = "glucose42"
#: Seconds that a slice of conflicts should last, and where the search for its size begins.
SLICE_SECONDS = 0.08
FIRST_SLICE = 500
LONGEST_SLICE = 2_000_000
#: Clauses that are loaded between two checks of the time.
LOADED_AT_ONCE = 50_000

SLICED = (
    "cadical195", "cadical153", "cadical103", "cadical300", "glucose42", "glucose4", "glucose3", "minisat22",
    "maplechrono", "maplecm", "mergesat3", "minicard", "minisatep", "gluecard3", "gluecard4", "ergo",
)  # fmt: skip
IN_CHILD = ("kissat404", "lingeling")
#: PySAT has them, treeform does not use them, and why.
REFUSED = {
    "maplesat": "it ends the process with a segmentation fault on small formulas",
    "cryptominisat": "PySAT needs a package of its own for it, and it has no conflict budgets",
}
NATIVE_CARDINALITY = ("minicard", "gluecard3", "gluecard4")
ALIASES = {
    "sat": "glucose42",
    "cadical": "cadical195",
    "glucose": "glucose42",
    "minisat": "minisat22",
    "kissat": "kissat404",
}


class SAT(Backend):
    """A SAT solver of the PySAT collection.

    It takes 0/1 columns and clauses (some take cardinalities), and has no objective: the layer above searches for
    better and better models.

    Parameters
    ----------
    solver : str
        PySAT's name of the solver, such as "glucose42", "cadical195", "minisat22" or "kissat404".
    memory_limit : int, optional
        Megabytes for a solver that runs in a child process ("kissat404", "lingeling"); by default half of
        the machine's memory.
    """

    name = "sat"
    package = "python-sat"
    module = "pysat"
    install = "pip install python-sat"
    aliases = ALIASES

    def __init__(self, solver: str = DEFAULT, *, memory_limit: int | None = None) -> None:
        self.solver = ALIASES.get(solver.lower(), solver.lower())
        if self.solver in REFUSED:
            raise SpecError(
                f"treeform does not use the SAT solver {solver!r}",
                cause=REFUSED[self.solver],
                fix=f"use {DEFAULT!r}",
            )
        if self.solver not in SLICED + IN_CHILD:
            raise unknown_name(solver, [*SLICED, *IN_CHILD], "SAT solver")
        self.name = self.solver  # type: ignore[misc]
        forms = {CLAUSE, CARDINALITY} if self.solver in NATIVE_CARDINALITY else {CLAUSE}
        self.capabilities = Capabilities(frozenset(forms), cores=self.solver in SLICED)
        self.memory_limit = check_memory_limit(memory_limit)
        self.own_process = self.solver in IN_CHILD  # type: ignore[misc]
        super().__init__()

    @classmethod
    def variants(cls) -> tuple[str, ...]:
        return (*SLICED, *IN_CHILD)

    @classmethod
    def named(cls, variant: str, **settings: Any) -> Backend:
        return cls(variant, **settings)

    def open(self, model: Model) -> Session:
        self.require()
        return self.open_apart(model) or (WholeSession if self.own_process else SatSession)(self, model)


class SatSession(Session):
    """Clauses in a solver that keeps what it has learnt from run to run."""

    backend: SAT
    # Glucose checks its budget only when it restarts. Waiting keeps the clauses that it has learnt.
    patience = 10.0

    def __init__(self, backend: SAT, model: Model) -> None:
        self._solver: Any = None
        self._refuted = False
        self._pending: list[tuple[int, list[Block]]] = []
        super().__init__(backend, model)

    def _load(self, blocks: list[Block]) -> None:
        # Loading takes time, too: it happens in the search, which can be stopped.
        if self._solver is None:
            self._solver = _make(self.backend)
            self._pending, self._refuted = [(0, list(self.lowered.blocks))], False
        else:
            self._pending.append((self._mark.n_cols, blocks))

    def _hand_over(self, watch: Watch) -> bool:
        """Load the new clauses into the solver; False if that was stopped half-way."""
        for first, blocks in self._pending:
            # Columns that no clause mentions need no loading: they are free.
            for lits in _fixed_columns(self.lowered, first):
                self._solver.add_clause(lits)
            for block in blocks:
                for part in _parts(block):
                    if watch.ending:
                        self.close()
                        return False
                    if isinstance(part, Clause):
                        self._refuted |= not _add_clauses(self._solver, part)
                    else:
                        self._refuted |= not _add_counts(self._solver, part)
        self._pending = []
        return True

    def _search(self, run: Run, watch: Watch) -> Answer:
        if self._solver is None:
            self._load([])
        if not self._hand_over(watch):
            return Answer(Verdict.UNKNOWN, reason=watch.reason or "time")
        if self._refuted:
            return Answer(Verdict.INFEASIBLE)
        solver = self._solver
        if run.hint is not None:
            phases = _literals(run.hint)
            if self.backend.solver != "cadical103":
                solver.set_phases(phases)
        assumptions = list(run.assumptions)
        satisfiable, slices = in_slices(
            solver, lambda: not watch.ending and watch.remaining != 0.0, assumptions
        )
        info: dict[str, Any] = {"slices": slices, **_counters(solver)}
        if satisfiable is None:
            return Answer(Verdict.UNKNOWN, reason=watch.reason or "time", info=info)
        if not satisfiable:
            core = set(solver.get_core() or ()) if assumptions else set()
            info["core"] = tuple(i for i, lit in enumerate(assumptions) if lit in core)
            return Answer(Verdict.INFEASIBLE, info=info)
        return Answer(_verdict(self.model), _point(solver.get_model(), self.lowered), info=info)

    def _abandon(self) -> None:
        self._solver = None

    def close(self) -> None:
        if self._solver is not None:
            self._solver.delete()
            self._solver = None


class WholeSession(Session):
    """A solver without budgets of conflicts: every run hands it all clauses, in a process that may be killed."""

    backend: SAT
    grace = patience = 0.0

    def _search(self, run: Run, watch: Watch) -> Answer:
        solver = _make(self.backend)
        for unit in [[lit] for lit in run.assumptions] + _fixed_columns(self.lowered, 0):
            solver.add_clause(unit)
        for block in self.lowered.blocks:
            if isinstance(block, Clause) and not _add_clauses(solver, block):
                return Answer(Verdict.INFEASIBLE)
        if run.hint is not None and self.backend.solver == "lingeling":
            solver.set_phases(_literals(run.hint))
        satisfiable = solver.solve()
        if satisfiable is None:
            raise SolverFailed(f"{self.backend.solver} gave no answer", fix="try another SAT solver")
        if not satisfiable:
            return Answer(Verdict.INFEASIBLE)
        return Answer(_verdict(self.model), _point(solver.get_model(), self.lowered))


def in_slices(
    solver: Any, goes_on: Callable[[], bool], assumptions: Sequence[int] = ()
) -> tuple[bool | None, int]:
    """Solve in slices of conflicts, so that the search can be stopped between them.

    ``goes_on`` is called before each slice; assumptions hold in this call only. Returns whether there is a solution,
    None if the search was stopped, and the number of slices that ended without an answer.
    """
    slices, budget = 0, FIRST_SLICE
    while goes_on():
        start = time.monotonic()
        solver.conf_budget(budget)
        satisfiable: bool | None = solver.solve_limited(assumptions=assumptions)
        if satisfiable is not None:
            return satisfiable, slices
        slices += 1
        spent = max(time.monotonic() - start, 1e-4)
        budget = int(min(LONGEST_SLICE, max(20, budget * min(2.0, SLICE_SECONDS / spent))))
        # PySAT holds the interpreter lock during a slice; here the caller's thread gets its turn.
        time.sleep(1e-4)
    return None, slices


def _make(backend: SAT) -> Any:
    pysat = load("pysat.solvers", backend.name, backend.install)
    try:
        return pysat.Solver(name=backend.solver)
    except pysat.NoSuchSolverError as error:
        raise SpecError(
            f"the installed PySAT has no solver {backend.solver!r}",
            cause="it is older than that solver",
            fix="pip install --upgrade python-sat",
        ) from error


def _parts(block: Block) -> Iterator[Clause | Cardinality]:
    """A block in pieces that load in a moment."""
    assert isinstance(block, Clause | Cardinality)
    if isinstance(block, Cardinality) or block.n_rows <= LOADED_AT_ONCE:
        yield block
        return
    for start in range(0, block.n_rows, LOADED_AT_ONCE):
        ends = block.indptr[start : start + LOADED_AT_ONCE + 1]
        yield Clause(block.name, ends - ends[0], block.lits[ends[0] : ends[-1]])


def _add_clauses(solver: Any, block: Clause) -> bool:
    """Load clauses; False when one of them is empty, which not every solver digests."""
    ends, lits = block.indptr.tolist(), block.lits.tolist()
    add = solver.solver.add_clause
    empty = False
    for r in range(block.n_rows):
        if ends[r] == ends[r + 1]:
            empty = True
        else:
            add(lits[ends[r] : ends[r + 1]])
    return not empty


def _add_counts(solver: Any, block: Cardinality) -> bool:
    """Load counts as "at most"; False when one of them cannot hold."""
    ends, lits = block.indptr.tolist(), block.lits.tolist()
    possible = True
    for r, (lo, hi) in enumerate(zip(block.lo.tolist(), block.hi.tolist(), strict=True)):
        row = lits[ends[r] : ends[r + 1]]
        if lo > len(row) or hi < max(lo, 0):
            possible = False
            continue
        if hi < len(row):
            solver.add_atmost(row, hi)
        if lo > 0:
            solver.add_atmost([-lit for lit in row], len(row) - lo)
    return possible


def _fixed_columns(model: Model, start: int) -> list[list[int]]:
    """Unit clauses for columns whose range is a single value."""
    lb, ub = model.lb[start:], model.ub[start:]
    one, zero = np.flatnonzero(lb > 0.5), np.flatnonzero(ub < 0.5)
    return [[lit] for lit in (one + start + 1).tolist()] + [[-lit] for lit in (zero + start + 1).tolist()]


def _literals(hint: np.ndarray) -> list[int]:
    known = np.flatnonzero(~np.isnan(hint))
    out: list[int] = np.where(hint[known] > 0.5, known + 1, -(known + 1)).tolist()
    return out


def _point(literals: list[int], model: Model) -> np.ndarray:
    """A model of the clauses as a point; variables that the solver never saw are at their lower bound."""
    x = model.lb.copy()
    lits = np.asarray(literals, dtype=np.int64)
    lits = lits[np.abs(lits) <= model.n_cols]
    x[np.abs(lits) - 1] = lits > 0
    return x


def _verdict(model: Model) -> Verdict:
    return Verdict.FEASIBLE if len(model.objective.cols) else Verdict.OPTIMAL


def _counters(solver: Any) -> dict[str, int]:
    stats = solver.accum_stats() if hasattr(solver, "accum_stats") else None
    return {name: int(value) for name, value in (stats or {}).items()}
