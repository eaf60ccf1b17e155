"""The check-list of `docs/design/forms.rst`, followed with a requirement that treeform does not have."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify import Verdict
from treeform.errors import SpecError
from treeform.testing import all_models
from treeform.testing.samples import samples_of


class FalseOmissions(tf.LinearRequirement):
    """Of those who are rejected, at most a share should have been approved."""

    words = "of the rows that are not predicted {positive}, at most {rate} are {positive}"
    samples = ("false_omissions:0.3,positive=1",)

    def __init__(self, rate, positive=None):
        self.rate, self.positive = rate, positive

    def bind(self, data, **context):
        named = self if self.positive is not None else self._copy(positive=data.classes[-1].item())
        return tf.LinearRequirement.bind(named, data)

    def forms(self, rows):
        rejected = rows.data.classes != self.positive
        yield rows.weight(truth=self.positive, predicted=rejected) <= self.rate * rows.weight(
            predicted=rejected
        )



TABLE = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "region": list("nsnsns")})
LABELS = ["no", "yes", "no", "yes", "yes", "no"]


def asked(requirement: tf.Requirement) -> tf.Problem:
    return tf.Problem(TABLE, LABELS, shape=tf.Tree(1)) + requirement


def test_all_that_follows() -> None:
    problem = asked(FalseOmissions("0.3"))
    bound, data = problem.requirements[0], problem.data
    models = list(all_models(data, tf.Tree(1), limit=10**6))
    best = min(int((g.predict_codes(data.X) != data.y).sum()) for g in models if not bound.violation(g, data))
    result = problem.solve()
    assert (result.objective, result.solver) == (best, "totals-search")
    assert problem.solve("highs", warm_start=None).objective == best
    assert tf.check(result.certificate(), TABLE, LABELS, independent=True).verdict is Verdict.VERIFIED
    assert bound.in_words() == "of the rows that are not predicted yes, at most 0.3 are yes"
    assert "at most -1/20 are" in FalseOmissions(Fraction(-1, 20), "yes").in_words()
    soft = asked(tf.MaxNodes(1)).minimize(tf.Error() + FalseOmissions("0.3", "yes").soft(2))
    paid = min(
        int((g.predict_codes(data.X) != data.y).sum()) + 2 * bound.violation(g, data)
        for g in models
        if g.n_nodes <= 1
    )
    assert soft.solve().objective == paid
    sliced = asked(FalseOmissions("0.3", "yes").each("region"))
    assert sliced.solve().violations == {"false_omissions:rate=0.3,positive=yes,each=region": 0}


def test_the_kit_compares_it_with_brute_force() -> None:
    (sample,) = samples_of(FalseOmissions)
    report = tf.testing.check_requirement(sample, backends=["highs"], cases=1, models=5)
    assert report.cases == 1


def test_a_false_statement_of_the_search_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check reads the inequalities, and nothing that the search derives from them."""
    true = asked(FalseOmissions("0.4", "yes")).solve()

    def half(self, data):
        return [(np.eye(2, dtype=np.int64)[data.y], 3)]  # a constant has half of the rows right

    monkeypatch.setattr(FalseOmissions, "prediction_rows", half)
    monkeypatch.setattr(FalseOmissions, "totals", tf.Requirement.totals)
    false = asked(FalseOmissions("0.4", "yes")).solve()
    assert (true.objective, false.objective) == (2, 3) and false.status is tf.Status.OPTIMAL
    assert tf.check(false.certificate(), TABLE, LABELS, independent=True).verdict is not Verdict.VERIFIED


class Approved(tf.LinearRequirement, tf.Bounded):
    """At most an amount is lent; ``idle`` is within it whatever is predicted."""

    moves, measure = "budget", "{} are lent"

    def __init__(self, budget, idle=0):
        self.budget, self.idle = budget, idle

    def forms(self, rows):
        yield rows.amount("age", predicted="yes") / 3 - Fraction(1, 2) <= self.budget
        yield rows.weight(predicted="no") <= self.budget
        yield 0 * rows.errors() + self.idle <= self.budget
        yield rows.errors() <= rows.weight()


