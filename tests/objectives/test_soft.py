"""Soft requirements: what a model lacks, paid in the objective, against enumeration and by name."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.certificate import digest_of
from treeform.errors import SpecError
from treeform.language.objective import Objective
from treeform.language.requirement_text import held_or_paid, read
from treeform.solve import in_parts
from treeform.testing import brute_force, draw_cases
from treeform.utils.budget import Limit

OF_TOTALS = [
    tf.StatisticalParity("group", difference="0.1", positive=1),
    tf.StatisticalParity("group", ratio=0.8, positive=0),
    tf.EqualizedOdds("group", difference=0, positive=1),
    tf.ConditionalParity("group", given="age", ratio=0.5, positive=1),
    tf.AccuracyParity("group", difference="0.1"),
    tf.GroupErrorAtMost("group", at_most="0.1"),
    tf.MinPrecision(0.9, positive=1),
    tf.MinRecall(0.9, positive=1),
    tf.MaxFalsePositiveRate(0.1, positive=1),
    tf.MustClassifyRight([0, 3]),
    tf.MaxErrors(1),
]
OVER_PORTS = [tf.MaxNodes(1), tf.MinSupport(3), tf.Stability(0.9), tf.FeatureBudget(0)]


def problem_of(case, requirement, price):
    problem = tf.Problem(case.data, None, shape=case.shape)
    problem.minimize(tf.Error() + tf.Nodes() / 10)
    problem += requirement.soft(price)
    return problem


def optimum(problem):
    q = problem.question
    best = brute_force(problem.data, q.shape, q.objective, q.requirements)
    assert best is not None
    return best[0]


@pytest.mark.drawn(5)
@pytest.mark.parametrize("requirement", OF_TOTALS, ids=str)
def test_totals_are_paid_natively(requirement, nightly):
    shapes = (tf.Tree(1), tf.Tree(2)) if nightly else (tf.Tree(1),)
    for number, case in enumerate(draw_cases(3, seed=5, shapes=shapes)):
        problem = problem_of(case, requirement, ["1/2", 3, 20][number])
        result = problem.solve()
        assert (str(result.status), result.objective) == ("optimal", optimum(problem)), case.code(requirement)
        assert result.solver in ("totals-search", "contree", "dl85", "none")


@pytest.mark.drawn(5)
@pytest.mark.parametrize("requirement", [*OVER_PORTS, OF_TOTALS[0]], ids=str)
@pytest.mark.parametrize(("solver", "formulation"), [("cp-sat", "odd"), ("sat", "sat-depth")])
def test_solvers_pay_too(requirement, solver, formulation, nightly):
    deep = (tf.Tree(2), tf.Diagram(1, 2)) if formulation == "odd" else (tf.Tree(2),)
    for case in draw_cases(2, seed=6, shapes=deep if nightly else (tf.Tree(1), tf.Diagram(1))[: len(deep)]):
        problem = problem_of(case, requirement, "3/2")
        result = problem.solve(solver, formulation=formulation)
        assert (str(result.status), result.objective) == ("optimal", optimum(problem)), case.code(requirement)


COUNTS = [
    tf.MaxNodes(0),
    tf.MaxNodes(1),
    tf.MaxLeaves(2),
    tf.MaxDepth(1),
    tf.FeatureBudget(0),
    tf.MaxNodes(9),
]


@pytest.mark.drawn(4)
@pytest.mark.parametrize("requirement", COUNTS, ids=str)
@pytest.mark.parametrize("price", ["1/7", 1, 4])
def test_counts_are_paid_natively(requirement, price):
    of_trees = isinstance(requirement, tf.MaxLeaves | tf.FeatureBudget)
    shapes = (tf.Tree(2),) if of_trees else (tf.Tree(2), tf.Diagram(1, 2))
    for case in draw_cases(2, seed=8, shapes=shapes):
        problem = problem_of(case, requirement, price)
        problem += tf.MinSupport(2)
        result = problem.solve()
        assert (str(result.status), result.objective) == ("optimal", optimum(problem)), case.code(requirement)
        assert result.solver in ("contree", "dl85", "totals-search", "diagram-search", "none")


def test_two_counts_at_once_and_certificates():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (16, 2)), rng.integers(0, 2, 16)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += [tf.MaxNodes(1).soft("5/4"), tf.FeatureBudget(1).soft("1/2"), tf.MaxDepth(1).soft("1/4")]
    result = problem.solve()
    assert result.objective == optimum(problem)
    report = tf.check(result.certificate(), X, y)
    assert str(report.verdict) == "verified", str(report)
    claimed = problem.solve("cp-sat", formulation="odd", warm_start=None)
    assert (claimed.objective, claimed.solver) == (result.objective, "cp-sat")


def test_the_steps_of_a_soft_count_are_searched_only_where_there_is_room():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (200, 8)), rng.integers(0, 2, 200)
    problem = tf.Problem(X, y, shape=tf.Tree(4)).minimize(tf.Error() + tf.MaxNodes(2).soft(30))
    result = problem.solve()
    parts = next(c for c in reversed(result.claims) if c.kind == "lower").recheck["parts"]
    assert len(parts) == 14
    assert sum(part is not None for part in parts) <= 4
    hard = tf.Problem(X, y, shape=tf.Tree(4))
    hard += tf.MaxNodes(2)
    assert result.objective == hard.solve().objective  # no test saves 30 errors


def test_a_step_that_stays_open_has_the_bound_of_looser_ones(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (60, 5)), rng.integers(0, 2, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error() + tf.MaxNodes(1).soft("1/10"))
    without = tf.Problem(X, y, shape=tf.Tree(2)).solve().objective
    searched = in_parts.CaseByCase.searched

    def open_but_for_the_loosest(self, inner, known=()):
        return searched(self, inner) if inner.title.startswith("part 1 ") else Limit.TIME

    monkeypatch.setattr(in_parts.CaseByCase, "searched", open_but_for_the_loosest)
    monkeypatch.setattr(tf.MaxNodes, "size", None)  # no price proves it at once
    result = problem.solve()
    assert without > 0
    assert result.bound == without
    assert result.bound < result.objective


@pytest.mark.parametrize("price", ["1/3", 2, 5])
@pytest.mark.parametrize("k", [0, 2, 5])
@pytest.mark.drawn(4)
def test_a_price_on_tests_finds_what_the_steps_find(k, price, monkeypatch):
    rng = np.random.default_rng(k)
    X = rng.integers(0, 2, (80, 6))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(80) < 0.2)).astype(int)
    for count in (tf.MaxNodes(k), tf.MaxLeaves(k + 1)):
        problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Error() + tf.Nodes() / 7 + count.soft(price))
        result = problem.solve()
        monkeypatch.setattr(type(count), "size", None)
        assert (result.objective, str(result.status)) == (problem.solve().objective, "optimal")
        monkeypatch.undo()
        assert result.objective == problem.objective.evaluate(result.graph, problem.data)
        assert str(tf.check(result.certificate(), X, y).verdict) == "verified"


def test_a_claim_that_names_a_price_is_proved_at_that_price():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (90, 6)), rng.integers(0, 2, 90)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Error() + tf.MaxNodes(2).soft(1))
    result = problem.solve()
    claim = next(c for c in reversed(result.claims) if c.kind == "lower")
    assert claim.recheck["price"] == "1" and len(claim.recheck["parts"]) == 1
    honest = result.certificate()
    assert str(tf.check(honest, X, y).verdict) == "verified"
    for wrong in ("1/2", "3", "nothing"):  # proves less, above the weight, no number
        text = json.dumps(honest).replace('"price": "1"', f'"price": "{wrong}"')
        assert text != json.dumps(honest)
        forged = json.loads(text)
        forged["digest"] = digest_of(forged)
        assert str(tf.check(forged, X, y).verdict) != "verified"


def test_what_is_lacking_is_the_violation():
    """Of all but the precision, whose rate is no sum."""
    rng = np.random.default_rng(0)
    for case in draw_cases(4, seed=7):
        for requirement in (*OF_TOTALS, *OVER_PORTS):
            bound = requirement.bind(case.data)
            tests = [(int(rng.integers(case.data.n_features)), 0.5, 0, 1), 0, 1]
            for nested in tests:
                graph = tf.DecisionGraph.from_nested(nested, case.data)
                amount = bound.lacking(graph, case.data)
                assert (amount == 0) == (bound.violation(graph, case.data) == 0)
                if not isinstance(requirement, tf.MinPrecision | tf.MustClassifyRight):
                    assert amount == bound.violation(graph, case.data), str(requirement)


def test_notes_say_what_the_model_lacks():
    table = pd.DataFrame({"a": [0, 0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 0, 1]})
    problem = tf.Problem(table, [0, 0, 1, 1, 1, 0], shape=tf.Tree(1))
    problem += tf.MustClassifyRight([0, 2]).soft("1/10")  # every test of the table has one of them wrong
    problem += tf.MaxNodes(3).soft(1)
    notes = problem.solve().notes
    assert "paid for: must_classify_right:rows=0 2: the model lacks 1, in the unit of its price" in notes
    assert "paid for: max_nodes:3: the model lacks nothing" in notes


def test_several_prices_and_groups_given_as_an_array():
    rng = np.random.default_rng(1)
    X, y, group = rng.integers(0, 2, (12, 2)), np.arange(12) % 2, rng.integers(0, 2, 12)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group)
    problem += [tf.StatisticalParity(difference=0).soft(4), tf.MaxErrors(2).soft("1/3"), tf.MaxNodes(2)]
    result = problem.solve()
    assert result.objective == optimum(problem)
    checked = tf.check(result.certificate(), X, y, sensitive_features=group)
    assert str(checked.verdict) == "verified"
    assert "@groups" in result.certificate()["problem"]["objective"]


def test_prices_by_name():
    text = "error + 5*soft[statistical_parity:groups=sex,difference=0.05]"
    assert str(Objective.parse(text)) == text
    assert read("max_nodes:3,soft=1/2") == tf.MaxNodes(3).soft("0.5")
    assert held_or_paid("max_nodes", {"at_most": 3, "soft": 0.5}) == tf.MaxNodes(3).soft("0.5")
    assert read("max_nodes:3") == tf.MaxNodes(3)
    assert Objective.parse("soft[max_nodes:3]").terms[0] == (Fraction(1), tf.Soft(tf.MaxNodes(3)))


@pytest.mark.parametrize("solver", [None, "cp-sat", "highs"])
def test_nothing_is_paid_where_nothing_is_compared(solver):
    """Within each value of ``s`` there is one group only: the requirement holds, and is free."""
    table = pd.DataFrame({"a": [0, 1, 2, 3, 0, 1], "g": list("ppqqpq"), "s": list("xxyyxy")})
    y = [0, 1, 0, 1, 1, 1]
    problem = tf.Problem(table, y, shape=tf.Tree(1), exclude=["g", "s"])
    rule = tf.ConditionalParity("g", given="s", difference="0.1", positive=1)
    held, paid = problem + rule, problem.minimize(tf.Error() + rule.soft(3))
    result = paid.solve(solver)
    assert result.status is tf.Status.OPTIMAL and result.objective == held.solve().objective == 2
    assert any("is 0 for every model: there is nothing to compare" in note for note in result.notes)
    assert tf.check(result.certificate(), table, y, independent=True).ok


def test_what_cannot_be_soft_says_why():
    case = next(iter(draw_cases(1)))
    problem = tf.Problem(case.data, None, shape=case.shape)
    with pytest.raises(SpecError, match="cannot be soft"):
        problem += tf.Monotone("age", positive=1).soft(1)
    with pytest.raises(SpecError, match=r"negative|-1"):
        problem += tf.MaxNodes(1).soft(-1)
    with pytest.raises(SpecError, match=r"soft\[\]"):
        Objective.parse("soft")
