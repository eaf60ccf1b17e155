"""Two and three requirements at once from the formulation alone, at depth 3.

The requirements are those of ``totals combined``, and two more with one of a user's own beside parity: at most two
leaves predict class 1. No warm start, no incumbent and no bound from a native engine. One thread; user CPU seconds of
everything. The sensitive column is left out of the tests. The optimum is that of the search for totals.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.graph.questions import SOLVERS, cell
from benchmarks.graph.requirements import FewPositiveLeaves
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.combined import combinations
from benchmarks.totals.compare import SENSITIVE

DEPTH = 3


def stated(name: str) -> dict[str, tf.Problem]:
    """The problems of a set, by their requirements."""
    X, y = read_set("fairness", name)
    rules = {label: of for label, of in combinations(name, X).items() if len(of) > 1}
    first, *_ = rules["parity in two attributes"]
    own = FewPositiveLeaves(2)
    rules |= {
        "parity, 2 positive leaves": [first, own],
        "parity, min support, 2 positive leaves": [first, tf.MinSupport(fraction=0.05), own],
    }
    plain = tf.Problem(X.drop(columns=SENSITIVE[name][0]), y, shape=tf.Tree(DEPTH)).minimize(tf.Error())
    return {label: plain + of for label, of in rules.items()}


def one(problem: tf.Problem, solver: str, seconds: float) -> dict[str, Any]:
    """One solver on one question."""
    best = problem.solve(tf.TotalsSearch(), time_limit=60)
    began = user_seconds()
    result = problem.solve(
        SOLVERS[solver], formulation="hypergraph-flow", warm_start=None, time_limit=seconds
    )
    return {
        "optimum": best.objective if best.status is tf.Status.OPTIMAL else None, "status": result.status,
        "errors": result.errors, "bound": result.bound, "CPU s": round(user_seconds() - began, 2),
    }  # fmt: skip


@table("graph_combined")
def combined(rows: Rows) -> Shown:
    """Seconds, or bound and errors where it is open."""
    have = rows.frame.to_dict("records")
    found = {(r["set"], r["requirements"], r["solver"]): r for r in have}
    solvers = list(dict.fromkeys(r["solver"] for r in have))
    lines = []
    for key in dict.fromkeys((r["set"], r["requirements"]) for r in have):
        of = [found.get((*key, solver)) for solver in solvers]
        lines.append([*key, next(row["optimum"] for row in of if row), *map(cell, of)])
    note = (
        f"User CPU seconds at depth {DEPTH} until the optimum was proved, or bound, errors and CPU seconds after "
        f"{rows.facts['seconds']} wall seconds. Optimum: that of the search for totals."
    )
    columns = ["set", "requirements", "optimum", *solvers]
    return Shown.of("Solvers alone under several requirements", columns, lines, note)


def main(sets: str = ",".join(SENSITIVE), seconds: float = 40, solvers: str = ",".join(SOLVERS)) -> None:
    """Measure; HiGHS and OR-Tools cannot share a process, so each solver is measured in a call of its own."""
    figures = Figures("graph_combined", ("set", "requirements", "solver"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for label, problem in stated(name).items():
            for solver in solvers.split(","):
                work = partial(one, problem, solver, seconds)
                figures.measure(work, set=name, requirements=label, solver=solver)
