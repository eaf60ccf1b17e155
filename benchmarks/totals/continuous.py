"""Rules over totals on continuous columns, all thresholds, one thread.

Groups: whether the first column is above its median; that column is not tested. More than two classes: the most
frequent one against the rest; positive: class 1, the rest. User CPU seconds from the encoded data to the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import treeform as tf
from benchmarks.deep.sets import read_rows, two_classes
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax
from treeform.utils.budget import Budget

SETS = ("breast", "raisin", "bank", "wilt", "occupancy", "page", "eeg", "magic", "htru")
DEEP = ("bank", "wilt", "occupancy", "raisin", "page")
RULES: dict[str, tuple[type[tf.Requirement], dict[str, str]]] = {
    "parity .05": (tf.StatisticalParity, {"difference": "0.05"}),
    "ratio .8": (tf.StatisticalParity, {"ratio": "0.8"}),
    "equal opportunity .05": (tf.EqualOpportunity, {"difference": "0.05"}),
}
KEY = ("set", "rule", "depth")


def data_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and two classes."""
    if name == "breast":
        from sklearn.datasets import load_breast_cancer

        return load_breast_cancer(return_X_y=True, as_frame=True)
    rows, codes = read_rows(name)
    X = pd.DataFrame(rows).rename(columns=str)
    return X, two_classes(codes)


def problem_of(name: str, rule: str, depth: int) -> tf.Problem:
    """The question."""
    X, y = data_of(name)
    first = X.columns[0]
    group = (X[first] > X[first].median()).to_numpy().astype(int)
    kind, amount = RULES[rule]
    problem = tf.Problem(X.drop(columns=first), y, shape=tf.Tree(depth))
    problem += kind(groups=group, positive=1, **amount)
    return problem


def one(name: str, rule: str, depth: int, seconds: float) -> dict[str, Any]:
    """The search on one question."""
    problem, engine = problem_of(name, rule, depth), tf.ContinuousTotals()
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    began = user_seconds()
    answer = engine.run(problem.data, relaxation.task, EngineRun(Budget(seconds)))
    spent = user_seconds() - began
    counters = answer.counters
    return {
        "rows": problem.data.n_samples, "tests": problem.data.n_tests, "errors": answer.upper, "bound": answer.lower,
        "status": "proved" if answer.proved else "open", "CPU s": round(spent, 3),
        **{name: counters[name] for name in ("prices", "splits", "alive", "largest_front", "guesses")},
    }  # fmt: skip


@table("continuous_totals")
def shown(rows: Rows) -> Shown:
    """A line for each question."""
    frame = rows.frame
    proved = int((frame["status"] == "proved").sum())
    note = (
        f"{proved} of {len(frame)} questions proved within {rows.facts['seconds']} s. *splits*: of subproblems of "
        "depth two; *alive*: splits whose lists were joined; *guesses*: passes with a guessed upper bound."
    )
    columns = [
        *KEY,
        "rows",
        "tests",
        "errors",
        "bound",
        "status",
        "CPU s",
        "splits",
        "alive",
        "largest_front",
    ]
    return Shown("Rules over totals on continuous columns", frame[columns], note)


def main(sets: str = "", depths: str = "2,3,4", seconds: float = 200) -> None:
    """Measure."""
    figures = Figures("continuous_totals", KEY, seconds=f"{seconds:g}")
    chosen = sets.split(",") if sets else list(SETS)
    for depth in map(int, depths.split(",")):
        for name in chosen:
            for rule in RULES:
                if depth < 4 or name in DEEP:
                    figures.measure(
                        lambda n=name, r=rule, d=depth: one(n, r, d, seconds),
                        set=name,
                        rule=rule,
                        depth=depth,
                    )
