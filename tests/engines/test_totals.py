"""Totals: the language, the native search against enumeration, and where it enters a solve."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from timing import Timed
from totals_samples import RATES, AtLeastTests, AtMostApproved, Scaled, TestPrice, fair, problem_of

import treeform as tf
from treeform.engines import EngineRun, TreeTask
from treeform.engines.relaxation import relax
from treeform.engines.table_of_totals import TableOfTotals
from treeform.engines.totals import PARTS
from treeform.errors import SpecError
from treeform.language.totals import joined, of_prediction_rows
from treeform.testing import all_models, brute_force

BOTH = [tf.TotalsSearch(), tf.ContinuousTotals()]


def check_against_enumeration(seed):
    """All parts of the search switched on and off at random; returns the status and the kinds of requirements."""
    problem = problem_of(seed)
    rng = np.random.default_rng(seed)
    parts = tuple(part for part in PARTS if rng.random() < 0.7)
    question = problem.question
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    engine = tf.TotalsSearch(parts=parts, simd=("auto", "plain")[seed % 2], threads=1 + seed % 3)
    result = problem.solve(engine)
    if wanted is None:
        assert result.status is tf.Status.INFEASIBLE, seed
    else:
        assert result.status is tf.Status.OPTIMAL, seed
        assert result.objective == wanted[0] == result.bound, seed
        assert not any(result.violations.values()), seed
    return result.status, frozenset(type(r).__name__ for r in question.requirements)


@pytest.mark.parametrize("block", range(6))
def test_the_search_finds_what_enumeration_finds(block, draw):
    settled = {check_against_enumeration(seed)[0] for seed in draw(range(block * 40, block * 40 + 40), 20)}
    assert tf.Status.OPTIMAL in settled


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_drawn_problems(block):
    settled = [check_against_enumeration(seed) for seed in range(1000 + block * 1000, 2000 + block * 1000)]
    met = {kinds for _, kinds in settled}
    every = frozenset().union(*met)
    assert len(every) == 12  # each kind alone, and with each other one
    assert all(frozenset({kind}) in met for kind in every)
    apart = {"AtMostApproved", "TestPrice"}  # one is drawn for even seeds, one for odd ones
    assert all(any({a, b} <= kinds for kinds in met) or {a, b} == apart for a in every for b in every)
    assert sum(status is tf.Status.INFEASIBLE for status, _ in settled) > 3


@pytest.mark.parametrize("columns", [1, 2])
def test_a_budget_of_columns_bounds_the_depth_that_is_searched(columns, draw):
    for seed in draw(range(8), 4):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, 2, 7), rng.integers(0, 3, 7)]).astype(float)
        y = rng.integers(0, 2, 7)
        y[:2] = (0, 1)
        problem = tf.Problem(X, y, shape=tf.Tree(3))
        problem += [tf.FeatureBudget(columns), AtMostApproved(4, 1)]
        question = problem.question
        wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
        result = problem.solve(tf.TotalsSearch())
        assert result.objective == wanted[0] == result.bound, seed


def test_infeasible_problems_occur_among_those_drawn():
    statuses = (problem_of(seed).solve(tf.TotalsSearch()).status for seed in range(240))
    assert len(list(islice((s for s in statuses if s is tf.Status.INFEASIBLE), 3))) == 3


@pytest.mark.parametrize("kind", RATES)
def test_totals_of_rates_say_what_their_rows_say(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y, group = rng.integers(0, 2, (12, 3)), np.arange(12) % 2, rng.integers(0, 3, 12)
        group[:3] = (0, 1, 2)
        problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=rng.integers(1, 4, 12))
        amount = {"ratio": "0.8"} if seed % 2 else {"difference": "0.1"}
        requirement = kind(groups=group, positive=1, **amount).bind(problem.data)
        own = requirement.totals(problem.data)
        derived = of_prediction_rows(requirement.prediction_rows(problem.data), "rows")
        assert own.n_totals <= 6 and len(own.rows) <= len(derived.rows)
        trees = list(all_models(problem.data, tf.Tree(1)))
        for graph in [trees[i] for i in rng.integers(0, len(trees), 10)]:
            met = requirement.violation(graph, problem.data) == 0
            assert met == (own.excess(graph, problem.data) == 0) == (derived.excess(graph, problem.data) == 0)


def test_totals_of_several_requirements_stand_side_by_side():
    problem = tf.Problem([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 1, 0], shape=tf.Tree(2))
    parts = [AtMostApproved(1).totals(problem.data), TestPrice(2).totals(problem.data)]
    both = joined(parts)
    assert both.names == ("approved", "price")
    assert [row.coef for row in both.rows] == [(1, 0), (0, 1)]
    tree = problem.solve(tf.DL85()).graph
    assert both.values(tree, problem.data) == parts[0].values(tree, problem.data) + parts[1].values(
        tree, problem.data
    )
    assert joined([]) is None and joined(parts[:1]) is parts[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.TotalRow((1,)),
        lambda: tf.TotalRow((1,), hi=1, unit=0),
        lambda: tf.TotalRow((0.5,), hi=1),
        lambda: tf.Totals(("a",), np.zeros((3, 2, 2), dtype=np.int64), ()),
        lambda: tf.Totals(("a",), np.zeros((3, 2, 1)), ()),
        lambda: tf.Totals(("a",), np.zeros((3, 2, 1), dtype=np.int64), (tf.TotalRow((1, 2), hi=1),)),
    ],
)
def test_what_is_not_whole_or_does_not_fit_is_refused(make):
    with pytest.raises(SpecError):
        make()


def test_a_row_is_divided_and_its_sides_are_rounded_inwards():
    row = tf.TotalRow((6, -9), lo=-7, hi=7).reduced()
    assert (row.coef, row.lo, row.hi) == ((2, -3), -2, 2)


# -- limits of exactness ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 2**31, 2**53 - 1, 2**53 + 1, 2**55, 2**62 - 20])
@pytest.mark.parametrize("noise", [0, 1])
@pytest.mark.parametrize("engine", BOTH, ids=lambda e: e.name)
def test_large_numbers_are_exact_or_refused(factor, noise, engine):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (20, 4))
    y = (X[:, 0] ^ (rng.random(20) < 0.2)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += Scaled(5, factor, noise)
    question = problem.question
    if factor > 2**61:
        with pytest.raises(SpecError, match=r"2\*\*61"):
            problem.solve(engine)
        return
    result = problem.solve(engine)
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    assert result.status is tf.Status.OPTIMAL and result.objective == wanted[0]


@pytest.mark.parametrize("bits", [28, 33, 45])
def test_heavy_weights_are_counted_in_digits(bits):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (9, 3))
        y = np.arange(9) % 2
        problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=rng.integers(1, 2**bits, 9) | 1)
        half = problem.data.total_weight // 2
        problem += [AtMostApproved(half, half // 4), tf.MinSupport(fraction=0.1)]
        question = problem.question
        wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
        result = problem.solve(tf.TotalsSearch())
        assert (wanted is None) == (result.graph is None)
        assert wanted is None or result.objective == wanted[0] == result.bound


def test_more_tests_than_the_core_counts_are_refused() -> None:
    problem = tf.Problem(np.arange(32_768.0)[:, None], np.arange(32_768) % 2, shape=tf.Tree(1))
    with pytest.raises(SpecError, match="32,766 tests, not 32,767"):
        problem.solve(tf.TotalsSearch())


def test_weights_that_are_too_heavy_are_refused_with_the_reason():
    problem = tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1), sample_weight=[2**50 + 1, 2**49])
    problem += AtMostApproved(2**49)
    with pytest.raises(SpecError, match=r"2\*\*50"):
        problem.solve(tf.TotalsSearch())


# -- rates that do not exist ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", BOTH, ids=lambda e: e.name)
def test_a_group_without_samples_that_count_is_compared_with_no_other(engine):
    X, y, group = [[0], [0], [1], [1]], [0, 0, 1, 1], [0, 0, 1, 1]  # the group is the label
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += tf.EqualOpportunity(groups=group, difference=0)
    result = problem.solve(engine)
    assert (result.errors, result.status) == (0, tf.Status.OPTIMAL)
    rows = problem.question.requirements[0].report(result.graph, problem.data)
    assert [row.rate for row in rows] == [None, 1]
    parity = tf.Problem(X, y, shape=tf.Tree(1))
    parity += tf.StatisticalParity(groups=group, ratio=1)
    assert parity.solve(engine).errors == 2  # only constant models are fair


@pytest.mark.parametrize("engine", BOTH, ids=lambda e: e.name)
def test_what_no_tree_satisfies_is_certified(engine):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (60, 3)).astype(float)
    y = ((X[:, 0] > 2) ^ (rng.random(60) < 0.3)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += [tf.MinRecall("0.9", 1), tf.MinSpecificity("0.9", 1)]
    result = problem.solve(engine)
    assert result.status is tf.Status.INFEASIBLE
    assert any("min_recall" in note and "min_specificity" in note for note in result.notes)
    assert tf.check(result.certificate(), X, y).ok


@pytest.mark.parametrize("groups", ["empty", "identical", "label"])
def test_odd_groups(groups):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (24, 3))
    y = X[:, 0] ^ (rng.random(24) < 0.2)
    group = {
        "empty": np.where(y == 1, 0, rng.integers(0, 2, 24)),  # of the second group nobody deserves it
        "identical": rng.integers(0, 2, 24),
        "label": y.astype(int),
    }[groups]
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(2))
    problem += tf.EqualOpportunity(groups=group, difference="0.1", positive=1)
    for _ in range(2):
        problem += tf.StatisticalParity(groups=group.copy(), ratio="0.9", positive=1)
    question = problem.question
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    for engine in BOTH:
        assert problem.solve(engine).objective == wanted[0]


def test_conditional_parity_compares_within_strata():
    frame = pd.DataFrame({"a": [0, 1] * 8, "s": [0, 0, 1, 1] * 4, "g": [0] * 8 + [1] * 8})
    y = (frame["a"] ^ (frame["g"] & frame["s"])).to_numpy()
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += tf.ConditionalParity(groups="g", given="s", difference=0, positive=1)
    question = problem.question
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    assert problem.solve(tf.TotalsSearch()).objective == wanted[0]
    again = tf.Requirement.from_json(question.requirements[0].to_json()).bind(problem.data)
    assert str(again) == str(question.requirements[0])


# -- where it enters a solve -----------------------------------------------------------------------------


def test_it_is_chosen_by_itself_says_why_and_is_checked(benchmark_data):
    problem, X, y = fair(benchmark_data)
    result = problem.solve()
    assert (result.errors, result.bound, result.solver) == (2429, 2429, "totals-search")
    assert any("the distinct tests (27 here)" in note for note in result.notes)
    report = tf.check(result.certificate(), X, y)
    assert report.ok and "proved again by the search by prices: at least 2429" in str(report)


def test_a_table_of_many_tests_is_left_to_others_and_the_note_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.random((600, 2)), np.arange(600) % 2
    X[:, 1] = X[:, 1] > 0.5
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += [tf.StatisticalParity(groups=np.arange(600) // 300, difference=0.1), TestPrice(1)]
    result = problem.solve(time_limit=1)
    assert result.solver != "totals-search"
    assert any("totals-search supports all" in note and "600 tests" in note for note in result.notes)
    assert problem.solve("totals-search").status is tf.Status.OPTIMAL


def test_counting_pairs_of_thousands_of_tests_keeps_the_limit(timed: Timed) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((2000, 4)), np.arange(2000) % 2
    problem = tf.Problem(X, y, shape=tf.Tree(4)) + tf.StatisticalParity(
        groups=np.arange(2000) // 1000, difference=0.1
    )
    began = time.process_time()
    result = problem.solve(tf.TotalsSearch(), time_limit=0.3)
    timed(time.process_time() - began, 2.0)
    assert result.limit is tf.Limit.TIME
    assert result.graph is not None


def test_with_a_requirement_it_does_not_know_it_gives_bound_and_models():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (60, 5)), columns=list("abcde"))
    y = X["a"] ^ (rng.random(60) < 0.2)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += [tf.StatisticalParity(groups=X["b"], difference=0.05), AtLeastTests(2)]
    result = problem.solve()
    assert any("totals-search" in claim.by for claim in result.claims)
    assert result.status is tf.Status.OPTIMAL and not any(result.violations.values())


def test_a_start_and_a_bound_from_outside_are_used(benchmark_data):
    problem, _, _ = fair(benchmark_data)
    best = problem.solve()
    relaxation = relax(problem.question, tf.TotalsSearch())
    below = tf.TotalsSearch().run(problem.data, relaxation.task, EngineRun(upper=2429))
    assert below.graph is None and below.proved and below.lower >= 2429
    again = tf.TotalsSearch().run(problem.data, relaxation.task, EngineRun(start=best.graph))
    assert (again.upper, again.lower, again.proved) == (2429, 2429, True)


def test_a_stopped_search_keeps_a_valid_bound_and_a_model(benchmark_data):
    problem, _, _ = fair(
        benchmark_data,
        depth=5,
        name="fairness/german-credit",
        column="Gender=Male",
        positive=1,
        difference=0.01,
    )
    result = problem.solve(tf.TotalsSearch(), time_limit=0.3)
    assert result.status is tf.Status.FEASIBLE and result.limit is tf.Limit.TIME
    assert not any(result.violations.values()) and result.bound <= result.errors


@pytest.mark.parametrize("budget", [3, 4, 50])
def test_a_budget_of_all_columns_or_more_bounds_nothing(budget):
    """Under sanitizers this is also read within the list of columns."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40, 3))
    y = X[:, 0] ^ (X[:, 1] & X[:, 2])
    values = []
    for more in ([], [tf.FeatureBudget(budget)]):
        problem = tf.Problem(X, y, shape=tf.Tree(4))
        problem += [tf.StatisticalParity(groups=rng.permutation(np.arange(40) % 2), difference="0.9"), *more]
        values.append(problem.solve(tf.TotalsSearch()).objective)
    assert values[0] == values[1] == 0


