"""What is paid for on tables of some thousand rows, beside the same demanded, trees of the least errors and CART.

Each row is a process of its own with three runs of so many seconds of work: what is asked at a price, the same
demanded, and the errors alone. All trees, CART's too, are judged by the objective with what is paid: the first should
be the least.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.fair import CASES
from benchmarks.deep.programs import limits_count_work
from benchmarks.deep.rules import shown
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, read_set, table, user_seconds

DRAWN = "drawn"
"""Numbers; the sets of the folder are of zeros and ones."""
ASKED = {
    "parity": lambda r, n, g: [r.StatisticalParity(groups=g, difference="0.02")],
    "odds": lambda r, n, g: [r.EqualizedOdds(groups=g, difference="0.02")],
    "recall": lambda r, n, g: [r.MinRecall("0.95", positive=1)],
    "parity, support": lambda r, n, g: [
        r.StatisticalParity(groups=g, difference="0.02"), r.MinSupport(n // 50)
    ],
}  # fmt: skip
PRICES = {"MinSupport": 5}
"""Errors that a unit costs of what is lacking; of all others the number of rows."""


def read(name: str, rows: int) -> tuple[pd.DataFrame, Any, Any]:
    """A table, its classes and its groups."""
    from sklearn.datasets import make_classification

    if name != DRAWN:
        family, group, _ = CASES[name]
        X, y = read_set(family, name)
        return X, y.to_numpy(), X[group].to_numpy().astype(int)
    values, y = make_classification(
        rows, 20, n_informative=8, n_redundant=4, n_clusters_per_class=6, flip_y=0.05, class_sep=0.7, random_state=1
    )
    X = pd.DataFrame(values.round(3), columns=[f"c{i}" for i in range(20)])
    told = X.iloc[:, int(np.argmax(np.abs(np.corrcoef(values.T, y)[-1, :-1])))]  # parity is dear there
    half = np.random.default_rng(1).random(rows) < 0.3
    return X, y, (half | (told > told.mean())).to_numpy().astype(int)


def run(name: str, depth: int, asked: str, seconds: float, rows: int) -> dict[str, Any]:
    """One row in this process; called in a fresh one."""
    from sklearn.tree import DecisionTreeClassifier

    import treeform as tf
    import treeform.requirements as r
    from treeform.language.objective import Objective

    limits_count_work()
    X, y, groups = read(name, rows)
    kinds = ASKED[asked](r, len(y), groups)
    paid = sum((kind.soft(PRICES.get(type(kind).__name__, len(y))) for kind in kinds), Objective.parse("error"))
    ways = {"paid for": (paid, []), "demanded": ("error", kinds), "errors alone": ("error", [])}
    answer: dict[str, Any] = {}
    judge: Any = None
    for way, (objective, demanded) in ways.items():
        problem = tf.Problem(X, y, shape=tf.Tree(depth))
        problem.minimize(objective)
        problem += demanded
        judge = judge or problem.question
        began = user_seconds()
        result = problem.solve(time_limit=seconds)
        answer[way] = "" if result.graph is None else shown(judge.objective.evaluate(result.graph, judge.data))
        if way == "paid for":
            answer |= {"status": str(result.status), "seconds": round(user_seconds() - began, 2)}
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    cart = tf.DecisionGraph.from_sklearn(greedy, judge.data)
    return answer | {"CART": shown(judge.objective.evaluate(cart, judge.data)), "version": commit()}


WAYS = ("paid for", "demanded", "errors alone", "CART")


@table("deep_paid")
def paid(rows: Rows) -> Shown:
    """Tables, depths and what is asked."""
    frame, facts = rows.frame, rows.facts
    note = (
        f"Errors and what is paid, of the trees that were found after {facts['seconds']} seconds of work each, and of "
        f"CART's. {DRAWN}: {facts['rows']} rows of numbers."
    )
    return Shown("What is paid for", frame[["table", "depth", "asked", *WAYS, "status"]], note)


def main(asked: str = "", tables: str = "", depths: str = "3,4,6", seconds: float = 1, rows: int = 20_000) -> None:
    """Measure; ``asked``: some of the cases, separated by semicolons."""
    figures = Figures("deep_paid", ("table", "depth", "asked"), seconds=f"{seconds:g}", rows=rows)
    for name in tables.split(",") if tables else (DRAWN, "adult", "compas"):
        for depth in map(int, depths.split(",")):
            for one in asked.split(";") if asked else ASKED:
                figures.measure(
                    lambda n=name, d=depth, a=one: _alone(n, d, a, seconds, rows), table=name, depth=depth, asked=one
                )


def _alone(name: str, depth: int, asked: str, seconds: float, rows: int) -> dict[str, Any]:
    done = in_child(run, name, depth, asked, seconds, rows, seconds=9 * seconds + 60)
    return done.answer or {"paid for": "", "status": done.how}
