"""Sample weights: exact or refused, and on a grid where that is asked for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeform as tf
from treeform.data import Dataset
from treeform.data.roles import TableOptions
from treeform.data.weights import LARGEST_TOTAL, Weights, read_weights
from treeform.errors import DataError
from treeform.utils.text import rounded_text

LARGE = [2**53, 2**53, 1, 1]
OPPOSED = ([[0], [1], [0], [1]], [0, 1, 1, 0])


def of_all_digits(n: int = 1000) -> np.ndarray:
    """Normalised random numbers, one of them tiny."""
    weights = np.random.default_rng(0).random(n)
    weights /= weights.sum()
    weights[3] = 2e-12
    return weights


def _read_or_refused(values: list[float], grid: Any) -> Weights | None:
    """None where they are refused because they have too many digits."""
    try:
        return read_weights(values, len(values), grid)
    except DataError as error:
        if "added exactly" not in error.what or "weight_grid=" not in str(error.fix):
            raise
        return None


@given(st.lists(st.decimals(0, 1000, places=3), min_size=1, max_size=30).filter(lambda w: any(w)))
def test_decimal_weights_come_back_exactly(decimals: list[Decimal]) -> None:
    for given_as in (float, Decimal, Fraction):
        read = read_weights([given_as(d) for d in decimals], len(decimals))
        assert [int(w) * read.unit for w in read.units] == [Fraction(d) for d in decimals]
        assert np.gcd.reduce(read.units) == 1
        assert read.rounding is None


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=30).filter(lambda w: sum(w) > 0))
def test_weights_are_exact_or_refused(values: list[float]) -> None:
    read = _read_or_refused(values, None)
    if read is None:
        return
    assert read.rounding is None
    assert [float(int(w) * read.unit) for w in read.units] == values


@given(
    st.lists(st.floats(0, 1e300), min_size=2, max_size=30).filter(lambda w: any(w)),
    st.sampled_from(["auto", Fraction(1, 1000), Fraction(10**290)]),
)
def test_rounded_weights_keep_every_positive_one(values: list[float], grid: Any) -> None:
    read = _read_or_refused(values, grid)
    if read is None:
        assert grid != "auto"
        return
    exact = [Fraction(str(value)) for value in values]
    assert [int(w) > 0 for w in read.units] == [value > 0 for value in exact]
    assert int(read.units.sum()) <= LARGEST_TOTAL
    changes = [abs(int(w) * read.unit - value) for w, value in zip(read.units, exact, strict=True)]
    if read.rounding is None:
        assert [float(int(w) * read.unit) for w in read.units] == values
    else:
        assert grid == "auto" or read.unit == grid
        assert all(change <= read.unit for change in changes)
        assert f"{rounded_text(float(sum(changes)), 2)} in all" in read.rounding.note


def test_weights_like_two_thirds_mean_the_fraction() -> None:
    read = read_weights([2 / 3, 4 / 3, 1.0] * 5000, 15000)
    assert (set(read.units.tolist()), read.unit) == ({2, 4, 3}, Fraction(1, 3))


def test_weights_of_small_floats_are_the_decimals_that_they_print_as() -> None:
    read = read_weights(np.array([0.8, 0.1], dtype=np.float32), 2)
    assert (read.units.tolist(), read.unit) == ([8, 1], Fraction(1, 10))


@pytest.mark.parametrize(
    "weights", [LARGE, of_all_digits(4), [1e308, 1e-320, 1, 1], [10**400, 1, 1, 1]], ids=str
)
def test_weights_of_too_many_digits_are_refused_with_two_grids(weights: Any) -> None:
    with pytest.raises(DataError, match="weight_grid='auto'") as caught:
        tf.Problem(*OPPOSED, shape="tree:1", sample_weight=weights)
    grid = str(caught.value.fix).split("weight_grid='")[2].split("'")[0]
    for asked in ("auto", grid):
        data = tf.Problem(*OPPOSED, shape="tree:1", sample_weight=weights, weight_grid=asked).data
        assert data.n_samples == 4
        assert "rounded to multiples" in data.notes[0]


@pytest.mark.parametrize("requirement", [tf.MaxErrors(0), tf.MustClassifyRight([2, 3])], ids=str)
def test_no_row_is_dropped_from_a_requirement(requirement: tf.Requirement) -> None:
    problem = tf.Problem(*OPPOSED, shape="tree:1", sample_weight=LARGE, weight_grid="auto")
    try:
        problem += requirement
    except tf.errors.Infeasible:
        return
    result = problem.solve()
    if result.graph is not None:
        right = result.graph.predict(OPPOSED[0]) == OPPOSED[1]
        assert right[2] and right[3]


@pytest.mark.parametrize("grid", ["auto", 10, "1e1"])
def test_a_certificate_is_for_the_weights_that_were_given(grid: Any) -> None:
    problem = tf.Problem(*OPPOSED, shape="tree:1", sample_weight=LARGE, weight_grid=grid)
    certificate = problem.solve().certificate()
    assert certificate["data"]["weights"]["unit"] == "10"
    assert tf.check(certificate, *OPPOSED, LARGE).ok
    for other in ([*LARGE[:3], 3], [2**53 + 1, *LARGE[1:]], [*LARGE[:2], 10, 10]):
        with pytest.raises(tf.errors.CertificateError):
            tf.check(certificate, *OPPOSED, other)


def test_exact_weights_leave_no_trace_of_a_grid() -> None:
    weights = [0.1, 0.2, 0.3, 0.4]
    asked = Dataset.from_user(*OPPOSED, weights, options=TableOptions(weight_grid="auto"))
    plain = Dataset.from_user(*OPPOSED, weights)
    assert asked.digest == plain.digest
    assert asked.options == plain.options


def test_normalised_weights_work_where_rounding_is_asked_for() -> None:
    weights = of_all_digits()
    x = np.arange(1000.0).reshape(-1, 1)
    y = (np.arange(1000) > 700) ^ (np.arange(1000) == 3)
    with pytest.raises(DataError, match="too many digits"):
        tf.Problem(x, y, shape="tree:1", sample_weight=weights)
    problem = tf.Problem(x, y, shape="tree:1", sample_weight=weights, weight_grid="auto")
    assert problem.data.n_samples == 1000
    result = problem.solve()
    assert float(result.objective) == pytest.approx(2e-12, rel=1e-3)
    assert tf.check(result.certificate(), x, y, weights).ok
    assert tf.OptimalTreeClassifier(max_depth=1).fit(x, y, weights).score(x, y) == 0.999


@pytest.mark.parametrize("grid", [0, -1, "much", float("nan"), True, [1], "1/0", pd.NA])
def test_what_is_no_grid(grid: Any) -> None:
    with pytest.raises(DataError, match="is no grid"):
        tf.Problem(*OPPOSED, shape="tree:1", weight_grid=grid)


@pytest.mark.parametrize("odd", ["a", None, float("nan"), float("inf"), -1, [1], pd.NA, 1j, pd.NaT])
def test_what_is_no_weight(odd: Any) -> None:
    with pytest.raises(DataError):
        tf.Problem(*OPPOSED, shape="tree:1", sample_weight=[1, 1, odd, 1])


def test_a_rule_that_is_too_fine_on_these_weights_names_the_grid() -> None:
    rng = np.random.default_rng(0)
    x, y, weights = rng.integers(0, 5, (300, 2)), rng.integers(0, 2, 300), rng.random(300)
    groups = pd.Series(rng.choice(["f", "m"], 300))

    def asked(grid: Any) -> tf.Problem:
        problem = tf.Problem(x, y, shape="tree:1", sample_weight=weights, weight_grid=grid)
        return problem + tf.StatisticalParity(groups=groups, difference="0.1")

    with pytest.raises(tf.errors.SpecError, match="weight_grid"):
        asked("auto")
    certificate = asked("0.001").solve().certificate()
    assert tf.check(certificate, x, y, weights, sensitive_features=groups).ok
