"""The question that engines and solvers answer: a frozen snapshot of a Problem."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeform.data import Dataset
from treeform.data.columns import columns_in_words
from treeform.language.limits import Limits
from treeform.language.objective import Error, Objective
from treeform.language.requirement import Requirement
from treeform.language.restriction import Restriction
from treeform.shape import Shape
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
