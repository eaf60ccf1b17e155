"""Smaller cases that disagree in the same way: rows, columns, requirements and options are left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from treeform.testing.differential.cases import Case, bundle_of
from treeform.testing.differential.drive import run
from treeform.testing.differential.questions import Goal
from treeform.testing.differential.reference import TooLarge
from treeform.testing.differential.report import kind_of
from treeform.testing.differential.shapes import Shape
from treeform.testing.differential.table import Table
from treeform.testing.differential.world import World


def complaints(case: Case) -> list[str]:
    """What is wrong with the answer to one case; empty also where the case is none."""
    try:
        bundle = bundle_of(case)
        return run(case, World(bundle)).wrong
    except (TooLarge, ValueError, IndexError, KeyError):
        return []


def shrink(
    case: Case, most_runs: int = 300, wrong: Callable[[Case], list[str]] = complaints
) -> tuple[Case, list[str]]:
    """The smallest case found that is wrong in the same way, and its complaints.

    Parameters
    ----------
    wrong : callable
        Gives the complaints about a case.
    """
    complaint_of_case = wrong(case)
    if not complaint_of_case:
        return case, []
    kind, runs, moved = _family(complaint_of_case[0]), 0, True
    while moved and runs < most_runs:
        moved = False
        for smaller in _smaller(case):
            runs += 1
            complaint = wrong(smaller)
            if complaint and _family(complaint[0]) == kind:
                case, complaint_of_case, moved = smaller, complaint, True
                break
            if runs >= most_runs:
                break
    return case, complaint_of_case


def _family(text: str) -> str:
    return kind_of(text)[:30]


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.requirements)):
        yield replace(case, requirements=case.requirements[:i] + case.requirements[i + 1 :])
    table = case.table
    rows = range(table.n_rows)
    for i in rows:
        yield replace(case, table=_only(table, [j for j in rows if j != i]))
    if table.weights is not None:
        yield replace(case, table=replace(table, weights=None))
    if len(table.columns) > 1 and not isinstance(case.way.warm, dict):
        for name in table.columns:
            rest = {n: v for n, v in table.columns.items() if n != name}
            yield replace(case, table=replace(table, columns=rest))
    yield from (replace(case, shape=shape) for shape in _smaller_shapes(case.shape))
    if case.goal != Goal():
        yield replace(case, goal=Goal())
    changes: tuple[dict[str, Any], ...] = ({"after": None}, {"limit": None}, {"warm": None}, {"more": {}})
    for change in changes:
        if any(getattr(case.way, key) != value for key, value in change.items()):
            yield replace(case, way=replace(case.way, **change))


def _only(table: Table, rows: list[int]) -> Table:
    return Table(
        {name: tuple(v[i] for i in rows) for name, v in table.columns.items()},
        tuple(table.labels[i] for i in rows),
        None if table.weights is None else tuple(table.weights[i] for i in rows),
        None if table.groups is None else tuple(table.groups[i] for i in rows),
    )


def _smaller_shapes(shape: Shape) -> Iterator[Shape]:
    if shape.depth > 1:
        widths = None if shape.widths is None else shape.widths[:-1]
        yield Shape(shape.depth - 1, widths, shape.hyperplanes)
    for layer, width in enumerate(shape.widths or ()):
        if width > 1:
            assert shape.widths is not None
            widths = (*shape.widths[:layer], width - 1, *shape.widths[layer + 1 :])
            if all(b <= 2 * a for a, b in pairwise(widths)):
                yield Shape(shape.depth, widths, shape.hyperplanes)


def as_code(case: Case) -> str:
    """The case as a script that a user could run."""
    table = case.table
    columns = {name: list(values) for name, values in table.columns.items()}
    weights = None if table.weights is None else list(table.weights)
    way = case.way
    options = [f"time_limit={way.limit}"] if way.limit is not None else []
    options += [f"formulation={way.formulation!r}"] if way.formulation else []
    if isinstance(way.warm, dict):
        options.append(f"warm_start=tf.DecisionGraph.build({way.warm['nodes']!r}, problem.data)")
    elif way.warm != "auto":
        options.append(f"warm_start={way.warm!r}")
    lines = [
        f"columns = {columns}",
        f"y = {list(table.labels)!r}; weights = {weights!r}; groups = {table.groups!r}",
        f"shape = {case.shape.text!r}; objective = {case.goal.text!r}",
        f"requirements = {[dict(spec) for spec in case.requirements]!r}",
        f"problem.{way.verb}({', '.join([repr(way.solver), *options])})  # {way.text}",
    ]
    return "\n".join(lines)
