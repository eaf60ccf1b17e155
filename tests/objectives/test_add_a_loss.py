"""The check-list for a loss in `CONTRIBUTING.md`, followed with one that treeform does not have."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.catalogue import register
from treeform.certify import Verdict
from treeform.errors import SpecError
from treeform.language.classes import positive_code
from treeform.language.composed import UnstatedTerm
from treeform.language.costs import ClassCost, SampleCost
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.solve import part_ledger
from treeform.solve.part_ledger import Part, PartLedger, Reduction, reduction_of
from treeform.utils import extensions


@dataclass(frozen=True)
class OrdinalError(ClassCost):
    """How many classes the prediction is away from the true one, a third of it for predictions that are too low."""

    name: ClassVar[str] = "ordinal_error_of_a_test"

    def entry(self, data: tf.Dataset, truth: int, guess: int) -> Fraction:
        return Fraction(guess - truth) if guess > truth else Fraction(truth - guess, 3)


def brute_force(X: np.ndarray, y: np.ndarray) -> Fraction:
    """The least loss over all trees of at most one test, from the definition."""
    masks = [X[:, f] <= v for f in range(X.shape[1]) for v in X[:, f]]
    best = []
    for mask in masks:
        sides = [y[mask], y[~mask]]
        best.append(sum(min(sum(map(cost, side, [g] * len(side))) for g in range(3)) for side in sides))
    return min(best)


def cost(truth: int, guess: int) -> Fraction:
    away = Fraction(int(guess) - int(truth))
    return away if away > 0 else -away / 3


@pytest.mark.parametrize("seed", range(3))
def test_engines_and_solvers_minimise_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (18, 2)).astype(float), rng.integers(0, 3, 18)
    asked = tf.Problem(X, y, shape=tf.Tree(1)).minimize(OrdinalError())
    native, stated = asked.solve(), asked.solve("cp-sat", formulation="odd", warm_start=None, time_limit=250)
    assert native.status is stated.status is tf.Status.OPTIMAL
    assert native.objective == stated.objective == brute_force(X, y)
    predicted = native.graph.predict(X)
    assert native.objective == sum(map(cost, y, predicted))


@dataclass(frozen=True)
class Denials(ClassCost):
    """The weight of a class that is predicted otherwise, at a price."""

    price: Any
    positive: Any = None
    name: ClassVar[str] = "denials_of_a_test"

    def __post_init__(self) -> None:
        object.__setattr__(self, "price", as_fraction(self.price, "a price"))

    def entry(self, data: tf.Dataset, truth: int, guess: int) -> Fraction:
        yes = positive_code(self.positive, data, self)
        return self.price if truth == yes != guess else Fraction(int(truth != guess))


def test_the_fields_of_a_loss_are_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so what its certificate says: another class or price would be another loss."""
    monkeypatch.setitem(extensions._REGISTERED[extensions.OBJECTIVES], Denials.name, Denials)
    X, y = [[0.0], [0.0], [1.0], [1.0], [1.0]], ["a, b", "no", "no", "a, b", "a, b"]
    for label, price in product(("a, b", "no"), ("1/3", 5)):
        loss = Denials(price, label)
        assert Objective.of(str(loss)).terms == ((1, loss),)
        result = tf.Problem(X, y, shape=tf.Tree(1)).minimize(loss).solve()
        assert tf.check(result.certificate(), X, y).verdict is Verdict.VERIFIED
        assert tf.Problem(X, y, shape=tf.Tree(1)).minimize(str(loss)).solve().objective == result.objective
    assert str(Denials(2)) == "denials_of_a_test[price=2]"
    for text, message in {
        "denials_of_a_test": "has no price",
        "denials_of_a_test[price=1,cost=2]": "cost",
        "nodes[price=1]": "takes nothing in brackets",
    }.items():
        with pytest.raises(SpecError, match=message):
            Objective.of(text)


# -- a loss of a user, who reads the how-to alone -----------------------------------------------------------------


class LateFeeOfATest(ClassCost):
    """A plain class: no name, a float, a truth value."""

    def __init__(self, fee: Any = 2.5) -> None:
        self.fee = fee

    def entry(self, data: tf.Dataset, truth: int, guess: int) -> Any:
        return self.fee if truth > guess else np.bool_(truth != guess)


class AmountOfATest(SampleCost):
    """What is in a column, where the row is predicted wrongly."""

    def per_sample(self, data: tf.Dataset) -> np.ndarray:
        return (data.y[:, None] != range(data.n_classes)) * data.column("amount").astype(float)[:, None]


class WholeAmountOfATest(SampleCost):
    def per_sample(self, data: tf.Dataset) -> np.ndarray:
        return AmountOfATest().per_sample(data).astype(int)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "_REGISTERED", {group: {} for group in extensions.BUILT_IN})
    for kind in (LateFeeOfATest, AmountOfATest, WholeAmountOfATest):
        register(kind)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("fee", [0.1, "2/3", 4])
def test_a_plain_class_is_a_loss(fee: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (30, 2)).astype(float), rng.integers(0, 3, 30)
    asked = tf.Problem(X, y, shape=tf.Tree(2)).minimize(LateFeeOfATest(fee))
    result = asked.solve()
    guess, exact = result.graph.predict(X), Fraction(str(fee))
    assert result.objective == sum(exact if t > g else Fraction(int(t != g)) for t, g in zip(y, guess, strict=True))
    assert str(result.question.objective) == f"late_fee_of_a_test[fee={fee}]"
    assert tf.check(result.certificate(), X, y).verdict is Verdict.VERIFIED
    asked = tf.Problem(X, y, shape=tf.Tree(2)) + tf.MaxCost(LateFeeOfATest(fee), at_most=result.objective)
    assert asked.solve().status is tf.Status.OPTIMAL


