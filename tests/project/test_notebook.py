"""What notebooks show: short, and escaped."""

from __future__ import annotations

import pandas as pd

import treeform as tf


def test_objects_show_themselves():
    table = pd.DataFrame({"a<b": [0, 1, 2, 3, 4, 5], "sex": list("fmfmfm")})
    problem = tf.Problem(table, [0, 0, 1, 1, 0, 1], shape="tree:2", exclude=["sex"]).add(tf.MaxNodes(2))
    result = problem.solve()
    assert len(repr(result)) < 200
    assert "max_nodes:2" in result._repr_html_()
    assert "satisfied" in result._repr_html_()
    for shown in (problem, result, result.graph, problem.size_table(), problem.pareto()):
        html = shown._repr_html_()
        assert html.startswith("<")
        assert "a<b" not in html
    assert len(repr(problem.size_table())) < 600
