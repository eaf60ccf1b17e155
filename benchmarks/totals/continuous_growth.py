"""How the cost of ContinuousTotals grows: synthetic tables of real columns, one quantity varied at a time.

Classes follow a tree of depth 2 with 20 % noise, groups follow its root. A tree of depth 3 is sought; where rows vary,
one of depth 2, so that a million of them can be shown. One thread; user CPU seconds from the encoded data to the
proof, within a limit of user CPU seconds each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import SESSION, Figures, plain_table
from benchmarks.totals.growth import run_within

USUAL = {"rows": 2_000, "columns": 4, "values": 500, "groups": 2, "requirements": 1, "difference": 0.05}
VARIED: dict[str, tuple[Any, ...]] = {
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "columns": (2, 4, 8, 16),
    "values": (10, 50, 100, 500, 2_000),
    "groups": (2, 3, 4, 6, 8, 10),
    "requirements": (1, 2, 3, 4),
    "difference": (0.2, 0.1, 0.05, 0.02, 0.01, 0.0),
}
NAMED = {
    "rows": "rows of the table (depth 2)",
    "values": "values per column",
    "requirements": "parities, each over another attribute",
    "difference": "difference allowed",
    "rows active": "linear constraints over sums that are active (all runs)",
}
"""Quantities as the plot has them."""


def synthetic(
    rows: int, columns: int, values: int, groups: int, requirements: int, difference: float, depth: int
) -> tf.Problem:
    """Columns of so many values; groups follow the first column, and the next one for each further parity."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, values, (rows, columns)) / values
    y = np.where(X[:, 0] > 0.45, X[:, 1] > 0.3, X[:, 1] > 0.7) ^ (rng.random(rows) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(depth))
    for column in range(requirements):
        skew = np.where(X[:, column % columns] > 0.5, 0.4, 1.0)
        group = np.minimum((rng.random(rows) ** skew * groups).astype(int), groups - 1)
        problem += tf.StatisticalParity(groups=group, difference=str(difference))
    return problem


def measure(varied: str, value: Any, seconds: float) -> dict[str, Any]:
    """One run."""
    problem = synthetic(**{**USUAL, varied: value}, depth=2 if varied == "rows" else 3)
    _, outcome, spent = run_within(problem, tf.ContinuousTotals(), seconds)
    active = (outcome.witness or {}).get("active", ())
    return {
        "tests": problem.data.n_tests, "errors": outcome.upper, "bound": outcome.lower,
        "status": "proved" if outcome.proved else "open", "CPU s": round(spent, 3),
        "largest front": outcome.counters["largest_front"], "rows active": sum(flag != 0 for flag in active),
    }  # fmt: skip


plain_table(
    "continuous_growth",
    "How ContinuousTotals grows",
    lambda rows: (
        f"Otherwise {USUAL['rows']:,} rows, {USUAL['columns']} columns of {USUAL['values']} values, 2 groups, one "
        f"parity, difference .05, depth 3; *open*: after {rows.facts['seconds']} CPU seconds."
    ),
)


def draw(rows: list[dict[str, str]]) -> None:
    """``continuous_growth.svg``: seconds against each quantity, and against the rows active at the end."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "treeform", "svg.fonttype": "none"})
    figure, grid = plt.subplots(2, 4, figsize=(12, 6), sharey=True, layout="constrained")
    for axes, quantity in zip(grid.flat, [*VARIED, "rows active"], strict=False):
        every = quantity == "rows active"
        of_it = rows if every else [row for row in rows if row["varied"] == quantity]
        for status, marker in (("proved", "o"), ("open", "^")):
            some = [row for row in of_it if row["status"] == status]
            value = [float(row["rows active" if every else "value"]) for row in some]
            axes.plot(
                value, [float(row["CPU s"]) for row in some], marker if every or status == "open" else "o-"
            )
        axes.set(xlabel=NAMED.get(quantity, quantity), yscale="log")
        if quantity in ("rows", "columns", "values"):
            axes.set_xscale("log")
        axes.grid(alpha=0.3)
    grid.flat[-1].set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("CPU s to the proof")
    figure.savefig(SESSION.folder / "continuous_growth.svg", metadata={"Date": None})
    plt.close(figure)


def main(seconds: float = 20) -> None:
    """Measure, and draw."""
    figures = Figures("continuous_growth", ("varied", "value"), seconds=f"{seconds:g}")
    for varied, values in VARIED.items():
        for value in values:
            figures.measure(partial(measure, varied, value, seconds), varied=varied, value=value)
    draw(list(figures))