def test_too_little_memory_stops_it_with_the_reason(benchmark_data):
    problem, _, _ = fair(benchmark_data, depth=4)
    outcome = tf.TotalsSearch(memory_limit=2000).run(
        problem.data, relax(problem.question, tf.TotalsSearch()).task, EngineRun()
    )
    assert outcome.reason == "memory" and not outcome.proved and outcome.lower <= 2345


def test_a_deeper_tree_is_never_worse(benchmark_data):
    errors = [fair(benchmark_data, depth)[0].solve().errors for depth in (1, 2, 3, 4)]
    assert errors == sorted(errors, reverse=True) and errors[-1] == 2345


def test_it_agrees_with_cp_sat_on_the_published_formulation():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (40, 5))
        y = X[:, 0] ^ (rng.random(40) < 0.25)
        group = X[:, 0] ^ (rng.random(40) < 0.3)
        problem = tf.Problem(X, y, shape=tf.Tree(2))
        problem += [
            tf.EqualOpportunity(groups=group, difference="0.05"),
            tf.PredictiveEquality(groups=group, ratio="0.7"),
        ]
        stated = problem.solve(tf.CPSAT(), formulation="odd", warm_start=None)
        assert stated.status is tf.Status.OPTIMAL
        assert problem.solve(tf.TotalsSearch()).objective == stated.objective