class Served(Approved):
    """At least so many are."""

    moves, is_upper = "least", False

    def __init__(self, least):
        self.least = least

    def forms(self, rows):
        yield rows.weight(predicted="yes") >= 2 * Fraction(self.least)


@pytest.mark.parametrize("kind", [Approved, Served])
def test_a_named_bound_is_moved(kind) -> None:
    """A frontier and a conflict, by the inequalities alone; the trade-off is that of all models."""
    problem = tf.Problem(TABLE, LABELS, shape=tf.Tree(2))
    axis = kind(*((200, 10) if kind is Approved else (0,)))
    data, points = problem.data, set()
    for graph in all_models(data, tf.Tree(2), limit=10**6):
        yes = graph.predict_codes(data.X) == 1
        lent = [a for a, y in zip(TABLE.age, yes, strict=True) if y]
        value = max(Fraction(sum(lent), 3) - Fraction(1, 2), int((~yes).sum()), 10)
        value = value if kind is Approved else Fraction(len(lent), 2)
        points.add((value if kind is Approved else -value, int((yes != data.y).sum())))
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    frontier = problem.frontier(over=axis)
    sign = 1 if kind is Approved else -1
    assert {(sign * point.value, point.result.errors) for point in frontier.points} == best
    assert len(best) > 2
    assert tf.check(frontier.certificates()[0], TABLE, LABELS).verdict is Verdict.VERIFIED
    stricter = kind(2) if kind is Approved else kind(4)
    found = (problem + stricter).conflict().relaxations
    assert len(found) == 1


@pytest.mark.parametrize(
    ("parameter", "upper", "cause", "fix"),
    [
        ("rate", True, "rate multiplies a sum", "define measured and beyond in the class"),
        ("", True, "does not name the parameter", "name the parameter"),
        ("share", False, "a greater share is the looser one", "set is_upper = True in the class"),
        ("spare", True, "an inequality without spare has to be another requirement", "a class of its own"),
        ("other", True, "no inequality has other in it", "name the parameter"),
        ("absent", True, "it has no attribute absent", "name the parameter"),
    ],
)
def test_a_bound_that_cannot_be_moved_is_named(parameter, upper, cause, fix) -> None:
    class Own(FalseOmissions, tf.Bounded, listed=False):
        moves, is_upper = parameter, upper
        share = spare = other = Fraction(0)

        def forms(self, rows):
            if parameter == "rate":
                yield from super().forms(rows)
            elif parameter != "other":
                yield rows.weight(predicted="yes") <= self.share

    with pytest.raises(SpecError, match="cannot be moved") as error:
        tf.Problem(TABLE, LABELS, shape=tf.Tree(1)).frontier(over=Own("0.3", "yes"))
    assert cause in str(error.value) and fix in error.value.fix


@pytest.mark.parametrize("words", ["at most {mots}", "at most {rate.many}", "at most {}", "at most {rate"])
def test_words_that_cannot_be_filled_in_are_named(words) -> None:
    of = words

    class Worded(FalseOmissions, listed=False):
        words = of

    with pytest.raises(SpecError, match="cannot be filled in") as error:
        Worded("0.3", "yes").in_words()
    assert of in str(error.value) and "rate, positive" in error.value.fix


def test_measures_that_are_no_whole_numbers_need_a_next_one() -> None:
    """Steps of one would pass over the models between two whole measures, and the curve would say that it is proved."""

    class Halves(tf.Bounded, listed=False):
        needs, moves = frozenset({"predicted"}), "share"

        def __init__(self, share):
            self.share = Fraction(share)

        def build(self, model, ports):
            model.add(ports.predicted[:, 1].sum() <= int(2 * self.share))

        def violation(self, graph, data):
            return max(Fraction(0), self.measured(graph, data) - self.share)

        def measured(self, graph, data):
            return Fraction(int((graph.predict_codes(data.X) == 1).sum()), 2)

    with pytest.raises(SpecError, match="does not say which measure is next"):
        tf.Problem(TABLE, LABELS, shape=tf.Tree(2)).frontier(over=Halves(3))


