"""Parsimony: few tests, few leaves, short paths."""

from __future__ import annotations

from typing import ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective import Term
from treeform.language.ports import Ports
from treeform.language.size_terms import Leaves, Nodes
from treeform.model import Expr, Model
from treeform.requirements.columns import distinct_rows
from treeform.requirements.counted import PayableAtMost, whole_count
from treeform.shape import Limits, Shape, unless_tree
from treeform.utils.arguments import renamed
from treeform.utils.rows import worded


class _OfModel(PayableAtMost):
    """A count that takes nothing but ``at_most``."""

    of: ClassVar[str]
    """What is counted, in messages."""
    one: ClassVar[str]
    """The same in the singular."""

    @renamed(k="at_most")
    def __init__(self, at_most: int) -> None:
        number = max(self.least, 3)
        example = worded(f"{type(self).__name__}({number})", f"{self.name}:{number}")
        self.at_most = whole_count(at_most, self.least, f"a model with at most {at_most!r} {self.of}", example)

    def in_words(self) -> str:
        return f"the model has at most {self.at_most} {self.of if self.at_most != 1 else self.one}"


class _OfTests(_OfModel, listed=False):
    """A count of tests, or of as many more."""

    more: ClassVar[int] = 0
    of_values: ClassVar[bool] = True
    needs = frozenset({"active"})

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=self.at_most - self.more)

    def number(self, model: Model, ports: Ports) -> Expr:
        return ports.active.sum() + self.more

    def most(self, data: Dataset, shape: Shape) -> int:
        return sum(shape.widths) + self.more

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return graph.n_nodes + self.more


class MaxNodes(_OfTests):
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
    samples: ClassVar[tuple[str, ...]] = ("max_nodes:1", "max_nodes:2")
    size: ClassVar[Term | None] = Nodes()
    counts = of = "tests"
    one: ClassVar[str] = "test"


class MaxLeaves(_OfTests):
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
    samples: ClassVar[tuple[str, ...]] = ("max_leaves:2",)
    size: ClassVar[Term | None] = Leaves()
    more: ClassVar[int] = 1
    counts = of = "leaves"
    one: ClassVar[str] = "leaf"
    least: ClassVar[int] = 1

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        return unless_tree(shape, f"{self} has no meaning for {shape}", "bound its tests: tf.MaxNodes(...)")


class MaxDepth(_OfModel):
    """At most ``at_most`` tests on a path.

    The shape is a bound on the depth already; this one can be moved, priced and found in conflict with others.

    Parameters
    ----------
    at_most : int
        At least 1; a model without a test is ``MaxNodes(0)``.
    """

    name: ClassVar[str] = "max_depth"
    samples: ClassVar[tuple[str, ...]] = ("max_depth:1",)
    of_values: ClassVar[bool] = True
    counts: ClassVar[str] = "depth"
    of: ClassVar[str] = "tests on a path"
    measure: ClassVar[str] = "depth {}"
    one: ClassVar[str] = "test on a path"
    least: ClassVar[int] = 1
    needs = frozenset({"reaches"})

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_depth=self.at_most)

    def number(self, model: Model, ports: Ports) -> Expr:
        # Every test is reached by some row.
        return ports.reaches[distinct_rows(ports)].sum(axis=1)

    def most(self, data: Dataset, shape: Shape) -> int:
        return shape.depth

    def measured(self, graph: DecisionGraph, data: Dataset) -> int:
        return max(1, graph.depth)
