"""All models within one per cent of the optimum, with and without parity.

One thread; user CPU seconds of everything: the optimum, the enumeration, and where not all models are counted, one
solve for each column that may be indispensable. The sensitive column is left out of the tests. The check of the
certificate proves the optimum again and counts the models by a search of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Frame, named, plain_table, read_set, user_seconds
from benchmarks.totals.compare import SENSITIVE


def enumerate_models(name: str, X: Frame, y: Any, depth: int, parity: bool, seconds: float) -> dict[str, Any]:
    """One question."""
    column, positive = SENSITIVE[name]
    problem = tf.Problem(X.drop(columns=column), y, shape=tf.Tree(depth))
    if parity:
        problem += tf.StatisticalParity(groups=X[column], difference="0.05", positive=positive)
    began = user_seconds()
    found = problem.near_optimal(within="0.01", max_models=1000, time_limit=seconds)
    spent = user_seconds() - began
    began = user_seconds()
    groups = X[column] if parity else None
    report = tf.check(
        found.certificate(), X.drop(columns=column), y, sensitive_features=groups, time_limit=seconds
    )
    checked = user_seconds() - began
    needed = [one.column for one in found.indispensable if one.proved]
    return {
        "tests": problem.data.n_tests, "optimum": found.best.objective, "models": found.count,
        "counted": "all" if found.counted else f"up to {found.counted_to}", "indispensable": len(needed),
        "CPU s": round(spent, 2), "check": report.verdict, "check, CPU s": round(checked, 2),
    }  # fmt: skip


plain_table(
    "totals_near_optimal",
    "Models within one per cent",
    lambda rows: f"Within {rows.facts['seconds']} s each. Indispensable: columns that every such model tests."
    " The check counts the models again.",
)


def main(sets: str = ",".join(SENSITIVE), seconds: float = 120, depths: str = "2,3") -> None:
    """Measure."""
    figures = Figures("totals_near_optimal", ("set", "depth", "requirement"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        X, y = read_set("fairness", name)
        for depth in map(int, depths.split(",")):
            for parity in (False, True):
                what = "difference .05" if parity else "none"
                work = partial(enumerate_models, name, X, y, depth, parity, seconds)
                figures.measure(work, set=name, depth=depth, requirement=what)
