"""Deep trees elsewhere: for regression, and on very many columns, beside CART of the same depth.

Each run is a process of its own, of so many user CPU seconds of one thread, from arrays to model. Labels of wide tables
are noisy sums of ten columns, and of a product of two. Regression is beside LicketySPLIT, too, where that is installed,
and beside DPDT as its paper states it (Kohler, Akrour and Preux, KDD 2025, arXiv 2309.12701; it is not on PyPI): of
trees whose tests at each node are those of CART's tree of its rows with so many leaves, the one with the least error.
The time of these two is not limited.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks.deep.programs import interrupted_after, quantile_columns, version_of
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, read_set, table, user_seconds

REGRESSION = ("continuous/magic", "continuous/bean", "continuous/eeg")
WIDE = ((1000, 1000), (1000, 10_000), (60, 10_000))
PEER = "licketysplit"
THRESHOLDS = {"20 quantiles": 0, "thresholds of 30 trees": 30}
"""Settings of the peer, and the boosted trees whose thresholds it takes."""
DPDT = "DPDT"
LEAVES = {"32 leaves": (32,), "8 and 8 leaves": (8, 8)}
"""Its settings: leaves of the trees from the root down, two below."""


def regression(name: str, depth: int, seconds: float) -> dict[str, Any]:
    """Squared errors; the target is the last column of features."""
    from sklearn.tree import DecisionTreeRegressor

    import treeform as tf

    X, y = _numbers(name)
    rest = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).predict(X) - y
    problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.SquaredError())
    return _solved(problem, seconds) | {"CART": round(float((rest**2).sum()), 3)}


def of_peer(name: str, setting: str, depth: int, seconds: float) -> dict[str, Any]:
    """Squared errors of LicketySPLIT; the bound and CART's are those of `regression`."""
    from licketysplit import LicketySPLITRegressor, ThresholdGuessBinarizer

    X, y = _numbers(name)
    began = user_seconds()
    trees = THRESHOLDS[setting]
    guesser = ThresholdGuessBinarizer(n_estimators=trees, column_elimination=False, task="regression")
    binary = guesser.fit(X, y).transform(X) if trees else quantile_columns(X, 20)(X)
    model = LicketySPLITRegressor(lambda_leaf=0.0, depth_budget=depth)
    model.fit(np.asarray(binary, dtype=np.uint8), y)
    spent = user_seconds() - began
    rest = model.predict(np.asarray(binary, dtype=np.uint8)) - y
    version = version_of(f"{PEER}, {setting}")
    return {"value": f"{float((rest**2).sum()):.10g}", "seconds": round(spent, 2), "version": version}


def of_dpdt(name: str, setting: str, depth: int, seconds: float) -> dict[str, Any]:
    """The same of the least tree whose tests are CART's."""
    X, y = _numbers(name)
    began = user_seconds()
    value = _least_of_carts(X, y, LEAVES[setting], depth)
    return {"value": f"{value:.10g}", "seconds": round(user_seconds() - began, 2), "version": commit()}


def _least_of_carts(X: Any, y: Any, leaves: tuple[int, ...], depth: int) -> float:
    from sklearn.tree import DecisionTreeRegressor

    least = float(((y - y.mean()) ** 2).sum())
    if depth == 0 or least == 0:
        return least
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves[0] if leaves else 2, random_state=0).fit(X, y).tree_
    for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
        left = X[:, feature] <= threshold
        if feature >= 0 and 0 < left.sum() < len(y):
            sides = (_least_of_carts(X[side], y[side], leaves[1:], depth - 1) for side in (left, ~left))
            least = min(least, sum(sides))
    return least


def _numbers(name: str) -> tuple[Any, Any]:
    X, _ = _table(name, 8000)
    return np.ascontiguousarray(X[:, :-1]), np.round(X[:, -1] * 10_000)


def wide(rows: int, columns: int, depth: int, seconds: float) -> dict[str, Any]:
    """Errors on a table of normal values."""
    import treeform as tf

    X, y = noisy_sums(rows, columns)
    return _solved(tf.Problem(X, y, shape=tf.Tree(depth)), seconds) | {"CART": _cart_errors(X, y, depth)}


