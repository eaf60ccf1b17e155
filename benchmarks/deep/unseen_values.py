"""R squared on unseen rows of regression trees whose depth and complexity penalty are chosen by cross-validation.

As ``deep unseen``, for targets of ``regression compare``: five folds of seven tenths of the rows choose among the same
depths and penalties, one process for each run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import limits_count_work
from benchmarks.deep.unseen import DEPTHS, SHARES
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds
from benchmarks.regression.tables import load


def run(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    from sklearn.model_selection import GridSearchCV, train_test_split
    from sklearn.tree import DecisionTreeRegressor

    import treeform as tf

    limits_count_work()
    X, X_test, y, y_test = train_test_split(*load(name), test_size=0.3, random_state=seed)
    greedy = DecisionTreeRegressor(max_depth=DEPTHS[-1], random_state=0)
    penalties = np.unique(np.quantile(greedy.cost_complexity_pruning_path(X, y).ccp_alphas[:-1].clip(0), SHARES))
    began = user_seconds()
    cart = GridSearchCV(greedy, {"max_depth": DEPTHS, "ccp_alpha": penalties}, cv=5).fit(X, y)
    between = user_seconds()
    ours = tf.OptimalTreeRegressorCV(DEPTHS, cv=5, time_limit=seconds).fit(X, y)
    return {
        "CART": round(float(cart.score(X_test, y_test)), 4), "R2": round(float(ours.score(X_test, y_test)), 4),
        "CART depth": cart.best_params_["max_depth"], "CART leaves": int(cart.best_estimator_.get_n_leaves()),
        "CART seconds": round(between - began, 2), "depth": ours.best_params_["max_depth"],
        "leaves": int(ours.graph_.n_leaves), "seconds": round(user_seconds() - between, 2), "version": commit(),
    }  # fmt: skip


@table("deep_unseen_values")
def unseen_values(rows: Rows) -> Shown:
    """Sets: means over the seeds."""
    lines = []
    for name, case in rows.frame[rows.frame["R2"] != ""].groupby("set", sort=False):
        each = case.drop(columns=["set", "version"]).astype(float)
        more = each["R2"] - each["CART"]
        lines.append(
            {"set": name, "seeds": len(case), "CART, R squared": f"{each['CART'].mean():.3f}"}
            | {"treeform, R squared": f"{each['R2'].mean():.3f}"}
            | {"difference": f"{more.mean():+.3f} ({more.sem(ddof=min(1, len(more) - 1)):.3f})"}
            | {"of seeds": f"{more.min():+.3f} to {more.max():+.3f}"}
            | {"CART, leaves": f"{each['CART leaves'].mean():.1f}", "leaves": f"{each['leaves'].mean():.1f}"}
            | {"CART, s": f"{each['CART seconds'].mean():.1f}", "s": f"{each['seconds'].mean():.1f}"}
        )
    note = "Means over the seeds; of the difference the mean with one standard error over the seeds in brackets."
    return Shown("Unseen rows in regression, depth and penalty by cross-validation", pd.DataFrame(lines), note)


def main(sets: str = "diabetes,wine,breast-cancer", seeds: str = "0,1,2,3,4", seconds: float = 5) -> None:
    """Measure."""
    figures = Figures("deep_unseen_values", ("set", "seed"), seconds=f"{seconds:g}")
    for name in sets.split(","):
        for seed in map(int, seeds.split(",")):
            figures.measure(
                lambda n=name, s=seed: in_child(run, n, s, seconds, seconds=9 * seconds + 100).answer or {"R2": ""},
                set=name, seed=seed,
            )  # fmt: skip
