"""A model in the words of a report: columns of 0 and 1 are asked "is yes" or "is no"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, NUMERIC, Column
from treeform.graph import DecisionGraph

C = TypeVar("C", bound=Column)


@dataclass(frozen=True)
class YesNoColumn(Column):
    """A column of numbers whose values are 0 and 1."""

    def _present(self, threshold: float, negate: bool) -> str:
        if 0 <= threshold < 1:
            return f"{self.source} is {'yes' if negate else 'no'}"
        return super()._present(threshold, negate)


def yes_no_columns(data: Dataset) -> frozenset[str]:
    """Names of the columns of numbers that hold 0 and 1 only."""
    found: dict[str, bool] = {}
    for feature, column in enumerate(data.columns):
        if column.kind == NUMERIC:
            values = data.X[:, feature]
            values = values[~column.missing_values(values)]
            found[column.source] = bool(len(values) and np.isin(values, (0.0, 1.0)).all())
    return frozenset(name for name, fits in found.items() if fits)


def worded(graph: DecisionGraph, yes_no: frozenset[str]) -> DecisionGraph:
    """The model with these columns worded; it is for texts and drawings, and reads no tables."""
    columns = tuple(
        YesNoColumn(column.source, BOOLEAN, column.category, column.missing, column.levels)
        if column.source in yes_no
        else column
        for column in graph.columns
    )
    return replace(graph, columns=columns, encoder=None)
