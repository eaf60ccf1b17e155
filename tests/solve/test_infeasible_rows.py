"""Infeasible problems: the requirements that a native proof used are named, and those named suffice."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.testing import brute_force


class Approved(tf.Requirement):
    """So much weight is predicted class 1, at least and at most."""

    needs = frozenset({"predicted"})

    def __init__(self, least, most):
        self.least, self.most = least, most

    def build(self, model, ports):
        approved = (ports.predicted[:, 1] * ports.weights).sum()
        model.add(approved >= self.least)
        model.add(approved <= self.most)

    def totals(self, data):
        per_sample = np.zeros((data.n_samples, data.n_classes, 1), dtype=np.int64)
        per_sample[:, 1] = 1
        return tf.Totals(("approved",), per_sample, (tf.TotalRow((1,), lo=self.least, hi=self.most),))

    def violation(self, graph, data):
        return self.totals(data).excess(graph, data)


def draw(seed):
    """A tiny problem with several requirements, often infeasible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    X, group = rng.integers(0, 2, (n, 2)), rng.integers(0, 3, n)
    group[:3] = (0, 1, 2)
    y = np.arange(n) % 2
    problem = tf.Problem(X, y, shape=tf.Tree(int(rng.integers(1, 3))))
    least = int(rng.integers(1, n))
    problem += [
        Approved(least, least + int(rng.integers(0, 2))),
        tf.StatisticalParity(groups=group, difference=str(rng.choice(["0.1", "0.5", "0.9"]))),
        tf.EqualOpportunity(groups=group, difference="0.9"),
        tf.MinSupport(int(rng.integers(1, 3))),
    ]
    problem += tf.MaxNodes(1) if rng.random() < 0.4 else []
    return problem


@pytest.mark.parametrize("engine", [tf.TotalsSearch(), tf.ContinuousTotals()], ids=lambda engine: engine.name)
@pytest.mark.parametrize("budget", [[], [tf.FeatureBudget(1)]], ids=["all_columns", "one_column"])
def test_what_is_named_suffices(engine, budget):
    infeasible = shortened = 0
    for seed in range(50):
        problem = draw(seed)
        problem += budget
        result = problem.solve(engine)
        if result.status is not tf.Status.INFEASIBLE:
            continue
        infeasible += 1
        claim = next(claim for claim in result.claims if claim.kind == "infeasible")
        labels = problem.question.labels
        kept = [
            r for label, r in zip(labels, problem.requirements, strict=True) if label not in claim.relaxation
        ]
        shortened += len(kept) < len(problem.requirements)
        assert set(claim.relaxation) <= set(labels)
        assert brute_force(problem.data, problem.shape, tf.Error(), kept) is None, seed
    assert infeasible >= 10
    assert shortened >= 5


@pytest.mark.parametrize("engine", [tf.TotalsSearch(), tf.ContinuousTotals()], ids=lambda engine: engine.name)
def test_prices_alone_rest_on_the_rows_that_they_price(engine):
    """No tree of depth one has both rates; each of them alone has one."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 4, [0, 1, 1, 0] * 4
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += [tf.MinPrecision(1, positive=1), tf.MinRecall(1, positive=1), tf.MinSupport(1)]
    result = problem.solve(engine)
    claim = next(claim for claim in result.claims if claim.kind == "infeasible")
    assert not {"min_precision:1,positive=1", "min_recall:1,positive=1"} & set(claim.relaxation)
    assert any("satisfies min_precision:1,positive=1 together with min_recall:1" in note for note in result.notes)


def test_notes_name_requirements_and_rows():
    X, group = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1] * 4
    problem = tf.Problem(X, [0, 1] * 4, shape=tf.Tree(1))
    problem += [Approved(3, 3), tf.StatisticalParity(groups=group, difference="0.9", positive=1)]
    notes = problem.solve(tf.TotalsSearch()).notes
    assert "the proof that nothing fits rests on the rows: approved:least=3,most=3 (approved)" in notes
    assert any("satisfies approved:least=3,most=3, even without statistical_parity" in note for note in notes)