def test_diagrams_are_refused_and_bounded():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array([0, 1, 1, 0] * 5)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2))
    problem += tf.StatisticalParity(groups=X[:, 0], difference=0.1)
    with pytest.raises(SpecError, match="widths"):
        problem.solve(tf.TotalsSearch())


def test_the_deepest_tree():
    """A path to a leaf has one test more than the keys of subproblems hold."""
    alone = np.eye(11)  # every test sets one sample apart
    problem = tf.Problem(alone, np.arange(11), shape=tf.Tree(9))
    problem += tf.StatisticalParity(groups=np.arange(11) % 2, difference="0.1", positive=0)
    result = problem.solve(tf.TotalsSearch())
    assert (result.status, result.errors, result.graph.depth) == (tf.Status.OPTIMAL, 1, 9)


@pytest.mark.parametrize("depth", [3, 4])
def test_threads_change_no_answer(benchmark_data, depth):
    problem, _, _ = fair(benchmark_data, depth=depth)
    answers = [problem.solve(tf.TotalsSearch(threads=threads)) for threads in (1, 2, 3)]
    assert {(a.errors, a.bound, a.status) for a in answers} == {
        (answers[0].errors, answers[0].errors, tf.Status.OPTIMAL)
    }
    assert all(answer.graph == answers[0].graph for answer in answers)
    stopped = problem.solve(tf.TotalsSearch(threads=2, memory_limit=2000))
    assert stopped.limit is tf.Limit.MEMORY and stopped.bound <= stopped.errors


