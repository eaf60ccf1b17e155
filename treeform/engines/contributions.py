"""What samples and tests add to the cost and to the linear constraints over sums of a task, in whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.views import dense, first_of_each, with_columns
from treeform.engines.task import TreeTask
from treeform.errors import SpecError
from treeform.language.meetings import Meetings

NO_BOUND = (2**63 - 1) // 4
LARGEST_SUM = 2**61


class Clashes:
    """The clashes of meetings, for tests that each read one encoded feature.

    ``mark``, (M, classes) int64: marks of each kind, as sums of powers of two. ``begin``, (T + 1,) int32: the clashes
    of test t are those from ``begin[t]`` to ``begin[t + 1]``. ``low`` and ``high``, (number of clashes,) int64: marks
    that must not meet there.
    """

    def __init__(
        self, meetings: Meetings | None, samples: NDArray[np.int64], classes: int, features: NDArray[np.int32]
    ) -> None:
        self.mark = np.zeros((len(samples), classes), dtype=np.int64)
        of_feature: dict[int, list[tuple[int, int]]] = {}
        if meetings is not None:
            self.mark = np.ascontiguousarray(meetings.masks[samples])
            for clash in meetings.clashes:
                of_feature.setdefault(clash.feature, []).append(clash.masks)
        count = np.zeros(len(features) + 1, dtype=np.int64)  # there may be millions of tests
        for feature, pairs in of_feature.items():
            count[1:][features == feature] = len(pairs)
        self.begin = np.cumsum(count).astype(np.int32)
        clashing = features[count[1:] > 0].tolist()
        masks = np.array([pair for one in clashing for pair in of_feature[one]], dtype=np.int64).reshape(-1, 2)
        self.low, self.high = (np.ascontiguousarray(side) for side in masks.T)


class Contributions:
    """The arrays of one task.

    Samples whose costs and totals are equal, whatever is predicted, are of one kind.

    Raises SpecError if a row's sums could leave 64 bits.

    Parameters
    ----------
    features : (T,) int32
        The encoded feature of each test.

    Attributes
    ----------
    kind : (n,) int64
        The kind of each sample.
    samples : (M,) int64
        A sample of each kind.
    weight : list of M int
        Of all samples of a kind together.
    cost : (M, classes) int64
    row : (M, classes, R) int64
        What a unit of weight adds to each row.
    test_row : (T, R) int64
    leaf_row : (classes, R) int64
        What a leaf adds by itself.
    lo, hi : (R,) int64
        Sides of the rows, `NO_BOUND` where there is none.
    """

    def __init__(self, data: Dataset, task: TreeTask, features: NDArray[np.int32]) -> None:
        self.kind, self.samples = self._kinds(data, task)
        self.weight = data.weight_by_code(self.kind, len(self.samples)).tolist()
        self.cost = np.ascontiguousarray(task.cost_of_samples(data, self.samples), dtype=np.int64)
        self._set_rows(data, task, self.samples, features)

    @staticmethod
    def _kinds(data: Dataset, task: TreeTask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The kind of each sample, and a sample of each kind."""
        columns: list[NDArray[np.integer]] = []
        if task.sample_cost is not None:  # a cost matrix says the same of all samples of a class
            columns.extend(task.sample_cost.T)
        if task.meetings is not None:
            columns.extend(task.meetings.masks.T)
        totals = task.totals
        if totals is None or totals.kind is None:
            columns += [] if totals is None else totals.columns()
            code, codes = with_columns(*dense(data.y, data.n_classes), columns)
            return code, first_of_each(code, codes)
        code, codes = dense(totals.kind, len(totals.added))
        first = first_of_each(code, codes)
        if columns or (data.y[first][code] != data.y).any():
            code, codes = with_columns(code, codes, [data.y, *columns])
            first = first_of_each(code, codes)
        # Kinds of totals may differ in what none of them counts: those that add the same are one.
        added = totals.of_samples(first).reshape(codes, -1)
        kind, kinds = with_columns(
            data.y[first], data.n_classes, [*(column[first] for column in columns), *added.T]
        )
        return (code, first) if kinds == codes else (kind[code], first[first_of_each(kind, kinds)])

    def _set_rows(
        self, data: Dataset, task: TreeTask, samples: NDArray[np.int64], features: NDArray[np.int32]
    ) -> None:
        kinds, classes, tests = len(samples), data.n_classes, len(features)
        per_kind: list[list[list[int]]] = []  # [row][kind][class]
        per_test: list[list[int]] = []
        per_leaf: list[list[int]] = []
        sides: list[tuple[int | None, int | None]] = []
        if task.totals is not None:
            totals = task.totals
            per_class = totals.of_samples(samples).tolist()
            on_test = None if totals.per_test is None else totals.per_test[features].tolist()
            on_leaf = None if totals.per_leaf is None else totals.per_leaf.tolist()
            for total_row in totals.rows:
                row = total_row.reduced()
                per_kind.append(
                    [[_dot(row.coef, per_class[k][c]) for c in range(classes)] for k in range(kinds)]
                )
                per_test.append([0] * tests if on_test is None else [_dot(row.coef, t) for t in on_test])
                per_leaf.append(
                    [0] * classes if on_leaf is None else [_dot(row.coef, leaf) for leaf in on_leaf]
                )
                sides.append((row.lo, row.hi))
        most_tests = 0 if task.max_features == 0 else task.max_nodes
        if most_tests is not None:
            per_kind.append([[0] * classes for _ in range(kinds)])
            per_test.append([1] * tests)
            per_leaf.append([0] * classes)
            sides.append((None, most_tests))
        for r in range(len(sides)):
            sides[r] = _exact_sides(sides[r], per_kind[r], per_test[r], per_leaf[r], self.weight, task.depth)
        n = len(sides)
        shaped = np.array(per_kind, dtype=np.int64).reshape(n, kinds, classes)
        self.row = np.ascontiguousarray(shaped.transpose(1, 2, 0))
        self.test_row = np.ascontiguousarray(np.array(per_test, dtype=np.int64).reshape(n, tests).T)
        self.leaf_row = np.ascontiguousarray(np.array(per_leaf, dtype=np.int64).reshape(n, classes).T)
        self.lo = np.array([-NO_BOUND if lo is None else lo for lo, _ in sides], dtype=np.int64)
        self.hi = np.array([NO_BOUND if hi is None else hi for _, hi in sides], dtype=np.int64)


