"""Meetings: what must not stand on the two sides of one test.

A subtree carries *marks*: those that its samples get from their predictions. Marks are joined by union from the leaves
to the root, and a *clash* forbids that marks meet at a test of a column. That a column acts monotonically is of this
kind: a positive prediction on the lower side of its tests must not meet an negative one on the upper side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Bools, Ints

MOST_MARKS = 62


@dataclass(frozen=True)
class Clash:
    """Marks that must not meet at tests of a column.

    No sample on the lower side of such a test carries one of `lower` while one on the upper side carries one of
    `upper`.

    Attributes
    ----------
    feature : int
        The encoded feature that is tested.
    lower, upper : tuple of int
        Numbers of marks.
    """

    feature: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @property
    def masks(self) -> tuple[int, int]:
        """Both sides as sums of powers of two."""
        return sum(1 << m for m in set(self.lower)), sum(1 << m for m in set(self.upper))


@dataclass(frozen=True, eq=False)
class Meetings:
    """M marks of samples, and the clashes that an admissible model does not have.

    Attributes
    ----------
    names : tuple of M str
        What each mark says.
    per_sample : (n, classes, M) bool
        Whether sample i carries mark k when class c is predicted for it.
    clashes : tuple of Clash

    Raises
    ------
    SpecError
        If shapes do not fit, there are more than 62 marks, or a clash names a mark that is not there.

    Examples
    --------
    A rejected sample that passes the test of feature 0 must not meet an approved one that fails it:

    >>> per_sample = np.zeros((4, 2, 2), dtype=bool)
    >>> per_sample[:, 0, 0] = per_sample[:, 1, 1] = True
    >>> Meetings(("rejected", "approved"), per_sample, (Clash(0, (1,), (0,)),)).n_marks
    2
    """

    names: tuple[str, ...]
    per_sample: Bools
    clashes: tuple[Clash, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "clashes", tuple(self.clashes))
        array: NDArray[Any] = np.array(self.per_sample)
        if array.ndim != 3 or array.shape[2] != self.n_marks or array.dtype != bool:
            raise SpecError(
                f"per_sample of meetings has shape {array.shape} and type {array.dtype}",
                cause=f"it has 3 axes, samples, classes and {self.n_marks} marks, and truth values",
                fix="give one truth value for each sample, class and mark",
            )
        if self.n_marks > MOST_MARKS:
            raise SpecError(f"there are {self.n_marks} marks", cause=f"at most {MOST_MARKS} are carried")
        for clash in self.clashes:
            if not all(0 <= m < self.n_marks for m in (*clash.lower, *clash.upper)):
                raise SpecError(
                    f"{clash} names a mark that is not there", cause=f"the marks are 0 to {self.n_marks - 1}"
                )
        array.setflags(write=False)
        object.__setattr__(self, "per_sample", array)

    @property
    def n_marks(self) -> int:
        """M."""
        return len(self.names)

    @property
    def masks(self) -> Ints:
        """``per_sample`` as sums of powers of two, of shape (n, classes)."""
        powers = np.int64(1) << np.arange(self.n_marks, dtype=np.int64)
        return np.asarray(self.per_sample @ powers, dtype=np.int64)

    def classes_on_sides(self, features: int) -> list[tuple[int, int]]:
        """For each feature the classes that clash on the two sides of its tests, as sums of powers of two.

        Of a feature whose classes may clash with themselves there are none, and of more than 62 classes no list. A tree
        without these clashes has none at all; where samples differ in their marks, others may have none, too.
        """
        classes = self.per_sample.shape[1]
        if classes > MOST_MARKS:
            return []
        powers, sides = 1 << np.arange(classes, dtype=object), [[0, 0] for _ in range(features)]
        for clash in self.clashes:
            for side, marks in enumerate((clash.lower, clash.upper)):
                carried = self.per_sample[:, :, list(marks)].any(axis=(0, 2))
                sides[clash.feature][side] |= int(powers[carried].sum())
        return [(lower, upper) if lower and upper and not lower & upper else (0, 0) for lower, upper in sides]

    def excess(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of clashes of the model; a negative weight of the column in a test turns the sides."""
        X = data.points.X
        carried = self.masks[np.arange(data.n_samples), graph.predict_codes(data.X)]
        marks = np.zeros(len(X), dtype=np.int64)
        np.bitwise_or.at(marks, data.points.index, carried)
        visits, goes_left = graph.route(X), graph.goes_left(X)
        clashes = 0
        for test in graph.tests():
            for clash in self.clashes:
                weight = test.weight(clash.feature)
                if weight == 0:
                    continue
                lower = visits[:, test.node] & (goes_left[:, test.node] == (weight > 0))
                upper = visits[:, test.node] & ~lower
                low, high = clash.masks
                clashes += bool((marks[lower] & low).any() and (marks[upper] & high).any())
        return clashes


def all_meetings(parts: Sequence[Meetings]) -> Meetings | None:
    """The marks and clashes of all; None when there are none.

    Raises SpecError if there are more than 62 marks together.
    """
    if len(parts) <= 1:
        return parts[0] if parts else None
    clashes: list[Clash] = []
    at = 0
    for part in parts:
        for clash in part.clashes:
            lower, upper = (tuple(m + at for m in side) for side in (clash.lower, clash.upper))
            clashes.append(Clash(clash.feature, lower, upper))
        at += part.n_marks
    return Meetings(
        tuple(name for part in parts for name in part.names),
        np.concatenate([part.per_sample for part in parts], axis=2),
        tuple(clashes),
    )
