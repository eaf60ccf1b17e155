"""Objectives by class, by group and as ratios: native search against enumeration, solvers, certificates, text."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.certificate import sign
from treeform.certify.schema import CertificatePart
from treeform.certify.statements import question_of
from treeform.errors import SpecError
from treeform.language.objective import Objective
from treeform.testing import brute_force


def problem_of(seed, rows=10):
    """A tiny problem with one of the objectives, often under a requirement."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(5, rows)), int(rng.integers(2, 4))
    X = rng.integers(0, int(rng.integers(2, 4)), size=(n, int(rng.integers(1, 4)))).astype(float)
    y = np.arange(n) % classes
    rng.shuffle(y)
    group = rng.integers(0, int(rng.integers(2, 4)), n)
    group[:2] = (0, 1)
    weights = [None, rng.integers(1, 6, n), np.round(rng.random(n) * 3 + 0.1, 1)][seed % 3]
    shape = tf.Tree(int(rng.integers(1, 3)))
    problem = tf.Problem(X, y, shape=shape, sample_weight=weights, sensitive_features=group)
    positive = int(rng.integers(0, classes))
    problem.minimize(
        [
            tf.F1Loss(positive=positive),
            tf.MaxGroupError(),
            tf.BalancedError() + tf.Nodes() / 20,
            tf.GroupError(),
            tf.GroupError(group, {0: 2, 1: 1}) + tf.BalancedError() + tf.Error() / 10 + tf.Leaves() / 7,
            tf.MaxGroupError() + tf.Nodes() / 10,
            tf.MatthewsLoss(positive=positive),
        ][seed % 7]
    )
    if rng.random() < 0.5:
        problem += tf.StatisticalParity(difference=str(rng.choice(["0", "0.2"])), positive=positive)
    if rng.random() < 0.3:
        problem += tf.MaxNodes(int(rng.integers(0, 3)))
    return problem


@pytest.mark.parametrize("block", range(3))
def test_the_native_search_finds_what_enumeration_finds(block, draw):
    for seed in draw(range(block * 30, block * 30 + 30), 7):
        problem = problem_of(seed)
        question = problem.question
        wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
        result = problem.solve(tf.TotalsSearch())
        assert result.status is tf.Status.OPTIMAL, seed
        assert result.objective == wanted[0] == result.bound, seed


@pytest.mark.parametrize(
    ("solver", "formulation"), [("highs", "odd"), ("cp-sat", "odd"), ("sat", "sat-depth")]
)
@pytest.mark.parametrize("seed", [0, 1, 3, 6])
def test_solvers_find_it_too(solver, formulation, seed):
    problem = problem_of(seed, rows=8)
    question = problem.question
    wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
    result = problem.solve(solver, formulation=formulation, warm_start=None)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, wanted[0])


def test_a_diagram_is_solved_in_parts_on_a_solver():
    X, y, group = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 1, 0] * 2, [0, 0, 1, 1, 1, 1, 0, 0]
    for objective in (tf.F1Loss(), tf.MatthewsLoss(), tf.MaxGroupError(groups=np.array(group))):
        problem = tf.Problem(X, y, shape=tf.Diagram(1, 2)).minimize(objective)
        assert problem.solve("cp-sat").objective == 0


def test_infeasible_whatever_the_objective():
    frame, y = pd.DataFrame({"a": [0, 0, 1, 1], "g": [0, 1, 1, 0]}), [0, 1, 0, 1]
    problem = tf.Problem(frame, y, shape=tf.Tree(1), exclude=["g"])
    problem += [AtLeastOneTest(), tf.MinSupport(3)]
    for objective in (tf.F1Loss(), tf.MatthewsLoss(), tf.MaxGroupError("g")):
        result = problem.minimize(objective).solve()
        assert result.status is tf.Status.INFEASIBLE
        assert str(tf.check(result.certificate(), frame, y).verdict) != "false"


class AtLeastOneTest(tf.Requirement):
    """No constant model."""

    needs = frozenset({"active"})

    def build(self, model, ports):
        model.add(ports.active.sum() >= 1)

    def violation(self, graph, data):
        return max(0, 1 - graph.n_nodes)


# -- what the values are ---------------------------------------------------------------------------------------------


def test_values_are_those_of_scikit_learn():
    from sklearn.metrics import balanced_accuracy_score, f1_score

    rng = np.random.default_rng(3)
    X, y, group = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40), rng.integers(0, 3, 40)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    graph = problem.solve("contree").graph
    guess = graph.predict(X)
    rates = [float((guess != y)[group == g].mean()) for g in range(3)]
    for objective, wanted in (
        (tf.F1Loss(positive=0), 1 - f1_score(y, guess, pos_label=0)),
        (tf.BalancedError(), 1 - balanced_accuracy_score(y, guess)),
        (tf.GroupError(group), np.mean(rates)),
        (tf.MaxGroupError(group), max(rates)),
    ):
        value = Objective.of(objective).bind(problem.data).evaluate(graph, problem.data)
        assert isinstance(value, Fraction)
        assert float(value) == pytest.approx(wanted)


