"""Minimal cost-complexity pruning of one tree (Breiman, Friedman, Olshen and Stone, 1984, chapter 3).

With R(T) the sum of the costs of a tree's leaves and m(T) its number of tests, pruning at a price p minimises
``R(T) + p m(T)`` over the trees that are left when nodes of T become leaves. The minimisers are nested: the test whose
branch saves least for each of its tests,

    g(t) = (R(t as a leaf) - R(branch of t)) / m(branch of t),

is the next to become a leaf, at the price g(t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines import ConTree
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import members
from treeform.language.losses import leaf_loss, loss_of, without_tests
from treeform.language.question import Question
from treeform.shape import Tree

Rows = NDArray[np.int64]
Leaf = int | Fraction
"""What a leaf predicts: the code of a class, or a value."""


@dataclass(frozen=True)
class PrunedTree:
    """One of the nested trees."""

    price: Fraction
    """From this price of a test on it is the best of the prunings, in units of the objective."""
    tests: int
    cost: Fraction | None
    """In units of the objective, tests for nothing; None where that is no sum over samples."""
    make: Callable[[], DecisionGraph]
    """Builds the graph, which takes longer than all the rest."""

    @cached_property
    def graph(self) -> DecisionGraph:
        """The tree."""
        return self.make()


@dataclass(frozen=True)
class LeafCosts:
    """What leaves cost under an objective that is a sum over samples."""

    best: Callable[[Rows], tuple[Leaf, Fraction]]
    """From rows to the cheapest prediction for all of them, and its cost in units of the objective."""
    of: Callable[[Rows, Leaf], Fraction]
    """From rows and a prediction to its cost."""


def class_costs(question: Question) -> tuple[NDArray[np.int64], Fraction] | None:
    """(n, K) what each sample costs with each class under the objective, tests for nothing; and the unit of that.

    None where leaves hold values, or the objective is no sum over samples. It is kept with the question.
    """
    known: list[tuple[NDArray[np.int64], Fraction] | None] = vars(question).setdefault("_class_costs", [])
    if not known:
        losses = without_tests(question.objective)
        known.append(_class_costs(question.with_(shape=Tree(1), objective=losses, requirements=())))
    return known[0]


def _class_costs(question: Question) -> tuple[NDArray[np.int64], Fraction] | None:
    objective, data = question.objective, question.data
    if leaf_loss(objective) is not None or not objective.terms or not objective.is_sum or objective.is_depth:
        return None
    relaxation = relax(question, ConTree())
    if relaxation is None or relaxation.dropped:
        return None
    each = relaxation.task.cost_of_samples(data) * data.weights[:, None]
    return each, relaxation.factor / question.scale


def leaf_costs(question: Question) -> LeafCosts | None:
    """Costs of leaves under the objective of ``question``, tests for nothing; None where it is no sum over samples."""
    losses = without_tests(question.objective)
    question = question.with_(objective=losses, requirements=())
    if leaf_loss(losses) is not None:
        return _of_values(question)
    found = class_costs(question)
    if found is None:
        return None
    each, unit = found

    def best(rows: Rows) -> tuple[Leaf, Fraction]:
        totals = each[rows].sum(axis=0).tolist() if len(rows) else [0] * question.data.n_classes
        code = totals.index(min(totals))
        return code, unit * totals[code]

    return LeafCosts(best, lambda rows, code: unit * int(each[rows, int(code)].sum()))


def _of_values(question: Question) -> LeafCosts:
    weight, loss = loss_of(question.objective)
    data = question.data
    quantity = data.quantity
    assert quantity is not None
    unit = weight * loss.per_unit(data)

    def of(rows: Rows, value: Leaf) -> Fraction:
        deviation = quantity.in_units(Fraction(value))
        return unit * loss.of_rows(quantity.deviations[rows], data.weights[rows], deviation)

    def best(rows: Rows) -> tuple[Leaf, Fraction]:
        value = loss.best_value(data, rows)
        return value, of(rows, value)

    return LeafCosts(best, of)


def prunings(question: Question, graph: DecisionGraph, depth: int | None = None) -> list[PrunedTree]:
    """The trees into which ``graph`` is pruned as the price of a test grows, ``graph`` itself first.

    Requirements are not asked for. Under an objective that is no sum over samples only ``graph`` is returned.

    ``question``: its price of a test, if it has one, does not count. ``graph``: a tree with tests of one feature.
    ``depth``: cut the tree at this depth first.
    """
    costs = leaf_costs(question)
    if costs is None:
        return [PrunedTree(Fraction(0), graph.n_nodes, None, lambda: graph)]
    pruning = _Pruning(question.data, graph, costs)
    if depth is not None:
        pruning.cut_below(depth)
    return pruning.all()


def prunings_of_tests(
    question: Question, graph: DecisionGraph, depths: Iterable[int]
) -> Iterator[tuple[int, PrunedTree]]:
    """The prunings of a tree that is cut at each of some depths, with the depth; each leaf has its cheapest prediction.

    None under an objective that is no sum over samples.
    """
    costs = leaf_costs(question)
    if costs is None:
        return
    pruning = _Pruning(question.data, graph, costs, relabelled=True)
    for depth in depths:
        pruning.kept = pruning.tests.copy()
        pruning.cut_below(depth)
        yield from ((depth, pruned) for pruned in pruning.all())


class _Pruning:
    """One tree, its nodes' costs as leaves, and its remaining nodes."""

    def __init__(
        self, data: Dataset, graph: DecisionGraph, costs: LeafCosts, relabelled: bool = False
    ) -> None:
        self.graph, self.data, self.relabelled = graph, data, relabelled
        self.tests = graph.feature >= 0
        self.predicted: list[Leaf] = []
        self.as_leaf: list[Fraction] = []
        for node, rows in enumerate(members(graph, data)):
            if self.tests[node] or relabelled:
                label, cost = costs.best(rows)
            else:
                label = self._label(node)
                cost = costs.of(rows, label)
            self.predicted.append(label)
            self.as_leaf.append(cost)
        self.kept = self.tests.copy()

    def _label(self, leaf: int) -> Leaf:
        code = int(self.graph.label[leaf])
        return self.graph.values[code] if self.graph.values else code

    def cut_below(self, depth: int) -> None:
        """Make the tests at this depth leaves."""
        level = [0]
        for _ in range(depth):
            tests = [node for node in level if self.kept[node]]
            level = [int(side[node]) for node in tests for side in (self.graph.left, self.graph.right)]
        for node in level:
            self._cut(node)

    def all(self) -> list[PrunedTree]:
        cost, size = self._branches()
        price = Fraction(0)
        found = [self._pruned(price, cost, size)]
        while self.kept[0]:
            saved = {
                node: (self.as_leaf[node] - cost[node]) / size[node]
                for node in np.flatnonzero(self.kept).tolist()
            }
            least = min(saved.values())
            for node in [node for node, each in saved.items() if each == least]:
                self._cut(node)
            price = max(price, least)
            cost, size = self._branches()
            made = self._pruned(price, cost, size)
            # A test that saves nothing has no place in the first tree.
            if price == found[-1].price:
                found[-1] = made
            else:
                found.append(made)
        return found

    def _pruned(self, price: Fraction, cost: list[Fraction], size: list[int]) -> PrunedTree:
        kept = self.kept.copy()
        whole = not self.relabelled and bool((kept == self.tests).all())
        return PrunedTree(price, size[0], cost[0], lambda: self.graph if whole else self._built(kept))

    def _branches(self) -> tuple[list[Fraction], list[int]]:
        """Cost and number of tests of the branch at each node; children stand after their parents."""
        cost, size = list(self.as_leaf), [0] * len(self.as_leaf)
        for node in np.flatnonzero(self.kept)[::-1].tolist():
            left, right = int(self.graph.left[node]), int(self.graph.right[node])
            cost[node] = cost[left] + cost[right]
            size[node] = 1 + size[left] + size[right]
        return cost, size

    def _cut(self, node: int) -> None:
        below = [node]
        while below:
            at = below.pop()
            if self.kept[at]:
                self.kept[at] = False
                below += [int(self.graph.left[at]), int(self.graph.right[at])]

    def _built(self, kept: NDArray[np.bool_]) -> DecisionGraph:
        nodes: list[dict[str, object]] = []
        values = tuple(sorted({Fraction(p) for p in self.predicted})) if self.graph.values else ()
        position = {value: at for at, value in enumerate(values)}

        def add(node: int) -> int:
            at = len(nodes)
            nodes.append({})
            if kept[node]:
                nodes[at] = {
                    "feature": int(self.graph.feature[node]),
                    "threshold": float(self.graph.threshold[node]),
                    "left": add(int(self.graph.left[node])),
                    "right": add(int(self.graph.right[node])),
                }
            else:
                label = self.predicted[node]
                nodes[at] = {"label": position[Fraction(label)] if values else int(label)}
            return at

        add(0)
        return DecisionGraph.build(nodes, self.data, values)
