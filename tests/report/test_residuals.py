"""Residuals in the report of a regression model."""

from __future__ import annotations

import pandas as pd

import treeform as tf
from treeform.report.about import About
from treeform.report.facts import of_result
from treeform.report.page import render_html
from treeform.report.texts import render_markdown, render_text


def test_residuals_by_leaf_and_group() -> None:
    frame = pd.DataFrame({"x": [0, 1, 2, 3, 4, 5], "city": ["a", "a", "b", "b", "b", "a"]})
    problem = tf.Problem(frame, [1, 2, 3, 10, 12, 14], shape=tf.Tree(1), sample_weight=[1, 1, 2, 1, 1, 1])
    result = problem.minimize(tf.SquaredError() + tf.Nodes()).solve()
    facts = of_result(result, about=About(sensitive=("city", "nowhere")))
    by_leaf, by_city, unknown = facts.residuals
    # Values 9/4 and 12: residuals -5/4, -1/4, 3/4 (twice) and -2, 0, 2.
    assert by_leaf.rows[0][:5] == ("1: 2.25", "3", "2.25", "2.25", "0") and by_leaf.rows[1][0] == "2: 12"
    assert by_leaf.rows[1][4:] == ("0", "1.33333", "1.63299", "2") and by_leaf.rows[2][:2] == ("all", "6")
    assert by_city.rows[0][:2] == ("a", "3") and by_city.rows[0][4:6] == ("0.166667", "1.16667")
    assert not unknown.rows and "nowhere" in unknown.note
    for text in (render_text(facts), render_markdown(facts), render_html(facts)):
        assert "esiduals" in text and "root mean square" in text and "1.63299" in text
    assert "Right and wrong" not in render_html(facts)
    assert "tests x, a proxy of city" in render_markdown(
        facts
    ) and "a proxy of <strong>city" in render_html(facts)
    table = [line for line in render_markdown(facts).splitlines() if line.startswith("| 2: 12 |")]
    assert table == ["| 2: 12 | 3 | 12 | 12 | 0 | 1.33333 | 1.63299 | 2 |"]
