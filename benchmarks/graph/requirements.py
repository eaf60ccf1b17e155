"""Requirements that are no sums over rows, each with parity, from the formulation alone.

Own ones with `build`, a root that is given, a budget of columns, of thresholds, and of each path. No warm start, no
incumbent and no bound from a native engine. One thread; user CPU seconds of everything. The sensitive column is left
out of the tests.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

import treeform as tf
from benchmarks.graph.questions import SOLVERS
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE
from treeform.shape import Tree

ROOT = {
    "compas": "Juvenile-Crimes=0",
    "adult": "Workclass:Private",
    "german-credit": "Account Balance=1",
    "student-mat": "school=GP",
}
"""The column that is tested at the root."""
ORDERED = {
    "compas": ("Prior-Crimes=0", "Prior-Crimes=1-3", "Prior-Crimes>3"),
    "adult": ("Age<25", "Age=25-60", "Age>=60"),
    "german-credit": ("Credit Amount<2000", "Credit Amount=2000-5000", "Credit Amount>=5000"),
    "student-mat": ("Medu=0", "Medu=1", "Medu=2", "Medu=3", "Medu=4"),
}
"""Indicators of the values of one number, in their order; they become one column."""


class FewPositiveLeaves(tf.Requirement):
    """At most k leaves predict the class with code 1."""

    needs: ClassVar[frozenset[str]] = frozenset({"label"})

    def __init__(self, k: int = 2) -> None:
        self.k = k

    def build(self, model: tf.Model, ports: Any) -> None:
        """One row over the labels of the leaves."""
        model.add(ports.label[:, 1].sum() <= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        """The number of leaves beyond."""
        leaves = graph.feature < 0
        return max(0, int((graph.label[leaves] == 1).sum()) - self.k)


class FewTests(tf.Requirement):
    """At most k tests."""

    demands_tests: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"active"})

    def __init__(self, k: int = 4) -> None:
        self.k = k

    def build(self, model: tf.Model, ports: Any) -> None:
        """One row over the tests in use."""
        model.add(ports.active.sum() <= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        """The number of tests beyond."""
        return max(0, sum(1 for _ in graph.tests()) - self.k)


def merged(X: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with one ordered column in place of the indicators of its values."""
    indicators = list(ORDERED[name])
    number = X[indicators].to_numpy() @ np.arange(len(indicators))
    return X.drop(columns=indicators).assign(ordered=number)


def root_given(problem: tf.Problem, name: str) -> tf.Fix:
    """A tree whose root tests the column that is given."""
    return tf.Fix(tf.DecisionGraph.from_nested((ROOT[name], 0.5, 0, 1), problem.data))


def paths_paid(problem: tf.Problem, name: str) -> tf.FeatureCost:
    """Columns cost 1, 2 and 3 in turn, and each path at most 4."""
    columns = dict.fromkeys(column.source for column in problem.data.columns)
    prices = {column: 1 + index % 3 for index, column in enumerate(columns)}
    return tf.FeatureCost(prices, at_most=4, per_path=True)


RULES: dict[str, Any] = {
    "3 columns": lambda problem, name: tf.FeatureBudget(3),
    "root given": root_given,
    "1 threshold": lambda problem, name: tf.MaxThresholds("ordered", 1),
    "paths paid": paths_paid,
    "own: 2 positive leaves": lambda problem, name: FewPositiveLeaves(2),
    "own: 4 tests": lambda problem, name: FewTests(4),
}


def read(name: str, rule: str) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """The table that is tested, the classes, and the groups."""
    X, y = read_set("fairness", name)
    column, _ = SENSITIVE[name]
    tested = X.drop(columns=column)
    return merged(tested, name) if rule == "1 threshold" else tested, y, X[column]


def stated(name: str, rule: str, depth: int) -> tf.Problem:
    """One question."""
    tested, y, groups = read(name, rule)
    _, positive = SENSITIVE[name]
    problem = tf.Problem(tested, y, shape=Tree(depth)).minimize(tf.Error())
    problem += tf.StatisticalParity(groups=groups, positive=positive, difference="0.05")
    return problem + RULES[rule](problem, name)


def one(name: str, rule: str, solver: str, seconds: float) -> dict[str, Any]:
    """One solver on one question."""
    problem = stated(name, rule, 3)
    began = user_seconds()
    result = problem.solve(
        SOLVERS[solver], formulation="hypergraph-flow", warm_start=None, time_limit=seconds
    )
    spent = round(user_seconds() - began, 2)
    found = {"status": result.status, "errors": result.errors, "bound": result.bound, "CPU s": spent}
    if solver != "highs":
        return found
    tested, y, groups = read(name, rule)
    began = user_seconds()
    report = tf.check(result.certificate(), tested, y, sensitive_features=groups, time_limit=seconds)
    return {**found, "check": report.verdict, "check CPU s": round(user_seconds() - began, 2)}


@table("graph_requirements")
def requirements(rows: Rows) -> Shown:
    """Seconds, or bound, errors and gap where it is open."""
    have = rows.frame.to_dict("records")

    def cell(row: dict[str, str] | None) -> str:
        if row is None:
            return ""
        if row["status"] == "optimal":
            check = f", check {row['check CPU s']} s ({row['check']})" if row.get("check") else ""
            return f"{row['errors']}: {row['CPU s']} s{check}"
        bound, errors = float(row["bound"] or 0), float(row["errors"])
        return f"open ({row['bound'] or 0} / {row['errors']}, {100 * (errors - bound) / errors:.1f} %)"

    found = {(r["set"], r["rule"], r["solver"]): r for r in have}
    solvers = list(dict.fromkeys(r["solver"] for r in have))
    lines = [
        [*question, *(cell(found.get((*question, solver))) for solver in solvers)]
        for question in dict.fromkeys((r["set"], r["rule"]) for r in have)
    ]
    note = (
        "Errors and user CPU seconds until they were proved, of HiGHS with a check of the certificate, or bound, "
        f"errors and gap after {rows.facts['seconds']} wall seconds. Depth 3, a difference of shares of at most .05."
    )
    return Shown.of(
        "Solvers alone under requirements that are no sums", ["set", "requirement", *solvers], lines, note
    )


def main(
    sets: str = ",".join(SENSITIVE),
    rules: str = ",".join(RULES),
    seconds: float = 60,
    solvers: str = ",".join(SOLVERS),
) -> None:
    """Measure; HiGHS and OR-Tools cannot share a process, so each solver is measured in a call of its own."""
    figures = Figures("graph_requirements", ("set", "rule", "solver"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for rule in rules.split(","):
            for solver in solvers.split(","):
                figures.measure(partial(one, name, rule, solver, seconds), set=name, rule=rule, solver=solver)
