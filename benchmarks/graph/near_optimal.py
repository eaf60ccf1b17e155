"""All near-optimal trees beside ArborEnum and TreeFARMS: errors and a price of .01 of the rows for each leaf.

One thread; CPU seconds (user and system) of everything from the encoded table to the count, in a process of each
question's own. Here the optimum with its certificate is part of it.

The programs count different things. Here a tree is counted once in its normal form. ArborEnum 0.2.6 also counts tests
with two leaves of one class, and each threshold of the whole table, of which several part the rows of a node alike; and
it rounds the largest objective to the nearest whole number. On small tables its count is that of a brute force with
these three rules. TreeFARMS 0.2.4 takes 0/1 columns, a price of exactly .01 of the rows, and omits some trees.
"""

from __future__ import annotations

import time
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.deep.other_sets import KEEL_SMALL
from benchmarks.deep.sets import named_sets, read_rows, two_classes
from benchmarks.harness import Figures, Rows, Shown, in_child, table

PRICE = Fraction(1, 100)
"""Of a leaf, as a share of the rows."""
QUESTIONS: tuple[tuple[str, int, str], ...] = (
    ("500 x 5", 2, "0.02"),
    ("500 x 5", 3, "0.02"),
    ("1000 x 10", 2, "0.01"),
    ("1000 x 10", 2, "0.02"),
    ("1000 x 10", 3, "0.01"),
    ("1000 x 10", 3, "0.02"),
    ("1000 x 10, ten values", 3, "0.02"),
    ("1000 x 10, ten values", 3, "0.05"),
    ("compas", 3, "0.01"),
    ("compas", 3, "0.05"),
    ("compas", 4, "0.01"),
    ("compas", 4, "0.05"),
    ("german-credit", 3, "0.01"),
    ("german-credit", 3, "0.05"),
    ("german-credit", 4, "0.01"),
    ("german-credit", 4, "0.05"),
    ("raisin", 2, "0.01"),
    ("raisin", 2, "0.05"),
    ("raisin", 3, "0.01"),
    ("raisin", 3, "0.05"),
    ("bank", 2, "0.01"),
    ("bank", 3, "0.01"),
    ("wilt", 2, "0.01"),
    ("wilt", 3, "0.01"),
    ("page", 2, "0.01"),
    ("page", 3, "0.01"),
    ("bean", 2, "0.01"),
    ("bean", 3, "0.01"),
    ("magic", 2, "0.01"),
    ("bean", 2, "0.05"),
    ("bean", 3, "0.05"),
    ("magic", 2, "0.05"),
    ("magic", 3, "0.01"),
    ("magic", 3, "0.002"),
    ("magic", 3, "0.0003"),
    ("500 x 5", 4, "0.02"),
    ("bank", 4, "0.01"),
    ("raisin", 4, "0.01"),
    ("page", 4, "0.01"),
    *((name, depth, "0.01") for name in KEEL_SMALL for depth in (2, 3)),
)
"""Table, depth, and the share of the optimum by which a tree may be worse."""
DRAWN = {"500 x 5": (500, 5, 0), "1000 x 10": (1000, 10, 0), "1000 x 10, ten values": (1000, 10, 10)}
BITS = ("compas", "german-credit")
"""Tables of 0/1 columns."""
KEY = ("table", "depth", "within", "program")


