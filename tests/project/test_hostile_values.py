"""Numbers and texts that fuzzing found: what has a billion digits, no bound, or no form in UTF-8."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import treeform as tf
from treeform.certify.certificate import sign
from treeform.data import Dataset
from treeform.errors import CertificateError, DataError, SpecError, TreeformError
from treeform.language.numbers import as_fraction
from treeform.utils.files import write_text

X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["n", "p", "n", "p"])


@pytest.mark.parametrize("text", ["1e999999999", "-1e-999999999", "1e9_999_999", "1e" + "9" * 5000])
def test_numbers_whose_digits_would_fill_the_memory(text: str) -> None:
    with pytest.raises(SpecError, match="no finite number"):
        as_fraction(text, "a ratio")
    problem = tf.Problem(X, Y, shape="tree:1")
    for objective in (f"error + {text}*nodes", f"cost[0 {text}; 1 0]"):
        with pytest.raises(TreeformError):
            problem.minimize(objective)
    with pytest.raises(SpecError, match="price of a test"):
        tf.sweep(problem, {"price": [text]})
    assert as_fraction("1e-300", "a ratio") == Decimal("1e-300")


def test_targets_whose_digits_would_fill_the_memory() -> None:
    with pytest.raises(DataError, match="no number"):
        Dataset.from_user(X, [Decimal("1e999999999"), *map(Decimal, range(3))]).as_quantity(None)


def test_a_price_of_a_grid_that_is_no_number() -> None:
    with pytest.raises(SpecError, match="'dear' cannot be the price"):
        tf.sweep(tf.Problem(X, Y, shape="tree:1"), {"price": ["dear"]})


@pytest.mark.parametrize("text", ["1e400", "-1e400"])
def test_a_share_that_no_float_holds(text: str) -> None:
    with pytest.raises(SpecError, match=f"the fraction {text} is not possible"):
        tf.MinSupport(text)


def test_values_of_leaves_of_thousands_of_digits() -> None:
    graph = tf.Problem(X, [1, 2, 3, 4], shape="tree:1").minimize("squared_error").solve().graph
    assert graph is not None
    model = graph.to_json()
    model["values"][-1] = "9" * 5000
    with pytest.raises(CertificateError, match="thousands of digits"):
        tf.DecisionGraph.from_json(model, validate="structure")


def test_a_requirement_of_a_certificate_without_its_bound() -> None:
    groups = ["a", "a", "b", "b"]
    problem = tf.Problem(X, Y, shape="tree:1", sensitive_features=groups)
    problem += tf.StatisticalParity(difference="0.5", positive="p")
    body = json.loads(json.dumps(problem.solve().certificate()))
    del body["problem"]["requirements"][0]["parameters"]["difference"]
    with pytest.raises(TreeformError, match="no bound"):
        tf.check(sign(body), X, Y, sensitive_features=groups)


def test_labels_that_utf_8_has_not(tmp_path: Path) -> None:
    graph = tf.Problem(X, ["n", "p\ud800", "n", "p\ud800"], shape="tree:1").solve().graph
    assert graph is not None
    with pytest.raises(SpecError, match="cannot be written in C"):
        graph.to_c()
    with pytest.raises(SpecError, match="cannot be written as text"):
        write_text(tmp_path / "model.txt", str(graph.classes[1]))
    assert not list(tmp_path.iterdir())


def test_the_step_of_the_smallest_weights() -> None:
    nodes = [{"weights": {0: 5e-324}, "threshold": 0.0, "left": 1, "right": 2}, {"label": 0}, {"label": 1}]
    assert "5e-324" in tf.DecisionGraph.build(dict(enumerate(nodes)), Dataset.from_user(X, Y)).to_sql()
