"""What stands above what on a path: a column once or a few times, and a column below another one only."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.paths import ColumnRule, PathRule, PathTests
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Model
from treeform.requirements.columns import (
    check_columns,
    column_groups,
    column_list,
    column_name,
    distinct_rows,
    features_of,
    paths_taken,
    reads,
    sources,
    tests_on,
)
from treeform.requirements.counted import AtMost, whole_count
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools, Ints
from treeform.utils.text import count_of


class MaxTestsPerPath(AtMost):
    """At most ``at_most`` tests of these columns on a path, all of them together.

    A path is what a row of the training data takes; in a tree these are all paths.

    Parameters
    ----------
    columns : str or sequence of str
        Names of columns; as text with commas between them.
    at_most : int
        At least 0.

    Raises
    ------
    SpecError
        If ``at_most`` is no such number.
    DataError
        When bound to data: a column that is not there.

    See Also
    --------
    MaxDepth : counts all tests.
    OncePerPath : each column by itself.
    """

    name: ClassVar[str] = "max_tests_per_path"
    bare: ClassVar[tuple[str, ...]] = ("columns",)
    samples: ClassVar[tuple[str, ...]] = ('max_tests_per_path:"age,owner",at_most=1',)
    counts: ClassVar[str] = "tests on a path"
    needs = frozenset({"feature", "reaches"})

    @renamed(k="at_most")
    def __init__(self, columns: Any, at_most: int) -> None:
        self.columns = column_list(columns, "MaxTestsPerPath")
        example = "MaxTestsPerPath(['age', 'income'], 2)"
        self.at_most = whole_count(at_most, 0, f"at most {at_most!r} tests on a path", example)

    def bind(self, data: Dataset, **context: Any) -> MaxTestsPerPath:
        check_columns(data, self.columns, self)
        return self

    def build(self, model: Model, ports: Ports) -> None:
        # passed[p, v] >= reaches[p, v] + tests[v] - 1,   sum_v passed[p, v] <= at_most
        names = [name for name in self.columns if name in sources(ports.data)]
        if names and self.at_most < ports.shape.depth:
            tests = tests_on(model, ports, names, str(self))
            if len(names) > 1:
                any_of_them = model.bool("test reads one of the columns", tests.shape[0])
                model.add(tests <= any_of_them[:, None], f"{self}: tests")
                tests = any_of_them.reshape(-1, 1)
            add_counted(model, ports, tests, self.at_most, str(self))

    def path_rule(self, data: Dataset) -> PathRule:
        return _AFewTimes(self.at_most, column_groups(data, [self.columns]))

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        tested = reads(graph, data, self.columns).any(axis=1)
        return int((paths_taken(graph, data) & tested).sum(axis=1).max())

    def in_words(self) -> str:
        return f"a path has at most {count_of(self.at_most, 'test')} of {' and '.join(self.columns)} together"


class OncePerPath(Requirement):
    """Each of these columns is tested at most once on a path, so that a rule has one condition on it.

    A path is what a row of the training data takes; in a tree these are all paths.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Names of columns; as text with commas between them. All columns by default.

    Raises
    ------
    DataError
        When bound to data: a column that is not there.
    """

    name: ClassVar[str] = "once_per_path"
    bare: ClassVar[tuple[str, ...]] = ("columns",)
    samples: ClassVar[tuple[str, ...]] = ("once_per_path",)
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"feature", "reaches"})

    def __init__(self, columns: Any = None) -> None:
        self.columns = None if columns is None else column_list(columns, "OncePerPath")

    def bind(self, data: Dataset, **context: Any) -> OncePerPath:
        check_columns(data, self.columns or (), self)
        return self

    def _names(self, data: Dataset) -> list[str]:
        return [name for name in sources(data) if self.columns is None or name in self.columns]

    def build(self, model: Model, ports: Ports) -> None:
        names = self._names(ports.data)
        if names and ports.shape.depth > 1:
            add_counted(model, ports, tests_on(model, ports, names, str(self)), 1, str(self))

    def path_rule(self, data: Dataset) -> PathRule:
        return _Once(column_groups(data, ([name] for name in self._names(data))))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of times that a column is tested again, over all different paths."""
        paths = paths_taken(graph, data).astype(int)
        counted = paths @ reads(graph, data, self._names(data)).astype(int)
        return int(np.maximum(counted - 1, 0).sum())

    def in_words(self) -> str:
        columns = "every column" if self.columns is None else f"each of {', '.join(self.columns)}"
        return f"{columns} is tested at most once on a path"


