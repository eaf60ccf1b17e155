"""The curves of a report: the best objective against the bound of each requirement."""

from __future__ import annotations

import base64
import json
import re

import numpy as np

import treeform as tf
from treeform import report
from treeform.report.curves import curves


def problem():
    rng = np.random.default_rng(4)
    X, group = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.15) ^ (group & (rng.random(60) < 0.4))
    made = tf.Problem(X, y.astype(int), shape=tf.Tree(2), sensitive_features=group)
    made += [tf.StatisticalParity(difference="0.1"), tf.MinSupport(2), tf.MaxNodes(2)]
    return made


def test_each_bound_has_a_proved_curve():
    result = problem().solve()
    frontiers = report.trace_curves(result, time_limit=100)
    assert [frontier.axis.name for frontier in frontiers] == [
        "statistical_parity",
        "min_support",
        "max_nodes",
    ]
    for frontier, requirement in zip(frontiers, result.question.requirements, strict=True):
        assert frontier.proved
        assert frontier.at(requirement.bound).objective == result.objective


def test_the_page_draws_them_and_marks_the_bound():
    result = problem().solve()
    page = report.html(result, frontiers=report.trace_curves(result, time_limit=100))
    assert len(re.findall(r'class="frontier"', page)) == 3
    assert len(re.findall(r'<line class="mark"', page)) == 3
    assert f"at the bound asked for (0.1) {result.objective}" in page
    assert 'class="frontier"' not in report.html(result, frontiers=())


def test_the_page_carries_the_certificate_of_each_curve(monkeypatch):
    result = problem().solve()
    frontiers = report.trace_curves(result, time_limit=100)
    page = report.html(result, frontiers=frontiers)
    links = re.findall(r'download="curve_(\d).json" href="data:application/json;base64,([^"]+)"', page)
    assert [number for number, _ in links] == ["1", "2", "3"]
    data = result.question.data
    groups = result.question.requirements[0].groups.codes
    for frontier, (_, text) in zip(frontiers, links, strict=True):
        body = json.loads(base64.b64decode(text))
        assert body["members"] == json.loads(json.dumps(frontier.certificate()))["members"]
        given = {"sensitive_features": groups} if body["data"]["groups"] else {}
        assert tf.check(body, data.X.astype(int), data.classes[data.y], **given).verdict == "verified"
    facts = report.of_result(result, frontiers=frontiers)
    shown = json.loads(report.render_json(facts))["curves"]
    assert [set(one) for one in shown] == [{"requirement", "sentence", "certificate"}] * 3
    monkeypatch.setattr("treeform.report.curves.LONGEST_CERTIFICATE", 100)
    assert "curve_1.json" not in report.html(result, frontiers=frontiers)


def test_curves_of_ones_own():
    made = problem()
    result = made.solve()
    frontier = made.frontier(over="statistical_parity", between=("0.2", "0.05"))
    (curve,) = curves([frontier], result)
    assert curve.requirement == made.requirements[0].in_words()
    assert f"{len(frontier.points)} points, every point is proved." in curve.sentence


def test_no_curve_without_a_proof_or_a_native_engine():
    made = problem()
    stopped = made.solve("highs", warm_start=None, time_limit=0.001)
    assert stopped.status is not tf.Status.OPTIMAL
    assert report.trace_curves(stopped) == ()
    by_solver = tf.Problem(
        [[0.0], [1.0]] * 4, [0, 1] * 4, shape=tf.Diagram(1), sensitive_features=[0, 1, 1, 0] * 2
    )
    by_solver += tf.StatisticalParity(difference="0.1")
    assert report.trace_curves(by_solver.solve("cp-sat")) == ()
