"""Figure 2 of Avellaneda (AAAI 2020): random trees of depth 5 learnt from random examples, time and share recovered.

Usage: ``python benchmarks/sat_recovery.py [trees]`` (default 100).
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sat_runs import user_seconds
from sklearn.tree import DecisionTreeClassifier
from tables import DOCS, write

import treeform as tf
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
    return np.asarray(DecisionTreeClassifier(random_state=0).fit(X, y).predict(ALL))


WAYS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "DT_depth": learn(SatDepth, "auto"),
    "DT_size": learn(SatSize, "auto"),
    "DT_depth, SAT alone": learn(SatDepth, None),
    "CART": cart,
}


def measure(trees: int) -> list[list[Any]]:
    rows = []
    truths = [generator(np.random.default_rng(seed)) for seed in range(trees)]
    for examples in EXAMPLES:
        line: list[Any] = [examples]
        for name, fit in WAYS.items():
            seconds, found = [], []
            for seed, truth in enumerate(truths[:SLOW] if "alone" in name else truths):
                drawn = np.random.default_rng([seed, examples]).integers(0, len(ALL), examples)
                if len(np.unique(truth[drawn])) < 2:
                    continue
                begin = user_seconds()
                found.append(bool((fit(ALL[drawn], truth[drawn]) == truth).all()))
                seconds.append(user_seconds() - begin)
            line += [f"{statistics.fmean(seconds):.4f}", f"{100 * statistics.fmean(found):.0f}"]
            print(examples, name, line[-2:], flush=True)
        rows.append(line)
    return rows


def draw(rows: list[list[Any]]) -> None:
    """The figure: time on the left axis, share recovered on the right one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, left = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    right = left.twinx()
    for i, name in enumerate(WAYS):
        x = [row[0] for row in rows]
        left.plot(x, [float(row[1 + 2 * i]) for row in rows], color=f"C{i}", label=name)
        right.plot(x, [float(row[2 + 2 * i]) for row in rows], color=f"C{i}", linestyle=":")
    left.set(xscale="log", yscale="log", xlabel="examples", ylabel="seconds (solid)")
    left.set_xticks(EXAMPLES, [str(n) for n in EXAMPLES])
    left.minorticks_off()
    right.set(ylabel="recovered, % (dotted)", ylim=(-3, 103))
    left.legend(loc="center left", fontsize="small")
    figure.savefig(DOCS / "sat_recovery.png", dpi=110)


def main(trees: int) -> None:
    for fit in WAYS.values():  # imports and first calls are not counted
        fit(ALL, ALL[:, 0])
    rows = measure(trees)
    header = ["examples", *(f"{name}: {what}" for name in WAYS for what in ("seconds", "recovered %"))]
    note = NOTE.format(trees=trees, slow=min(SLOW, trees))
    write("sat_recovery", "Random trees of depth 5, learnt from examples", header, rows, note)
    draw(rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
