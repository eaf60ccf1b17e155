"""What of a tree makes it violate requirements that a search does not know: single tests, or all tests of some columns.

A requirement such as `OncePerPath` says which tests a tree may have. A search that does not know it finds trees that
violate it, and no other labels help them. Without some of its tests such a tree satisfies it; which these are is found
by taking tests out and asking the requirement, whatever it is.

All tests or columns are taken out, and those of the most weight put back first, as many at once as may stay (a search
by halves): of one at fault among m, about 2 log2(m) trees are judged. Each one that is left out would violate something
beside those that stay. Columns whose sides may clash (`treeform.Meetings`) come last: put back before others, they
would have these left out, although no requirement is about them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.utils.budget import Budget

Part = TypeVar("Part", int, str)


def without_tests_at_fault(
    question: Question, graph: DecisionGraph, labels: Collection[str], budget: Budget
) -> DecisionGraph | None:
    """The tree without single tests, so that it satisfies requirements over tests.

    Of those with these ``labels`` such as read which columns are tested. None where the tree satisfies them, or where a
    tree without tests does not. At the end of the budget no more tests are put back.
    """
    return _Faults(question, graph, labels, budget).without_tests()


def columns_at_fault(
    question: Question, graph: DecisionGraph, labels: Collection[str], budget: Budget
) -> tuple[frozenset[int], DecisionGraph] | None:
    """Features without whose tests a tree satisfies them, and that tree; None as above, and at the end of the time."""
    return _Faults(question, graph, labels, budget).without_columns()


class _Faults:
    """A tree that violates requirements over tests."""

    def __init__(
        self, question: Question, graph: DecisionGraph, labels: Collection[str], budget: Budget
    ) -> None:
        self.data, self.graph, self.budget = question.data, graph, budget
        self.rules = [
            one
            for label, one in zip(question.labels, question.requirements, strict=True)
            if label in labels and "feature" in one.needs
        ]
        self.reached = np.asarray(graph.counts).sum(axis=1)
        self.column = {
            test.node: self.data.columns[test.columns[0]].source for test in graph.tests() if test.columns
        }

    @cached_property
    def are_there(self) -> bool:
        """Whether it violates any."""
        return self.graph.is_univariate and not self._satisfied(self.graph)

    def without_tests(self) -> DecisionGraph | None:
        clashing = self._clashing()
        tests = sorted(self.column, key=lambda v: (self.column[v] in clashing, -self.reached[v]))
        out = self._least(tests, self._without)
        return None if out is None else self._without(out)

    def without_columns(self) -> tuple[frozenset[int], DecisionGraph] | None:
        weight: dict[str, int] = {}
        for node, source in self.column.items():
            weight[source] = weight.get(source, 0) + int(self.reached[node])
        clashing = self._clashing()
        used = sorted(weight, key=lambda source: (source in clashing, -weight[source]))

        def tree(columns: Collection[str]) -> DecisionGraph:
            return self._without([node for node, source in self.column.items() if source in columns])

        out = self._least(used, tree)
        if out is None or self.budget.stop():
            return None
        return frozenset(f for f, column in enumerate(self.data.columns) if column.source in out), tree(out)

    def _clashing(self) -> set[str]:
        meetings = [one.meetings(self.data) for one in self.rules]
        return {self.data.columns[c.feature].source for met in meetings if met is not None for c in met.clashes}

    def _least(
        self, parts: list[Part], without: Callable[[Collection[Part]], DecisionGraph]
    ) -> set[Part] | None:
        """Parts of which none can be put back; None where nothing is violated, or without any part, too."""
        out = set(parts)
        if not self.are_there or not self._satisfied(without(out)):
            return None
        waiting = [parts]
        while waiting and not self.budget.stop():
            some = waiting.pop()
            if self._satisfied(without(out - set(some))):
                out -= set(some)
            elif len(some) > 1:
                middle = len(some) // 2
                waiting += [some[middle:], some[:middle]]
        return out

    def _satisfied(self, tree: DecisionGraph) -> bool:
        return not self.budget.stop() and not any(one.violation(tree, self.data) for one in self.rules)

    def _without(self, nodes: Collection[int]) -> DecisionGraph:
        """Each of these tests gives way to that of its sides which more samples reach."""
        left, right = self.graph.left.copy(), self.graph.right.copy()
        for node in nodes:
            left[node] = right[node] = max((left[node], right[node]), key=lambda side: self.reached[side])
        return replace(self.graph, left=left, right=right).simplified(self.data)
