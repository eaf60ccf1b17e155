"""Fair trees and diagrams: least errors under the four-fifths rule, constraint (19) of Florio et al. (AAAI 2023).

Every run has 60 wall seconds on one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE

SETS = "student-mat,german-credit,compas,adult"
SHAPES = "tree:3;diagram:1,2,3"
RATIO = "0.8"
SECONDS = 60.0
NOTE = f"""\
*errors without the rule*, *ratio without*: the best model that ignores it, proved by the native engine unless marked
with an asterisk (20 s), and the smaller of its two rates over the larger. Then the best model found with a ratio of at
least {RATIO}, from ``formulation="odd"`` on HiGHS with the native engine for warm start and bounds, 60 s. *rates*:
share of each group (column 0 / 1) that is predicted the positive class; *bound*: no admissible model makes fewer
errors; *gap*: (errors - bound) / errors."""


def rates_of(parity: tf.StatisticalParity, problem: tf.Problem, graph: Any) -> tuple[str, str]:
    """The groups' rates and the ratio of the smaller to the larger, as text."""
    bound = parity.bind(problem.data)
    rates = [
        float(row.rate) for row in sorted(bound.report(graph, problem.data), key=lambda row: str(row.group))
    ]
    ratio = min(rates) / max(rates) if max(rates) > 0 else 1.0
    return " / ".join(f"{100 * rate:.1f} %" for rate in rates), f"{ratio:.3f}"


def measure(name: str, shape: str) -> dict[str, Any]:
    """One line of the table."""
    X, y = read_set("fairness", name)
    column, positive = SENSITIVE[name]
    engine = "contree" if shape.startswith("tree") else "diagram-search"
    parity = tf.StatisticalParity(column, ratio=RATIO, positive=positive)
    free = tf.Problem(X, y, shape=shape)
    unruled = free.solve(engine, time_limit=20)
    problem = tf.Problem(X, y, shape=shape)
    problem += parity
    began = user_seconds()
    result = problem.solve("highs", formulation="odd", warm_start=engine, time_limit=SECONDS)
    spent = user_seconds() - began
    star = "" if unruled.status is tf.Status.OPTIMAL else "*"
    row = {
        "rows": len(y), "groups by": column, "errors without the rule": f"{unruled.errors}{star}",
        "ratio without": rates_of(parity, free, unruled.graph)[1], "status": result.status,
        "bound": float(result.bound or 0), "seconds": round(result.seconds, 1), "CPU s": round(spent, 1),
    }  # fmt: skip
    if result.graph is None:
        return row
    rates, ratio = rates_of(parity, problem, result.graph)
    bound = int(result.bound or 0)
    gap = (result.errors - bound) / result.errors if result.errors else 0.0
    return row | {
        "errors": result.errors,
        "bound": bound,
        "gap": f"{100 * gap:.1f} %",
        "rates": rates,
        "ratio": ratio,
    }


@table("fairness")
def fairness(rows: Rows) -> Shown:
    """The rows, in the order of the columns."""
    columns = [
        "set", "rows", "groups by", "shape", "errors without the rule", "ratio without", "errors", "bound", "gap",
        "status", "rates", "ratio", "seconds", "CPU s",
    ]  # fmt: skip
    return Shown(f"The four-fifths rule on every set, ratio {RATIO}", rows.frame[columns], NOTE)


def main(sets: str = SETS, shapes: str = SHAPES) -> None:
    """Measure; shapes as on the command line of treeform, with semicolons between them."""
    figures = Figures("fairness", ("set", "shape"))
    for name in named("fairness", sets):
        for shape in shapes.split(";"):
            figures.measure(partial(measure, name, shape), set=name, shape=shape)
