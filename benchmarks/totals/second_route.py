"""The questions on continuous columns again, by another search: every column coarsened to few values.

Each column is replaced by the number of its interval between quantiles, so that ContinuousTotals (intervals of
thresholds, ConTree's rules) and TotalsSearch (counts of pairs of tests) can both prove the question. Their optima have
to be the same. The groups are those of the whole column. User CPU seconds from the encoded data to the proof.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.totals.continuous import KEY, RULES, SETS, data_of
from treeform.engines import Engine, EngineRun
from treeform.engines.relaxation import relax
from treeform.utils.budget import Budget


def coarsened(name: str, rule: str, depth: int, values: int) -> tf.Problem:
    """The question on columns of at most so many values."""
    X, y = data_of(name)
    first = X.columns[0]
    group = (X[first] > X[first].median()).to_numpy().astype(int)
    kind, amount = RULES[rule]
    few = X.drop(columns=first).apply(lambda column: pd.qcut(column, values, labels=False, duplicates="drop"))
    problem = tf.Problem(few.astype(float), y, shape=tf.Tree(depth))
    problem += kind(groups=group, positive=1, **amount)
    return problem


def answer(problem: tf.Problem, engine: Engine, seconds: float) -> tuple[int | None, float]:
    """The proved optimum, None where it is open, and the seconds."""
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    began = user_seconds()
    run = EngineRun(Budget().until(lambda: user_seconds() - began > seconds))
    found = engine.run(problem.data, relaxation.task, run)
    return found.upper if found.proved else None, round(user_seconds() - began, 3)


def both(name: str, rule: str, depth: int, values: int, seconds: float) -> dict[str, Any]:
    """One line."""
    problem = coarsened(name, rule, depth, values)
    own, spent = answer(problem, tf.ContinuousTotals(), seconds)
    other, spent_there = answer(problem, tf.TotalsSearch(), seconds)
    return {
        "rows": problem.data.n_samples, "tests": problem.data.n_tests, "ContinuousTotals": own, "CPU s": spent,
        "TotalsSearch": other, "CPU s there": spent_there,
        "same": "" if own is None or other is None else bool(np.equal(own, other)),
    }  # fmt: skip


@table("continuous_second_route")
def shown(rows: Rows) -> Shown:
    """A line for each question, and how many are confirmed."""
    same = rows.frame["same"].astype(str)
    note = (
        f"Columns of at most {rows.facts['values']} values, {rows.facts['seconds']} CPU seconds for each search. Of "
        f"{len(same)} questions {int((same == 'True').sum())} have the same optimum, "
        f"{int((same == 'False').sum())} another one, {int((same == '').sum())} are open in one search or both."
    )
    return Shown("Optima on coarsened columns by two searches", rows.frame, note)


def main(sets: str = "", depths: str = "2,3", values: int = 8, seconds: float = 20) -> None:
    """Measure."""
    facts = {"values": str(values), "seconds": f"{seconds:g}"}
    figures = Figures("continuous_second_route", KEY, **facts)
    for depth in map(int, depths.split(",")):
        for name in sets.split(",") if sets else SETS:
            for rule in RULES:
                work = partial(both, name, rule, depth, values, seconds)
                figures.measure(work, set=name, rule=rule, depth=depth)