@pytest.mark.parametrize(
    "setting", [{"threads": 0}, {"simd": "none"}, {"memory_limit": 0}, {"parts": ("magic",)}]
)
def test_settings_that_are_not_possible_are_refused(setting):
    with pytest.raises(SpecError):
        tf.TotalsSearch(**setting)


def test_samples_of_equal_costs_and_totals_are_of_one_kind():
    problem = tf.Problem([[0], [0], [1], [1]], [0, 1, 0, 1], shape=tf.Tree(1))
    table = TableOfTotals(
        problem.data, TreeTask(1, totals=AtMostApproved(2).totals(problem.data), max_nodes=1)
    )
    assert table.count.tolist() == [[1, 1], [1, 1]]
    assert table.row.shape == (2, 2, 2) and table.test_row.tolist() == [[0, 1]]
    assert table.hi.tolist()[1] >= 1


class Apart(tf.Requirement):
    """Every pair of groups of samples is approved in equal weight up to a bound: many rows over few totals."""

    needs = frozenset({"predicted"})

    def __init__(self, groups, most):
        self.groups, self.most = groups, most

    def build(self, model, ports):
        raise AssertionError("the search is the only one that is asked")

    def totals(self, data):
        names = tuple(str(g) for g in range(self.groups.max() + 1))
        per_sample = np.zeros((data.n_samples, data.n_classes, len(names)), dtype=np.int64)
        per_sample[np.arange(data.n_samples), 1, self.groups] = 1
        unit = np.eye(len(names), dtype=int)
        rows = [
            tf.TotalRow(tuple(a - b), -self.most, self.most) for i, a in enumerate(unit) for b in unit[:i]
        ]
        return tf.Totals(names, per_sample, tuple(rows))

    def violation(self, graph, data):
        return self.totals(data).excess(graph, data)


@pytest.mark.parametrize("groups", [4, 8, 14])
def test_many_rows_may_be_active(groups):
    rng = np.random.default_rng(groups)
    X = rng.integers(0, 2, (42, 3))
    y = X[:, 0] ^ (rng.random(42) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(2))
    problem += Apart(np.arange(42) % groups, 1)
    question = problem.question
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    for parts in (PARTS, ("multipliers",)):  # without lazy rows all are active: 6, 28, 91
        result = problem.solve(tf.TotalsSearch(parts=parts))
        assert result.objective == wanted[0] == result.bound
