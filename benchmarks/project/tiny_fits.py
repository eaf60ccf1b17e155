"""The overhead of a fit: 100 rows, three columns and depth two, where the search takes almost no time.

CPU milliseconds per call are those of the fastest of ten rounds. cProfile counts the function calls, which are the same
on every machine.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, plain_table


def fits() -> dict[str, Callable[[], Any]]:
    """The calls that are measured, by their names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    return {
        "OptimalTreeClassifier.fit": lambda: tf.OptimalTreeClassifier(max_depth=2).fit(X, y),
        "Problem.solve": lambda: tf.Problem(X, y, shape=tf.Tree(2)).solve(),
    }


def cost(fit: Callable[[], Any], calls: int) -> dict[str, Any]:
    """The figures of one call, measured in rounds of `calls` of them."""
    rounds = []
    for _ in range(10):
        began = time.process_time()
        for _ in range(calls):
            fit()
        rounds.append(1000 * (time.process_time() - began) / calls)
    profile = cProfile.Profile()
    profile.runcall(fit)
    counted = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return {"CPU ms": f"{min(rounds):.2f}", "function calls": counted}


plain_table(
    "tiny_fits",
    "A fit of 100 rows and three columns at depth two",
    lambda rows: "CPU milliseconds of a call, in the fastest of ten rounds, and the function calls in it.",
)


def main(calls: int = 50) -> None:
    """Measure, with `calls` calls in each round."""
    figures = Figures("tiny_fits", ("call",))
    for name, fit in fits().items():
        figures.measure(partial(cost, fit, calls), call=name)
