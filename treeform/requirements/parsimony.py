"""Parsimony: few tests, few leaves, short paths."""

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
from treeform.requirements.columns import distinct_rows
from treeform.shape import Tree

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model
    from treeform.shape import Shape


def _whole(value: object, least: int, owner: str, what: str) -> int:
    """A whole number of at least ``least``.

    Raises
    ------
    SpecError
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise SpecError(
            f"a model with at most {value!r} {what} is not possible",
            cause=f"k is a whole number, at least {least}",
            fix=f"use for example {owner}({max(least, 3)})",
        )
    return int(value)


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
        self.k: int = _whole(k, 0, "MaxNodes", "tests")

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


class MaxLeaves(Requirement, Bounded):
    """At most ``k`` leaves in the tree, one more than it has tests.

    Parameters
    ----------
    k : int
        At least 1.

    Notes
    -----
    ``max_leaf_nodes`` of scikit-learn's trees. The leaves of a diagram are the classes; bound its tests by `MaxNodes`.
    """

    name: ClassVar[str] = "max_leaves"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"active"})

    def __init__(self, k: int) -> None:
        self.k: int = _whole(k, 1, "MaxLeaves", "leaves")

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if isinstance(shape, Tree):
            return None
        return SpecError(
            f"{self} has no meaning for {shape}",
            cause="a diagram has one terminal per class, whatever its size",
            fix="bound its tests: tf.MaxNodes(...)",
        )

    def build(self, model: Model, ports: Ports) -> None:
        # sum_v d_v + 1 <= k
        model.add(ports.active.sum() <= self.k - 1, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(0, self.measured(graph, data) - self.k)

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=self.k - 1)

    def slack_unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        return max(0, sum(shape.widths) + 1 - self.k)

    def slack(self, model: Model, ports: Ports) -> Expr:
        """The number of leaves beyond k."""
        amount = whole_number(model, f"{self}: beyond", self.largest_slack(ports.data, ports.shape))
        model.add(amount >= ports.active.sum() + 1 - self.k, f"{self}: leaves beyond")
        return amount

    @property
    def bound(self) -> int:
        return self.k

    @property
    def bound_name(self) -> str:
        return "leaves"

    def with_bound(self, bound: Value) -> MaxLeaves:
        return MaxLeaves(whole_bound(bound))

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return graph.n_nodes + 1

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        return int(value) - 1 if value > 1 else None

    def __str__(self) -> str:
        return f"{self.name}:{self.k}"


class MaxDepth(Requirement, Bounded):
    """At most ``k`` tests on a path.

    The shape is a bound on the depth already; this one can be moved, priced and found in conflict with others.

    Parameters
    ----------
    k : int
        At least 1; a model without a test is ``MaxNodes(0)``.
    """

    name: ClassVar[str] = "max_depth"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"reaches"})

    def __init__(self, k: int) -> None:
        self.k: int = _whole(k, 1, "MaxDepth", "tests on a path")

    def build(self, model: Model, ports: Ports) -> None:
        # Every test is reached by some row: sum_v reaches[i, v] <= k
        if self.k < ports.shape.depth:
            model.add(ports.reaches[distinct_rows(ports)].sum(axis=1) <= self.k, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(0, graph.depth - self.k)

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_depth=self.k)

    def slack_unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        return max(0, shape.depth - self.k)

    def slack(self, model: Model, ports: Ports) -> Expr:
        """The number of levels beyond k."""
        amount = whole_number(model, f"{self}: beyond", self.largest_slack(ports.data, ports.shape))
        paths = ports.reaches[distinct_rows(ports)].sum(axis=1)
        model.add(amount >= paths - self.k, f"{self}: levels beyond")
        return amount

    @property
    def bound(self) -> int:
        return self.k

    @property
    def bound_name(self) -> str:
        return "depth"

    def with_bound(self, bound: Value) -> MaxDepth:
        return MaxDepth(whole_bound(bound))

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(1, graph.depth)

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        return int(value) - 1 if value > 1 else None

    def __str__(self) -> str:
        return f"{self.name}:{self.k}"
