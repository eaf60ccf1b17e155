"""Residuals of a regression model: by leaf, and by group of the sensitive columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.graph.values import value_text
from treeform.report.fairness import Attribute, groups_on
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.text import rounded_text

HEAD = ("rows", "mean target", "mean prediction", "mean residual", "mean absolute", "root mean square", "largest")
"""Columns of a table; a residual is the target less the prediction, and means are by weight."""


@dataclass(frozen=True)
class ResidualTable:
    """Residuals of several parts of the rows."""

    parts: str
    """What tells the parts apart: "leaf", or the name of a column."""
    rows_of: str
    """Which rows: "training" or "held-out"."""
    rows: tuple[tuple[str, ...], ...]
    """A part's name, and figures as in `HEAD`."""
    note: str = ""
    """Why there are no rows, where there are none."""
    head: tuple[str, ...] = HEAD
    """Names of the figures."""


def residual_tables(
    graph: DecisionGraph, data: Dataset, attributes: Sequence[tuple[str, Attribute]], rows_of: str
) -> tuple[ResidualTable, ...]:
    """A table of the leaves and one for each attribute."""
    if data.quantity is None:
        return ()
    leaf = graph.apply(data.X)
    parts = (
        (f"{k}: {value_text(graph.values[graph.label[node]])}", leaf == node)
        for k, node in enumerate(np.flatnonzero(graph.feature < 0).tolist(), 1)
    )
    tables = [ResidualTable("leaf", rows_of, tuple(_rows(graph, data, leaf, parts)))]
    for name, groups in groups_on(attributes, data):
        if isinstance(groups, TreeformError):
            tables.append(ResidualTable(name, rows_of, (), str(groups).splitlines()[0]))
            continue
        of = ((str(label), groups.codes == k) for k, label in enumerate(groups.labels))
        tables.append(ResidualTable(name, rows_of, tuple(_rows(graph, data, leaf, of))))
    return tuple(tables)


def _rows(
    graph: DecisionGraph, data: Dataset, leaf: Ints, parts: Iterator[tuple[str, Bools]]
) -> Iterator[tuple[str, ...]]:
    assert data.quantity is not None
    target = np.asarray(data.quantity.values, dtype=np.float64)
    predicted = np.array([float(graph.values[graph.label[node]]) for node in leaf.tolist()])
    for name, of in [*parts, ("all", np.ones(data.n_samples, dtype=bool))]:
        if not of.any():
            yield (name, "0", *["–"] * (len(HEAD) - 1))
            continue
        yield (name, str(int(of.sum())), *figures(target[of], predicted[of], data.weights[of]))


def figures(target: Floats, predicted: Floats, weight: Ints) -> tuple[str, ...]:
    """The figures of at least one row as text, in the order of `HEAD` after the number of rows."""
    residual = target - predicted
    values = (
        np.average(target, weights=weight),
        np.average(predicted, weights=weight),
        np.average(residual, weights=weight),
        np.average(abs(residual), weights=weight),
        np.sqrt(np.average(residual**2, weights=weight)),
        abs(residual).max(),
    )
    largest = max(abs(target).max(), abs(predicted).max())
    return tuple(figure_text(float(value), float(largest)) for value in values)


def figure_text(value: float, largest: float) -> str:
    """Six digits, and 0 in place of what is only rounding beside numbers as large as ``largest``."""
    return "0" if abs(value) < 1e-12 * (1 + largest) else rounded_text(value)
