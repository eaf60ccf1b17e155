"""The best values for given leaves under what is required of values; trees are given these values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeform.data.views import chunks
from treeform.engines.leaf_values.convex import least_sum, of_targets
from treeform.engines.leaf_values.problem import BestValues, Stop, never
from treeform.engines.leaf_values.squares import least_squares
from treeform.engines.leaf_values.whole import least_whole_squares, least_whole_sum
from treeform.graph import DecisionGraph, normalised
from treeform.language.losses import loss_of
from treeform.language.question import Question
from treeform.language.values import ValueRule
from treeform.utils.out_of_reach import Stopped

Rows = NDArray[np.int64]
Pairs = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Fit:
    """Values of leaves."""

    of_leaf: tuple[Fraction, ...]
    """Deviations from the target's centre, in its unit."""
    loss: Fraction
    """In units of the loss."""
    multipliers: list[Fraction]
    """(R,) list of Fraction: of the rows over samples, at the best values that need not be whole."""


class LeafFits:
    """The best values for leaves, under one rule.

    ``question``: of regression.
    """

    def __init__(self, question: Question, rule: ValueRule) -> None:
        data = question.data
        assert data.quantity is not None
        self.data, self.rule = data, rule
        self.open: Fraction | None = None
        """The least bound of leaves whose best values were not found within the steps that whole values may take."""
        _, self.loss = loss_of(question.objective)
        self.targets, self.weights = data.quantity.deviations, data.weights
        self.low, self.high = data.quantity.lowest, data.quantity.highest

    def fit(
        self, leaves: Sequence[Rows], pairs: Pairs, below: Fraction | None = None, stop: Stop = never
    ) -> Fit | None:
        """The best values.

        ``leaves``: the samples of each leaf. ``pairs``: leaves of which the first one has no greater value than the
        second one. ``below``: values whose loss is not below it are not wanted. Returns None where there are no values,
        or none that are wanted.
        """
        free = [self.loss.best(self.targets[rows], self.weights[rows]) for rows in leaves]
        least = sum((self._cost(rows, v) for rows, v in zip(leaves, free, strict=True)), Fraction(0))
        if below is not None and least >= below:
            return None
        rows = self.rule.over(leaves, pairs)
        if self.loss.kind == "squared":
            heavy = [int(self.weights[leaf].sum()) for leaf in leaves]
            if not self.rule.whole:
                found = least_squares(heavy, free, rows, stop)
                return None if found is None else self._fit(found, least + found.cost)
            whole = least_whole_squares(heavy, free, least, rows, self.low, self.high, below, stop)
        else:
            functions = [
                of_targets(self.targets[leaf].tolist(), self.weights[leaf].tolist()) for leaf in leaves
            ]
            if not self.rule.whole:
                found = least_sum(functions, rows, stop)
                return None if found is None else self._fit(found, found.cost)
            whole = least_whole_sum(functions, rows, self.low, self.high, below, stop)
        if whole.lower is not None and (below is None or whole.lower < below) and not whole.closed:
            self.open = whole.lower if self.open is None else min(self.open, whole.lower)
        return None if whole.best is None else self._fit(whole.best, whole.best.cost)

    def _fit(self, found: BestValues, loss: Fraction) -> Fit:
        multipliers = [found.multipliers.get(k, Fraction(0)) for k in range(len(self.rule.rows))]
        return Fit(found.of_leaf, loss, multipliers)

    def _cost(self, rows: Rows, value: Fraction) -> Fraction:
        return self.loss.of_rows(self.targets[rows], self.weights[rows], value)

    def ordered(self, graph: DecisionGraph, leaves: NDArray[np.int64]) -> set[tuple[int, int]]:
        """The pairs of leaves of a tree, by their places among ``leaves``, that orders compare."""
        X, at, pairs = self.data.X, graph.apply(self.data.X), set()
        place = np.full(len(graph.feature), -1)
        place[leaves] = np.arange(len(leaves))
        for order in self.rule.orders:
            nodes = np.flatnonzero(np.isin(graph.feature, list(order.features)))
            reached = np.zeros((len(nodes), 2, len(leaves)), dtype=bool)  # leaves, from each side of a test
            for part in chunks(len(X), len(graph.feature)):
                left, here = graph.goes_left(X[part])[:, nodes], graph.route(X[part])[:, nodes]
                rows, test = np.nonzero(here & order.counted[part, None])
                reached[test, 1 - left[rows, test], place[at[part][rows]]] = True
            for sides in reached:
                lower, upper = map(np.flatnonzero, sides[:: 1 if order.increasing else -1])
                pairs |= {(int(a), int(b)) for a in lower for b in upper}
        return pairs

    def with_best_values(self, graph: DecisionGraph, stop: Stop = never) -> tuple[DecisionGraph, Fit] | None:
        """A tree with the best values at its leaves; None where none satisfy the rule, or once it has to stop."""
        assert self.data.quantity is not None
        graph = normalised(graph.simplified(self.data), self.data, own_leaves=True)
        leaves = np.flatnonzero(graph.feature < 0)
        at = graph.apply(self.data.X)
        rows = [np.flatnonzero(at == leaf) for leaf in leaves]
        try:
            fit = self.fit(rows, self.ordered(graph, leaves), stop=stop)
        except Stopped:
            return None
        if fit is None:
            return None
        label = np.full(len(graph.feature), -1)
        label[leaves] = np.arange(len(leaves))
        values = tuple(map(self.data.quantity.to_value, fit.of_leaf))
        arrays = (graph.feature, graph.threshold, graph.left, graph.right, label)
        return DecisionGraph.from_arrays(*arrays, self.data, graph.forms, values), fit
