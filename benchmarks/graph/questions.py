"""Formulations of trees beside each other under parity, from the formulation alone.

No warm start, no incumbent and no bound from a native engine. One thread; user CPU seconds of everything. The sensitive
column is left out of the tests.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import RULES, SENSITIVE
from treeform.backends import Backend

SOLVERS: dict[str, Backend] = {"highs": tf.HiGHS(threads=1), "cp-sat": tf.CPSAT(threads=1)}
OTHERS = ("odd", "flow-oct", "benders-oct")
"""Beside it, on questions of one rule and depth."""
BESIDE = ("difference .05", 3)
BESIDE_SETS = ("compas", "student-mat")


def stated(name: str, depth: int, rule: str) -> tf.Problem:
    """One question."""
    X, y = read_set("fairness", name)
    column, positive = SENSITIVE[name]
    kind, amount, _ = RULES[rule]
    problem = tf.Problem(X.drop(columns=column), y, shape=tf.Tree(depth)).minimize(tf.Error())
    return problem + kind(groups=X[column], positive=positive, **amount)


def one(name: str, depth: int, rule: str, formulation: str, solver: str, seconds: float) -> dict[str, Any]:
    """One formulation on one question."""
    optimum = stated(name, depth, rule).solve(tf.TotalsSearch(), time_limit=60).objective
    problem = stated(name, depth, rule)
    began = user_seconds()
    result = problem.solve(SOLVERS[solver], formulation=formulation, warm_start=None, time_limit=seconds)
    return {
        "optimum": optimum, "status": result.status, "errors": result.errors, "bound": result.bound,
        "CPU s": round(user_seconds() - began, 2),
    }  # fmt: skip


def cell(row: dict[str, str] | None) -> str:
    """What the table says of a question that was asked: seconds, or bound and errors where it is open."""
    if row is None:
        return ""
    if row["status"] == "optimal":
        return row["CPU s"] if row["errors"] == row["optimum"] else f"wrong: {row['errors']}"
    return f"open ({row['bound'] or 0} / {row['errors']}, {row['CPU s']} s)"


@table("graph_questions")
def questions(rows: Rows) -> Shown:
    """Seconds, or bound and errors where it is open."""
    have = rows.frame.to_dict("records")
    found = {(r["set"], r["depth"], r["rule"], r["formulation"], r["solver"]): r for r in have}
    ways = list(dict.fromkeys((r["formulation"], r["solver"]) for r in have))
    lines = []
    for question in dict.fromkeys((r["set"], r["depth"], r["rule"]) for r in have):
        optimum = next(r["optimum"] for r in have if (r["set"], r["depth"], r["rule"]) == question)
        lines.append([*question, optimum, *(cell(found.get((*question, *way))) for way in ways)])
    note = (
        "User CPU seconds until the optimum was proved, or bound, errors and CPU seconds after "
        f"{rows.facts['seconds']} wall seconds ({rows.facts['others']} of the others). Optimum: that of the "
        "search for totals."
    )
    columns = ["set", "depth", "rule", "optimum", *(" on ".join(way) for way in ways)]
    return Shown.of("Solvers alone under parity and equal opportunity", columns, lines, note)


def main(
    sets: str = ",".join(SENSITIVE),
    seconds: float = 120,
    depths: str = "3,4",
    others_seconds: float = 30,
    solvers: str = ",".join(SOLVERS),
) -> None:
    """Measure; HiGHS and OR-Tools cannot share a process, so each solver is measured in a call of its own."""
    key = ("set", "depth", "rule", "formulation", "solver")
    figures = Figures("graph_questions", key, seconds=f"{seconds:g}", others=f"{others_seconds:g}")
    for depth in map(int, depths.split(",")):
        for name in named("fairness", sets):
            for rule in RULES:
                others = OTHERS if (rule, depth) == BESIDE and name in BESIDE_SETS else ()
                for formulation in ("hypergraph-flow", *others):
                    limit = seconds if formulation == "hypergraph-flow" else others_seconds
                    for solver in solvers.split(","):
                        figures.measure(
                            partial(one, name, depth, rule, formulation, solver, limit),
                            set=name, depth=depth, rule=rule, formulation=formulation, solver=solver,
                        )  # fmt: skip
