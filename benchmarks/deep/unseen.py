"""Wrong predictions on unseen rows of trees whose depth and complexity penalty are chosen by cross-validation.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=SEED)``), five folds of them
choose. Both choose among depths one to eight; CART among twelve penalties of its pruning path too, treeform among up
to twelve of each depth. Each run is a process of its own; treeform's time limit counts the seconds of the processor.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import limits_count_work
from benchmarks.deep.sets import split_rows
from benchmarks.harness import (
    Figures,
    Rows,
    Shown,
    commit,
    in_child,
    named,
    table,
    user_seconds,
)

DEPTHS = (1, 2, 3, 4, 5, 6, 7, 8)
PENALTIES = 12
MEASURED = ["CART", "CART depth", "CART leaves", "CART seconds", "wrong", "depth", "leaves", "seconds"]


def run(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    import treeform as tf

    limits_count_work()
    X, X_test, y, y_test = split_rows(name, seed)
    began = user_seconds()
    path = DecisionTreeClassifier(max_depth=DEPTHS[-1], random_state=0).cost_complexity_pruning_path(X, y)
    penalties = np.unique(np.quantile(path.ccp_alphas[:-1], np.linspace(0, 1, PENALTIES)).clip(0))
    grid = {"max_depth": DEPTHS, "ccp_alpha": penalties}
    greedy = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=5).fit(X, y)
    of_cart = user_seconds() - began
    began = user_seconds()
    ours = tf.OptimalTreeClassifierCV(DEPTHS, cv=5, time_limit=seconds).fit(X, y)
    return {
        "CART": round(100 * float((greedy.predict(X_test) != y_test).mean()), 3),
        "CART depth": greedy.best_params_["max_depth"],
        "CART leaves": int(greedy.best_estimator_.get_n_leaves()),
        "CART seconds": round(of_cart, 2),
        "wrong": round(100 * float((ours.predict(X_test) != y_test).mean()), 3),
        "depth": ours.best_params_["max_depth"],
        "leaves": int(ours.graph_.n_leaves),
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


@table("deep_unseen")
def unseen(rows: Rows) -> Shown:
    """Sets: means over the seeds."""
    found = rows.frame[rows.frame["wrong"] != ""]
    lines, wrong, leaves = [], [], []
    for name, case in found.groupby("set", sort=False):
        mean = case[MEASURED].astype(float).mean()
        wrong.append(mean["wrong"] / mean["CART"])
        leaves.append(mean["leaves"] / mean["CART leaves"])
        lines.append(
            {
                "set": name,
                "seeds": len(case),
                "CART, % wrong": f"{mean['CART']:.2f}",
                "treeform, % wrong": f"{mean['wrong']:.2f}",
                "ratio": f"{wrong[-1]:.2f}",
                "CART, depth": f"{mean['CART depth']:.1f}",
                "depth": f"{mean['depth']:.1f}",
                "CART, leaves": f"{mean['CART leaves']:.1f}",
                "leaves": f"{mean['leaves']:.1f}",
                "CART, s": f"{mean['CART seconds']:.1f}",
                "s": f"{mean['seconds']:.1f}",
            }
        )
    note = (
        f"Per cent wrong on unseen rows, in the mean over seeds. Geometric mean of the ratios: "
        f"{geometric_mean(wrong):.3f}, of leaves {geometric_mean(leaves):.3f}. Seconds are of the processor."
    )
    return Shown("Unseen rows, depth and penalty by cross-validation", pd.DataFrame(lines), note)


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt",
    seeds: str = "0",
    seconds: float = 10,
) -> None:
    """Measure."""
    figures = Figures("deep_unseen", ("set", "seed", "limit"))
    for seed in map(int, seeds.split(",")):
        for name in named("continuous", sets):
            figures.measure(
                lambda n=name, s=seed: _alone(n, s, seconds),
                set=name, seed=seed, limit=f"{seconds:g}",
            )  # fmt: skip


def _alone(name: str, seed: int, seconds: float) -> dict[str, Any]:
    done = in_child(run, name, seed, seconds, seconds=5 * seconds + 100)
    return done.answer or {"wrong": "", "how": done.how}
