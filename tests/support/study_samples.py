"""A small table, and a problem under parity on it, for tests of sweeps."""

from __future__ import annotations

import numpy as np
import pandas as pd

import treeform as tf

SAME = ["run", "status", "objective", "bound", "train_error", "test_error", "tests", "depth"]
"""Columns that do not depend on who works."""


def table(n: int = 90, seed: int = 0) -> pd.DataFrame:
    """Three columns of numbers, groups, and labels that depend on both."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (n, 3)), columns=["a", "b", "c"])
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["y"] = np.where(rng.random(n) < 0.15, 1, 0) ^ (frame["a"] + (frame["sex"] == "f") > 2)
    return frame


def under_parity() -> tf.Problem:
    """Trees of depth two on `table`, whose groups are accepted alike."""
    out = tf.Problem(table(), "y", shape="tree:2", exclude=["sex"])
    return out.add(tf.StatisticalParity("sex", difference="0.1", positive=1))
