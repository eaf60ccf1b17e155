"""The violation of a requirement and its rows, compared model by model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeform.backends import Backend, Run, Session, Verdict
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.losses import goal_of_any_model
from treeform.language.requirement import Requirement
from treeform.testing.cases import Case


class Fixer:
    """A formulation on a solver, which decides whether it admits given models."""

    def __init__(
        self, case: Case, formulation: Formulation, backend: Backend, requirements: Sequence[Requirement] = ()
    ) -> None:
        self.case, self.formulation, self.backend = case, formulation, backend
        self.requirements = requirements
        self._state()

    def _state(self) -> None:
        objective = goal_of_any_model(self.case.goal)
        case = self.case
        self.compiled: Compiled = self.formulation.compile(
            case.data, case.shape, objective, self.requirements
        )
        self.session: Session = self.backend.open(self.compiled.model)

    def admits(self, graph: DecisionGraph) -> bool | None:
        """Whether some point of the model states ``graph``; None when the formulation has no place for it."""
        while True:
            point = self.formulation.encode(self.compiled, graph)
            if point is None:
                return None
            if graph.values:
                self._fix_values(graph)
            model = self.compiled.model
            known = np.flatnonzero(~np.isnan(point) & model.is_binary[: len(point)])
            literals = np.where(point[known] > 0.5, known + 1, -(known + 1)).tolist()
            outcome = self.session.solve(Run(assumptions=literals))
            if outcome.verdict is Verdict.INFEASIBLE:
                return False
            if outcome.x is None:
                raise AssertionError(f"{self.session.backend!r} gave no verdict on a tiny model: {outcome}")
            # A formulation that adds rows on demand does so first.
            if not self.formulation.refine(self.compiled, graph):
                return True
            self.session.extend()

    def _fix_values(self, graph: DecisionGraph) -> None:
        """Start anew with rows for the predictions: values are no literals, and cannot be assumed."""
        self.close()
        self._state()
        quantity = self.case.data.quantity
        assert quantity is not None
        predicted = np.array([int(quantity.in_units(value)) for value in graph.values])
        self.compiled.model.add(
            self.compiled.ports.read("value") == predicted[graph.predict_codes(self.case.data.X)],
            "predictions",
        )
        self.session.extend()

    def close(self) -> None:
        """Free the solver."""
        self.session.close()


def compare_faces(
    case: Case,
    requirement: Requirement,
    formulation: Formulation,
    backend: Backend,
    models: Sequence[DecisionGraph],
    **context: Any,
) -> int:
    """Check that rows and `violation` of a requirement accept the same models.

    Each model is fixed in the formulation, with and without the requirement. Those that the formulation cannot
    state without it (for example, since it breaks symmetries) are left out.

    Raises AssertionError on the first model on which they differ.

    Returns how many models were compared.

    Parameters
    ----------
    requirement : Requirement
        Bound to ``case.data`` or not.
    **context
        Passed to ``bind``.
    """
    bound = requirement.bind(case.data, **context)
    free, held = Fixer(case, formulation, backend), Fixer(case, formulation, backend, [bound])
    compared = 0
    try:
        for graph in models:
            if not free.admits(graph):
                continue
            rows, violation = held.admits(graph), bound.violation(graph, case.data)
            compared += 1
            if rows is not None and rows != (violation == 0):
                raise AssertionError(
                    f"{requirement!r} on {formulation.name}: its rows {'admit' if rows else 'forbid'} a model "
                    f"whose violation() is {violation}\n{graph.to_text()}\n{case.code(requirement)}"
                )
    finally:
        free.close()
        held.close()
    return compared
