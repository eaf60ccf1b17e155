"""Costs of predictions: terms of an objective that are sums over samples."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import fraction_of, plain
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.numbers import as_fraction
from treeform.language.objective import Term
from treeform.language.ports import Ports
from treeform.model import Expr, Model
from treeform.shape import Shape
from treeform.utils.text import exact_text

LARGEST_COST = 2**60
"""All samples at their worst cost stay below this: native engines count in 64 bits."""


class SampleCost(Term):
    """A sum over samples: each costs the entry of `per_sample` for its predicted class."""

    needs: ClassVar[Set[str]] = frozenset({"predicted"})

    @abstractmethod
    def per_sample(self, data: Dataset) -> np.ndarray:
        """(n, K) int64, not negative: cost of a unit of weight of sample i when predicted class k, in `unit`."""

    def unit(self, data: Dataset) -> Fraction:
        return data.weight_unit

    def constant(self, data: Dataset) -> int:
        """What is added whatever is predicted, in `unit`; it may be negative."""
        return 0

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        guess = graph.predict_codes(data.X)
        each = self.per_sample(data)[np.arange(data.n_samples), guess].astype(object)
        return self.unit(data) * (int((each * np.asarray(data.weights)).sum()) + self.constant(data))

    def least(self, data: Dataset, classes: int) -> Fraction:
        at_point = np.zeros((data.points.n_points, data.n_classes), dtype=np.int64)
        np.add.at(at_point, data.points.index, self.per_sample(data) * data.weights[:, None])
        return self.unit(data) * (int(at_point.min(axis=1).sum()) + self.constant(data))

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        costs = self.per_sample(data)
        wanted, at_least = (data.n_samples, data.n_classes), costs.min(initial=0)
        if costs.dtype.kind not in "iu" or costs.shape != wanted or at_least < 0:
            return SpecError(
                f"the costs of {self.name} cannot be used",
                cause=f"they are {costs.dtype} of shape {costs.shape}, the least is {at_least:g}",
                fix=f"return whole numbers of at least 0, of shape {wanted}, from per_sample; "
                "unit is what 1 stands for",
            )
        dearest = Fraction(int(costs.max(initial=1)))
        return too_large(dearest, data) if dearest * data.total_weight >= LARGEST_COST else None

    def build(self, model: Model, ports: Ports) -> Expr:
        cost: Expr = (ports.predicted * (self.per_sample(ports.data) * ports.weights[:, None])).sum()
        constant = self.constant(ports.data)
        return cost + constant if constant else cost

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        worst = self.per_sample(data).max(axis=1).astype(object)
        return self.unit(data) * (int((worst * np.asarray(data.weights)).sum()) + self.constant(data))


class ClassCost(SampleCost):
    """Costs that depend on the true and the predicted class alone."""

    @abstractmethod
    def entry(self, data: Dataset, truth: int, guess: int) -> Fraction:
        """Cost of one prediction, for a unit of weight.

        Parameters
        ----------
        data : Dataset
        truth : int
            Code of the sample's class: its index in ``data.classes``.
        guess : int
            Code of the class that is predicted.
        """

    def per_sample(self, data: Dataset) -> np.ndarray:
        return np.asarray(self.whole(data)[np.asarray(data.y)])

    def whole(self, data: Dataset) -> np.ndarray:
        """(K, K) int64 costs in multiples of ``unit / weight_unit``."""
        step = self._step(data)
        return np.array([[int(v / step) for v in row] for row in self.entries(data)], dtype=np.int64)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(data.weight_unit * self._step(data))

    def entries(self, data: Dataset) -> list[list[Fraction]]:
        """Every `entry` as a fraction, by true and predicted class: 0.1 is 1/10, and a truth value counts as 0 or 1."""
        classes = range(data.n_classes)
        return [[self._exact(self.entry(data, truth, guess)) for guess in classes] for truth in classes]

    def _exact(self, value: Any) -> Fraction:
        return as_fraction(int(value) if isinstance(value, bool | np.bool_) else value, f"a cost of {self.name}")

    def _step(self, data: Dataset) -> Fraction:
        return Fraction(1, math.lcm(*(v.denominator for row in self.entries(data) for v in row)))

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        costs = [cost for row in self.entries(data) for cost in row]
        if min(costs) < 0:
            return SpecError(
                f"a cost of {self.name} is {exact_text(min(costs))}",
                cause="costs are at least 0",
                fix="add the same number to all costs of its true class, which changes no optimal model",
            )
        dearest = max(costs) / self._step(data)
        return too_large(dearest, data) if dearest * data.total_weight >= LARGEST_COST else None


def too_large(dearest: Fraction, data: Dataset) -> SpecError:
    """The refusal of costs of up to ``dearest`` units, which leave 64 bits on the weights of ``data``."""
    return SpecError(
        "the costs are too large for exact 64-bit arithmetic",
        cause=f"as whole numbers they have up to {len(str(math.ceil(dearest)))} digits, on a total weight of "
        f"{data.total_weight:.3g}, and the largest sum is {LARGEST_COST}",
        fix="round costs and sample weights to fewer digits",
    )


@dataclass(frozen=True, init=False)
class Cost(ClassCost):
    """Cost of predictions: ``matrix[true class, predicted class]`` per unit of sample weight.

    Parameters
    ----------
    matrix : array of shape (K, K)
        Finite, not negative; classes in the order of ``Dataset.classes`` (sorted). Floats are read as the
        decimals they are written as.
    """

    matrix: tuple[tuple[Fraction, ...], ...]
    name: ClassVar[str] = "cost"

    def __init__(self, matrix: Any) -> None:
        try:
            if isinstance(matrix, Mapping) or hasattr(matrix, "columns"):  # iteration gives their labels
                raise TypeError
            rows = [list(row) for row in (matrix.tolist() if isinstance(matrix, np.ndarray) else matrix)]
        except TypeError:
            raise SpecError(
                f"{matrix!r} is no cost matrix",
                cause="there is one row per true class and one column per predicted class",
                fix="use for example tf.Cost([[0, 5], [1, 0]])",
            ) from None
        if not rows or any(len(row) != len(rows) for row in rows):
            raise SpecError(
                f"a cost matrix with rows of {[len(row) for row in rows]} entries is not square",
                cause="there is one row per true class and one column per predicted class",
                fix="use for example tf.Cost([[0, 5], [1, 0]]) for two classes",
            )
        exact = tuple(tuple(as_fraction(v, "a cost") for v in row) for row in rows)
        if min(min(row) for row in exact) < 0:
            raise SpecError(
                "a cost is negative", cause="costs are at least 0", fix="add a constant to its row"
            )
        object.__setattr__(self, "matrix", exact)

    def entry(self, data: Dataset, truth: int, guess: int) -> Fraction:
        return self.matrix[truth][guess]

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if len(self.matrix) == data.n_classes:
            return super().refusal(data, shape)
        return SpecError(
            f"the cost matrix has {len(self.matrix)} rows and the data have {data.n_classes} classes",
            cause=f"the classes are {', '.join(map(repr, map(plain, data.classes)))}",
            fix="give one row and one column per class, in that order",
        )

    @classmethod
    def from_text(cls, inside: str | None) -> Cost:
        try:
            return cls([[fraction_of(v) for v in row.split()] for row in (inside or "").split(";")])
        except (ValueError, ZeroDivisionError):
            raise SpecError(
                f"cost[{inside}] is no cost matrix",
                cause="rows are separated by semicolons, entries by blanks",
                fix="use for example cost[0 5; 1 0]",
            ) from None

    def __str__(self) -> str:
        return "cost[" + "; ".join(" ".join(map(str, row)) for row in self.matrix) + "]"
