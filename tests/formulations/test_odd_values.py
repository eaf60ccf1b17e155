"""Leaves with values in ODD: absolute errors and what is required of values, on solvers, against brute force."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.regression_values import BY_VALUES
from treeform.errors import DataError, SpecError, TreeformError
from treeform.formulations.odd import ODD
from treeform.language.question import Question
from treeform.testing.matrix import judge, ways
from treeform.testing.samples import SAMPLES_OF_VALUES

WHOLE = ("cp-sat", "highs", "mathopt:scip")


def homes(n: int = 24) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"size": rng.integers(2, 6, n), "age": rng.integers(0, 4, n), "area": rng.choice(["n", "s"], n)}
    )
    return frame, (frame["size"] - frame["age"] + 3 * (frame["area"] == "n")).to_numpy() + rng.integers(
        -1, 2, n
    )


@pytest.mark.drawn(3)
@pytest.mark.parametrize("requirement", SAMPLES_OF_VALUES, ids=str)
def test_both_faces_and_the_optimum(requirement: tf.Requirement) -> None:
    report = tf.testing.check_requirement(
        requirement, ["odd"], WHOLE, cases=2, models=4, in_turn=True, of_values=True
    )
    assert report.models


@pytest.mark.slow
@pytest.mark.parametrize("requirement", SAMPLES_OF_VALUES, ids=str)
def test_cells_of_values(requirement: tf.Requirement) -> None:
    """Every way to solve a regression problem works, or refuses the requirement with a reason."""
    for way in ways(WHOLE, of_values=True):
        cell = judge(requirement, way, cases=4, seed=3, of_values=True)
        assert cell.works or (way.formulation is None and "cannot support" in cell.reason), cell


@pytest.mark.parametrize("seed", range(2))
def test_diagrams_agree_with_the_route_over_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (9, 2))
    y = rng.permutation(np.arange(9) % 3)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 1)).minimize("absolute_error + 1/4*nodes")
    stated = problem.solve("cp-sat", warm_start=None)
    distances = abs(np.arange(3)[:, None] - np.arange(3))
    problem.minimize(tf.Cost(distances.tolist()) + Fraction(1, 4) * tf.Nodes())
    classes = problem.solve(tf.DiagramSearch())
    assert stated.objective == classes.objective and stated.status is classes.status is tf.Status.OPTIMAL


def test_values_of_leaves_are_targets_and_read_back() -> None:
    X, y = homes()
    problem = tf.Problem(X[["size", "age"]], y, shape=tf.Tree(2)).minimize(tf.AbsoluteError())
    native, formulation = problem.solve(), ODD()
    question: Question = problem.question
    compiled = formulation.compile(question.data, question.shape, question.objective)
    point = formulation.encode(compiled, native.graph)
    assert point is not None
    read = formulation.decode(compiled, np.where(np.isnan(point), 0.0, point))
    assert (read.predict(X) == native.graph.predict(X)).all()
    assert set(read.values) <= set(map(Fraction, y.tolist()))
    stated = problem.solve(formulation="odd")
    assert stated.objective == native.objective and stated.status is tf.Status.OPTIMAL
    assert "regression-search" in stated.solver  # its bound and model were enough
    off = tf.DecisionGraph.constant(Fraction(1, 2), question.data)
    assert formulation.encode(compiled, off) is None


def test_the_native_search_gives_bound_and_model() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(1), exclude=["area"]).minimize("absolute_error + 1/3*nodes")
    free = problem.solve()
    problem += [tf.Monotone("size"), tf.MeanParity("area", difference="0.1")]
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL and result.objective >= free.objective
    assert problem.requirements[1].measured(result.graph, problem.data) <= Fraction(1, 10)
    dropped = [claim.relaxation for claim in result.claims if claim.by == "regression-search"]
    assert any("monotone:size,increasing" in names for names in dropped)
    report = tf.check(json.loads(json.dumps(result.certificate())), X, y)
    assert report.verdict == "verified" and f"proved again by {BY_VALUES}" in str(report)
    judged = problem.judge(free.graph)
    assert judged.violations["mean_parity:groups=area,difference=0.1"] > 0


def test_requirements_are_bound_to_the_target_as_it_is_read() -> None:
    X, y = homes()
    problem = tf.Problem(X, y > 2, shape=tf.Tree(1))
    problem += tf.Monotone("size")
    assert problem.requirements[0].positive is True
    problem.minimize(tf.SquaredError())
    assert problem.requirements[0].positive is None
    assert "value" in problem.requirements[0].needs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.minimize(tf.SquaredError()).solve("highs"), "takes squares"),
        (lambda p: p.minimize(tf.SquaredError()).solve("cp-sat"), "takes a linear objective"),
        (lambda p: p.minimize(tf.SquaredError()).add(tf.Monotone("size")).solve("scip"), "leave out solver"),
        (lambda p: p.add(tf.Monotone("size", positive=3)), "names a positive class"),
        (lambda p: p.add(tf.MeanParity("area")), "has no bound"),
        (lambda p: p.add(tf.MeanParity(difference=1)), "has no groups"),
        (lambda p: p.add(tf.MeanParity("area", difference=-1)), "is not possible"),
        (lambda p: p.minimize(tf.Error()).add(tf.MeanParity("area", difference=1)), "predicted classes"),
        (lambda p: p.solve(tf.RegressionSearch(), formulation="odd"), "takes no formulation"),
        (lambda p: p.solve("cadical195"), "'value'"),
        (lambda p: p.solve(formulation="odd-paper"), "formulation that offers it: odd"),
    ],
)  # fmt: skip
def test_refusals(change, words: str) -> None:
    X, y = homes()
    with pytest.raises(TreeformError, match=words):
        change(tf.Problem(X, y, shape=tf.Tree(1), exclude=["area"]).minimize(tf.AbsoluteError()))


def test_wide_targets_and_diagrams_are_refused_where_they_cannot_be_stated() -> None:
    X, y = homes()
    problem = tf.Problem(X[["size"]], y * 10.0**6 + X["age"], shape=tf.Tree(1)).minimize(tf.AbsoluteError())
    with pytest.raises(SpecError, match=r"grid='100'"):
        problem.solve("cp-sat")
    assert tf.Problem(X[["size"]], y, shape=tf.Diagram(1, 2)).minimize("squared_error").solve().solver
    layered = tf.Problem(X[["size"]], y, shape=tf.Diagram(1, 2, 2)).minimize("squared_error")
    layered += tf.Monotone("size")
    with pytest.raises(SpecError, match=r"or use shape=tf\.Tree"):
        layered.solve()
    flat = tf.Problem(X[["size"]], y, shape=tf.Tree(1)).minimize(tf.AbsoluteError())
    with pytest.raises(DataError, match="one value only"):
        flat.add(tf.MeanParity(np.zeros(len(y)), difference=1))
