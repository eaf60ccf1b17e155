"""Rules on paths in the AND/OR graph: its trees keep to them, none that does is missing; a check counts it again."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from graph_cases import counts_agree, optimum_agrees, priced
from path_cases import RULES, cases

import treeform as tf
from treeform.certify import left_out
from treeform.certify.left_out import Reach, count_alternatives
from treeform.engines import graph_paths
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.graph_paths import PathStates
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.solve import Status
from treeform.solve.columns_on_demand import priced_part
from treeform.testing.brute import all_models
from treeform.utils.budget import Budget


def graph_of(question: Question) -> GraphOfTrees:
    part = priced_part(question)
    assert part is not None
    return GraphOfTrees(question.data, part.task, "feature")


@pytest.mark.parametrize("name", RULES)
def test_the_graph_is_that_of_a_search_of_its_own(name: str, nightly: bool) -> None:
    counted = 0
    for case, _, part, trees, at in priced(cases(name, 150 if nightly else 6, 21, 2), graph_of):
        for reach in (0, 2):
            counts_agree(count_alternatives, case, part.task, trees, at, reach)
            counted += 1
    assert counted


@pytest.mark.parametrize("name", RULES)
def test_an_automaton_that_adds_to_a_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test, or a leaf, that the rules allow at the root and the graph's automaton does not."""

    def narrower(*given: Any) -> PathStates | None:
        states = graph_paths.states_of(*given)
        if states is not None:
            states.allowed[0] = 0
            states.may_end[0] = 0
        return states

    noticed = 0
    for case, question in cases(name, 6, 21, 2):
        part, trees = priced_part(question), graph_of(question)
        assert part is not None
        if not trees.path_levels:
            continue
        none = (0,) * trees.n_rows
        reach = Reach(100, none, 1, True, trees.path_levels)
        counted = partial(count_alternatives, case.data, part.task, reach, Budget())
        counted()
        monkeypatch.setattr(left_out, "states_of", narrower)
        with pytest.raises(CertificateError, match="leaves out paths"):
            counted()
        monkeypatch.undo()
        noticed += 1
    assert noticed


@pytest.mark.parametrize("name", RULES)
def test_the_graph_of_all_trees_is_that_of_the_trees_that_keep_to_the_rule(name: str, nightly: bool) -> None:
    """Without a cost, it has exactly the trees with no violation, of those that test what separates something."""
    inside = outside = 0
    for case, question in cases(name, 40 if nightly else 3, 5, 2):
        rule, trees = question.requirements[0], graph_of(question)
        assert trees.keeps_paths
        assert trees.price((0,) * trees.n_rows, 1) is not None
        graph = trees.up_to()
        assert graph is not None
        for tree in all_models(case.data, case.shape):
            plain = tree.simplified(case.data)
            chosen = graph.choices(plain, case.data) is not None
            if len(question.requirements) == 1:
                assert chosen == (rule.violation(plain, case.data) == 0), case.code(rule)
            elif chosen:
                assert rule.violation(plain, case.data) == 0, case.code(rule)
            inside, outside = inside + chosen, outside + (not chosen)
            if inside > 3000 or outside > 3000:
                break
    assert inside and outside


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.drawn
def test_optima_are_those_of_brute_force(name: str, solver: str, nightly: bool) -> None:
    for case, question in cases(name, 60 if nightly else 2, 31, 2):
        optimum_agrees(case, question, solver)


@pytest.mark.parametrize("most", [0, 1])
def test_a_rule_that_is_not_followed_to_the_end_is_stated_to_the_solver(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_paths, "MOST_TRIED", most)
    for case, question in cases("once", 2, 8, 2):
        trees = graph_of(question)
        assert not trees.keeps_paths
        assert optimum_agrees(case, question, "highs") is Status.OPTIMAL


def test_a_root_that_is_given_tightens_the_bound_and_needs_no_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(200) < 0.1)).astype(int)
    group = np.where(rng.random(200) < 0.5, "p", "q")
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += tf.StatisticalParity(difference="0.05", positive=1)
    free = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    problem += tf.Fix(tf.DecisionGraph.from_nested((5, 0.5, 0, 1), problem.data))
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert result.status is Status.OPTIMAL
    assert result.objective > free.objective
    assert result.graph.feature[0] == 5
    text = str(problem.explain("highs", formulation="hypergraph-flow"))
    assert "fix:1 tests: every tree of the graph satisfies it" in text
    report = tf.check(result.certificate(), X, y, sensitive_features=group)
    assert report.ok, str(report)
