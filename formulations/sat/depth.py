"""SatDepth: trees of bounded depth as Boolean formulas (Avellaneda, AAAI 2020, DT_depth)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from treeform.data import Dataset
from treeform.engines.checks import is_whole
from treeform.errors import SpecError
from treeform.formulations.sat.clauses import expected_per_example
from treeform.formulations.sat.examples import choose, refuse_contradictions
from treeform.formulations.sat.formula import Formula
from treeform.formulations.sat.leaves import LeafClasses
from treeform.formulations.sat.nodes import NodeFeatures, NormalTests, one_of
from treeform.formulations.sat.paths import ExamplePaths
from treeform.formulations.sat.read import place, read_tree
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.component import Component, Sum
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.shape import Limits, Shape
from treeform.utils.arrays import Ints

MOST_CLAUSES = 2**20
"""Clauses for one example beyond which no formula is built."""
FEW_TESTS = 2**16
"""Tests up to which those that part the samples alike are counted once."""


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
        Other components in place of the three; they carry the options of the components themselves.
    counterexamples : int
        How many misclassified examples a round adds. The paper adds one; several need far fewer rounds.
    choice : {"nearest", "first"}
        Which ones: those nearest to examples of another class in the formula, which takes fewer examples and
        easier formulas, or the first, as in the paper.
    at_most_one, tests
        Of `NodeFeatures`.
    start : int
        Of `ExamplePaths`.
    """

    name: ClassVar[str] = "sat-depth"
    trees_only: ClassVar[bool] = True

    def __init__(
        self,
        components: Sum | Sequence[Component] = (),
        *,
        counterexamples: int = 10,
        choice: str = "nearest",
        at_most_one: str | None = None,
        tests: str = "auto",
        start: int = 10,
    ) -> None:
        if components and (at_most_one, tests, start) != (None, "auto", 10):
            raise SpecError(
                "components are given, and options of components beside them",
                cause="at_most_one, tests and start belong to NodeFeatures and ExamplePaths",
                fix=f"give them there: {self.name} = NodeFeatures(tests='each') + ExamplePaths(start=20) + ...",
            )
        nodes = NodeFeatures(at_most_one, tests=tests)
        super().__init__((nodes, ExamplePaths(start), *self._leaves()))
        if components:
            self.components = self._with(Sum(tuple(components))).components
        if not is_whole(counterexamples, 1):
            raise SpecError(
                f"counterexamples={counterexamples!r} adds nothing to a formula that a candidate contradicts",
                cause="each round has to add at least one misclassified example",
                fix="use counterexamples=10",
            )
        one_of(choice, ("nearest", "first"), "choice")
        self.counterexamples = counterexamples
        self.choice = choice
        self._remembered = _Remembered()

    @staticmethod
    def _leaves() -> tuple[Component, ...]:
        """The default components after the nodes and paths."""
        return (LeafClasses(),)

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        """Why the problem cannot be stated in clauses of reasonable number, or None."""
        reason = super().supports(shape, data, objective)
        if reason is not None:
            return reason
        # The search over depths begins at depth 1 and asks again at each.
        minimises_depth = any(term.is_depth for _, term in objective.terms)
        return self._too_large(1 if minimises_depth else shape.depth, data)

    def _too_large(self, depth: int, data: Dataset) -> str | None:
        """The number of clauses expected where it is out of reach; from counts, before any test is listed."""
        nodes = next((c for c in self.components if isinstance(c, NodeFeatures)), None)
        if nodes is not None and nodes.ordered(data):
            columns = sum(len(values) > 1 for values in data.ranks.values)
            per_node, what = 2 * columns, f"{columns} columns with ordered thresholds"
        else:
            per_node = data.n_tests
            if expected_per_example(depth, per_node, data.n_classes) > MOST_CLAUSES and per_node < FEW_TESTS:
                per_node = len(data.splits("global").feature)
            what = f"{per_node:,} tests"
        expected = expected_per_example(depth, per_node, data.n_classes)
        if expected <= MOST_CLAUSES:
            return None
        return (
            f"depth {depth} with {what} takes {expected:,} clauses for each of {data.points.n_points} examples, "
            f"more than {MOST_CLAUSES:,}; use a smaller depth, fewer columns or thresholds, or a native engine"
        )

    def completed(self, compiled: Compiled) -> Compiled:
        """With the examples that mattered at smaller depths, when no error is allowed."""
        formula = compiled.shared.get(Formula)
        if formula.consistent and compiled.ports.examples is None:
            known = self._remembered.get(compiled.data)
            if known is not None:
                self._add(compiled, np.setdiff1d(known, formula.inside))
        return compiled

    def decided(self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> SatDepth:
        """With tests in normal form where a requirement asks for tests."""
        return self + NormalTests() if asks_for_tests(requirements) else self

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        """The tree of a point, without tests that separate no training rows."""
        return read_tree(compiled.shared.get(Formula), x, compiled.data)

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        """Values of the variables that follow from ``graph``; None when it does not fit the perfect tree."""
        if compiled.ports.asks_for_tests:
            return None
        return place(compiled.shared.get(Formula), graph, compiled.data, compiled.model.n_cols)

    def least_depth(self, data: Dataset, requirements: Sequence[Requirement], depth: int) -> int:
        """The least depth that is not ruled out; a tree of depth k predicts at most 2^k classes and errs on others.

        The proofs of a certificate skip no depth.
        """
        allowed = Limits.all_of(requirement.limits(data) for requirement in requirements).max_errors
        if allowed == 0:
            refuse_contradictions(data)
        heaviest = np.sort(data.class_weights)[::-1]
        least = 1
        while allowed is not None and least <= depth and int(heaviest[1 << least :].sum()) > allowed:
            least += 1
        return least

    def examples(self, compiled: Compiled) -> Ints | None:
        """The points in the formula, where others may follow."""
        formula = compiled.shared.get(Formula)
        return formula.inside if formula.consistent else None

    def remembered(self, data: Dataset) -> Ints:
        """The points (``data.points``) that the last formulas over ``data`` had to hold."""
        return np.asarray(self._remembered.get(data, np.zeros(0, dtype=np.int64)))

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Algorithm 3: add examples that ``graph`` misclassifies; True when there were any."""
        formula = compiled.shared.get(Formula)
        if not formula.consistent:
            return False
        missed = graph.predict_codes(compiled.data.points.X) != formula.truth
        wrong = np.flatnonzero(missed & (formula.X[:, 0] == 0))
        if not len(wrong):
            return False
        more = choose(self.choice, formula.right, formula.truth, wrong, formula.inside, self.counterexamples)
        self._add(compiled, more)
        self._remembered[compiled.data] = formula.inside
        return True

    def _add(self, compiled: Compiled, points: Ints) -> None:
        formula = compiled.shared.get(Formula)
        if not len(points):
            return
        for component in self.components:
            if isinstance(component, ExamplePaths | LeafClasses):
                component.add_examples(compiled.model, formula, points)
