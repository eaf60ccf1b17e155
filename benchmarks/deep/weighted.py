"""Deep trees where rows have weights or tests a price, beside CART with the same weights.

Each run is a process of its own, one thread, without a proof, of so many user CPU seconds. Whole weights are drawn
from 1 to 3, fractional ones from .50, .51, ... 1.50; balanced ones give each class the same total, rounded to
hundredths.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import interrupted_after
from benchmarks.deep.sets import split_rows
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, named, table, user_seconds

KINDS = ("none", "whole", "fractional", "balanced", "price of half an error")


def weights(kind: str, y: Any) -> Any:
    """Of the rows, in hundredths; None: each counts one."""
    pick = np.random.default_rng(0)
    if kind == "whole":
        return 100 * pick.integers(1, 4, len(y))
    if kind == "fractional":
        return pick.integers(50, 151, len(y))
    if kind == "balanced":
        _, code, count = np.unique(y, return_inverse=True, return_counts=True)
        return np.maximum(1, np.round(100 * len(y) / len(count) / count)).astype(int)[code]
    return None


def run(kind: str, name: str, depth: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    from sklearn.tree import DecisionTreeClassifier

    import treeform as tf

    X, _, y, _ = split_rows(name)
    hundredths = weights(kind, y)
    cost = np.full(len(y), 100) if hundredths is None else hundredths
    price = Fraction(1, 2) if kind.startswith("price") else Fraction(0)
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y, sample_weight=hundredths)
    problem = tf.Problem(X, y, shape=tf.Tree(depth), sample_weight=None if hundredths is None else cost / 100)
    if price:
        problem.minimize(tf.Error() + price * tf.Nodes())
    began = user_seconds()
    with interrupted_after(seconds):
        graph = problem.solve(tf.DeepTreeSearch()).graph
    assert graph is not None

    def total(wrong: Any, tests: int) -> str:
        return f"{int(cost[wrong].sum()) / 100 + float(price) * tests:g}"

    return {
        "CART": total(greedy.predict(X) != y, greedy.get_n_leaves() - 1),
        "cost": total(np.asarray(graph.predict(X)) != y, graph.n_nodes),
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


@table("deep_weighted")
def weighted(rows: Rows) -> Shown:
    """Sets, depths and weights."""
    frame = rows.frame[rows.frame["cost"] != ""]
    parts = [f"{float(row['cost']) / float(row['CART']):.2f}" for row in frame.to_dict("records")]
    shown = pd.DataFrame({
        "set": frame["set"], "depth": frame["depth"], "weights": frame["weights"], "CART": frame["CART"],
        "treeform": frame["cost"], "part of CART's": parts,
    })  # fmt: skip
    note = f"Weight of errors and prices of tests after {rows.facts['seconds']} user CPU seconds."
    return Shown("Deep trees of weighted rows", shown, note)


def main(sets: str = "avila,bean,magic", depths: str = "6", seconds: float = 3) -> None:
    """Measure."""
    figures = Figures("deep_weighted", ("set", "depth", "weights"), seconds=f"{seconds:g}")
    empty = dict.fromkeys(("CART", "cost", "seconds", "version"), "")
    for name in named("continuous", sets):
        for depth in map(int, depths.split(",")):
            for kind in KINDS:
                figures.measure(
                    lambda n=name, d=depth, k=kind: in_child(run, k, n, d, seconds, seconds=3 * seconds + 60).answer
                    or empty,
                    set=name, depth=depth, weights=kind,
                )  # fmt: skip
