"""Totals: whole numbers that add up over samples, tests and leaves, and rows over them.

A requirement that can be stated over totals is supported by the native search for totals (`TotalsSearch`).
The default is derived from the rows over predictions that a requirement states for solvers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.views import first_of_each, with_columns
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class TotalRow:
    """A linear constraint over sums, in whole numbers: ``lo <= coef @ totals <= hi``.

    Attributes
    ----------
    coef : tuple of K int
    lo, hi : int or None
        None: no bound on that side.
    unit : int or Fraction
        What a sum that is one beyond a side lacks in the user's units; see `Requirement.shortfall`.
    """

    coef: tuple[int, ...]
    lo: int | None = None
    hi: int | None = None
    unit: int | Fraction = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "coef", tuple(_whole(c, "a coefficient") for c in self.coef))
        for side in ("lo", "hi"):
            value = getattr(self, side)
            object.__setattr__(self, side, None if value is None else _whole(value, f"the bound {side}"))
        if self.lo is None and self.hi is None:
            raise SpecError("a row of totals has no bound", fix="give lo, hi or both")
        if self.unit <= 0:
            raise SpecError(
                f"the unit {self.unit} of a row of totals is not positive",
                cause="it is what a sum that is one beyond a side lacks",
                fix="turn the signs of coefficients and sides",
            )

    def reduced(self) -> TotalRow:
        """The same row divided by the common divisor of its coefficients; the sides are rounded inwards."""
        step = math.gcd(*self.coef)
        if step <= 1:
            return self
        lo = None if self.lo is None else -((-self.lo) // step)
        hi = None if self.hi is None else self.hi // step
        return TotalRow(tuple(c // step for c in self.coef), lo, hi)


@dataclass(frozen=True, eq=False)
class Totals:
    """K totals of a model, and the rows that an admissible model satisfies.

    Total k is ``sum_i weight_i * added[kind_i, predicted_i, k]``, and ``per_test[its feature, k]`` for each test, and
    ``per_leaf[its class, k]`` for each leaf.

    Attributes
    ----------
    names : tuple of K str
        What each total counts.
    added : (M, classes, K) int64
        What a unit of weight of a sample of kind m adds when it is predicted class c.
    rows : tuple of TotalRow
    per_test : (F, K) int64 or None
        What a test of encoded feature f adds; None: nothing. A pass-through adds nothing, a multivariate test what each
        of its columns adds.
    kind : (n,) int64 or None
        The kind of each sample; None: each sample is a kind of its own, and ``added`` has a row for each.
    per_leaf : (classes, K) int64 or None
        What a leaf of each class adds, whatever samples reach it; None: nothing. The models are trees.

    Raises
    ------
    SpecError
        If shapes do not fit or entries are not whole.

    Examples
    --------
    One total, "approved", of at most 30:

    >>> added = np.zeros((4, 2, 1), dtype=np.int64)
    >>> added[:, 1, 0] = 1
    >>> Totals(("approved",), added, (TotalRow((1,), hi=30),)).n_totals
    1
    """

    names: tuple[str, ...]
    added: Ints
    rows: tuple[TotalRow, ...]
    per_test: Ints | None = None
    kind: Ints | None = None
    per_leaf: Ints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "added", _whole_array(self.added, 3, self.n_totals, "added"))
        for name in ("per_test", "per_leaf"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _whole_array(given, 2, self.n_totals, name))
        for row in self.rows:
            if len(row.coef) != self.n_totals:
                raise SpecError(
                    f"a row has {len(row.coef)} coefficients for {self.n_totals} totals",
                    fix="give one coefficient for each total",
                )
        if self.kind is not None:
            object.__setattr__(self, "kind", _kinds(self.kind, len(self.added)))

    @property
    def n_totals(self) -> int:
        """K."""
        return len(self.names)

    @property
    def of_nodes(self) -> bool:
        """Whether tests or leaves add something by themselves."""
        return self.per_test is not None or self.per_leaf is not None

    @property
    def per_sample(self) -> Ints:
        """(n, classes, K) int64: what a unit of weight of each sample adds, by the class predicted."""
        return self.added if self.kind is None else self.added[self.kind]

    def of_samples(self, samples: Ints) -> Ints:
        """The entries of `per_sample` for some samples."""
        return self.added[samples if self.kind is None else self.kind[samples]]

    def of_predictions(self, predicted: Ints) -> Ints:
        """(n, K): what a unit of weight of each sample adds when it is predicted that class."""
        return self.added[np.arange(len(predicted)) if self.kind is None else self.kind, predicted]

    def where(self, here: Bools) -> Totals:
        """The same over some of the samples."""
        if self.kind is None:
            return replace(self, added=self.added[here])
        return replace(self, kind=self.kind[here])

    def columns(self) -> list[Ints]:
        """Columns of shape (n,): samples that agree in all of them add the same."""
        return list(self.added.reshape(len(self.added), -1).T) if self.kind is None else [self.kind]

    def weighted(self, coef: NDArray[Any]) -> NDArray[Any]:
        """(n, classes): what a unit of weight of each sample adds to a row of those coefficients."""
        each: NDArray[Any] = self.added @ coef
        return each if self.kind is None else each[self.kind]

    def row_text(self, row: TotalRow) -> str:
        """What a row compares, in words: the totals in it."""
        return " against ".join(name for name, c in zip(self.names, row.coef, strict=True) if c)

    def values(self, graph: DecisionGraph, data: Dataset) -> list[int]:
        """The totals of a model, exactly."""
        predicted = graph.predict_codes(data.X)
        if self.kind is None:
            each, weight = self.of_predictions(predicted), data.weights
        else:  # one summand for each kind and prediction
            at = self.kind * data.n_classes + predicted
            by_cell = data.weight_by_code(at, len(self.added) * data.n_classes)
            cells = np.flatnonzero(by_cell)
            each, weight = self.added[cells // data.n_classes, cells % data.n_classes], by_cell[cells]
        each = each.astype(object)
        sums = (each * np.asarray(weight).astype(object)[:, None]).sum(axis=0) if self.n_totals else []
        values = [int(v) for v in sums]
        if self.per_test is not None:
            for f in (column for test in graph.tests() for column in test.columns):
                values = [v + int(t) for v, t in zip(values, self.per_test[f], strict=True)]
        if self.per_leaf is not None:
            for label in graph.label[graph.feature < 0].tolist():
                values = [v + int(t) for v, t in zip(values, self.per_leaf[label], strict=True)]
        return values

    def excess(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        """The largest violation of a row in its unit, exactly; 0 if all are satisfied."""
        values = self.values(graph, data)
        worst: int | Fraction = 0
        for row in self.rows:
            value = sum(c * v for c, v in zip(row.coef, values, strict=True))
            under = 0 if row.lo is None else row.lo - value
            over = 0 if row.hi is None else value - row.hi
            worst = max(worst, row.unit * max(over, under))
        return worst


def of_prediction_rows(rows: Sequence[tuple[NDArray[Any], int]], name: str) -> Totals | None:
    """One total for each linear row over predictions (`Requirement.prediction_rows`); None when there is none."""
    if not rows:
        return None
    per_sample = np.stack([np.asarray(coef) for coef, _ in rows], axis=2)
    unit = np.eye(len(rows), dtype=int)
    return Totals(
        tuple(f"{name}, row {r + 1}" for r in range(len(rows))),
        per_sample,
        tuple(TotalRow(tuple(unit[r].tolist()), hi=int(side)) for r, (_, side) in enumerate(rows)),
    )


def joined(parts: Sequence[Totals]) -> Totals | None:
    """All totals side by side, with the rows of each; None when there are none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    width, at, rows = sum(part.n_totals for part in parts), 0, []
    for part in parts:
        before, after = (0,) * at, (0,) * (width - at - part.n_totals)
        rows += [replace(row, coef=(*before, *row.coef, *after)) for row in part.rows]
        at += part.n_totals
    per_test = _side_by_side([part.per_test for part in parts], parts)
    per_leaf = _side_by_side([part.per_leaf for part in parts], parts)
    names = tuple(name for part in parts for name in part.names)
    kind = _joint_kinds(parts)
    if kind is None:
        per_sample = np.concatenate([part.per_sample for part in parts], axis=2)
        return Totals(names, per_sample, tuple(rows), per_test, per_leaf=per_leaf)
    first = first_of_each(kind, int(kind.max()) + 1)
    added = np.concatenate([part.of_samples(first) for part in parts], axis=2)
    return Totals(names, added, tuple(rows), per_test, kind, per_leaf)