def test_costs_below_zero_are_refused() -> None:
    asked = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1))
    with pytest.raises(SpecError, match="a cost of late_fee_of_a_test is -1/2"):
        asked.minimize(tf.Error() + LateFeeOfATest("-1/2"))


@pytest.mark.usefixtures("registered")
def test_costs_of_samples_are_whole_numbers() -> None:
    table, y = pd.DataFrame({"amount": [2, 3, 5, 7], "age": [1, 2, 1, 2]}), [0, 1, 1, 0]
    asked = tf.Problem(table, y, shape=tf.Tree(1), exclude=["amount"], sample_weight=[0.5] * 4)
    with pytest.raises(SpecError, match="whole numbers of at least 0, of shape \\(4, 2\\), from per_sample"):
        asked.minimize(AmountOfATest()).solve()
    result = asked.minimize(WholeAmountOfATest()).solve()
    assert result.objective == Fraction(2 + 3, 2)
    more = {"sample_weight": [0.5] * 4}
    assert tf.check(result.certificate(), table, y, **more).verdict is Verdict.VERIFIED


def test_a_loss_that_is_not_registered_is_not_known_by_name() -> None:
    with pytest.raises(SpecError, match="register a class of your own before"):
        Objective.parse("late_fee_of_a_test")


# -- a loss that is no sum: the term and its reduction, and nothing else -------------------------------------------


class EffortTerm(UnstatedTerm):
    """A new kind of term: the square of the number of errors."""

    name: ClassVar[str] = "effort_of_a_test"

    def evaluate(self, graph: tf.DecisionGraph, data: tf.Dataset) -> Fraction:
        return tf.Error().evaluate(graph, data) ** 2

    def largest(self, data: tf.Dataset, shape: Any) -> Fraction:
        return Fraction(data.total_weight * data.weight_unit) ** 2

    @classmethod
    def from_text(cls, inside: str | None) -> EffortTerm:
        return cls()

    def __str__(self) -> str:
        return self.name


class ByRoots(Reduction, of=EffortTerm):
    """One part: errors. A model has a square below v exactly if it has fewer errors than the root of v, rounded up."""

    @classmethod
    def parts(cls, question: Question, value: Fraction | None) -> list[Part]:
        part = question.with_(objective=Objective.of(tf.Error()))
        if value is None:
            return [Part(part, None)]
        weight, _ = question.objective.terms[0]
        unit = question.data.weight_unit
        below = math.isqrt(math.ceil(value / weight / unit**2) - 1) if value > 0 else -1
        return [Part(part, (below + 1) * unit)]

    def run(self) -> Any:
        (part,) = self.parts(self.question, None)
        inner = PartLedger(part, self.ledger, "errors")
        limit = self.searched(inner)
        if inner.bound is None:
            self.none_at_all([inner])
        else:
            self.at_least(self.question.objective.terms[0][0] * inner.bound**2, [inner])
        return limit


@pytest.mark.parametrize("weight", [1, "2.5"])
def test_a_loss_that_is_no_sum_is_its_term_and_its_reduction(
    weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extensions._REGISTERED[extensions.OBJECTIVES], EffortTerm.name, EffortTerm)
    rng = np.random.default_rng(3)
    X, y, half = rng.integers(0, 12, (40, 4)).astype(float), rng.integers(0, 2, 40), [0.5] * 40
    errors = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=half)
    errors += tf.MaxNodes(2)
    least = errors.solve().objective
    effort = errors.minimize(Fraction(weight) * EffortTerm())
    for solver in (None, "highs"):
        result = effort.solve(solver, formulation=solver and "odd", time_limit=250)
        assert (result.status, result.objective) == (tf.Status.OPTIMAL, Fraction(weight) * least**2)
    stored = json.loads(json.dumps(result.certificate()))
    assert tf.check(stored, X, y, sample_weight=half, independent=True).verdict is Verdict.VERIFIED
    monkeypatch.setattr(ByRoots, "parts", classmethod(lambda cls, question, value: None))
    assert tf.check(stored, X, y, sample_weight=half, independent=True).verdict is not Verdict.VERIFIED


def test_the_reduction_of_the_nearest_class_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was defined first; and a term without one is refused."""
    without = part_ledger._reduction.dispatch(object)
    monkeypatch.setattr(part_ledger, "_reduction", singledispatch(without))

    class Nearer(EffortTerm):
        name: ClassVar[str] = "nearer_effort_of_a_test"

    class ForNearer(ByRoots, of=Nearer):
        pass

    class ForAll(ByRoots, of=EffortTerm):
        pass

    asked = tf.Problem([[0], [1], [2]], [0, 1, 0], shape=tf.Tree(1))
    assert reduction_of(asked.minimize(Nearer()).question) is ForNearer
    assert reduction_of(asked.minimize(EffortTerm()).question) is ForAll
    monkeypatch.setattr(part_ledger, "_reduction", singledispatch(without))
    with pytest.raises(SpecError, match="nothing says how it is reduced"):
        asked.minimize(EffortTerm()).solve()


def test_numbers_and_truth_values_are_read_back_as_what_they_are() -> None:
    @dataclass(frozen=True)
    class Stepped(tf.Error):
        name = "stepped"
        step: int = 2
        strict: bool = False
        of: str = "a"

    for term in (Stepped(), Stepped(-3, True, "3"), Stepped(of="True")):
        assert Stepped.from_text(str(term).partition("[")[2][:-1]) == term
