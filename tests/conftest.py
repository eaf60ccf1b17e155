"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from treeform.backends.packages import load, shared_library_clash

pytest_plugins = ["drawing", "shuffling", "timing"]

ROOT = Path(__file__).resolve().parent.parent

# Started in the background (nohup, some CI runners), a process inherits "ignore Ctrl-C"; tests that press it need the
# usual handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where highspy and ortools clash, the second one runs in a child. It is HiGHS in every test, whatever ran before.
if shared_library_clash("ortools"):
    load("ortools", "cp-sat", "pip install ortools")


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


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker a run of neighbouring tests, and part of another's when it is done.

    By turns, as is usual, every worker imports what a file needs, sets its fixtures up and enumerates its cases.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
