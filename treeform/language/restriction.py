"""Rows of a formulation of one's own, as a part of the question.

Rows that a component adds to a formulation either leave the optimum as it is, which the component declares, or they
narrow the problem: then they are part of the question, and models from elsewhere count only where they satisfy them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.errors import SpecError
from treeform.language.formulation import Compiled, Formulation
from treeform.language.losses import goal_of_any_model
from treeform.language.objective import Objective
from treeform.model.blocks import violated_rows, violated_variables

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.requirement import Requirement
    from treeform.shape import Shape


@dataclass(frozen=True)
class Restriction:
    """Components whose rows narrow the problem, and the formulation that they are added to.

    A model satisfies the restriction if the formulation has a point for it that satisfies all rows. A solver's point is
    the witness for its model. Of any other model, the point that the formulation encodes it to is tried: a
    model for which that one violates a row, or leaves columns of the components open, is not used.
    """

    components: tuple[str, ...]
    """As they are written."""
    formulation: str
    """The name of the formulation."""
    rows: Formulation | None = field(default=None, compare=False, repr=False)
    """What judges models. None where only the names are at hand, as in a certificate: then no model can be judged."""
    _compiled: dict[Any, Compiled] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, formulation: Formulation) -> Restriction | None:
        """What the components of ``formulation`` restrict; None where they leave the optimum as it is."""
        components = formulation.restrictions
        return cls(tuple(map(repr, components)), formulation.name, formulation) if components else None

    def __str__(self) -> str:
        return f"the rows of {', '.join(self.components)} in {self.formulation}"

    def __getstate__(self) -> dict[str, Any]:
        """The names alone: rows are code, and cannot be kept."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return state | {"rows": None, "_compiled": {}}

    def prepare(
        self, data: Dataset, shape: Shape, objective: Objective, requirements: tuple[Requirement, ...]
    ) -> Compiled:
        """The rows that models are judged by; built once for a shape and its requirements."""
        assert self.rows is not None
        # No row depends on the objective, unless leaves hold values.
        stated = goal_of_any_model(objective)
        key = (shape, str(stated), requirements)
        if key not in self._compiled:
            self._compiled[key] = self.rows.compile(data, shape, stated, requirements)
        return self._compiled[key]

    def misfit(
        self,
        graph: DecisionGraph,
        data: Dataset,
        shape: Shape,
        objective: Objective,
        requirements: tuple[Requirement, ...],
    ) -> str | None:
        """Why ``graph`` is not shown to satisfy the restriction, or None when it is."""
        if self.rows is None:
            return f"whether it satisfies {self} cannot be evaluated without these components"
        compiled = self.prepare(data, shape, objective, requirements)
        point = self.rows.encode(compiled, graph)
        if point is None:
            return f"{self.formulation} has no point for it, so that {self} cannot be evaluated"
        model, known = compiled.model, ~np.isnan(point)
        x = np.where(known, point, 0.0)
        x[model.is_integer] = np.rint(x[model.is_integer])
        for block in model.blocks:
            read = np.zeros(model.n_cols, dtype=bool)
            read[block.rows.cols] = True
            if block.when is not None:
                read[np.abs(block.when) - 1] = True
            restricts = block.name in compiled.restricting
            if not bool(known[read].all()):
                if restricts:
                    return f"the rows {block.name!r} of {self} read columns that only a solver sets"
                continue
            if bool(violated_rows(block, x, model.is_integer).any()):
                return f"it violates the rows {block.name!r}" + (f" of {self}" if restricts else "")
        outside = violated_variables(model, np.where(known, x, model.lb)) if self.components else {}
        return f"it is outside of the {next(iter(outside))}" if outside else None

    def refusal(self, what: str) -> SpecError:
        """What to raise where ``what`` compares questions, or shapes."""
        return SpecError(
            f"{what} cannot be had under {self}",
            cause="it compares several questions, and such rows are a part of one question only",
            fix=f"use problem.solve(); or state {', '.join(self.components)} as a requirement of the problem; or, if a "
            "best model of every problem satisfies it, declare that in its class: restricts = False",
        )
