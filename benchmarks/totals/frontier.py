"""The whole trade-off between errors and parity, every breakpoint proved.

One thread; user CPU seconds of the frontier alone. The sensitive column is left out of the tests. The difference of the
two rates falls from that of the best tree to the least there is; the ratio rises likewise.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Frame, named, plain_table, read_set, user_seconds
from benchmarks.harness.session import SESSION
from benchmarks.totals.compare import SENSITIVE

FORMS: dict[str, dict[str, Any]] = {"difference": {"difference": None}, "ratio": {"ratio": 1}}


def trace(name: str, X: Frame, y: Any, depth: int, form: str, seconds: float) -> dict[str, Any]:
    """One curve."""
    column, positive = SENSITIVE[name]
    problem = tf.Problem(X.drop(columns=column), y, shape=tf.Tree(depth))
    over = tf.StatisticalParity(groups=X[column], positive=positive, **FORMS[form])
    began = user_seconds()
    found = problem.frontier(over=over, time_limit=seconds)
    spent = user_seconds() - began
    if form == "difference" and depth == 3:
        found.plot().save(SESSION.folder / f"frontier_{name}.svg")
    first, last = found.points[0], found.points[-1]
    return {
        "points": len(found.points), "errors from": first.objective, "to": last.objective,
        "measure from": f"{float(first.value):.4g}", "up to": f"{float(last.value):.4g}",
        "proved": "all" if found.proved else sum(point.proved for point in found.points), "CPU s": round(spent, 2),
    }  # fmt: skip


plain_table(
    "totals_frontier",
    "All breakpoints of statistical parity",
    lambda rows: (
        f"Within {rows.facts['seconds']} s each; proved: the curve is complete and each of its points is the best."
    ),
)


def main(sets: str = "compas,adult", seconds: float = 300, depths: str = "2,3") -> None:
    """Measure."""
    figures = Figures("totals_frontier", ("set", "depth", "over"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        X, y = read_set("fairness", name)
        for depth in map(int, depths.split(",")):
            for form in FORMS:
                figures.measure(
                    partial(trace, name, X, y, depth, form, seconds), set=name, depth=depth, over=form
                )
