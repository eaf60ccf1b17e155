"""What ArborEnum counts, beside a brute force of its rules and the trees in normal form.

Drawn tables of two classes, and a price of one error for each leaf. The brute force counts a tree for each choice of
tests, where every test is a threshold of the whole table with rows on both sides at its node, leaves of one class
included; the largest objective is rounded to the nearest whole number. Trees in normal form are those of
`treeform.Problem.near_optimal`, up to the largest objective as it is.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, in_child, plain_table

ROWS, COLUMNS, DEPTH, WITHIN = 30, 3, 2, 0.25


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of values that differ."""
    rng = np.random.default_rng(seed)
    X = rng.random((ROWS, COLUMNS))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(ROWS) < 0.2)).astype(int)


def every_tree(X: np.ndarray, y: np.ndarray, depth: int, cuts: list[np.ndarray]) -> Counter[int]:
    """How many trees there are of each objective."""
    ones = int(y.sum())
    out = Counter([1 + ones, 1 + len(y) - ones])
    for column, values in enumerate(cuts if depth else ()):
        for cut in values.tolist():
            left = X[:, column] <= cut
            if left.any() and not left.all():
                sides = [every_tree(X[part], y[part], depth - 1, cuts) for part in (left, ~left)]
                for one, times in sides[0].items():
                    for other, more in sides[1].items():
                        out[one + other] += times * more
    return out


def arborenum(seed: int) -> tuple[int, int]:
    """Its count, and the least objective in rows."""
    import arborenum as package

    X, y = drawn(seed)
    model = package.ArborEnum()
    model.fit(X, y, lambda_reg=1 / ROWS, depth_budget=DEPTH, rashomon_mult=WITHIN)
    return int(model.count_trees()), round(model.get_min_objective())


def one(seed: int) -> dict[str, Any]:
    """One table."""
    X, y = drawn(seed)
    trees = every_tree(X, y, DEPTH, [(values[:-1] + values[1:]) / 2 for values in np.sort(X.T)])
    up_to = min(trees) * (1 + WITHIN)
    problem = tf.Problem(X, y, shape=tf.Tree(DEPTH)).minimize(tf.Error() + tf.Leaves())
    ended = in_child(arborenum, seed, seconds=60)
    return {
        "optimum": min(trees), "up to": up_to,
        "ArborEnum": None if ended.answer is None else ended.answer[0],
        "its rules": sum(times for cost, times in trees.items() if cost <= round(up_to)),
        "normal form": problem.near_optimal(within=WITHIN, max_models=1).count,
    }  # fmt: skip


plain_table(
    "graph_counting",
    "What ArborEnum counts",
    lambda rows: f"{ROWS} rows, {COLUMNS} columns, depth {DEPTH}, {WITHIN:.0%} above the optimum.",
)


def main(tables: int = 4) -> None:
    """Measure."""
    figures = Figures("graph_counting", ("table",))
    for seed in range(tables):
        figures.measure(partial(one, seed), table=seed)
