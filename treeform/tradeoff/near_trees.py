"""What is asked about all near-optimal trees at once: columns, rows, and the best of them in another respect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeform.engines.relaxation import Relaxation
from treeform.engines.tree_sets import Nested, TreeSet
from treeform.errors import ContradictionError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.question import Question
from treeform.solve.result import Number, as_number
from treeform.solve.verification import verify
from treeform.utils.arrays import Floats, Ints
from treeform.utils.budget import Budget, report_step


@dataclass(frozen=True)
class NearModel:
    """One of the models."""

    objective: Number
    graph: DecisionGraph

    def columns(self) -> set[str]:
        """The columns of the table that it tests."""
        return {self.graph.columns[f].source for f in self.graph.features_used()}

    def __str__(self) -> str:
        return "\n  ".join([f"objective {self.objective}", *map(str, self.graph.rules())])


@dataclass(frozen=True)
class Judge:
    """Trees of a graph as models of a question."""

    question: Question
    relaxation: Relaxation
    """What the trees were found by."""
    graph_of: Callable[[Nested], DecisionGraph]
    """A tree as a model."""

    @property
    def is_needed(self) -> bool:
        """Whether some requirement is judged on each model, since the graph and the rows over it do not state it."""
        return bool(self.relaxation.dropped) or self.question.limits.max_errors is not None

    @property
    def keeps_normal_forms(self) -> bool:
        """Whether the normal form of a tree that satisfies everything does so, too."""
        totals = self.relaxation.task.totals
        return not self.is_needed and (totals is None or not totals.of_nodes)

    def model(self, nested: Nested, cost: int | None = None) -> NearModel | None:
        """The model, if it satisfies everything; its value is evaluated again.

        Raises ContradictionError if it does not cost what was counted (``cost``, in units of the task), or breaks
        what was counted.
        """
        graph = self.graph_of(nested)
        judged = verify(self.question, graph)
        value = judged.value if cost is None else self.relaxation.factor * cost + self.relaxation.offset
        broken = {name for name, rest in judged.violations.items() if rest}
        if judged.value != value or judged.misfit or (broken and not self.is_needed):
            raise ContradictionError(
                "a model was counted wrongly, so no answer is given",
                cause=f"counted {value}, evaluated {judged.value}, misses {', '.join(sorted(broken)) or 'nothing'}",
                fix="report this with the data: the enumeration or a requirement is wrong",
            )
        return None if broken else NearModel(as_number(self.question.to_units(judged.value)), graph)


@dataclass(frozen=True)
class NearTrees:
    """A set of trees that satisfy a question, and what they are made of."""

    judge: Judge
    trees: TreeSet

    @property
    def size(self) -> int:
        """How many trees there are."""
        return self.trees.size

    # ---------------------------------------------------------------- models

    def model(self, index: int) -> NearModel:
        """A tree by its number, the cheapest first; it is evaluated again."""
        return self._model(self.trees.tree(index), self.trees.cost(index))

    def _model(self, nested: Nested, cost: int | None = None) -> NearModel:
        model = self.judge.model(nested, cost)
        assert model is not None  # those that break a requirement were left out
        return model

    def sample(self, n: int, seed: int | None) -> list[NearModel]:
        """Trees drawn independently, each with the same chance."""
        drawn = np.random.default_rng(seed).integers(self.size, size=n)
        return [self.model(int(index)) for index in drawn]

    def sparsest(self) -> NearModel:
        """A tree of the fewest tests; of these, one of the least objective."""
        graph = self.trees.graph
        values = np.zeros(graph.n_alternatives)
        values[graph.tests] = 1.0
        return self._model(self.trees.least(values))

    def tightest(self, axis: Bounded, budget: Budget) -> NearModel | None:
        """The tree of the tightest measure; None where the trees are no list, or the time is over."""
        best: tuple[int, Value] | None = None
        for index in self.trees.listed:
            if index % 64 == 0:
                if budget.stop():
                    return None
                report_step(index, "models measured")
            graph = self.judge.graph_of(self.trees.tree(index))
            value = axis.measured(graph, self.judge.question.data)
            if best is None or axis.is_tighter(value, best[1]):
                best = index, value
        return None if best is None else self.model(best[0])

    def distinct(self) -> NearTrees:
        """One tree for each way to predict the points: that of the least objective, and then of the fewest tests."""
        apart = self.trees.apart(self.judge.question.data.n_classes)
        if apart is None:
            raise SpecError(
                "models that predict alike are not found",
                cause=f"they are compared with each other, and there are {self.size:,}",
                fix="use a smaller share (within), or add requirements",
            )
        return replace(self, trees=apart)

    # ---------------------------------------------------------------- columns

    @cached_property
    def _sources(self) -> NDArray[np.object_]:
        """The column of the table that each alternative tests; "" for a leaf."""
        names = np.array([column.source for column in self.judge.question.data.columns], dtype=object)
        graph = self.trees.graph
        out = np.full(graph.n_alternatives, "", dtype=object)
        out[graph.tests] = names[graph.feature[graph.tests]]
        return out

    @cached_property
    def _decrease(self) -> Floats:
        """What each test takes off the impurity of its rows, as a share of the impurity of all rows.

        With w the weight of a node's rows and g their Gini impurity: w g - w_left g_left - w_right g_right (Breiman,
        Friedman, Olshen and Stone, 1984).
        """
        graph, tests = self.trees.graph, self.trees.graph.tests
        weights = graph.covers.times(self.judge.question.data.points.weights.astype(np.float64))
        total = weights.sum(axis=1)
        impurity = total - (weights**2).sum(axis=1) / np.maximum(total, 1e-300)
        out = np.zeros(graph.n_alternatives)
        out[tests] = impurity[graph.node[tests]] - impurity[graph.left[tests]] - impurity[graph.right[tests]]
        whole = impurity[0] if len(impurity) else 0.0
        return out / whole if whole > 0 else out

    def using(self, column: str) -> int:
        """How many of the trees test a column."""
        return self.trees.using(self._sources == column) if self.size else 0

    def importance(self, column: str) -> tuple[float, float]:
        """The least and the largest share of the impurity that a tree's tests of a column take off."""
        return self.trees.extremes(np.where(self._sources == column, self._decrease, 0.0))

    def importance_of(self, model: NearModel, column: str) -> float:
        """The same of one model."""
        chosen = self.trees.graph.choices(model.graph, self.judge.question.data)
        return float(np.where(self._sources == column, self._decrease, 0.0)[chosen or []].sum())

    # ---------------------------------------------------------------- rows

    def predicted(self) -> Ints:
        """(n, K) how many of the trees predict each class for each row of the table."""
        data = self.judge.question.data
        return self.trees.predicted(data.n_classes)[data.points.index]

    def differing(self, reference: DecisionGraph) -> tuple[int, int]:
        """The least and the largest weight of the rows that one of the trees predicts otherwise than a model."""
        graph, points = self.trees.graph, self.judge.question.data.points
        label = reference.predict_codes(points.X)
        weight = points.weights.sum(axis=1).astype(np.float64)
        of_class = np.stack(
            [weight * (label != c) for c in range(self.judge.question.data.n_classes)], axis=1
        )
        values = np.zeros(graph.n_alternatives)
        differs = graph.covers.times(of_class)
        values[graph.leaves] = differs[graph.node[graph.leaves], graph.label[graph.leaves]]
        low, high = self.trees.extremes(values)
        return int(low), int(high)
