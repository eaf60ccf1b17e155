"""Limits on memory, beside what was used: every native engine and every solver, on problems that need more.

Of a native engine it is by how much the process grew at most, while the engine ran; of a solver, the peak of its own
process, Python and libraries included. Each run has a process of its own, on Linux. Problems are drawn at random.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figures, Rows, Shown, in_child, table
from treeform.utils.budget import Budget

MEGA = 2**20
#: Engine, rows, columns, depth, limit in megabytes.
ENGINES = (
    ("ConTree", "numbers", 100_000, 30, 3, 64),
    ("ConTree", "numbers", 100_000, 30, 3, 160),
    ("DL85", "numbers", 3_000, 10, 4, 96),
    ("DL85", "numbers", 3_000, 10, 4, 256),
    ("DL85", "bits", 20_000, 100, 6, 64),
    ("CADL85", "bits", 20_000, 100, 6, 64),
    ("Blossom", "bits", 100_000, 200, 6, 64),
    ("DiagramSearch", "numbers", 5_000, 20, 3, 64),
    ("PathSearch", "bits", 5_000, 60, 4, 64),
    ("PathSearch", "numbers", 500, 8, 3, 32),
    ("PathSearch", "numbers", 500, 8, 3, 128),
    ("TotalsSearch", "numbers", 2_000, 10, 3, 256),
    ("TotalsSearch", "bits", 3_000, 60, 5, 64),
    ("ContinuousTotals", "numbers", 150_000, 10, 3, 64),
    ("RegressionSearch", "numbers", 150_000, 20, 3, 96),
    ("RegressionSearch", "numbers", 150_000, 20, 3, 144),
    ("RegressionSearch", "absolute", 100_000, 20, 3, 96),
    ("RegressionSearch", "bits", 100_000, 100, 3, 128),
)
#: Solver, columns, rows of the model, limit in megabytes.
SOLVERS = (
    ("highs", 300_000, 1_000_000, 600),
    ("cp-sat", 100_000, 500_000, 600),
    ("scip", 100_000, 500_000, 600),
    ("cbc", 100_000, 500_000, 600),
    ("glpk", 100_000, 500_000, 600),
    ("appsi_highs", 100_000, 500_000, 600),
    ("cadical153", 400_000, 1_500_000, 290),
    ("glucose42", 400_000, 1_500_000, 290),
    ("kissat404", 400_000, 1_500_000, 290),
    ("lingeling", 400_000, 1_500_000, 290),
    ("rc2", 400_000, 1_500_000, 290),
)


def status(field: str, process: str | int = "self") -> int:
    """Bytes that the system tells of a process; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), 0)


def problem(kind: str, name: str, rows: int, columns: int, depth: int) -> Any:
    """A problem of drawn data."""
    import treeform as tf

    pick = np.random.default_rng(0)
    X = (
        pick.integers(0, 2, (rows, columns)).astype(float)
        if kind == "bits"
        else pick.normal(size=(rows, columns))
    )
    noise = pick.normal(size=rows)
    value = X[:, 0] * X[:, 1] + X[:, 2] / 2 + noise
    shape = tf.Diagram(1, 2, 3) if "Diagram" in name else tf.Tree(depth)
    if name == "RegressionSearch":
        made = tf.Problem(X, np.round(value * 100) + 0.5, shape=shape)
        made.minimize(tf.AbsoluteError() if kind == "absolute" else tf.SquaredError())
        return made
    made = tf.Problem(X, value > 0.5, shape=shape)
    if name == "PathSearch":
        made += tf.OncePerPath()
    if "Totals" in name:
        made += tf.StatisticalParity(pick.integers(0, 2, rows), difference=0.0005)
    return made


def engine_run(
    name: str, kind: str, rows: int, columns: int, depth: int, limit: int, seconds: float
) -> dict[str, Any]:
    """In a process of its own: the engine alone, on the task that a solve gives it."""
    import treeform as tf
    from treeform.engines.task import EngineRun

    asked: list[Any] = []

    class Taken(Exception):
        pass

    class Taking(getattr(tf, name)):  # type: ignore[misc]
        def run(self, data: Any, task: Any, run: Any) -> Any:
            asked[:] = data, task
            raise Taken

    with contextlib.suppress(Taken):
        problem(kind, name, rows, columns, depth).solve(Taking(), warm_start=None, time_limit=600)
    engine = getattr(tf, name)(memory_limit=limit * MEGA)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    outcome = engine.run(*asked, EngineRun(Budget(seconds)))
    peak = (status("VmHWM") - before) / MEGA
    end = "a table is refused" if outcome.notes else outcome.reason or "optimal"
    return {"peak MB": round(peak, 1), "of the limit": round(peak / limit, 2), "end": end}


