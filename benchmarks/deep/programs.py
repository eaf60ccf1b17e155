"""The programs that learn deep trees, each behind one function: rows and a limit in, a model that predicts out.

Programs on 0/1 columns get thresholds as columns: quantiles, or those that their own threshold guesser proposes. That
is part of their time. Limits are CPU seconds: ours is interrupted, and the others see a clock of CPU time.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import commit, user_seconds

Floats = NDArray[np.float64]
Predict = Callable[[Floats], NDArray[Any]]


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Press Ctrl-C after so many user CPU seconds of this process, whatever else the machine does.

    A thread looks at the clock: interval timers count by ticks, and miss threads that take short turns.
    """
    over, until = threading.Event(), user_seconds() + seconds

    def press() -> None:
        while (left := until - user_seconds()) > 0:
            if over.wait(max(0.001, left / 2)):
                return
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def limits_count_work() -> None:
    """From here on time limits of this process count the seconds that it works, whatever else the machine does."""
    from treeform.estimators import candidates, cross_validated
    from treeform.solve import result
    from treeform.utils.budget import ProcessorBudget

    for module in (candidates, cross_validated, result):
        module.Budget = ProcessorBudget  # type: ignore[misc]


def treeform(X: Floats, y: NDArray[Any], depth: int, seconds: float, solver: Any = None) -> Predict:
    """The model after so many CPU seconds, of the usual solver unless given; its errors over time are ``CURVE``."""
    import treeform as tf

    CURVE.clear()
    began = user_seconds()

    def note(now: tf.Progress) -> None:
        if now.upper is not None and (not CURVE or now.upper < CURVE[-1][1]):
            CURVE.append((round(user_seconds() - began, 3), int(now.upper)))

    usual = tf.DL85() if np.isin(X, (0, 1)).all() else tf.ConTree(threads=1)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    with interrupted_after(seconds):
        graph = problem.solve(solver or usual, on_progress=note).graph
    assert graph is not None
    return lambda rows: np.asarray(graph.predict(rows))


