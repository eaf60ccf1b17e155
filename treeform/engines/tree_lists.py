"""Lists of trees over one set of rows: what each adds up to, and where it was joined from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Nested = int | tuple[int, Any, Any]
"""A class code, or (test, left, right)."""


@dataclass(frozen=True)
class Leaf:
    """Constant trees: a class code each."""

    codes: Ints

    def tree(self, index: int) -> Nested:
        """The tree as nested tuples."""
        return int(self.codes[index])


@dataclass(frozen=True)
class Stumps:
    """Trees of one test and two leaves."""

    test: Ints
    left: Ints
    right: Ints

    def tree(self, index: int) -> Nested:
        """The tree as nested tuples."""
        return int(self.test[index]), int(self.left[index]), int(self.right[index])


@dataclass(frozen=True)
class Block:
    """Trees with one first test: pairs of subtrees by their places in two lists."""

    test: int
    left: TreeList
    right: TreeList
    i: Ints
    j: Ints

    def tree(self, index: int) -> Nested:
        """The tree as nested tuples."""
        return self.test, self.left.tree(int(self.i[index])), self.right.tree(int(self.j[index]))


@dataclass(frozen=True)
class TreeList:
    """N trees.

    Attributes
    ----------
    adds : (N, 1 + R) int64
        Cost and rows of each.
    label : (N,) int64
        The class where the tree is a leaf, else -1.
    origin, place : (N,) int64
        The part that it comes from, and its place there.
    parts : tuple
    """

    adds: Ints
    label: Ints
    origin: Ints
    place: Ints
    parts: tuple[Leaf | Stumps | Block, ...]

    @classmethod
    def of(cls, adds: Ints, label: Ints, part: Leaf | Stumps | Block) -> TreeList:
        """The trees of one part."""
        n = len(adds)
        return cls(adds, label.astype(np.int64), np.zeros(n, dtype=np.int64), np.arange(n), (part,))

    @classmethod
    def joined(cls, lists: list[TreeList], width: int) -> TreeList:
        """One list after the other; ``width`` is 1 + R."""
        filled = [one for one in lists if len(one.adds)]
        if not filled:
            empty = np.zeros(0, dtype=np.int64)
            return cls(np.zeros((0, width), dtype=np.int64), empty, empty, empty, ())
        shifts = np.cumsum([0, *(len(one.parts) for one in filled)]).tolist()
        return cls(
            np.concatenate([one.adds for one in filled]),
            np.concatenate([one.label for one in filled]),
            np.concatenate([one.origin + shift for one, shift in zip(filled, shifts, strict=False)]),
            np.concatenate([one.place for one in filled]),
            tuple(part for one in filled for part in one.parts),
        )

    def only(self, kept: Ints) -> TreeList:
        """Some of the trees."""
        return TreeList(self.adds[kept], self.label[kept], self.origin[kept], self.place[kept], self.parts)

    def tree(self, index: int) -> Nested:
        """The tree as nested tuples."""
        return self.parts[int(self.origin[index])].tree(int(self.place[index]))
