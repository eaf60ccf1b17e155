"""Optimal decision diagrams: the mixed-integer formulation of Florio, Martins, Schiffer, Serra and Vidal (AAAI 2023).

``ODD()`` is the sum ``Flow() + Topology() + SymmetryBreaking() + UnivariateSplits() + Accuracy()``; leave one
out with ``-``, exchange one with ``replace``. Tree shapes are the special case with fixed inner arcs.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from treeform.formulation import Compiled, Formulation
from treeform.formulations.odd import coding
from treeform.formulations.odd.flow import Flow
from treeform.formulations.odd.objective import Accuracy, paper_objective
from treeform.formulations.odd.splits import UnivariateSplits
from treeform.formulations.odd.symmetry import SymmetryBreaking
from treeform.formulations.odd.topology import Topology
from treeform.model import Form, Kind

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.objective import Objective
    from treeform.ports import Requirement
    from treeform.shape import Shape

__all__ = [
    "ODD",
    "Accuracy",
    "Flow",
    "SymmetryBreaking",
    "Topology",
    "UnivariateSplits",
    "paper_objective",
]

MAX_COLUMNS = 50_000_000


class ODD(Formulation):
    """Decision diagrams and trees by flows of points, equations (1)-(12) and (15)-(18) of the paper.

    Parameters
    ----------
    lambdas : bool, default False
        Keep the binaries (4)-(5), one per point and layer; see `Flow`.
    symmetry : {"first_arc", "in_degree"}
        How the nodes of a diagram's layers are numbered; see `SymmetryBreaking`.
    disaggregate : bool, optional
        State the last layer test by test; see `UnivariateSplits`. Left out: yes for solvers that work by linear
        relaxation, unless a requirement reads the sides of all nodes, which then are there anyway; no for
        solvers that work by propagation, where smaller rows are worth more than a tight relaxation.

    Notes
    -----
    Differences from the paper, each stated at its rows: tests are ordered thresholds, exact and without
    big-M, in place of (13)-(14); rows with equal features are merged; the root may stay unused, so that
    constant models are included; with thresholds of fixed direction (11) gives way to a valid rule.
    """

    name: ClassVar[str] = "odd"

    def __init__(
        self, lambdas: bool = False, symmetry: str = "first_arc", disaggregate: bool | None = None
    ) -> None:
        splits = UnivariateSplits(disaggregate)
        super().__init__(Flow(lambdas) + Topology() + SymmetryBreaking(symmetry) + splits + Accuracy())

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        nodes = sum(shape.widths)
        columns = data.points.n_points * nodes * (3 + 2 * data.n_classes)
        if columns > MAX_COLUMNS:
            return (
                f"{data.points.n_points} distinct rows at {nodes} nodes give {columns:.1e} flow variables, "
                f"and more than {MAX_COLUMNS:.0e} do not fit in memory"
            )
        return super().supports(shape, data, objective)

    def tuned_for(self, forms: Set[Form]) -> ODD:
        propagates = any(form.kind is Kind.CLAUSE for form in forms)
        return self._with_splits(UnivariateSplits(False)) if propagates else self

    def _with_splits(self, splits: UnivariateSplits) -> ODD:
        """The same with ``splits``, where it was left open how the last layer is stated."""
        undecided = UnivariateSplits(None)
        return self.replace(undecided, splits) if undecided in self.components else self

    def compile(
        self,
        data: Dataset,
        shape: Shape,
        objective: Objective,
        requirements: Sequence[Requirement] = (),
        *,
        examples: np.ndarray | None = None,
    ) -> Compiled:
        by_side = any("side" in reader.needs for reader in (*self.components, *requirements))
        decided = self._with_splits(UnivariateSplits(not by_side))
        return super(ODD, decided).compile(data, shape, objective, requirements, examples=examples)

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        return coding.decode(compiled, x)

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        return coding.encode(compiled, graph)
