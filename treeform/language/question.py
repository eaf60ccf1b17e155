"""The question that engines and solvers answer: a frozen snapshot of a Problem.

Rows that a component adds to a formulation either leave the optimum as it is, which the component declares, or they
narrow the problem: then they are part of the question, and models from elsewhere count only where they satisfy them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import columns_in_words
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.losses import goal_of_any_model
from treeform.language.objective import Error, Objective
from treeform.language.requirement import Requirement
from treeform.model.blocks import violated_rows
from treeform.shape import Limits, Shape
from treeform.utils.text import count_of


@dataclass(frozen=True)
class Question:
    """Data, shape, objective and bound requirements: all that defines the optimum.

    Values inside the search are integers: the objective times ``scale``. Those of a ratio are fractions, and
    ``scale`` is 1.
    """

    data: Dataset
    shape: Shape
    objective: Objective
    requirements: tuple[Requirement, ...] = ()
    restriction: Restriction | None = None
    """What rows of a formulation of one's own demand beside the requirements."""

    @cached_property
    def scale(self) -> int:
        """The integer that makes ``scale * objective`` whole for every model."""
        return int(self.objective.scale(self.data))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """One distinct name per requirement, for reports and certificates."""
        seen: dict[str, int] = {}
        names = []
        for requirement in self.requirements:
            text = str(requirement)
            seen[text] = seen.get(text, 0) + 1
            names.append(text if seen[text] == 1 else f"{text} #{seen[text]}")
        return tuple(names)

    @property
    def summary(self) -> str:
        """Data, shape, objective and requirements, a line for each of the latter."""
        d = self.data
        target = count_of(d.n_classes, "class") if d.quantity is None else "a quantity as target"
        lines = [
            f"{count_of(d.n_samples, 'sample')}, {columns_in_words(d.columns)}, {target}, shape {self.shape}",
            f"  minimize {self.objective}",
            *(f"  subject to {label}" for label in self.labels),
        ]
        return "\n".join(lines)

    @cached_property
    def limits(self) -> Limits:
        """The plain bounds among the requirements, tightened to one."""
        return Limits.all_of(requirement.limits(self.data) for requirement in self.requirements)

    def to_units(self, scaled: int | Fraction) -> Fraction:
        """A scaled value in the user's units."""
        return Fraction(scaled, self.scale)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # the rest is computed again

    def with_(self, **changes: Any) -> Question:
        """A copy with other data, shape, objective or requirements."""
        return replace(self, **changes)

    def only(self, labels: Collection[str]) -> Question:
        """The question with those requirements alone that have these labels."""
        pairs = zip(self.labels, self.requirements, strict=True)
        return self.with_(requirements=tuple(one for label, one in pairs if label in labels))

    def narrowed_by(self, formulation: Formulation) -> Question:
        """The question with the rows that components of a formulation add; unchanged if they keep the optimum.
        """
        if not (components := formulation.restrictions):
            return self
        return self.narrowed(tuple(map(repr, components)), formulation.name, formulation)

    def narrowed(
        self, components: tuple[str, ...], formulation: str, rows: Formulation | None = None
    ) -> Question:
        """The question with the rows of components, as they are written, that are added to a formulation.

        ``rows`` judges models; where only the names are known, no model can be judged.
        """
        return replace(self, restriction=Restriction(components, formulation, rows))


def allowed_errors(question: Question) -> int | None:
    """The least bound on errors (in weight units) among the requirements, when errors are the objective."""
    terms = question.objective.terms
    if len(terms) != 1 or not isinstance(terms[0][1], Error):
        return None
    return question.limits.max_errors


def ceiling(question: Question) -> int | Fraction:
    """No admissible model has a scaled value above this: a lower bound beyond it proves infeasibility."""
    total = question.objective.largest(question.data, question.shape)
    allowed = allowed_errors(question)
    if allowed is not None:
        total = min(total, question.objective.terms[0][0] * question.data.weight_unit * allowed)
    return math.floor(total * question.scale) if question.objective.is_whole else total * question.scale


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
        outside = model.violated_variables(np.where(known, x, model.lb)) if self.components else {}
        return f"it is outside of the {next(iter(outside))}" if outside else None

    def refusal(self, what: str) -> SpecError:
        """What to raise where ``what`` compares questions, or shapes."""
        return SpecError(
            f"{what} cannot be had under {self}",
            cause="it compares several questions, and such rows are a part of one question only",
            fix=f"use problem.solve(); or state {', '.join(self.components)} as a requirement of the problem; or, if a "
            "best model of every problem satisfies it, declare that in its class: restricts = False",
        )
