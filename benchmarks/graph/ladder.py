"""What each formulation and solver proves alone: rows x columns x depth, under parity of two groups.

Drawn tables of 0/1 columns: a rule of three columns, ten per cent of noise, and a group that goes with one column. No
warm start, no incumbent, no bound of an engine; one thread. HiGHS and OR-Tools cannot share a process, so their pairs
are measured in calls of their own. For each depth a pair climbs until it does not prove a table within the limit;
larger tables of that depth and deeper trees on them are then not tried. Diagrams are named by the widths of their
layers, as ``--shapes 1-2-2``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from treeform.backends import Backend

SIZES = ((100, 10), (300, 10), (1000, 10), (1000, 30), (10000, 30), (10000, 100))
TREES, DIAGRAMS = ("2", "3", "4"), ("1-2-2", "1-2-2-2")
PAIRS: dict[str, Backend] = {
    "hypergraph-flow highs": tf.HiGHS(threads=1),
    "hypergraph-flow cp-sat": tf.CPSAT(threads=1),
    "hypergraph-flow mathopt:scip": tf.MathOpt("scip", threads=1),
    "hypergraph-flow pyomo:cbc": tf.Pyomo("cbc"),
    "hypergraph-flow cadical195": tf.SAT("cadical195"),
    "odd highs": tf.HiGHS(threads=1),
    "odd cp-sat": tf.CPSAT(threads=1),
    "odd mathopt:scip": tf.MathOpt("scip", threads=1),
    "odd pyomo:cbc": tf.Pyomo("cbc"),
    "odd cadical195": tf.SAT("cadical195"),
    "flow-oct highs": tf.HiGHS(threads=1),
    "flow-oct cp-sat": tf.CPSAT(threads=1),
    "flow-oct mathopt:scip": tf.MathOpt("scip", threads=1),
    "flow-oct pyomo:cbc": tf.Pyomo("cbc"),
    "flow-oct cadical195": tf.SAT("cadical195"),
    "benders-oct cp-sat": tf.CPSAT(threads=1),
    "sat-depth cadical195": tf.SAT("cadical195"),
}


def stated(rows: int, columns: int, depth: str) -> tf.Problem:
    """One question; ``depth`` is a tree's, or a diagram's widths."""
    shape = tf.Diagram(*map(int, depth.split("-"))) if "-" in depth else tf.Tree(int(depth))
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (rows, columns))
    y = ((X[:, 0] & X[:, 1]) | X[:, 2]) ^ (rng.random(rows) < 0.1)
    group = X[:, 0] ^ (rng.random(rows) < 0.3)
    problem = tf.Problem(X, y.astype(int), shape=shape).minimize(tf.Error())
    return problem + tf.StatisticalParity(groups=group, difference="0.05")


def one(pair: str, rows: int, columns: int, depth: str, seconds: float) -> dict[str, Any]:
    """One pair on one question."""
    formulation, _ = pair.split(" ")
    problem = stated(rows, columns, depth)
    began = user_seconds()
    result = problem.solve(PAIRS[pair], formulation=formulation, warm_start=None, time_limit=seconds)
    spent = round(user_seconds() - began, 2)
    return {"status": result.status, "errors": result.errors, "bound": result.bound, "CPU s": spent}


@table("graph_ladder")
def ladder(rows: Rows) -> Shown:
    """The largest table that each pair proves, by depth or by a diagram's layers."""
    have = rows.frame.to_dict("records")
    lines = []
    for pair in dict.fromkeys(r["pair"] for r in have):
        line = [*pair.split(" ")]
        for depth in (*TREES, *DIAGRAMS):
            tried = [r for r in have if (r["pair"], r["depth"]) == (pair, depth)]
            proved = [r for r in tried if r["status"] == "optimal"]
            nothing = "none" if tried else "not tried"
            line.append(f"{proved[-1]['rows']} x {proved[-1]['columns']}" if proved else nothing)
        lines.append(line)
    smallest, largest = ("{} x {}".format(*SIZES[place]) for place in (0, -1))
    note = (
        f"Rows x columns of the largest table that was proved within {rows.facts['seconds']} wall seconds of a loaded "
        f"machine, of tables from {smallest} to {largest}; none: not even the smallest."
    )
    heads = [*(f"depth {one}" for one in TREES), *(f"diagram {one}" for one in DIAGRAMS)]
    title = "What a solver alone proves, under parity of two groups"
    return Shown.of(title, ["formulation", "solver", *heads], lines, note)


def main(seconds: float = 60, pairs: str = ",".join(PAIRS), shapes: str = ",".join(TREES)) -> None:
    """Measure."""
    figures = Figures("graph_ladder", ("pair", "depth", "rows", "columns"), seconds=f"{seconds:g}")
    for pair in pairs.split(","):
        tried = len(SIZES)
        for depth in shapes.split(","):
            for place, (rows, columns) in enumerate(SIZES[:tried]):
                work = partial(one, pair, rows, columns, depth, seconds)
                row = figures.measure(work, pair=pair, depth=depth, rows=rows, columns=columns)
                if row["status"] != "optimal":
                    tried = place
                    break
