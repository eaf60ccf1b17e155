"""What a report says of groups, of held-out rows and of itself, recounted in another way."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association
from typer.testing import CliRunner

import treeform as tf
from treeform import report
from treeform.cli.app import app
from treeform.errors import SpecError
from treeform.report.facts import of_model
from treeform.report.fairness import group_tables
from treeform.report.proxies import _cramer, proxies


def table(seed: int, n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    made = pd.DataFrame({
        "income": rng.normal(3, 1, n).round(2), "owner": rng.integers(0, 2, n),
        "height": rng.normal(165, 5, n).round() + 14 * (sex == "m"), "sex": sex, "region": rng.choice(["n", "s"], n),
    })  # fmt: skip
    good = (made["income"] + made["owner"] + (made["height"] > 172) + rng.normal(0, 0.7, n)) > 4
    return made.assign(credit=np.where(good, "good", "bad"))


@pytest.fixture(scope="module")
def fitted() -> tuple[tf.Problem, tf.Result]:
    problem = tf.Problem(table(0), "credit", shape=tf.Tree(2), exclude=["sex", "region"])
    problem += tf.StatisticalParity(groups="sex", difference="0.6", positive="good")
    return problem, problem.solve()


@pytest.fixture(scope="module")
def facts(fitted) -> report.Facts:
    problem, result = fitted
    later = tf.data.Dataset.for_model(
        problem.data.encoder,
        problem.data.classes,
        *(lambda t: (t.drop(columns="credit"), t["credit"]))(table(1)),
    )
    about = report.About(owner="Credit risk", sensitive=("region",), columns={"income": "thousands a month"})
    return report.of_result(result, about=about, held_out=report.HeldOut(later, "later.csv"))


def test_group_figures_are_those_of_a_plain_recount(fitted, facts):
    _, result = fitted
    for rows_of, frame in (("training", table(0)), ("held-out", table(1))):
        predicted = pd.Series(result.graph.predict(frame.drop(columns="credit"), unseen="other"))
        found = {one.attribute: one for one in facts.groups if one.rows_of == rows_of}
        assert set(found) == {"sex", "region", "sex × region"}
        keys = {
            "sex": frame["sex"],
            "region": frame["region"],
            "sex × region": frame["sex"] + " & " + frame["region"],
        }
        for name, key in keys.items():
            assert [row.group for row in found[name].rows] == sorted(key.unique())
            for row in found[name].rows:
                here = key == row.group
                good, chosen = frame["credit"] == "good", predicted == "good"
                assert row.rows == here.sum()
                assert row.selected == Fraction(int((here & chosen).sum()), int(here.sum()))
                assert row.true_positive == Fraction(
                    int((here & good & chosen).sum()), int((here & good).sum())
                )
                assert row.false_positive == Fraction(
                    int((here & ~good & chosen).sum()), int((here & ~good).sum())
                )
                assert row.wrong == (here & (good != chosen)).sum()
                assert row.error == Fraction(row.wrong, row.rows)


def test_held_out_figures_stand_under_their_own_name(fitted, facts):
    _, result = fitted
    frame = table(1)
    wrong = int((result.graph.predict(frame.drop(columns="credit"), unseen="other") != frame["credit"]).sum())
    assert dict(facts.held_out)["held-out errors"] == f"{wrong} of 120"
    assert dict(facts.outcome)["training errors"] == f"{result.errors} of 120"
    assert sum(map(sum, facts.held_out_confusion)) == 120
    assert all(fact.held_out for fact in facts.requirements)
    assert not any("held-out table was given" in sentence for sentence in facts.guarantee.not_asked)


def test_a_column_that_tells_the_group_is_warned_of(fitted):
    problem, _ = fitted
    data = problem.data
    names = [column.name for column in data.columns]
    graph = tf.DecisionGraph.from_nested(
        (names.index("height"), 172.5, (names.index("income"), 3.0, 0, 1), 1), data
    )
    found = {one.column: one for one in proxies(graph, data, (("sex", "sex"),))}
    assert found["height"].warns
    assert not found["income"].warns
    assert found["height"].guessed > 0.85 > 0.6 > found["height"].base
    page = report.render_html(of_model(graph, problem.question))
    assert "a proxy of <strong>sex</strong>" in page
    itself = tf.Problem(table(0), "credit", shape=tf.Tree(1))
    sex = [column.name for column in itself.data.columns].index("sex = m")
    told = proxies(
        tf.DecisionGraph.from_nested((sex, 0.5, 0, 1), itself.data), itself.data, (("sex", "sex"),)
    )
    assert [(one.itself, one.warns, one.association) for one in told] == [(True, True, pytest.approx(1.0))]


def test_the_association_is_cramers_v():
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (3, 4), (5, 2)):
        table = rng.integers(1, 20, shape)
        assert _cramer(table) == pytest.approx(association(table, method="cramer"))


def test_columns_of_zeros_and_ones_are_yes_and_no(fitted):
    problem, _ = fitted
    names = [column.name for column in problem.data.columns]
    graph = tf.DecisionGraph.from_nested((names.index("owner"), 0.5, 0, 1), problem.data)
    facts = of_model(graph, problem.question)
    assert facts.rules[0].startswith("if owner is yes then good")
    assert facts.rules[1].startswith("if owner is no then bad")
    assert "owner is yes" in facts.svg
    assert "owner &lt;=" not in facts.svg
    assert {arc for node in facts.explore["nodes"] for arc, *_ in node["arcs"]} == {"yes", "no"}


def test_what_nobody_asked_is_said(fitted):
    problem, result = fitted
    plain = tf.Problem(table(0), "credit", shape=tf.Tree(1), exclude=["sex", "region"]).solve()
    of_text = report.of_result(plain, columns=False)
    assert of_text.columns == () and report.of_result(plain).columns[0][0] == "column"
    told = " ".join(of_text.guarantee.not_asked)
    for word in ("Equal treatment", "monotonicity", "held-out table", "single row"):
        assert word in told
    assert "Equal treatment" not in " ".join(report.of_result(result).guarantee.not_asked)
    proved = report.of_result(result).guarantee.proved
    assert any(f"has fewer than {result.bound} errors" in sentence for sentence in proved)
    unproved = problem.solve("highs", warm_start="contree", time_limit=0.01)
    if unproved.status is tf.Status.FEASIBLE:
        assert report.of_result(unproved).guarantee.on_trust


def test_markdown_and_json_state_the_same(facts):
    text = report.render_markdown(facts)
    value = json.loads(report.render_json(facts))
    assert value["format"] == "treeform.report/1"
    assert value["about"]["owner"] == "Credit risk"
    assert value["groups"][0]["rows"][0]["selected"].count("/") <= 1
    for rule in facts.rules:
        assert " ".join(rule.split()) in text
        assert rule in value["rules"]
    for sentence in (*facts.guarantee.proved, *facts.guarantee.not_asked):
        assert sentence in text
    widths = {
        len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if "largest difference" in line
    }
    assert widths == {8}
    assert "thousands a month" in text


def test_an_attribute_that_is_not_there_is_said_and_not_counted(fitted):
    problem, result = fitted
    (only,) = group_tables(result.graph, problem.data, (("nothing", "nothing"),), 1, "training")
    assert only.rows == ()
    assert "no column 'nothing'" in only.note


def test_a_hyperplane_over_missing_levels_is_asked():
    X = pd.DataFrame({"job": ["a", None, "b", None, "a", "b"], "age": [1.0, 2, 3, 4, 5, 6]})
    problem = tf.Problem(X, [0, 1, 0, 1, 1, 0], shape=tf.Tree(1, "multivariate"))
    named = {(column.source, column.category): f for f, column in enumerate(problem.data.columns)}
    nodes = [
        {"weights": {named["job", None]: 2.0, named["age", None]: 0.1}, "threshold": 1.0, "left": 1, "right": 2},
        {"label": 0},
        {"label": 1},
    ]
    facts = report.of_model(tf.DecisionGraph.build(nodes, problem.data), problem.question)
    terms = facts.ask["nodes"]["0"]["sum"]["terms"]
    assert {"weight": 2.0, "column": "job", "of": "level", "level": None} in terms
    assert '"level": null' in report.render_html(facts) or '"level":null' in report.render_html(facts)


def test_about_files(tmp_path: Path):
    file = tmp_path / "about.toml"
    file.write_text(
        'owner = "me"\nsensitive = ["sex"]\n[card]\nintended_use = "loans"\n[columns]\nage = "years"\n'
    )
    about = report.read_about(file)
    assert about.fields() == (("owner", "me"),)
    assert dict(about.questions())["What is the model meant for, and who uses it?"] == "loans"
    for text, what in (
        ("ownr = 'x'", "owner"),
        ("owner = 3", "string"),
        ("owner =", "TOML"),
        ("[card]\nuse = 'x'", "card.use"),
    ):
        file.write_text(text)
        with pytest.raises(SpecError) as caught:
            report.read_about(file)
        assert what in str(caught.value) + str(caught.value.cause) + str(caught.value.fix)
    with pytest.raises(SpecError, match="there is no file"):
        report.read_about(tmp_path / "none.toml")


def test_the_command(tmp_path: Path):
    table(0).to_csv(tmp_path / "train.csv", index=False)
    table(1).to_csv(tmp_path / "later.csv", index=False)
    (tmp_path / "about.toml").write_text('owner = "Credit risk"\nsensitive = ["region"]\n')
    run = CliRunner()

    def done(*words: object) -> object:
        return run.invoke(app, [str(word) for word in words])

    spoken = ["--about", tmp_path / "about.toml"]
    asked = ["--exclude", "sex", "--exclude", "region", "--require", "statistical_parity:sex,difference=0.6"]
    files = ["--certificate", tmp_path / "c.json", "--report", tmp_path / "fit.md"]
    fit = done(
        "fit", tmp_path / "train.csv", "--target", "credit", "--shape", "tree:2", *asked, *files, *spoken
    )
    assert fit.exit_code == 0, fit.output
    assert "Credit risk" in (tmp_path / "fit.md").read_text()
    tables = [tmp_path / "train.csv", "--held-out", tmp_path / "later.csv"]
    both = done("report", tmp_path / "c.json", *tables, *spoken, "-o", tmp_path / "r.json")
    assert both.exit_code == 0, both.output
    value = json.loads((tmp_path / "r.json").read_text())
    assert {one["rows_of"] for one in value["groups"]} == {"training", "held-out"}
    assert value["rows"] == "the training rows"
    later = done(
        "report", tmp_path / "c.json", tmp_path / "later.csv", "--format", "json", "-o", tmp_path / "l.json"
    )
    assert later.exit_code == 0, later.output
    alone = json.loads((tmp_path / "l.json").read_text())
    there = dict(value["held_out"])
    assert alone["rows"] == "these rows"  # some are equal to rows of training
    assert dict(alone["outcome"])["equal to rows of training"] == there["equal to rows of training"]
    assert dict(alone["outcome"])["errors"] == there["held-out errors"] + " rows given here"
    assert dict(alone["outcome"])["training errors"].startswith(dict(value["outcome"])["training errors"])
    assert alone["requirements"][0]["rates"]
    for words, what in (
        (["--format", "pdf"], "html"),
        (["--held-out", tmp_path / "train.csv"], "not the table that the certificate was made from"),
    ):
        wrong = done("report", tmp_path / "c.json", tmp_path / "later.csv", *words, "-o", tmp_path / "x.html")
        assert wrong.exit_code == 2
        assert what in wrong.stderr


def test_a_report_of_something_else_is_refused() -> None:
    found = tf.Problem(table(0), "credit", shape=tf.Tree(1)).near_optimal()
    for other in (found, found.best.graph, 5):
        with pytest.raises(SpecError, match="cannot be made of") as error:
            report.html(other)
        assert "the best of near-optimal models" in error.value.fix
    assert "<html" in report.html(found.best, near_optimal=found)


def test_a_model_of_which_nothing_is_required_is_not_said_to_satisfy_it():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    problem = tf.Problem(X, y, shape=tf.Tree(4))
    search = tf.DeepTreeSearch(work_limit=1)
    found = problem.solve(search)
    best = f"the best objective is between 0 and {found.objective}"
    assert report.facts.of_result(found).verdict == f"Whether a better model exists is not settled: {best}."
    problem += tf.MinSupport(2)
    assert report.facts.of_result(problem.solve(search)).verdict.startswith("The model satisfies every requirement; ")


def test_many_rules_are_in_a_box_of_their_own(facts):
    for count in (40, 41):
        page = report.render_html(replace(facts, rules=("if x <= 1 then yes",) * count))
        assert ('<div class="many"' in page) == (count > 40) and f'id="rule-{count}"' in page
