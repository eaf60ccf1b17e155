"""Several requirements at once, at depth 3 and 4 on the four fairness sets.

One thread; user CPU seconds of the solve alone. The sensitive column is left out of the tests.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, Frame, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE

SECOND = {
    "compas": ("Gender=Male", "Age=18-25"),
    "adult": ("Race:White", "Age<25"),
    "german-credit": ("Foreign Worker=1", "Age (years)<26"),
    "student-mat": ("address=U", "age>=18"),
}
"""A second and a third attribute."""
GROUPS = {
    "compas": ("Race=African-American", "Race=Caucasian"),
    "adult": ("Age<25", "Age=25-60"),
    "german-credit": ("Type of apartment=1", "Type of apartment=2"),
    "student-mat": ("reason=course", "reason=home"),
}
"""Two columns of one attribute; what has neither is the third group."""

MONOTONE = {
    "compas": (
        ("Age=18-22", "decreasing"),
        ("Prior-Crimes=0", "increasing"),
        ("Race=Caucasian", "decreasing"),
    ),
    "adult": (
        ("Occupation=office", "decreasing"),
        ("Capital Loss<40", "decreasing"),
        ("Hours per Week=40-60", "increasing"),
    ),
    "german-credit": (
        ("Account Balance=1", "decreasing"),
        ("Type of apartment=1", "increasing"),
        ("Purpose=10", "increasing"),
    ),
    "student-mat": (
        ("schoolsup=yes", "decreasing"),
        ("Medu=1", "decreasing"),
        ("traveltime=4", "decreasing"),
    ),
}
"""Columns that the optimum under parity tests at depth 3; the direction of the first is not its own."""


def combinations(name: str, frame: Frame) -> dict[str, list[tf.Requirement]]:
    """The requirements of every line."""
    column, positive = SENSITIVE[name]

    def parity(group: Any, difference: str = "0.05") -> tf.Requirement:
        return tf.StatisticalParity(groups=group, difference=difference, positive=positive)

    first = parity(frame[column])
    second, third = (parity(frame[c]) for c in SECOND[name])
    a, b = (frame[c].to_numpy() for c in GROUPS[name])
    three = parity(np.where(a == 1, "a", np.where(b == 1, "b", "other")))
    group = {"groups": frame[column], "difference": "0.05", "positive": positive}
    monotone = [tf.Monotone(*one, positive=positive) for one in MONOTONE[name]]
    odds = [tf.EqualizedOdds(**group), tf.MaxNodes(5), tf.MinSupport(fraction=0.05)]
    return {
        "parity": [first],
        "parity, min support 5 %": [first, tf.MinSupport(fraction=0.05)],
        "parity, at most 5 tests": [first, tf.MaxNodes(5)],
        "parity, stability 10 %": [first, tf.Stability(fraction=0.1)],
        "parity, at most 3 columns": [first, tf.FeatureBudget(3)],
        "parity, monotone in a column": [first, monotone[0]],
        "parity, monotone in three columns": [first, *monotone],
        "parity in two attributes": [first, second],
        "parity in three attributes": [first, second, third],
        "parity of three groups": [three],
        "equal opportunity, predictive equality": [
            tf.EqualOpportunity(**group),
            tf.PredictiveEquality(**group),
        ],
        "equalized odds, at most 5 tests, min support 5 %": odds,
    }


def solve(
    name: str, X: Frame, y: Any, depth: int, rules: list[tf.Requirement], seconds: float
) -> dict[str, Any]:
    """One line."""
    problem = tf.Problem(X.drop(columns=SENSITIVE[name][0]), y, shape=tf.Tree(depth))
    problem += rules
    began = user_seconds()
    result = problem.solve(time_limit=seconds)
    spent = user_seconds() - began
    return {
        "errors": result.errors, "bound": int(result.bound or 0), "status": result.status, "CPU s": round(spent, 3),
        "solver": result.solver,
    }  # fmt: skip


@table("totals_combined")
def combined(rows: Rows) -> Shown:
    """The rows as they are."""
    proved = (rows.frame["status"] == "optimal").sum()
    seconds = rows.facts["seconds"]
    note = f"Difference .05 each. {proved} of {len(rows.frame)} questions proved within {seconds} s."
    return Shown("Several requirements at once", rows.frame, note)


def main(sets: str = ",".join(SENSITIVE), seconds: float = 30, depths: str = "3,4") -> None:
    """Measure."""
    figures = Figures("totals_combined", ("set", "depth", "requirements"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        X, y = read_set("fairness", name)
        for depth in map(int, depths.split(",")):
            for what, rules in combinations(name, X).items():
                work = partial(solve, name, X, y, depth, rules, seconds)
                figures.measure(work, set=name, depth=depth, requirements=what)
