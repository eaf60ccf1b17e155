"""How the cost of the search for totals grows, and what each of its parts is worth.

Usage: ``python benchmarks/totals_growth.py [growth] [parts]``. Growth: synthetic tables of 0/1 columns, a tree of depth
3 with 20 % noise and groups that follow one of its columns; one quantity varies at a time (rows, tests, groups, the
difference allowed between rates). Parts: questions on the fairness sets (``TREEFORM_DATA``), each part of the search
left out in turn. One thread; user CPU seconds from the encoded data to the proof, within 600 wall seconds each.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

import numpy as np
import pandas as pd
from tables import write
from totals import DATA, SENSITIVE

import treeform as tf
from treeform.engines import EngineOutcome, EngineRun
from treeform.engines.totals import PARTS
from treeform.solve.relaxation import relax

SECONDS = 600.0
USUAL = {"rows": 10_000, "tests": 40, "groups": 2, "difference": 0.05}
VARIED: dict[str, tuple[Any, ...]] = {
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "tests": (10, 20, 40, 80, 160, 320, 500),
    "groups": (2, 3, 4, 6, 8, 10),
    "difference": (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.0),
}
QUESTIONS = (
    ("compas", 4, "0.05"),
    ("compas", 5, "0.05"),
    ("adult", 4, "0.01"),
    ("adult", 5, "0.05"),
    ("german-credit", 4, "0.01"),
    ("student-mat", 4, "0.05"),
)


def search(problem: tf.Problem, parts: tuple[str, ...] = PARTS) -> tuple[EngineOutcome, float]:
    """The outcome and the CPU seconds of one run."""
    engine = tf.TotalsSearch(parts=parts)
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    outcome = engine.run(problem.data, relaxation.task, EngineRun(time_limit=SECONDS))
    return outcome, resource.getrusage(resource.RUSAGE_SELF).ru_utime - began


def synthetic(rows: int, tests: int, groups: int, difference: float) -> tf.Problem:
    """A table with a planted tree; group g is likelier where the root's column holds, the more so the larger g."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (rows, tests), dtype=np.int8)
    root, left, right = X[:, 0], X[:, 1] & X[:, 2], X[:, 3] | X[:, 4]
    y = np.where(root == 1, right, left) ^ (rng.random(rows) < 0.2)
    group = np.minimum((rng.random(rows) ** np.where(root == 1, 0.7, 1.0) * groups).astype(int), groups - 1)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(3))
    problem += tf.StatisticalParity(groups=group, difference=str(difference))
    return problem


def growth() -> None:
    """One quantity after the other."""
    rows = []
    for quantity, values in VARIED.items():
        for value in values:
            outcome, spent = search(synthetic(**{**USUAL, quantity: value}))
            counters = outcome.counters
            rows.append([quantity, value, outcome.upper, outcome.lower, outcome.proved, round(spent, 3),
                         counters["prices"], counters["largest_front"], counters["activated"]])  # fmt: skip
            print(rows[-1], flush=True)
    header = [
        "varied",
        "value",
        "errors",
        "bound",
        "proved",
        "search s",
        "multipliers tried",
        "largest front",
        "rows made active",
    ]
    note = f"Depth 3; otherwise {USUAL['rows']:,} rows, {USUAL['tests']} tests, 2 groups, difference .05."
    write("totals_growth", "How the search for totals grows", header, rows, note)


def parts() -> None:
    """Every part left out in turn."""
    rows = []
    for name, depth, difference in QUESTIONS:
        frame = pd.read_csv(DATA / f"{name}.csv.gz")
        column, favourable = SENSITIVE[name]
        problem = tf.Problem(frame.drop(columns=["target", column]), frame["target"], shape=tf.Tree(depth))
        problem += tf.StatisticalParity(groups=frame[column], difference=difference, favourable=favourable)
        line: list[Any] = [name, depth, difference]
        for used in (PARTS, *(tuple(part for part in PARTS if part != left) for left in PARTS)):
            outcome, spent = search(problem, used)
            line.append(round(spent, 3) if outcome.proved else f"open ({outcome.lower} to {outcome.upper})")
        rows.append(line)
        print(line, flush=True)
    header = ["set", "depth", "difference", "all", *(f"without {part}" for part in PARTS)]
    write("totals_parts", "What each part of the search for totals is worth (CPU s)", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", choices=["growth", "parts", []], default=["growth", "parts"])
    what = parser.parse_args().what or ["growth", "parts"]
    if "growth" in what:
        growth()
    if "parts" in what:
        parts()


if __name__ == "__main__":
    main()
