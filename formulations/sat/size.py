"""SatSize: among the trees of least depth, one with the fewest nodes (Avellaneda, AAAI 2020, DT_size)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.sat.depth import SatDepth
from treeform.formulations.sat.formula import Formula, LeafCount
from treeform.formulations.sat.leaves import LeafClasses
from treeform.language.compiled import Compiled
from treeform.language.component import Component
from treeform.language.objective import Objective
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.language.size_terms import Depth, Nodes
from treeform.model import Model, any_of, clauses
from treeform.shape import Shape
from treeform.utils.arrays import Ints


class LabelledLeaves(Component):
    """Counts the leaves that have a class; a tree with ``l`` of them needs ``l - 1`` tests (Theorem 2).

    Clauses (7)-(10) of Avellaneda (AAAI 2020), with ``L = 2^k`` leaves and a unary counter: ``H_ij`` is true
    when at least ``j`` of the first ``i`` leaves have a class::

        (7)   C_ia  =>  U_i
        (8)   H_ij  =>  H_i+1,j
        (9)   U_i and H_ij  =>  H_i+1,j+1
        (10)  H_00,  and for at most n leaves:  not H_L,n+1

    The limit of (10) is an assumption, so that one solver answers for every ``n``.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"class_at"})

    def build(self, model: Model, ports: Ports) -> None:
        formula = ports.shared.get(Formula)
        n = formula.n_leaves
        U = model.bool("U: leaf has a class", n)
        model.add(any_of(~ports.class_at, U[:, None]), "(7) a leaf with a class is counted")
        H = model.bool("H: at least j of the first i leaves are counted", (n + 1, n + 1))
        h, u = H.as_literals(), U.as_literals()
        i, j = np.nonzero(np.arange(n)[:, None] >= np.arange(n)[None, :])
        model.add(clauses(np.stack([-h[i, j], h[i + 1, j]], axis=1)), "(8) the count does not fall")
        model.add(
            clauses(np.stack([-u[i], -h[i, j], h[i + 1, j + 1]], axis=1)), "(9) a counted leaf adds one"
        )
        model.add(clauses(h[:1, :1]), "(10) the count starts")
        formula.leaf_count = LeafCount(u, h, U)


class SatSize(SatDepth):
    """A perfect tree some of whose leaves have no class: the fewer have one, the smaller the pruned tree.

    ``SatSize() == NodeFeatures() + ExamplePaths() + LeafClasses(unlabelled=True) + LabelledLeaves()``: clauses
    (1)-(10). No training error is allowed. With ``tf.Depth()`` as objective this is the paper's DT_size: first
    the least depth, then, at that depth, the fewest nodes by dichotomic search on one incremental solver. With
    ``tf.Nodes()`` the depth is that of the shape.

    Parameters
    ----------
    components : Sum or sequence of Component, optional
        Other components in place of the four; they carry the options of the components themselves.
    counterexamples, choice, at_most_one, tests, start
        As in `SatDepth`.

    Notes
    -----
    ``result.graph.n_nodes`` counts tests, as everywhere in treeform; the paper counts tests and leaves, which
    is ``2 * n_nodes + 1`` for a tree.
    """

    name: ClassVar[str] = "sat-size"

    @staticmethod
    def _leaves() -> tuple[Component, ...]:
        return (LeafClasses(unlabelled=True), LabelledLeaves())

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        if any(not isinstance(term, Nodes | Depth) for _, term in objective.terms):
            return f"it minimises the depth or the number of tests, not {objective}"
        # `Nodes` is stated over labelled leaves here, not over a port.
        plain = Objective(item for item in objective.terms if isinstance(item[1], Depth))
        return super().supports(shape, data, plain)

    def check(
        self, data: Dataset, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> None:
        """See `Formulation.check`; requirements that ask for tests are refused."""
        super().check(data, shape, objective, requirements)
        if asks_for_tests(requirements):
            asking = next(r for r in requirements if asks_for_tests([r]))
            raise SpecError(
                f"{self.name} cannot state {asking}",
                cause="it counts tests by the leaves that have a class, and a pass-through has one arc only",
                fix="use formulation='sat-depth' or 'odd'; or, if tests that decide nothing never help the "
                f"requirement, declare it: {type(asking).__name__}.demands_tests = False",
            )

    def tie_break(self, objective: Objective) -> Objective | None:
        """Among the trees of least depth, the fewest tests."""
        return Objective.of(Nodes()) if any(term.is_depth for _, term in objective.terms) else None

    def compile(
        self,
        data: Dataset,
        shape: Shape,
        objective: Objective,
        requirements: Sequence[Requirement] = (),
        *,
        examples: Ints | None = None,
    ) -> Compiled:
        """Build the formula, as `Formulation.compile` does a model; the objective counts labelled leaves.

        Raises SpecError if errors are allowed, rows contradict each other, or the formula would be too large.
        """
        reason = self.supports(shape, data, objective)
        if reason is not None:
            raise SpecError(f"{self.name} cannot state this problem", cause=reason)
        compiled = super().compile(data, shape, Objective(()), requirements, examples=examples)
        formula = compiled.shared.get(Formula)
        if not formula.consistent:
            raise SpecError(
                f"{self.name} finds trees without training errors",
                cause="the problem allows errors",
                fix="add the requirement tf.MaxErrors(0), or use formulation='sat-depth'",
            )
        if not objective.terms:
            return compiled
        scale = objective.scale(data)
        if formula.leaf_count is None:
            raise SpecError(
                f"{self.name} cannot count the tests of a tree",
                cause="LabelledLeaves is not among its components",
                fix="add LabelledLeaves(), or use formulation='sat-depth'",
            )
        labelled = formula.leaf_count.labelled
        # l labelled leaves make l - 1 tests.
        value = ((labelled.sum() - 1) * _factor(objective, scale)).reshape(())
        compiled.model.minimize(value)
        return replace(compiled, objective=objective, objective_expr=value, scale=scale)

    def at_most(self, compiled: Compiled, value: int) -> int | None:
        """The assumption ``not H_L,n+1`` of (10) under which the objective is at most ``value``."""
        count = compiled.shared.get(Formula).leaf_count
        if not compiled.objective.terms or count is None:
            return None
        leaves = value // _factor(compiled.objective, compiled.scale) + 1
        return int(-count.H[-1, leaves + 1]) if 0 <= leaves < len(count.H) - 1 else int(count.H[0, 0])


def _factor(objective: Objective, scale: int) -> int:
    """What one test costs in whole units."""
    return int(sum(weight for weight, _ in objective.terms) * scale)
