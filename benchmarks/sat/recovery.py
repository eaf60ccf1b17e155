"""Figure 2 of Avellaneda (AAAI 2020): random trees of depth 5 learnt from random examples, time and share recovered.

Draws ``sat_recovery.png`` (needs matplotlib).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

import treeform as tf
from benchmarks.harness import SESSION, Figures, Rows, Shown, table, user_seconds
from treeform.formulations.sat import SatDepth, SatSize

DEPTH, FEATURES = 5, 10
EXAMPLES = [50, 100, 200, 400, 800, 1600]
ALL = ((np.arange(2**FEATURES)[:, None] >> np.arange(FEATURES)) & 1).astype(np.int64)
SLOW = 10
"""The SAT solver alone learns this many of the trees."""
NOTE = """\
{trees} random trees of depth 5 over 10 Boolean features and 2 classes (SAT alone: the first {slow}): no feature
twice on a path, and the two leaves below a test differ. Examples are drawn uniformly from the 1024 inputs, with
repetition. *recovered*: share of the trees learnt that predict as the generator on all inputs. *seconds*: mean
user CPU, one thread. DT_depth and DT_size as shipped, a native engine looking at each depth first; *SAT alone*
with ``warm_start="none"``; CART is scikit-learn's `DecisionTreeClassifier` without limits. The paper draws 1000
trees and compares with C4.5, which recovers 80 % at 1800 examples."""


def generator(rng: np.random.Generator) -> np.ndarray:
    """The classes (1024,) that a random tree gives to all inputs."""

    def below(rows: np.ndarray, free: list[int], depth: int, out: np.ndarray) -> None:
        feature = int(rng.choice(free))
        rest = [f for f in free if f != feature]
        right = ALL[rows, feature] == 1
        if depth == 1:
            out[rows] = right ^ bool(rng.integers(2))
            return
        below(rows[~right], rest, depth - 1, out)
        below(rows[right], rest, depth - 1, out)

    out = np.zeros(len(ALL), dtype=np.int64)
    below(np.arange(len(ALL)), list(range(FEATURES)), DEPTH, out)
    return out


def learn(formulation: type[SatDepth], start: str | None) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def fit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        problem = tf.Problem(X, y, shape=tf.Tree(8)).minimize(tf.Depth()).add(tf.MaxErrors(0))
        result = problem.solve("sat", formulation=formulation(), warm_start=start, time_limit=60)
        assert result.graph is not None
        return np.asarray(result.graph.predict(ALL))

    return fit


def cart(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier

    return np.asarray(DecisionTreeClassifier(random_state=0).fit(X, y).predict(ALL))


WAYS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "DT_depth": learn(SatDepth, "auto"),
    "DT_size": learn(SatSize, "auto"),
    "DT_depth, SAT alone": learn(SatDepth, None),
    "CART": cart,
}


def measure(way: str, examples: int, trees: int) -> dict[str, str]:
    """Mean seconds and the share of trees that are recovered."""
    seconds, found = [], []
    for seed in range(min(trees, SLOW) if "alone" in way else trees):
        truth = generator(np.random.default_rng(seed))
        drawn = np.random.default_rng([seed, examples]).integers(0, len(ALL), examples)
        if len(np.unique(truth[drawn])) < 2:
            continue
        begin = user_seconds()
        found.append(bool((WAYS[way](ALL[drawn], truth[drawn]) == truth).all()))
        seconds.append(user_seconds() - begin)
    return {
        "seconds": f"{statistics.fmean(seconds):.4f}",
        "recovered %": f"{100 * statistics.fmean(found):.0f}",
    }


@table("sat_recovery")
def recovery(rows: Rows) -> Shown:
    """A line for each number of examples."""
    every = {(row["examples"], row["way"]): row for row in rows.frame.to_dict("records")}
    what = ("seconds", "recovered %")
    columns = ["examples", *(f"{way}: {column}" for way in WAYS for column in what)]
    lines = [
        [n, *(every.get((n, way), {}).get(column) for way in WAYS for column in what)]
        for n in dict.fromkeys(rows.frame["examples"])
    ]
    trees = int(rows.facts["trees"])
    note = NOTE.format(trees=trees, slow=min(SLOW, trees))
    return Shown.of("Random trees of depth 5, learnt from examples", columns, lines, note)


def draw(rows: list[list[str]]) -> None:
    """The figure: time on the left axis, share recovered on the right one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, left = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    right = left.twinx()
    for i, name in enumerate(WAYS):
        x = [int(row[0]) for row in rows]
        left.plot(x, [float(row[1 + 2 * i]) for row in rows], color=f"C{i}", label=name)
        right.plot(x, [float(row[2 + 2 * i]) for row in rows], color=f"C{i}", linestyle=":")
    left.set(xscale="log", yscale="log", xlabel="examples", ylabel="seconds (solid)")
    left.set_xticks(EXAMPLES, [str(n) for n in EXAMPLES])
    left.minorticks_off()
    right.set(ylabel="recovered, % (dotted)", ylim=(-3, 103))
    left.legend(loc="center left", fontsize="small")
    figure.savefig(SESSION.folder / "sat_recovery.png", dpi=110)


def main(trees: int = 1000) -> None:
    """Measure and draw."""
    figures = Figures("sat_recovery", ("examples", "way"), trees=trees)
    for fit in WAYS.values():  # imports and first calls are not counted
        fit(ALL, ALL[:, 0])
    for examples in EXAMPLES:
        for way in WAYS:
            figures.measure(partial(measure, way, examples, trees), examples=examples, way=way)
    draw(recovery(Rows.of(figures)).frame.to_numpy().tolist())
