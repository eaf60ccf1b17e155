"""How many different thresholds the tests of a column have."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.ports import Ports
from treeform.model import Expr, Model, concatenate, constant
from treeform.model.csr import as_matrix
from treeform.requirements.columns import check_columns, column_name, distinct_rows, features_of
from treeform.requirements.counted import AtMost, whole_count
from treeform.shape import UNIVARIATE, Shape
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools, Ints
from treeform.utils.text import count_of

MOST_SETS = 64
"""Sets of levels up to which they are listed for native engines."""


class MaxThresholds(AtMost):
    """The tests of a column compare it with at most ``at_most`` different thresholds.

    Tests that one threshold would let part their training rows in the same way count once, and get that threshold. Of a
    categorical column each level that is tested counts.

    Parameters
    ----------
    column : str
        By its name in the table.
    at_most : int
        At least 0.

    Raises
    ------
    SpecError
        If ``at_most`` is no such number; in shapes with hyperplanes, which compare sums of columns.
    DataError
        When bound to data: a column that is not there.
    """

    name: ClassVar[str] = "max_thresholds"
    bare: ClassVar[tuple[str, ...]] = ("column",)
    samples: ClassVar[tuple[str, ...]] = ("max_thresholds:age,at_most=1",)
    counts: ClassVar[str] = "thresholds"
    needs = frozenset({"feature", "reaches", "branch"})

    @renamed(k="at_most")
    def __init__(self, column: str, at_most: int) -> None:
        self.column = column_name(column, "MaxThresholds")
        self.at_most = whole_count(
            at_most, 0, f"at most {at_most!r} thresholds", f"MaxThresholds({column!r}, 2)"
        )

    def bind(self, data: Dataset, **context: Any) -> MaxThresholds:
        check_columns(data, [self.column], self)
        return self

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if shape.splits == UNIVARIATE:
            return None
        return SpecError(
            f"{self} has no meaning for {shape}",
            cause="hyperplanes compare sums of columns with their thresholds",
            fix="use splits='univariate'",
        )

    def build(self, model: Model, ports: Ports) -> None:
        # below[v, t]: the threshold of test v is at most the t-th;   used[t] >= below[v, t] - below[v, t - 1]
        # branch[p, v, right] <= below[v, rank of p - 1],   branch[p, v, left] <= 1 - below[v, rank of p - 1]
        # where v tests the feature;   sum_t used[t] <= at_most over all features of the column
        one, counted = distinct_rows(ports), []
        for f in features_of(ports.data, self.column).tolist():
            n_cuts = len(ports.data.ranks.values[f]) - 1
            tests = ports.feature[:, f]
            where = np.flatnonzero(_may_be_one(tests))
            if n_cuts < 1 or not len(where):
                continue
            tests = tests[where]
            rank = ports.data.ranks.codes[one, f]
            one_by_rank, rank = one[np.argsort(rank, kind="stable")], np.sort(rank)
            sides = [_stricter(ports.branch[one_by_rank][:, where, side].T, bool(side)) for side in (0, 1)]
            cuts = np.unique(np.concatenate([[n_cuts - 1], *(rank[point] - 1 for _, point, _ in sides)]))
            cuts = cuts[cuts >= 0]  # thresholds between two of them send the same rows to the same sides
            used = model.bool("threshold is used", len(cuts))
            below = model.bool("threshold is at most", (len(where), len(cuts)))
            zero, last = constant(np.zeros((len(where), 1))), tests.reshape(-1, 1)
            model.add(below[:, 1:] >= below[:, :-1], f"{self}: thresholds are ordered")
            model.add(below[:, -1:] >= last, f"{self}: each test has a threshold")
            reached = concatenate([zero, below], axis=1)  # (V, 1 + T): the threshold is less than a value
            steps = below - reached[:, :-1]
            model.add(used[None, :] >= steps + last - 1, f"{self}: thresholds in use")
            for side, (test, point, takes) in enumerate(sides):
                less = reached[test, np.searchsorted(cuts, rank[point] - 1) + (rank[point] > 0)]
                allowed = less if side else 1 - less
                model.add(takes + tests[test] - 1 <= allowed, f"{self}: who goes {('left', 'right')[side]}")
            counted.append(used)
        if sum(used.size for used in counted) > self.at_most:
            model.add(concatenate(counted, axis=0).sum() <= self.at_most, str(self))

    def allowed_features(self, data: Dataset) -> list[frozenset[int]] | None:
        """The largest sets of levels, where each feature of the column has one threshold and the sets are few."""
        own = features_of(data, self.column).tolist()
        size = min(self.at_most, len(own))
        if any(len(data.ranks.values[f]) > 2 for f in own) or comb(len(own), size) > MOST_SETS:
            return None
        rest = frozenset(range(data.n_features)) - frozenset(own)
        return [rest | frozenset(chosen) for chosen in combinations(own, size)]

    def _gaps(self, graph: DecisionGraph, data: Dataset) -> dict[int, list[tuple[int, int, int]]]:
        """By feature, of each test: (node, first, last) threshold of the table that parts its rows as it does."""
        X, codes = data.X, data.ranks.codes
        visits, left = graph.route(X), graph.goes_left(X)
        gaps: dict[int, list[tuple[int, int, int]]] = {}
        features = set(features_of(data, self.column).tolist())
        for test in graph.tests():
            f = test.columns[0] if len(test.columns) == 1 else -1
            if f not in features:
                continue
            reached = visits[:, test.node]
            low, high = codes[reached & left[:, test.node], f], codes[reached & ~left[:, test.node], f]
            first = int(low.max()) if len(low) else 0
            last = int(high.min()) - 1 if len(high) else len(data.ranks.values[f]) - 2
            gaps.setdefault(f, []).append((test.node, first, last))
        return gaps

    def _shared(self, graph: DecisionGraph, data: Dataset) -> tuple[int, dict[int, float]]:
        """The fewest thresholds, and one for each test: the classic stabbing of intervals, by their ends."""
        count, chosen = 0, {}
        for f, gaps in self._gaps(graph, data).items():
            at: int | None = None
            cuts = data.ranks.thresholds(f)
            for node, first, last in sorted(gaps, key=lambda gap: gap[2]):
                if at is None or first > at:
                    at, count = last, count + 1
                chosen[node] = float(cuts[at])
        return count, chosen

    def adapted(self, graph: DecisionGraph, data: Dataset) -> DecisionGraph:
        """The same tests with as few thresholds as part the training rows in the same way."""
        count, chosen = self._shared(graph, data)
        if count >= len({(int(graph.feature[v]), float(graph.threshold[v])) for v in chosen}):
            return graph
        threshold = graph.threshold.copy()
        for node, value in chosen.items():
            threshold[node] = value
        return replace(graph, threshold=threshold)

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return self._shared(graph, data)[0]

    def in_words(self) -> str:
        return f"tests compare {self.column} with at most {count_of(self.at_most, 'threshold')}"


def _may_be_one(entries: Expr) -> Bools:
    """Which entries are not always 0."""
    flat = entries.ravel()
    return np.asarray((flat.rows.lengths > 0) | (np.asarray(flat.const) != 0))


def _stricter(takes: Expr, right: bool) -> tuple[Ints, Ints, Expr]:
    """The entries (V, P), by rank, that need a row: test, point and entry.

    Of points that take a side under the same conditions, the row of the lowest one that goes right implies the others,
    as does that of the highest one that goes left.
    """
    flat = takes.ravel()
    kept = np.flatnonzero(_may_be_one(flat))
    test, point = np.divmod(kept, takes.shape[1])
    matrix, const = as_matrix(flat[kept].rows), np.asarray(flat.const)[kept]
    step = matrix[1:] - matrix[:-1]
    step.eliminate_zeros()
    other = (np.diff(step.indptr) > 0) | (np.diff(test) > 0) | (np.diff(const) != 0)
    ends = np.ones((1,), dtype=bool)[: len(kept)]
    first = np.flatnonzero(np.concatenate([ends, other] if right else [other, ends]))
    return test[first], point[first], flat[kept[first]]
