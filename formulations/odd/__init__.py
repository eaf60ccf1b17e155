"""Optimal decision diagrams: the mixed-integer formulation of Florio, Martins, Schiffer, Serra and Vidal (AAAI 2023).

``ODD()`` is the sum ``Flow() + Topology() + SymmetryBreaking() + UnivariateSplits() + Accuracy()``; leave one
out with ``-``, exchange one with ``replace``. Tree shapes are the special case with fixed inner arcs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.odd import coding
from treeform.formulations.odd.class_trees import class_trees
from treeform.formulations.odd.few_tests import errors_of_one, errors_of_two
from treeform.formulations.odd.flow import Flow, NormalForm
from treeform.formulations.odd.hyperplanes import MultivariateSplits, OneFeature
from treeform.formulations.odd.objective import Accuracy, paper_objective
from treeform.formulations.odd.one import OneHyperplane
from treeform.formulations.odd.polyhedra import regions
from treeform.formulations.odd.separate import Cube
from treeform.formulations.odd.starts import grown
from treeform.formulations.odd.thresholds import UnivariateSplits
from treeform.formulations.odd.topology import SideOrder, SymmetryBreaking, Topology
from treeform.formulations.odd.values import Values, refusal
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.model import Form, Kind
from treeform.shape import MARGIN, MULTIVARIATE, UNIVARIATE, Shape, Tree

__all__ = [
    "ODD",
    "Accuracy",
    "Flow",
    "MultivariateSplits",
    "NormalForm",
    "OneFeature",
    "OneHyperplane",
    "PaperODD",
    "SideOrder",
    "SymmetryBreaking",
    "Topology",
    "UnivariateSplits",
    "Values",
    "paper_objective",
]

MAX_COLUMNS = 50_000_000


class ODD(Formulation):
    """Decision diagrams and trees by flows of points, equations (1)-(18) of the paper.

    Shapes with ``splits="multivariate"`` are stated with hyperplanes, (13)-(14); see `MultivariateSplits`.

    Parameters
    ----------
    lambdas : bool, default False
        Keep the binaries (4)-(5), one per point and layer; see `Flow`.
    symmetry : {"first_arc", "in_degree"}
        How the nodes of a diagram's layers are numbered; see `SymmetryBreaking`.
    disaggregate : bool, optional
        State the last layer test by test; see `UnivariateSplits`. By default yes for solvers that work by linear
        relaxation, unless a requirement reads the sides of all nodes, which then are there anyway; no for
        solvers that work by propagation, where smaller rows matter more than a tight relaxation.

    Notes
    -----
    Differences from the paper, each stated at its rows: tests are ordered thresholds, exact and without
    big-M, in place of (13)-(14); rows with equal features are merged; the root may stay unused, so that
    constant models are included; with thresholds of fixed direction (11) gives way to a valid rule.
    """

    name: ClassVar[str] = "odd"
    splits: ClassVar[frozenset[str]] = frozenset({UNIVARIATE, MULTIVARIATE})

    def __init__(
        self, lambdas: bool = False, symmetry: str = "first_arc", disaggregate: bool | None = None
    ) -> None:
        splits = UnivariateSplits(disaggregate)
        self.indicators = True
        super().__init__(Flow(lambdas) + Topology() + SymmetryBreaking(symmetry) + splits + Accuracy())

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        reason = self._too_close(shape, data)
        if reason is not None:
            return reason
        if "value" in objective.needs:
            if shape.splits != UNIVARIATE:
                return "values of leaves are stated over tests of one column"
            if (reason := refusal(data)) is not None:
                return reason
        nodes = sum(shape.widths)
        columns = data.points.n_points * nodes * (3 + 2 * data.n_classes)
        if columns > MAX_COLUMNS:
            return (
                f"{data.points.n_points} distinct rows at {nodes} nodes give {columns:.1e} flow variables, "
                f"and more than {MAX_COLUMNS:.0e} do not fit in memory"
            )
        return super().supports(shape, data, objective)

    @property
    def offers(self) -> frozenset[str]:
        """The ports that some component publishes, or `Values` in its place where leaves hold values."""
        hyperplanes = any(isinstance(component, MultivariateSplits) for component in self.components)
        return super().offers if hyperplanes else super().offers | Values.offers

    def _too_close(self, shape: Shape, data: Dataset) -> str | None:
        """Why hyperplanes with a margin cannot state the tests of ``shape`` on these data, or None."""
        hyperplanes = [c for c in self.components if isinstance(c, MultivariateSplits)]
        if shape.splits == UNIVARIATE and not hyperplanes:
            return None
        reason = Cube.refusal(data)
        for splits in hyperplanes if reason is None else ():
            if shape.splits == UNIVARIATE:
                reason = reason or Cube.of(data).too_fine(splits.epsilon)
            elif splits.epsilon != float(MARGIN):
                reason = f"tests keep a margin of {float(MARGIN):g}, and epsilon={splits.epsilon:g} states another one"
        return reason

    def check(
        self, data: Dataset, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> None:
        """See `Formulation.check`; requirements that need hyperplanes to read a column are refused."""
        super().check(data, shape, objective, requirements)
        asking = [
            r for r in requirements if asks_for_tests([r]) and {"feature", "falling"} & frozenset(r.needs)
        ]
        if shape.splits != UNIVARIATE and asking:
            raise SpecError(
                f"{self.name} cannot state {asking[0]} over hyperplanes",
                cause="a weight that may differ from 0 may also be 0, so no hyperplane can be made to read a column",
                fix="use univariate splits; or, if the requirement still holds when a test reads fewer columns or is "
                f"left out, declare it: {type(asking[0]).__name__}.demands_tests = False",
            )

    def tuned_for(self, forms: Set[Form]) -> ODD:
        """Small rows for solvers that propagate, indicator constraints for those that take them."""
        tuned = copy.copy(self)
        tuned.indicators = Form(Kind.LINEAR, enforced=True) in forms
        propagates = any(form.kind is Kind.CLAUSE for form in forms)
        return tuned._with_splits(UnivariateSplits(False)) if propagates else tuned

    def usual_solver(self, shape: Shape) -> str | None:
        """CP-SAT for tests of one feature, where all columns are whole numbers (``benchmarks/odd/solvers.py``)."""
        return "cp-sat" if shape.splits == UNIVARIATE else None

    def _with_splits(self, splits: UnivariateSplits) -> ODD:
        """The same with ``splits``, where it was left open how the last layer is stated."""
        undecided = UnivariateSplits(None)
        return self.replace(undecided, splits) if undecided in self.components else self

    def decided(self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> ODD:
        """The components for the splits of ``shape`` and what ``requirements`` read.

        Hyperplanes come with the flows' binaries (4)-(5) and with (11). Where a requirement asks for tests, any node
        may be a pass-through, and all are in normal form. Components that were exchanged or left out stay as they are.
        """
        readers = (*self.components, *requirements)
        reads = frozenset(objective.needs).union(*(reader.needs for reader in readers))
        asked = asks_for_tests(requirements)
        if "value" in reads & self.offers:
            return self._with_values(shape, asked, is_whole=not objective.is_squared)
        kinds = {type(component) for component in self.components}
        if isinstance(shape, Tree) and {"leaf", "label"} & reads and Accuracy in kinds:
            leaves: ODD = self.replace(Accuracy, Accuracy(own_leaves=True))
            out = leaves.for_splits(shape, {*reads, "branch"}, asked)
        else:
            out = self.for_splits(shape, reads, asked)
        if not asked:
            return out
        kinds = {type(component) for component in out.components}
        if Topology in kinds:
            out = out.replace(Topology, Topology(everywhere=True))
        return out if NormalForm in kinds else out + NormalForm()

    def _with_values(self, shape: Shape, asked: bool, is_whole: bool) -> ODD:
        """Leaves with values in place of classes; what ends in the last layer is then stated by side."""
        kinds = {type(component) for component in self.components}
        out = self.for_splits(shape, frozenset({"branch"}), asked)
        if Accuracy in kinds:
            out = out.replace(Accuracy, Values(is_whole))
        if Topology in kinds:
            out = out.replace(Topology, Topology(everywhere=asked, own_leaves=True))
        return out + NormalForm() if asked and NormalForm not in kinds else out

    def for_splits(self, shape: Shape, reads: Set[str], asked: bool) -> ODD:
        """The components that state the splits of a shape.

        Parameters
        ----------
        shape : Shape
        reads : set of str
            The ports that objective and requirements read.
        asked : bool
            Whether a requirement asks for tests; the last layer is then stated by side.
        """
        kinds = {type(component) for component in self.components}
        if shape.splits == UNIVARIATE:
            if asked and UnivariateSplits in kinds:
                return self.replace(UnivariateSplits, UnivariateSplits(False))
            return self._with_splits(UnivariateSplits("branch" not in reads))
        out = self
        if UnivariateSplits in kinds:
            out = out.replace(UnivariateSplits, MultivariateSplits(self.indicators))
        if Flow in kinds:
            out = out.replace(Flow, Flow(lambdas=True))
        if SymmetryBreaking in kinds and SideOrder not in kinds:
            out = out + SideOrder()
        return out

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        return coding.decode(compiled, x)

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        return coding.encode(compiled, graph)

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None]:
        if shape.splits == UNIVARIATE:
            return iter(())
        return chain(class_trees(data, shape), regions(data, shape), grown(data, shape))

    def least_errors(self, data: Dataset, shape: Shape) -> Iterator[tuple[int, int] | None]:
        if shape.splits == UNIVARIATE:
            return
        for tests, bound in enumerate((errors_of_one, errors_of_two)[: sum(shape.widths)], start=1):
            for errors in bound(data):
                yield None if errors is None else (tests, errors)

    def for_size(
        self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> Formulation | None:
        return OneHyperplane() if OneHyperplane.fits(shape, objective, requirements) else None


class PaperODD(ODD):
    """The formulation as the paper states it: hyperplanes with an epsilon, of one feature in univariate shapes.

    (1)-(5) with lambda, (6)-(10), (11) and (12), (13)-(14) as indicator constraints or big-M, (15)-(16), (17)-(18).
    For comparisons: `ODD` has the same optima, without epsilon and big-M where splits are univariate.

    Parameters
    ----------
    epsilon : float, default 1e-4
        Of (13). Splits between values that are closer on [0, 1] are cut off; such data are refused.
    """

    name: ClassVar[str] = "odd-paper"

    def __init__(self, epsilon: float = float(MARGIN)) -> None:
        super().__init__(lambdas=True, symmetry="in_degree")
        splits = MultivariateSplits(paper_offsets=True, epsilon=epsilon)
        self.epsilon = epsilon
        Formulation.__init__(self, (*self.replace(UnivariateSplits, splits).components, SideOrder()))

    def usual_solver(self, shape: Shape) -> str | None:
        return None

    def for_splits(self, shape: Shape, reads: Set[str], asked: bool) -> ODD:
        splits = MultivariateSplits(self.indicators, paper_offsets=True, epsilon=self.epsilon)
        kinds = {type(component) for component in self.components}
        out: ODD = self.replace(MultivariateSplits, splits) if MultivariateSplits in kinds else self
        if shape.splits != UNIVARIATE:
            return out
        if SideOrder in kinds and reads >= {"feature", "branch"}:
            out = out - SideOrder  # hyperplanes are not turned around then
        return out if OneFeature in kinds else out + OneFeature(explicit=asked)
