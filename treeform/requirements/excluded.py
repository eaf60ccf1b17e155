"""Columns that no test may read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.language.ports import Ports
from treeform.model import Model
from treeform.requirements.columns import check_columns, column_name, features_of
from treeform.utils.arrays import Ints


class NoTestOn(LinearRequirement):
    """No test reads a column of the table, whatever its levels.

    Parameters
    ----------
    column : str
        A column of the table.

    Raises
    ------
    DataError
        When bound to data that have no such feature.
    """

    name: ClassVar[str] = "no_test_on"
    bare: ClassVar[tuple[str, ...]] = ("column",)
    words: ClassVar[str] = "no test reads {column}"
    samples: ClassVar[tuple[str, ...]] = ("no_test_on:age",)
    of_values: ClassVar[bool] = True
    needs = frozenset({"feature"})

    def __init__(self, column: str) -> None:
        self.column = column_name(column, "NoTestOn")

    def bind(self, data: Dataset, **context: object) -> NoTestOn:
        check_columns(data, [self.column], self)
        return self

    def _features(self, data: Dataset) -> Ints:
        return features_of(data, self.column)

    def allowed_features(self, data: Dataset) -> list[frozenset[int]]:
        return [frozenset(range(data.n_features)) - frozenset(self._features(data).tolist())]

    def build(self, m: Model, t: Ports) -> None:
        # feature[v, f] = 0 for the features f of the column
        columns = self._features(t.data)
        if len(columns):
            m.add(t.feature[:, columns] <= 0, str(self))

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield rows.tests(self._features(rows.data), f"tests on {self.column}") <= 0

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        columns = set(self._features(data).tolist())
        return sum(bool(columns & set(test.columns)) for test in graph.tests())
