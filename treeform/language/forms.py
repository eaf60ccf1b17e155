"""Sums over rows, and inequalities between them: what a requirement is made of.

A :class:`Rows` hands out sums such as "the weight of these rows that are predicted this class". Sums are exact, and
can be added, multiplied by numbers and divided by them. A comparison of two is no truth value: it is an
:class:`Inequality`, from which `treeform.language.linear` derives rows for engines and solvers, and what a model lacks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.views import dense, first_of_each, with_columns
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.graph.routing import codes_of_points
from treeform.language.classes import class_code
from treeform.language.conditions import rows_where
from treeform.language.numbers import as_fraction
from treeform.utils.arrays import Bools, Ints

Condition = tuple[Ints, int]
"""The rows at which an array of codes has this code."""


@dataclass(frozen=True, eq=False)
class Total:
    """A whole number that adds up over rows and tests, in units of weight."""

    name: str
    """What it counts."""
    where: tuple[Condition, ...]
    """The rows that count are those that satisfy all of them."""
    table: Ints
    """(K, K) int64: what a unit of weight adds, by true and predicted class."""
    amount: Ints | None = None
    """(n,) int64 or None: by what that is multiplied for each row; None: 1."""
    per_test: Ints | None = None
    """(F,) int64 or None: what each test of an encoded feature adds; None: nothing."""

    def is_like(self, other: Total) -> bool:
        """Whether both count the same."""
        parts = [
            [*one.columns(), [code for _, code in one.where], one.table, one.per_test] for one in (self, other)
        ]
        return len(parts[0]) == len(parts[1]) and all(map(np.array_equal, *parts))

    def columns(self) -> list[Ints]:
        """Columns of shape (n,): rows of a class that agree in all of them add the same."""
        return [codes for codes, _ in self.where] + ([] if self.amount is None else [self.amount])

    def added(self, rows: Ints, truth: Ints) -> Ints:
        """(m, K) what a unit of weight of rows, of these true classes, adds by predicted class."""
        each = self.table[truth]
        for codes, code in self.where:
            each = each * (codes[rows] == code)[:, None]
        return np.asarray(each if self.amount is None else each * self.amount[rows][:, None])


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of totals with exact coefficients, and a constant."""

    terms: Mapping[Total, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    __array_ufunc__ = None  # numbers of NumPy leave arithmetic to this class
    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Sum:
        other = as_sum(other)
        terms = {
            t: self.terms.get(t, Fraction(0)) + other.terms.get(t, Fraction(0))
            for t in (*self.terms, *other.terms)
        }
        return Sum({t: c for t, c in terms.items() if c}, self.constant + other.constant)

    def __mul__(self, factor: Any) -> Sum:
        if isinstance(factor, Sum):
            raise SpecError(
                "a product of two sums over rows is not linear",
                cause="each of them depends on what is predicted",
                fix="multiply by a number, such as the weight of rows whatever is predicted",
            )
        by = as_fraction(factor, "the factor of a sum over rows")
        return Sum({t: c * by for t, c in self.terms.items() if c * by}, self.constant * by)

    def __truediv__(self, divisor: Any) -> Sum:
        if isinstance(divisor, Sum):
            raise SpecError(
                "a sum over rows cannot be divided by one that depends on what is predicted",
                cause="the quotient is not linear",
                fix="multiply the other side: counted >= rate * among",
            )
        by = as_fraction(divisor, "the divisor of a sum over rows")
        if not by:
            raise SpecError(
                "a sum over rows is divided by 0",
                cause="no row counts",
                fix="state nothing there: if weight: yield counted / weight <= rate",
            )
        return self * (1 / by)

    def __neg__(self) -> Sum:
        return self * -1

    def __sub__(self, other: Any) -> Sum:
        return self + -as_sum(other)

    def __rsub__(self, other: Any) -> Sum:
        return as_sum(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def __le__(self, other: Any) -> Inequality:
        return Inequality(self - other)

    def __ge__(self, other: Any) -> Inequality:
        return Inequality(as_sum(other) - self)

    def __eq__(self, other: object) -> Any:
        raise SpecError(
            "an equation of sums over rows is two inequalities",
            cause="a requirement states what is at most 0",
            fix="yield a <= b, and yield a >= b",
        )

    def is_like(self, other: Sum) -> bool:
        """Whether two sums, made in the same way, have the same totals and coefficients; constants may differ."""
        pairs = list(zip(self.terms.items(), other.terms.items(), strict=False))
        return len(self.terms) == len(other.terms) and all(
            c == d and a.is_like(b) for (a, c), (b, d) in pairs
        )

    def value(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The sum of a finished model, exactly."""
        return values_of([self], graph, data)[0]


class Tally:
    """Sums on models of one data set, exactly; numbers are taken as they are.

    Samples of one class that the sums cannot tell apart are of one kind, and counted together.
    """

    def __init__(self, sums: Iterable[Any], data: Dataset) -> None:
        made = list(map(as_sum, sums))
        kind, kinds, added = by_kind([total for one in made for total in one.terms], data)
        place = {total: index for index, total in enumerate(added)}
        self.terms = [([(c, place[t]) for t, c in one.terms.items()], one.constant) for one in made]
        self.per_test = [total.per_test for total in added]
        largest = max((abs(int(end)) for each in added.values() for end in (each.min(), each.max())), default=0)
        exact = np.int64 if largest * data.total_weight < 2**63 else object
        self.added = np.array(list(added.values()), exact).reshape(len(added), kinds * data.n_classes)
        points = data.points
        cell, cells = dense(points.index * kinds + kind, points.n_points * kinds)
        self.shape = kinds, data.n_classes
        self.point, self.kind, self.weight = points.index, kind, data.weights
        if cells < data.n_samples:  # else the arrays of the rows themselves do, which takes no memory
            first = first_of_each(cell, cells)
            self.point, self.kind, self.weight = self.point[first], kind[first], data.weight_by_code(cell, cells)

    def values(self, graph: DecisionGraph, data: Dataset) -> list[Fraction]:
        """What each of the sums is on a model; ``data``, which a tally does not keep alive, are those it is of."""
        predicted, classes = codes_of_points(graph, data), self.shape[1]
        if predicted.max() >= classes:
            if self.added.any():
                raise SpecError(
                    "a model cannot be judged on a table without a class that it predicts",
                    cause=f"the sums count rows by the classes of the table, of which there are {classes}",
                    fix="judge it on a table with the classes that it was learnt from",
                )
            predicted = np.zeros_like(predicted)  # only tests add to the sums, as those of regression trees
        code = self.kind * classes + predicted[self.point]
        # Sums of weights are below 2**53, so that bincount's doubles are exact.
        weight = np.bincount(code, self.weight, math.prod(self.shape)).astype(np.int64)
        known = [int(value) for value in self.added @ weight]
        for place, price in enumerate(self.per_test):
            if price is not None:
                known[place] += sum(int(price[f]) for test in graph.tests() for f in test.columns)
        return [sum((c * known[t] for c, t in terms), constant) for terms, constant in self.terms]


def values_of(sums: Iterable[Any], graph: DecisionGraph, data: Dataset) -> list[Fraction]:
    """Sums of a finished model, exactly."""
    return Tally(sums, data).values(graph, data)


def by_kind(totals: Iterable[Total], data: Dataset) -> tuple[Ints, int, dict[Total, Ints]]:
    """(n,) the kind of each row, by class and columns of the totals; how many; (kinds, K) what each total adds."""
    totals = dict.fromkeys(totals)
    columns = {id(column): column for total in totals for column in total.columns()}
    kind, kinds = with_columns(np.asarray(data.y), data.n_classes, columns.values())
    first = first_of_each(kind, kinds)
    return kind, kinds, {total: total.added(first, np.asarray(data.y)[first]) for total in totals}


def _whole(values: list[Any]) -> Ints:
    """Whole numbers as int64, or as those of Python where some are beyond it."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def as_sum(value: Any) -> Sum:
    """A sum, or a number as one."""
    return value if isinstance(value, Sum) else Sum({}, as_fraction(value, "a number in a sum over rows"))


@dataclass(frozen=True, eq=False)
class Inequality:
    """``excess <= 0``: the violation is the excess, in the units in which it is written."""

    excess: Sum

    def __bool__(self) -> bool:
        raise SpecError(
            "an inequality between sums over rows is neither true nor false",
            cause="it holds for some models and not for others",
            fix="yield it, or compare numbers: the weight of rows whatever is predicted is one",
        )


class Rows:
    """The rows that a requirement is about, and sums over them.

    Conditions name some of the rows: a mask with one entry per row, a text such as ``"region == 'north'"``, or a pair
    of an array of codes and one code. Classes are named by their labels, or by a (K,) mask over the class codes.

    Parameters
    ----------
    data : Dataset
    where : sequence of conditions
        Other rows do not exist here.
    """

    def __init__(self, data: Dataset, *where: Any) -> None:
        self.data = data
        self._made: dict[Any, Total] = {}
        self._weights: dict[tuple[int, ...], tuple[Ints, list[Any]]] = {}
        self._kept: list[Any] = []  # arrays are told apart by their addresses
        self._conditions: dict[Any, Condition] = {}
        self._where = tuple(map(self._condition, where))

    def within(self, *where: Any) -> Rows:
        """Those of the rows that satisfy conditions as well.

        Parameters
        ----------
        where
            Conditions, as text or as masks.
        """
        part = Rows(self.data)
        part.__dict__.update(self.__dict__)  # totals are shared, so that equal ones are one
        part._where = (*self._where, *map(self._condition, where))
        return part

    # -- sums ---------------------------------------------------------------------------------------------

    def weight(self, *where: Any, truth: Any = None, predicted: Any = None, name: str = "") -> Any:
        """The weight of some rows: with ``predicted`` a sum, of those that are predicted this class; else a number.

        Parameters
        ----------
        where
            Conditions.
        truth, predicted : label or (K,) bool, optional
            The true and the predicted class; several as a mask over the class codes.
        name : str, optional
            What is counted, for messages.

        Returns
        -------
        Sum, or Fraction
            In the user's unit of weight.
        """
        is_true = self._classes(truth)
        if predicted is None:
            return self.data.weight_unit * self._weight(where, is_true)
        table = np.outer(is_true, self._classes(predicted)).astype(np.int64)
        return self._sum(where, table, name or "weight predicted")

    def errors(self, *where: Any, name: str = "errors") -> Sum:
        """The weight misclassified.

        Parameters
        ----------
        where, name
            As of `weight`.
        """
        return self._sum(where, 1 - np.eye(self.data.n_classes, dtype=np.int64), name)

    def right(self, *where: Any, name: str = "classified correctly") -> Sum:
        """The weight classified correctly; parameters as of `errors`."""
        return self._sum(where, np.eye(self.data.n_classes, dtype=np.int64), name)

    def cost(self, matrix: Any, *where: Any, name: str = "cost") -> Sum:
        """The cost of predictions.

        Parameters
        ----------
        matrix : (K, K) array
            ``matrix[true class][predicted class]``: the cost of a unit of weight; decimals are taken as written.
        where, name
            As of `weight`.
        """
        exact = [[as_fraction(entry, "a cost") for entry in row] for row in matrix]
        step = Fraction(1, math.lcm(*(entry.denominator for row in exact for entry in row)))
        return self._sum(where, _whole([[int(v / step) for v in row] for row in exact]), name) * step

    def amount(
        self, amounts: Any, *where: Any, truth: Any = None, predicted: Any, name: str = "amount"
    ) -> Sum:
        """The sum of an amount of each row over those that are predicted a class, such as the money that is lent.

        Parameters
        ----------
        amounts : str or (n,) array
            The name of a column of numbers, or one number per row; each counts as the decimal that it is written as.
        where, truth, predicted, name
            As of `weight`.
        """
        given = self.data.column(amounts).tolist() if isinstance(amounts, str) else list(amounts)
        exact = [as_fraction(value, "an amount of a row") for value in given]
        if len(exact) != self.data.n_samples:
            raise SpecError(
                f"there are {len(exact)} amounts for {self.data.n_samples} rows",
                cause="there is one for each row that has weight",
                fix="name a column",
            )
        step = Fraction(1, math.lcm(*(value.denominator for value in exact)))
        table = np.outer(self._classes(truth), self._classes(predicted)).astype(np.int64)
        return self._sum(where, table, name, _whole([int(value / step) for value in exact])) * step

    def tests(self, features: Iterable[int], name: str = "tests") -> Sum:
        """The number of tests of some encoded features.

        Parameters
        ----------
        features : iterable of int
            Positions in ``data.columns``.
        name : str, optional
            What is counted, for messages.
        """
        per_test = np.zeros(self.data.n_features, dtype=np.int64)
        per_test[list(features)] = 1
        classes = self.data.n_classes
        return Sum({Total(name, (), np.zeros((classes, classes), np.int64), None, per_test): Fraction(1)})

    # -- parts --------------------------------------------------------------------------------------------

    def _sum(self, where: Any, table: Any, name: str, amount: Any = None) -> Sum:
        conditions = (*self._where, *map(self._condition, where))
        key = (tuple((id(codes), code) for codes, code in conditions), table.tobytes(), id(amount))
        self._kept.append(amount)
        total = self._made.setdefault(key, Total(name, conditions, table, amount))
        return Sum({total: Fraction(self.data.weight_unit)})

    def _weight(self, where: Any, truth: Bools) -> int:
        """In units: of all tuples of codes at once, since the next one asked for is often another code."""
        conditions = (*self._where, *map(self._condition, where))
        if not conditions:
            return int(self.data.class_weights[truth].sum())
        key = tuple(id(codes) for codes, _ in conditions)
        if key not in self._weights:
            at = np.asarray(self.data.y)
            cell, cells = with_columns(at, self.data.n_classes, [codes for codes, _ in conditions])
            first = first_of_each(cell, cells)
            told = [at[first], *(codes[first] for codes, _ in conditions)]
            self._weights[key] = (self.data.weight_by_code(cell, cells), told)
        weight, (classes, *columns) = self._weights[key]
        here = truth[classes]
        for column, (_, code) in zip(columns, conditions, strict=True):
            here = here & (column == code)
        return int(weight[here].sum())

    def _classes(self, given: Any) -> Bools:
        codes = np.arange(self.data.n_classes)
        if given is None:
            return codes >= 0
        if isinstance(given, np.ndarray) and given.dtype == bool and given.shape == codes.shape:
            return given
        return np.asarray(codes == class_code(given, self.data, "predicted"))

    def _condition(self, given: Any) -> Condition:
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], np.ndarray):
            self._kept.append(given[0])
            return given[0], int(given[1])
        key = given if isinstance(given, str) else id(given)
        if key not in self._conditions:
            self._kept.append(given)
            self._conditions[key] = (rows_where(given, self.data).astype(np.int64), 1)
        return self._conditions[key]
