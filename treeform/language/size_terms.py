"""Terms of objectives that measure the size of a model: its tests, its leaves, its depth."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective import Objective, Term
from treeform.language.ports import Ports
from treeform.model import Expr, Model
from treeform.shape import Shape, unless_tree


class OfTests(Term):
    """The number of tests plus ``more``."""

    more: ClassVar[int] = 0
    of_size: ClassVar[bool] = True
    needs: ClassVar[Set[str]] = frozenset({"active"})

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return Fraction(graph.n_nodes + self.more)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, model: Model, ports: Ports) -> Expr:
        return ports.active.sum() + self.more

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(sum(shape.widths) + self.more)


@dataclass(frozen=True)
class Nodes(OfTests):
    """Number of tests (internal nodes) of the model."""

    name: ClassVar[str] = "nodes"
    per_test: ClassVar[int] = 1


@dataclass(frozen=True)
class Leaves(OfTests):
    """Number of leaves of a tree: arcs that end, one more than tests, however many leaf nodes the arrays have.

    A pass-through counts as a test with two arcs, one of them empty. A diagram's leaves are just the classes.
    """

    name: ClassVar[str] = "leaves"
    more: ClassVar[int] = 1

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        return unless_tree(shape, f"the leaves of {shape} cannot be counted as an objective", "use tf.Nodes()")


def price_without_tests(objective: Objective) -> Fraction:
    """What a model without a test pays for its size: the price of a leaf."""
    return sum((weight for weight, term in objective.terms if isinstance(term, Leaves)), Fraction(0))


@dataclass(frozen=True)
class Depth(Term):
    """Largest number of tests on a path. Minimised by a search over depths, so it has no expression."""

    name: ClassVar[str] = "depth"
    is_depth: ClassVar[bool] = True

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return Fraction(graph.depth)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, model: Model, ports: Ports) -> Expr:
        raise SpecError(
            "the depth is no part of a compiled objective",
            cause="it is minimised by solving for depth 1, 2, 3, ... in turn",
            fix="use problem.minimize(tf.Depth()) and problem.solve(), or bound the depth by the shape",
        )

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(shape.depth)

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        return unless_tree(
            shape,
            f"the depth cannot be minimised over {shape}",
            "use shape=tf.Tree(depth=k), where k is the largest depth allowed",
            cause="the search goes over trees of depth 1, 2, 3, ...",
        )