def add_counted(model: Model, ports: Ports, tests: Any, most: int, owner: str) -> None:
    """Rows: of the tests marked in each column of ``tests`` (V, C), at most so many are on a path."""
    # passed[p, v, c] >= reaches[p, v] + tests[v, c] - 1,   sum_v passed[p, v, c] <= most
    reaches = ports.reaches[distinct_rows(ports)]
    passed = model.bool("path passes a test of the column", (*reaches.shape, tests.shape[1]))
    model.add(passed >= reaches[:, :, None] + tests[None, :, :] - 1, f"{owner}: tests on paths")
    model.add(passed.sum(axis=1) <= most, owner)


class Below(Requirement):
    """A column is tested only below a test of another one.

    On each path that a row of the training data takes; in a tree these are all paths.

    Parameters
    ----------
    column : str
        The column whose tests are meant.
    above : str
        The column that has to be tested before, further up on the path.

    Raises
    ------
    SpecError
        If both are the same column.
    DataError
        When bound to data: a column that is not there.
    """

    name: ClassVar[str] = "below"
    bare: ClassVar[tuple[str, ...]] = ("column",)
    words: ClassVar[str] = "{column} is tested only below a test of {above}"
    samples: ClassVar[tuple[str, ...]] = ("below:owner,above=age",)
    demands_tests: ClassVar[bool] = True
    needs = frozenset({"feature", "reaches"})

    def __init__(self, column: str, above: str) -> None:
        column, above = column_name(column, "Below"), column_name(above, "Below")
        if column == above:
            raise SpecError(
                f"{column!r} cannot be tested only below itself",
                cause="its first test would have none above",
                fix="name another column as `above`",
            )
        self.column = column
        self.above = above

    def bind(self, data: Dataset, **context: Any) -> Below:
        check_columns(data, [self.column, self.above], self)
        return self

    def build(self, model: Model, ports: Ports) -> None:
        # passed[p, u] <= reaches[p, u],  passed[p, u] <= above[u];  nodes are numbered from the root downwards
        # sum_{u < v} passed[p, u] >= reaches[p, v] + column[v] - 1
        data = ports.data
        own, upper = features_of(data, self.column), features_of(data, self.above)
        if not len(own):
            return
        tests = ports.feature[:, own].sum(axis=1)
        if not len(upper):
            model.add(tests <= 0, str(self))
            return
        reaches, n_tests = ports.reaches[distinct_rows(ports)], ports.feature.shape[0]
        passed = model.bool("path passes the column above", reaches.shape)
        model.add(passed <= reaches, f"{self}: on the path")
        model.add(
            passed <= ports.feature[:, upper].sum(axis=1)[None, :], f"{self}: tests of the column above"
        )
        before = np.triu(np.ones((n_tests, n_tests), dtype=np.int64), 1)
        model.add(passed @ before >= reaches + tests[None, :] - 1, str(self))

    def path_rule(self, data: Dataset) -> PathRule:
        return _AfterTheOther(column_groups(data, [[self.above], [self.column]]))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of tests of the column that some row reaches without having passed one of the column above."""
        read = reads(graph, data, [self.column, self.above])
        routes, wrong = paths_taken(graph, data), 0
        for node in np.flatnonzero(read[:, 0]):  # parents come before their children
            reaching = routes[routes[:, node]]
            wrong += bool((~(reaching[:, :node] & read[:node, 1]).any(axis=1)).any())
        return wrong


class _AFewTimes(PathRule):
    """At most ``most`` tests of the features of group 0; the state is how many there were."""

    def __init__(self, most: int, group: Ints) -> None:
        self.most = most
        self.counted = group == 0

    @property
    def start(self) -> Hashable:
        return 0

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        assert isinstance(state, int)
        return np.asarray(~self.counted[tests.feature] | (state < self.most))

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        assert isinstance(state, int)
        return state + int(self.counted[feature])


class _Once(ColumnRule):
    """Each column at most once."""

    def may_follow(self, tested: frozenset[int], group: int) -> bool:
        return group not in tested


class _AfterTheOther(ColumnRule):
    """A test of group 1 only below one of group 0."""

    def may_follow(self, tested: frozenset[int], group: int) -> bool:
        return group == 0 or 0 in tested
