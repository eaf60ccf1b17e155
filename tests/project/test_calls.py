"""Calls with wrong arguments are refused with an error of ours that names what was meant; counts agree with nouns."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest

import treeform as tf
from treeform.errors import CallError, TreeformError
from treeform.utils.text import count_of

TABLE = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [0.0, 1, 1, 0], "y": ["n", "n", "j", "j"]})


def problem() -> tf.Problem:
    return tf.Problem(TABLE, "y", shape="tree:1")


@pytest.mark.parametrize(
    ("call", "what", "fix"),
    [
        (lambda: tf.Problem(TABLE, "y"), "Problem needs shape", "shape=tf.Tree(depth=3)"),
        (lambda: tf.Problem(), "Problem needs X and y and shape", "tf.Problem(table, 'target'"),
        (lambda: tf.Problem(TABLE, "y", shap="tree:1"), "no parameter 'shap'", "did you mean 'shape'?"),
        (lambda: problem().solve(timelimit=3), "Problem.solve has no parameter", "'time_limit'"),
        (lambda: problem().solve(timeout=3), "no parameter 'timeout'", "use time_limit=3"),
        (lambda: problem().solve(callback=print), "no parameter 'callback'", "use on_progress=..."),
        (lambda: problem().solve(None, None, None, 1, 2, 3, 4, 5, 6, 7, 8, 9), "by position", "parameter=value"),
        (lambda: problem().frontier(), "Problem.frontier needs over", "StatisticalParity"),
        (lambda: tf.Tree(), "Tree needs depth", "tf.Tree(depth=3)"),
        (lambda: tf.Tree(3, depth=3), "given depth twice", "once"),
        (lambda: tf.ConTree(thread=2), "ConTree has no parameter 'thread'", "'threads'"),
        (lambda: tf.HiGHS(thread=2), "HiGHS has no parameter 'thread'", "'threads'"),
        (lambda: tf.NoTestOn(), "NoTestOn needs column", "column=..."),
        (lambda: tf.sweep(), "sweep needs subject and grid", "subject=..."),
        (lambda: tf.DecisionGraph.from_sklearn(3), "from_sklearn needs data", "data=..."),
        (lambda: tf.OptimalTreeClassifier(max_dept=3), "no parameter 'max_dept'", "'max_depth'"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, what, fix):
    with pytest.raises(CallError) as caught:
        call()
    assert what in caught.value.what and caught.value.cause and fix in caught.value.fix
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("call", "what", "fix"),
    [
        (lambda: tf.Problem("table.csv", "y", shape="tree:1"), "is no table", "read_csv"),
        (lambda: tf.Problem(None, [0, 1], shape="tree:1"), "X is None", "DataFrame"),
        (lambda: tf.Problem({"a": [1, 2]}, [0, 1], shape="tree:1"), "mapping", "pandas.DataFrame(X)"),
        (lambda: tf.Problem(TABLE, ["y"], shape="tree:1"), "the target has 1", "the column's name alone: 'y'"),
        (lambda: tf.Error() - tf.Nodes(), "not subtracted", "2*tf.Nodes()"),
        (lambda: 3 - tf.Nodes(), "not subtracted", "2*tf.Nodes()"),
        (lambda: problem().frontier(over=tf.Uses(["a"])), "has no numeric bound", 'as in moves = "at_most"'),
        (lambda: problem().solve(warm_start="contre"), "no solver 'contre'", "'contree'"),
        (lambda: problem().solve("contree", warm_start="highs"), "gives no warm start", "tf.ConTree()"),
        (lambda: tf.sweep(problem(), 3), "3 is no grid", '"shape"'),
        (lambda: tf.sweep(problem(), [3]), "is no grid", '"shape"'),
        (lambda: tf.OptimalDiagramClassifier(widths=3).fit(TABLE[["a"]], TABLE["y"]), "widths=3", "(1, 2, 4)"),
        (lambda: tf.testing.check_requirement(3), "3 is no requirement", "MaxNodes"),
        (lambda: problem().solve().graph.to_sql(3), "table=3 is no name", "'applicants'"),
        (lambda: problem().solve().graph.to_sql("t", keep=[3]), "keep=3 is no name", "text"),
    ],
)  # fmt: skip
def test_wrong_values(call, what, fix):
    with pytest.raises(TreeformError) as caught:
        call()
    assert what in caught.value.what and fix in caught.value.fix


def test_faults_inside_a_call_are_not_hidden_and_signatures_stay():
    class Broken(tf.MaxNodes):
        def bind(self, data, **context):
            return len(3)

    with pytest.raises(TypeError, match="has no len") as caught:
        problem().add(Broken(1))
    assert not isinstance(caught.value, CallError)
    assert list(inspect.signature(tf.Problem).parameters)[:3] == ["X", "y", "shape"]
    assert list(inspect.signature(tf.Tree).parameters) == ["depth", "splits"]
    assert tf.sweep is tf.sweep and tf.Tree(2) == tf.Tree(2)


def test_one_column_to_keep_is_a_name():
    graph = problem().solve().graph
    assert graph.to_sql("t", keep="id") == graph.to_sql("t", keep=["id"])


def test_counts():
    assert [count_of(n, "leaf") for n in (0, 1, 2)] == ["0 leaves", "1 leaf", "2 leaves"]
    assert count_of("1", "training row", "are") == "1 training row is"
    assert count_of(2, "class", "lead") == "2 classes lead" and count_of(1, "test", "lead") == "1 test leads"
    one = tf.Problem(pd.DataFrame({"a": [1.0, 2, 2]}), [0, 1, 0], shape="tree:1").solve()
    assert ", 1 error, 0 tests," in str(one)
    assert "1 feature," in repr(one.question.data)


def test_a_misspelt_name_of_the_package_is_proposed() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'MinSuport'; did you mean 'MinSupport'\?$"):
        tf.MinSuport  # noqa: B018
    assert not hasattr(tf, "_nothing") and not hasattr(tf, "zzzz")
