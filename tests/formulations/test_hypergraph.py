"""The AND/OR graph of trees and the flow on it, against brute force; its prices, its bounds, and its certificates."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from typing import Any, ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.certify.left_out import Reach, count_alternatives, count_left_out
from treeform.engines import TreeTask
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.graph_fixing import fixed
from treeform.errors import CertificateError, SpecError
from treeform.formulations import HypergraphFlow
from treeform.language.alternatives import AndOrGraph
from treeform.language.question import Question
from treeform.solve import SolveOptions, Status, solve
from treeform.solve.columns_on_demand import priced_part
from treeform.solve.verification import verify
from treeform.testing import brute_force
from treeform.testing.brute import all_models
from treeform.testing.cases import GROUP, Case, draw_cases
from treeform.utils.budget import Budget

TREES = (tf.Tree(2), tf.Tree(1), tf.Tree(2))
REQUIREMENTS: tuple[tf.Requirement, ...] = (
    tf.StatisticalParity(groups=GROUP, difference="0.2", positive=0),
    tf.MinSupport(2),
    tf.Stability(3),
    tf.EqualOpportunity(groups=GROUP, ratio="0.7", positive=1),
    tf.MaxNodes(2),
)


def question_of(case: Case, *requirements: tf.Requirement) -> Question:
    bound = tuple(r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in requirements)
    return Question(case.data, case.shape, case.goal, bound)


def graph_of(question: Question, cost: int | None, by_feature: bool) -> tuple[GraphOfTrees, Any, AndOrGraph]:
    part = priced_part(question)
    assert part is not None
    trees = GraphOfTrees(question.data, part.task, "feature" if by_feature else "partition")
    priced = trees.relax()
    assert priced is not None
    graph = trees.up_to(cost if cost is None else priced.lower + cost)
    assert graph is not None
    return trees, priced, graph


@pytest.mark.parametrize("seed", range(4))
def test_the_graph_is_that_of_a_search_of_its_own(seed: int, nightly: bool) -> None:
    for number, case in enumerate(draw_cases(400 if nightly else 12, seed, TREES)):
        question = question_of(case, REQUIREMENTS[number % len(REQUIREMENTS)])
        part = priced_part(question)
        assert part is not None
        for reach, by_feature in ((1, True), (3, False)):
            _, priced, graph = graph_of(question, reach, by_feature)
            if priced.infeasible:
                continue
            asked = Reach(priced.lower + reach, priced.multipliers, priced.unit, by_feature)
            counted = count_alternatives(case.data, part.task, asked, Budget())
            assert (graph.n_nodes, graph.n_alternatives) == counted, case.code(*question.requirements)


@pytest.mark.parametrize("seed", range(3))
def test_every_cheap_admissible_tree_is_in_the_graph(seed: int, nightly: bool) -> None:
    for number, case in enumerate(draw_cases(200 if nightly else 6, seed, TREES)):
        requirement = REQUIREMENTS[number % len(REQUIREMENTS)]
        question = question_of(case, requirement)
        part = priced_part(question)
        assert part is not None
        trees, priced, graph = graph_of(question, 2, True)
        kept = fixed(trees, graph, priced, graph.up_to or 0, lambda: False)
        reach = part.lower(priced.lower + 3)
        for tree in islice(all_models(case.data, case.shape), 5000 if nightly else 150):
            plain = tree.simplified(case.data)
            judged = verify(question, plain)
            if judged.ok and judged.value < reach:
                assert not priced.infeasible
                assert graph.choices(plain, case.data) is not None, case.code(requirement)
                assert kept.choices(plain, case.data) is not None, case.code(requirement)


def written(graph: AndOrGraph) -> set[tuple[Any, ...]]:
    """The alternatives, with the points of nodes in place of their numbers, which depend on the order of a search."""
    points = [bits.tobytes() for bits in graph.covers.bits]
    ends = zip(graph.left.tolist(), graph.right.tolist(), strict=True)
    sides = [tuple(points[node] for node in pair if node >= 0) for pair in ends]
    own = zip(
        graph.test.tolist(), graph.label.tolist(), graph.least.tolist(), graph.sums.tolist(), strict=True
    )
    return {
        (int(graph.depth[node]), points[node], side, *numbers[:3], *numbers[3])
        for node, side, numbers in zip(graph.node.tolist(), sides, own, strict=True)
    }


@pytest.mark.parametrize("intervals", [False, True])
def test_the_graph_of_a_cost_is_a_part_of_that_of_a_larger_one(
    intervals: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treeform.engines.and_or_graph.takes_intervals", lambda data, task: intervals)
    shapes = (tf.Tree(1), tf.Tree(2), tf.Tree(3))
    for number, case in enumerate(draw_cases(24, 3, shapes)):
        question = question_of(case, REQUIREMENTS[number % len(REQUIREMENTS)])
        trees, priced, widest = graph_of(question, 4, number % 2 == 0)
        for reach in range(4):
            asked, part = trees.up_to(priced.lower + reach), widest.within(priced.lower + reach)
            assert asked is not None
            assert asked.up_to == part.up_to
            assert written(asked) == written(part), (case.code(), reach)


def test_other_multipliers_leave_more_out_and_no_admissible_tree() -> None:
    excluded = 0
    for case in draw_cases(6, 3, (tf.Tree(2),)):
        question = question_of(case, REQUIREMENTS[0])
        trees, priced, graph = graph_of(question, 4, True)
        kept = fixed(trees, graph, priced, graph.up_to or 0, lambda: False)
        excluded += graph.n_alternatives - kept.n_alternatives
        assert kept.up_to == graph.up_to
        # Every node is reached, and each of its alternatives leads to nodes.
        led_to = np.union1d(kept.left[kept.tests], kept.right[kept.tests])
        assert np.union1d(led_to, [0] * min(1, kept.n_nodes)).tolist() == list(range(kept.n_nodes))
        for tree in islice(all_models(case.data, case.shape), 150):
            plain = tree.simplified(case.data)
            chosen = graph.choices(plain, case.data)
            if chosen is None or kept.choices(plain, case.data) is not None:
                continue
            judged = verify(question, plain)
            part = priced_part(question)
            assert part is not None and graph.up_to is not None
            assert not judged.ok or judged.value >= part.lower(graph.up_to + 1), case.code(REQUIREMENTS[0])
    assert excluded > 0


def test_of_trees_of_one_test_exactly_what_admissible_ones_use_is_left() -> None:
    excluded = left = 0
    for number, case in enumerate(draw_cases(40, 4, (tf.Tree(1),))):
        question = question_of(case, REQUIREMENTS[number % 2 * 3])  # in shares, and as a ratio
        trees, priced, graph = graph_of(question, 4, True)
        kept = fixed(trees, graph, priced, graph.up_to or 0, lambda: False)
        lo, hi = trees.table.lo.tolist(), trees.table.hi.tolist()
        leaves = [[int(a) for a in graph.leaves if graph.node[a] == node] for node in range(graph.n_nodes)]
        listed = [(leaf,) for leaf in leaves[0]] if leaves else []
        for test in graph.tests.tolist():
            listed += [(test, *ends) for ends in product(leaves[graph.left[test]], leaves[graph.right[test]])]
        used: set[int] = set()
        for tree in listed:
            cost, *rows = (sum(int(graph.sums[a, column]) for a in tree) for column in range(1 + len(lo)))
            if cost <= (graph.up_to or 0) and all(a <= row <= b for a, row, b in zip(lo, rows, hi, strict=True)):
                used |= set(tree)
        assert written(kept) == written(graph.part(np.isin(np.arange(graph.n_alternatives), sorted(used))))
        excluded, left = excluded + graph.n_alternatives - kept.n_alternatives, left + kept.n_alternatives
    assert excluded > 0 and left > 0


def test_least_is_the_cost_of_the_cheapest_tree_through_an_alternative() -> None:
    for case in draw_cases(4, 5, (tf.Tree(1),)):
        question = question_of(case)
        part = priced_part(question)
        assert part is not None
        _, priced, graph = graph_of(question, None, True)
        least = np.full(graph.n_alternatives, 2**60)
        for tree in all_models(case.data, case.shape):
            chosen = graph.choices(tree, case.data)
            if chosen is not None:
                cost = part.upper(int(verify(question, tree).value))
                least[chosen] = np.minimum(least[chosen], cost)
        assert graph.least.tolist() == least.tolist()
        assert priced.lower == least.min()
        smaller = graph.within(priced.lower + 1)
        assert smaller.least.tolist() == graph.least[graph.least <= priced.lower + 1].tolist()


@pytest.mark.parametrize("solver", ["highs", "cp-sat", "cadical195", "mathopt:scip"])
@pytest.mark.parametrize("index", range(len(REQUIREMENTS)))
@pytest.mark.drawn
def test_optima_are_those_of_brute_force(index: int, solver: str, nightly: bool) -> None:
    requirement = REQUIREMENTS[index]
    for case in draw_cases(100 if nightly else 2, 11 + index, TREES):
        question = question_of(case, requirement)
        expected = brute_force(case.data, case.shape, case.goal, question.requirements)
        result = solve(question, SolveOptions(solver, "hypergraph-flow", None, 60.0))
        if expected is None:
            assert result.status is Status.INFEASIBLE
        else:
            assert (result.status, result.objective) == (Status.OPTIMAL, expected[0]), case.code(requirement)


class SomeTest(tf.Requirement):
    """At least k test nodes are in use: tests that decide nothing may be needed."""

    needs: ClassVar[frozenset[str]] = frozenset({"active"})

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def build(self, model: tf.Model, ports: Any) -> None:
        model.add(ports.active.sum() >= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, self.k - sum(1 for _ in graph.tests()))


class FewTests(SomeTest):
    """At most k test nodes are in use; stated as a requirement that no engine knows."""

    demands_tests: ClassVar[bool] = False

    def build(self, model: tf.Model, ports: Any) -> None:
        model.add(ports.active.sum() <= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, sum(1 for _ in graph.tests()) - self.k)


def bits(n: int = 60, columns: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, columns))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(n) < 0.2)).astype(int)
    return X, y, np.where(rng.random(n) < 0.5, "p", "q")


def test_a_requirement_of_ones_own_and_one_that_asks_for_tests() -> None:
    X, y, _ = bits()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error())
    free = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    held = (problem + SomeTest(3)).solve("highs", formulation="hypergraph-flow", warm_start=None)
    other = (problem + SomeTest(3)).solve("highs", formulation="odd", warm_start=None)
    assert free.status is held.status is other.status is Status.OPTIMAL
    assert free.objective <= held.objective == other.objective
    assert sum(1 for _ in held.graph.tests()) == 3


def test_a_certificate_counts_the_graph_again() -> None:
    X, y, group = bits(200, 14)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.05", positive=1), FewTests(1)]
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    claims = result.certificate()["claims"]
    claim = next(c for c in claims if "graph" in c["metadata"]["details"])
    details, value = claim["metadata"]["details"], Fraction(claim["value"])
    shown = count_left_out(problem.question, value, details, Budget())
    assert shown is not None
    assert f"{details['graph']['alternatives']} alternatives, counted again" in shown.text
    with pytest.raises(CertificateError, match="states models below"):
        count_left_out(problem.question, value + 100, details, Budget())
    details["graph"]["alternatives"] -= 1
    with pytest.raises(CertificateError, match="the claim names others"):
        count_left_out(problem.question, value, details, Budget())


def test_under_rows_over_totals_the_certificate_is_verified() -> None:
    X, y, group = bits()
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += tf.StatisticalParity(difference="0.05", positive=1)
    result = problem.solve("cp-sat", formulation="hypergraph-flow", warm_start=None)
    report = tf.check(result.certificate(), X, y, sensitive_features=group, independent=True)
    assert report.ok, str(report)


def test_explain_shows_the_graph_and_what_is_stated() -> None:
    X, y, group = bits()
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += tf.StatisticalParity(difference="0.05", positive=1)
    text = str(problem.explain("highs", formulation="hypergraph-flow"))
    assert "hypergraph-flow on highs" in text
    assert "priced with 1 multiplier" in text
    assert "stated first" in text


def test_it_stops_when_asked_to_and_where_it_would_not_fit() -> None:
    X, y, _ = bits(400, 12)
    data = tf.Dataset.from_user(X, y)
    trees = GraphOfTrees(data, TreeTask(3))
    assert trees.relax() is not None
    assert trees.up_to(None, most=50) is None
    some = trees.up_to(None)
    assert some is not None
    assert some.up_to is None
    assert some.n_nodes > 50
    X, y, _ = bits(2000, 30)
    deep = GraphOfTrees(tf.Dataset.from_user(X, y), TreeTask(6))
    assert deep.relax(stop=lambda: True) is None


def test_what_it_refuses() -> None:
    X, y = np.random.default_rng(0).integers(0, 2, (50, 10_100)), np.arange(50) % 2
    with pytest.raises(SpecError, match="10,100 distinct tests"):
        tf.Problem(X, y, shape=tf.Tree(4)).minimize(tf.Error()).solve("highs", formulation="hypergraph-flow")
    X, y, _ = bits()
    with pytest.raises(SpecError, match="it states trees"):
        tf.Problem(X, y, shape=tf.Diagram(1, 2)).minimize(tf.Error()).solve(
            "highs", formulation=HypergraphFlow()
        )
