"""Counts of near-optimal models, counted again by a check."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.certify.certificate import sign
from treeform.certify.counted import MOST_SUMS, _Count, count_models
from treeform.certify.tables import Table
from treeform.cli.app import app
from treeform.engines.relaxation import relax
from treeform.engines.totals import OfCounts
from treeform.testing.normal_forms import NEAR_OPTIMAL_REQUIREMENTS, draw_near_optimal, near_optimal_forms
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

WITHIN = Fraction(3, 10)


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    X = np.floor(rng.random((60, 3)) * 9)
    return X, ((X[:, 0] > 4) ^ (X[:, 1] > 5) ^ (rng.random(60) < 0.15)).astype(int)


@pytest.mark.parametrize("which", range(3))
def test_they_are_those_of_enumeration(which: int) -> None:
    """Without requirements, under parity, and under a ratio with a minimum support; at any multipliers."""
    some, rng = 0, np.random.default_rng(which)
    for problem in draw_near_optimal(6, 340 + which, NEAR_OPTIMAL_REQUIREMENTS[which]):
        values = near_optimal_forms(problem, WITHIN).values()
        part = relax(problem.question, OfCounts())
        assert part is not None
        rows = len(Table(problem.data, part.task).hi)
        drawn = [([], 1), (rng.integers(-9, 10, rows).tolist(), 4), ([2**60] * rows, 1)]
        for up_to in {min(values), max(values)} if values else set():
            for hint in drawn:
                assert count_models(problem.question, up_to, Budget(), *hint) == sum(v <= up_to for v in values)
            some += 1
    assert some


def test_multipliers_of_the_optimum_leave_few_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under parity a count is verified although trees of so little cost have many different sums."""
    X, y = table()
    groups = y ^ (np.random.default_rng(1).random(60) < 0.3)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=groups)
    problem += tf.StatisticalParity(difference="1/50")
    found = problem.near_optimal(within="1/10")
    monkeypatch.setattr("treeform.certify.counted.MOST_SUMS", 120)
    with pytest.raises(OutOfReach, match="sums differ"):
        count_models(problem.question, found.threshold, Budget())
    report = tf.check(found.certificate(), X, y, sensitive_features=groups)
    assert found.counted and report.ok and report.rows[-1].proved_by == "the check's own count"


def test_a_number_is_verified_refuted_or_on_trust() -> None:
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    found = problem.near_optimal(within="1/3")
    certificate = found.certificate()
    report = tf.check(certificate, X, y)
    assert report.ok and f"{found.count} models up to" in str(report) and "nothing is said" not in str(report)
    stated = certificate["near_optimal"]
    other = sign({**certificate, "near_optimal": {**stated, "models": found.count + 1}})
    assert tf.check(other, X, y).verdict == "false"
    listed = [model for model in found.models if model.objective <= found.models[0].objective + 1]
    assert len(listed) < found.count
    part = replace(found, count=len(listed), counted_to=Fraction(listed[-1].objective))
    report = tf.check(part.certificate(), X, y)
    assert report.ok and f"models beyond, up to {found.threshold}, are not counted" in str(report)
    none = replace(found, counted_to=None, trees=None).certificate()
    assert "near_optimal" not in none and tf.check(none, X, y).ok
    merged = found.distinct()
    assert merged.count < found.count
    assert "near_optimal" not in merged.certificate() and tf.check(merged.certificate(), X, y).ok
    problem += tf.FeatureBudget(2)
    judged = problem.near_optimal(within="1/20")
    report = tf.check(judged.certificate(), X, y)
    assert report.verdict == "on trust"
    assert [row.verdict for row in report.rows if row.what == "status"] == ["verified"]
    with pytest.raises(OutOfReach, match="judged on each model"):
        count_models(problem.question, Fraction(20), Budget())
    with pytest.raises(Stopped):
        count_models(tf.Problem(X, y, shape=tf.Tree(2)).question, Fraction(20), Budget(over=lambda: True))


def test_a_join_of_many_sums_ends_with_the_budget() -> None:
    """Two sides of 2,000 sums each make four million: the budget is asked, and sums are counted, on the way."""
    X, y = table()
    question = tf.Problem(X, y, shape=tf.Tree(2)).question
    part = relax(question, OfCounts())
    assert part is not None
    sides = Counter({(k,): 1 for k in range(2000)}), Counter({(10_000 * k,): 1 for k in range(2000)})
    for budget, error in ((Budget(over=lambda: True), Stopped), (Budget(), OutOfReach)):
        count = _Count(question.data, part.task, Budget())
        count.budget, out = budget, Counter[tuple[int, ...]]()
        with pytest.raises(error):
            count.join([0], *sides, math.inf, out)
        assert len(out) <= MOST_SUMS + 2000


def test_the_command_writes_it(tmp_path: Path) -> None:
    import pandas as pd

    X, y = table()
    data, written = tmp_path / "table.csv", tmp_path / "models.cert.json"
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_csv(data, index=False)
    words = ["near-optimal", str(data), "--target", "y", "--shape", "tree:2", "--certificate", str(written)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    checked = CliRunner().invoke(app, ["check", str(written), str(data)])
    assert checked.exit_code == 0 and "counted again" in checked.stdout, checked.output
