"""Parsimony: few tests."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar

from treeform.errors import SpecError
from treeform.language.bounded import Bounded, Value
from treeform.language.limits import Limits
from treeform.language.requirement import Requirement
from treeform.language.shortfall import whole_number
from treeform.requirements.amount import whole_bound

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model
    from treeform.shape import Shape


class MaxNodes(Requirement, Bounded):
    """At most ``k`` tests in the model (a constant model has none).

    Parameters
    ----------
    k : int
        At least 0.

    Notes
    -----
    Florio et al. (AAAI 2023), "Parsimony and stability".
    """

    name: ClassVar[str] = "max_nodes"
    demands_tests: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    needs = frozenset({"active"})

    def __init__(self, k: int) -> None:
        if isinstance(k, bool) or not isinstance(k, Integral) or k < 0:
            raise SpecError(
                f"a model with at most {k!r} tests is not possible",
                cause="k is a whole number, at least 0",
                fix="use for example MaxNodes(7)",
            )
        self.k: int = int(k)

    def build(self, model: Model, ports: Ports) -> None:
        # sum_v d_v <= k
        model.add(ports.active.sum() <= self.k, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(0, graph.n_nodes - self.k)

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=self.k)

    def slack_unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        return max(0, sum(shape.widths) - self.k)

    def slack(self, model: Model, ports: Ports) -> Expr:
        """The number of tests beyond k."""
        amount = whole_number(model, f"{self}: beyond", max(0, sum(ports.shape.widths) - self.k))
        model.add(amount >= ports.active.sum() - self.k, f"{self}: tests beyond")
        return amount

    @property
    def bound(self) -> int:
        return self.k

    @property
    def bound_name(self) -> str:
        return "tests"

    def with_bound(self, bound: Value) -> MaxNodes:
        return MaxNodes(whole_bound(bound))

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return graph.n_nodes

    def __str__(self) -> str:
        return f"{self.name}:{self.k}"
