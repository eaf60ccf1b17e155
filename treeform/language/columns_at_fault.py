"""The columns whose tests make a tree violate requirements that a search does not know.

A requirement such as `Monotone` says which tests of a column a tree may have. A search that does not know it finds
trees that violate it, and no other labels help them. Without the tests of some columns such a tree satisfies it; which
columns these are is found by taking tests out and asking the requirement, whatever it is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.utils.budget import Budget


def columns_at_fault(
    question: Question, graph: DecisionGraph, labels: Collection[str], budget: Budget
) -> tuple[frozenset[int], DecisionGraph] | None:
    """Features without whose tests a tree satisfies requirements over tests, and that tree.

    All columns are taken out, and those of the most weight put back first, as many at once as may stay (a search by
    halves): of one column at fault among m, about 2 log2(m) trees are judged. Each column that is left out would
    violate something beside those that stay. Columns whose sides may clash (`treeform.Meetings`) come last: put back
    before others, they would have these left out, although no requirement is about them.

    Parameters
    ----------
    labels : collection of str
        The requirements that count: of these, such as read which columns are tested.

    Returns
    -------
    tuple of frozenset of int and DecisionGraph, or None
        None where the tree satisfies them, where a tree without tests does not, or at the end of the time.
    """
    data = question.data
    rules = [
        one
        for label, one in zip(question.labels, question.requirements, strict=True)
        if label in labels and "feature" in one.needs
    ]

    def satisfied(columns: Collection[str]) -> bool:
        tree = _without(question, graph, columns)
        return not budget.stop() and not any(one.violation(tree, data) for one in rules)

    if not graph.is_univariate or satisfied(()):
        return None
    meetings = [one.meetings(data) for one in rules]
    clashing = {data.columns[c.feature].source for met in meetings if met is not None for c in met.clashes}
    used = sorted(_by_weight(question, graph), key=clashing.__contains__)
    out = set(used)
    if not satisfied(out):
        return None
    waiting = [used]
    while waiting:
        part = waiting.pop()
        if satisfied(out - set(part)):
            out -= set(part)
        elif len(part) > 1:
            middle = len(part) // 2
            waiting += [part[middle:], part[:middle]]
    if budget.stop():
        return None
    features = frozenset(f for f, column in enumerate(data.columns) if column.source in out)
    return features, _without(question, graph, out)


def _by_weight(question: Question, graph: DecisionGraph) -> list[str]:
    """The columns that are tested, those whose tests most samples reach first."""
    reached = np.asarray(graph.counts).sum(axis=1)
    weight: dict[str, int] = {}
    for test in graph.tests():
        for feature in test.columns:
            source = question.data.columns[feature].source
            weight[source] = weight.get(source, 0) + int(reached[test.node])
    return sorted(weight, key=lambda source: -weight[source])


def _without(question: Question, graph: DecisionGraph, columns: Collection[str]) -> DecisionGraph:
    """Every test of these columns gives way to that of its sides which more samples reach."""
    data, reached = question.data, np.asarray(graph.counts).sum(axis=1)
    left, right = graph.left.copy(), graph.right.copy()
    for test in graph.tests():
        if test.columns and data.columns[test.columns[0]].source in columns:
            sides = left[test.node], right[test.node]
            left[test.node] = right[test.node] = max(sides, key=lambda side: reached[side])
    return replace(graph, left=left, right=right).simplified(data)
