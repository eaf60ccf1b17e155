"""Requirements and guarantees in plain words."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import treeform as tf
from treeform import report
from treeform.language.requirement import registered
from treeform.report.claims import ClaimFact
from treeform.report.guarantee import guarantee_of
from treeform.testing.samples import SAMPLES


@pytest.mark.parametrize("requirement", SAMPLES, ids=str)
def test_every_requirement_is_a_clause_without_the_syntax_of_specifications(requirement):
    words = requirement.in_words()
    assert words != str(requirement)
    assert not re.search(r"[=_{}]|Fraction|None", words.replace("balanced_error", ""))
    assert words[0].islower() and words[-1] not in ".:,"


def test_words_are_those_that_were_meant():
    wordings = {
        tf.StatisticalParity(groups="sex", difference="0.05", positive="yes"):
            "the shares predicted yes differ by at most 0.05 between the groups of sex",
        tf.StatisticalParity(groups="sex", difference=0):
            "the share predicted the positive class is the same in every group of sex",
        tf.EqualOpportunity(groups="sex", ratio=0.8, positive="yes"):
            "of the rows that are yes, the share predicted yes is in every group of sex at least 0.8 times that in "
            "any other",
        tf.MinSupport(1): "each side of every test gets at least 1 row",
        tf.MaxErrors(fraction=0.05): "the model misclassifies at most 5 % of the rows",
        tf.MaxLeaves(1): "the model has at most 1 leaf",
        tf.MinRecall("2/3", positive="yes"): "of the rows that are yes, at least 2/3 are predicted yes",
        tf.Monotone("age", "decreasing", positive="yes"): "a greater age never makes yes more likely",
    }  # fmt: skip
    for requirement, words in wordings.items():
        assert requirement.in_words() == words


def test_monotone_speaks_of_values_in_regression():
    problem = tf.Problem(pd.DataFrame({"age": [20.0, 30, 40, 50]}), [1.5, 2, 2, 4], shape="tree:1").minimize(
        "squared_error"
    )
    for direction, words in (("increasing", "lowers"), ("decreasing", "raises")):
        bound = (problem + tf.Monotone("age", direction)).requirements[-1]
        assert bound.in_words() == f"a greater age never {words} the predicted value"


def test_every_requirement_of_ours_has_words():
    ours = [kind for kind in registered().values() if kind.__module__.startswith("treeform.requirements")]
    assert all(kind.words or kind.in_words is not tf.Requirement.in_words for kind in ours)


def test_the_guarantee_and_every_form_of_the_report_say_them():
    table = pd.DataFrame({"age": [20.0, 30, 40, 50, 60, 70], "sex": list("fmfmfm")})
    problem = tf.Problem(table, ["no", "no", "yes", "no", "yes", "yes"], shape="tree:1", exclude=["sex"])
    problem += tf.StatisticalParity(groups="sex", difference="0.5")
    problem += tf.MinSupport(2)
    result = problem.solve()
    facts = report.of_result(result, prices=result.prices())
    words = "The shares predicted yes differ by at most 0.5 between the groups of sex"
    assert f"{words}: holds on the training rows, counted here in exact arithmetic." in facts.guarantee.proved
    assert any("No decision tree of depth 1 or less that satisfies every requirement has fewer than" in s
               for s in facts.guarantee.proved)  # fmt: skip
    assert not any("statistical_parity" in s for s in (*facts.guarantee.proved, *facts.guarantee.on_trust))
    assert facts.prices[0][0] == words
    for text in (
        report.render_html(facts),
        report.render_markdown(facts),
        report.render_json(facts),
        report.render_text(facts),
    ):
        assert words in text
    page = report.render_html(facts).replace("<wbr>", "")
    assert "statistical_parity:groups=sex,difference=0.5,positive=yes" in page


def test_what_is_violated_is_said():
    table = pd.DataFrame({"age": [20.0, 30, 40, 50], "sex": list("ffmm")})
    problem = tf.Problem(table, ["no", "no", "yes", "yes"], shape="tree:1")
    problem += tf.StatisticalParity(groups="sex", difference=0)
    model = tf.DecisionGraph.from_nested((0, 35.0, 0, 1), problem.data)
    facts = report.of_model(model, problem.question)
    assert (
        "The share predicted yes is the same in every group of sex: does NOT hold (rates differ by 1; at most 0 is "
        "allowed) on these rows, counted here in exact arithmetic."
    ) in facts.guarantee.proved


def test_what_a_bound_leaves_out_is_said_in_words():
    problem = tf.Problem([[0.0], [1.0]] * 4, [0, 1] * 4, shape="tree:1")
    problem += tf.MinSupport(2)
    question, claim = problem.question, {"by": "contree", "seconds": 0.1, "rechecked": "by solving again"}
    lower = ClaimFact(kind="lower", what="", value="3", relaxation=("min_support:2",), **claim)
    none = ClaimFact(kind="infeasible", what="", value="", relaxation=(), **claim)
    made = guarantee_of(
        question,
        status=None,
        counted="",
        judged=(),
        rows_of="",
        claims=[lower, none],
        compared=False,
        held_out=False,
    )
    assert made.proved == (
        "No decision tree of depth 1 or less, even where it need not hold that each side of every test gets at least 2 "
        "rows, has fewer than 3 errors: found by contree; treeform check repeats it by solving again.",
        "No decision tree of depth 1 or less that satisfies every requirement exists: found by contree; treeform check "
        "repeats it by solving again.",
    )
