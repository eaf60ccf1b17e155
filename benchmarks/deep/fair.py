"""Fair deep trees beside CART: errors under statistical parity, alone and with a minimum support of each leaf.

Each run is a process of its own, with a limit on the seconds of the processor. CART knows nothing of parity: beside its
errors and its difference of rates stand the least errors that other labels of its leaves bring under the requirements,
if some satisfy them. Its leaves have the same minimum support.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import limits_count_work
from benchmarks.harness import (
    Figures,
    Rows,
    Shown,
    commit,
    in_child,
    read_set,
    table,
    user_seconds,
)

CASES = {
    "adult": ("fairness", "Sex=Male", 1),
    "compas": ("fairness", "Race=African-American", 0),
    "german-credit": ("fairness", "Gender=Male", 1),
    "statlog-german-credit": ("odd", "8_1", 0),
}
"""Family, column of the groups and favourable class of each set. The last one has numbers, the others 0 and 1."""
DIFFERENCE = "0.05"


def run(name: str, depth: int, support: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    from sklearn.tree import DecisionTreeClassifier

    import treeform as tf
    from treeform.solve.repair import relabel
    from treeform.utils.budget import Budget

    limits_count_work()
    family, group, positive = CASES[name]
    frame, target = read_set(family, name)
    X, y = np.ascontiguousarray(frame.to_numpy(float)), target.to_numpy()
    groups = frame[group].to_numpy().astype(int)

    def rates(predicted: Any) -> float:
        favoured = predicted == positive
        return abs(float(favoured[groups == 1].mean()) - float(favoured[groups == 0].mean()))

    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=groups, difference=DIFFERENCE, positive=positive)
    if support > 1:
        problem += tf.MinSupport(support)
    greedy = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=support, random_state=0).fit(X, y)
    same = tf.DecisionGraph.from_sklearn(greedy, problem.question.data)
    fair = relabel(problem.question, same, Budget(60.0))
    began = user_seconds()
    result = problem.solve(time_limit=seconds)
    spent = user_seconds() - began
    answer: dict[str, Any] = {
        "CART": int((greedy.predict(X) != y).sum()),
        "CART difference": round(rates(greedy.predict(X)), 3),
        "CART relabelled": "" if fair is None else int((fair.predict(X) != y).sum()),
        "errors": "", "difference": "", "bound": f"{float(result.bound):.6g}", "status": str(result.status),
        "seconds": round(spent, 2), "version": commit(),
    }  # fmt: skip
    if result.graph is not None:
        predicted = result.graph.predict(X)
        answer |= {"errors": int((predicted != y).sum()), "difference": round(rates(predicted), 3)}
    return answer


@table("deep_fair")
def fair(rows: Rows) -> Shown:
    """Sets, supports and depths."""
    shown = [
        "set",
        "support",
        "depth",
        "CART",
        "CART difference",
        "CART relabelled",
        "errors",
        "bound",
        "status",
        "seconds",
    ]
    note = (
        f"Errors on all rows under StatisticalParity(difference={DIFFERENCE}), with at least so many rows in each "
        f"leaf, and the bound. Runs end when they are proved, and after {rows.facts['limit']} seconds of work. The "
        "first two figures of CART are without parity: errors, and by how much the rates of the favoured class differ."
    )
    return Shown("Fair deep trees", pd.DataFrame(rows.frame[shown]), note)


def main(sets: str = "", depths: str = "4,5,6", supports: str = "1,50", seconds: float = 10) -> None:
    """Measure."""
    figures = Figures("deep_fair", ("set", "support", "depth"), limit=f"{seconds:g}")
    for name in sets.split(",") if sets else CASES:
        for support in map(int, supports.split(",")):
            for depth in map(int, depths.split(",")):
                figures.measure(
                    lambda n=name, d=depth, s=support: _alone(n, d, s, seconds),
                    set=name, support=support, depth=depth,
                )  # fmt: skip


def _alone(name: str, depth: int, support: int, seconds: float) -> dict[str, Any]:
    done = in_child(run, name, depth, support, seconds, seconds=3 * seconds + 60)
    return done.answer or {"errors": "", "status": done.how}
