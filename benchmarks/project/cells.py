"""Every requirement on every way to solve: verified against brute force, or refused with the reason.

The cells of ``treeform.testing.matrix``: native engines, and formulations on one solver of each kind.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.harness import Figures, Rows, Shown, table
from treeform.language.requirement import Requirement
from treeform.testing.matrix import SOLVERS, Way, judge, ways
from treeform.testing.samples import SAMPLES

SHORT = {"mathopt:scip": "SCIP", "pyomo:cbc": "CBC", "pyomo:glpk": "GLPK", "highs": "HiGHS", "cp-sat": "CP-SAT",
         "cadical195": "SAT", "rc2": "RC2"}  # fmt: skip
SLOW = ("pyomo:cbc",)
"""Solvers that are started as programs: one problem for each cell."""


def cell(requirement: Requirement, way: Way, cases: int) -> dict[str, Any]:
    """One cell."""
    found = judge(requirement, way, 1 if way.solver in SLOW else cases)
    return {"cases": found.cases, "reason": found.reason, "instead": found.instead}


def _plain(row: dict[str, str]) -> tuple[str, str]:
    """Reason and remedy of a refusal, without the names in it."""
    told = [row["reason"], row["instead"]]
    names = [row["requirement"], row["requirement"].partition(":")[0], row["formulation"] or row["solver"]]
    kind = "".join(part.capitalize() for part in names[1].split("_"))
    short = []
    for text in told:
        what, _, why = text.partition(": ")
        if "cannot honour" in what or " reads " in what or "cannot state" in what:
            text = why
        text = text.partition(", or with tf.")[0].partition(" and give warm_start")[0]
        short.append(text.replace(kind, "it"))
    return short[0], short[1]


def _notes(rows: list[dict[str, str]]) -> dict[tuple[str, str], int]:
    """A number for each reason and remedy."""
    notes: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["reason"]:
            notes.setdefault(_plain(row), len(notes) + 1)
    return notes


def _column(rows: list[dict[str, str]], notes: dict[tuple[str, str], int]) -> str:
    """What is said of a requirement on the ways of one column."""
    good = [row for row in rows if row["cases"] != "0"]
    told = sorted({notes[_plain(row)] for row in rows if row["reason"]})
    marks = " ".join(f"[{number}]" for number in told)
    names = ", ".join(SHORT[row["solver"]] for row in good if row["formulation"])
    if not good:
        return marks
    return " ".join(part for part in (names or "yes", marks) if part)


@table("cells")
def cells(rows: Rows) -> Shown:
    """A line for each requirement, a column for each engine and formulation."""
    have = rows.frame.to_dict("records")
    notes = _notes(have)
    heads = list(dict.fromkeys(row["formulation"] or row["solver"] for row in have))
    lines = []
    for name in dict.fromkeys(row["requirement"] for row in have):
        own = [row for row in have if row["requirement"] == name]
        by_head = [[row for row in own if (row["formulation"] or row["solver"]) == head] for head in heads]
        lines.append([name, *(_column(one, notes) for one in by_head)])
    good = sum(row["cases"] != "0" for row in have)
    note = (
        f"{good} of {len(have)} cells work: at least one tiny random problem, in most cells {rows.facts['cases']}, "
        "where the optimum is that of brute force and the engine or solver ran. The others are refused before a "
        "solver starts. Numbers are the reasons in the next table; a number beside solvers is a refusal on some of "
        "them or for some objectives."
    )
    return Shown.of("Requirements on engines and formulations", ["requirement", *heads], lines, note)


@table("cells_refused", "cells")
def refused(rows: Rows) -> Shown:
    """The reasons, with what to use instead."""
    notes = _notes(rows.frame.to_dict("records"))
    lines = [[f"[{number}]", reason, instead] for (reason, instead), number in notes.items()]
    return Shown.of("Why a cell is refused", ["", "reason", "what to use"], lines)


def main(cases: int = 2, solvers: str = ",".join(SOLVERS)) -> None:
    """Judge all cells."""
    figures = Figures("cells", ("requirement", "formulation", "solver"), cases=cases)
    order = {name: place for place, name in enumerate(solvers.split(","))}
    for way in sorted(ways(list(order)), key=lambda way: order.get(way.solver, -1)):  # engines first
        for requirement in SAMPLES:
            figures.measure(
                partial(cell, requirement, way, cases),
                requirement=str(requirement), formulation=way.formulation or "", solver=way.solver,
            )  # fmt: skip
