"""Updates of a model in use: a new one that decides little differently, or keeps the upper part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.forms import Rows, Sum
from treeform.language.numbers import as_fraction
from treeform.language.paths import PathRule, PathTests
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Model
from treeform.requirements.amount import percent_text
from treeform.requirements.columns import check_columns, distinct_rows, features_of
from treeform.requirements.counted import SumsAtMost
from treeform.shape import UNIVARIATE
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools
from treeform.utils.rows import worded
from treeform.utils.text import decimal_text


class StayCloseTo(SumsAtMost):
    """At most this share of the training weight is predicted another class than by a model in use.

    Parameters
    ----------
    graph : DecisionGraph or path
        The model in use; as text the JSON file that `DecisionGraph.save` wrote. It may come from another table with the
        same columns. A class that is not among those of these data counts as another one whatever is predicted.
    at_most : float, str or Fraction
        The share. Within [0, 1]; taken as the decimal that it is written as.

    Raises
    ------
    SpecError
        If the share is not within [0, 1], or ``graph`` is no model.
    DataError
        When bound to data that lack columns of the model.

    Notes
    -----
    *Churn* in Milani Fard, Cormier, Canini and Gupta, Launch and iterate: reducing prediction churn, NeurIPS 2016.
    """

    name: ClassVar[str] = "stay_close_to"

    @renamed(changed="at_most")
    def __init__(self, graph: Any, at_most: Fraction | float | str) -> None:
        self.graph = model_in_use(graph, "StayCloseTo")
        self.at_most = as_fraction(at_most, "the share of stay_close_to")
        if not 0 <= self.at_most <= 1:
            raise SpecError(
                f"a share of {decimal_text(abs(self.at_most))} is not possible",
                cause="it is within [0, 1]",
                fix="write for example "
                + worded("StayCloseTo(graph, at_most=0.05)", "stay_close_to:model.json,at_most=0.05"),
            )
        self._codes: tuple[Dataset, np.ndarray] | None = None

    def bind(self, data: Dataset, **context: Any) -> StayCloseTo:
        return self._copy(_codes=(data, _codes(self.graph, data)))

    def decided_before(self, data: Dataset) -> np.ndarray:
        """(n,) class code of each row by the model in use; -1 where it is no class of these data."""
        if self._codes is None or self._codes[0] is not data:
            self._codes = (data, _codes(self.graph, data))
        return self._codes[1]

    def sums(self, rows: Rows) -> Iterator[Sum]:
        before, codes = self.decided_before(rows.data), np.arange(rows.data.n_classes)
        changed = sum(rows.weight((before, code), predicted=codes != code) for code in np.unique(before))
        yield changed / rows.weight()

    @property
    def bound_name(self) -> str:
        return "changed"

    def __str__(self) -> str:
        return f"{self.name}:at_most={decimal_text(self.at_most)}"

    def in_words(self) -> str:
        return (
            f"at most {percent_text(self.at_most)} of the rows are decided otherwise than by the model in use"
        )


class Fix(Requirement):
    """The model begins with given tests, at the same rows.

    For each test of ``graph`` there is one in the model that reads the same column and no other, is reached by the same
    training rows, and parts them in the same way. Below the leaves of ``graph`` the model is free.

    Parameters
    ----------
    graph : DecisionGraph or path
        A tree over the columns of these data; as text the JSON file that `DecisionGraph.save` wrote. The classes at its
        leaves do not matter.

    Raises
    ------
    SpecError
        If it is no tree with tests of one column.
    Infeasible
        When bound to data on which one of its tests parts nothing.
    """

    name: ClassVar[str] = "fix"
    words: ClassVar[str] = "the upper part of the model is the one given"
    demands_tests: ClassVar[bool] = True
    needs = frozenset({"feature", "reaches", "branch"})

    def __init__(self, graph: Any) -> None:
        self.graph = model_in_use(graph, "Fix")
        if (
            not self.graph.is_tree
            or not self.graph.is_univariate
            or any(t.passes for t in self.graph.tests())
        ):
            raise SpecError(
                "the upper part that is given is no tree with tests of one column",
                cause="each of its tests is looked for in the model",
                fix="give a tree, for example tf.DecisionGraph.from_nested(('age', 40, 0, 1), data)",
            )

    def bind(self, data: Dataset, **context: Any) -> Fix:
        check_columns(data, [self.graph.columns[f].source for f in self.graph.features_used()], self)
        for column, reached, right in self._tests(data):
            if not right.any() or (right == reached).all():
                raise Infeasible(
                    f"{self} is infeasible",
                    cause=f"a test of {column!r} sends all training rows that reach it to one side",
                    fix="leave out this test",
                )
        return self

    def _tests(self, data: Dataset) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Of each test: the column, (P,) the points that reach it, (P,) those that go right."""
        graph = self.graph
        X = encoded_for(graph, data)[np.unique(np.asarray(data.points.index), return_index=True)[1]]
        visits, left = graph.route(X), graph.goes_left(X)
        return [
            (
                graph.columns[test.columns[0]].source,
                visits[:, test.node],
                visits[:, test.node] & ~left[:, test.node],
            )
            for test in graph.tests()
        ]

    def build(self, model: Model, ports: Ports) -> None:
        # at[u, v]: the test u that is given stands at the node v.   sum_v at[u, v] = 1
        # at[u, v] => feature[v, column of u] and no other column,   reaches[p, v] = 1 iff p reaches u,
        #             branch[p, v, right] = 1 iff p goes right there
        data, one = ports.data, distinct_rows(ports)
        reaches, branch = ports.reaches[one], ports.branch[one]
        tests = self._tests(data)
        at = model.bool("place of a given test", (len(tests), reaches.shape[1]))
        model.add(at.sum(axis=1) == 1, f"{self}: one place")
        if ports.shape.splits != UNIVARIATE:  # a hyperplane of several columns is no test of one
            several = ports.feature.sum(axis=1) - 1
            model.add(several[None, :] <= (data.n_features - 1) * (1 - at), f"{self}: one column")
        for u, (column, reached, right) in enumerate(tests):
            reading = ports.feature[:, features_of(data, column)].sum(axis=1)
            model.add(at[u] <= reading, f"{self}: column of test {u}")
            model.add(at[u][None, :] <= reaches[reached], f"{self}: rows that reach test {u}")
            if not reached.all():
                model.add(at[u][None, :] + reaches[~reached] <= 1, f"{self}: rows that do not reach test {u}")
            model.add(at[u][None, :] <= branch[right][:, :, 1], f"{self}: rows that go right at test {u}")
            low = reached & ~right
            model.add(at[u][None, :] <= branch[low][:, :, 0], f"{self}: rows that go left at test {u}")

    def path_rule(self, data: Dataset) -> PathRule:
        return _Given(self.graph, self._tests(data), data)

    def known_model(self, data: Dataset) -> DecisionGraph | None:
        graph = self.graph
        same = graph.columns == data.columns and not graph.values and data.quantity is None
        return graph.reclassified(data) if same and graph.n_classes == data.n_classes else None

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of tests that are not in the model."""
        X = data.points.X
        visits, left = graph.route(X), graph.goes_left(X)
        there = {
            (
                data.columns[f].source,
                visits[:, t.node].tobytes(),
                (visits[:, t.node] & ~left[:, t.node]).tobytes(),
            )
            for t in graph.tests()
            for f in t.columns[:1]
            if len(t.columns) == 1
        }
        return sum((name, a.tobytes(), b.tobytes()) not in there for name, a, b in self._tests(data))

    def __str__(self) -> str:
        return f"{self.name}:{self.graph.n_nodes} tests"


class _Given(PathRule):
    """The tests of a tree first; the state is the number of the test that has to come, -1 below all of them."""

    reads_points = True

    def __init__(
        self, graph: DecisionGraph, tests: list[tuple[str, np.ndarray, np.ndarray]], data: Dataset
    ) -> None:
        number = {test.node: index for index, test in enumerate(graph.tests())}
        self.below = [
            tuple(number.get(int(head), -1) for head in (graph.left[node], graph.right[node]))
            for node in number
        ]
        self.start_at = number.get(0, -1)
        self.tests = [
            (np.isin(np.arange(data.n_features), features_of(data, column)), reached, right)
            for column, reached, right in tests
        ]

    @property
    def start(self) -> Hashable:
        return self.start_at

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        assert isinstance(state, int)
        if state < 0:
            return np.ones(len(tests.feature), dtype=bool)
        of_column, reached, right = self.tests[state]
        alike = (tests.right[reached] == right[reached][:, None]).all(axis=0)
        return np.asarray(of_column[tests.feature] & alike)

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        assert isinstance(state, int)
        return -1 if state < 0 else self.below[state][int(right)]

    def may_end(self, state: Hashable) -> bool:
        return state == -1


def model_in_use(given: Any, owner: str) -> DecisionGraph:
    """A model: one in hand, its JSON value, or the file that holds it. Raises SpecError if it is none of these."""
    if isinstance(given, DecisionGraph):
        return given
    if isinstance(given, Mapping):
        return DecisionGraph.from_json(given)
    if isinstance(given, str | Path):
        return DecisionGraph.load(Path(given))
    raise SpecError(
        f"{owner} takes a model, not {given!r}",
        cause="it is a DecisionGraph, or the path of a JSON file with one",
        fix="pass result.graph, or the file that result.graph.save(...) wrote",
    )


def encoded_for(graph: DecisionGraph, data: Dataset) -> np.ndarray:
    """(n, F) the training rows as the model reads them."""
    if graph.encoder is None or graph.columns == data.columns:
        return np.asarray(data.X)
    table = data.frame if data.frame is not None else data.table.matrix
    return np.asarray(graph.encode(table, "other"))[data.kept_rows]


def _codes(graph: DecisionGraph, data: Dataset) -> np.ndarray:
    labels = [str(label) for label in graph.classes]
    known = {str(label): code for code, label in enumerate(data.classes)}
    code_of = np.array([known.get(label, -1) for label in labels], dtype=np.int64)
    return np.asarray(code_of[graph.predict_codes(encoded_for(graph, data))])
