"""A fair tree on each solver, with and without the native warm start and bound.

A depth-3 tree on German Credit under statistical parity and a minimum support of 5 % for each leaf. At ratio 0.8 the
best unconstrained tree happens to be fair; at 0.97 the rule binds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

import treeform as tf
from benchmarks.harness import ROOT, Figures, plain_table

DEFAULT = "default"
"""``problem.solve()``, which chooses a native search by itself."""


def solve(ratio: float, solver: str, warm: bool, limit: float) -> dict[str, Any]:
    """One line."""
    frame = pd.read_csv(ROOT / "examples" / "data" / "german-credit.csv")
    problem = tf.Problem(frame, "creditworthy", shape=tf.Tree(depth=3))
    problem += [tf.StatisticalParity(groups="sex", ratio=ratio, positive="yes"), tf.MinSupport(0.05)]
    if solver == DEFAULT:
        result = problem.solve(time_limit=limit)
    else:
        start = tf.ConTree() if warm else None
        result = problem.solve(solver, formulation="odd", warm_start=start, time_limit=limit)
    provers = [claim.by for claim in result.claims if claim.kind == "lower"]
    return {
        "status": result.status, "errors": result.objective, "bound": result.bound,
        "gap": "-" if result.gap is None else f"{100 * result.gap:.1f} %", "seconds": f"{result.seconds:.1f}",
        "bound by": provers[-1] if provers else "-",
    }  # fmt: skip


plain_table(
    "main_job",
    "A fairness rule, with and without the native engine",
    lambda rows: (
        f"Time limit {rows.facts['time limit']} s, one thread, ODD formulation. With the warm start, the bound comes "
        "from ConTree on the problem without the parity rule, then from its Lagrangian relaxation; the solver is "
        "started only for what is left. *default*: ``problem.solve()``, which is TotalsSearch here."
    ),
)


def main(time_limit: float = 60) -> None:
    """Measure; wall seconds for each run."""
    figures = Figures(
        "main_job", ("ratio", "solver", "ConTree start and bound"), **{"time limit": f"{time_limit:g}"}
    )
    for ratio in (0.8, 0.97):
        for solver in ("highs", "cp-sat", DEFAULT):
            for warm in ("no", "yes") if solver != DEFAULT else ("no",):
                key = {"ratio": ratio, "solver": solver, "ConTree start and bound": warm}
                figures.measure(partial(solve, ratio, solver, warm == "yes", time_limit), **key)
