"""The test of a hyperplane in SQL: decided where double precision is sure, and no answer where rounding could decide.

The rounded sum is trusted where it is further from the threshold than it can be from the exact one, and where nothing
was rounded: all values whole and small enough. SQL has no names for parts of an expression, so that the steps of
`exact_steps` would have to be written out, each in the next.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from sqlglot import exp

from treeform.data.columns import BOOLEAN, CATEGORY, ORDERED
from treeform.errors import SpecError
from treeform.graph.export.sums import Sum, Term
from treeform.utils.arrays import Bools, Floats

_ROUNDING = 2.0**-50
"""For each term and two more, at least eight times what one operation can lose."""

_WHOLE = 1.5 * 2.0**52
"""Added to a number of at most 2**51 and taken away again, it leaves the nearest whole number."""


def side(asked: Sum) -> Any:
    """An expression that is 1 where the test holds, 0 where it does not, and NULL where rounding could decide.

    Raises SpecError if the sum reads dates.
    """
    values = [_value(term) for term in asked.terms]
    products = [_times(abs(term.weight), value) for term, value in zip(asked.terms, values, strict=True)]
    total: Any = products[0] if asked.terms[0].weight > 0 else -products[0]
    for term, product in zip(asked.terms[1:], products[1:], strict=True):
        joined = exp.Add if term.weight > 0 else exp.Sub
        total = joined(this=total, expression=product.copy())
    sizes = [_times(abs(term.weight), _size(term, x)) for term, x in zip(asked.terms, values, strict=True)]
    size: Any = reduce(lambda a, b: exp.Add(this=a, expression=b), sizes)
    threshold = _number(asked.threshold)
    doubt = size * _number(_ROUNDING * (len(values) + 2)) + _number(1e-300)
    whole = [_is_whole(x) for term, x in zip(asked.terms, values, strict=True) if not term.is_small_whole]
    unrounded = exp.and_(size <= _number(2.0**51 * _step(asked)), *whole)
    return (
        exp.case()
        .when(total - threshold > doubt, "0")
        .when(total + doubt < threshold, "1")
        .when(exp.and_(unrounded, total <= threshold), "1")
        .when(unrounded, "0")
    )


def undecided(asked: Sum, values: Floats) -> Bools:
    """Which rows `side` has no answer for; `values` (m, terms) are what the terms read."""
    with np.errstate(over="ignore", invalid="ignore"):
        total, size = np.zeros(len(values)), np.zeros(len(values))
        for column, term in zip(values.T, asked.terms, strict=True):
            total += term.weight * column
            size += abs(term.weight) * np.abs(column)
        doubt = _ROUNDING * (len(asked.terms) + 2) * size + 1e-300
        sure = (total - asked.threshold > doubt) | (total + doubt < asked.threshold)
    unrounded = (size <= 2.0**51 * _step(asked)) & (values == np.round(values)).all(axis=1)
    return np.asarray(~(sure | unrounded))


def _step(asked: Sum) -> float:
    """The largest power of two of which all weights are multiples, at most 1."""
    denominators = [Fraction(term.weight).denominator for term in asked.terms]  # powers of two
    return float(Fraction(1, max(denominators)))  # 2**-1074 at least, which is a double


def _value(term: Term) -> Any:
    """What a feature reads, as a double."""
    column = term.column
    x = exp.column(column.source, quoted=True)
    if column.kind == CATEGORY and column.category is None:
        return _choice([(x.is_(exp.null()), 1)], 0)
    if column.kind in (BOOLEAN, CATEGORY):
        level = exp.true() if column.kind == BOOLEAN else exp.convert(column.category)
        return _choice([(x.eq(level), 1)], 0)
    if column.kind == ORDERED:
        levels = enumerate(column.levels)
        return _choice([(x.eq(exp.convert(level)), at) for at, level in levels], -1)
    if column.kind.startswith("date"):
        raise SpecError(
            f"SQL cannot state a hyperplane that reads the date {column.source!r}",
            cause="dialects count the days between two dates in different ways",
            fix="export to Python, C, JavaScript or ONNX, or give the days since 1970-01-01 as a number",
        )
    return exp.cast(x, "double")


def _choice(ways: list[tuple[Any, int]], otherwise: int) -> Any:
    made = [exp.If(this=condition, true=_number(float(value))) for condition, value in ways]
    return exp.Case(ifs=made, default=_number(float(otherwise)))


def _size(term: Term, value: Any) -> Any:
    return value.copy() if term.column.kind in (BOOLEAN, CATEGORY) else exp.Abs(this=value.copy())


def _is_whole(value: Any) -> Any:
    return (value + _number(_WHOLE) - _number(_WHOLE)).eq(value)


def _times(weight: float, value: Any) -> Any:
    return value if weight == 1.0 else exp.Mul(this=_number(weight), expression=value)


def _number(value: float) -> Any:
    """A double; databases take a literal with a point for a decimal number."""
    return exp.cast(exp.Literal.number(repr(value)), "double")
