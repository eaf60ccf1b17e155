"""Arrays, tables and missing values in the place of labels, columns, numbers and models: errors of treeform's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.certificate import sign
from treeform.errors import CertificateError, DataError, SpecError, TreeformError

TABLE = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0]})
Y = [0, 1, 0, 1]
ODD: dict[str, Any] = {
    "NA": pd.NA,
    "NaT": pd.NaT,
    "NaN": float("nan"),
    "array": np.array([1, 2]),
    "list": [1, 2],
    "table": TABLE,
    "series": TABLE["a"],
    "dict": {},
    "set": {1, 2},
    "object": object(),
    "None": None,
    "half": 0.5,
}


def problem(**given: Any) -> tf.Problem:
    return tf.Problem(**{"X": TABLE, "y": Y, "shape": "tree:1", **given})


REQUIREMENTS: list[Callable[[Any], Any]] = [
    *(
        lambda v, kind=kind: kind(v)
        for kind in (
            tf.Monotone,
            tf.Uses,
            tf.Exclusive,
            tf.NoTestOn,
            tf.OncePerPath,
            tf.FeatureBudget,
            tf.MaxErrors,
            tf.MaxNodes,
            tf.MinSupport,
            tf.MustClassifyRight,
            tf.Fix,
            tf.StayCloseTo,
            tf.MinCoverage,
            tf.Stability,
            tf.FeatureCost,
        )
    ),
    *(
        lambda v, kind=kind: kind("a", v)
        for kind in (tf.Monotone, tf.MaxThresholds, tf.MaxTestsPerPath, tf.Below)
    ),
    *(lambda v, kind=kind: kind(v, 1) for kind in (tf.MaxThresholds, tf.MaxTestsPerPath, tf.Below)),
    lambda v: tf.Below(v, "a"),
    lambda v: tf.Monotone("a", positive=v),
    lambda v: tf.MaxCost([[0, 1], [1, 0]], v),
    lambda v: tf.MaxCost(v, 1),
    *(
        lambda v, key=key: tf.StatisticalParity(**{"groups": "b", "difference": "0.5", key: v})
        for key in ("groups", "difference", "positive")
    ),
    lambda v: tf.MinPrecision(v),
    lambda v: tf.MinPrecision(0.5, v),
    lambda v: tf.MaxNodes(1).soft(v),
]
OBJECTIVES: list[Callable[[Any], Any]] = [
    lambda v, kind=kind: kind(v)
    for kind in (tf.F1Loss, tf.MatthewsLoss, tf.Cost, tf.GroupError, tf.SquaredError, tf.AbsoluteError)
]
OPTIONS = [
    "X",
    "y",
    "sample_weight",
    "exclude",
    "categorical_features",
    "missing",
    "dates",
    "abstain",
    "shape",
    "weight_grid",
]


@pytest.mark.parametrize("name", ODD)
def test_nothing_ends_in_an_error_of_pythons(name: str) -> None:
    value = ODD[name]
    calls = [lambda v, make=make: problem().add(make(v)) for make in REQUIREMENTS]
    calls += [lambda v, make=make: problem().minimize(make(v)) for make in OBJECTIVES]
    calls += [lambda v, key=key: problem(**{key: v}) for key in OPTIONS]
    calls += [
        lambda v: problem(sensitive_features=v).add(tf.StatisticalParity(difference="0.5")),
        lambda v: problem(y=[0, v, 0, 1]),
        lambda v: problem(sample_weight=[1, v, 1, 1]),
        lambda v: problem().minimize(v),
        lambda v: problem().add(v),
        lambda v: problem().judge(v),
        lambda v: problem().solve(v),
        lambda v: problem().solve(warm_start=v),
        lambda v: problem().solve(formulation=v),
        lambda v: problem().near_optimal(within=v),
        lambda v: problem().size_table(prices=[v]),
        lambda v: tf.DecisionGraph.from_nested((v, 1.0, 0, 1), problem().data),
        lambda v: tf.DecisionGraph.from_nested(("a", 1.0, 0, 1), v),
    ]
    for call in calls:
        with contextlib.suppress(TreeformError):
            call(value)


def test_a_label_that_is_none_is_refused_with_what_to_do() -> None:
    for value in (pd.NA, np.array([1, 2]), [1, 2], TABLE):
        for make in (tf.F1Loss, tf.MatthewsLoss):
            with pytest.raises(SpecError, match="is no class") as caught:
                problem().minimize(make(value))
            assert "positive=" in str(caught.value.fix)
    with pytest.raises(SpecError, match="are no rows"):
        tf.MustClassifyRight(0.5)


@pytest.mark.parametrize(
    ("target", "grid", "what"),
    [
        (10**400, "auto", "1e\\+400, beyond float64"),
        (1e-320, None, "too many digits"),
        (1.0, 1e-320, "cannot be added exactly"),
        (1.0, "1e-600", "cannot be added exactly"),
        (1.0, "1e900", "beyond float64"),
        (Fraction(1, 10**400), None, "too many digits"),
    ],
    ids=str,
)
def test_targets_and_grids_beyond_all_floats(target: Any, grid: Any, what: str) -> None:
    for kind in (tf.SquaredError, tf.AbsoluteError):
        with pytest.raises(DataError, match=what) as caught:
            problem(y=[target, 1, 2, 3]).minimize(kind(grid=grid))
        assert caught.value.fix


def test_targets_of_all_digits_are_rounded_to_a_grid_that_is_stated() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    result = tf.Problem(X, y, shape="tree:1").minimize(tf.SquaredError()).solve()
    assert result.certificate()["problem"]["objective"].startswith("squared_error[grid=1/")
    assert tf.check(result.certificate(), X, y).ok
    with pytest.raises(DataError, match="minimise tf"):
        tf.Problem(X, y.round(3), shape="tree:1").solve()
    counted = tf.Problem(X, np.arange(200) // 4, shape="tree:1")
    assert any("tf.SquaredError()" in note for note in counted.data.notes)
    assert not any("class of its own" in n for n in counted.minimize("squared_error").data.notes)


def test_a_soft_requirement_takes_groups_as_an_array() -> None:
    groups = pd.Series(["f", "m", "m", "f"], index=[3, 2, 1, 0])
    term = tf.StatisticalParity(groups=groups, difference="0.1").soft(5)
    assert "<array>" in str(term)
    result = (problem() + term).solve()
    named = problem(X=TABLE.assign(sex=groups), exclude=["sex"])
    named += tf.StatisticalParity(groups="sex", difference="0.1").soft(5)
    assert result.objective == named.solve().objective
    certificate = result.certificate()
    assert tf.check(certificate, TABLE, Y, sensitive_features=groups).ok
    assert "codes" not in str(certificate["problem"])


def test_tests_of_nested_tuples_may_be_named() -> None:
    data = tf.Dataset.from_user(pd.DataFrame({"age": [30, 50, 60], "job": ["x", "y", "x"]}), [0, 1, 1])
    named = tf.DecisionGraph.from_nested(("age", 40, 0, ("job = x", 0.5, 1, 1)), data)
    assert named == tf.DecisionGraph.from_nested((0, 40, 0, (1, 0.5, 1, 1)), data)
    for nested, what in ((("aeg", 40, 0, 1), "did you mean 'age'"), (("job", 0.5, 0, 1), "2 features")):
        with pytest.raises(SpecError, match=what):
            tf.DecisionGraph.from_nested(nested, data)


@pytest.mark.parametrize("place", ["requirements", "metadata"])
def test_a_certificate_of_many_levels_is_damaged(place: str) -> None:
    certificate = problem().solve().certificate()
    deep: Any = "x"
    for _ in range(600):
        deep = {"a": deep}
    if place == "metadata":
        certificate["metadata"]["solver"] = deep
    else:
        certificate["problem"]["requirements"] = [{"label": "x", "name": "max_nodes", "parameters": deep}]
    with pytest.raises(CertificateError, match="nested deeper"):
        tf.check(sign(certificate), TABLE, Y)