def noisy_sums(rows: int, columns: int) -> tuple[Any, Any]:
    """Normal values, and labels by ten of the columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    score = X[:, :10] @ rng.normal(size=10) + X[:, 0] * X[:, 1]
    return X, (score + 1.5 * rng.normal(size=rows) > 0).astype(int)


def _table(name: str, rows: int) -> tuple[Any, Any]:
    X, y = read_set(*name.split("/"))
    chosen = np.random.default_rng(0).permutation(len(X))[:rows]
    return np.ascontiguousarray(X.to_numpy(float)[chosen]), y.to_numpy()[chosen]


def _cart_errors(X: Any, y: Any, depth: int) -> int:
    from sklearn.tree import DecisionTreeClassifier

    return int((DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y).predict(X) != y).sum())


def _solved(problem: Any, seconds: float) -> dict[str, Any]:
    began = user_seconds()
    with interrupted_after(seconds):
        result = problem.solve()
    return {
        "value": "" if result.objective is None else f"{float(result.objective):.10g}",
        "bound": f"{float(result.bound):.6g}",
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


def _rows(rows: Rows, kind: str) -> list[dict[str, str]]:
    return [r for r in rows.frame.to_dict("records") if r["kind"] == kind and r["value"]]


def _shown(title: str, rows: Rows, kind: str, note: str) -> Shown:
    import pandas as pd

    lines = [
        {"table": r["case"], "depth": r["depth"], "CART": f"{float(r['CART']):,.0f}",
         "treeform": f"{float(r['value']):,.0f}",
         "part of CART's": f"{(float(r['value']) + 1) / (float(r['CART']) + 1):.3f}",
         "bound": f"{float(r['bound']):,.0f}"}
        for r in sorted(_rows(rows, kind), key=lambda r: r["case"])
    ]  # fmt: skip
    after = f"{note} After {rows.facts['seconds']} user CPU seconds. Parts of CART's: with one added to both."
    return Shown(title, pd.DataFrame(lines), after)


@table("deep_regression", source="deep_elsewhere")
def of_regression(rows: Rows) -> Shown:
    """Tables and depths; of the peer the setting with the least errors."""
    note = (
        "The target is the last feature of the set. LicketySPLIT (20 quantiles, or the thresholds of 30 boosted trees)"
        f"{' and DPDT (CART with 32 leaves, or 8 and 8)' if _rows(rows, f'{DPDT}, {next(iter(LEAVES))}') else ''}: "
        "the better setting, in brackets its CPU seconds, which were not limited."
    )
    shown = _shown("Squared errors of deep trees", rows, "regression", note)
    for program, settings in ((DPDT, list(LEAVES)), (PEER, list(THRESHOLDS))):
        peers: dict[tuple[str, str], list[tuple[float, str, str]]] = {}
        for setting in settings:
            for r in _rows(rows, f"{program}, {setting}"):
                peers.setdefault((r["case"], r["depth"]), []).append((float(r["value"]), r["seconds"], setting))
        best = [min(peers.get((r["table"], r["depth"]), []), default=None) for r in shown.frame.to_dict("records")]
        if any(best):
            cells = ["" if one is None else f"{one[0]:,.0f} ({one[1]} s, {one[2]})" for one in best]
            shown.frame.insert(3, program, cells)
    return shown


@table("deep_wide", source="deep_elsewhere")
def of_wide(rows: Rows) -> Shown:
    """Tables and depths."""
    return _shown("Errors on very many columns", rows, "wide", "Rows x columns.")


def main(seconds: float = 5, depths: str = "4,6") -> None:
    """Measure; the peer only where it is installed."""
    figures = Figures("deep_elsewhere", ("kind", "case", "depth"), seconds=f"{seconds:g}")
    empty = dict.fromkeys(("value", "bound", "seconds", "version", "CART"), "")
    for depth in map(int, depths.split(",")):
        cases: list[tuple[str, str, Any, tuple[Any, ...]]] = [
            *(("regression", name, regression, (name,)) for name in REGRESSION),
            *(("wide", f"{rows} x {columns}", wide, (rows, columns)) for rows, columns in WIDE),
        ]
        beside = [(DPDT, LEAVES, of_dpdt), *([(PEER, THRESHOLDS, of_peer)] if find_spec(PEER) else [])]
        for program, settings, function in beside:
            each = product(REGRESSION, settings)
            cases += [(f"{program}, {setting}", name, function, (name, setting)) for name, setting in each]
        for kind, case, function, given in cases:
            figures.measure(
                lambda f=function, g=given, d=depth: in_child(f, *g, d, seconds, seconds=9 * seconds + 60).answer
                or empty,
                kind=kind, case=case, depth=depth,
            )  # fmt: skip
