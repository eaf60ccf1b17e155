"""The same requirement objects on ODD/HiGHS, ODD/CP-SAT and SatDepth/PySAT: equal optima, different times.

Small samples of the committed German Credit table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

import treeform as tf
from benchmarks.harness import ROOT, Figures, plain_table
from treeform.formulations import ODD, SatDepth

COLUMNS = ["checking_account", "credit_amount", "age_years", "savings"]
WAYS = {
    "ODD / HiGHS": (tf.HiGHS(), ODD()),
    "ODD / CP-SAT": (tf.CPSAT(), ODD()),
    "SatDepth / cadical195": (tf.SAT("cadical195"), SatDepth()),
}


def solve(X: pd.DataFrame, y: pd.Series, requirements: list[tf.Requirement]) -> dict[str, Any]:
    """One line."""
    problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
    problem += requirements
    found = {
        way: problem.solve(solver, formulation=formulation, warm_start=None, time_limit=120)
        for way, (solver, formulation) in WAYS.items()
    }
    proved = all(r.status is tf.Status.OPTIMAL for r in found.values())
    equal = len({r.objective for r in found.values()}) == 1 and proved
    row = {way: f"{r.objective} ({r.status}, {r.seconds:.2f} s)" for way, r in found.items()}
    return row | {"equal": "yes" if equal else "NO"}


plain_table(
    "three_ways",
    "One set of requirement objects, three ways",
    lambda rows: "60 rows, 4 columns (one-hot), depth 2, no warm start: errors, status and wall seconds.",
)


def main(samples: int = 60) -> None:
    """Measure."""
    frame = pd.read_csv(ROOT / "examples" / "data" / "german-credit.csv")
    frame = frame.sample(samples, random_state=0).reset_index(drop=True)
    parity = {"groups": frame["sex"], "positive": "yes"}
    sets = {
        "none": [],
        "parity 0.95": [tf.StatisticalParity(ratio=0.95, **parity)],
        "parity within 0.02": [tf.StatisticalParity(difference=0.02, **parity)],
        "support 10 %": [tf.MinSupport(0.1)],
        "at most 2 tests": [tf.MaxNodes(2)],
        "all of them": [tf.StatisticalParity(ratio=0.95, **parity), tf.MinSupport(0.1), tf.MaxNodes(2)],
    }
    figures = Figures("three_ways", ("requirements",))
    for name, requirements in sets.items():
        figures.measure(
            partial(solve, frame[COLUMNS], frame["creditworthy"], requirements), requirements=name
        )
