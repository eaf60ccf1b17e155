"""How fast a model of a million rows is built and handed to HiGHS, and how much memory that takes.

The model has the shape of FlowOCT (Aghaei, Gomez, Vayanos, "Strong Optimal Classification Trees", 2021): a
complete tree, binary features, for each sample a flow from the root to a leaf of its class,

    z[i, v] = z[i, left(v)] + z[i, right(v)]            flow conservation
    z[i, left(v)]  <= sum(b[v, f] : X[i, f] = 0)        left only where the test says 0
    z[i, right(v)] <= sum(b[v, f] : X[i, f] = 1)        right only where the test says 1
    z[i, leaf]     <= w[leaf, y[i]]                     a leaf is reached by its own class only

Each stage runs in a process of its own, so that the peaks are its own.
"""

from __future__ import annotations

import resource
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figures, in_child, plain_table


def tree_model(n: int, n_features: int, depth: int) -> Any:
    """The rows above for random data of ``n`` samples."""
    from treeform.model import Model, exactly

    rng = np.random.default_rng(0)
    X = rng.random((n, n_features)) < 0.5
    y = rng.integers(0, 2, n)
    tests, leaves = 2**depth - 1, 2**depth
    v = np.arange(tests)
    left, right = 2 * v + 1, 2 * v + 2

    m = Model("flow")
    b = m.bool("b", (tests, n_features))
    w = m.bool("w", (leaves, 2))
    z = m.bool("z", (n, tests + leaves), relax=True)
    m.add(exactly(b, 1, axis=1), "one feature")
    m.add(exactly(w, 1, axis=1), "one label")
    m.add(z[:, v] == z[:, left] + z[:, right], "flow conservation")
    m.add(z[:, left] <= (1 - X) @ b.T, "left only where the test says 0")
    m.add(z[:, right] <= X @ b.T, "right only where the test says 1")
    m.add(z[:, tests:] <= w.T[y], "a leaf takes its own class")
    m.minimize(n - z[:, 0].sum())
    return m


def hand_over(m: Any) -> None:
    """Rewrite to plain linear rows and pass the arrays to HiGHS."""
    import highspy

    from treeform.bridges import LINEAR, route
    from treeform.model import concatenate_linear

    class Accepts:
        forms = frozenset({LINEAR})
        continuous = integer = True
        squares = False

    lowered = route(Accepts()).apply(m)
    rows = concatenate_linear(lowered.blocks)
    cost = np.zeros(lowered.n_cols)
    cost[lowered.objective.cols] = lowered.objective.vals
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = lowered.n_cols, rows.n_rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lowered.lb, lowered.ub
    lp.row_lower_, lp.row_upper_ = rows.lo, rows.hi
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = rows.indptr.astype(np.int32)
    lp.a_matrix_.index_ = rows.cols.astype(np.int32)
    lp.a_matrix_.value_ = rows.vals
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[i] for i in lowered.is_integer.astype(int).tolist()]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.passModel(lp) == highspy.HighsStatus.kOk
    assert solver.getNumRow() == rows.n_rows


def stage(n: int, n_features: int, depth: int, load: bool) -> list[float]:
    """Rows, terms, seconds of building and of handing over, peak of memory in MB above the imports, and in all."""
    import highspy

    import treeform.bridges

    assert highspy
    assert treeform.bridges
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    m = tree_model(n, n_features, depth)
    built = time.perf_counter()
    if load:
        hand_over(m)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = sum(block.n_rows for block in m.blocks)
    terms = sum(block.n_terms for block in m.blocks)
    return [rows, terms, built - start, end - built, peak - base, peak]


def alone(n: int, n_features: int, depth: int, load: bool) -> dict[str, Any]:
    """A line of the table, measured in a process of its own."""
    done = in_child(stage, n, n_features, depth, load)
    if done.answer is None:
        raise SystemExit(done.how)
    count, terms, build, over, added, peak = done.answer
    return {
        "rows": f"{count:,}", "terms": f"{terms:,}", "build (s)": f"{build:.2f}",
        "hand-over (s)": f"{over:.2f}" if load else "-", "rows/s": f"{count / (build + over):,.0f}",
        "peak above imports (MB)": f"{added:.0f}", "peak (MB)": f"{peak:.0f}",
    }  # fmt: skip


plain_table(
    "model_build",
    "Building a model of a million rows",
    lambda rows: "Wall seconds; each stage in a process of its own. The model is FlowOCT's, for random binary data.",
)


def main(samples: int = 19_000, features: int = 20, depth: int = 4) -> None:
    """Measure."""
    figures = Figures("model_build", ("stage",))
    for name, load in (("build", False), ("build and hand over to HiGHS", True)):
        figures.measure(partial(alone, samples, features, depth, load), stage=name)
