"""PathSearch beside ODD on CP-SAT, under each requirement that speaks of paths.

The requirements name the columns that the best tree without them tests, so that they bind. CP-SAT begins with the
bound and the models of DL85, which leaves the requirement out. User CPU seconds; the limit counts wall seconds.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, read_set, table, user_seconds
from benchmarks.harness.session import ROOT

SETS = ("german-credit, 21 columns", "student-mat")
WAYS = {"path-search": None, "cp-sat": "odd"}


def ready(name: str) -> tuple[pd.DataFrame, Any]:
    """Columns and target; german-credit as categorical columns, the others as columns of zeros and ones."""
    if name == SETS[0]:
        frame = pd.read_csv(Path(ROOT) / "examples/data/german-credit.csv").drop(columns="sex")
        return frame.drop(columns="creditworthy"), frame["creditworthy"]
    return read_set("fairness", name)


def rules(problem: tf.Problem) -> dict[str, tf.Requirement]:
    """The requirements, by name."""
    graph = problem.solve().graph
    root = problem.data.columns[int(graph.feature[0])].source
    tested = list(dict.fromkeys(problem.data.columns[f].source for f in sorted(graph.features_used())))
    others = [name for name in tested if name != root]
    upper = tf.DecisionGraph.from_nested(
        (int(graph.feature[1]), float(graph.threshold[1]), 0, 1), problem.data
    )
    return {
        "at most one of these on a path": tf.MaxTestsPerPath(tested, 1),
        "each column once": tf.OncePerPath(),
        "cost of a path": tf.FeatureCost(dict.fromkeys(tested, 1), at_most=1, per_path=True),
        "interaction": tf.Interaction([[root, others[0]], [root, *others[1:]]]),
        "below": tf.Below(root, above=others[0]),
        "fix": tf.Fix(upper),
    }


def one(name: str, rule: str, depth: int, solver: str, seconds: float) -> dict[str, Any]:
    """One question."""
    X, y = ready(name)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += rules(problem)[rule]
    before = user_seconds()
    result = problem.solve(solver, formulation=WAYS[solver], warm_start=tf.DL85(), time_limit=seconds)
    return {
        "status": result.status, "errors": result.errors, "bound": result.bound,
        "CPU s": round(user_seconds() - before, 2),
    }  # fmt: skip


@table("paths")
def paths(rows: Rows) -> Shown:
    """A line for each question, both programs side by side."""
    found: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for row in rows.frame.to_dict("records"):
        found.setdefault((row["set"], row["requirement"], row["depth"]), {})[row["solver"]] = row
    lines = []
    for question, by_way in found.items():
        cells = []
        for way in WAYS:
            row = by_way.get(way, {})
            errors = row.get("errors", "")
            cells += [errors if row.get("status") == "optimal" else f"{row.get('bound', '')} to {errors}"]
            cells += [row.get("CPU s", "")]
        lines.append([*question, *cells])
    proved = [
        sum(by_way.get(way, {}).get("status") == "optimal" for by_way in found.values()) for way in WAYS
    ]
    note = (
        f"Errors, and user CPU seconds; a range where {rows.facts['seconds']} s did not suffice. Of {len(found)} "
        f"questions PathSearch proves {proved[0]} and CP-SAT, with DL85's bound and first models, {proved[1]}. The "
        "machine was shared: the CPU seconds are what each got of the limit."
    )
    columns = ["set", "requirement", "depth", "PathSearch", "CPU s", "ODD on CP-SAT", "CPU s "]
    return Shown.of("Requirements on paths", columns, lines, note)


def main(seconds: float = 20, depths: str = "2,3") -> None:
    """Measure."""
    figures = Figures("paths", ("set", "requirement", "depth", "solver"), seconds=f"{seconds:g}")
    for name in SETS:
        for depth in map(int, depths.split(",")):
            X, y = ready(name)
            for rule in rules(tf.Problem(X, y, shape=tf.Tree(depth))):
                for solver in WAYS:
                    figures.measure(
                        partial(one, name, rule, depth, solver, seconds),
                        set=name, requirement=rule, depth=depth, solver=solver,
                    )  # fmt: skip
