"""Requirements on the columns that tests may use: how many, and in which direction they may matter."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.data.views import chunks
from treeform.errors import DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.routing import codes_of_points, moved
from treeform.language.classes import positive_code
from treeform.language.meetings import Clash, Meetings
from treeform.language.objective_text import stated
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.language.values import ValueOrder, ValueRule
from treeform.model import Expr, Model, any_of
from treeform.requirements.columns import column_name
from treeform.requirements.counted import PayableAtMost, whole_count
from treeform.shape import UNIVARIATE, Limits, Shape
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.rows import worded

DIRECTIONS = ("increasing", "decreasing")


class FeatureBudget(PayableAtMost):
    """At most ``at_most`` columns of the table are tested, each any number of times.

    The levels of a categorical column are one column.

    Parameters
    ----------
    at_most : int
        At least 0.
    """

    name: ClassVar[str] = "feature_budget"
    samples: ClassVar[tuple[str, ...]] = ("feature_budget:1",)
    counts: ClassVar[str] = "columns"
    of_values: ClassVar[bool] = True
    needs = frozenset({"feature"})

    @renamed(k="at_most")
    def __init__(self, at_most: int) -> None:
        self.at_most = whole_count(at_most, 0, f"a model that tests at most {at_most!r} columns", "FeatureBudget(3)")

    def number(self, model: Model, ports: Ports) -> Expr:
        # feature[v, f] => used[column of f]
        return tested_columns(model, ports, str(self)).sum()

    def most(self, data: Dataset, shape: Shape) -> int:
        return len({column.source for column in data.columns})

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return len({data.columns[f].source for f in graph.features_used()})

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_features=self.at_most)

    def in_words(self) -> str:
        return f"at most {self.at_most} {'columns are' if self.at_most != 1 else 'column is'} tested"


def tested_columns(model: Model, ports: Ports, owner: str) -> Expr:
    """(columns of the table,) whether some test reads the column, in the order of their first features."""
    sources = [column.source for column in ports.data.columns]
    places = {name: place for place, name in enumerate(dict.fromkeys(sources))}
    used = model.bool("column is tested", len(places))
    of = np.array([places[source] for source in sources])
    model.add(ports.feature <= used[of][None, :], f"{owner}: tested columns")
    return used


class Monotone(Requirement):
    """A greater value of a column never turns a prediction against the positive class, or to a smaller value.

    For every test of the column: if some sample that goes to the lower side is predicted the positive class,
    so are all that go to the upper side. A multivariate test is one of the column if the column's weight in it is
    not 0; where the weight is negative, the side of greater sums is the lower one. In a tree whose leaves all have
    samples, raising the column's value of anything, and nothing else, then never turns a positive prediction into
    another one: the two paths part at a test of the column. The condition is sufficient, not necessary: a tree can
    be monotone without it. Under losses of regression the same is asked of values: at every test of the column, no
    sample that goes to the lower side is predicted a greater value than one that goes to the upper side.

    Samples without a value in the column have no place in the order: at tests of the column they count for neither
    side, and a test whether the value is missing is free. What holds for leaves with samples then holds for leaves with
    samples that have a value.

    Parameters
    ----------
    column : str
        A numeric, boolean, ordered or date column.
    direction : {"increasing", "decreasing"}
        Whether greater values are for or against the positive class, or a greater prediction.
    positive : label, optional
        By default, with two classes, the greater label. None under losses of regression.

    Raises
    ------
    SpecError
        If the direction is unknown, or the positive class is not given or unknown, or given in regression.
    DataError
        When bound to data: an unknown or categorical column.
    """

    name: ClassVar[str] = "monotone"
    bare: ClassVar[tuple[str, ...]] = ("column", "direction")
    samples: ClassVar[tuple[str, ...]] = (
        "monotone:age,increasing,positive=1",
        "monotone:owner,decreasing,positive=0",
    )
    demands_tests: ClassVar[bool] = False
    of_rows: ClassVar[bool] = True
    of_values: ClassVar[bool] = True
    needs = frozenset({"falling", "feature", "branch", "predicted"})

    @renamed(favourable="positive")
    def __init__(self, column: str, direction: str = "increasing", positive: Any = None) -> None:
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise SpecError(
                f"the direction {direction!r} is not known",
                cause="it is 'increasing' or 'decreasing'",
                fix="use for example "
                + worded(
                    f"Monotone({column!r}, 'increasing')",
                    f"{stated('monotone', column, 'increasing')} (a column with commas in quotes)",
                ),
            )
        self.column = column_name(column, "Monotone")
        self.direction = direction
        self.positive = positive

    def bind(self, data: Dataset, **context: Any) -> Monotone:
        self._features(data)
        if data.quantity is not None:
            return self._of_values()
        return Monotone(self.column, self.direction, plain(data.classes[self._code(data)]))

    def _of_values(self) -> Monotone:
        if self.positive is not None:
            raise SpecError(
                f"{self} names a positive class",
                cause="the leaves of a regression model hold values",
                fix="leave out positive: greater predictions are compared",
            )
        bound = Monotone(self.column, self.direction)
        bound.needs = frozenset({"feature", "branch", "value"})
        return bound

    def _features(self, data: Dataset) -> list[int]:
        """The features that the column became: two of them where values are missing."""
        columns = [f for f, column in enumerate(data.columns) if column.source == self.column]
        if not columns:
            names = dict.fromkeys(column.source for column in data.columns)
            raise DataError(
                f"{self} names a column that no test uses",
                cause=f"the features are {', '.join(names)}",
                fix="name one of these columns",
            )
        if data.columns[columns[0]].kind == "category":
            raise DataError(
                f"{self} names the categorical column {self.column!r}",
                cause="its levels have no order",
                fix="encode it as numbers in the order that is meant",
            )
        return columns

    def _has_value(self, data: Dataset, X: Floats) -> Bools:
        """Which encoded rows have a value in the column."""
        f = self._features(data)[0]
        return ~data.columns[f].missing_values(X[:, f])

    def _code(self, data: Dataset) -> int:
        return positive_code(self.positive, data, self)

    def build(self, model: Model, ports: Ports) -> None:
        # not (feature[v, f] and good[v] and bad[v]), where the lower side is the left one; and with falling[v, f] in
        # place of feature[v, f], where a weight below 0 makes it the right one
        features, low = self._features(ports.data), 0 if self.direction == "increasing" else 1
        if ports.data.quantity is not None:
            self._build_of_values(model, ports, features, low)
            return
        good, bad = self._reached(model, ports, low)
        if ports.shape.splits == UNIVARIATE:
            for f in features:
                model.add(any_of(~ports.feature[:, f], ~good, ~bad), str(self))
            return
        (f,) = features  # hyperplanes read no column with missing values
        model.add((ports.feature - ports.falling)[:, f] + good + bad <= 2, str(self))
        good, bad = self._reached(model, ports, 1 - low)
        model.add(ports.falling[:, f] + good + bad <= 2, f"{self}: weights below 0")

    def _build_of_values(self, model: Model, ports: Ports, features: list[int], low: int) -> None:
        """A level at each test of the column: what goes to the lower side is at most that, the rest at least."""
        # value[i] <= level[v] + R (2 - side[i, v, low] - feature[v, f])
        # value[i] >= level[v] - R (2 - side[i, v, high] - feature[v, f]),   R = max y - min y
        quantity = ports.data.quantity
        assert quantity is not None
        reads = ports.feature[:, features].sum(axis=1)
        level = model.integer("level of a test", reads.size, quantity.lowest, quantity.highest)
        span, rows = quantity.highest - quantity.lowest, self._rows(ports)
        above = ports.value[rows][:, None] - level
        lower, upper = (ports.branch[rows, :, side] for side in (low, 1 - low))
        model.add(above <= span * (2 - lower - reads), f"{self}: lower side")
        model.add(above >= -span * (2 - upper - reads), f"{self}: upper side")

    def _rows(self, ports: Ports) -> Ints:
        """Rows of the data with equal features state the same; those without a value in the column state nothing."""
        rows = np.unique(np.asarray(ports.points.index), return_index=True)[1]
        return np.asarray(rows[self._has_value(ports.data, ports.data.X[rows])])

    def _reached(self, model: Model, ports: Ports, low: int) -> tuple[Expr, Expr]:
        """Whether a positive sample is on side ``low`` of each test, and an negative one on the other side."""
        # side[i, v, low] and favoured[i]      =>  good[v]
        # side[i, v, high] and not favoured[i]  =>  bad[v]
        favoured = ports.predicted[:, self._code(ports.data)][:, None]
        n_tests = ports.feature.shape[0]
        good = model.bool("positive on the lower side", n_tests)
        bad = model.bool("negative on the upper side", n_tests)
        rows = self._rows(ports)
        model.add(good[None, :] >= ports.branch[rows, :, low] + favoured[rows] - 1, f"{self}: lower side")
        model.add(bad[None, :] >= ports.branch[rows, :, 1 - low] - favoured[rows], f"{self}: upper side")
        return good, bad

    def meetings(self, data: Dataset) -> Meetings:
        positive = np.arange(data.n_classes) == self._code(data)
        by_class = np.stack([positive, ~positive], axis=1)
        per_sample = by_class & self._has_value(data, data.X)[:, None, None]
        sides = ((0,), (1,)) if self.direction == "increasing" else ((1,), (0,))
        clashes = tuple(Clash(f, *sides) for f in self._features(data))
        return Meetings((f"{self}: positive", f"{self}: negative"), per_sample, clashes)

    def value_rule(self, data: Dataset) -> ValueRule | None:
        if data.quantity is None:
            return None
        features = frozenset(self._features(data))
        order = ValueOrder(features, self._has_value(data, data.X), self.direction == "increasing")
        return ValueRule(orders=(order,))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of tests that are the wrong way round, of those that read the column."""
        features, X = self._features(data), data.points.X
        has_value = self._has_value(data, X)
        rank = codes_of_points(graph, data)[has_value]  # values ascend with their codes
        if data.quantity is None:
            rank = (rank == self._code(data)).astype(np.int64)
        counted, known = np.flatnonzero(has_value), np.unique(rank)
        ranks = np.zeros((len(graph.feature), 2, len(known)), dtype=bool)  # those that leave a test by each side
        for part in chunks(len(rank), X.shape[1] + len(known)):
            ranks |= moved(graph, X[counted[part]], (rank[part, None] == known).astype(np.int64))[1] > 0
        broken = 0
        for test in graph.tests():
            weight = sum(test.weight(f) for f in features)  # a test reads one of them at most
            if weight == 0:
                continue
            # Greater values of the column lead to the right where its weight is positive, else to the left.
            left_is_lower = (weight > 0) == (self.direction == "increasing")
            lower, upper = (np.flatnonzero(side) for side in ranks[test.node][:: 1 if left_is_lower else -1])
            broken += bool(lower.size and upper.size and lower[-1] > upper[0])
        return broken

    def in_words(self) -> str:
        if "value" in self.needs:
            lowers = "lowers" if self.direction == "increasing" else "raises"
            return f"a greater {self.column} never {lowers} the predicted value"
        more = "less" if self.direction == "increasing" else "more"
        positive = "the positive class" if self.positive is None else self.positive
        return f"a greater {self.column} never makes {positive} {more} likely"
