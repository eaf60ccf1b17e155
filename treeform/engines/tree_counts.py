"""A set of trees in numbers: how many trees of each cost every node of the graph has, without a list of them.

From the leaves up, each node gets the number of its trees of each cost above its least one: a dynamic program over the
sum-product semiring. The same program over the min-plus semiring finds least and largest sums, and the derivatives of
the number of all trees say how many of them use an alternative, as the inside-outside algorithm does for grammars (J.
K. Baker, "Trainable grammars for speech recognition", 1979). A test with two leaves of one class is no tree in normal
form, so that trees that are leaves are told apart from those with tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeform.engines.and_or_graph import EXACT
from treeform.engines.tree_sets import Nested, TreeSet
from treeform.language.alternatives import AndOrGraph
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.out_of_reach import Stopped

MOST_NUMBERS = 2**25
"""Numbers that are held: one for each node and each cost above its least one."""
MOST_PRODUCTS = 2**35
"""Products of such numbers that a pass may take."""
AT_ONCE = 2**22


@dataclass(frozen=True)
class Semiring:
    """How trees are joined (``times``) and taken together (``plus``)."""

    zero: float
    plus: np.ufunc
    times: np.ufunc

COUNT = Semiring(0.0, np.add, np.multiply)
LEAST = Semiring(np.inf, np.minimum, np.add)


@dataclass(frozen=True)
class Tables:
    """What a pass found."""

    ring: Semiring
    value: Floats
    """(A,): of each alternative by itself."""
    tested: Floats
    """(N, W): all trees of a node that begin with a test, by what they cost above the least tree of the node."""
    whole: Floats
    """(N, W): the same with those that are a leaf."""
    leaf: Floats
    """(N, K): of a node as a leaf of each class."""


@dataclass(frozen=True)
class _Option:
    """Some of the trees that begin with a test, at one cost: how both sides are chosen, and their value."""

    value: float
    left: tuple[int, bool] | int
    right: tuple[int, bool] | int
    """(cost above the least, whether leaves count); or the class of a leaf, as ``~class``."""


class TreeCounts(TreeSet):
    """All trees of at most a cost.

    ``graph``: all that these trees use. ``own``, (A,) int: what each alternative costs by itself. ``stop``: ends a pass
    with `Stopped`.
    """

    def __init__(
        self, graph: AndOrGraph, own: Ints, cost: int, stop: Callable[[], bool] | None = None
    ) -> None:
        self.graph, self.stop = graph, stop
        self.lowest, around = graph.passes(own)
        tests, leaves = graph.tests, graph.leaves
        price = own.astype(np.int64)
        price[tests] += self.lowest[graph.left[tests]] + self.lowest[graph.right[tests]]
        self.above = price - self.lowest[graph.node]
        """(A,) what the cheapest tree that begins with an alternative costs above the least one of its node."""
        self.room = np.maximum(cost - around[graph.node] - price, -1)
        self.width = int(cost - self.lowest[0]) + 1
        classes = int(graph.label.max(initial=0)) + 1
        self.leaf_at = np.full((graph.n_nodes, classes), max(1, self.width), dtype=np.int64)
        self.leaf_at[graph.node[leaves], graph.label[leaves]] = np.minimum(self.above[leaves], self.width)
        self._cumulated: dict[tuple[int, int], tuple[Ints, Floats]] = {}

    def fits(self) -> bool:
        """Whether the numbers can be held, are exact, and are found in a reasonable time."""
        work = (self.room[self.graph.tests] + 1).sum() * self.width
        if self.width < 1 or self.width * self.graph.n_nodes > MOST_NUMBERS or work > MOST_PRODUCTS:
            return False
        return self.size < EXACT

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """The number of trees."""
        return int(min(self.numbers.whole[0].sum(), EXACT)) if self.width > 0 else 0

    @cached_property
    def numbers(self) -> Tables:
        """How many trees there are."""
        return self.tables(COUNT, np.ones(self.graph.n_alternatives))

    # ---------------------------------------------------------------- passes

    def tables(self, ring: Semiring, value: Floats) -> Tables:
        """One pass from the leaves up."""
        graph, width = self.graph, self.width
        tested, whole = (np.full((graph.n_nodes, width), ring.zero) for _ in range(2))
        leaf = np.full(self.leaf_at.shape, ring.zero)
        leaf[graph.node[graph.leaves], graph.label[graph.leaves]] = value[graph.leaves]
        out = Tables(ring, value, tested, whole, leaf)
        node, label = np.nonzero(self.leaf_at < width)
        ring.plus.at(whole, (node, self.leaf_at[node, label]), leaf[node, label])
        for tests in self._by_depth():
            pairs = self._pairs(out, tests)
            ring.times(pairs, value[tests][:, None], out=pairs)
            for shift in np.unique(self.above[tests]).tolist():
                if shift < width:
                    which = np.flatnonzero(self.above[tests] == shift)
                    for table in (tested, whole):
                        ring.plus.at(
                            table[:, shift:], graph.node[tests[which]], pairs[which, : width - shift]
                        )
        return out

    def _by_depth(self, *, down: bool = False) -> Iterator[Ints]:
        """Tests with room, from the leaves up, in parts; within a part those with the most room first."""
        tests = self.graph.tests[self.room[self.graph.tests] >= 0]
        depth = self.graph.depth[self.graph.node[tests]]
        at_once = max(1, AT_ONCE // self.width)
        depths = range(1, int(self.graph.depth[0]) + 1)
        for d in reversed(depths) if down else depths:
            here = tests[depth == d]
            for start in range(0, len(here), at_once):
                if self.stop is not None and self.stop():
                    raise Stopped
                part = here[start : start + at_once]
                yield part[np.argsort(-self.room[part], kind="stable")]

    def _pairs(self, tables: Tables, tests: Ints) -> Floats:
        """(n, W) all pairs of subtrees of each test, by what they cost above both least ones.

        A test and a tree, a leaf and a test, or two leaves of different classes.
        """
        ring, width, classes = tables.ring, self.width, self.leaf_at.shape[1]
        left, right, room = self.graph.left[tests], self.graph.right[tests], self.room[tests]
        pairs = np.full((len(tests), width), ring.zero)
        at = self.leaf_at[left]
        for x in range(int(room.max(initial=-1)) + 1):
            n = int(np.searchsorted(-room, -x, side="right"))  # those with room for it
            there = np.flatnonzero(tables.tested[left[:n], x] != ring.zero)
            self._add(ring, pairs, there, x, tables.tested[left[there], x], tables.whole[right[there]])
            for label in range(classes):
                there = np.flatnonzero(at[:n, label] == x)
                self._add(ring, pairs, there, x, tables.leaf[left[there], label], tables.tested[right[there]])
        for a, b, which, place in self._leaf_pairs(left, right):
            value = ring.times(tables.leaf[left[which], a], tables.leaf[right[which], b])
            pairs[which, place] = ring.plus(pairs[which, place], value)
        return pairs

    @staticmethod
    def _add(ring: Semiring, pairs: Floats, there: Ints, x: int, one: Floats, others: Floats) -> None:
        if len(there):
            part = ring.times(one[:, None], others[:, : pairs.shape[1] - x])
            pairs[there, x:] = ring.plus(pairs[there, x:], part)

    def _leaf_pairs(self, left: Ints, right: Ints) -> Iterator[tuple[int, int, Ints, Ints]]:
        """Two classes, and the tests that have a leaf of each of them, with what both cost above the least."""
        classes = self.leaf_at.shape[1]
        for a in range(classes):
            for b in range(classes):
                place = self.leaf_at[left, a] + self.leaf_at[right, b]
                which = np.flatnonzero(place < self.width)
                if a != b and len(which):
                    yield a, b, which, place[which]

    # ---------------------------------------------------------------- what is asked

    def using(self, marked: Bools) -> int:
        others = self.tables(COUNT, np.where(marked, 0.0, 1.0))
        return self.size - int(others.whole[0].sum())

    def extremes(self, values: Floats) -> tuple[float, float]:
        low, high = (self.tables(LEAST, sign * values).whole[0].min() for sign in (1.0, -1.0))
        return float(low), -float(high)

    def uses(self) -> Ints:
        """(A,) how many of the trees choose each alternative.

        The number of all trees is linear in whether an alternative may be chosen; what is found is its derivative.
        """
        graph, width, tables = self.graph, self.width, self.numbers
        uses = np.zeros(graph.n_alternatives)
        of_tested, of_leaf = np.zeros_like(tables.tested), np.zeros_like(tables.leaf)
        of_tested[0] = 1.0
        of_leaf[0] = self.leaf_at[0] < width
        for tests in self._by_depth(down=True):
            left, right = graph.left[tests], graph.right[tests]
            # around[t, e]: ways to complete a tree from this test with subtrees that cost e above the least ones
            place = self.above[tests][:, None] + np.arange(width)
            around = of_tested[graph.node[tests][:, None], np.minimum(place, width - 1)]
            around[place >= width] = 0.0
            for side, other in ((left, right), (right, left)):
                from_tested, from_leaf = self._derivatives(tables, tests, around, side, other)
                if side is left:
                    uses[tests] = (from_tested * tables.tested[side]).sum(axis=1)
                    uses[tests] += (from_leaf * tables.leaf[side]).sum(axis=1)
                np.add.at(of_tested, side, from_tested)
                np.add.at(of_leaf, side, from_leaf)
        leaves = graph.leaves
        uses[leaves] = of_leaf[graph.node[leaves], graph.label[leaves]] * (self.above[leaves] < width)
        return uses.astype(np.int64)

    def _derivatives(
        self, tables: Tables, tests: Ints, around: Floats, side: Ints, other: Ints
    ) -> tuple[Floats, Floats]:
        """(n, W) and (n, K): in how many trees a subtree with a test, or a leaf, of one side of each test would be."""
        width, room = self.width, self.room[tests]
        from_tested, from_leaf = np.zeros((len(tests), width)), np.zeros((len(tests), self.leaf_at.shape[1]))
        for x in range(int(room.max(initial=-1)) + 1):
            n = int(np.searchsorted(-room, -x, side="right"))
            from_tested[:n, x] = (tables.whole[other[:n], : width - x] * around[:n, x:]).sum(axis=1)
            for label in range(from_leaf.shape[1]):
                there = np.flatnonzero(self.leaf_at[side[:n], label] == x)
                tested = tables.tested[other[there], : width - x] * around[there, x:]
                from_leaf[there, label] += tested.sum(axis=1)
        for a, b, which, place in self._leaf_pairs(side, other):
            from_leaf[which, a] += around[which, place] * tables.leaf[other[which], b]
        return from_tested, from_leaf

    # ---------------------------------------------------------------- single trees

    def cost(self, index: int) -> int:
        return int(self.lowest[0] + np.searchsorted(np.cumsum(self.numbers.whole[0]), index, side="right"))

    def tree(self, index: int) -> Nested:
        upto = np.cumsum(self.numbers.whole[0])
        cost = int(np.searchsorted(upto, index, side="right"))
        rest = index - (int(upto[cost - 1]) if cost else 0)
        return self._unranked(0, (cost, True), rest)

    def _unranked(self, node: int, part: tuple[int, bool] | int, index: int) -> Nested:
        """Tree number ``index`` of those of a node and a cost."""
        if isinstance(part, int):
            return ~part
        cost, with_leaves = part
        if with_leaves:
            labels = np.flatnonzero(self.leaf_at[node] == cost)
            if index < len(labels):
                return int(labels[index])
            index -= len(labels)
        tests, upto = self._upto(node, cost)
        place = int(np.searchsorted(upto, index, side="right"))
        index -= int(upto[place - 1]) if place else 0
        a = int(tests[place])
        for option in self._options(self.numbers, a, cost - int(self.above[a])):
            if index < option.value:
                break
            index -= int(option.value)
        left, right = int(self.graph.left[a]), int(self.graph.right[a])
        first, second = divmod(index, self._number(right, option.right))
        return (
            int(self.graph.test[a]),
            self._unranked(left, option.left, first),
            self._unranked(right, option.right, second),
        )

    def _number(self, node: int, part: tuple[int, bool] | int) -> int:
        if isinstance(part, int):
            return 1
        table = self.numbers.whole if part[1] else self.numbers.tested
        return int(table[node, part[0]])

    def _upto(self, node: int, cost: int) -> tuple[Ints, Floats]:
        """The tests of a node, and how many trees of a cost begin with them and those before."""
        if (node, cost) not in self._cumulated:
            tests = self._tests(node, cost)
            numbers = [
                sum(o.value for o in self._options(self.numbers, a, cost - int(self.above[a]))) for a in tests
            ]
            self._cumulated[node, cost] = tests, np.cumsum(numbers)
        return self._cumulated[node, cost]

    def _tests(self, node: int, cost: int) -> Ints:
        """The tests that a tree of this cost may begin with."""
        here = np.arange(self.graph.begin[node], self.graph.begin[node + 1])
        return here[(self.graph.feature[here] >= 0) & (self.above[here] <= cost)]

    def _options(self, tables: Tables, test: int, cost: int) -> list[_Option]:
        """How the subtrees of a test may share a cost above the least ones."""
        left, right = int(self.graph.left[test]), int(self.graph.right[test])
        ring, classes, out = tables.ring, range(self.leaf_at.shape[1]), []
        tested, whole = tables.tested[left, : cost + 1], tables.whole[right, cost::-1]
        for x in np.flatnonzero((tested != ring.zero) & (whole != ring.zero)).tolist():
            out.append(_Option(float(ring.times(tested[x], whole[x])), (x, False), (cost - x, True)))
        for a in classes:
            rest = cost - int(self.leaf_at[left, a])
            if rest < 0:
                continue
            value = tables.leaf[left, a]
            if tables.tested[right, rest] != ring.zero:
                out.append(_Option(float(ring.times(value, tables.tested[right, rest])), ~a, (rest, False)))
            for b in classes:
                if a != b and self.leaf_at[right, b] == rest:
                    out.append(_Option(float(ring.times(value, tables.leaf[right, b])), ~a, ~b))
        return out

    def least(self, values: Floats) -> Nested:
        tables = self.tables(LEAST, values)
        return self._attained(tables, 0, (int(tables.whole[0].argmin()), True))

    def _attained(self, tables: Tables, node: int, part: tuple[int, bool] | int) -> Nested:
        """A tree of a node and a cost of the least value."""
        if isinstance(part, int):
            return ~part
        cost, with_leaves = part
        options: list[tuple[float, int, _Option | None]] = []
        if with_leaves:
            labels = np.flatnonzero(self.leaf_at[node] == cost)
            options += [(float(tables.leaf[node, label]), int(label), None) for label in labels]
        for a in self._tests(node, cost).tolist():
            own = float(tables.value[a])
            options += [(own + o.value, a, o) for o in self._options(tables, a, cost - int(self.above[a]))]
        _, chosen, option = min(options, key=lambda one: one[0])
        if option is None:
            return chosen
        left, right = int(self.graph.left[chosen]), int(self.graph.right[chosen])
        return (
            int(self.graph.test[chosen]),
            self._attained(tables, left, option.left),
            self._attained(tables, right, option.right),
        )