def _dot(coef: tuple[int, ...], values: list[int]) -> int:
    return sum(c * v for c, v in zip(coef, values, strict=True) if c)


def _exact_sides(
    sides: tuple[int | None, int | None],
    per_kind: list[list[int]],
    per_test: list[int],
    per_leaf: list[int],
    weight: list[int],
    depth: int,
) -> tuple[int | None, int | None]:
    """The sides that some tree could violate; sums are computed in Python's integers, so that none can overflow.

    Raises SpecError if the row's sum could exceed 2**61.
    """
    tests = 2**depth - 1
    most = sum(w * max(values) for w, values in zip(weight, per_kind, strict=True))
    least = sum(w * min(values) for w, values in zip(weight, per_kind, strict=True))
    most += tests * max([0, *per_test]) + (tests + 1) * max([0, *per_leaf])
    least += tests * min([0, *per_test]) + (tests + 1) * min([0, *per_leaf])
    if max(most, -least) >= LARGEST_SUM:
        raise SpecError(
            "a requirement on totals cannot be counted exactly",
            cause=f"a linear constraint over sums reaches {max(most, -least):.3g}, the limit is 2**61",
            fix="round the sample weights (weight_grid=...), or the rates of the requirement, to fewer digits",
        )
    lo, hi = sides
    lo = None if lo is None or lo <= least else min(lo, most + 1)
    hi = None if hi is None or hi >= most else max(hi, least - 1)
    return lo, hi
