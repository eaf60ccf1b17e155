"""MaxSAT through PySAT's RC2: clauses and an objective over 0/1 columns.

RC2 (Ignatiev, Morgado, Marques-Silva, JSAT 11, 2019) relaxes one unsatisfiable core after the other until what is
left can be satisfied: it reports nothing before the optimum. It runs in a child process, which can be killed and is
capped in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.in_child import SessionInChild
from treeform.backends.memory import cap_memory, check_memory_limit
from treeform.backends.packages import load
from treeform.backends.run import CLAUSE, Answer, Capabilities, Run, Verdict
from treeform.backends.sat import SAT, _fixed_columns, _point
from treeform.backends.watch import Watch
from treeform.bridges import whole_objective
from treeform.model import Clause, Model


class MaxSAT(Backend):
    """Core-guided MaxSAT.

    Parameters
    ----------
    solver : str
        The SAT solver inside RC2, by PySAT's name.
    memory_limit : int, optional
        Megabytes for its process; by default half of the machine's memory.
    """

    name = "rc2"
    package = "python-sat"
    module = "pysat"
    install = "pip install python-sat"
    own_process = True
    capabilities = Capabilities(frozenset({CLAUSE}), objective=True)

    def __init__(self, solver: str = "glucose4", *, memory_limit: int | None = None) -> None:
        self.solver = SAT(solver).solver
        self.memory_limit = check_memory_limit(memory_limit)
        super().__init__()

    def open(self, model: Model) -> Session:
        self.require()
        return MaxSatSession(self, model)


class MaxSatSession(SessionInChild):
    """All clauses go to a child with every run."""

    backend: MaxSAT

    def _search(self, run: Run, watch: Watch) -> Answer:
        goal = self.lowered.objective
        costs, scale = whole_objective(goal)
        values = np.array(costs, dtype=np.int64)
        # A column that costs v wants to be 0; one that costs -v wants to be 1, which saves v.
        soft = np.where(values > 0, -(goal.cols + 1), goal.cols + 1)
        blocks = [b for b in self.lowered.blocks if isinstance(b, Clause)]
        task = {
            "solver": self.backend.solver,
            "units": [[lit] for lit in run.assumptions] + _fixed_columns(self.lowered, 0),
            "clauses": [(b.indptr, b.lits) for b in blocks],
            "soft": [(int(lit), abs(int(v))) for lit, v in zip(soft, values, strict=True) if v],
            "memory": self.backend.memory_limit,
        }
        model = self._ask("treeform.backends.maxsat", task, watch)
        if isinstance(model, Answer):
            return model
        if not model["found"]:
            return Answer(Verdict.INFEASIBLE)
        saved = int(values[values < 0].sum()) + model["cost"]
        return Answer(Verdict.OPTIMAL, _point(model["model"], self.lowered), bound=saved / scale + goal.const)


def solve_in_child(task: dict[str, Any]) -> dict[str, Any]:
    """What a child process does: load, solve once, and return the model and its cost."""
    cap_memory(task["memory"])
    formula = load("pysat.formula", "rc2", MaxSAT.install).WCNF()
    for unit in task["units"]:
        formula.append(unit)
    for indptr, lits in task["clauses"]:
        ends, flat = indptr.tolist(), lits.tolist()
        for r in range(len(ends) - 1):
            if ends[r] == ends[r + 1]:
                return {"found": False}
            formula.append(flat[ends[r] : ends[r + 1]])
    for lit, weight in task["soft"]:
        formula.append([lit], weight=weight)
    kind = "RC2Stratified" if len({weight for _, weight in task["soft"]}) > 1 else "RC2"
    made = getattr(load("pysat.examples.rc2", "rc2", MaxSAT.install), kind)
    with made(formula, solver=task["solver"], adapt=True, exhaust=True, minz=True) as engine:
        model = engine.compute()
        return {"found": model is not None, "model": model, "cost": engine.cost}
