"""The diagram formulation on every solver, and the paper's own formulation on HiGHS, on the same small problems.

No warm start, no bound from a native engine: a solver and a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, table, user_seconds
from benchmarks.odd.protocol import read_parts
from treeform.data import Dataset
from treeform.formulations.odd import ODD, PaperODD, paper_objective

SETS = (
    "acute-inflammations-nephritis", "balance-scale", "congressional-voting", "fertility-diagnosis", "hayes-roth",
    "hepatitis", "iris", "monks1", "seeds", "soybean-small", "spect-heart", "teaching-assistant-evaluation",
)  # fmt: skip
SHAPE = tf.Diagram(1, 2, 2)
ALPHA = "0.2"
WAYS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "paper's, HiGHS": lambda: (tf.HiGHS(), PaperODD()),
    "HiGHS": lambda: (tf.HiGHS(), ODD()),
    "SCIP": lambda: (tf.MathOpt("scip"), ODD()),
    "CBC": lambda: (tf.Pyomo("cbc"), ODD()),
    "CP-SAT": lambda: (tf.CPSAT(), ODD()),
    "portfolio": lambda: (tf.Portfolio([tf.CPSAT(), tf.HiGHS()]), ODD()),
    "DiagramSearch": lambda: (tf.DiagramSearch(), None),
}


def one(name: str, way: str, seconds: float) -> dict[str, Any]:
    """One solver on one problem."""
    (X, y), *_ = read_parts(name, 0)
    data = Dataset.from_user(X, y)
    problem = tf.Problem(data, None, shape=SHAPE).minimize(paper_objective(ALPHA, data, SHAPE))
    solver, formulation = WAYS[way]()
    before, started = user_seconds(), time.perf_counter()
    warm = {} if formulation is None else {"warm_start": None}
    result = problem.solve(solver, formulation=formulation, time_limit=seconds, **warm)
    return {
        "n": data.n_samples, "status": result.status,
        "objective": None if result.objective is None else float(result.objective),
        "bound": None if result.bound is None else float(result.bound),
        "cpu": round(user_seconds() - before, 2), "wall": round(time.perf_counter() - started, 2), "limit": seconds,
    }  # fmt: skip


@table("odd_solvers")
def solvers(rows: Rows) -> Shown:
    """User seconds, or the gap that was left."""
    have = {(row["set"], row["way"]): row for row in rows.frame.to_dict("records")}

    def cell(row: dict[str, str] | None) -> str | None:
        if row is None or row["status"] == "optimal":
            return row and row["cpu"]
        value = f"{float(row['objective']):.3f}" if row["objective"] else "none"
        return f"open ({float(row['bound'] or 0):.3f} / {value})"

    sets = [name for name in SETS if (name, "HiGHS") in have]
    lines = [
        [name, have[name, "HiGHS"]["n"], *(cell(have.get((name, way))) for way in WAYS)] for name in sets
    ]
    proved = [sum(row["status"] == "optimal" for (_, way), row in have.items() if way == of) for of in WAYS]
    note = (
        "User CPU seconds of one thread until the optimum was proved; otherwise ``open`` with bound and value, of "
        f"{float(rows.frame['limit'][0]):g} seconds. Training halves of the sets, skeleton 1-2-2, univariate, alpha "
        f"{ALPHA}. The portfolio is CP-SAT and HiGHS at once, and its seconds those of both."
    )
    return Shown.of(
        "One formulation, several solvers", ["set", "rows", *WAYS], [*lines, ["proved", "", *proved]], note
    )


def main(seconds: float = 20, sets: str = ",".join(SETS), ways: str = ";".join(WAYS)) -> None:
    """Measure; `ways` with semicolons between them."""
    figures = Figures("odd_solvers", ("set", "way"))
    for name in named("odd", sets):
        for way in ways.split(";"):
            figures.measure(partial(one, name, way, seconds), set=name, way=way)
