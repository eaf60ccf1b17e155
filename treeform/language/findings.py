"""What a model has of what a requirement bounds, and what is allowed, in the units that a reader knows."""

from __future__ import annotations

import re
from fractions import Fraction

from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.requirement import Requirement
from treeform.utils.text import exact_text

FEWEST_DIGITS, MOST_DIGITS = 3, 16


def finding(requirement: Requirement, graph: DecisionGraph, data: Dataset) -> str:
    """What a model that violates a requirement has, and what is allowed.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[1.0], [2.0], [3.0]], ["a", "b", "a"], shape="tree:2")
    >>> finding(tf.MaxNodes(1), problem.solve().graph, problem.data)
    '2 tests; at most 1 is allowed'
    """
    lacking = f"it lacks {exact_text(requirement.violation(graph, data))}"
    if not isinstance(requirement, Bounded) or requirement.bound is None:
        return lacking
    try:
        measured = requirement.measured(graph, data)
    except TreeformError:  # a count of samples whose weights are fractions
        return lacking
    found, bound = apart(measured, requirement.bound)
    allowed = f"at most {bound} is allowed" if requirement.is_upper else f"at least {bound} is required"
    clause = re.sub(r"^1 (\w+?)s\b", r"1 \1", requirement.measure.format(found))
    return f"{clause}; {allowed}"


def apart(value: Value, bound: Value) -> tuple[str, str]:
    """Both numbers with few digits, and with enough of them to be told apart.

    >>> apart(Fraction(2441, 113900), Fraction(1, 100)), apart(Fraction(10000001, 10**9), Fraction(1, 100))
    (('0.0214', '0.01'), ('0.010000001', '0.01'))
    """
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        texts = _short(value, digits), _short(bound, digits)
        is_kept = texts[1] == _short(bound, MOST_DIGITS) or digits >= 2 * FEWEST_DIGITS
        if value == bound or (texts[0] != texts[1] and is_kept):
            return texts
    return str(value), str(bound)


def _short(value: Value, digits: int) -> str:
    number = Fraction(value)
    return str(number) if number.denominator == 1 else f"{float(number):.{digits}g}"