def forms_of(states) -> tf.Requirement:
    class Own(tf.LinearRequirement, listed=False):
        def forms(self, rows):
            yield states(rows)

    return Own()


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (lambda rows: rows.errors() * rows.errors() <= 1, "not linear"),
        (lambda rows: rows.errors() / rows.weight(predicted="yes") <= 1, "cannot be divided"),
        (lambda rows: rows.errors() / rows.weight("age > 90") <= 1, "divided by 0"),
        (lambda rows: rows.errors() == 1, "two inequalities"),
        (lambda rows: 0 <= rows.errors() <= 1, "neither true nor false"),
        (lambda rows: rows.weight(predicted="maybe") <= 1, "no class 'maybe'"),
        (lambda rows: rows.amount([1, 2], predicted="yes") <= 1, "2 amounts for 6 rows"),
        (lambda rows: rows.amount("region", predicted="yes") <= 1, "cannot be an amount"),
        (lambda rows: rows.errors() <= "few", "cannot be a number"),
    ],
)
def test_what_is_no_inequality_between_sums_is_refused(states, message) -> None:
    with pytest.raises(SpecError, match=message):
        asked(forms_of(states))


def test_amounts_costs_and_tests() -> None:
    def states(rows):
        lent = rows.amount("age", "region == 'n'", predicted="yes")
        return lent + Fraction(1, 3) * rows.cost([[0, 1], [2, 0]]) - rows.right() <= 10

    problem = asked(forms_of(states))
    bound, data = problem.requirements[0], problem.data
    for graph in all_models(data, tf.Tree(1), limit=10**6):
        codes = graph.predict_codes(data.X)
        lent = sum(a for a, r, c in zip(TABLE.age, TABLE.region, codes, strict=True) if r == "n" and c == 1)
        costs = sum(1 if y < c else 2 for y, c in zip(data.y, codes, strict=True) if y != c)
        excess = lent + Fraction(int(costs), 3) - int((codes == data.y).sum()) - 10
        assert bound.violation(graph, data) == max(0, excess)
        assert (bound.totals(data).excess(graph, data) == 0) == (excess <= 0)

    class FewTests(tf.LinearRequirement, listed=False):
        needs = frozenset({"feature"})

        def forms(self, rows):
            yield rows.tests(range(rows.data.n_features)) <= 0

    for solver in (None, "cp-sat"):
        result = asked(FewTests()).solve(solver)
        assert result.graph.n_nodes == 0 and result.status is tf.Status.OPTIMAL


class NotBelow(tf.Requirement):
    """At least one row of a mask is predicted the first class; judged as a test says."""

    needs = frozenset({"predicted"})

    def __init__(self, mask: Any, judged: Any = 0) -> None:
        self.mask, self.judged = mask, judged

    def build(self, model: Any, ports: Any) -> None:
        model.add(ports.predicted[np.asarray(self.mask), 0].sum() >= 1)

    def violation(self, graph: Any, data: Any) -> Any:
        return self.judged


def test_arrays_among_the_parameters_are_short_in_texts_and_whole_in_files() -> None:
    rows, labels = np.arange(12.0).reshape(12, 1), [0, 1, 1, 0] * 3
    for mask in (pd.Series([True, False, False] * 4), np.array([True, False, False] * 4)):
        problem = tf.Problem(rows, labels, shape=tf.Tree(1)).add(NotBelow(mask))
        assert str(problem.requirements[0]) == "not_below:mask=(12 values),judged=0"
        found = tf.check(problem.solve().certificate(), rows, labels)
        assert found.verdict == "on trust"
    assert str(NotBelow(np.array([1, 2]))) == "not_below:mask=[1, 2],judged=0"
    rows, labels = rows[:4], labels[:4]
    unknown = tf.Problem(rows, labels, shape=tf.Tree(1)).add(NotBelow([True] * 4, judged=0j)).requirements[0]
    with pytest.raises(SpecError, match="cannot be written to a file") as error:
        unknown.to_json()
    assert "to_json" in str(error.value.fix)


@pytest.mark.parametrize("judged", ["much", None, float("nan"), float("inf"), -1])
def test_a_violation_that_is_no_amount_is_named(judged: Any) -> None:
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1)).add(NotBelow([True, True], judged))
    with pytest.raises(SpecError, match=re.escape(f"returns {judged!r}")) as error:
        problem.solve()
    assert "at least 0" in str(error.value.fix)
