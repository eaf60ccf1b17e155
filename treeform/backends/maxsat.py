"""MaxSAT through PySAT's RC2: clauses and an objective over 0/1 columns.

RC2 (Ignatiev, Morgado, Marques-Silva, JSAT 11, 2019) relaxes one unsatisfiable core after the other until what is
left can be satisfied: it reports nothing before the optimum. It runs in a child process, which can be killed and is
capped in memory.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.memory import check_memory_limit
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
        return self.open_apart(model) or MaxSatSession(self, model)


class MaxSatSession(Session):
    """Every run hands RC2 all clauses, in a process that may be killed."""

    backend: MaxSAT
    grace = patience = 0.0

    def _search(self, run: Run, watch: Watch) -> Answer:
        goal = self.lowered.objective
        costs, scale = whole_objective(goal)
        values = np.array(costs, dtype=np.int64)
        # A column that costs v wants to be 0; one that costs -v wants to be 1, which saves v.
        wanted = np.where(values > 0, -(goal.cols + 1), goal.cols + 1)
        soft = [(int(lit), abs(int(v))) for lit, v in zip(wanted, values, strict=True) if v]
        formula = load("pysat.formula", "rc2", MaxSAT.install).WCNF()
        for unit in [[lit] for lit in run.assumptions] + _fixed_columns(self.lowered, 0):
            formula.append(unit)
        for block in self.lowered.blocks:
            assert isinstance(block, Clause)
            ends, flat = block.indptr.tolist(), block.lits.tolist()
            for begin, end in pairwise(ends):
                if begin == end:
                    return Answer(Verdict.INFEASIBLE)
                formula.append(flat[begin:end])
        for lit, weight in soft:
            formula.append([lit], weight=weight)
        kind = "RC2Stratified" if len({weight for _, weight in soft}) > 1 else "RC2"
        made = getattr(load("pysat.examples.rc2", "rc2", MaxSAT.install), kind)
        with made(formula, solver=self.backend.solver, adapt=True, exhaust=True, minz=True) as engine:
            model, cost = engine.compute(), engine.cost
        if model is None:
            return Answer(Verdict.INFEASIBLE)
        saved = int(values[values < 0].sum()) + cost
        return Answer(Verdict.OPTIMAL, _point(model, self.lowered), bound=saved / scale + goal.const)
