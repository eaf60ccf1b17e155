"""Tables for regression: scikit-learn's diabetes data, numeric columns of the sets for ConTree, and generated ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from benchmarks.harness import read_set

THRESHOLDS = 10
"""Of each column, at quantiles, where tables are made of zeros and ones."""


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and whole targets.

    Of a set for classification the last numeric column is the target, in millionths. ``signal-ROWS-COLUMNS`` is
    generated: a line, a wave times a factor, and noise.
    """
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, scaled=False)
        return X, y.astype(np.int64)
    if name.startswith("signal-"):
        rows, columns = map(int, name.split("-")[1:])
        rng = np.random.default_rng(rows)
        X = rng.normal(size=(rows, columns))
        y = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + 0.3 * rng.normal(size=rows)
        return X, np.rint(1000 * y).astype(np.int64)
    frame, _ = read_set("continuous", name)
    matrix = frame.to_numpy(dtype=np.float64)
    return matrix[:, :-1], np.rint(matrix[:, -1] * 1e6).astype(np.int64)


def binary(X: np.ndarray) -> np.ndarray:
    """Tests at quantiles as columns of zeros and ones, each once."""
    made = []
    for column in X.T:
        cuts = np.unique(np.quantile(column, np.linspace(0, 1, THRESHOLDS + 2)[1:-1], method="lower"))
        made += [column <= cut for cut in cuts if 0 < (column <= cut).sum() < len(column)]
    return np.asarray(pd.DataFrame(np.array(made).T.astype(np.int64)).T.drop_duplicates().T)
