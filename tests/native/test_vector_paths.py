"""Every engine of the core with each instruction set that this processor has, at depth two to four: the same answer.

Numbers of rows beside the width of a register, and columns of every width. Under sanitizers (``.ci/sanitize``) these
are the searches that show a read beyond an array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bindings_fuzz import runs_here

import treeform as tf
from treeform.engines.checks import PATHS, SCAN_PATHS

ROWS = (31, 33, 70)
DEPTHS = (2, 3, 4)


def table(seed: int, rows: int, features: int, values: int) -> tuple[Any, Any, np.random.Generator]:
    pick = np.random.default_rng(seed)
    X = pick.integers(0, values, (rows, features)).astype(float)
    y = np.concatenate([[0, 1], pick.integers(0, 2, rows - 2)])
    return X, y, pick


def trees(values: int, features: int, classes: int = 2) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, y, pick = table(seed, rows, features, values)
        y[2 : 2 + classes] = np.arange(classes)
        weight = pick.integers(1, 100_000 if seed % 3 else 10, rows) if seed % 2 else None
        return tf.Problem(X, y, shape=f"tree:{depth}", sample_weight=weight)

    return made


def with_parity(values: int, features: int) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, y, _ = table(seed, rows, features, values)
        one = tf.Problem(X, y, shape=f"tree:{depth}") + tf.MinSupport(2)
        return one + tf.StatisticalParity(groups=np.arange(rows) % 2, difference=0.1)

    return made


def of_values(loss: type[Any]) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, _, pick = table(seed, rows, 3, 9)
        target = pick.integers(0, 9, rows).astype(float)
        weight = pick.integers(1, 5, rows) if seed % 2 else None
        return tf.Problem(X, target, shape=f"tree:{depth}", sample_weight=weight).minimize(loss())

    return made


def diagrams(seed: int, rows: int, depth: int) -> tf.Problem:
    X, y, _ = table(seed, rows, 3, 5)
    return tf.Problem(X, y, shape="diagram:" + ",".join(["1", *["2"] * (depth - 1)]))


CASES: dict[str, tuple[Callable[..., Any], tuple[str, ...], Callable[[int, int, int], tf.Problem]]] = {
    "contree": (tf.ConTree, SCAN_PATHS, trees(40, 3)),
    "contree, three classes": (tf.ConTree, SCAN_PATHS, trees(40, 3, classes=3)),
    "dl85": (tf.DL85, PATHS, trees(2, 6)),
    "cadl85": (tf.CADL85, PATHS, trees(2, 6)),
    "blossom": (tf.Blossom, PATHS, trees(2, 5)),
    "diagrams": (tf.DiagramSearch, PATHS, diagrams),
    "totals": (tf.TotalsSearch, PATHS, with_parity(2, 5)),
    "totals over thresholds": (tf.ContinuousTotals, SCAN_PATHS, with_parity(9, 3)),
    "squared errors": (tf.RegressionSearch, PATHS, of_values(tf.SquaredError)),
    "absolute errors": (tf.RegressionSearch, PATHS, of_values(tf.AbsoluteError)),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES)
def test_each_instruction_set_gives_the_same_answer(case: str, depth: int) -> None:
    make, paths, problem = CASES[case]
    here = [path for path in paths if path != "auto" and runs_here(path)]
    assert "plain" in here
    for seed, rows in enumerate(ROWS):
        stated = problem(seed, rows, depth)
        found = {path: stated.solve(make(simd=path), warm_start=None) for path in here}
        assert {one.status for one in found.values()} <= {tf.Status.OPTIMAL, tf.Status.INFEASIBLE}
        assert len({(one.status, one.objective) for one in found.values()}) == 1, {
            path: (one.status, one.objective) for path, one in found.items()
        }
