"""Performance: bounds on what the model gets wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.data import contradictions_text, contradictory_rows
from treeform.errors import Infeasible
from treeform.language.limits import Limits
from treeform.language.requirement import Requirement
from treeform.requirements.amount import OfAmount

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model


class MaxErrors(OfAmount, Requirement):
    """At most this much training weight is misclassified.

    Parameters
    ----------
    amount : int or float
        A whole number counts samples (weight), anything else is a fraction of the total weight.
    count : int, optional
    fraction : float, optional
        The same by name.
    """

    name: ClassVar[str] = "max_errors"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"correct"})

    def bind(self, data: Dataset, **context: Any) -> MaxErrors:
        per_class = data.points.weights
        floor = int((per_class.sum(axis=1) - per_class.max(axis=1)).sum())
        if floor > self.amount.at_most(data):
            raise Infeasible(
                f"{self} is infeasible",
                cause=f"{contradictions_text(contradictory_rows(data))}, which makes at least "
                f"{floor * data.weight_unit} errors unavoidable",
                fix=f"allow at least {floor * data.weight_unit}, or minimise tf.Error() at a given depth",
            )
        return self

    def build(self, model: Model, ports: Ports) -> None:
        # sum_i weight_i * (1 - correct_i) <= k
        model.add(((1 - ports.correct) * ports.weights).sum() <= self.amount.at_most(ports.data), str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return data.weight_unit * max(0, self.weight_of(graph, data) - self.amount.at_most(data))

    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        wrong = graph.predict_codes(data.X) != data.y
        return int(np.asarray(data.weights)[wrong].sum())

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_errors=self.amount.at_most(data))

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        wrong = 1 - np.eye(data.n_classes, dtype=np.int64)
        return [(wrong[np.asarray(data.y)], self.amount.at_most(data))]
