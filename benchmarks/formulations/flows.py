"""FlowOCT and its Benders cuts beside ODD, on tables of zeros and ones, from the formulation alone.

The strength of the linear relaxation, as it is and with the test at the root fixed; user CPU seconds to the proof.
No warm start and no bound from a native engine. One thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from treeform.backends.ranges import with_cutoff
from treeform.formulations import ODD, BendersOCT, FlowOCT
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.ports import Ports
from treeform.model import Model

SETS = ("hepatitis", "lymph", "zoo-1", "vote")
WAYS: dict[str, Formulation] = {
    "odd": ODD(),
    "flow-oct": FlowOCT(),
    "flow-oct, all points": FlowOCT(correct_only=False),
    "benders-oct": BendersOCT(),
}
FIXED = 5
"""Columns that are fixed at the root, one after the other, for the second strength: every so many columns one."""


class RootReads(tf.Requirement, listed=False):
    """The root tests a column."""

    needs = frozenset({"feature"})
    demands_tests = False

    def __init__(self, feature: int) -> None:
        self.feature = feature

    def build(self, model: Model, ports: Ports) -> None:
        model.add(ports.feature[0, self.feature] >= 1)

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return int(graph.feature[0] != self.feature)


def relaxed(compiled: Compiled) -> float:
    """The optimum of the linear relaxation."""
    session = tf.HiGHS().open(compiled.model)
    model = session.lowered
    session.close()
    rows = with_cutoff(model, None)
    matrix = csr_array((rows.vals, rows.cols, rows.indptr), shape=(rows.n_rows, model.n_cols))
    low, high = np.isfinite(rows.lo), np.isfinite(rows.hi)
    cost = np.zeros(model.n_cols)
    cost[model.objective.cols] = model.objective.vals
    found = linprog(
        cost,
        A_ub=vstack([-matrix[low], matrix[high]]),
        b_ub=np.concatenate([-rows.lo[low], rows.hi[high]]),
        bounds=np.column_stack([model.lb, model.ub]),
        method="highs",
    )
    return float(found.fun + model.objective.const) / compiled.scale


def one(name: str, way: str, solver: str, depth: int, seconds: float) -> dict[str, Any]:
    """One formulation on one table."""
    X, y = read_set("binary", name)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    asked, formulation = problem.question, WAYS[way]
    if way == "odd":
        formulation = ODD().tuned_for(tf.HiGHS().capabilities.forms)
    figures: dict[str, Any] = {}
    if solver == "highs" and way != "benders-oct":  # whose relaxation depends on the cuts so far
        stated = (asked.data, asked.shape, asked.objective)
        figures["relaxation"] = f"{relaxed(formulation.compile(*stated)):.3g}"
        columns = np.linspace(0, asked.data.n_features - 1, FIXED).astype(int).tolist()
        fixed = [relaxed(formulation.compile(*stated, [RootReads(f)])) for f in columns]
        figures["root fixed"] = f"{np.mean(fixed):.4g}"
    before = user_seconds()
    result = problem.solve(solver, formulation=WAYS[way], warm_start=None, time_limit=seconds)
    return {
        "relaxation": "", "root fixed": "", **figures,
        "rows": asked.data.n_samples, "columns": asked.data.n_features, "status": result.status,
        "errors": result.errors, "bound": result.bound, "CPU s": round(user_seconds() - before, 2),
    }  # fmt: skip


def _number(cell: str) -> str:
    """An optimum of floating-point arithmetic, as it is shown."""
    return f"{abs(round(float(cell), 6)):.3g}" if cell else ""


@table("flows")
def flows(rows: Rows) -> Shown:
    """Strength, and seconds or what is left open."""
    have = rows.frame.to_dict("records")
    found = {(r["set"], r["formulation"], r["solver"]): r for r in have}

    def cell(row: dict[str, str] | None) -> str:
        if row is None:
            return ""
        if row["status"] == "optimal":
            return row["CPU s"]
        return f"open ({float(row['bound'] or 0):.0f} / {row['errors']})"

    lines = []
    for name in dict.fromkeys(row["set"] for row in have):
        for way in WAYS:
            row = found.get((name, way, "highs"))
            if row is not None:
                other = found.get((name, way, "cp-sat"))
                size = f"{row['rows']} x {row['columns']}"
                strength = [_number(row[column]) for column in ("relaxation", "root fixed")]
                lines.append([name, size, way, *strength, cell(row), cell(other)])
    note = (
        f"Depth {rows.facts['depth']}, errors alone. Relaxation: its optimum, and the mean with one of {FIXED} columns "
        "fixed at the root. Then user CPU seconds until the optimum was proved, or bound and errors after "
        f"{rows.facts['seconds']} wall seconds."
    )
    columns = ["set", "size", "formulation", "relaxation", "root fixed", "HiGHS", "CP-SAT"]
    return Shown.of("Formulations of trees on columns of zeros and ones", columns, lines, note)


def main(
    sets: str = ",".join(SETS), seconds: float = 60, depth: int = 2, solvers: str = "highs,cp-sat"
) -> None:
    """Measure."""
    figures = Figures("flows", ("set", "formulation", "solver"), seconds=f"{seconds:g}", depth=depth)
    for name in named("binary", sets):
        for way in WAYS:
            for solver in solvers.split(","):
                figures.measure(
                    partial(one, name, way, solver, depth, seconds), set=name, formulation=way, solver=solver
                )
