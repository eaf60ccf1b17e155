"""Requirements that bound one number of a model, so that the bound can be moved.

`treeform.Problem.frontier` moves it to draw the trade-off, and `treeform.Problem.conflict` to find the smallest
relaxation.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

from treeform.errors import SpecError
from treeform.language.requirement import Requirement

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

Value = int | Fraction


class Bounded(Requirement, listed=False):
    """A requirement that bounds one number of a model, and states how the bound is moved.

    Examples
    --------
    >>> import treeform as tf
    >>> class AtMostFeatures(tf.Bounded):
    ...     needs = frozenset({"feature"})
    ...     def __init__(self, k): self.k = k
    ...     def build(self, model, ports): ...
    ...     def violation(self, graph, data): return max(0, len(graph.features_used()) - self.k)
    ...     bound = property(lambda self: self.k)
    ...     def with_bound(self, bound): return AtMostFeatures(int(bound))
    ...     def measured(self, graph, data): return len(graph.features_used())
    """

    @property
    def is_upper(self) -> bool:
        """Whether the bound is an upper one, so that a smaller number is stricter; False: a greater number is."""
        return True

    @property
    @abstractmethod
    def bound(self) -> Value | None:
        """The bound; None when it is left open, which only a frontier takes."""

    @property
    def is_continuous(self) -> bool:
        """Whether measures of models can be arbitrarily close, so that there is no next one."""
        return False

    @property
    def bound_name(self) -> str:
        """What the number is called in tables."""
        return "bound"

    @property
    def measure(self) -> str:
        """The measure of a model, as a clause with a place for the number: "rates differ by {}"."""
        return f"{self.bound_name} {{}}"

    @abstractmethod
    def with_bound(self, bound: Value) -> Requirement:
        """The same requirement with another bound.

        Parameters
        ----------
        bound : int or Fraction

        Raises
        ------
        SpecError
            If the bound is not possible.
        """

    @abstractmethod
    def measured(self, graph: DecisionGraph, data: Dataset) -> Value:
        """The tightest bound that ``graph`` satisfies on ``data``, exactly.

        Parameters
        ----------
        graph : DecisionGraph
        data : Dataset
        """

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        """The loosest bound that excludes a model of measure ``value``; None if nothing is tighter than ``value``.

        No model's measure is strictly between the two. The default is for whole numbers that are not negative.

        Parameters
        ----------
        value : int or Fraction
            What `measured` gave.
        data : Dataset
        """
        step = int(value) - 1 if self.is_upper else int(value) + 1
        return step if step >= 0 else None

    def is_tighter(self, a: Value, b: Value) -> bool:
        """Whether the bound ``a`` is stricter than the bound ``b``."""
        return a < b if self.is_upper else a > b


def closed(requirement: Requirement) -> Requirement:
    """The requirement, if its bound is not left open."""
    if not isinstance(requirement, Bounded) or requirement.bound is not None:
        return requirement
    raise SpecError(
        f"{requirement} has no bound",
        cause="its number is left open, which only problem.frontier(over=...) takes",
        fix=f"give the number, such as {type(requirement).__name__}(..., {requirement.bound_name}=0.05)",
    )
