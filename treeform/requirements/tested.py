"""Columns that have to be tested, and columns of which one at most is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible
from treeform.graph import DecisionGraph
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Model
from treeform.requirements.columns import check_columns, column_list, features_of, reads, sources, tests_on


class Uses(LinearRequirement):
    """Each of these columns is read by some test.

    Parameters
    ----------
    columns : str or sequence of str
        Names of columns; as text with commas between them.

    Raises
    ------
    SpecError
        If no column is named.
    DataError
        When bound to data: a column that is not there.
    Infeasible
        When bound to data: a column that no test can read.
    """

    name: ClassVar[str] = "uses"
    bare: ClassVar[tuple[str, ...]] = ("columns",)
    samples: ClassVar[tuple[str, ...]] = ("uses:age",)
    demands_tests: ClassVar[bool] = True
    needs = frozenset({"feature"})

    def __init__(self, columns: Any) -> None:
        self.columns = column_list(columns, "Uses")

    def bind(self, data: Dataset, **context: Any) -> Uses:
        check_columns(data, self.columns, self)
        for name in self.columns:
            features = features_of(data, name)
            if not len(features) or all(len(np.unique(data.X[:, f])) < 2 for f in features):
                raise Infeasible(
                    f"{self} is infeasible",
                    cause=f"{name!r} is excluded from the tests, or has one value only",
                    fix="leave it out",
                )
        return self

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        for name in self.columns:
            yield rows.tests(features_of(rows.data, name), f"tests on {name}") >= 1

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of columns that no test reads."""
        return int((~reads(graph, data, self.columns).any(axis=0)).sum())

    def in_words(self) -> str:
        return f"some test reads {', and some test reads '.join(self.columns)}"


class Exclusive(Requirement):
    """The tests of a model read at most one of these columns.

    Parameters
    ----------
    columns : sequence of str
        Two or more names; as text with commas between them.

    Raises
    ------
    SpecError
        If fewer than two columns are named.
    DataError
        When bound to data: a column that is not there.
    """

    name: ClassVar[str] = "exclusive"
    bare: ClassVar[tuple[str, ...]] = ("columns",)
    samples: ClassVar[tuple[str, ...]] = ('exclusive:"age,owner"',)
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"feature"})

    def __init__(self, columns: Any) -> None:
        self.columns = column_list(columns, "Exclusive", 2)

    def bind(self, data: Dataset, **context: Any) -> Exclusive:
        check_columns(data, self.columns, self)
        return self

    def _tested(self, data: Dataset) -> list[str]:
        return [name for name in self.columns if name in sources(data)]

    def build(self, model: Model, ports: Ports) -> None:
        # tests[v, c] => used[c],   sum_c used[c] <= 1
        names = self._tested(ports.data)
        if len(names) > 1:
            used = model.bool("column is tested", len(names))
            model.add(tests_on(model, ports, names, str(self)) <= used[None, :], f"{self}: tested columns")
            model.add(used.sum() <= 1, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of columns beyond the first."""
        return max(0, int(reads(graph, data, self.columns).any(axis=0).sum()) - 1)

    def allowed_features(self, data: Dataset) -> list[frozenset[int]]:
        every, own = (
            frozenset(range(data.n_features)),
            [features_of(data, name) for name in self._tested(data)],
        )
        if not own:
            return [every]
        rest = every - {int(f) for features in own for f in features}
        return [rest | frozenset(features.tolist()) for features in own]

    def in_words(self) -> str:
        return f"at most one of {', '.join(self.columns)} is tested"
