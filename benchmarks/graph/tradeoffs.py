"""Frontier, conflict and size table under parity and a minimum support: engines beside solvers alone.

The engines are those that the router takes. The solver is HiGHS, with the graph and with ODD, and no warm start. One
thread; user CPU seconds of everything. The sensitive column is left out of the tests.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE
from treeform.shape import Tree

HIGHS = tf.HiGHS(threads=1)
WAYS: dict[str, dict[str, Any]] = {
    "engines": {},
    "graph": {"solver": HIGHS, "formulation": "hypergraph-flow"},
    "odd": {"solver": HIGHS, "formulation": "odd"},
}
"""What is named; without a solver's name, engines answer."""


def parity(name: str, difference: str | None) -> tf.Requirement:
    """Of a set's sensitive column."""
    column, positive = SENSITIVE[name]
    return tf.StatisticalParity(
        groups=read_set("fairness", name)[0][column], positive=positive, difference=difference
    )


def supported(name: str, depth: int) -> tf.Problem:
    """A set, with a twentieth of the rows on each side of a test."""
    X, y = read_set("fairness", name)
    problem = tf.Problem(X.drop(columns=SENSITIVE[name][0]), y, shape=Tree(depth)).minimize(tf.Error())
    return problem + tf.MinSupport(len(X) // 20)


@cache
def least_errors(name: str, depth: int) -> int:
    """Of a tree without parity."""
    return int(supported(name, depth).solve().objective or 0)


def frontier(name: str, depth: int, seconds: float, way: dict[str, Any]) -> str:
    """Points and how many of them are proved, for differences of .1 to .02."""
    found = supported(name, depth).frontier(
        over=parity(name, None), between=("0.1", "0.02"), time_limit=seconds, **_start(way)
    )
    end = "" if found.complete else ", not complete"
    return f"{sum(p.proved for p in found.points)} of {len(found.points)}{end}"


def conflict(name: str, depth: int, seconds: float, way: dict[str, Any]) -> str:
    """Whether a conflict is proved: a difference of .01, and no more errors than the best tree without it."""
    problem = supported(name, depth) + parity(name, "0.01") + tf.MaxErrors(least_errors(name, depth))
    found = problem.conflict(time_limit=seconds, **way)
    if found is None:
        return "none"
    return "proved, minimal" if found.minimal else "proved" if found.proved else "open"


def size_table(name: str, depth: int, seconds: float, way: dict[str, Any]) -> str:
    """Rows that are proved, for a difference of .05."""
    problem = supported(name, depth) + parity(name, "0.05")
    found = problem.size_table(time_limit=seconds, **_start(way))
    return f"{sum(row.proved for row in found.rows)} of {len(found.rows)}"


QUESTIONS = {"frontier": frontier, "conflict": conflict, "size table": size_table}


def _start(way: dict[str, Any]) -> dict[str, Any]:
    return {**way, "warm_start": None} if way else way


def one(name: str, depth: int, question: str, way: str, seconds: float) -> dict[str, Any]:
    """One question, one way."""
    least_errors(name, depth)
    began = user_seconds()
    proved = QUESTIONS[question](name, depth, seconds, WAYS[way])
    return {"proved": proved, "CPU s": round(user_seconds() - began, 2)}


@table("graph_tradeoffs")
def tradeoffs(rows: Rows) -> Shown:
    """The ways beside each other."""
    have = rows.frame.to_dict("records")
    found = {(r["set"], r["depth"], r["question"], r["way"]): f"{r['proved']}: {r['CPU s']} s" for r in have}
    lines = [
        [*key, *(found.get((*key, way), "") for way in WAYS)]
        for key in dict.fromkeys((r["set"], r["depth"], r["question"]) for r in have)
    ]
    note = f"What is proved, and user CPU seconds, within {rows.facts['seconds']} wall seconds."
    return Shown.of("Trade-offs under parity", ["set", "depth", "question", *WAYS], lines, note)


def main(
    sets: str = ",".join(SENSITIVE), depth: int = 3, ways: str = ",".join(WAYS), seconds: float = 20
) -> None:
    """Measure."""
    figures = Figures("graph_tradeoffs", ("set", "depth", "question", "way"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for question in QUESTIONS:
            for way in ways.split(","):
                figures.measure(
                    partial(one, name, depth, question, way, seconds),
                    set=name,
                    depth=depth,
                    question=question,
                    way=way,
                )
