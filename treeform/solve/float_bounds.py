"""Bounds that a solver proved in floating point, as far as they are safe."""

from __future__ import annotations

import math
from fractions import Fraction

from treeform.language.question import Question
from treeform.objectives.regression import SquaredError

BOUND_TOLERANCE = 1e-6
"""Share of a bound that is given up for the solver's tolerances."""


def safe_bound(question: Question, value: float, upper: int | Fraction | None) -> int | Fraction:
    """What a float bound proves of scaled values, a millionth given up for the solver's tolerances.

    Whole values are rounded up to the next one. Squared errors are no whole numbers: there the millionth is also one
    of the loss of the best constant, since solvers hold squares to a share of the largest. What is left below the best
    known value ``upper`` is closed where it is less than two models can differ by.
    """
    loss = next((term for _, term in question.objective.terms if isinstance(term, SquaredError)), None)
    if loss is None:
        return math.ceil(value - BOUND_TOLERANCE * max(1.0, abs(value)))
    greatest = float(loss.largest(question.data, question.shape) * question.scale)
    bound = Fraction(value - BOUND_TOLERANCE * max(abs(value), greatest))
    if upper is not None and bound < upper < bound + least_difference(question, loss):
        return upper
    return bound


def least_difference(question: Question, loss: SquaredError) -> Fraction:
    """Two models with other scaled values than each other differ by at least this.

    A leaf of weight n has the loss ``Q - s^2 / n`` with whole Q, s and n, in units of the loss. The weights of leaves
    add up to W. So the values of models are multiples of 1 / lcm(1, ..., W); and those of two models differ by a
    multiple of 1 / (N N'), where N and N' are the products of their leaves' weights, each at most (W / k)^k for k
    leaves. Prices of tests have a common unit with the loss.
    """
    data = question.data
    weight = int(data.weights.sum())
    leaves = min(2 * sum(question.shape.widths), data.points.n_points)
    product = max((weight**k) // k**k for k in range(1, leaves + 1)) ** 2
    multiple = math.lcm(*range(1, weight + 1)) if weight < product.bit_length() else product
    units = [
        w * (loss.per_unit(data) if term is loss else term.unit(data)) for w, term in question.objective.terms
    ]
    common = math.lcm(*(unit.denominator for unit in units))
    shared = math.gcd(*(int(unit * common) for unit in units))
    return Fraction(shared, common * min(multiple, product)) * question.scale
