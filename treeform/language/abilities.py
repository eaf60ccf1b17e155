"""What a formulation may offer beyond rows, decode and encode: it takes up an ability by deriving from its class.

A caller tests for an ability by its class, ``isinstance(formulation, RowsOnDemand)``; a formulation without it has none
of its methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.language.formulation import Compiled, Formulation
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement
from treeform.model import Form

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.alternatives import AndOrGraph
    from treeform.shape import Shape

V = TypeVar("V", bound="Variants")


class RowsOnDemand(ABC):
    """The model states a part of the problem at first; a candidate that the rest refutes brings more rows."""

    @abstractmethod
    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Add rows that refute a wrong candidate; True when some were added."""

    def examples(self, compiled: Compiled) -> np.ndarray | None:
        """The points of ``data.points`` that the rows are about; None when about all."""
        return None


class ColumnsOnDemand(ABC):
    """The model states the trees below a cost; where none of them is admissible, that cost is a bound, and more are
    stated.

    Which trees those are is found by pricing the AND/OR graph of all trees (`treeform.engines.and_or_graph`).
    """

    @abstractmethod
    def over(self, graph: AndOrGraph) -> Formulation:
        """The variant that states the trees of ``graph`` only."""

    @abstractmethod
    def columns_of(self, compiled: Compiled) -> NDArray[np.int64]:
        """(A,) the column of the model that says whether each alternative of the graph is chosen."""


class FirstAnswers:
    """Models to start from and bounds that need no solver; by default there are none."""

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None]:
        """Models to start from where no native engine has any, one after the other; the caller ends it in time.

        None where time was spent without a model.
        """
        return iter(())


    def least_errors(self, data: Dataset, shape: Shape) -> Iterator[tuple[int, int] | None]:
        """``(m, errors)``: every model of at most m tests gets so much weight wrong; None before time is spent."""
        return iter(())

    def least_depth(self, data: Dataset, requirements: Sequence[Requirement], depth: int) -> int:
        """A depth, at most ``depth`` + 1, below which no tree satisfies the requirements."""
        return 1

    def tie_break(self, objective: Objective) -> Objective | None:
        """What it minimises next among the models of least depth, or None."""
        return None


class ObjectiveLiterals(ABC):
    """Bounds on the objective as literals, so that a solver without an objective searches on one formula."""

    @abstractmethod
    def at_most(self, compiled: Compiled, value: int) -> int | None:
        """A literal under which the compiled objective is at most ``value``; None where rows have to state it."""


class Variants:
    """Forms of itself for different solvers and sizes; by default there is one."""

    def usual_solver(self, shape: Shape) -> str | None:
        """The solver that serves best when the user names none and every column is a whole number."""
        return None

    def tuned_for(self: V, forms: Set[Form]) -> V:
        """The variant that suits a solver which takes rows of these forms (`Capabilities.forms`)."""
        return self

    def for_size(
        self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> Formulation | None:
        """What states one row of a table over numbers of tests better than itself; None for itself."""
        return None