def test_a_run_that_is_stopped_leaves_a_true_bound():
    rng = np.random.default_rng(0)
    X, group = rng.integers(0, 2, (300, 12)), rng.integers(0, 2, 300)
    y = (X[:, :3].sum(axis=1) > 1) ^ (rng.random(300) < 0.2)
    problem = tf.Problem(X, y.astype(int), shape=tf.Tree(3), sensitive_features=group)
    for objective in (tf.F1Loss(), tf.MatthewsLoss(), tf.MaxGroupError()):
        best = problem.minimize(objective).solve(tf.TotalsSearch())
        assert best.status is tf.Status.OPTIMAL
        for seconds in (0.001, 0.01):
            early = problem.solve(tf.TotalsSearch(), time_limit=seconds)
            assert early.bound <= best.objective <= early.objective


# -- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_certificates_are_proved_again(seed):
    rng = np.random.default_rng(seed)
    X, y, group = rng.integers(0, 3, (30, 3)), np.arange(30) % 2, rng.integers(0, 3, 30)
    objective = [
        tf.F1Loss(positive=1),
        tf.MaxGroupError(group),
        tf.GroupError(group),
        tf.BalancedError(),
        tf.MatthewsLoss(),
    ][seed % 5]
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(objective)
    problem += tf.StatisticalParity(groups=group, difference="0.1")
    result = problem.solve(tf.TotalsSearch())
    certificate = json.loads(json.dumps(result.certificate()))
    report = tf.check(certificate, X, y, sensitive_features=group)
    assert report.ok, str(report)


@pytest.mark.parametrize("objective", [tf.F1Loss(positive=1), tf.MatthewsLoss(), tf.MaxGroupError("g")])
def test_a_bound_that_is_too_high_is_refused(objective):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 3, (30, 3)), columns=["a", "b", "c"]).assign(
        g=rng.integers(0, 2, 30)
    )
    y = np.arange(30) % 2
    problem = tf.Problem(frame, y, shape=tf.Tree(2), exclude=["g"]).minimize(objective)
    assert tf.check(problem.solve(tf.TotalsSearch()).certificate(), frame, y).ok
    # The best constant model, called the best of all.
    problem += tf.MaxNodes(0)
    forged = problem.solve(tf.TotalsSearch()).certificate()
    forged["problem"]["requirements"] = []
    forged["answer"]["violations"] = {}
    report = tf.check(sign(forged), frame, y)
    assert str(report.verdict) == "false"
    assert "refuted by a model" in str(report)


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "f1_loss",
        "f1_loss[positive=yes]",
        "matthews_loss[positive=yes]",
        "balanced_error + 1/2*nodes",
        "group_error[groups=sex,female=1,male=1/2]",
        'max_group_error[groups="@Sex=Male"] + 1/10*nodes',
        "cost[0 5; 1 0] + error",
    ],
)
def test_text_is_read_back(text):
    assert str(Objective.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f1_loss[label=1]", "no setting 'label'"),
        ("f1_loss[positive]", "not understood"),
        ("balanced_error[2]", "takes nothing in brackets"),
        ("f1_loss + nodes", "mixes f1_loss with other terms"),
        ("matthews_loss + nodes", "mixes matthews_loss with other terms"),
        ("matthews_loss[positive=7]", "no class '7'"),
        ("f1_loss + max_group_error[groups=g]", "mixes"),
        ("max_group_error", "has no groups"),
        ("group_error[groups=g,x=1]", "no group 'x'"),
        ("group_error[groups=g,0=-1]", "negative"),
        ("f1_loss[positive=7]", "no class '7'"),
    ],
)
def test_what_cannot_be_minimised(text, message):
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "g": [0, 0, 1, 1]})
    with pytest.raises(SpecError, match=message):
        tf.Problem(frame, [0, 1, 0, 1], shape=tf.Tree(1)).minimize(text)


def test_engines_that_know_no_groups_name_the_objective():
    problem = tf.Problem([[0], [1], [2]], [0, 1, 0], shape=tf.Tree(1), sensitive_features=[0, 1, 1])
    with pytest.raises(
        SpecError, match=r"cannot support the objective max_group_error.*\n.*\n.*TotalsSearch"
    ):
        problem.minimize(tf.MaxGroupError()).solve("contree")


def test_the_question_of_a_certificate_has_the_groups_given_again():
    group = np.array(["u", "v", "u", "v"])
    problem = tf.Problem([[0], [1], [2], [3]], [0, 1, 0, 1], shape=tf.Tree(1)).minimize(
        tf.MaxGroupError(group)
    )
    body = CertificatePart.model_validate(problem.solve().certificate())
    groups = {"groups": problem.objective.terms[0][1].groups}
    assert question_of(body, problem.data, groups).objective == problem.objective


def test_the_command_line_minimises_them(tmp_path):
    from typer.testing import CliRunner

    from treeform.cli.app import app

    path = tmp_path / "t.csv"
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=["a", "b", "c"])
    frame["sex"], frame["y"] = rng.choice(["f", "m"], 40), rng.choice(["no", "yes"], 40)
    frame.to_csv(path, index=False)
    for text in ("f1_loss[positive=yes]", "matthews_loss", "max_group_error[groups=sex]"):
        out = CliRunner().invoke(
            app,
            ["fit", str(path), "--target", "y", "--shape", "tree:2", "--minimize", text, "--exclude", "sex"],
        )
        assert out.exit_code == 0, out.output
        assert "optimal" in out.output
