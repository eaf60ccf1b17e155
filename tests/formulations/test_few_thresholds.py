"""Few thresholds of each column: the trees over them are some of all trees, and a search over them claims nothing."""

from __future__ import annotations

import numpy as np
import pytest
from test_hypergraph_parts import problem_of

import treeform as tf
from treeform.engines.and_or_graph import takes_intervals
from treeform.engines.few_thresholds import few_thresholds
from treeform.engines.table_of_totals import tests_of as all_tests_of
from treeform.formulations.hypergraph import HypergraphFlow
from treeform.solve import Status
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import SomeModels
from treeform.utils.budget import Budget


def test_they_are_tests_of_the_table_and_those_next_to_a_model() -> None:
    data = problem_of(3).data
    bits, feature, threshold = all_tests_of(data)
    every = {(int(f), float(t)): bits[:, j] for j, (f, t) in enumerate(zip(feature, threshold, strict=True))}
    tree = tf.DecisionGraph.from_nested((2, 0.505, 0, (0, 0.255, 1, 0)), data)
    for around in (None, tree):
        few, features, thresholds = few_thresholds(data, 8, around)
        assert few.shape == (data.points.n_points, len(features))
        assert max(np.bincount(features)) <= 9  # an odd number of gaps lies around a test
        for j, (f, t) in enumerate(zip(features.tolist(), thresholds.tolist(), strict=True)):
            assert np.array_equal(few[:, j], every[f, t])
    near = {f: thresholds[features == f] for f in (0, 2)}
    assert np.isclose(near[2], 0.505).any()
    assert np.isclose(near[0], 0.255).any()
    whole = few_thresholds(data, 1000)
    assert len(whole[1]) == data.n_tests  # a column with fewer thresholds has all of them


@pytest.mark.parametrize("budget", [False, True])
def test_a_search_over_them_finds_their_best_model_and_claims_nothing(budget: bool) -> None:
    problem = problem_of(5)
    problem += tf.FeatureBudget(2 if budget else 4)
    question = problem.question
    part, time = priced_part(question), Budget(None)
    assert part is not None
    tests = few_thresholds(question.data, 6)
    ledger = Ledger(question, time)
    some = SomeModels(ledger)
    GraphSearch(HypergraphFlow(), tf.HiGHS(), some, time, part, tests).run()
    rounded = question.data.X.copy()
    for f in range(rounded.shape[1]):
        rounded[:, f] = np.searchsorted(tests[2][tests[1] == f], rounded[:, f])
    coarse = tf.Problem(rounded, question.data.y, shape=tf.Tree(2)).minimize(tf.Error())
    for requirement in problem.requirements:
        coarse += requirement
    best = coarse.solve(tf.TotalsSearch())
    assert best.status is Status.OPTIMAL
    assert ledger.upper == best.objective
    assert some.lower == best.objective  # of these models it is the least value
    assert [claim.kind for claim in ledger.claims if claim.kind != "upper"] == []


def test_cp_sat_gets_all_rows_in_its_linear_program_unless_a_user_says_otherwise() -> None:
    question, time = problem_of(1).question, Budget(None)
    part = priced_part(question)
    assert part is not None
    for backend, level in ((tf.CPSAT(), 2), (tf.CPSAT(options={"linearization_level": 1}), 1)):
        for one in (backend, tf.Isolated(backend, memory_limit=1000)):
            search = GraphSearch(HypergraphFlow(), one, Ledger(question, time), time, part)
            inner = getattr(search.backend, "solver", search.backend)
            assert inner.options["linearization_level"] == level
            assert (inner.name, type(search.backend)) == ("cp-sat", type(one))


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
def test_with_them_the_optimum_is_that_of_all_thresholds(solver: str) -> None:
    for seed in (0, 2):
        question = problem_of(seed).question
        part = priced_part(question)
        assert part is not None
        assert takes_intervals(question.data, part.task)
        expected = problem_of(seed).solve(tf.TotalsSearch())
        found = problem_of(seed).solve(solver, formulation="hypergraph-flow", warm_start=None)
        assert (found.status, found.objective) == (Status.OPTIMAL, expected.objective), seed