def cart(criterion: str) -> Callable[..., Predict]:
    """scikit-learn's greedy tree."""

    def fit(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(criterion=criterion, max_depth=depth, random_state=0)
        return tree.fit(X, y).predict  # type: ignore[no-any-return]

    return fit


def quantile_columns(X: Floats, count: int) -> Callable[[Floats], NDArray[np.bool_]]:
    """Columns ``x <= t`` for up to ``count`` quantiles t of each feature."""
    at = np.linspace(0, 1, count + 2)[1:-1]
    cuts = [np.unique(np.quantile(column, at, method="lower")) for column in X.T]
    return lambda rows: np.column_stack([rows[:, j : j + 1] <= cut for j, cut in enumerate(cuts) if len(cut)])


def licketysplit(lookahead: int, columns: int = 0, trees: int = 0) -> Callable[..., Predict]:
    """LicketySPLIT on quantiles, or on the thresholds of so many boosted trees (its own guesser).

    The guesser's elimination of columns is off: it takes longer than ten seconds on ten thousand rows.
    """

    def fit(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
        from licketysplit import LicketySPLITClassifier, ThresholdGuessBinarizer

        binary: Callable[[Floats], Any] = (
            ThresholdGuessBinarizer(n_estimators=trees, column_elimination=False).fit(X, y).transform
            if trees
            else quantile_columns(X, columns)
        )
        model = LicketySPLITClassifier(lambda_leaf=0.0, depth_budget=depth, lookahead_k=lookahead)
        model.fit(np.asarray(binary(X), dtype=np.uint8), y)
        return lambda rows: np.asarray(model.predict(np.asarray(binary(rows), dtype=np.uint8)))

    return fit


def lgdt(columns: int) -> Callable[..., Predict]:
    """LGDT of pytrees-rs, a lookahead tree on 0/1 columns."""

    def fit(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
        from pytrees import LGDTClassifier

        binary = quantile_columns(X, columns)
        model = LGDTClassifier(max_depth=depth).fit(binary(X).astype(np.float64), y)
        return lambda rows: np.asarray(model.predict(binary(rows).astype(np.float64)))

    return fit


def ca_dl85(columns: int) -> Callable[..., Predict]:
    """CA-DL8.5 of pytrees-rs, limited discrepancies."""

    def fit(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
        from pytrees import DL85Classifier
        from pytrees.rules import DiscrepancyRule

        binary = quantile_columns(X, columns)
        model = DL85Classifier(
            max_depth=depth, max_time=seconds, heuristic="information_gain", discrepancy=DiscrepancyRule()
        )
        model.fit(binary(X).astype(np.float64), y)
        return lambda rows: np.asarray(model.predict(binary(rows).astype(np.float64)))

    return fit


def pydl85(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """The first implementation of DL8.5, on 20 quantiles; its limit is in whole seconds."""
    from pydl85 import DL85Classifier

    binary = quantile_columns(X, 20)
    model = DL85Classifier(max_depth=depth, time_limit=max(1, round(seconds)))
    model.fit(binary(X).astype(np.int64), y)
    return lambda rows: np.asarray(model.predict(binary(rows).astype(np.int64)))


def contree_lds(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """ConTree of pytrees-rs with limited discrepancies."""
    from pytrees import ConTreeClassifier

    model = ConTreeClassifier(max_depth=depth, max_time=seconds, sort_by_heuristic=True, use_lds=True).fit(
        X, y
    )
    return lambda rows: np.asarray(model.predict(rows))


def rollotree(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """Rolling horizon of depth two."""
    from rollotree import RollingOCT

    binary = quantile_columns(X, 20)
    model = RollingOCT(depth=depth, criterion="misclassification", total_time_limit=seconds)
    model.fit(binary(X).astype(np.int64), y)
    return lambda rows: np.asarray(model.predict(binary(rows).astype(np.int64)))


def pystreed(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """STreeD on 20 quantiles."""
    from pystreed import STreeDClassifier

    binary = quantile_columns(X, 20)
    model = STreeDClassifier(max_depth=depth, max_num_nodes=2**depth - 1, time_limit=seconds)
    model.fit(binary(X).astype(np.int64), y)
    return lambda rows: np.asarray(model.predict(binary(rows).astype(np.int64)))


def pycontree(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """The reference implementation of ConTree."""
    from pycontree import ConTree

    model = ConTree(max_depth=depth, time_limit=seconds)
    model.fit(X, y)
    return lambda rows: np.asarray(model.predict(rows))


def gosdt(X: Floats, y: NDArray[Any], depth: int, seconds: float) -> Predict:
    """GOSDT on 20 quantiles, at the least regularisation."""
    from gosdt import GOSDTClassifier, _classifier
    from sklearn.utils.validation import check_array as check

    # scikit-learn has given one of its parameters another name
    _classifier.check_array = lambda *given, force_all_finite=True, **more: check(
        *given, ensure_all_finite=force_all_finite, **more
    )
    binary = quantile_columns(X, 20)
    model = GOSDTClassifier(
        depth_budget=depth + 1,
        regularization=1 / len(X),
        allow_small_reg=True,
        time_limit=max(1, round(seconds)),
    )
    model.fit(binary(X), y)
    return lambda rows: np.asarray(model.predict(binary(rows)))


CURVE: list[tuple[float, int]] = []
"""CPU seconds and errors of the models of the last run of `treeform`."""
OURS = "treeform"
EARLIER, BEFORE = "treeform of 23 November", "4a7b8567"
"""The version without a search for deep trees, and its commit."""
PROGRAMS: dict[str, Callable[..., Predict]] = {
    OURS: treeform,
    EARLIER: treeform,
    "CART, gini": cart("gini"),
    "CART, entropy": cart("entropy"),
    "licketysplit, thresholds of 10 trees": licketysplit(1, trees=10),
    "licketysplit, thresholds of 30 trees": licketysplit(1, trees=30),
    "licketysplit, thresholds of 100 trees": licketysplit(1, trees=100),
    "licketysplit, thresholds of 10 trees, lookahead 2": licketysplit(2, trees=10),
    "licketysplit, 20 quantiles": licketysplit(1, columns=20),
    "licketysplit, 50 quantiles": licketysplit(1, columns=50),
    "LGDT, 20 quantiles": lgdt(20),
    "LGDT, 50 quantiles": lgdt(50),
    "CA-DL8.5, 20 quantiles": ca_dl85(20),
    "pydl8.5, 20 quantiles": pydl85,
    "ConTree of pytrees-rs, discrepancies": contree_lds,
    "rollotree, 20 quantiles": rollotree,
    "pystreed, 20 quantiles": pystreed,
    "pycontree": pycontree,
    "gosdt, 20 quantiles": gosdt,
}
PACKAGES = {
    "CART": "scikit-learn", "LGDT": "pytrees-rs", "CA-DL8.5": "pytrees-rs", "ConTree of pytrees-rs": "pytrees-rs"
}  # fmt: skip
"""Where they come from, if they have another name than their package."""
ANYTIME = {
    OURS,
    "CA-DL8.5, 20 quantiles",
    "pydl8.5, 20 quantiles",
    "ConTree of pytrees-rs, discrepancies",
    "rollotree, 20 quantiles",
    "pystreed, 20 quantiles",
    "pycontree",
    "gosdt, 20 quantiles",
}
"""Programs that use the time they are given; the others are run once, and count from when they end."""


def version_of(program: str) -> str:
    """The version of the package of a program; of treeform with the commit."""
    if program.startswith(OURS):
        import treeform

        if (BEFORE in str(treeform.__file__)) != (program == EARLIER):
            raise SystemExit(f"{program}: treeform is imported from {treeform.__file__}")
        return f"{version(OURS)} {BEFORE if program == EARLIER else commit()}"
    name = program.split(",")[0]
    return version(PACKAGES.get(name, name))
