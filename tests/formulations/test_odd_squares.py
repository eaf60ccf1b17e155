"""Squared errors in ODD on SCIP: optima against enumeration in fractions, safe bounds, and refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import treeform as tf
from treeform.backends import by_name
from treeform.errors import RouteError
from treeform.formulations.odd import ODD
from treeform.model import Model, sum_of_squares
from treeform.solve.ledger import least_difference, safe_bound

PRICE = Fraction(1, 4)


def table(seed: int, n: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n)]), rng.integers(-3, 6, n)


def least_over_diagrams(X: np.ndarray, y: np.ndarray) -> Fraction:
    """Of all diagrams of widths 1, 2 and 1 whose arcs lead to the next layer or end."""
    tests = [frozenset(np.flatnonzero(X[:, f] > t).tolist()) for f, t in ((0, 0), (1, 0), (1, 1))]
    everything = frozenset(range(len(y)))

    @cache
    def loss(rows: frozenset[int]) -> Fraction:
        values = [int(y[i]) for i in rows]
        return Fraction(sum(v * v for v in values)) - Fraction(sum(values) ** 2, max(1, len(values)))

    def split(rows: frozenset[int], k: int) -> tuple[frozenset[int], frozenset[int]]:
        return rows - tests[k], rows & tests[k]

    @cache
    def below(rows: tuple[frozenset[int], frozenset[int]], last: int) -> Fraction:
        """Of the second layer, whose two nodes get such rows, and of the third one with such a test."""
        choices = []
        for part in rows:
            # A node is a test with arcs to the last node (1) or to leaves (0), or ends at once.
            choices.append([(loss(part), frozenset())])
            for k in range(len(tests)):
                for to in itertools.product((0, 1), repeat=2):
                    sides = list(zip(split(part, k), to, strict=True))
                    on = frozenset().union(*(side for side, onward in sides if onward))
                    choices[-1].append((PRICE + sum(loss(side) for side, onward in sides if not onward), on))
        out = []
        for (a, first), (b, second) in itertools.product(*choices):
            rest = sum(map(loss, split(first | second, last))) + PRICE if first | second else 0
            out.append(a + b + rest)
        return min(out)

    best = loss(everything)
    for k, last in itertools.product(range(len(tests)), repeat=2):
        best = min(best, PRICE + below(split(everything, k), last))
        best = min(best, PRICE + below((everything, frozenset()), last))
    return best


@pytest.mark.drawn(1)
@pytest.mark.parametrize("seed", range(6))
def test_diagrams_against_enumeration(seed: int) -> None:
    X, y = table(seed)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 1)).minimize(tf.SquaredError() + PRICE * tf.Nodes())
    result = problem.solve("scip", warm_start=None)
    assert result.status is tf.Status.OPTIMAL
    assert result.objective == result.bound == least_over_diagrams(X, y)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("scale", ["1", "1e-9", "1e9"])
def test_trees_agree_with_the_native_search(scale: str) -> None:
    X, y = table(3, 9)
    targets = [float(f"{v}{scale[1:]}") for v in y.tolist()]
    weights = np.arange(9) % 2 + 1
    problem = tf.Problem(X, targets, shape=tf.Tree(2), sample_weight=weights).minimize("squared_error")
    stated, native = problem.solve("mathopt:scip", warm_start=None), problem.solve()
    assert stated.objective == native.objective
    assert stated.bound <= native.objective
    assert stated.bound >= native.objective * Fraction(9999, 10000)
    warm = problem.solve("scip")
    assert warm.status is tf.Status.OPTIMAL and "regression-search" in warm.solver


def test_a_float_bound_closes_what_two_models_cannot_differ_by() -> None:
    X, y = table(1)
    question = tf.Problem(X, y, shape=tf.Tree(1)).minimize("squared_error").question
    loss = question.objective.terms[0][1]
    assert least_difference(question, loss) == Fraction(1, 144)  # leaves of weights 3 and 4, twice
    upper = Fraction(40) + Fraction(1, 12)
    assert safe_bound(question, float(upper), upper) == upper
    assert safe_bound(question, float(upper) - 0.01, upper) < upper - Fraction(1, 144)
    assert safe_bound(question, float(upper), None) < upper


def test_models_read_back_have_means() -> None:
    X, y = table(2)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.SquaredError())
    question, graph = problem.question, problem.solve().graph
    compiled = ODD().compile(question.data, question.shape, question.objective)
    point = ODD().encode(compiled, graph)
    assert point is not None and not np.isnan(point).any()
    assert not any(compiled.model.check(point).values())
    value = question.objective.evaluate(graph, question.data)
    assert compiled.model.objective.value(point) == pytest.approx(float(value), rel=1e-9, abs=1e-9)
    read = ODD().decode(compiled, point)
    assert question.objective.evaluate(read, question.data) == value
    assert "^2" in compiled.model.show()


def test_solvers_of_linear_objectives_refuse_squares() -> None:
    model = Model()
    x = model.integer("x", 2, 0, 3)
    model.minimize(sum_of_squares(x - 1.5, [1, 2]))
    assert model.objective.value([1, 3]) == pytest.approx(0.25 + 4.5)
    with pytest.raises(RouteError, match="holds squares"):
        by_name("cp-sat").open(model)
    with pytest.raises(tf.errors.ModelError, match="one column each"):
        sum_of_squares(x.sum().reshape(1), [1])