def data_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and two classes; drawn tables have a rule of two columns and 15 % of noise."""
    if name in DRAWN:
        rows, columns, values = DRAWN[name]
        rng = np.random.default_rng(0)
        X = rng.random((rows, columns))
        X = np.floor(X * values) if values else X
        rule = (X[:, 0] > np.median(X[:, 0])) ^ (X[:, 1] > np.quantile(X[:, 1], 0.6))
        return X, (rule ^ (rng.random(rows) < 0.15)).astype(int)
    X, codes = read_rows(f"fairness/{name}" if name in BITS else name)
    return X, two_classes(codes)


def own(name: str, depth: int, within: str) -> dict[str, Any]:
    """The count of this package."""
    X, y = data_of(name)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem.minimize(tf.Error() + round(PRICE * len(X)) * tf.Leaves())
    tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1)).near_optimal()  # imports what is used later
    began = time.process_time()
    found = problem.near_optimal(within=within, max_models=1)
    spent = time.process_time() - began
    up_to = float(found.threshold) if found.counted else None
    return {"trees": found.count if found.counted else None, "up to": up_to, "CPU s": round(spent, 2)}


def arborenum(name: str, depth: int, within: str) -> dict[str, Any]:
    """The count of ArborEnum."""
    import arborenum as package

    X, y = data_of(name)
    model = package.ArborEnum()
    began = time.process_time()
    model.fit(X, y, lambda_reg=float(PRICE), depth_budget=depth, rashomon_mult=float(within))
    spent = time.process_time() - began
    up_to = round(model.get_min_objective() * (1 + float(within)))
    return {"trees": int(model.count_trees()), "up to": up_to, "CPU s": round(spent, 2)}


def treefarms(name: str, depth: int, within: str) -> dict[str, Any]:
    """The count of TreeFARMS, which takes 0/1 columns; a node on the root's level counts for its depth."""
    import pandas as pd
    from treefarms import TREEFARMS

    X, y = data_of(name)
    settings = {"regularization": float(PRICE), "rashomon_bound_multiplier": float(within), "rashomon_trie": ""}
    model = TREEFARMS({**settings, "depth_budget": depth + 1, "verbose": False})
    began = time.process_time()
    model.fit(pd.DataFrame(X.astype(int)), pd.Series(y, name="y"))
    spent = time.process_time() - began
    return {"trees": int(model.get_tree_count()), "up to": None, "CPU s": round(spent, 2)}


PROGRAMS = {"treeform": own, "arborenum": arborenum, "treefarms": treefarms}
NAMES = {"arborenum": "ArborEnum", "treefarms": "TreeFARMS"}


def measured(program: str, name: str, depth: int, within: str, seconds: float) -> dict[str, Any]:
    """One program on one question, in a process that is ended at the limit."""
    ended = in_child(PROGRAMS[program], name, depth, within, seconds=seconds)
    if ended.answer is None:
        return {"trees": None, "up to": None, "CPU s": None, "ended": ended.how, "limit": f"{seconds:g}"}
    return {**ended.answer, "ended": "", "limit": f"{seconds:g}"}


def _ended(row: dict[str, Any]) -> str:
    """How a program ended without a count."""
    return f"{row['ended']} ({row['limit']} s)" if row["ended"] == "time" else row["ended"]


@table("graph_near_optimal")
def counts(rows: Rows) -> Shown:
    """The programs beside each other."""
    have = rows.frame.fillna("").to_dict("records")
    found = {(r["table"], r["depth"], r["within"], r["program"]): r for r in have}
    lines = []
    for question in dict.fromkeys((r["table"], r["depth"], r["within"]) for r in have):
        line: list[str] = [*question]
        for program in PROGRAMS:
            row = found.get((*question, program))
            line += ["", ""] if row is None else [row["trees"] or "not counted", row["CPU s"] or _ended(row)]
        lines.append(line)
    note = (
        "CPU seconds, one thread; *time*: ended after so many. Trees: here in normal form. ArborEnum "
        "0.2.6 also counts tests with two leaves of one class, and several thresholds that part the rows of a node "
        "alike, and rounds the largest objective; TreeFARMS 0.2.4 omits some trees."
    )
    columns = ["table", "depth", "within", "trees", "CPU s"]
    columns += [f"{name}: {what}" for name in NAMES.values() for what in ("trees", "CPU s")]
    return Shown.of("Near-optimal trees", columns, lines, note)


def main(seconds: float = 60, programs: str = ",".join(PROGRAMS), tables: str = "") -> None:
    """Measure; ``tables``: only the questions of these."""
    figures = Figures("graph_near_optimal", KEY)
    for name, depth, within in QUESTIONS:
        if tables and name not in tables.split(","):
            continue
        if "/" in name and not named_sets(name):
            continue
        for program in programs.split(","):
            if program == "treefarms" and name not in BITS:
                continue
            work = partial(measured, program, name, depth, within, seconds)
            figures.measure(work, table=name, depth=depth, within=within, program=program)
