"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def benchmark_data() -> Callable[[str], tuple[pd.DataFrame, pd.Series]]:
    """Load ``family/name`` from the benchmark folder as ``(X, y)``; skip where the folder is missing."""
    folder = Path(os.environ.get("TREEFORM_DATA", ROOT.parent / "shared" / "data"))

    def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
        path = folder / f"{name}.csv.gz"
        if not path.exists():
            pytest.skip(f"benchmark set {name} is not here: set TREEFORM_DATA to the folder that holds it")
        frame = pd.read_csv(path)
        return frame.drop(columns="target"), frame["target"]

    return load
