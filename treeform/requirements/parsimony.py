"""Parsimony: few tests, few leaves, short paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from treeform.errors import SpecError
from treeform.language.objective import Leaves, Nodes, Term
from treeform.requirements.columns import distinct_rows
from treeform.requirements.counted import PayableAtMost, whole_count
from treeform.shape import Limits, unless_tree
from treeform.utils.arguments import renamed

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model
    from treeform.shape import Shape


class _OfModel(PayableAtMost):
    """A count that takes nothing but ``at_most``."""

    of: ClassVar[str]
    """What is counted, in messages."""
    one: ClassVar[str]
    """The same in the singular."""

    @renamed(k="at_most")
    def __init__(self, at_most: int) -> None:
        example = f"{type(self).__name__}({max(self.least, 3)})"
        self.at_most = whole_count(at_most, self.least, f"a model with at most {at_most!r} {self.of}", example)

    def in_words(self) -> str:
        return f"the model has at most {self.at_most} {self.of if self.at_most != 1 else self.one}"


class MaxNodes(_OfModel):
    """At most ``at_most`` tests in the model (a constant model has none).

    Parameters
    ----------
    at_most : int
        At least 0.

    Notes
    -----
    Florio et al. (AAAI 2023), "Parsimony and stability".
    """

    name: ClassVar[str] = "max_nodes"
    size: ClassVar[Term | None] = Nodes()
    counts = of = "tests"
    one: ClassVar[str] = "test"
    of_values: ClassVar[bool] = True
    needs = frozenset({"active"})

    def build(self, model: Model, ports: Ports) -> None:
        # sum_v d_v <= at_most
        if self.at_most < self.most(ports.data, ports.shape):
            model.add(ports.active.sum() <= self.at_most, str(self))

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=self.at_most)

    def number(self, model: Model, ports: Ports) -> Expr:
        return ports.active.sum()

    def most(self, data: Dataset, shape: Shape) -> int:
        return sum(shape.widths)

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return graph.n_nodes


class MaxLeaves(_OfModel):
    """At most ``at_most`` leaves in the tree, one more than it has tests.

    Parameters
    ----------
    at_most : int
        At least 1.

    Notes
    -----
    ``max_leaf_nodes`` of scikit-learn's trees. The leaves of a diagram are the classes; bound its tests by `MaxNodes`.
    """

    name: ClassVar[str] = "max_leaves"
    size: ClassVar[Term | None] = Leaves()
    of_values: ClassVar[bool] = True
    counts = of = "leaves"
    one: ClassVar[str] = "leaf"
    least: ClassVar[int] = 1
    needs = frozenset({"active"})

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        return unless_tree(shape, f"{self} has no meaning for {shape}", "bound its tests: tf.MaxNodes(...)")

    def build(self, model: Model, ports: Ports) -> None:
        # sum_v d_v + 1 <= at_most
        if self.at_most < self.most(ports.data, ports.shape):
            model.add(ports.active.sum() <= self.at_most - 1, str(self))

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=self.at_most - 1)

    def number(self, model: Model, ports: Ports) -> Expr:
        return ports.active.sum() + 1

    def most(self, data: Dataset, shape: Shape) -> int:
        return sum(shape.widths) + 1

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return graph.n_nodes + 1


class MaxDepth(_OfModel):
    """At most ``at_most`` tests on a path.

    The shape is a bound on the depth already; this one can be moved, priced and found in conflict with others.

    Parameters
    ----------
    at_most : int
        At least 1; a model without a test is ``MaxNodes(0)``.
    """

    name: ClassVar[str] = "max_depth"
    of_values: ClassVar[bool] = True
    counts: ClassVar[str] = "depth"
    of: ClassVar[str] = "tests on a path"
    measure: ClassVar[str] = "depth {}"
    one: ClassVar[str] = "test on a path"
    least: ClassVar[int] = 1
    needs = frozenset({"reaches"})

    def build(self, model: Model, ports: Ports) -> None:
        # Every test is reached by some row: sum_v reaches[i, v] <= at_most
        if self.at_most < ports.shape.depth:
            model.add(ports.reaches[distinct_rows(ports)].sum(axis=1) <= self.at_most, str(self))

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_depth=self.at_most)

    def number(self, model: Model, ports: Ports) -> Expr:
        return ports.reaches[distinct_rows(ports)].sum(axis=1)

    def most(self, data: Dataset, shape: Shape) -> int:
        return shape.depth

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(1, graph.depth)
