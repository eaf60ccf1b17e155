"""Tables for regression: scikit-learn's own, numeric columns of the sets for ConTree, and generated ones."""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from benchmarks.harness import read_set

THRESHOLDS = 10
"""Of each column, at quantiles, where tables are made of zeros and ones."""


CLASSES = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast-cancer": datasets.load_breast_cancer,
}
"""Of these too the last column is the target."""
UNITS = 1e6
"""Targets are rounded to millionths where they are measured."""


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and whole targets.

    Of a set for classification the last numeric column is the target, in millionths. ``signal-ROWS-COLUMNS[-NOISE]`` is
    generated: a line, a wave times a factor, and noise (.3 unless given); ``steps-ROWS-COLUMNS`` is a tree of depth
    three with noise.
    """
    if name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
        return X, y.astype(np.int64)
    if name == "linnerud":
        X, y = datasets.load_linnerud(return_X_y=True)
        return X, y[:, 0].astype(np.int64)
    if name in CLASSES:
        X = CLASSES[name]().data
        return X[:, :-1], np.rint(X[:, -1] * UNITS).astype(np.int64)
    kind, *numbers = name.split("-")
    if kind in ("signal", "steps"):
        rows, columns = map(int, numbers[:2])
        noise = float(numbers[2]) if len(numbers) > 2 else 0.3
        rng = np.random.default_rng(rows)
        X = rng.normal(size=(rows, columns))
        if kind == "signal":
            y = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2]
        else:
            side = X[:, 0] > 0.2
            y = np.where(side, X[:, 1] > -0.4, X[:, 2] > 0.5) + 2 * np.where(side, X[:, 3] > 0, X[:, 0] > -1)
        return X, np.rint(1000 * (y + noise * rng.normal(size=rows))).astype(np.int64)
    frame, _ = read_set("continuous", name)
    matrix = frame.to_numpy(dtype=np.float64)
    return matrix[:, :-1], np.rint(matrix[:, -1] * UNITS).astype(np.int64)


def binary(X: np.ndarray) -> np.ndarray:
    """Tests at quantiles as columns of zeros and ones, each once."""
    made: dict[bytes, np.ndarray] = {}
    for column in X.T:
        for cut in np.unique(np.quantile(column, np.linspace(0, 1, THRESHOLDS + 2)[1:-1], method="lower")):
            test = column <= cut
            if 0 < test.sum() < len(test):
                made.setdefault(test.tobytes(), test)
    return np.array(list(made.values()), dtype=np.int64).T
