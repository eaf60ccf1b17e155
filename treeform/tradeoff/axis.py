"""Which requirement a frontier varies: one of the problem, or an additional one."""

from __future__ import annotations

from typing import Any, cast

from treeform.errors import SpecError
from treeform.language.bounded import NAME_THE_BOUND, Bounded
from treeform.language.losses import has_whole_values
from treeform.language.question import Question
from treeform.language.requirement import Requirement


def find_axis(question: Question, over: Any, sensitive: Any = None) -> tuple[Question, Bounded]:
    """The question without the requirement that is moved, and that requirement, bound to the data.

    ``over`` is a requirement with any number in it, or the name or label of one of the question's. ``sensitive`` has
    the groups of requirements that name none.

    Raises SpecError if it is none of the question's requirements, or has no numeric bound; DataError if it does not fit
    the data.
    """
    if isinstance(over, str):
        moved = _named(question, over)
    elif isinstance(over, Requirement):
        moved = over
    else:
        raise SpecError(
            f"over={over!r} is no requirement",
            cause="a frontier moves the bound of a requirement",
            fix="use for example over=tf.StatisticalParity(groups='sex', difference=None)",
        )
    if not isinstance(moved, Bounded):
        raise SpecError(
            f"{moved} has no numeric bound",
            cause=f"{type(moved).__name__} is not derived from tf.Bounded, which says how its bound is moved",
            fix=f"derive the class from tf.Bounded, too, and {NAME_THE_BOUND}; or move another requirement",
        )
    whole = has_whole_values(question.objective)
    bound = moved.bind(question.data, sensitive_features=sensitive, whole_values=whole)
    axis = cast(Bounded, bound)
    kept = tuple(one for one in question.requirements if not _same_but_for_bound(one, bound))
    return question.with_(requirements=kept), axis


def _named(question: Question, name: str) -> Requirement:
    """The requirement of the question with this label or, if it is the only one, with this name."""
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        if name == label:
            return requirement
    named = [requirement for requirement in question.requirements if requirement.name == name]
    if len(named) == 1:
        return named[0]
    raise SpecError(
        f"over={name!r} names " + ("several requirements" if named else "no requirement") + " of the problem",
        cause=f"its requirements are {', '.join(question.labels)}" if question.labels else "it has no requirements",
        fix="write one of these in full" if question.labels else "give the requirement itself",
    )


def _same_but_for_bound(one: Requirement, other: Requirement) -> bool:
    """Whether two requirements differ in their bounds only."""
    if not (isinstance(one, Bounded) and isinstance(other, Bounded)):
        return False
    if one.bound_name != other.bound_name or one.bound is None:
        return False
    try:
        return one.to_json() == other.with_bound(one.bound).to_json()
    except SpecError:  # a count and a fraction
        return False
