"""Several requirements at once under the native search for totals, at depth 3 and 4 on the four fairness sets.

Usage: ``python benchmarks/totals_combined.py [--seconds 30] [--depth 3] [set ...]``. Data: the folder in
``TREEFORM_DATA``. One thread; user CPU seconds of the solve alone. The sensitive column is left out of the tests.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

import numpy as np
import pandas as pd
from tables import write
from totals import DATA, SENSITIVE

import treeform as tf

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
HEADER = ["set", "depth", "requirements", "errors", "bound", "status", "CPU s", "solver"]


def combinations(name: str, frame: pd.DataFrame) -> dict[str, list[tf.Requirement]]:
    """The requirements of every line."""
    column, favourable = SENSITIVE[name]

    def parity(group: Any, difference: str = "0.05") -> tf.Requirement:
        return tf.StatisticalParity(groups=group, difference=difference, favourable=favourable)

    first = parity(frame[column])
    second, third = (parity(frame[c]) for c in SECOND[name])
    a, b = (frame[c].to_numpy() for c in GROUPS[name])
    three = parity(np.where(a == 1, "a", np.where(b == 1, "b", "other")))
    group = {"groups": frame[column], "difference": "0.05", "favourable": favourable}
    return {
        "parity": [first],
        "parity, min support 5 %": [first, tf.MinSupport(fraction=0.05)],
        "parity, at most 5 tests": [first, tf.MaxNodes(5)],
        "parity, stability 10 %": [first, tf.Stability(fraction=0.1)],
        "parity, at most 3 columns": [first, tf.FeatureBudget(3)],
        "parity in two attributes": [first, second],
        "parity in three attributes": [first, second, third],
        "parity of three groups": [three],
        "equal opportunity, predictive equality": [
            tf.EqualOpportunity(**group),
            tf.PredictiveEquality(**group),
        ],
        "equalized odds, at most 5 tests, min support 5 %": [
            tf.EqualizedOdds(**group),
            tf.MaxNodes(5),
            tf.MinSupport(fraction=0.05),
        ],
    }


def measure(
    name: str, frame: pd.DataFrame, depth: int, what: str, rules: list[tf.Requirement], seconds: float
) -> list[Any]:
    """One line."""
    X = frame.drop(columns=["target", SENSITIVE[name][0]])
    problem = tf.Problem(X, frame["target"], shape=tf.Tree(depth))
    problem += rules
    began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = problem.solve(time_limit=seconds)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - began
    return [
        name,
        depth,
        what,
        result.errors,
        int(result.bound or 0),
        str(result.status),
        round(spent, 3),
        result.solver,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--depth", type=int, action="append")
    given = parser.parse_args()
    rows = []
    for name in given.sets or SENSITIVE:
        frame = pd.read_csv(DATA / f"{name}.csv.gz")
        for depth in given.depth or (3, 4):
            for what, rules in combinations(name, frame).items():
                rows.append(measure(name, frame, depth, what, rules, given.seconds))
                print(rows[-1], flush=True)
    proved = sum(row[5] == "optimal" for row in rows)
    note = f"Difference .05 each. {proved} of {len(rows)} questions proved within {given.seconds:g} s."
    write("totals_combined", "Several requirements at once", HEADER, rows, note)


if __name__ == "__main__":
    main()
