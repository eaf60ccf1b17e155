"""A set of trees as a list: the subtrees of all nodes, level by level, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.engines.tree_sets import Nested, TreeSet
from treeform.language.alternatives import AndOrGraph
from treeform.utils.arrays import Bools, Floats, Ints

Bytes = NDArray[np.uint8]
MOST_BYTES = 2**25
"""Of predictions that are compared at once."""


@dataclass(frozen=True)
class Level:
    """The trees of all nodes of one depth, in the order of nodes, then of prices."""

    node: Ints
    price: Ints
    """(m,)"""
    adds: Ints
    """(m, 1 + R) int64: cost and rows of each."""
    label: Ints
    """(m,) int64: the class where the tree is a leaf, else -1."""
    alternative: Ints
    """(m,) int64: what is chosen at the node."""
    left: Ints
    right: Ints
    """(m,) int64: places of both subtrees in the level below."""

    def only(self, kept: Ints) -> Level:
        """Some of the trees, in the order given."""
        return Level(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))

    def ordered(self) -> Level:
        """The same in the order of nodes and prices."""
        return self.only(np.lexsort((self.price, self.node)))


@dataclass(frozen=True)
class TreeList(TreeSet):
    """N trees, the cheapest first: those of the last level."""

    adds: Ints
    """(N, 1 + R) int64: cost and rows of each."""
    levels: list[Level]
    """One for each depth."""
    graph: AndOrGraph

    @property
    def size(self) -> int:  # type: ignore[override]
        """N."""
        return len(self.adds)

    @property
    def listed(self) -> range:  # type: ignore[override]
        return range(self.size)

    def apart(self, n_classes: int) -> TreeList:
        alike = self.alike(n_classes)
        tests = self.fold((self.graph.feature >= 0).astype(np.int64), np.add)
        order = np.lexsort((tests, self.adds[:, 0], alike))
        first = np.r_[True, alike[order][1:] != alike[order][:-1]] if len(order) else np.zeros(0, dtype=bool)
        return self.only(np.sort(order[first]))

    def only(self, kept: Ints) -> TreeList:
        """Some of the trees, in the order given."""
        if not self.levels:
            return self
        return replace(self, adds=self.adds[kept], levels=[*self.levels[:-1], self.levels[-1].only(kept)])

    def tree(self, index: int) -> Nested:
        return self._tree(len(self.levels) - 1, index)

    def cost(self, index: int) -> int:
        return int(self.adds[index, 0])

    def _tree(self, depth: int, index: int) -> Nested:
        level = self.levels[depth]
        if level.label[index] >= 0:
            return int(level.label[index])
        test = int(self.graph.test[level.alternative[index]])
        sides = (int(level.left[index]), int(level.right[index]))
        return test, self._tree(depth - 1, sides[0]), self._tree(depth - 1, sides[1])

    def uses(self) -> Ints:
        uses = np.zeros(self.graph.n_alternatives)
        times: NDArray[Any] = np.ones(self.size)
        for depth in range(len(self.levels) - 1, -1, -1):
            level = self.levels[depth]
            uses += np.bincount(level.alternative, times, len(uses))
            joined = np.flatnonzero(level.label < 0)
            if depth:
                below = len(self.levels[depth - 1].node)
                sides = np.concatenate([level.left[joined], level.right[joined]])
                times = np.bincount(sides, np.tile(times[joined], 2), below)
        return uses.astype(np.int64)

    def using(self, marked: Bools) -> int:
        return int(self.fold(marked, np.logical_or).sum())

    def extremes(self, values: Floats) -> tuple[float, float]:
        sums = self.fold(values, np.add)
        return float(sums.min()), float(sums.max())

    def least(self, values: Floats) -> Nested:
        return self.tree(int(self.fold(values, np.add).argmin()))

    def fold(self, values: NDArray[Any], join: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        """``values`` (A, ...) of the alternatives of each tree, joined; (N, ...)."""
        out = values[:0]
        for level in self.levels:
            below, out = out, values[level.alternative]
            joined = np.flatnonzero(level.label < 0)
            sides = join(below[level.left[joined]], below[level.right[joined]])
            out[joined] = join(out[joined], sides)
        return out

    def alike(self, n_classes: int) -> Ints:
        """(N,) a number for each tree, the same where two trees predict the same class for every point.

        Trees are found to be alike by a hash, and those of one hash are compared point by point.
        """
        points = self.graph.covers.n_points
        drawn = np.random.default_rng(0).integers(0, 2**64, (points, n_classes), dtype=np.uint64)
        by_class = self.graph.covers.times(drawn)
        leaves = self.graph.leaves
        values = np.zeros(self.graph.n_alternatives, dtype=np.uint64)
        values[leaves] = by_class[self.graph.node[leaves], self.graph.label[leaves]]
        keys = self.fold(values, np.add)
        out, left = np.arange(self.size), np.arange(self.size)
        planes = max(1, (n_classes - 1).bit_length())
        packed = self.graph.covers.bits
        most = max(1, MOST_BYTES // (planes * max(1, packed.shape[1])))
        while len(left):
            _, first, group = np.unique(keys[left], return_index=True, return_inverse=True)
            out[left] = left[first][group]
            left = left[out[left] != left]
            differ = [
                part[
                    (self._bits(packed, planes, part) != self._bits(packed, planes, out[part])).any(
                        axis=(1, 2)
                    )
                ]
                for part in _parts(left, most)
            ]
            left = np.concatenate([left[:0], *differ])
        return out

    def _bits(self, packed: Bytes, planes: int, trees: Ints) -> Bytes:
        """(n, planes, bytes) the predictions of some trees: the points of each class, by the bits of its number."""

        def bits(depth: int, places: Ints) -> Bytes:
            level = self.levels[depth]
            label, out = level.label[places], np.zeros((len(places), planes, packed.shape[1]), dtype=np.uint8)
            leaves, joined = np.flatnonzero(label >= 0), np.flatnonzero(label < 0)
            for plane in range(planes):
                ones = leaves[(label[leaves] >> plane) & 1 == 1]
                out[ones, plane] = packed[level.node[places[ones]]]
            if len(joined):
                for side in (level.left, level.right):
                    out[joined] |= bits(depth - 1, side[places[joined]])
            return out

        return bits(len(self.levels) - 1, trees)


def _parts(places: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
