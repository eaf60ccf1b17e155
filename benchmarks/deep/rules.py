"""Deep trees under every requirement, demanded and paid for, and of other losses, beside CART and beside less depth.

Each row is a process of its own with two runs of so many seconds of work: at depth three, and at the greater depth.
CART's trees of both depths, leaves relabelled where that satisfies what is required, stand beside them with the least
objective of those that satisfy all. The tables are drawn with fixed seeds: ``wide`` has 40 columns of numbers, ``bits``
thirty of zeros and ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import limits_count_work
from benchmarks.deep.sets import split_rows, two_classes
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

LESS = 3
LONG = 20_000
"""Rows of the table ``long``."""
PRICE = 5
"""Of a unit that is lacking of what is paid for, in errors."""
LOSSES = {
    "price of a test": "error + 3*nodes",
    "price of a leaf": "error + 1/2*leaves",
    "balanced": "balanced_error",
    "costs": "cost[0 2; 5 0]",
    "F1": "f1_loss[positive=1]",
    "Matthews": "matthews_loss[positive=1]",
    "absolute": "absolute_error",
    "absolute, price of a test": "absolute_error + 2*nodes",
    "squared": "squared_error",
}


def drawn(name: str, rows: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """A table and its classes; of a set, its rows to learn from."""
    from sklearn.datasets import make_classification

    if name not in ("wide", "bits", "long"):
        X, _, y, _ = split_rows(name, seed)
        return pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]), two_classes(y)
    size = {"wide": (40, 12, 8, 3), "bits": (10, 8, 0, 4), "long": (20, 8, 4, 1)}[name]
    X, y = make_classification(
        LONG if name == "long" else rows, size[0], n_informative=size[1], n_redundant=size[2], n_clusters_per_class=8,
        flip_y=0.05, class_sep=0.75, random_state=size[3] + 10 * seed,
    )  # fmt: skip
    values = X.round(4) if name != "bits" else np.hstack([np.quantile(X, q, axis=0) < X for q in (0.3, 0.6, 0.8)])
    return pd.DataFrame(values * 1, columns=[f"c{i}" for i in range(values.shape[1])]), y


def cases(X: pd.DataFrame, y: Any, data: Any) -> dict[str, list[Any]]:
    """Requirements by name; those on columns are on the ones that CART tests most, so that they bite."""
    from sklearn.tree import DecisionTreeClassifier

    import treeform.requirements as r
    from treeform import DecisionGraph

    def greedy(depth: int, **more: Any) -> Any:
        return DecisionTreeClassifier(max_depth=depth, random_state=0, **more).fit(X, y)

    order = np.argsort(-greedy(5).feature_importances_, kind="stable")
    names = list(X.columns)
    top = [names[i] for i in order[:8]]
    half = np.random.default_rng(1).random(len(y)) < 0.3
    g, given = ((half | (X[c] > X[c].mean())).to_numpy().astype(int) for c in ("c0", "c2"))
    costs = {name: 1 + i % 5 for i, name in enumerate(names)}
    right = np.flatnonzero(greedy(4).predict(X) == y)[:40].tolist()
    parity, odds = r.StatisticalParity(groups=g, difference="0.03"), r.EqualizedOdds(groups=g, difference="0.03")
    rising, support = r.Monotone(top[0], positive=1), r.MinSupport(max(1, len(y) // 60))
    wrong, parts = r.MaxFalsePositiveRate("0.08", positive=1), (names[:10], names[10:20], names[20:])
    alone = [
        r.AccuracyParity(groups=g, difference="0.01"), r.Below(column=top[0], above=top[1]),
        r.ConditionalParity(groups=g, given=given, difference="0.05"),
        r.EqualOpportunity(groups=g, difference="0.03"), odds, r.Exclusive(top[:4]), r.FeatureBudget(4),
        r.FeatureCost(costs, at_most=8), r.Fix(DecisionGraph.from_sklearn(greedy(2), data)),
        r.GroupErrorAtMost(groups=g, at_most="0.32"), r.Interaction([part for part in parts if part]),
        r.MaxCost([[0, 1], [3, 0]], at_most=len(y) // 2), r.MaxDepth(4), r.MaxErrors(count=len(y) * 19 // 60), wrong,
        r.MaxLeaves(12), r.MaxNodes(12), r.MaxTestsPerPath(top[:5], 2), r.MaxThresholds(top[0], 1),
        r.MeanParity(groups=g, difference="0.05"), r.MinCoverage(fraction="0.2"), r.MinPrecision("0.92", positive=1),
        r.MinRecall("0.92", positive=1), r.MinSpecificity("0.92", positive=1), support, rising,
        r.MustClassifyRight(right), r.NoTestOn(top[0]), r.OncePerPath(),
        r.PredictiveEquality(groups=g, difference="0.03"), r.Stability(count=50), parity, r.Uses(names[-2:]),
        r.StayCloseTo(DecisionGraph.from_sklearn(greedy(4, max_features=0.4), data), at_most="0.15"),
    ]  # fmt: skip
    more = {
        "OnRows": [wrong.on("c3 > 0")],
        "FeatureCost of paths": [r.FeatureCost(costs, at_most=8, per_path=True)],
        "parity, support": [parity, support],
        "monotone in two columns, support": [rising, r.Monotone(top[1], "decreasing", positive=1), support],
        "four columns, odds": [r.FeatureBudget(4), odds],
        "costs, support": [support],
        "costs, four columns": [r.FeatureBudget(4)],
        "balanced, nine tests": [r.MaxNodes(9)],
        "squared, support": [support],
    }
    return {type(one).__name__: [one] for one in alone} | more | {name: [] for name in LOSSES}


def asked_at(asked: str, how: str, name: str, rows: int, seed: int = 0) -> Callable[[int, float], dict[str, Any]]:
    """What gives the figures of one case at a depth, after so many seconds.

    ``asked``: one of `cases`, or a requirement with a number, such as ``MinSupport(30)``.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    import treeform as tf
    import treeform.requirements as r
    from treeform.data import Dataset
    from treeform.language.objective import Objective
    from treeform.solve.repair import relabel
    from treeform.utils.budget import Budget

    limits_count_work()
    X, y = drawn(name, rows, seed)
    of_values = asked.startswith(("absolute", "squared", "MeanParity"))
    kind, _, number = asked.rstrip(")").partition("(")
    kinds = [getattr(r, kind)(int(number))] if number else cases(X, y, Dataset.from_user(X, y))[asked]
    if of_values:
        y = (3 * X["c0"] + X["c1"] ** 2 + np.random.default_rng(0).normal(0, 0.3, len(X))).round(2).to_numpy()
    loss = LOSSES.get(asked) or LOSSES.get(asked.split(",")[0]) or ("squared_error" if of_values else "error")
    least = int(number) if number else max(1, len(y) // 60)
    leaf = {"min_samples_leaf": least} if "support" in asked.lower() else {}

    def at(depth: int, seconds: float) -> dict[str, Any]:
        abstain = {"abstain": "ask"} if asked == "MinCoverage" else {}
        problem = tf.Problem(X, y, shape=tf.Tree(depth), **abstain)
        problem.minimize(sum((one.soft(PRICE) for one in kinds), Objective.parse(loss)) if how == "soft" else loss)
        problem += kinds if how == "hard" else []
        question = problem.question
        began = user_seconds()
        result = problem.solve(time_limit=seconds)
        answer = {"seconds": round(user_seconds() - began, 2), "objective": shown(result.objective)}
        answer |= {"feasible": result.graph is not None and not any(result.violations.values())}
        answer |= {"status": str(result.status), "version": commit()}
        learner = (DecisionTreeRegressor if of_values else DecisionTreeClassifier)(
            max_depth=depth, random_state=0, **leaf
        )
        greedy = tf.DecisionGraph.from_sklearn(learner.fit(X, y), question.data)
        trees = (greedy, None if of_values else relabel(question, greedy, Budget(60.0)))
        values = [
            question.objective.evaluate(graph, question.data)
            for graph in trees
            if graph is not None and not any(one.violation(graph, question.data) for one in question.requirements)
        ]
        return answer | {"CART": shown(min(values, default=None))}

    return at


def run(asked: str, how: str, name: str, depth: int, seconds: float, rows: int) -> dict[str, Any]:
    """One case in this process; called in a fresh one."""
    at = asked_at(asked, how, name, rows)
    less, answer = at(LESS, seconds), at(depth, seconds)
    greedy = min(less["CART"], answer["CART"], key=lambda value: float(value or "inf"))
    return answer | {"CART": greedy, f"depth {LESS}": less["objective"]}


def shown(value: Any) -> str:
    """Six digits of an objective; empty where there is no model."""
    return "" if value is None else f"{float(value):.6g}"


@table("deep_rules")
def rules(rows: Rows) -> Shown:
    """What is asked, how, and tables."""
    frame, facts = rows.frame, rows.facts
    note = (
        f"Objectives of CART's trees repaired, of depth {LESS} and of depth {facts['depth']}, on {facts['rows']} rows "
        f"after {facts['seconds']} seconds of work each; * proved, ! does not satisfy what is required."
    )
    marks = [
        ("*" if line["status"] == "optimal" else "") + ("" if line["feasible"] == "True" else "!")
        for line in frame.to_dict("records")
    ]
    cells = frame["CART"] + " / " + frame[f"depth {LESS}"] + " / " + frame["objective"] + marks
    kinds = frame["how"] + ", " + frame["table"]
    wide = pd.DataFrame({"asked": frame["asked"], "kind": kinds, "cell": cells}).pivot(
        index="asked", columns="kind", values="cell"
    )
    return Shown("Deep trees under every requirement", wide.fillna("").reset_index(), note)


def main(
    asked: str = "", hows: str = "hard,soft", tables: str = "wide,bits", depth: int = 5, seconds: float = 3,
    rows: int = 3000,
) -> None:  # fmt: skip
    """Measure; ``asked``: some of the cases, separated by semicolons."""
    from treeform.data import Dataset

    figures = Figures("deep_rules", ("asked", "how", "table"), depth=depth, seconds=f"{seconds:g}", rows=rows)
    few, y = drawn("wide", 200)
    data = Dataset.from_user(few, y)
    for one, kinds in cases(few, y, data).items():
        if asked and one not in asked.split(";"):
            continue
        is_sum = not one.startswith("squared")  # nothing else is added to squares but a price of tests
        is_payable = is_sum and bool(kinds) and all(_payable(kind, data) for kind in kinds)
        for how in hows.split(","):
            for name in tables.split(",") if how == "hard" or is_payable else ():
                figures.measure(
                    lambda o=one, h=how, n=name: _alone(o, h, n, depth, seconds, rows), asked=one, how=how, table=name
                )


def _payable(kind: Any, data: Any) -> bool:
    from treeform.errors import SpecError

    try:
        return kind.soft(PRICE).bind(data) is not None
    except SpecError:
        return False


def _alone(asked: str, how: str, name: str, depth: int, seconds: float, rows: int) -> dict[str, Any]:
    done = in_child(run, asked, how, name, depth, seconds, rows, seconds=6 * seconds + 60)
    return done.answer or {"objective": "", "status": done.how}
