"""The same requirement objects on ODD/HiGHS, ODD/CP-SAT and SatDepth/PySAT: equal optima, different times.

Small samples of the committed German Credit table. Run: python benchmarks/three_ways.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import tables

import treeform as tf
from treeform.formulations import ODD, SatDepth

TABLE = Path(__file__).resolve().parent.parent / "examples" / "data" / "german-credit.csv"
COLUMNS = ["checking_account", "credit_amount", "age_years", "savings"]
WAYS = [
    ("ODD / HiGHS", tf.HiGHS(), ODD()),
    ("ODD / CP-SAT", tf.CPSAT(), ODD()),
    ("SatDepth / cadical195", tf.SAT("cadical195"), SatDepth()),
]


def main() -> None:
    frame = pd.read_csv(TABLE).sample(60, random_state=0).reset_index(drop=True)
    X, y, sex = frame[COLUMNS], frame["creditworthy"], frame["sex"]
    sets = {
        "none": [],
        "parity 0.95": [tf.StatisticalParity(groups=sex, ratio=0.95, favourable="yes")],
        "parity within 0.02": [tf.StatisticalParity(groups=sex, difference=0.02, favourable="yes")],
        "support 10 %": [tf.MinSupport(0.1)],
        "at most 2 tests": [tf.MaxNodes(2)],
        "all of them": [
            tf.StatisticalParity(groups=sex, ratio=0.95, favourable="yes"),
            tf.MinSupport(0.1),
            tf.MaxNodes(2),
        ],
    }
    rows = []
    for name, requirements in sets.items():
        problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
        problem += requirements
        found = []
        for _, solver, formulation in WAYS:
            result = problem.solve(solver, formulation=formulation, warm_start=None, time_limit=120)
            found.append(result)
            print(name, solver.name, result, flush=True)
        equal = len({r.objective for r in found}) == 1 and all(r.status is tf.Status.OPTIMAL for r in found)
        rows.append(
            [
                name,
                *[f"{r.objective} ({r.status}, {r.seconds:.2f} s)" for r in found],
                "yes" if equal else "NO",
            ]
        )
    header = ["requirements", *[way[0] for way in WAYS], "equal"]
    note = "60 rows, 4 columns (one-hot), depth 2, no warm start: errors, status and wall seconds."
    tables.write("three_ways", "One set of requirement objects, three ways", header, rows, note)


if __name__ == "__main__":
    main()