def _side_by_side(arrays: Sequence[Ints | None], parts: Sequence[Totals]) -> Ints | None:
    """What tests, or leaves, add to the totals of all parts; None where no part has any."""
    length = next((len(array) for array in arrays if array is not None), None)
    if length is None:
        return None
    pairs = zip(arrays, parts, strict=True)
    each = [np.zeros((length, part.n_totals), dtype=np.int64) if one is None else one for one, part in pairs]
    return np.concatenate(each, axis=1)


def _joint_kinds(parts: Sequence[Totals]) -> Ints | None:
    """Kinds of samples that tell those of all parts apart; None where some part has a kind for each sample."""
    kinds = [part.kind for part in parts if part.kind is not None]
    if len(kinds) < len(parts):
        return None
    return with_columns(kinds[0], len(parts[0].added), kinds[1:])[0]


def _kinds(value: Any, kinds: int) -> Ints:
    kind = np.asarray(value)
    if (
        kind.ndim != 1
        or kind.dtype.kind not in "iu"
        or (len(kind) and not 0 <= kind.min() <= kind.max() < kinds)
    ):
        raise SpecError(
            f"the kinds of samples of totals do not number the {kinds} kinds that are given",
            cause="each sample has a whole number from 0 on, the position of what it adds",
            fix="leave kind out, and give what each sample adds",
        )
    return _frozen(kind)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise SpecError(f"{what} of a row of totals is {value!r}", cause="totals are whole numbers")
    return int(value)


def _whole_array(value: Any, ndim: int, width: int, name: str) -> Ints:
    array = np.asarray(value)
    if array.ndim != ndim or array.shape[-1] != width or array.dtype.kind not in "iu":
        raise SpecError(
            f"{name} of totals has shape {array.shape} and type {array.dtype}",
            cause=f"it has {ndim} axes, the last with one whole number for each of the {width} totals",
            fix="scale fractions to whole numbers",
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise SpecError(f"{name} of totals leaves 64 bits", fix="divide by a common factor")
    return _frozen(array)


def _frozen(value: NDArray[Any]) -> Ints:
    """The array as a read-only one; itself where it is one already."""
    array = np.ascontiguousarray(value, dtype=np.int64)
    if array is value and array.flags.writeable:
        array = array.copy()
    array.setflags(write=False)
    return array
