"""Leaves that decide nothing: price, coverage, certificates, prediction, and what is said where it is not possible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import DataError, SpecError
from treeform.language.objective import Objective
from treeform.language.requirement_text import parse
from treeform.testing import brute_force


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (14, 2)), columns=["a", "b"])
    return X, rng.choice(["n", "y"], 14)


@pytest.mark.parametrize(
    ("shape", "solvers"),
    [
        (tf.Tree(2), [{"solver": "contree"}, {"solver": "dl85"}, {"solver": "totals-search"}]),
        (
            tf.Tree(2),
            [{"solver": "cp-sat", "formulation": "odd"}, {"solver": "sat", "formulation": "sat-depth"}],
        ),
        (tf.Diagram(1, 2), [{"solver": "diagram-search"}]),
    ],
)
def test_everybody_prices_it_alike(rows, shape, solvers):
    X, y = rows
    problem = tf.Problem(X, y, shape=shape, abstain="ask").minimize(tf.AbstainCost("0.3") + tf.Nodes() / 50)
    value, _ = brute_force(problem.data, shape, problem.objective)
    for how in solvers:
        result = problem.solve(**how)
        assert (str(result.status), result.objective) == ("optimal", value), how
    assert "ask" in result.graph.predict(X)
    assert any("abstains on 4 of 14 rows" in note for note in result.notes)
    assert str(tf.check(result.certificate(), X, y).verdict) == "verified"


def test_coverage(rows):
    X, y = rows
    problem = tf.Problem(X, y, shape=tf.Tree(1), abstain="ask")
    problem.minimize(tf.AbstainCost("0.1", [[0, 2], [1, 0]]))
    problem += [parse("min_coverage:0.8"), tf.StatisticalParity(np.arange(14) % 2, difference="0.2")]
    q = problem.question
    value, _ = brute_force(problem.data, q.shape, q.objective, q.requirements)
    result = problem.solve()
    assert (result.solver, result.objective) == ("totals-search", value)
    assert result.violations["min_coverage:0.8"] == 0
    assert (result.graph.predict(X) == "ask").sum() <= 2
    # Through a solver, with multipliers from an engine for two kinds of samples and three classes.
    problem = tf.Problem(X, y, shape=tf.Diagram(1), abstain="ask").minimize(tf.AbstainCost("0.1"))
    problem += tf.MinCoverage(0.8)
    assert (
        problem.solve("cp-sat").objective
        == brute_force(problem.data, problem.shape, problem.objective, problem.requirements)[0]
    )


def test_text(rows):
    for text in ("abstain_cost[price=1/5]", "abstain_cost[price=1/5,cost=0 5; 1 0] + 1/10*nodes"):
        assert str(Objective.parse(text)) == text
    for wrong, part in (("abstain_cost", "no price"), ("abstain_cost[price=-1]", "negative")):
        with pytest.raises(SpecError, match=part):
            Objective.parse(wrong)


def test_what_is_not_possible(rows):
    X, y = rows
    with pytest.raises(DataError, match="is a class of the target"):
        tf.Problem(X, y, shape=tf.Tree(1), abstain="y")
    with pytest.raises(DataError, match="no label"):
        tf.Problem(X, y, shape=tf.Tree(1), abstain=" ")
    plain = tf.Problem(X, y, shape=tf.Tree(1))
    with pytest.raises(SpecError, match="abstain='ask'"):
        plain.minimize(tf.AbstainCost(1))
    with pytest.raises(SpecError, match="abstain='ask'"):
        plain += tf.MinCoverage(0.5)
    with pytest.raises(SpecError, match="2 classes"):
        tf.Problem(X, y, shape=tf.Tree(1), abstain="ask").minimize(tf.AbstainCost(1, np.ones((3, 3))))


def test_a_test_on_the_sensitive_column_is_said():
    frame = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 10, "income": [1] * 6 + [2] * 9 + [3] * 5})
    y = (frame.income > 1).astype(int)
    fair = tf.StatisticalParity("sex", difference="0.1", positive=1)
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += fair
    told = [note for note in problem.solve().notes if note.startswith("warning")]
    assert len(told) == 1 and "'sex'" in told[0] and "treating groups differently" in told[0]
    # The column need be no feature, nor be there when predictions are made.
    apart = tf.Problem(frame, y, shape=tf.Tree(2), exclude=["sex"])
    apart += fair
    result = apart.solve()
    assert not any(note.startswith("warning") for note in result.notes)
    assert len(result.graph.predict(frame[["income"]])) == 20


def test_monotone_in_several_columns_at_once(draw):
    for seed in draw(range(12), 3):
        rng = np.random.default_rng(seed)
        level = pd.Categorical(rng.choice(["low", "mid", "high"], 10), ["low", "mid", "high"], ordered=True)
        X = pd.DataFrame({"a": rng.integers(0, 3, 10), "level": level})
        problem = tf.Problem(X, np.arange(10) % 2, shape=tf.Tree(2))
        problem += [tf.Monotone("a", "increasing", 1), tf.Monotone("level", "decreasing", 1)]
        q = problem.question
        result = problem.solve()
        assert result.objective == brute_force(problem.data, q.shape, q.objective, q.requirements)[0]
        assert result.solver == "totals-search"


def test_on_the_command_line(rows, tmp_path):
    from typer.testing import CliRunner

    from treeform.cli.app import app

    X, y = rows
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    given = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--shape", "tree:1", "--abstain", "ask", "-v"]
    given += ["--minimize", "abstain_cost[price=1/10]", "--require", "min_coverage:0.5,soft=1/100"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert "the model abstains on" in done.output
