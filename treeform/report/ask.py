"""What the form of the page asks, and the model as its script follows it: conditions on the user's columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, CATEGORY, ORDERED, level_text
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.graph.export.program import Branch, Condition, Program
from treeform.graph.export.sums import Sum
from treeform.graph.labeljson import label_to_json
from treeform.graph.rules import answers
from treeform.graph.values import value_text

MOST_PATHS = 20_000
"""Paths that the search for changes follows; a diagram may have more."""


def ask_values(graph: DecisionGraph, data: Dataset, yes_no: frozenset[str]) -> dict[str, Any] | None:
    """Fields of the form, and the nodes of a graph in the order of `treeform.graph.rewrite.ordered`.

    The data give the ranges, and the usual value of each field; ``yes_no`` are columns of 0 and 1. None where a
    hyperplane reads a column with missing values, for which there is no sum.
    """
    try:
        program = Program.of(graph)
    except SpecError:
        return None
    nodes: dict[str, Any] = {}
    for node, entry in program.nodes.items():
        if isinstance(entry, Branch):
            nodes[str(node)] = {**_asked(entry.condition), "yes": entry.yes, "no": entry.no}
        else:
            nodes[str(node)] = {"label": int(entry)}
    asked = {
        "fields": [_field(name, program, data, yes_no) for name in program.columns],
        "nodes": nodes,
        "root": program.root,
        "answers": answers(graph),
        "outcomes": [str(label) for label in graph.classes],
        "sums": bool(program.sums),
        "most_paths": MOST_PATHS,
    }
    if data.quantity is not None:
        middle = np.average(data.quantity.values, weights=data.weights)
        asked["outcomes"] = [value_text(value) for value in graph.values]
        asked |= {"numbers": list(map(float, graph.values)), "middle": float(f"{middle:.4g}")}
    return asked


def _asked(condition: Condition | Sum) -> dict[str, Any]:
    """A test as the script reads it."""
    if not isinstance(condition, Sum):
        return {"if": condition.to_json()}
    return {
        "sum": {
            "terms": [term.to_json() for term in condition.terms],
            "threshold": condition.threshold,
            "limit": condition.limit,
            "includes_limit": condition.includes_limit,
        }
    }


def _field(name: str, program: Program, data: Dataset, yes_no: frozenset[str]) -> dict[str, Any]:
    """One field: how it is asked, what it may be, and the usual value in these rows."""
    column = program.columns[name]
    features = [feature for feature, known in enumerate(data.columns) if known.source == name]
    missing = name not in program.refusing
    if column.kind == CATEGORY:
        shares = data.X[:, features].sum(axis=0)
        usual = data.columns[features[int(shares.argmax())]].category
        return {
            "name": name,
            "kind": "levels",
            "levels": [[label_to_json(level), level_text(level)] for level in program.levels[name]],
            "missing": missing,
            "usual": usual,
        }
    values = data.X[:, features[0]]
    known = values[~column.missing_values(values)]
    middle = float(np.sort(known)[(len(known) - 1) // 2]) if len(known) else None
    if column.kind == ORDERED:
        levels = [[label_to_json(level), level_text(level)] for level in column.levels]
        usual = column.levels[int(middle)] if middle is not None and middle >= 0 else None
        return {"name": name, "kind": "levels", "levels": levels, "missing": missing, "usual": usual}
    if column.kind == BOOLEAN:
        return {"name": name, "kind": "truth", "missing": missing, "usual": bool(middle)}
    kind = column.kind if column.kind.startswith("date") else "yes-no" if name in yes_no else "number"
    ends = [float(known.min()), float(known.max())] if len(known) else [None, None]
    return {"name": name, "kind": kind, "missing": missing, "usual": middle, "low": ends[0], "high": ends[1]}
