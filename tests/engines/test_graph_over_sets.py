"""Graphs over sets of columns: their trees keep to the budget, none is missing; a count of its own finds as many."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from column_cases import RULES, bits, cases, graph_of
from graph_cases import counts_agree, priced

import treeform as tf
from treeform.certify.left_out import count_alternatives
from treeform.engines import and_or_graph
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.graph_columns import column_sets
from treeform.engines.graph_fixing import fixed
from treeform.solve.columns_on_demand import priced_part
from treeform.solve.verification import verify
from treeform.testing.brute import all_models

LIKE_INTERVALS = pytest.mark.parametrize("intervals", [False, True])


@pytest.fixture
def searched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds as intervals, where a test asks for it by its parameter ``intervals``."""
    if request.node.callspec.params["intervals"]:
        monkeypatch.setattr(and_or_graph, "FEW_TESTS", 0)
        monkeypatch.setattr(and_or_graph, "THRESHOLDS", 0)


@LIKE_INTERVALS
@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("name", RULES)
def test_the_graph_is_that_of_a_search_of_its_own(name: str, intervals: bool, nightly: bool) -> None:
    nodes, count = 0, partial(count_alternatives, over_sets=True)
    for case, _, part, trees, at in priced(cases(name, 60 if nightly else 4, 21), graph_of):
        task = part.task if trees.path_levels else replace(part.task, paths=())
        for reach in (0, 3):
            nodes = max(nodes, counts_agree(count, case, task, trees, at, reach))
    assert nodes > 1


@LIKE_INTERVALS
@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("name", RULES)
def test_its_trees_are_those_that_keep_to_the_budget(name: str, intervals: bool, nightly: bool) -> None:
    inside = outside = 0
    for case, question, part, trees, at in priced(cases(name, 20 if nightly else 2, 5), graph_of):
        graph = trees.up_to(at.lower + 4)
        assert graph is not None
        kept = fixed(trees, graph, at, at.lower + 4, lambda: False)
        reach = part.lower(at.lower + 5)
        for tree in all_models(case.data, case.shape):
            plain = tree.simplified(case.data)
            chosen = graph.choices(plain, case.data) is not None
            judged = verify(question, plain)
            if judged.ok and judged.value < reach:
                assert chosen, case.code(*question.requirements)
                assert kept.choices(plain, case.data) is not None, case.code(*question.requirements)
                inside += 1
            broken = [r for r in question.requirements if r.violation(plain, case.data)]
            if any(isinstance(r, tf.FeatureBudget | tf.FeatureCost | tf.Exclusive) for r in broken):
                assert not chosen, case.code(*question.requirements)
                outside += 1
            if outside > 400:
                break
    assert inside and outside


def test_bounds_of_many_sets_are_those_of_each() -> None:
    X, y, group = bits()
    problem = tf.Problem(X, y, shape=tf.Tree(3), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.02", positive=1), tf.FeatureBudget(2), tf.MinSupport(20)]
    trees = graph_of(problem.question)
    at = trees.relax()
    assert at is not None
    assert trees.n_sets == 36
    assert len(set(trees.least.tolist())) > 5
    for features, least in zip(trees.sets, trees.least.tolist(), strict=True):
        part = priced_part(problem.question)
        assert part is not None
        one = GraphOfTrees(problem.data, replace(part.task, features=(features,), max_features=None))
        own = one.price(at.multipliers, at.unit)
        assert own is not None
        assert own.lower == least


def test_a_budget_that_no_tree_can_exceed_is_none() -> None:
    X, y, _ = bits()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error()) + tf.FeatureBudget(3)
    part = priced_part(problem.question)
    assert part is not None
    assert column_sets(problem.data, part.task) is None
    assert GraphOfTrees(problem.data, part.task).keeps_columns
