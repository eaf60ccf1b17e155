"""Strong optimal classification trees: the flow formulation of Aghaei, Gomez and Vayanos, and its Benders cuts.

S. Aghaei, A. Gomez, P. Vayanos, "Strong optimal classification trees", Operations Research 73 (2025), arXiv:2103.15965.
With a sink for each class: N. Jo, S. Aghaei, J. Benson, A. Gomez, P. Vayanos, "Learning optimal fair decision trees:
trade-offs between interpretability, fairness, and accuracy", AIES 2023, arXiv:2201.09932.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.flow import coding
from treeform.formulations.flow.branching import Branching, NormalForm
from treeform.formulations.flow.cuts import CutFlow, Guesses, add_cuts
from treeform.formulations.flow.flows import ClassFlow, CorrectFlow
from treeform.formulations.flow.heap import Heap
from treeform.formulations.flow.tests import BinaryTests
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.shape import Shape

__all__ = ["BendersOCT", "Branching", "ClassFlow", "CorrectFlow", "CutFlow", "FlowOCT", "NormalForm"]

MOST_TERMS = 100_000_000
"""Terms of the rows about tests beyond which no model is built."""


class _StrongTree(Formulation):
    """What the two forms share: trees whose nodes branch on one binary feature or predict."""

    trees_only: ClassVar[bool] = True

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        """Why the problem cannot be stated with as many terms as fit in memory, or None."""
        reason = super().supports(shape, data, objective)
        if reason is not None:
            return reason
        terms = data.points.n_points * min(data.n_tests, MOST_TERMS) * 2 ** min(shape.depth, 30)
        if terms > MOST_TERMS:
            return (
                f"{data.points.n_points} distinct rows and {data.n_tests} tests make up to {terms:.1e} terms at depth "
                f"{shape.depth}, and more than {MOST_TERMS:.0e} do not fit in memory; round or bin the columns, or use "
                "the formulation odd, whose rows are sparse in thresholds"
            )
        return None

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        return coding.decode(compiled, x)

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        return coding.encode(compiled, graph)


class FlowOCT(_StrongTree):
    """Trees by maximum flows of points (Aghaei, Gomez and Vayanos).

    ``FlowOCT() == Branching() + ClassFlow()``. Where nothing but an objective reads which points are classified
    right, `CorrectFlow` takes the place of `ClassFlow`: the paper's own formulation, in which only these points flow.

    Parameters
    ----------
    correct_only : bool, default True
        Whether `CorrectFlow` may take that place.

    Notes
    -----
    Differences from the paper: the binary features are the tests of the data, so that any table can be stated; rows
    with equal features flow as one; a node may be a pass-through where a requirement asks for tests.
    """

    name: ClassVar[str] = "flow-oct"

    def __init__(self, correct_only: bool = True) -> None:
        super().__init__(Branching() + ClassFlow())
        self.correct_only = correct_only

    def decided(self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> FlowOCT:
        """The flows that the problem reads, and normal form where a requirement asks for tests."""
        kinds = {type(component) for component in self.components}
        out = self
        if asks_for_tests(requirements):
            out = out.replace(Branching, Branching(passes=True)) if Branching in kinds else out
            return out if NormalForm in kinds else out + NormalForm()
        others = (c for c in (*self.components, *requirements) if not isinstance(c, ClassFlow))
        read = frozenset[str]().union(*(c.needs for c in others))
        plain = objective.needs <= {"correct", "active"} and not read & {*ClassFlow.offers, "correct"}
        if self.correct_only and plain and "correct" in objective.needs and ClassFlow in kinds:
            return out.replace(ClassFlow, CorrectFlow())
        return out


class BendersOCT(_StrongTree):
    """The same trees by Benders' decomposition: predictions are bounded by cuts, added as candidates break them.

    ``BendersOCT() == Branching() + CutFlow()``. The model begins without cuts, and a solver's optimum of it brings the
    cuts that it breaks, until there are none. The paper adds them in the solver's callback; the solvers here are asked
    again for the optimum of the extended model.

    Notes
    -----
    It offers predictions and tests, and no port about the way of single samples.
    """

    name: ClassVar[str] = "benders-oct"

    def __init__(self) -> None:
        super().__init__(Branching() + CutFlow())

    def check(
        self, data: Dataset, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> None:
        """See `Formulation.check`; requirements that ask for tests are refused."""
        super().check(data, shape, objective, requirements)
        asking = next((r for r in requirements if asks_for_tests([r])), None)
        if asking is not None:
            raise SpecError(
                f"{self.name} cannot state {asking}",
                cause="it may ask for tests that decide nothing, and which samples a test parts is not stated here",
                fix="use the formulation flow-oct or odd; or, if the requirement still holds when a test is left out, "
                f"declare it: {type(asking).__name__}.demands_tests = False",
            )

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Add the cuts of the points whose way through ``graph`` has none yet; True when there were any.

        The point of a solver is the tree as it stands, with tests that part nothing; one to begin with is simplified.
        """
        added = False
        for form in (graph, graph.simplified(compiled.data)):
            placed = coding.place(compiled, form)
            added |= placed is not None and _cut_off(compiled, placed)
        return added


def _cut_off(compiled: Compiled, placed: coding.Placed) -> bool:
    """Add the cuts along the paths of a tree that are not stated yet; True when there were any."""
    shared = compiled.shared
    heap, tests, guesses = shared.get(Heap), shared.get(BinaryTests), shared.get(Guesses)
    ends, added = placed.ends(heap, tests), False
    for end in np.unique(ends).tolist():
        fresh = [i for i in np.flatnonzero(ends == end).tolist() if (i, end) not in guesses.stated]
        if fresh:
            add_cuts(compiled.model, shared, np.array(fresh), end)
            added = True
    return added
