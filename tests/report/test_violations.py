"""A model that violates requirements: what judge, report and check say of it, and how commands end."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform import report
from treeform.certify.judgement import judge
from treeform.cli.app import app
from treeform.language.findings import apart, finding

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "examples/data/german-credit.csv"
PARITY = "statistical_parity:groups=sex,difference=0.01,positive=yes"
DRAWN = {
    "column": "checking_account",
    "is": "below 0 DM",
    "yes": {"column": "duration_months", "is": ">=13", "yes": {"predict": "no"}, "no": {"predict": "yes"}},
    "no": {"predict": "yes"},
}


def judged() -> tf.Judgement:
    problem = tf.Problem(pd.read_csv(TABLE), "creditworthy", shape=tf.Tree(2), exclude=["sex"])
    problem += tf.StatisticalParity(groups="sex", difference="0.01", positive="yes")
    problem += tf.MinSupport("0.05")
    return problem.judge(DRAWN)


def test_judge_says_first_what_is_violated_and_by_how_much() -> None:
    judgement = judged()
    rates = judgement.question.requirements[0].measured(judgement.graph, judgement.question.data)
    found = f"rates differ by {float(rates):.3g}; at most 0.01 is allowed"
    assert str(judgement).splitlines()[0] == f"VIOLATED   {PARITY}: {found}"
    assert judgement.findings == {PARITY: found}


def test_check_says_violated_and_not_verified() -> None:
    judgement = judged()
    outcome = tf.check(judgement.certificate(), pd.read_csv(TABLE))
    assert (str(outcome.verdict), outcome.ok) == ("violated", False)
    assert outcome.sentence.startswith(f"violated: the model violates {PARITY} (rates differ by")
    kept = judgement.question.with_(requirements=judgement.question.requirements[1:])
    assert str(tf.check(judge(kept, judgement.graph).certificate(), pd.read_csv(TABLE)).verdict) == "verified"


def test_a_shape_that_does_not_fit_is_a_violation() -> None:
    problem = tf.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], shape=tf.Tree(1))
    two = {"column": "x0", "at_most": 0, "yes": {"predict": 0}, "no": {
        "column": "x0", "at_most": 2, "yes": {"predict": 1}, "no": {"predict": 0}}}  # fmt: skip
    judgement = problem.judge(two)
    assert str(judgement).startswith("DOES NOT FIT tree:1: depth 2 exceeds 1")
    outcome = tf.check(judgement.certificate(), [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert str(outcome.verdict) == "violated"
    assert "depth 2 exceeds 1" in outcome.sentence


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_the_report_says_it_first_and_no_heading_says_the_contrary(form: str) -> None:
    judgement = judged()
    facts = report.of_model(
        judgement.graph, judgement.question, certificate=judgement.certificate(), rows_of="given"
    )
    assert facts.verdict.startswith(
        "The model VIOLATES 1 of 2 requirements on these rows: statistical_parity"
    )
    assert "rates differ by" in facts.verdict
    text = {"html": report.render_html, "md": report.render_markdown, "json": report.render_json}[form](facts)
    assert "VIOLATES 1 of 2 requirements" in text
    words = facts.requirements[0].words
    assert words.startswith("The shares predicted yes differ by at most 0.01")
    assert f"<h3>{words}" not in text
    assert f"# {words}" not in text
    assert "does NOT hold (rates differ by" in text


def test_a_model_that_satisfies_everything_is_told_so() -> None:
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1)).add(tf.MaxErrors(0))
    judgement = problem.judge(problem.solve().graph)
    facts = report.of_model(
        judgement.graph, judgement.question, certificate=judgement.certificate(), rows_of="given"
    )
    assert facts.verdict.startswith("A model, judged on these rows: it satisfies every requirement on them.")
    assert str(tf.check(judgement.certificate(), [[0.0], [1.0]], [0, 1]).verdict) == "verified"


def test_exit_codes(tmp_path: Path) -> None:
    model, certificate = tmp_path / "tree.json", tmp_path / "judged.json"
    model.write_text(json.dumps(DRAWN))
    stated = ["--target", "creditworthy", "--exclude", "sex", "--require", "min_support:0.05"]
    run = CliRunner().invoke
    asked = ["judge", str(TABLE), "--model", str(model), *stated, "--certificate", str(certificate)]
    good = run(app, asked)
    assert (good.exit_code, run(app, ["check", str(certificate), str(TABLE)]).exit_code) == (0, 0)
    bad = run(app, [*asked, "--require", PARITY])
    assert bad.exit_code == 7
    assert bad.output.startswith("VIOLATED   statistical_parity")
    again = run(app, ["check", str(certificate), str(TABLE)])
    assert again.exit_code == 7
    assert again.output.splitlines()[-1].startswith("violated: the model violates")


def test_numbers_that_differ_look_different() -> None:
    assert apart(Fraction(2441, 113900), Fraction(1, 100)) == ("0.0214", "0.01")
    assert apart(Fraction(1, 100) + Fraction(1, 10**9), Fraction(1, 100)) == ("0.010000001", "0.01")
    assert apart(Fraction(10**30 + 1, 10**32), Fraction(1, 100)) == (
        str(Fraction(10**30 + 1, 10**32)),
        "1/100",
    )
    assert apart(5, 3) == ("5", "3")
    assert apart(Fraction(1, 2), Fraction(80123, 100000)) == ("0.5", "0.80123")


def test_findings_in_the_units_of_requirements() -> None:
    problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Tree(2))
    graph = problem.solve().graph
    texts = {
        tf.MaxNodes(1): "2 tests; at most 1 is allowed",
        tf.MaxDepth(1): "depth 2; at most 1 is allowed",
        tf.MaxErrors(0): "0 errors; at most 0 is allowed",
        tf.MinSupport(2): "a side of a test gets 1; at least 2 is required",
        tf.Stability("0.9"): "a test is reached by 0.667 of the weight; at least 0.9 is required",
        tf.NoTestOn("x0"): "it lacks 2",
    }
    for requirement, text in texts.items():
        assert finding(requirement.bind(problem.data), graph, problem.data) == text


def test_a_group_without_a_rate_is_shown_without_one() -> None:
    """No sample of the group is of the positive class, so that there is nothing to compare."""
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "g": list("uuvw")})
    problem = tf.Problem(table, [1, 0, 1, 0], shape=tf.Tree(1), exclude=["g"])
    problem += tf.EqualOpportunity("g", difference=0, positive=1)
    result = problem.solve()
    page = report.html(result)
    assert "w –" in page
    assert "w –" in report.text(result)
