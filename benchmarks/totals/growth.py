"""How the cost of the search for totals grows, and what each of its parts saves.

Growth: synthetic tables of 0/1 columns, a tree of depth 3 with 20 % noise and groups that follow one of its columns;
one quantity varies at a time (rows, tests, groups, requirements, the difference allowed between rates). Parts:
questions on the fairness sets, each part of the search left out in turn. One thread; user CPU seconds from the encoded
data to the proof, within a limit of user CPU seconds each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import (
    SESSION,
    Figures,
    Rows,
    Shown,
    named,
    plain_table,
    read_set,
    table,
    user_seconds,
)
from benchmarks.totals.compare import SENSITIVE
from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.engines.relaxation import Relaxation, relax
from treeform.engines.totals import PARTS
from treeform.utils.budget import Budget

USUAL = {"rows": 10_000, "tests": 40, "groups": 2, "requirements": 1, "difference": 0.05}
VARIED: dict[str, tuple[Any, ...]] = {
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "tests": (10, 20, 40, 80, 160, 320, 500),
    "groups": (2, 3, 4, 6, 8, 10),
    "requirements": (1, 2, 3, 4, 5, 6),
    "difference": (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.0),
}
TIGHT = {"requirements": {"difference": 0.005}}
"""What else is not as usual: at .05 only the first of several requirements would bind."""
NAMED = {
    "rows": "rows of the table",
    "requirements": "parities, each over another attribute",
    "difference": "difference allowed",
    "rows active": "linear constraints over sums that are active (all runs)",
}
"""Quantities as the plot has them."""
QUESTIONS = (
    ("compas", 4, "0.05"),
    ("compas", 5, "0.05"),
    ("adult", 4, "0.01"),
    ("adult", 5, "0.05"),
    ("german-credit", 4, "0.01"),
    ("student-mat", 4, "0.05"),
)


def run_within(
    problem: tf.Problem, engine: Engine, seconds: float
) -> tuple[Relaxation, EngineOutcome, float]:
    """What is asked of an engine that supports the whole problem, what it finds, and its CPU seconds."""
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    began = user_seconds()
    run = EngineRun(Budget().until(lambda: user_seconds() - began > seconds))
    outcome = engine.run(problem.data, relaxation.task, run)
    return relaxation, outcome, user_seconds() - began


def search(problem: tf.Problem, parts: tuple[str, ...] = PARTS, seconds: float = 600) -> dict[str, Any]:
    """What one run finds within so many CPU seconds."""
    relaxation, outcome, spent = run_within(problem, tf.TotalsSearch(parts=parts), seconds)
    return {
        "errors": outcome.upper, "bound": outcome.lower, "proved": outcome.proved, "search s": round(spent, 3),
        "multipliers tried": outcome.counters["prices"], "largest front": outcome.counters["largest_front"],
        "rows": len(relaxation.rows), "rows active": _active(outcome.witness),
    }  # fmt: skip


def _active(witness: dict[str, Any] | None) -> int:
    """Rows that took part in the last front."""
    return sum(flag != 0 for flag in (witness or {}).get("active", ()))


def synthetic(rows: int, tests: int, groups: int, requirements: int, difference: float) -> tf.Problem:
    """A table whose classes follow a tree of depth 3; groups follow its root, and a column for each further parity."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (rows, tests), dtype=np.int8)
    root, left, right = X[:, 0], X[:, 1] & X[:, 2], X[:, 3] | X[:, 4]
    y = np.where(root == 1, right, left) ^ (rng.random(rows) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(3))
    for column in range(requirements):
        skew = np.where(X[:, column] == 1, 0.7, 1.0)
        group = np.minimum((rng.random(rows) ** skew * groups).astype(int), groups - 1)
        problem += tf.StatisticalParity(groups=group, difference=str(difference))
    return problem


def question(name: str, depth: int, difference: str) -> tf.Problem:
    """A question on a fairness set."""
    X, y = read_set("fairness", name)
    column, positive = SENSITIVE[name]
    problem = tf.Problem(X.drop(columns=column), y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=X[column], difference=difference, positive=positive)
    return problem


plain_table(
    "totals_growth",
    "How the search for totals grows",
    lambda rows: (
        f"Depth 3; otherwise {USUAL['rows']:,} rows, {USUAL['tests']} tests, 2 groups, one requirement, difference .05 "
        f"({TIGHT['requirements']['difference']} where requirements vary)."
    ),
)


@table("totals_parts")
def parts(rows: Rows) -> Shown:
    """A line for each question, a column for what was left out."""
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows.frame.to_dict("records"):
        open_end = f"open ({row['bound']} to {row['errors']})"
        line = cells.setdefault((row["set"], row["depth"], row["difference"]), {})
        line[row["without"]] = row["search s"] if row["proved"] == "True" else open_end
    columns = ["set", "depth", "difference", "all", *(f"without {part}" for part in PARTS)]
    lines = [[*key, *(line.get(part) for part in ("", *PARTS))] for key, line in cells.items()]
    note = f"*open*: bound and best tree after {rows.facts['seconds']} CPU seconds."
    return Shown.of("What each part of the search for totals saves (CPU s)", columns, lines, note)


def draw(rows: list[dict[str, str]]) -> None:
    """``totals_growth.svg``: seconds against each quantity, and against the rows active at the end."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "treeform", "svg.fonttype": "none"})
    figure, grid = plt.subplots(2, 3, figsize=(10, 6), sharey=True, layout="constrained")
    for axes, quantity in zip(grid.flat, [*VARIED, "rows active"], strict=True):
        of_it = rows if quantity == "rows active" else [row for row in rows if row["varied"] == quantity]
        value = [float(row["rows active" if quantity == "rows active" else "value"]) for row in of_it]
        axes.plot(
            value, [float(row["search s"]) for row in of_it], "o" if quantity == "rows active" else "o-"
        )
        axes.set(xlabel=NAMED.get(quantity, quantity), yscale="log")
        if quantity in ("rows", "tests"):
            axes.set_xscale("log")
        axes.grid(alpha=0.3)
    for axes in grid[:, 0]:
        axes.set_ylabel("CPU s to the proof")
    figure.savefig(SESSION.folder / "totals_growth.svg", metadata={"Date": None})
    plt.close(figure)


def main(growth: bool = True, parts: bool = True, seconds: float = 30) -> None:
    """Measure; ``seconds`` of CPU for each run without a part."""
    if growth:
        figures = Figures("totals_growth", ("varied", "value"))
        for quantity, values in VARIED.items():
            for value in values:
                problem = partial(synthetic, **{**USUAL, **TIGHT.get(quantity, {}), quantity: value})
                figures.measure(lambda make=problem: search(make()), varied=quantity, value=value)
        draw(list(figures))
    if parts:
        figures = Figures("totals_parts", ("set", "depth", "difference", "without"), seconds=f"{seconds:g}")
        for name, depth, difference in QUESTIONS:
            for left in ("", *PARTS) if named("fairness", name) else ():
                used = tuple(part for part in PARTS if part != left)
                work = partial(
                    lambda *of, used: search(question(*of), used, seconds), name, depth, difference, used=used
                )
                figures.measure(work, set=name, depth=depth, difference=difference, without=left)
