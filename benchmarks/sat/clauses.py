"""How fast clauses are generated, and what share of a refutation on Car goes to them."""

from __future__ import annotations

import itertools

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, read_set, table, user_seconds
from treeform.formulations.sat import SatDepth
from treeform.language.objective import Objective
from treeform.model import Clause

NOTE = """\
Car, user CPU seconds, one thread: all clauses of (1)-(6) for so many examples, generated in numpy; handed to glucose42
through PySAT, clause by clause; and solved. Depth 7 is refuted with the examples that the search itself arrives at."""


@table("sat_clauses")
def clauses(rows: Rows) -> Shown:
    """The rows as they are."""
    return Shown("Generating clauses", rows.frame, NOTE)


def main() -> None:
    """Measure."""
    figures = Figures("sat_clauses", ("depth", "examples"))
    from pysat.solvers import Solver

    X, y = read_set("sat", "car")
    problem = tf.Problem(X, y, shape=tf.Tree(8)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    lazy = SatDepth()
    shallow = tf.Problem(X, y, shape=tf.Tree(7)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    shallow.solve("sat", formulation=lazy, warm_start=None)
    found = lazy.remembered(shallow.data)
    for depth, examples in ((7, found), (7, np.arange(300)), (8, np.arange(300))):
        begin = user_seconds()
        compiled = SatDepth().compile(
            problem.data, tf.Tree(depth), Objective(()), problem.requirements, examples=examples
        )
        generate = user_seconds() - begin
        session = tf.SAT().open(compiled.model)
        begin, solver, count = user_seconds(), Solver("glucose42"), 0
        for block in session.lowered.blocks:
            assert isinstance(block, Clause)
            ends, lits = block.indptr.tolist(), block.lits.tolist()
            for start, end in itertools.pairwise(ends):
                solver.add_clause(lits[start:end])
            count += block.n_rows
        load, begin = user_seconds() - begin, user_seconds()
        answer = solver.solve() if depth == 7 and examples is found else None
        solve = user_seconds() - begin
        row = {
            "depth": depth, "examples": len(examples), "clauses": f"{count:,}", "generate": f"{generate:.3f}",
            "clauses a second": f"{count / generate:,.0f}", "load": f"{load:.2f}",
        }  # fmt: skip
        if answer is not None:
            row |= {"solve": f"{solve:.2f}", "answer": "a tree" if answer else "none"}
        figures.add(row)
