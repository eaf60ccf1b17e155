"""The part of a regression problem that the native search solves; what it cannot support is left out and named."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from treeform.engines import RegressionSearch, RegressionTask
from treeform.language.limits import Limits
from treeform.language.objective import Nodes, Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.objectives import AbsoluteError, SquaredError
from treeform.shape import Tree

Loss = SquaredError | AbsoluteError
OF_UNROLLED_TREES = frozenset({"max_depth", "max_features"})
"""Limits that hold for the tree that a diagram unrolls to, whose tests are more and whose leaves are lighter."""


def loss_of(objective: Objective) -> tuple[Fraction, Loss]:
    """The loss of a regression problem, and its coefficient."""
    return next((weight, term) for weight, term in objective.terms if isinstance(term, Loss))


@dataclass(frozen=True)
class RegressionPart:
    """What the native search is asked.

    Attributes
    ----------
    question : Question
        The part as a question of its own; its optimum is a lower bound of the whole.
    task : RegressionTask
    dropped : tuple of str
        What the search does not see.
    scale : int
        That of the whole question.
    """

    question: Question
    task: RegressionTask
    dropped: tuple[str, ...]
    scale: int

    @property
    def exact(self) -> bool:
        """Whether the search's optimum is the question's."""
        return not self.dropped

    @cached_property
    def worth(self) -> tuple[Fraction, Fraction]:
        """The size of a unit of the search's loss in the whole question's scaled values, and what is added to all."""
        objective = self.question.objective
        weight, loss = loss_of(objective)
        # Each leaf beyond the tests of a tree costs its price.
        leaves = sum((w for w, term in objective.terms if term.name == "leaves"), Fraction(0))
        return weight * loss.per_unit(self.question.data) * self.scale, leaves * self.scale


def part_of(question: Question) -> RegressionPart:
    """The part of a regression problem that the native search solves.

    The choice of an engine, its run and what follows ask for the same, so it is kept with the question.
    """
    known: RegressionPart | None = vars(question).get("_regression_part")
    if known is None:
        known = vars(question)["_regression_part"] = _part_of(question)
    return known


def _part_of(question: Question) -> RegressionPart:
    limits, forbidden = Limits(), np.zeros(question.data.n_features, dtype=bool)
    supported: list[Requirement] = []
    dropped: list[str] = []
    # A diagram of two layers shares no test: it is a tree.
    is_tree = isinstance(question.shape, Tree) or question.shape.depth <= 2
    understood = RegressionSearch.understands if is_tree else OF_UNROLLED_TREES
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        stated_limits = requirement.limits(question.data)
        sets = requirement.allowed_features(question.data)
        if sets is not None and len(sets) == 1:
            forbidden[[f for f in range(len(forbidden)) if f not in sets[0]]] = True
        elif stated_limits is not None and stated_limits.names <= understood:
            limits = limits.tighten(stated_limits)
        else:
            dropped.append(label)
            continue
        supported.append(requirement)
    kept, objective = question.objective, question.objective
    if not is_tree:
        # The tree that a diagram unrolls to may have more tests than the diagram, and may not be one of its shape.
        kept = Objective((weight, term) for weight, term in objective.terms if not isinstance(term, Nodes))
        dropped += [] if kept == objective else ["the price of tests"]
    if any(width < 2**layer for layer, width in enumerate(question.shape.widths)):
        dropped.append(f"the widths of {question.shape}")
    if question.restriction is not None:
        dropped.append(str(question.restriction))
    part = question.with_(shape=Tree(question.shape.depth), objective=kept, requirements=tuple(supported))
    return RegressionPart(
        part, _task(part, limits, np.flatnonzero(~forbidden)), tuple(dropped), question.scale
    )


def _task(part: Question, limits: Limits, columns: np.ndarray) -> RegressionTask:
    weight, loss = loss_of(part.objective)
    price = sum((w for w, term in part.objective.terms if not term.of_values), Fraction(0))
    data, depth = part.data, part.shape.depth
    return RegressionTask(
        depth=depth if limits.max_depth is None else min(depth, limits.max_depth),
        min_flow=limits.min_flow,
        max_features=limits.max_features,
        min_support=limits.min_support,
        max_nodes=limits.max_nodes,
        loss=loss.kind,
        price=price / (weight * loss.per_unit(data)),
        best_value=lambda rows: loss.best_value(data, rows),
        best_loss=lambda rows: loss.of_best(data, rows),
        columns=columns,
    )
