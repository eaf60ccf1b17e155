"""The reference search of `treeform check --independent`: equal to exhaustive enumeration, within its reach."""

from __future__ import annotations

import json

import numpy as np
import pytest
from repository import ROOT

import treeform as tf
from treeform.certify.reference import OutOfReach, Stopped, _models, least_value
from treeform.certify.schema import json_schema
from treeform.data import Dataset
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.shape import Diagram, Tree
from treeform.solve.verification import verify
from treeform.testing import brute_force, draw_cases
from treeform.utils.budget import Budget

REQUIREMENTS = [
    [],
    [tf.MaxNodes(2)],
    [tf.MinSupport(0.25), tf.MaxErrors(0.5)],
    [tf.Stability(0.5)],
    [tf.StatisticalParity(groups="group", difference=0.3)],
    [tf.Monotone("age", positive=1)],
    [tf.FeatureBudget(1), tf.MaxNodes(2)],
]
SHAPES = (Tree(2), Diagram(1, 1), Tree(1))


@pytest.mark.drawn(14)
@pytest.mark.parametrize("number", range(len(REQUIREMENTS)))
@pytest.mark.parametrize("objective", ["error", "error + 1/2*nodes", "2*leaves", "depth"])
def test_equals_exhaustive_enumeration(number, objective):
    requirements, compared = REQUIREMENTS[number], 0
    for case in draw_cases(3, seed=number, shapes=SHAPES):
        if case.data.n_classes > 2 and any(isinstance(r, tf.StatisticalParity) for r in requirements):
            continue
        if objective == "depth" and not isinstance(case.shape, Tree):
            continue
        goal = Objective.parse(objective)
        try:
            bound = tuple(requirement.bind(case.data) for requirement in requirements)
        except tf.errors.Infeasible:
            continue
        question = Question(case.data, case.shape, goal, bound)
        found = brute_force(case.data, case.shape, goal, bound)
        try:
            least = least_value(question)
        except OutOfReach:
            continue
        assert least == (None if found is None else found[0]), case.code(*bound)
        compared += 1
    assert compared


def test_costs_weights_and_deeper_trees_agree_with_an_engine():
    rng = np.random.default_rng(2)
    for seed in range(6):
        X, y = rng.integers(0, 4, (30, 3)).astype(float), rng.integers(0, 3, 30)
        weights = rng.integers(1, 9, 30) / 4
        problem = tf.Problem(X, y, shape=tf.Tree(3), sample_weight=weights)
        problem.minimize(
            tf.Cost([[0, 1, 2], [3, 0, 1], ["1/2", 1, 0]]) + tf.Nodes() / 3 if seed % 2 else tf.Error()
        )
        problem += [tf.MinSupport(0.1), tf.MaxNodes(4)]
        assert least_value(problem.question) == problem.solve().objective


def test_what_is_out_of_reach_is_refused_before_any_search():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 10)), rng.integers(0, 2, 300)
    for shape in (Tree(3), Diagram(1, 2, 2), Tree(1, "multivariate")):
        question = Question(Dataset.from_user(X, y), shape, Objective.of(tf.Error()))
        with pytest.raises(OutOfReach, match="out of reach"):
            least_value(question)


def test_it_can_be_stopped():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 2)), rng.integers(0, 2, 30)
    question = Question(Dataset.from_user(X, y), Tree(2), Objective.of(tf.Error()))
    with pytest.raises(Stopped):
        least_value(question, Budget(over=lambda: True))


def test_pass_throughs_are_models():
    """XOR with two layers of one test each and one of two: four tests without errors, the first of which passes."""
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    question = Question(Dataset.from_user(X, [0, 1, 1, 0]), Diagram(1, 1, 2), Objective.of(tf.Error()))
    assert least_value(question) == 0
    narrow = Question(Dataset.from_user(X, [0, 1, 1, 0]), Diagram(1, 1, 1), Objective.of(tf.Error()))
    assert least_value(narrow) == 1


def test_a_side_may_hold_a_single_sample():
    X, y = [[0.0], [1], [2], [3]], [1, 0, 0, 0]
    question = Question(Dataset.from_user(X, y), Tree(1), Objective.of(tf.Error()))
    assert least_value(question) == 0
    supported = Question(question.data, Tree(1), question.objective, (tf.MinSupport(2).bind(question.data),))
    assert least_value(supported) == 1


