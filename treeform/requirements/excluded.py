"""Columns that no test may read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from treeform.language.requirement import Requirement
from treeform.language.totals import TotalRow, Totals
from treeform.requirements.columns import check_columns, column_name, features_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model


class NoTestOn(Requirement):
    """No test reads a column of the table, whatever its levels.

    Parameters
    ----------
    column : str

    Raises
    ------
    DataError
        When bound to data that have no such feature.
    """

    name: ClassVar[str] = "no_test_on"
    demands_tests: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    needs = frozenset({"feature"})

    def __init__(self, column: str) -> None:
        self.column = column_name(column, "NoTestOn")

    def bind(self, data: Dataset, **context: object) -> NoTestOn:
        check_columns(data, [self.column], self)
        return self

    def _features(self, data: Dataset) -> NDArray[np.int64]:
        return features_of(data, self.column)

    def allowed_features(self, data: Dataset) -> list[frozenset[int]]:
        return [frozenset(range(data.n_features)) - frozenset(self._features(data).tolist())]

    def build(self, m: Model, t: Ports) -> None:
        # feature[v, f] = 0 for the features f of the column
        columns = self._features(t.data)
        if len(columns):
            m.add(t.feature[:, columns] <= 0, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        columns = set(self._features(data).tolist())
        return sum(bool(columns & set(test.columns)) for test in graph.tests())

    def totals(self, data: Dataset) -> Totals:
        """The number of tests that read the column, at most 0."""
        per_test = np.zeros((data.n_features, 1), dtype=np.int64)
        per_test[self._features(data)] = 1
        samples = np.zeros(data.n_samples, dtype=np.int64)
        nothing = np.zeros((1, data.n_classes, 1), dtype=np.int64)
        return Totals((f"tests on {self.column}",), nothing, (TotalRow((1,), hi=0),), per_test, samples)

    def __str__(self) -> str:
        return f"{self.name}:{self.column}"

    def in_words(self) -> str:
        return f"no test reads {self.column}"
