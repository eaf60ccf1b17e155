"""Marks of classes that must not meet at a test, in the AND/OR graph of trees for two classes.

Where a positive prediction on the lower side of a test must not meet a negative one on the upper side (`Monotone`), the
lower side predicts nothing but the negative class, or the upper one nothing but the positive class. A side of one class
is a leaf: what stands below it may be left out, and what trees cost and add to sums over samples stays the same. So a
test of such a column is two alternatives, each with a side that is that leaf, and no row has to state the condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.engines.task import TreeTask
from treeform.language.alternatives import AndOrGraph
from treeform.language.meetings import Meetings
from treeform.language.question import Question
from treeform.utils.arrays import Ints


class ConstantSides:
    """Features of whose tests one side has to be of one class, and graphs that state it.

    ``lower``: the class that the lower side of a test of an encoded feature has, where it is of one class; where the
    upper side is, that has the other one. ``labels``: the requirements that this states.
    """

    def __init__(self, lower: dict[int, int], labels: tuple[str, ...]) -> None:
        self.lower, self.labels = lower, labels

    def states(self, graph: AndOrGraph) -> AndOrGraph:
        """The graph of the trees that have such sides, and a leaf on each."""
        if not self.lower or not graph.n_alternatives:
            return graph
        lower = np.full(max(int(graph.feature.max(initial=0)), *self.lower) + 1, -1)
        lower[list(self.lower)] = list(self.lower.values())
        one_sided = (graph.feature >= 0) & (lower[graph.feature] >= 0)
        return _stated(graph, one_sided, np.where(one_sided, lower[graph.feature], -1))


def constant_sides(question: Question, task: TreeTask, dropped: Sequence[str]) -> ConstantSides:
    """The sides that state all requirements that prices do not know; none where others than they are among these."""
    lower: dict[int, int] = {}
    pairs = zip(question.labels, question.requirements, strict=True)
    asked = {label: requirement for label, requirement in pairs if label in dropped}
    counts_nodes = task.totals is not None and task.totals.of_nodes
    if len(asked) < len(dropped) or counts_nodes or question.data.n_classes != 2 or task.paths:
        return ConstantSides({}, ())
    for requirement in asked.values():
        found = _lower_of(requirement.meetings(question.data))
        if not found or any(lower.get(f, label) != label for f, label in found.items()):
            return ConstantSides({}, ())
        lower |= found
    return ConstantSides(lower, tuple(asked))


def _lower_of(meetings: Meetings | None) -> dict[int, int] | None:
    """By feature the class of a lower side of one class; None where marks or clashes are others than these."""
    if meetings is None:
        return None
    carried = meetings.per_sample
    if not (carried == carried[:1]).all():
        return None
    out: dict[int, int] = {}
    for clash in meetings.clashes:
        sides = [
            np.flatnonzero(carried[0][:, list(marks)].any(axis=1)) for marks in (clash.lower, clash.upper)
        ]
        if any(len(side) != 1 for side in sides) or sides[0] == sides[1]:
            return None
        (other,) = sides[1].tolist()
        if out.setdefault(clash.feature, other) != other:
            return None
    return out


def _stated(graph: AndOrGraph, one_sided: NDArray[np.bool_], lower: Ints) -> AndOrGraph:
    """``lower``: per alternative that is ``one_sided`` the class of its lower side."""
    leaf_of = np.full((graph.n_nodes, 2), -1)
    leaf_of[graph.node[graph.leaves], graph.label[graph.leaves]] = graph.leaves
    tests = np.flatnonzero(one_sided)
    ends = np.stack([leaf_of[graph.left[tests], lower[tests]], leaf_of[graph.right[tests], 1 - lower[tests]]])
    leaves, number = np.unique(ends, return_inverse=True)
    number = number.reshape(ends.shape) + graph.n_nodes
    # Each of these tests twice, first with a leaf on its lower side; then the leaves, each at a node of its own.
    twice = np.repeat(np.arange(graph.n_alternatives), 1 + one_sided)
    first = np.searchsorted(twice, tests)
    left, right = graph.left[twice], graph.right[twice]
    left[first], right[first + 1] = number
    there = np.ones(len(twice), dtype=bool)
    there[first], there[first + 1] = ends >= 0
    of = np.concatenate([twice, np.maximum(leaves, 0)])
    none = np.full(len(leaves), -1)

    kept = ("feature", "threshold", "label", "least", "test", "sums")
    each: dict[str, Any] = {name: getattr(graph, name)[of] for name in kept}
    at_leaves = graph.node[np.maximum(leaves, 0)]
    whole = replace(
        graph,
        depth=np.concatenate([graph.depth, graph.depth[at_leaves]]),
        cover=np.concatenate([graph.cover, graph.cover[at_leaves]]),
        node=np.concatenate([graph.node[twice], graph.n_nodes + np.arange(len(leaves))]),
        left=np.concatenate([left, none]),
        right=np.concatenate([right, none]),
        **each,
    )
    return whole.part(whole.used(np.concatenate([there, leaves >= 0])))
