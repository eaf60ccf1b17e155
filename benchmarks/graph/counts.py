"""Counts of near-optimal trees against exhaustive enumeration on tiny tables, with and without requirements.

The enumeration shares nothing with the search: every tree is built and priced, and judged in the order of prices by
the definitions of the objective and the requirements (`treeform.testing.normal_forms`). The tables have two or three
classes, repeated and contradictory rows, weights, prices of tests and missing values; the trees depth one to three. A
table differs when any tree or any value does.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table
from treeform.testing.normal_forms import (
    NEAR_OPTIMAL_REQUIREMENTS,
    draw_near_optimal,
    near_optimal_forms,
    normal_form,
)

WITHIN = Fraction(3, 10)
PART = 50
"""Tables drawn at once."""
SEED = 5000


def differs(problem: tf.Problem) -> tuple[int, bool]:
    """How many near-optimal trees there are, and whether the search found others."""
    want = near_optimal_forms(problem, WITHIN)
    found = problem.near_optimal(within=WITHIN, max_models=10**6)
    have = {normal_form(model.graph, problem.data): model.objective for model in found.models}
    return len(want), have != want or found.count != len(want) or len(found.models) != len(want)


def one(which: int, part: int) -> dict[str, Any]:
    """Some tables under some requirements."""
    problems = draw_near_optimal(PART, SEED + 100 * which + part, NEAR_OPTIMAL_REQUIREMENTS[which])
    trees = [differs(problem) for problem in problems]
    return {
        "tables": len(trees), "with a model": sum(1 for count, _ in trees if count),
        "trees": sum(count for count, _ in trees), "differing": sum(1 for _, other in trees if other),
    }  # fmt: skip


@table("graph_counts")
def counts(rows: Rows) -> Shown:
    """Tables, trees and differences by requirements."""
    have = rows.frame
    columns = ["tables", "with a model", "trees", "differing"]
    sums = have.astype(dict.fromkeys(columns, int)).groupby("requirements", sort=False)[columns].sum()
    sums.loc["all"] = sums.sum()
    note = "Trees of depth one to three within 30 % of the optimum; differing: tables where any tree or value did."
    return Shown("Near-optimal trees against exhaustive enumeration", sums.reset_index(), note)


def main(tables: int = 2000) -> None:
    """Compare at least so many tables."""
    figures = Figures("graph_counts", ("requirements", "part"))
    done = part = 0
    while done < tables:
        for which, requirements in enumerate(NEAR_OPTIMAL_REQUIREMENTS):
            name = ", ".join(map(str, requirements)) or "none"
            row = figures.measure(partial(one, which, part), requirements=name, part=part)
            done += int(row["tables"])
        part += 1
