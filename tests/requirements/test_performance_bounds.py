"""Bounds on rates and rows: against scikit-learn, natively against enumeration, and on the way to files and back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import SpecError
from treeform.language.requirement_text import parse
from treeform.testing import all_models, brute_force


def problem_of(seed):
    """A tiny problem with two of the requirements."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    X, group = rng.integers(0, 2, (n, 3)).astype(float), rng.integers(0, 3, n)
    group[:2] = (0, 1)
    y = np.arange(n) % classes
    rng.shuffle(y)
    weights = [None, rng.integers(1, 5, n), np.round(rng.random(n) * 3 + 0.1, 1)][seed % 3]
    problem = tf.Problem(X, y, shape=tf.Tree(int(rng.integers(1, 3))), sample_weight=weights)
    positive, rate = int(rng.integers(0, classes)), str(rng.choice(["1/3", "0.5", "0.75", "0.9"]))
    made = [
        tf.AccuracyParity(groups=group, difference=str(rng.choice(["0.1", "0.3"]))),
        tf.AccuracyParity(groups=group, ratio=rate),
        tf.GroupErrorAtMost(groups=group, at_most=str(rng.choice(["0.2", "0.4"]))),
        tf.MinPrecision(rate, positive),
        tf.MinRecall(rate, positive),
        tf.MinSpecificity(rate, positive),
        tf.MaxFalsePositiveRate(rate, positive),
        tf.MustClassifyRight(rng.choice(n, 2, replace=False).tolist()),
    ]
    problem += [made[i] for i in rng.choice(len(made), 2, replace=False)]
    return problem


def test_the_native_search_finds_what_enumeration_finds(draw):
    settled = []
    for seed in draw(range(80), 18):
        problem = problem_of(seed)
        question = problem.question
        wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
        result = problem.solve(tf.TotalsSearch())
        settled.append(result.status)
        if wanted is None:
            assert result.status is tf.Status.INFEASIBLE, seed
        else:
            assert (result.status, result.objective) == (tf.Status.OPTIMAL, wanted[0]), seed
    assert min(settled.count(status) for status in (tf.Status.OPTIMAL, tf.Status.INFEASIBLE)) >= 2


def test_rows_measures_and_bounds_agree_on_every_model():
    for seed in range(12):
        problem = problem_of(seed)
        data = problem.data
        models = list(all_models(data, tf.Tree(1)))
        for requirement in problem.requirements:
            totals = requirement.totals(data)
            for graph in models:
                kept = requirement.violation(graph, data) == 0
                assert (totals.excess(graph, data) == 0) == kept, (seed, str(requirement))
                if isinstance(requirement, tf.Bounded):
                    value = requirement.measured(graph, data)
                    assert kept != requirement.is_tighter(requirement.bound, value)
                    beyond = requirement.beyond(value, data)
                    if beyond is not None:
                        assert requirement.is_tighter(beyond, value)
                        others = {requirement.measured(other, data) for other in models}
                        between = [v for v in others if requirement.is_tighter(v, value)]
                        assert not [v for v in between if requirement.is_tighter(beyond, v)]


def test_rates_are_those_of_scikit_learn():
    from sklearn.metrics import precision_score, recall_score

    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (50, 3)), rng.integers(0, 2, 50)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    graph = problem.solve("contree").graph
    guess = graph.predict(X)
    for requirement, wanted in (
        (tf.MinPrecision(0.5, 1), precision_score(y, guess)),
        (tf.MinRecall(0.5, 1), recall_score(y, guess)),
        (tf.MinSpecificity(0.5, 1), recall_score(y, guess, pos_label=0)),
        (tf.MaxFalsePositiveRate(0.5, 1), 1 - recall_score(y, guess, pos_label=0)),
    ):
        value = requirement.bind(problem.data).measured(graph, problem.data)
        assert isinstance(value, Fraction)
        assert float(value) == pytest.approx(wanted)


def test_nothing_positive_has_no_precision():
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1))
    never = next(
        graph
        for graph in all_models(problem.data, tf.Tree(1))
        if not graph.predict_codes(problem.data.X).any()
    )
    assert tf.MinPrecision(1, 1).violation(never, problem.data) == 0
    assert tf.MinRecall(1, 1).violation(never, problem.data) == 1


@pytest.mark.parametrize(
    "text",
    [
        "min_precision:0.8,positive=yes",
        "max_false_positive_rate:at_most=0.1,positive=no",
        "group_error_at_most:groups=sex,at_most=0.25",
        "accuracy_parity:groups=sex,difference=0.05",
        "must_classify_right:0 2",
    ],
)
def test_text_and_files(text):
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "sex": ["f", "m", "f", "m"]})
    problem = tf.Problem(frame, ["no", "yes", "no", "yes"], shape=tf.Tree(1))
    requirement = parse(text).bind(problem.data)
    again = tf.Requirement.from_json(requirement.to_json()).bind(problem.data)
    assert again == requirement
    assert str(again) == str(requirement)
    problem += requirement
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL
    assert tf.check(result.certificate(), frame, ["no", "yes", "no", "yes"]).ok


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: tf.MinPrecision(1.5), "not possible"),
        (lambda: tf.GroupErrorAtMost("g"), "has no bound"),
        (lambda: tf.MustClassifyRight(["a"]), "are no rows"),
        (lambda: tf.MustClassifyRight([7]), "no row 7"),
        (lambda: tf.MinRecall(0.5, "x"), "no class 'x'"),
    ],
)
def test_what_is_refused(made, message):
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1))
    with pytest.raises(SpecError, match=message):
        problem += made()
