"""The best tree of depth one or two under rows and orders over its values, with proof.

Thresholds of the root are searched by halving intervals, as `RegressionSearch` does: one between u < v costs at least
L(u) + R(v), with prices on rows as without, since what samples pay is not negative then. At a root that can be better
than the best tree, all pairs of subtrees that can be are listed; bounds of a pair tell which are fitted, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from treeform.data import midpoints
from treeform.engines.leaf_values.costs import AbsoluteCosts, Costs, SquaredCosts, Subtrees
from treeform.engines.leaf_values.fit import Fit, LeafFits
from treeform.engines.leaf_values.problem import Stop
from treeform.engines.relaxation import Relaxation
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Floats, Ints, Mask
from treeform.utils.budget import report_step

INTERVALS = 16
"""Of a value that divides those on both sides of an ordered root."""
MOST_PAIRS = 2**19
"""Pairs of subtrees that are looked at together."""


@dataclass(frozen=True)
class Test:
    """A test, or a leaf: then the column is -1."""

    column: int
    below: float
    above: float


def depth_two(
    part: Relaxation, fits: LeafFits, prices: Floats, known: Fraction | None, stop: Stop
) -> DepthTwo:
    """A search at given prices of rows, with the costs that the objective has; nothing ran yet.

    ``part``: of depth one or two. ``known``: the value of a tree in hand, in units of the loss: only better ones are
    wanted.
    """
    kind = SquaredCosts if part.loss_task.loss == "squared" else AbsoluteCosts
    return DepthTwo(part, fits, kind(part, fits.rule, prices), known, stop)


class DepthTwo:
    """One search at given prices of rows; what it found so far stands in its attributes."""

    def __init__(
        self, part: Relaxation, fits: LeafFits, costs: Costs, known: Fraction | None, stop: Stop
    ) -> None:
        self.part, self.task, self.fits, self.costs, self.stop = part, part.loss_task, fits, costs, stop
        self.best, self.best_fit, self.graph = known, None, None
        self.trees, self.reached, self.lower, self.complete = 0, -np.inf, -np.inf, False
        full = 2**self.task.depth - 1
        self.most_tests = full if self.task.max_nodes is None else min(full, self.task.max_nodes)
        self.deep = self.task.depth > 1 and self.most_tests > 1
        data = part.part.data
        sources = [data.columns[f].source for f in costs.features.tolist()]
        names = list(dict.fromkeys(sources))
        self.source = np.array([names.index(source) for source in sources], dtype=np.int64)
        most = self.task.max_features
        self.most_sources = most if most is not None and most < len(names) else None
        self.every = np.ones(data.n_samples, dtype=bool)

    graph: DecisionGraph | None
    """The best tree, if it is better than what was known."""
    best: Fraction | None
    """Its loss and prices, in units of the loss; of what was known, if there is none."""
    best_fit: Fit | None
    lower: float
    """No tree costs less by more than the costs may be off."""
    complete: bool
    """Whether nothing is below ``best``."""
    trees: int
    """Trees whose values were fitted."""

    @property
    def bound(self) -> Fraction | None:
        """No tree that satisfies the rule costs less; None: there is no bound or, if `complete`, no such tree."""
        bounds = [self.fits.open, self.best]
        if not self.complete:
            if not np.isfinite(self.lower):
                return None
            bounds.append(Fraction(self.lower) - Fraction(self.costs.slack))
        return min((one for one in bounds if one is not None), default=None)

    # -- roots ------------------------------------------------------------------------------------

    def run(self) -> None:
        """Search all roots."""
        self._try([], None, None, None)
        if self._may_test():
            for _, column, cut in self._roots(self._limit):
                if not self.stop():
                    self._pairs_of(column, cut)
                if self.stop():
                    self.lower = self.reached
                    return
        self.lower, self.complete = self._limit(), True

    def priced(self) -> float | None:
        """The least cost of a tree under the prices, a lower bound of all losses, and fit it; None: stopped."""
        costs = self.costs
        self._try([], None, None, None)
        known, at = [costs.leaf(self.every) + costs.constant], (-1, -1)
        if self._may_test():
            for bound, column, cut in self._roots(lambda: known[-1]):
                if self.stop():
                    return None
                if bound < known[-1]:
                    known.append(bound)
                    at = column, cut
        if at[0] >= 0:
            sides = list(self._sides(*at))
            left, right = (costs.subtrees(side, self.deep) for side in sides)
            chosen = [
                self._chosen(s, int(s.cost.argmin()), rows)
                for s, rows in zip((left, right), sides, strict=True)
            ]
            self._try(sides, self._root(*at), *chosen)
        return known[-1]

    def _may_test(self) -> bool:
        return self.most_tests > 0 and self.most_sources != 0 and self.costs.bears_test(self.every)

    def _limit(self) -> float:
        """Trees with a bound beyond it are not better than the best one."""
        return np.inf if self.best is None else float(self.best) + self.costs.slack

    def _roots(self, limit: Callable[[], float]) -> Iterator[tuple[float, int, int]]:
        """Tests at the root whose intervals can hold a better tree, the least bound first: bound, column, cut."""
        costs = self.costs
        value = costs.sorted_rows(self.every)[1]
        cuts = [np.flatnonzero(value[f, :-1] < value[f, 1:]) for f in range(len(costs.X))]
        base = costs.price + costs.constant
        heap: list[tuple[float, int, int, int, float, float]] = []
        for f, at in enumerate(cuts):
            if len(at):
                heappush(heap, (base, f, 0, len(at), 0.0, 0.0))
        done = 0
        while heap:
            bound, f, low, high, left, right = heappop(heap)
            self.reached = max(self.reached, bound)
            if bound >= limit():
                return
            middle = (low + high) // 2
            cut = int(cuts[f][middle])
            own_left, own_right = (self._least(side) for side in self._sides(f, cut))
            if self.stop():
                yield bound, f, cut
                return
            own = own_left + own_right + base
            if own < limit() and costs.ways[f]:
                own = max(own, base + min(a.min() + b.min() for a, b in self._divided(f, cut)))
            if own < limit():
                yield own, f, cut
            if low < middle:
                heappush(heap, (left + own_right + base, f, low, middle, left, own_right))
            if middle + 1 < high:
                heappush(heap, (own_left + right + base, f, middle + 1, high, own_left, right))
            done += 1
            report_step(done, "roots")

    def _sides(self, column: int, cut: int) -> tuple[Mask, Mask]:
        left = np.zeros(len(self.every), dtype=bool)
        left[self.costs.order[column, : cut + 1]] = True
        return left, ~left

    def _least(self, rows: Mask) -> float:
        return self.costs.least(rows) if self.deep else self.costs.leaf(rows)

    def _divided(self, column: int, cut: int) -> Iterator[tuple[Floats, Floats]]:
        """Costs of the subtrees on both sides of an ordered root, for each interval of a value that divides theirs.

        If all values on the lower side are at most s and all on the upper side at least s, then with s between two
        numbers the lower side's are at most the second one, and the upper side's at least the first one.
        """
        left, right = self._sides(column, cut)
        ends = np.unique(np.quantile(self.costs.y, np.linspace(0, 1, INTERVALS + 1)[1:-1], method="lower"))
        for low, high in zip([-np.inf, *ends], [*ends, np.inf], strict=True):
            limits = {"low": -np.inf, "high": high}, {"low": low, "high": np.inf}
            first, second = limits if self.costs.ways[column] > 0 else limits[::-1]
            yield (
                self.costs.subtrees(left, self.deep, **first).cost,
                self.costs.subtrees(right, self.deep, **second).cost,
            )

    # -- pairs of subtrees ------------------------------------------------------------------------

    def _pairs_of(self, column: int, cut: int) -> None:
        costs, sides = self.costs, self._sides(column, cut)
        if costs.light(np.array(costs.w[sides[0]].sum()), float(costs.w.sum())).any():
            return
        left, right = (costs.subtrees(side, self.deep) for side in sides)
        base = costs.price + costs.constant
        divided = []
        for pair in self._divided(column, cut) if costs.ways[column] else [(left.cost, right.cost)]:
            if self.stop():
                return
            divided.append(pair)
        root = self._root(column, cut)
        for a, b in self._promising(divided, base):
            limit = self._bounds(left, right, a, b, column)
            limit = np.maximum(limit, base + np.min([one[a] + other[b] for one, other in divided], axis=0))
            for k in np.argsort(limit, kind="stable").tolist():
                if limit[k] >= self._limit() or self.stop():
                    break
                self._try(
                    list(sides),
                    root,
                    self._chosen(left, int(a[k]), sides[0]),
                    self._chosen(right, int(b[k]), sides[1]),
                )

    def _promising(self, costs: list[tuple[Floats, Floats]], base: float) -> Iterator[tuple[Ints, Ints]]:
        """The pairs whose costs are below the best tree's, under one of several costs; no more once it has to stop."""
        least = np.min([left + right.min() for left, right in costs], axis=0)
        rows = np.flatnonzero(least < self._limit() - base)
        rows = rows[np.argsort(least[rows], kind="stable")]
        each = max(1, MOST_PAIRS // len(costs[0][1]))
        for start in range(0, len(rows), each):
            part, limit = np.sort(rows[start : start + each]), self._limit() - base
            wanted = np.zeros((len(part), len(costs[0][1])), dtype=bool)
            for left, right in costs:
                if self.stop():
                    return
                others = np.flatnonzero(right + left[part].min() < limit)
                wanted[:, others] |= left[part][:, None] + right[others] < limit
            i, b = np.nonzero(wanted)
            a = part[i]
            if self.most_tests < 3:
                keep = 1 + (a > 0) + (b > 0) <= self.most_tests
                a, b = a[keep], b[keep]
            if len(a):
                yield a, b

    def _bounds(self, left: Subtrees, right: Subtrees, a: Ints, b: Ints, column: int) -> Floats:
        """Lower bounds of the losses of pairs: by the prices, by each row alone, and by the order at the root."""
        costs = self.costs
        bound = left.cost[a] + right.cost[b] + costs.price + costs.constant
        plain = left.plain[a] + right.plain[b] + costs.price
        for r in range(len(left.totals)):
            # the nearest values on  sum a v <= b  cost  (sum a m - b)^2 / sum a^2 / n  more than the means m
            beyond = left.totals[r, a] + right.totals[r, b] - costs.sides[r]
            share = left.shares[r, a] + right.shares[r, b]
            more = np.divide(beyond**2, share, out=np.zeros_like(share), where=(beyond > 0) & (share > 0))
            bound = np.maximum(bound, plain + more)
        way = costs.ways[column]
        if way and len(left.most):
            lower, upper, i, j = (left, right, a, b) if way > 0 else (right, left, b, a)
            n, m = lower.most_weight[i], upper.least_weight[j]
            fall = np.maximum(0.0, lower.most[i] - upper.least[j])
            bound = np.maximum(bound, plain + fall**2 * n * m / (n + m))
        if self.most_sources is not None:
            bound = np.where(self._sources(left, right, a, b, column) <= self.most_sources, bound, np.inf)
        return np.asarray(np.maximum(bound, plain))

    def _sources(self, left: Subtrees, right: Subtrees, a: Ints, b: Ints, column: int) -> Ints:
        """How many columns of the table each tree tests."""
        root = self.source[column]
        first, second = (self.source[side.column[k]] for side, k in ((left, a), (right, b)))
        first, second = np.where(a > 0, first, root), np.where(b > 0, second, root)
        return np.asarray(1 + (first != root) + ((second != root) & (second != first)))

    def _chosen(self, side: Subtrees, k: int, rows: Mask) -> Test | None:
        return None if k == 0 else self._test(rows, int(side.column[k]), float(side.below[k]))

    def _root(self, column: int, cut: int) -> Test:
        return self._test(self.every, column, float(self.costs.X[column, self.costs.order[column, cut]]))

    def _test(self, rows: Mask, column: int, below: float) -> Test:
        values = self.costs.X[column, rows]
        return Test(column, below, float(values[values > below].min()))

    # -- trees ------------------------------------------------------------------------------------

    def _try(self, sides: list[Mask], root: Test | None, left: Test | None, right: Test | None) -> None:
        """Fit the values of a tree, and keep it if it is better."""
        tests = sum(test is not None for test in (root, left, right))
        price = self.task.price * tests
        leaves = [self.every] if root is None else []
        parts: list[list[int]] = []
        for side, test in zip(sides, (left, right), strict=False):
            halves = [side] if test is None else self._halves(side, test)
            parts.append(list(range(len(leaves), len(leaves) + len(halves))))
            leaves += halves
        pairs = self._pairs(leaves, parts, root, (left, right))
        below = None if self.best is None else self.best - price
        self.trees += 1
        fit = self.fits.fit([np.flatnonzero(leaf) for leaf in leaves], pairs, below)
        if fit is not None and (self.best is None or fit.loss + price < self.best):
            self.best, self.best_fit = fit.loss + price, fit
            self.graph = self._graph(root, left, right, fit)

    def _halves(self, rows: Mask, test: Test) -> list[Mask]:
        low = rows & (self.costs.X[test.column] <= test.below)
        return [low, rows & ~low]

    def _pairs(
        self, leaves: list[Mask], parts: list[list[int]], root: Test | None, below: tuple[Test | None, ...]
    ) -> set[tuple[int, int]]:
        """Which leaves are compared by the orders."""
        compared = [(root, parts[0], parts[1])] if root is not None else []
        for test, part in zip(below, parts, strict=False):
            if test is not None:
                compared.append((test, part[:1], part[1:]))
        pairs = set()
        for order in self.fits.rule.orders:
            for test, low, high in compared:
                if int(self.costs.features[test.column]) in order.features:
                    counts = [bool((leaf & order.counted).any()) for leaf in leaves]
                    one, other = (low, high) if order.increasing else (high, low)
                    pairs |= {(i, j) for i in one for j in other if counts[i] and counts[j]}
        return pairs

    def _graph(self, root: Test | None, left: Test | None, right: Test | None, fit: Fit) -> DecisionGraph:
        data = self.part.part.data
        assert data.quantity is not None
        values = tuple(map(data.quantity.to_value, fit.of_leaf))
        if root is None:
            return DecisionGraph.constant(values[0], data)
        nodes = [root, left, right]
        feature, threshold, low, high, label = [], [], [-1] * 3, [-1] * 3, [-1] * 3
        for test in nodes:
            feature.append(-1 if test is None else int(self.costs.features[test.column]))
            threshold.append(np.nan if test is None else _between(test))
        low[0], high[0] = 1, 2
        leaf = 0
        for node in (1, 2):
            if nodes[node] is None:
                label[node], leaf = leaf, leaf + 1
                continue
            low[node], high[node] = len(feature), len(feature) + 1
            for _ in range(2):
                feature.append(-1)
                threshold.append(np.nan)
                low.append(-1)
                high.append(-1)
                label.append(leaf)
                leaf += 1
        arrays = (np.array(feature), np.array(threshold), np.array(low), np.array(high), np.array(label))
        return DecisionGraph.from_arrays(*arrays, data, values=values)


def _between(test: Test) -> float:
    return float(midpoints(np.array([test.below]), np.array([test.above]))[0])
