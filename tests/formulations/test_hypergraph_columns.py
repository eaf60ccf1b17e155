"""Budgets of columns in the AND/OR graph: its trees keep to them, none is missing, and a check counts it again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import pytest
from column_cases import RULES, bits, cases
from ended_early import ended_after
from graph_cases import optimum_agrees

import treeform as tf
from treeform.certify.left_out import count_left_out
from treeform.engines import graph_columns
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.errors import CertificateError
from treeform.solve import Limit, Status
from treeform.solve.columns_on_demand import priced_part
from treeform.utils.budget import Budget


class NoLoneLeaf(tf.Requirement):
    """Each leaf predicts class 0, or at most one does not: no engine knows it."""

    demands_tests: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"label"})

    def build(self, model: tf.Model, ports: Any) -> None:
        model.add(ports.label[:, 1].sum() <= 1, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, int((graph.label[graph.feature < 0] == 1).sum()) - 1)


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.drawn
def test_optima_are_those_of_brute_force(name: str, solver: str, nightly: bool) -> None:
    for case, question in cases(name, 40 if nightly else 2, 31):
        optimum_agrees(case, question, solver)


@pytest.mark.parametrize("name", ["budget", "exclusive"])
def test_where_sets_are_too_many_rows_state_the_budget(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_columns, "MOST_SETS", 1)
    for case, question in cases(name, 2, 8):
        part = priced_part(question)
        assert part is not None
        trees = graph_columns.graph_of(question.data, part.task)
        assert isinstance(trees, GraphOfTrees)
        assert not trees.keeps_columns
        assert optimum_agrees(case, question, "highs") is Status.OPTIMAL


def test_a_certificate_counts_the_graph_of_all_sets_again() -> None:
    X, y, group = bits(200, 7)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.05", positive=1), tf.FeatureBudget(2), NoLoneLeaf()]
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert result.status is Status.OPTIMAL
    text = str(problem.explain("highs", formulation="hypergraph-flow"))
    assert "feature_budget:2: every tree of the graph satisfies it" in text
    claims = result.certificate()["claims"]
    claim = next(c for c in claims if "graph" in c["metadata"]["details"])
    details, value = claim["metadata"]["details"], Fraction(claim["value"])
    assert details["graph"]["column_sets"] == 21
    shown = count_left_out(problem.question, value, details, Budget())
    assert shown is not None
    assert "counted again" in shown.text
    for name in ("alternatives", "nodes", "column_sets"):
        details["graph"][name] -= 1
        with pytest.raises(CertificateError, match="the claim names others"):
            count_left_out(problem.question, value, details, Budget())
        details["graph"][name] += 1


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
def test_a_certificate_under_a_budget_is_verified(solver: str) -> None:
    X, y, group = bits(200, 7)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.05", positive=1), tf.FeatureBudget(2)]
    result = problem.solve(solver, formulation="hypergraph-flow", warm_start=None)
    assert result.status is Status.OPTIMAL
    report = tf.check(result.certificate(), X, y, sensitive_features=group, independent=True)
    assert report.ok, str(report)


def test_what_is_excluded_from_the_tests_is_not_counted() -> None:
    X, y, _ = bits(120, 6)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error())
    problem += [tf.NoTestOn("x0"), NoLoneLeaf()]
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    claims = result.certificate()["claims"]
    claim = next(c for c in claims if "graph" in c["metadata"]["details"])
    details, value = claim["metadata"]["details"], Fraction(claim["value"])
    assert count_left_out(problem.question, value, details, Budget()) is not None


def test_a_first_step_that_takes_too_long_is_not_explained() -> None:
    X, y, _ = bits(200, 7)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error())
    with ended_after(1, Limit.TIME):
        short = problem.explain("highs", formulation="hypergraph-flow")
    assert "not known after 10 seconds" in str(short) and not short.rows and short.stages
    assert problem.explain("highs", formulation="hypergraph-flow").rows
