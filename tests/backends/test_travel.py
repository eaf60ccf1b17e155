"""How long a large model takes to the process of its solver."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from timing import Timed

from treeform.backends import HiGHS, Isolated
from treeform.backends.child import Child
from treeform.model import Linear, Model

ROWS, TERMS, COLUMNS = 10**6, 3, 300_000


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_million_rows_take_less_than_three_tenths_of_a_second(timed: Timed) -> None:
    """In CPU seconds of both processes, since a busy machine gives neither all of its time."""
    rng = np.random.default_rng(0)
    model = Model()
    x = model.bool("x", COLUMNS)
    first, step = rng.integers(0, COLUMNS, (ROWS, 1)), rng.integers(1, COLUMNS // TERMS, (ROWS, 1))
    columns = ((first + step * np.arange(TERMS)) % COLUMNS).ravel()
    starts, most = np.arange(0, ROWS * TERMS + 1, TERMS), np.full(ROWS, float(TERMS))
    model.blocks.append(Linear("rows", starts, columns, np.ones(ROWS * TERMS), np.full(ROWS, -np.inf), most))
    model.minimize(x.sum())
    session = Isolated(HiGHS()).open(model)
    growth = session._growth()  # type: ignore[attr-defined]
    child = Child()
    try:
        child.start()
        watch = SimpleNamespace(ending=False)
        assert child.call("builtins", "len", {}, watch) == 0  # it has started by now
        here, there = time.process_time(), cpu_seconds(child.pid)
        assert child.call("builtins", "len", {"growth": growth}, watch) == 1
        timed(time.process_time() - here + cpu_seconds(child.pid) - there, 0.3)
    finally:
        child.close()
        session.close()
