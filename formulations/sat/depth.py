"""SatDepth: trees of bounded depth as Boolean formulas (Avellaneda, AAAI 2020, DT_depth)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulation import Compiled, Formulation
from treeform.formulations.sat.clauses import Ints, expected_per_example
from treeform.formulations.sat.examples import nearest
from treeform.formulations.sat.formula import KEY, Formula
from treeform.formulations.sat.leaves import LeafClasses
from treeform.formulations.sat.nodes import NodeFeatures
from treeform.formulations.sat.paths import ExamplePaths
from treeform.formulations.sat.read import place, read_tree
from treeform.graph import DecisionGraph
from treeform.objective import Depth, Objective
from treeform.ports import Component, Requirement, Sum
from treeform.shape import Shape, Tree

MOST_CLAUSES = 2**20
"""Clauses for one example beyond which no formula is built."""


class _Remembered(WeakKeyDictionary[Any, Ints]):
    """Examples that mattered before, by data set; no part of what a formulation states."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Remembered)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Weak references cannot be pickled, and nothing is lost without them.
        return (_Remembered, ())


class SatDepth(Formulation):
    """A perfect binary tree of depth k over Boolean features, in clauses.

    ``SatDepth() == NodeFeatures() + ExamplePaths() + LeafClasses()``: clauses (1)-(6) of Avellaneda,
    "Efficient inference of optimal decision trees" (AAAI 2020). There is one Boolean feature per distinct
    test of the data, and one example per distinct feature vector.

    Where no training error is allowed (``tf.MaxErrors(0)``) and no requirement follows single examples
    through the nodes, the formula starts with a few examples and grows by those that a candidate
    misclassifies (Algorithm 3). With ``tf.Depth()`` as objective this is the paper's DT_depth. Otherwise all
    examples are in, may be misclassified, and the objective counts them.

    Parameters
    ----------
    components : Sum or sequence of Component, optional
        Other components in place of the three.
    counterexamples : int
        How many misclassified examples a round adds. The paper adds one; several of those that are nearest to
        examples of another class need far fewer rounds and examples.
    """

    name: ClassVar[str] = "sat-depth"

    def __init__(self, components: Sum | Sequence[Component] = (), *, counterexamples: int = 10) -> None:
        super().__init__(components or (NodeFeatures(), ExamplePaths(), LeafClasses()))
        if counterexamples < 1:
            raise SpecError(
                f"counterexamples={counterexamples} adds nothing to a formula that a candidate contradicts",
                cause="each round has to add at least one misclassified example",
                fix="use counterexamples=10",
            )
        self.counterexamples = counterexamples
        self._remembered = _Remembered()

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        """Why the problem cannot be stated in clauses of reasonable number, or None."""
        reason = super().supports(shape, data, objective)
        if reason is not None:
            return reason
        if not isinstance(shape, Tree):
            return f"it states trees, and the shape is {shape}"
        n_tests = len(data.splits("global").feature)
        if n_tests == 0:
            return "no feature separates any two samples, so that only constant models exist"
        # A ladder over depths begins at depth 1, and each rung is looked at in turn.
        ladder = any(isinstance(term, Depth) for _, term in objective.terms)
        depth = 1 if ladder else shape.depth
        expected = expected_per_example(depth, n_tests, data.n_classes)
        if expected > MOST_CLAUSES:
            return (
                f"depth {depth} with {n_tests} distinct tests takes {expected:,} clauses for each of "
                f"{data.points.n_points} examples, more than {MOST_CLAUSES:,}; use a smaller depth or fewer "
                "thresholds"
            )
        return None

    def compile(
        self,
        data: Dataset,
        shape: Shape,
        objective: Objective,
        requirements: Sequence[Requirement] = (),
        *,
        examples: Ints | None = None,
    ) -> Compiled:
        """Build the formula; with the examples that mattered at smaller depths, when no error is allowed.

        Raises
        ------
        SpecError
            If no error is allowed and rows contradict each other, or the formula would be too large.
        """
        compiled = super().compile(data, shape, objective, requirements, examples=examples)
        formula: Formula = compiled.state[KEY]
        if formula.consistent and examples is None:
            known = self._remembered.get(data)
            if known is not None:
                self._add(compiled, np.setdiff1d(known, formula.inside))
        return compiled

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        """The tree of a point, without tests that separate no training rows."""
        return read_tree(compiled.state[KEY], x, compiled.data)

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        """Values of the variables that follow from ``graph``; None when it does not fit the perfect tree."""
        return place(compiled.state[KEY], graph, compiled.data, compiled.model.n_cols)

    def examples(self, compiled: Compiled) -> Ints | None:
        """The points in the formula, where others may follow."""
        formula: Formula = compiled.state[KEY]
        return formula.inside if formula.consistent else None

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Algorithm 3: add examples that ``graph`` misclassifies; True when there were any."""
        formula: Formula = compiled.state[KEY]
        if not formula.consistent:
            return False
        missed = graph.predict_codes(compiled.data.points.X) != formula.truth
        wrong = np.flatnonzero(missed & (formula.X[:, 0] == 0))
        if not len(wrong):
            return False
        self._add(
            compiled, nearest(formula.right, formula.truth, wrong, formula.inside, self.counterexamples)
        )
        self._remembered[compiled.data] = formula.inside
        return True

    def _add(self, compiled: Compiled, points: Ints) -> None:
        formula: Formula = compiled.state[KEY]
        if not len(points):
            return
        for component in self.components:
            if isinstance(component, ExamplePaths | LeafClasses):
                component.add_examples(compiled.model, formula, points)
