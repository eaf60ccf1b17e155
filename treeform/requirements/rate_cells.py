"""Samples that rates between groups cannot tell apart: of one group and one class, and counted in the same sets.

A model's rates need no more of it than the weight of each class that is predicted in each of these cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeform.data import Dataset
from treeform.data.views import dense, first_of_each, with_columns
from treeform.graph import DecisionGraph
from treeform.graph.routing import codes_of_points
from treeform.requirements.groups import Groups
from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class RateCells:
    """The cells of one data set."""

    cell: Ints
    """(n,) int64: the cell of each sample."""
    group: Ints
    truth: Ints
    """(M,) int64: group and class of the samples of each cell."""
    weight: Ints
    """(M,) int64: of the samples of each cell, in weight units."""
    sets: tuple[tuple[str, Bools], ...]
    """The sets of samples that count: what they are, and which cells belong to them."""
    n_groups: int
    data: Dataset

    @classmethod
    def of(cls, groups: Groups, sets: Sequence[tuple[str, Bools]], data: Dataset) -> RateCells:
        """The cells of all samples; `sets` are masks of samples, each with what it is."""
        n_groups = len(groups.labels)
        masks = [mask.astype(np.int64) for _, mask in sets]
        cell, cells = with_columns(groups.codes, n_groups, [data.y, *masks])
        first = first_of_each(cell, cells)
        return cls(
            cell,
            groups.codes[first],
            data.y[first],
            data.weight_by_code(cell, cells),
            tuple((what, mask[first]) for what, mask in sets),
            n_groups,
            data,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RateCells)
            and np.array_equal(self.cell, other.cell)
            and [what for what, _ in self.sets] == [what for what, _ in other.sets]
            and all(np.array_equal(a, b) for (_, a), (_, b) in zip(self.sets, other.sets, strict=True))
        )

    def __hash__(self) -> int:
        return hash((len(self.cell), self.n_groups))

    def of_groups(self, chosen: Bools, amounts: Ints) -> list[int]:
        """What the chosen cells of each group add up to."""
        out = [0] * self.n_groups
        for group, amount in zip(self.group[chosen].tolist(), amounts[chosen].tolist(), strict=True):
            out[group] += amount
        return out

    def weights(self, chosen: Bools) -> list[int]:
        """The weight of the chosen cells of each group."""
        return self.of_groups(chosen, self.weight)

    @cached_property
    def _at_points(self) -> tuple[Ints, Ints, Ints]:
        """The merged points of each cell: (C,) points, (C,) cells, (C,) weights."""
        cells, points = len(self.group), self.data.points
        codes, size = dense(points.index * cells + self.cell, points.n_points * cells)
        first = first_of_each(codes, size)
        return points.index[first], self.cell[first], self.data.weight_by_code(codes, size)

    def predicted(self, graph: DecisionGraph) -> Ints:
        """The weight of each cell by the class that the model predicts: (M, classes) int64."""
        point, cell, weight = self._at_points
        shape = (len(self.group), self.data.n_classes)
        codes = cell * shape[1] + codes_of_points(graph, self.data)[point]
        # Sums of weights are below 2**53, so that bincount's doubles are exact.
        return np.bincount(codes, weight, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape)
