"""Lower bounds on the errors of deep trees: of the proof, and of disjoint parts of the rows, whose errors add up.

Each run is a process of its own, of so many user CPU seconds of one thread: the proof alone has them all, the parts
have equal shares. Parts are drawn by chance.

``--ideas`` measures other bounds in their place. ``rows`` is of rows that agree in all columns, and of classes beyond
the number of leaves. ``below`` is what a proof would say that no tree of one level less beats the best one found.
``all`` is the proof of all rows, ``hard`` and ``boosted`` of a part of them: those that a tree labels wrongly with
their neighbours of other classes, and as many of those that trees of growing weights of wrong rows label wrongly most
often.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import interrupted_after
from benchmarks.deep.sets import named_sets, read_rows
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

SETS = "continuous/magic,continuous/eeg,continuous/bean,continuous/page,odd/statlog-german-credit,binary/german-credit"


def run(name: str, depth: int, parts: int, seconds: float) -> dict[str, Any]:
    """The bound of the proof, or the sum of those of some parts; called in a fresh process."""
    X, y = read_rows(name)
    part_of = np.random.default_rng(0).permutation(len(X)) % parts
    bounds, models, proved = [], [], 0
    began = user_seconds()
    for part in range(parts):
        rows = part_of == part
        if len(np.unique(y[rows])) < 2:
            continue
        result = solved(X[rows], y[rows], depth, seconds / parts)
        bounds.append(int(result.bound))
        models.append(int(result.objective or 0))
        proved += str(result.status) == "optimal"
    return {
        "rows": len(X),
        "bound": sum(bounds),
        "errors": sum(models),
        "proved": proved,
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


def solved(X: Any, y: Any, depth: int, seconds: float) -> Any:
    """What the proof has after so many seconds."""
    import treeform as tf

    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    with interrupted_after(seconds):
        return problem.solve(tf.ConTree(threads=1))


def run_idea(name: str, depth: int, idea: str, seconds: float) -> dict[str, Any]:
    """The bound of one idea; called in a fresh process."""
    X, y = read_rows(name)
    y, began = np.unique(y, return_inverse=True)[1], user_seconds()
    answer: dict[str, Any] = {"rows": len(X), "of": "", "version": commit()}
    if idea == "rows":
        _, group = np.unique(X, axis=0, return_inverse=True)
        same = pd.crosstab(group.reshape(-1), y).to_numpy()
        answer["bound"] = max(int((same.sum(1) - same.max(1)).sum()), int(np.sort(np.bincount(y))[: -(2**depth)].sum()))
    elif idea == "below":
        best = int(solved(X, y, depth - 1, seconds).objective)
        answer |= {"of": best, "bound": of_depth_below(X, best)}
    else:
        picked = np.arange(len(X)) if idea == "all" else hard(X, y, depth)
        if idea == "boosted":
            picked = boosted(X, y, depth, len(picked))
        result = solved(X[picked], y[picked], depth, seconds)
        answer |= {"rows": len(picked), "of": int(result.objective), "bound": int(result.bound)}
    return answer | {"seconds": round(user_seconds() - began, 2)}


def of_depth_below(X: Any, least: int) -> int:
    """The least errors if trees of one level less make `least`: each side has them but for the rows of the other."""
    lows = [np.cumsum(np.unique(column, return_counts=True)[1])[:-1] for column in X.T]
    left = np.concatenate(lows)
    sums = np.maximum(0, least - left) + np.maximum(0, least - (len(X) - left))
    return int(min(least, sums.min(initial=least)))


def hard(X: Any, y: Any, depth: int) -> Any:
    """As in ``hard_rows.hpp``, of the tree of a second."""
    tree = solved(X, y, depth, 1).graph
    wrong = np.flatnonzero(tree.predict(X) != y)
    ranks = [np.unique(column, return_inverse=True)[1] for column in X.T]
    unit = np.column_stack([rank / (rank.max() + 1) for rank in ranks])
    near = [np.where(y == y[row], np.inf, np.abs(unit - unit[row]).sum(axis=1)).argpartition(3)[:3] for row in wrong]
    return np.unique(np.concatenate([wrong, *near]))


def boosted(X: Any, y: Any, depth: int, many: int, trees: int = 40, rate: float = 0.3) -> Any:
    """The rows of the largest weights at the end; none has more than an equal part of `many` rows has."""
    from sklearn.tree import DecisionTreeClassifier

    wrong = np.zeros(len(X))
    for seed in range(trees):
        weight = np.exp(rate * wrong)
        for _ in range(20):
            weight = np.minimum(weight / weight.sum(), 1 / many)
        tree = DecisionTreeClassifier(max_depth=depth, random_state=seed).fit(X, y, sample_weight=weight)
        wrong += tree.predict(X) != y
    return np.sort(np.argsort(-wrong, kind="stable")[:many])


@table("deep_bound_ideas")
def ideas_of(rows: Rows) -> Shown:
    """Sets, depths and ideas."""
    found = rows.frame[rows.frame["bound"] != ""]
    note = (
        "Other lower bounds. Beside each stand the rows that it is of, and the errors of the best tree found: with "
        "below of one level less on all rows, with hard and boosted on these rows."
    )
    shown = ["set", "depth", "idea", "limit", "rows", "of", "bound"]
    return Shown("Other bounds of deep trees", pd.DataFrame(found[shown]), note)


@table("deep_bounds")
def bounds(rows: Rows) -> Shown:
    """Sets and depths by numbers of parts."""
    found = rows.frame[rows.frame["bound"] != ""]
    lines = []
    for (name, depth, limit), case in found.groupby(["set", "depth", "limit"], sort=False):
        by_parts = {r["parts"]: r for r in case.to_dict("records")}
        line: dict[str, Any] = {"set": name, "depth": depth, "limit, s": limit, "rows": case["rows"].iloc[0]}
        line["errors"] = by_parts["1"]["errors"] if "1" in by_parts else ""
        for parts, r in by_parts.items():
            said = f"{r['bound']} ({r['proved']} proved)"
            line[f"{parts} parts" if parts != "1" else "proof"] = r["bound"] if parts == "1" else said
        lines.append(line)
    note = (
        "Lower bounds on errors after so many user CPU seconds, and the errors of the best tree of all rows. Bounds "
        "of parts are added up; in brackets the parts whose optimum is proved."
    )
    return Shown("Bounds of deep trees by parts of the rows", pd.DataFrame(lines), note)


def main(
    sets: str = SETS, depths: str = "5", parts: str = "1,2,4,16", seconds: float = 10, ideas: str = ""
) -> None:
    """Measure."""
    if ideas:
        return measure_ideas(sets, depths, ideas, seconds)
    figures = Figures("deep_bounds", ("set", "depth", "parts", "limit"))
    for name in named_sets(sets):
        for depth in map(int, depths.split(",")):
            for count in map(int, parts.split(",")):
                figures.measure(
                    lambda n=name, d=depth, p=count: in_child(run, n, d, p, seconds, seconds=3 * seconds + 60).answer
                    or {"bound": ""},
                    set=name, depth=depth, parts=count, limit=f"{seconds:g}",
                )  # fmt: skip


def measure_ideas(sets: str, depths: str, ideas: str, seconds: float) -> None:
    """Measure these in their place."""
    figures = Figures("deep_bound_ideas", ("set", "depth", "idea", "limit"))
    for name, depth, idea in product(named_sets(sets), map(int, depths.split(",")), ideas.split(",")):
        figures.measure(
            lambda n=name, d=depth, i=idea: in_child(run_idea, n, d, i, seconds, seconds=3 * seconds + 60).answer
            or {"bound": ""},
            set=name, depth=depth, idea=idea, limit=f"{seconds:g}",
        )  # fmt: skip
