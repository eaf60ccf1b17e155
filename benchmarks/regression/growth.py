"""How the cost of the regression search grows: with rows, columns, depth and noise.

Generated tables of normal columns; the target is a line, a wave times a factor, and noise, in whole thousandths; see
``signal`` in the tables. One thing is varied at a time, from 2,000 rows, 5 columns, depth 3 and noise .3. User CPU
seconds of one thread until proof; a line ends where the next point would take longer than the limit.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

import pandas as pd

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, repeated, table
from benchmarks.regression.tables import load

USUAL = {"rows": "2000", "columns": "5", "depth": "3", "noise": "0.3"}
SWEEPS = {
    "rows": ["500", "1000", "2000", "4000", "8000", "16000", "32000", "64000", "128000"],
    "columns": ["3", "5", "10", "20", "40"],
    "depth": ["1", "2", "3", "4"],
    "noise": ["0", "0.1", "0.3", "1", "3"],
}


def measure(given: dict[str, str], limit: float) -> dict[str, Any]:
    """One point."""
    X, y = load(f"signal-{given['rows']}-{given['columns']}-{given['noise']}")
    problem = tf.Problem(X, y, shape=tf.Tree(int(given["depth"]))).minimize(tf.SquaredError())
    result, seconds = repeated(lambda: problem.solve(tf.RegressionSearch(), time_limit=limit), most=5)
    return {
        "s": f"{median(seconds[1:] or seconds):.3g}",
        "proved": str(result.status) == "optimal",
        "gap %": f"{100 * (result.gap or 0):.2g}",
        "thresholds evaluated": result.counters.get("regression-search: splits", 0),
    }


@table("regression_growth")
def growth(rows: Rows) -> Shown:
    """One line for each thing that is varied."""
    frame = rows.frame
    lines = {
        what: {
            f"{row['value']}": f"{row['s']} s" if row["proved"] == "True" else f"open at {row['gap %']} %"
            for row in frame[frame["varied"] == what].to_dict("records")
        }
        for what in frame["varied"].unique()
    }
    told = [
        {"varied": what, "seconds": "; ".join(f"{v}: {s}" for v, s in of.items())}
        for what, of in lines.items()
    ]
    usual = ", ".join(f"{what} {value}" for what, value in USUAL.items())
    note = f"The others are {usual}; a line ends after a point that takes more than a fifth of {rows.facts['limit']} s."
    return Shown("Regression: growth, user CPU seconds of one thread", pd.DataFrame(told), note)


def main(sweeps: str = ",".join(SWEEPS), limit: float = 60) -> None:
    """Measure, point by point; `limit` are wall seconds of each solve."""
    figures = Figures("regression_growth", ("varied", "value"), limit=f"{limit:g}")
    for varied in sweeps.split(","):
        for value in SWEEPS[varied]:
            work = partial(measure, USUAL | {varied: value}, limit)
            row = figures.measure(work, varied=varied, value=value)
            if row["proved"] != "True" or float(row["s"]) > limit / 5:
                break
