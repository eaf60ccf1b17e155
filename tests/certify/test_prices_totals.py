"""Bounds under linear constraints over sums are proved again without the native search."""

from __future__ import annotations

import numpy as np
from totals_samples import fair, problem_of

import treeform as tf
from treeform.certify.prices import cheapest
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax
from treeform.utils.budget import Budget


def proof_of(problem):
    """The task and the outcome of the native search."""
    task = relax(problem.question, tf.TotalsSearch()).task
    return task, tf.TotalsSearch().run(problem.data, task, EngineRun())


def test_the_search_by_prices_proves_the_optimum_and_nothing_above_it():
    proved = 0
    for seed in range(120):
        problem = problem_of(seed)
        task, outcome = proof_of(problem)
        if outcome.graph is None or outcome.witness is None:
            continue
        hints = outcome.witness["multipliers"], outcome.witness["unit"], Budget()
        assert cheapest(problem.data, task, outcome.upper, *hints).least is not None
        assert cheapest(problem.data, task, outcome.upper - 1, *hints).least is None, seed
        proved += 1
    assert proved >= 40


def test_wrong_hints_prove_nothing_wrong():
    rng = np.random.default_rng(1)
    for seed in range(60):
        problem = problem_of(seed)
        task, outcome = proof_of(problem)
        if outcome.graph is None or outcome.witness is None:
            continue
        multipliers = [int(m) for m in rng.integers(-1000, 1000, len(outcome.witness["multipliers"]))]
        found = cheapest(problem.data, task, outcome.upper, multipliers, int(rng.integers(1, 5000)), Budget())
        assert found.least is not None


def test_check_names_who_proved_it(benchmark_data):
    problem, X, y = fair(benchmark_data, name="fairness/adult", column="Sex=Male", positive=1)
    result = problem.solve()
    assert result.errors == 8681
    report = tf.check(result.certificate(), X, y)
    assert report.ok and "8681" in str(report) and "search by prices" in str(report)
