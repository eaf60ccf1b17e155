"""A short, plain proof that no regression tree of depth one or two under rows and orders over its values costs less.

It tries every test at the root, and lists all pairs of subtrees below it that could cost less than what is claimed.
Three bounds discard pairs, in doubles with room for their rounding:

* *Prices.* For any u >= 0 and c = u A, a tree that satisfies the rows  A v <= b  has  sum_i c_i v_i <= u b, so its loss
  is at least  sum_i (loss_i + c_i v_i) - u b,  which is least when each leaf has the best value for itself.
* *One order below the root.* If the best values of an ordered test are the wrong way round, they are equal.
* *An order at the root.* A value s divides those of both sides, and lies in one of some intervals.

What is left is refuted tree by tree by weak duality, in fractions: for any u >= 0 the least sum of  f_l(v) + (u A)_l v
over the leaves, less u b, is a bound. The multipliers may come from anywhere; nothing rests on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeform.certify.regression import WORK
from treeform.certify.side_costs import Distances, SideCosts, Squares
from treeform.engines import RegressionSearch
from treeform.engines.leaf_values.convex import least_sum, of_targets
from treeform.engines.leaf_values.squares import least_squares
from treeform.engines.relaxation import Relaxation, relax
from treeform.language.losses import loss_of
from treeform.language.question import Question
from treeform.language.size_terms import price_without_tests
from treeform.language.values import ValueRow, ValueRule
from treeform.utils.arrays import Floats, Ints, Mask
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped
from treeform.utils.text import count_of

BY_VALUES = "the search of all trees with values"
FACTORS = (1.0, 0.0, 0.5, 1.5, 3.0)
"""Of the prices of rows that are given."""
INTERVALS = 24
"""Of the value that divides those of an ordered root."""
MOST_TREES = 20_000
"""That are refuted one by one."""
LARGEST_PRICE = 2**60
MOST_BOXES = 2_000
"""Of whole values, for one tree."""


def nothing_below(question: Question, value: Fraction, prices: Sequence[Fraction], budget: Budget) -> bool:
    """Whether no admissible tree costs less than ``value``, in the user's units; False: that is not shown.

    The question is one of regression, with requirements on values. There is a price for each row of the requirements,
    for the bounds, up to `LARGEST_PRICE`; others count as 0.

    Raises OutOfReach where it would take too long, or requirements are more than rows and orders over values; Stopped
    once the budget is spent.
    """
    part = relax(question, RegressionSearch())
    assert part is not None
    return _Trees(part, _rule(question, part), value, prices, budget).all_refuted()


def _rule(question: Question, part: Relaxation) -> ValueRule:
    named = zip(question.labels, question.requirements, strict=True)
    rules = {
        label: requirement.value_rule(question.data) for label, requirement in named if label in part.dropped
    }
    unmet = [label for label in part.dropped if rules.get(label) is None]
    if unmet or question.shape.depth > 2:
        what = f"not {', '.join(unmet)}" if unmet else f"not {question.shape}"
        raise OutOfReach(
            f"the problem is out of reach of {BY_VALUES}",
            cause=f"it takes trees of depth one and two under bounds and requirements on values, and {what}",
        )
    return ValueRule.all_of(rule for rule in rules.values() if rule is not None)


@dataclass(frozen=True)
class _Split:
    """A test on some rows: those with at most ``value`` in a column go left."""

    column: int
    value: float


class _Trees:
    def __init__(
        self, part: Relaxation, rule: ValueRule, value: Fraction, prices: Sequence[Fraction], budget: Budget
    ) -> None:
        question, task = part.part, part.loss_task
        data = question.data
        assert data.quantity is not None and task.columns is not None
        self.task, self.rule, self.budget = task, rule, budget
        weight, self.loss = loss_of(question.objective)
        self.target = (value - price_without_tests(question.objective)) / (weight * self.loss.per_unit(data))
        self.y, self.w = data.quantity.deviations, data.weights
        self.low, self.high = data.quantity.lowest, data.quantity.highest
        self.features, self.sources = task.columns, [data.columns[f].source for f in task.columns.tolist()]
        self.X = data.X[:, task.columns].T
        full = 2**task.depth - 1
        self.most_tests = full if task.max_nodes is None else min(full, task.max_nodes)
        self.coef = np.array([row.coef for row in rule.rows], dtype=np.float64).reshape(-1, len(self.y))
        possible = len(prices) == len(rule.rows) and all(0 <= p <= LARGEST_PRICE for p in prices)
        u = np.array([float(p) for p in prices]) if possible else np.zeros(len(rule.rows))
        kind, self._reached = KINDS[self.loss.kind]
        if rule.whole and not kind.whole_values:
            raise OutOfReach(f"the problem is out of reach of {BY_VALUES}", cause="it takes no whole means")
        ways = rule.ways(task.columns)
        self.costs: SideCosts = kind(self.X, self.y, self.w, u @ self.coef, ways, task, rule.whole)
        self.paid = float(u @ [float(row.side) for row in rule.rows])
        usual = FACTORS if u.any() else (0.0,)
        self.factors = list(dict.fromkeys(min(k, self.costs.most_factor) for k in usual))
        self.refuted = 0
        n_cuts = sum(len(np.unique(row)) - 1 for row in self.X)
        work = 2.0 * n_cuts * (self.costs.work() + 20_000)
        if work > WORK:
            raise OutOfReach(
                f"the problem is out of reach of {BY_VALUES}",
                cause=f"{n_cuts} thresholds take about {work:.1g} additions, more than {WORK:.1g}",
            )

    # -- all roots, and pairs of subtrees below them -----------------------------------------------

    def all_refuted(self) -> bool:
        """Whether each tree is shown to cost the target or more."""
        every = np.ones(len(self.y), dtype=bool)
        if not self._is_refuted([every], [], 0):
            return False
        if not self.most_tests or self.task.max_features == 0 or not self.costs.bears_test(every):
            return True
        for column, values in enumerate(self.X):
            for value in np.unique(values)[:-1].tolist():
                if self.budget.stop():
                    raise Stopped
                if not self._root_is_refuted(_Split(column, value)):
                    return False
        return True

    def _root_is_refuted(self, root: _Split) -> bool:
        left = self.X[root.column] <= root.value
        sides = left, ~left
        if any(int(self.w[side].sum()) < self.costs.support for side in sides):
            return True
        deep = self.task.depth > 1 and self.most_tests > 1
        below = [self.costs.tests(side) if deep else self.costs.no_tests() for side in sides]
        for i, j in self._pairs(root, sides, deep):
            splits = [
                None if k == 0 else _Split(int(tests[0][k - 1]), float(tests[1][k - 1]))
                for k, tests in zip((i, j), below, strict=True)
            ]
            if self._is_allowed(root, *splits) and not self._tree_is_refuted(root, sides, splits):
                return False
        return True

    def _pairs(self, root: _Split, sides: tuple[Mask, Mask], deep: bool) -> Iterator[tuple[int, int]]:
        """Subtrees on both sides that no bound discards; 0 is the leaf."""
        pairs: tuple[Ints, Ints] | None = None
        limit = float(self.target) + self.costs.slack - float(self.task.price)
        for factor in self.factors:
            within = limit + factor * self.paid
            intervals = list(self._intervals(root))
            left = self.costs.of_subtrees(sides[0], deep, factor, [one for one, _ in intervals])
            right = self.costs.of_subtrees(sides[1], deep, factor, [other for _, other in intervals])
            if pairs is None:
                pairs = _listed(left, right, within)
            i, j = pairs
            low = np.min([a[i] + b[j] for a, b in zip(left, right, strict=True)], axis=0)
            pairs = i[low < within], j[low < within]
            if not len(pairs[0]):
                return
        assert pairs is not None
        yield from zip(*(side.tolist() for side in pairs), strict=True)

    def _intervals(self, root: _Split) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
        """The least and the greatest value on both sides, by the interval of the value that divides them."""
        anything = -np.inf, np.inf
        way = self.costs.ways[root.column]
        if not way:
            yield anything, anything
            return
        ends = np.unique(np.quantile(self.y, np.linspace(0, 1, INTERVALS + 1)[1:-1], method="lower"))
        for start, end in zip([-np.inf, *ends], [*ends, np.inf], strict=True):
            lower, upper = (-np.inf, float(end)), (float(start), np.inf)
            yield (lower, upper) if way > 0 else (upper, lower)

    def _is_allowed(self, *splits: _Split | None) -> bool:
        """Whether the tree has few enough tests and columns."""
        chosen = [split for split in splits if split is not None]
        most = self.task.max_features
        few = most is None or len({self.sources[split.column] for split in chosen}) <= most
        return few and len(chosen) <= self.most_tests

    # -- one tree, exactly -------------------------------------------------------------------------

    def _tree_is_refuted(
        self, root: _Split, sides: tuple[Mask, Mask], splits: Sequence[_Split | None]
    ) -> bool:
        leaves: list[Mask] = []
        compared: list[tuple[_Split, list[int], list[int]]] = []
        halves: list[list[int]] = []
        for side, split in zip(sides, splits, strict=True):
            first = len(leaves)
            if split is None:
                leaves.append(side)
            else:
                goes_left = side & (self.X[split.column] <= split.value)
                leaves += [goes_left, side & ~goes_left]
                compared.append((split, [first], [first + 1]))
            halves.append(list(range(first, len(leaves))))
        compared.append((root, halves[0], halves[1]))
        pairs = [pair for split, low, high in compared for pair in self._compared(split, low, high, leaves)]
        return self._is_refuted(leaves, pairs, len(compared))

    def _compared(
        self, split: _Split, low: list[int], high: list[int], leaves: list[Mask]
    ) -> Iterator[tuple[int, int]]:
        """Leaves of which the first one may have no greater value, by the orders at one test."""
        for order in self.rule.orders:
            if int(self.features[split.column]) in order.features:
                for one in low:
                    for other in high:
                        if (leaves[one] & order.counted).any() and (leaves[other] & order.counted).any():
                            yield (one, other) if order.increasing else (other, one)

    def _is_refuted(self, leaves: list[Mask], pairs: Sequence[tuple[int, int]], tests: int) -> bool:
        self.refuted += 1
        if self.refuted > MOST_TREES:
            raise OutOfReach(
                f"the problem is out of reach of {BY_VALUES}",
                cause=f"bounds leave more than {count_of(MOST_TREES, 'tree')} to be refuted one by one",
            )
        rows = self.rule.over(leaves, pairs)
        target = self.target - tests * self.task.price
        return self._reached(self, leaves, rows, target)

    def _distances_reach(self, leaves: list[Mask], rows: list[ValueRow], target: Fraction) -> bool:
        functions = [_Leaf(self.y[leaf], self.w[leaf]) for leaf in leaves]
        if not self.rule.whole:
            found = least_sum([one.convex for one in functions], rows)
            return found is not None and _reaches(functions, rows, found.multipliers, target)
        return _whole_reach(functions, rows, self.low, self.high, target)

    def _squares_reach(self, leaves: list[Mask], rows: list[ValueRow], target: Fraction) -> bool:
        sums = [
            tuple(int(part) for part in (w.sum(), sum(w * y), sum(w * y * y)))
            for w, y in ((self.w[leaf].astype(object), self.y[leaf].astype(object)) for leaf in leaves)
        ]
        means = [Fraction(s, n) for n, s, _ in sums]
        hint = least_squares([n for n, _, _ in sums], means, rows)
        if hint is None:
            return False
        # min_v  q - 2 s v + n v^2 + c v  =  q - (s - c / 2)^2 / n
        bound = -sum((u * rows[i].side for i, u in hint.multipliers.items()), Fraction(0))
        for leaf, (n, s, q) in enumerate(sums):
            c = sum((u * rows[i].coef[leaf] for i, u in hint.multipliers.items()), Fraction(0))
            bound += q - (s - c / 2) ** 2 / n
        return min(hint.multipliers.values(), default=Fraction(0)) >= 0 and bound >= target

KINDS: dict[str, tuple[type[SideCosts], Callable[..., bool]]] = {
    "squared": (Squares, _Trees._squares_reach),
    "absolute": (Distances, _Trees._distances_reach),
}


def _listed(left: Floats, right: Floats, within: float) -> tuple[Ints, Ints]:
    """Pairs whose sum is below a limit in one of several rows of costs."""
    kept: list[Ints] = []
    size = right.shape[1]
    for a, b in zip(left, right, strict=True):
        rows, others = np.flatnonzero(a + b.min() < within), np.flatnonzero(b + a.min() < within)
        i, j = np.nonzero(a[rows][:, None] + b[others] < within)
        kept.append(rows[i] * size + others[j])
    one, other = np.divmod(np.unique(np.concatenate(kept)), size)
    return one, other


# -- absolute errors of a leaf, exactly -----------------------------------------------------------------------------


class _Leaf:
    """The weighted sum of distances from some targets, as a function of the value."""

    def __init__(self, targets: Ints, weights: Ints) -> None:
        self.targets, self.weights = targets.tolist(), weights.tolist()
        at: dict[int, int] = {}
        for y, w in zip(self.targets, self.weights, strict=True):
            at[y] = at.get(y, 0) + w
        self.convex = of_targets(self.targets, self.weights)
        self.breaks = sorted(at)
        self.total = sum(at.values())
        self.at = {y: sum(w * abs(y - self.breaks[0]) for y, w in at.items()) for y in self.breaks[:1]}
        below = 0
        for here, after in zip(self.breaks, self.breaks[1:], strict=False):
            below += at[here]
            self.at[after] = self.at[here] + (2 * below - self.total) * (after - here)

    def value(self, v: int) -> int:
        return sum(w * abs(y - v) for y, w in zip(self.targets, self.weights, strict=True))

    def least(self, c: Fraction, low: int | None = None, high: int | None = None) -> Fraction | None:
        """The least of it and ``c v``; None where that has no end."""
        if low is None or high is None:
            return None if abs(c) > self.total else min(self.at[v] + c * v for v in self.breaks)
        inside = [self.at[v] + c * v for v in self.breaks if low <= v <= high]
        return min(inside + [self.value(v) + c * v for v in (low, high)])


def _reaches(
    functions: Sequence[_Leaf], rows: Sequence[ValueRow], multipliers: dict[int, Fraction], target: Fraction
) -> bool:
    return _bound(functions, rows, multipliers, [(None, None)] * len(functions)) >= target


def _bound(
    functions: Sequence[_Leaf],
    rows: Sequence[ValueRow],
    multipliers: dict[int, Fraction],
    box: Sequence[tuple[int | None, int | None]],
) -> Fraction | float:
    if min(multipliers.values(), default=Fraction(0)) < 0:
        return -math.inf
    bound = -sum((u * rows[i].side for i, u in multipliers.items()), Fraction(0))
    for leaf, (function, ends) in enumerate(zip(functions, box, strict=True)):
        c = sum((u * rows[i].coef[leaf] for i, u in multipliers.items()), Fraction(0))
        least = function.least(c, *ends)
        if least is None:
            return -math.inf
        bound += least
    return bound


def _whole_reach(
    functions: Sequence[_Leaf], rows: Sequence[ValueRow], low: int, high: int, target: Fraction
) -> bool:
    """Whether all whole points cost that much: boxes of values are refuted, or cut in two."""
    boxes = [[(low, high)] * len(functions)]
    for _ in range(MOST_BOXES):
        if not boxes:
            return True
        box = boxes.pop()
        if any(_least_of(row, box) > row.side for row in rows):
            continue
        found = least_sum([one.convex for one in functions], [*rows, *_ends(box)])
        values = [Fraction(sum(ends), 2) for ends in box] if found is None else found.of_leaf
        known = {} if found is None else {i: u for i, u in found.multipliers.items() if i < len(rows)}
        bound = max(_bound(functions, rows, known, box), _bound(functions, rows, {}, box))
        if not math.isinf(bound) and math.ceil(bound) >= target:  # costs of whole points are whole
            continue
        # At a value that is not whole, or in the middle of the widest side.
        wide = max(range(len(box)), key=lambda k: (values[k].denominator > 1, box[k][1] - box[k][0]))
        start, end = box[wide]
        if start == end:
            return False
        middle = math.floor(values[wide]) if values[wide].denominator > 1 else (start + end) // 2
        middle = min(max(middle, start), end - 1)
        for part in ((start, middle), (middle + 1, end)):
            boxes.append([part if k == wide else ends for k, ends in enumerate(box)])
    return False


def _least_of(row: ValueRow, box: Sequence[tuple[int, int]]) -> int:
    return sum(a * (low if a > 0 else high) for a, (low, high) in zip(row.coef, box, strict=True))


def _ends(box: Sequence[tuple[int, int]]) -> list[ValueRow]:
    rows = []
    for leaf, (low, high) in enumerate(box):
        one = tuple(int(k == leaf) for k in range(len(box)))
        rows += [ValueRow(one, high), ValueRow(tuple(-k for k in one), -low)]
    return rows