def model_of(columns: int, rows: int, clauses: bool, objective: bool) -> Any:
    """Random rows over 0/1 columns."""
    from treeform.model import Clause, Linear, Model

    pick, width = np.random.default_rng(0), 3 if clauses else 8
    model = Model()
    x = model.bool("x", columns)
    step = pick.integers(1, columns // width, (rows, 1)) * np.arange(width)
    cols = (pick.integers(0, columns, (rows, 1)) + step) % columns
    ends = np.arange(0, rows * width + 1, width)
    if clauses:
        model.blocks.append(Clause("c", ends, ((cols + 1) * pick.choice([-1, 1], cols.shape)).ravel()))
    else:
        weights = pick.integers(1, 20, rows * width).astype(float)
        sides = np.full(rows, -np.inf), np.full(rows, width * 4.0)
        model.blocks.append(Linear("l", ends, cols.ravel(), weights, *sides))
    if objective:
        model.minimize(-(pick.integers(1, 9, columns).astype(float) @ x))
    return model


def solver_run(name: str, columns: int, rows: int, limit: int, seconds: float) -> dict[str, Any]:
    """In a process of its own, whose child the solver is."""
    import treeform as tf
    from treeform.backends import SAT, MaxSAT, Pyomo, Run
    from treeform.backends.registry import by_name

    own = {"cbc": Pyomo, "glpk": Pyomo, "appsi_highs": Pyomo, "kissat404": SAT, "lingeling": SAT}
    if name == "rc2":
        solver: Any = MaxSAT(memory_limit=limit)
    else:
        solver = own[name](name, memory_limit=limit) if name in own else tf.Isolated(by_name(name), limit)
    linear = name in ("highs", "cp-sat", "scip", "cbc", "glpk", "appsi_highs")
    session = solver.open(model_of(columns, rows, not linear, linear or name == "rc2"))
    peak, ended = [0], threading.Event()

    def sample_memory() -> None:
        while not ended.wait(0.002):
            pid = session._child.pid
            if pid:
                programs = Path(f"/proc/{pid}/task/{pid}/children")
                each = [pid, *(programs.read_text().split() if programs.exists() else [])]
                peak[0] = max(peak[0], *(status("VmHWM", one) for one in each))

    watcher = threading.Thread(target=sample_memory)
    watcher.start()
    began = time.monotonic()
    outcome = session.solve(Run(Budget(seconds)))
    ended.set()
    watcher.join()
    session.close()
    end = f"{outcome.verdict.value}, {outcome.reason}" if outcome.reason else outcome.verdict.value
    used = peak[0] / MEGA
    return {
        "peak MB": round(used, 1),
        "of the limit": round(used / limit, 2),
        "end": end,
        "elapsed s": round(time.monotonic() - began, 1),
    }


@table("memory-engines")
def engines(rows: Rows) -> Shown:
    """What the engines used."""
    return Shown("Native engines: growth of the process", rows.frame, _words(rows))


@table("memory-solvers")
def solvers(rows: Rows) -> Shown:
    """What the solvers used."""
    return Shown("Solvers: peak of their process", rows.frame, _words(rows))


def _words(rows: Rows) -> str:
    most = max(float(cell) for cell in rows.frame["of the limit"] if cell)
    return f"At most {most:.2f} times the limit. Each run was given {rows.facts['seconds']} s."


def in_own_process(run: Any, *given: Any) -> dict[str, Any]:
    """What `run` measures in a process of its own."""
    return in_child(run, *given).answer or {"end": "failed"}


def main(engines: float = 8, solvers: float = 30) -> None:
    """Measure; a run is given that many seconds."""
    figures = Figures("memory-engines", ("engine", "data", "limit MB"), seconds=f"{engines:g}")
    for name, kind, rows, columns, depth, limit in ENGINES:
        key = {"engine": name, "data": f"{kind}, {rows} rows, {columns} columns", "limit MB": limit}
        work = partial(in_own_process, engine_run, name, kind, rows, columns, depth, limit, engines)
        figures.measure(work, **key)
    figures = Figures("memory-solvers", ("solver", "limit MB"), seconds=f"{solvers:g}")
    for name, columns, rows, limit in SOLVERS:
        model = {"model": f"{rows} rows, {columns} columns", "limit MB": limit}
        figures.measure(
            partial(in_own_process, solver_run, name, columns, rows, limit, solvers), solver=name, **model
        )
