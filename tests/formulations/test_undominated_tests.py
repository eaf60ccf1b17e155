"""Graphs without tests that others dominate still have a cheapest admissible tree: against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import treeform as tf
from benchmarks.graph.requirements import FewPositiveLeaves, FewTests
from tests.support.graph_cases import of_both_classes, optimum_agrees, under_rules
from treeform.certify.left_out import Counted, Reach, count_alternatives, count_left_out
from treeform.engines.and_or_graph import Apart, GraphOfTrees, Priced
from treeform.engines.written_graphs import WrittenGraphs
from treeform.errors import CertificateError
from treeform.language.alternatives import AndOrGraph
from treeform.language.question import Question
from treeform.solve import Status
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.testing.cases import GROUP, Case
from treeform.utils.budget import Budget

TREES = (tf.Tree(2), tf.Tree(1), tf.Tree(3))
RULES: tuple[tuple[tf.Requirement, ...], ...] = (
    (FewPositiveLeaves(1),),
    (tf.MinSupport(2), FewTests(2)),
    (tf.EqualOpportunity(groups=GROUP, ratio="0.7", positive=1),),
    (FewPositiveLeaves(2), tf.MinSupport(3)),
    (tf.StatisticalParity(groups=GROUP, difference="0.1", positive=1),),
)


def rules_of(case: Case) -> list[tf.Requirement]:
    return list(RULES[case.data.n_samples % len(RULES)])


def cheapest(graph: AndOrGraph) -> dict[tuple[int, ...], int]:
    """By what a tree adds to the rows: the least cost of one."""
    of: list[dict[tuple[int, ...], int]] = [{} for _ in range(graph.n_nodes)]
    for node in reversed(range(graph.n_nodes)):
        for a in range(graph.begin[node], graph.begin[node + 1]):
            sides = [of[graph.left[a]], of[graph.right[a]]] if graph.feature[a] >= 0 else []
            for chosen in product(*(side.items() for side in sides)):
                cost = int(graph.sums[a, 0]) + sum(cost for _, cost in chosen)
                rows = tuple(
                    map(sum, zip(graph.sums[a, 1:].tolist(), *(rows for rows, _ in chosen), strict=True))
                )
                of[node][rows] = min(cost, of[node].get(rows, cost))
    return of[0] if of else {}


def only_without_dominated(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """From here on graphs are written out in that way where it is possible; whether each was."""
    written: list[bool] = []
    asked = WrittenGraphs._asked

    def left_out(
        self: WrittenGraphs, cost: int, most: int, short_by: int, undominated: bool
    ) -> AndOrGraph | None:
        if self.leaves_out and not undominated:
            return None
        written.append(undominated)
        return asked(self, cost, most, short_by, undominated)

    monkeypatch.setattr(WrittenGraphs, "_asked", left_out)
    return written


def drawn_graphs(
    seed: int, count: int, apart: Apart = "partition"
) -> Iterator[tuple[Case, Question, GraphOfTrees, Priced]]:
    """Drawn problems with the graphs of their trees and a bound, where dominated tests can be told."""
    for case, question in under_rules(of_both_classes(seed, TREES), count, rules_of):
        part = priced_part(question)
        assert part is not None
        trees = GraphOfTrees(question.data, part.task, apart)
        at = trees.relax()
        if at is not None and not at.infeasible and trees.can_omit_dominated:
            yield case, question, trees, at


def test_admissible_totals_have_their_least_cost(nightly: bool) -> None:
    fewer = 0
    for case, question, trees, at in drawn_graphs(11, 300 if nightly else 15):
        most = at.lower + 3
        whole, some = trees.up_to(most), trees.up_to(most, fewer=True)
        assert whole is not None
        assert some is not None
        assert some.undominated and not whole.undominated
        table = trees.table
        expected, found = (
            {
                rows: cost
                for rows, cost in cheapest(graph).items()
                if cost <= most and (rows >= table.lo).all() and (rows <= table.hi).all()
            }
            for graph in (whole, some)
        )
        assert found == expected, case.code(*question.requirements)
        fewer += some.n_alternatives < whole.n_alternatives
    assert fewer


@pytest.mark.parametrize("apart", ["partition", "feature"])
def test_a_count_of_its_own_leaves_out_the_same(apart: Apart, nightly: bool) -> None:
    fewer = 0
    for case, question, trees, at in drawn_graphs(13, 400 if nightly else 15, apart):
        part = priced_part(question)
        assert part is not None
        reach = Reach(at.lower + 3, at.multipliers, at.unit, apart == "feature", undominated=True)
        some = trees.up_to(reach.cost, fewer=True)
        assert some is not None
        assert (some.n_nodes, some.n_alternatives) == count_alternatives(
            question.data, part.task, reach, Budget()
        ), case.code(*question.requirements)
        whole = count_alternatives(question.data, part.task, replace(reach, undominated=False), Budget())
        fewer += some.n_alternatives < whole[1]
    assert fewer


def solved(monkeypatch: pytest.MonkeyPatch, *more: tf.Requirement) -> tuple[tf.Problem, list[dict[str, Any]]]:
    """A problem, and the claims on a graph without dominated tests that a solve makes."""
    rng = np.random.default_rng(14)
    X, group = rng.integers(0, 2, (200, 4)), rng.integers(0, 2, 200)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(200) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.05", positive=1), FewTests(1)]
    only_without_dominated(monkeypatch)
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    report = tf.check(result.certificate(), X, y.astype(int), sensitive_features=group)
    assert report.ok, str(report)
    claims = [c for c in result.certificate()["claims"] if "graph" in c["metadata"]["details"]]
    assert claims
    assert all(claim["metadata"]["details"]["graph"]["undominated"] for claim in claims)
    return problem.add(more), claims


def shown_of(problem: tf.Problem, claim: dict[str, Any], **edited: Any) -> Counted:
    details = claim["metadata"]["details"]
    named = details | {"graph": details["graph"] | edited}
    shown = count_left_out(problem.question, Fraction(claim["value"]), named, Budget())
    assert shown is not None
    return shown


def test_what_was_left_out_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, claims = solved(monkeypatch)
    for claim in claims:
        shown = shown_of(problem, claim)
        assert shown.proved, shown.text
        number = claim["metadata"]["details"]["graph"]["alternatives"]
        with pytest.raises(CertificateError, match="the claim names others"):
            shown_of(problem, claim, alternatives=number - 1)
        with pytest.raises(CertificateError):
            shown_of(problem, claim | {"value": str(Fraction(claim["value"]) + 1)})


def test_a_dominated_test_may_be_needed_by_other_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, claims = solved(monkeypatch, tf.Monotone("x0"))
    for claim in claims:
        with pytest.raises(CertificateError, match="may be needed"):
            shown_of(problem, claim)


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
def test_optima_are_those_of_brute_force(solver: str, monkeypatch: pytest.MonkeyPatch, nightly: bool) -> None:
    written = only_without_dominated(monkeypatch)
    statuses = [
        optimum_agrees(case, question, solver)
        for case, question in under_rules(of_both_classes(12, TREES[:2]), 30 if nightly else 6, rules_of)
    ]
    assert Status.OPTIMAL in statuses
    assert any(written)


def test_graphs_of_smaller_costs_are_those_that_a_check_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    only_without_dominated(monkeypatch)
    fewer = 0
    for _, _, trees, at in drawn_graphs(11, 15):
        graphs = trees.written(True, Budget(), lambda: False)
        for cost in (at.lower + 4, at.lower + 1):
            found, counted = graphs.up_to(cost, 10**6), trees.up_to(cost, fewer=True)
            assert found is not None and counted is not None
            assert (found.n_nodes, found.n_alternatives) == (counted.n_nodes, counted.n_alternatives)
            fewer += found.undominated
    assert fewer


def test_a_whole_graph_in_hand_is_searched_before_a_larger_one_is_written_with_omissions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []
    asked, made, settled = WrittenGraphs._asked, GraphSearch._made, GraphSearch._settled

    def ask(self: WrittenGraphs, cost: int, most: int, short_by: int, fewer: bool) -> AndOrGraph | None:
        events.extend(["omits"] if fewer else [])
        graph = asked(self, cost, most, short_by, fewer)
        return graph if fewer or graph is None or graph.n_alternatives <= 12 else None

    def make(self: GraphSearch, *given: Any, **named: Any) -> Any:
        step = made(self, *given, **named)
        events.extend(["whole"] if step is not None and step.size and step.graph.is_whole else [])
        return step

    def settle(self: GraphSearch, *given: Any) -> Any:
        events.append("searched")
        return settled(self, *given)

    monkeypatch.setattr(WrittenGraphs, "_asked", ask)
    monkeypatch.setattr(GraphSearch, "_made", make)
    monkeypatch.setattr(GraphSearch, "_settled", settle)
    for case, question in under_rules(of_both_classes(11, TREES), 11, rules_of):
        optimum_agrees(case, question, "highs")
        events.append("searched")
    steps = set(pairwise(events))
    assert ("whole", "omits") not in steps
    assert steps >= {("whole", "searched"), ("searched", "omits")}
