"""Every requirement on every way to solve: verified against brute force, or refused with the reason.

The cells of ``treeform.testing.matrix``: native engines, and formulations on one solver of each kind. The limit is on
CPU seconds of a cell's process and of each process that it starts, so that other work on the machine changes nothing.
A cell that reaches it is *open*, and is measured again by the next call.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from benchmarks.harness import SESSION, Figures, Rows, Shown, in_fork, table
from treeform.backends.packages import blocked
from treeform.backends.registry import backend_classes
from treeform.language.requirement import Requirement
from treeform.shape import Shape
from treeform.testing.matrix import SHAPES, SOLVERS, Cell, Way, judge, shapes_of, ways
from treeform.testing.samples import SAMPLES

SHORT = {"mathopt:scip": "SCIP", "pyomo:cbc": "CBC", "pyomo:glpk": "GLPK", "highs": "HiGHS", "cp-sat": "CP-SAT",
         "cadical195": "SAT", "rc2": "RC2"}  # fmt: skip
SLOW = ("pyomo:cbc",)
"""Solvers that are started as programs: one problem for each cell."""
OF_ENGINES = 3
"""Problems for each cell of a native engine at least: it may meet a requirement that it cannot support by chance."""


def cell(
    requirement: Requirement, way: Way, cases: int, seconds: float, shapes: tuple[Shape, ...]
) -> dict[str, Any]:
    """One cell."""
    count = max(cases, OF_ENGINES) if way.formulation is None else 1 if way.solver in SLOW else cases
    ended = in_fork(_judged, requirement, way, count, shapes, seconds=seconds)
    spent = {"CPU s": f"{ended.user:.1f}"}
    if ended.answer is None:
        why = f"no proof in {seconds:g} s of CPU" if ended.how == "time" else ended.how
        return {"cases": 0, "reason": "", "instead": "", "open": " ".join(why.split())} | spent
    found: Cell = ended.answer
    return {"cases": found.cases, "reason": found.reason, "instead": found.instead, "open": ""} | spent


def _judged(requirement: Requirement, way: Way, cases: int, shapes: tuple[Shape, ...]) -> Cell:
    return judge(requirement, way, cases, seconds=None, shapes=shapes)


def _plain(row: dict[str, str]) -> tuple[str, str]:
    """Reason and remedy of a refusal, without the names in it."""
    told = [row["reason"], row["instead"]]
    names = [row["requirement"], row["requirement"].partition(":")[0], row["formulation"] or row["solver"]]
    kind = "".join(part.capitalize() for part in names[1].split("_"))
    short = []
    for text in told:
        what, _, why = text.partition(": ")
        if "cannot support" in what or " reads " in what or "cannot state" in what:
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
    refused = sum(row["cases"] == "0" and bool(row["reason"]) for row in have)
    most = max(float(row["CPU s"]) for row in have)
    every = len(ways()) * len(SAMPLES)
    missing = f" {every - len(have)} of {every} cells are not measured yet." if len(have) < every else ""
    note = (
        f"{good} of {len(have)} cells work: on tiny random problems (engines {OF_ENGINES}, formulations "
        f"{rows.facts['cases']}, CBC 1) the optimum is that of brute force, and the engine or solver ran. {refused} "
        f"are refused before a solver starts, {len(have) - good - refused} are open after {rows.facts['seconds']} s "
        f"of CPU. The longest took {most:.0f} s. Numbers are the reasons in the next table; a number beside solvers "
        f"is a refusal on some of them or for some objectives.{missing}"
    )
    return Shown.of("Requirements on engines and formulations", ["requirement", *heads], lines, note)


@table("cells_refused", "cells")
def refused(rows: Rows) -> Shown:
    """The reasons, with what to use instead."""
    notes = _notes(rows.frame.to_dict("records"))
    lines = [[f"[{number}]", reason, instead] for (reason, instead), number in notes.items()]
    return Shown.of("Why a cell is refused", ["", "reason", "what to use"], lines)


def main(cases: int = 1, seconds: float = 60, solvers: str = ",".join(SOLVERS)) -> None:
    """Judge all cells; ``seconds`` of CPU for each."""
    facts = {"cases": cases, "seconds": f"{seconds:g}"}
    figures = Figures("cells", ("requirement", "formulation", "solver"), **facts)
    _import_solvers()
    order = {name: place for place, name in enumerate(solvers.split(","))}
    for way in sorted(ways(list(order)), key=lambda way: order.get(way.solver, -1)):  # engines first
        shapes: tuple[Shape, ...] = ()
        for requirement in SAMPLES:
            key = {
                "requirement": str(requirement),
                "formulation": way.formulation or "",
                "solver": way.solver,
            }
            known = figures.find(**key)
            if known is not None and not known["open"]:
                continue
            SESSION.check_time()
            shapes = shapes or in_fork(shapes_of, way, seconds=seconds * len(SHAPES)).answer or SHAPES
            figures.add(key | cell(requirement, way, cases, seconds, shapes))
    left = [f"{row['requirement']} on {row['formulation']} {row['solver']}" for row in figures if row["open"]]
    if left:
        print(f"{len(left)} cells are open:", *left, sep="\n  ", file=sys.stderr)


def _import_solvers() -> None:
    """Once, for all cells: each is a copy of this process. What clashes with another runs in a child of its own."""
    for backend in backend_classes():
        if backend.module and backend.availability().available and not blocked(backend.module):
            import_module(backend.module)
