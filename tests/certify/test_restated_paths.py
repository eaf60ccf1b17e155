"""Rules on paths in the check's own search: what it lists keeps to them, and no false bound is verified."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from path_cases import RULES, cases

import treeform as tf
from treeform.certify import Verdict
from treeform.certify.certificate import sign
from treeform.certify.provers import by_prices
from treeform.certify.restated import restated
from treeform.language.paths import PathRule, PathTests
from treeform.testing import brute_force
from treeform.utils.arrays import Bools
from treeform.utils.budget import Budget

N = 150


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six columns of 0 and 1, of which the class depends on three."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (N, 6))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(N) < 0.15)).astype(int)
    return X, y, np.where(rng.random(N) < 0.5, "p", "q")


def problem_under(*rules: tf.Requirement) -> tf.Problem:
    X, y, group = table()
    problem = tf.Problem(X, y, shape=tf.Tree(3), sensitive_features=group).minimize("error")
    for rule in (tf.StatisticalParity(difference="0.04", positive=1), *rules):
        problem += rule
    return problem


def given_root(column: int = 5) -> tf.Requirement:
    X, y, _ = table()
    return tf.Fix(tf.DecisionGraph.from_nested((column, 0.5, 0, 1), tf.Problem(X, y, shape=tf.Tree(1)).data))


STATED = {
    "root": given_root(),
    "once": tf.OncePerPath(),
    "paid": tf.FeatureCost({f"x{f}": f + 1 for f in range(6)}, at_most="5.5", per_path=True),
    "below": tf.Below("x0", above="x4"),
    "together": tf.Interaction([["x0", "x3"], ["x1", "x3", "x2"]]),
    "few": tf.MaxTestsPerPath(["x1", "x2"], 1),
}


def checked(certificate: Any, **more: Any) -> tf.CheckReport:
    X, y, group = table()
    return tf.check(certificate, X, y, sensitive_features=group, independent=True, **more)


@pytest.mark.parametrize("name", RULES)
def test_the_list_proves_the_optimum_under_the_rule_and_nothing_above_it(name: str, nightly: bool) -> None:
    exact = 0
    for case, question in cases(name, 100 if nightly else 6, 77, 2):
        best = brute_force(case.data, case.shape, case.goal, question.requirements)
        stated = restated(question)
        found = by_prices(stated, None if best is None else best[0], None, Budget())
        assert found is not None, case.code(*question.requirements)
        assert found.lower == (None if best is None else best[0]), case.code(*question.requirements)
        if best is not None:
            step = Fraction(1, question.scale)
            above = by_prices(stated, best[0] + step, None, Budget())
            assert above is not None and above.best == best[0], case.code(*question.requirements)
            exact += 1
    assert exact


@pytest.mark.parametrize("name", STATED)
def test_certificates_of_the_graph_are_verified_by_code_of_the_check(name: str) -> None:
    problem = problem_under(STATED[name])
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert result.status is tf.Status.OPTIMAL
    report = checked(result.certificate())
    assert report.verdict is Verdict.VERIFIED, str(report)


@pytest.mark.parametrize("name", STATED)
def test_a_bound_that_is_one_too_high_is_not_verified(name: str) -> None:
    problem = problem_under(STATED[name])
    body = dict(problem.solve("highs", formulation="hypergraph-flow", warm_start=None).certificate())
    raised = [
        one | {"value": str(int(one["value"]) + 1)} if one["kind"] == "lower" else one
        for one in body["claims"]
    ]
    without_model = [one for one in raised if one["kind"] != "upper"]
    assert any(one["kind"] == "lower" for one in raised)
    for claims in (raised, without_model):
        assert checked(sign(body | {"claims": claims})).verdict is not Verdict.VERIFIED


class _Narrower(PathRule):
    """A rule, and what it does not say: x0 is not tested."""

    def __init__(self, rule: PathRule) -> None:
        self.rule = rule

    @property
    def start(self) -> Hashable:
        return self.rule.start

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        return np.asarray(self.rule.allowed(state, tests) & (tests.feature != 0))

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        return self.rule.after(state, feature, right)

    def may_end(self, state: Hashable) -> bool:
        return self.rule.may_end(state)


@pytest.mark.parametrize("name", STATED)
def test_a_false_rule_of_the_search_is_not_verified(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = problem_under(STATED[name]).solve("highs", formulation="hypergraph-flow", warm_start=None)
    kind: Any = type(STATED[name])
    stated = kind.path_rule
    monkeypatch.setattr(kind, "path_rule", lambda self, data: _Narrower(stated(self, data)))
    false = problem_under(STATED[name]).solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert (false.status, false.objective) != (true.status, true.objective)
    assert checked(false.certificate()).verdict is not Verdict.VERIFIED


def test_columns_that_are_not_tested_are_read_by_no_listed_tree() -> None:
    problem = problem_under(tf.NoTestOn("x0"), tf.OncePerPath())
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    report = checked(result.certificate())
    assert result.status is tf.Status.OPTIMAL and report.verdict is Verdict.VERIFIED, str(report)