class WithoutTheFirst(tf.Requirement):
    """No engine knows it: its rows have a column of their own."""

    name = "without_the_first_in_reference_search"
    needs = frozenset({"feature"})

    def build(self, model, ports):
        used = model.bool("used")
        model.add(ports.feature[:, 0].sum() <= len(ports.shape.widths) * 8 * used)
        model.add(used <= 0)

    def violation(self, graph, data):
        return int(0 in graph.features_used())


def test_a_check_asks_the_reference_search_where_no_engine_can_prove_it():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 1, 1]
    result = tf.Problem(X, y, shape=tf.Tree(1)).add(WithoutTheFirst()).solve("cp-sat", formulation="odd")
    assert result.objective == 2
    report = tf.check(result.certificate(), X, y)
    assert report.ok and "reference search" in str(report), str(report)


def test_out_of_its_reach_an_independent_check_takes_an_engine_on_trust():
    rng = np.random.default_rng(0)
    X, y = rng.random((1500, 1)), rng.integers(0, 2, 1500)
    certificate = tf.Problem(X, y, shape=tf.Tree(4)).solve("contree").certificate()
    assert tf.check(certificate, X, y).ok
    report = tf.check(certificate, X, y, independent=True)
    assert str(report.verdict) == "on trust" and "native engine contree" in str(report)


def test_the_published_schema_is_current():
    path = ROOT / "docs/reference/certificate.schema.json"
    if not path.parent.is_dir():
        pytest.skip("the documentation is in the repository only")
    published = json.loads(path.read_text())
    assert published == json_schema(), "treeform check --schema > docs/reference/certificate.schema.json"


def test_the_schema_takes_certificates_and_no_others():
    jsonschema = pytest.importorskip("jsonschema")
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "a"]
    certificate = json.loads(json.dumps(tf.Problem(X, y, shape=tf.Tree(2)).solve().certificate()))
    jsonschema.validate(certificate, json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**certificate, "note": 1}, json_schema())


def test_many_models_of_a_large_table_are_refused_without_listing_them() -> None:
    """Of 20,000 tests, each with four pairs of leaves, not one model is made."""
    rng = np.random.default_rng(0)
    data = tf.Dataset.from_user(rng.normal(size=(10_000, 2)), rng.integers(0, 2, 10_000))
    rule = tf.MaxTestsPerPath(["x0"], 1).bind(data)
    question = Question(data, tf.Tree(3), Objective.of("error"), (rule,))
    with pytest.raises(OutOfReach, match="out of reach"):
        least_value(question, Budget(over=lambda: pytest.fail("a model was made")))


def test_counting_the_models_can_be_stopped() -> None:
    rng = np.random.default_rng(0)
    data = tf.Dataset.from_user(rng.integers(0, 9, (60, 3)).astype(float), rng.integers(0, 2, 60))
    rule = tf.MaxTestsPerPath(["x0"], 1).bind(data)
    with pytest.raises(Stopped):
        least_value(Question(data, tf.Tree(3), Objective.of("error"), (rule,)), Budget(over=lambda: True))


def test_a_limit_on_errors_may_be_reached():
    problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Tree(1))
    assert least_value((problem + tf.MaxErrors(1)).question) == 1
    assert least_value((problem + tf.MaxErrors(0)).question) is None


def test_a_test_parts_the_rows_that_arrive_at_it():
    """One test and two classes at depth two.

    2 constant models; a pass-through to a leaf (2), to another one (2), or to the test over different leaves (2);
    the test over different leaves (2), over a leaf and a pass-through (2 x 2, on either side), over two of them (4).
    """
    problem = tf.Problem([[0.0], [1.0]], ["a", "b"], shape=tf.Tree(2))
    assert sum(1 for _ in _models(problem.question)) == 2 + (2 + 2 + 2) + 2 + 2 * 4 + 4


def test_a_required_test_may_have_two_leaves_of_one_class() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1], [1, 0]])
    problem = tf.Problem(X, [0, 1, 0, 1, 1, 0, 0], shape=tf.Tree(1))
    parity = tf.StatisticalParity(groups=[0, 1, 0, 0, 1, 0, 1], difference="0", positive=1)
    problem.minimize(tf.Nodes() + 2 * tf.Soft(parity))
    problem += tf.Uses(["x0"])
    question = problem.question
    alike = tf.DecisionGraph.from_nested((0, 0.5, 0, 0), question.data)
    assert verify(question, alike).ok and question.objective.evaluate(alike, question.data) == 1
    assert least_value(question) == 1
