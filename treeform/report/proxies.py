"""Columns that a model tests and that tell the group of a sample: the sensitive one itself, or one that predicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import CATEGORY
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.report.fairness import Attribute, groups_on
from treeform.requirements.groups import Groups
from treeform.utils.arrays import Ints

BINS = 10
NOTICEABLE = 0.3
"""Cramer's V from which on a column is warned of: a medium effect by Cohen (Statistical power analysis, 1988)."""


@dataclass(frozen=True)
class Proxy:
    """How well one tested column tells the groups of one attribute, on the rows of the report."""

    column: str
    attribute: str
    itself: bool
    """Whether the column is the attribute."""
    association: float
    """Cramer's V: 0 tells nothing, 1 everything. Columns of numbers are cut into ten parts."""
    guessed: float
    base: float
    """Share of rows whose group is right when each value guesses its most frequent group; the same
    without the column."""

    @property
    def warns(self) -> bool:
        """Whether the report warns of it."""
        return self.itself or self.association >= NOTICEABLE


def proxies(
    graph: DecisionGraph, data: Dataset, attributes: Sequence[tuple[str, Attribute]]
) -> tuple[Proxy, ...]:
    """One entry for each pair of a tested column and an attribute, those that tell most first."""
    pairs = []
    tested = dict.fromkeys(graph.columns[feature].source for feature in sorted(graph.features_used()))
    for name, groups in groups_on(attributes, data):
        if isinstance(groups, TreeformError):
            continue
        base = float(np.bincount(groups.codes).max() / len(groups.codes))
        for source in tested:
            table = _table(_parts(source, data), groups)
            guessed = float(table.max(axis=1).sum() / table.sum())
            pairs.append(Proxy(source, name, source == name, _cramer(table), guessed, base))
    return tuple(sorted(pairs, key=lambda one: (not one.itself, -one.association, one.column)))


def _parts(source: str, data: Dataset) -> Ints:
    """(n,) the part of a column that each row is in: its level, or one of ten parts of its numbers; gaps are one."""
    features = [feature for feature, column in enumerate(data.columns) if column.source == source]
    first = data.columns[features[0]]
    if first.kind == CATEGORY:
        return np.unique(data.X[:, features], axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    values = data.X[:, features[0]]
    missing = first.missing_values(values)
    parts = np.full(len(values), -1, dtype=np.int64)
    if (~missing).any():
        known = values[~missing]
        cuts = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf"))
        parts[~missing] = np.searchsorted(cuts, known, side="left")
    return parts


def _table(parts: Ints, groups: Groups) -> Ints:
    known, codes = np.unique(parts, return_inverse=True)
    table = np.zeros((len(known), len(groups.labels)), dtype=np.int64)
    np.add.at(table, (codes.reshape(-1), groups.codes), 1)
    return table[:, table.sum(axis=0) > 0]


def _cramer(table: Ints) -> float:
    if min(table.shape) < 2:
        return 0.0
    # Chi-squared of the table; scipy.stats.contingency has it too, but takes a second to import.
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_squared = ((table - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi_squared / total / (min(table.shape) - 1)))
