"""Views of a data set: midpoints, ranks, merged points, splits, the encoder's round trip."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from drawing import Draw
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeform.data import Dataset, Encoder, midpoint, midpoints
from treeform.data.columns import Column, number_text
from treeform.data.views import group_rows
from treeform.errors import CertificateError, DataError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TINY = 5e-324
HUGE = 1.7976931348623157e308


@given(FINITE, FINITE)
@example(0.0, TINY)
@example(-TINY, 0.0)
@example(-TINY, TINY)
@example(TINY, 2 * TINY)
@example(-HUGE, HUGE)
@example(np.nextafter(HUGE, 0), HUGE)
@example(1e-7, 1.0000000001e-7)
@example(1e22, 1e23)
def test_midpoint_separates(a, b):
    lo, hi = min(a, b) + 0.0, max(a, b) + 0.0
    if lo == hi:
        with pytest.raises(DataError, match="threshold"):
            midpoint(lo, hi)
        return
    t = midpoint(lo, hi)
    assert lo <= t < hi
    assert t != 0 or not np.signbit(t)
    assert t == midpoints([lo], [hi])[0]


@given(FINITE.filter(lambda x: x < HUGE))
def test_midpoint_of_adjacent_floats(lo):
    hi = np.nextafter(lo, np.inf)
    assert midpoint(lo, hi) == lo


@pytest.mark.parametrize(
    ("lo", "hi", "wanted"),
    [
        (37, 38, 37.5),
        (0, 1, 0.5),
        (10, 30, 20),
        (0.1, 0.2, 0.15),
        (-1, 2, 0),
        (37.4999, 37.6, 37.55),
        (99.9, 100.1, 100),
        (-5, 100, 50),
        (1.23456, 1.23457, 1.234565),
        (0.00001, 0.00002, 0.000015),
    ],
)
def test_midpoint_is_a_short_decimal(lo, hi, wanted):
    assert midpoint(lo, hi) == wanted


@given(st.decimals(-1000, 1000, places=3), st.decimals("0.001", 100, places=3))
def test_midpoint_lies_in_the_middle_half(lo, gap):
    low, high = float(lo), float(lo + gap)
    slack = (high - low) * 1e-9
    assert (3 * low + high) / 4 - slack <= midpoint(low, high) <= (low + 3 * high) / 4 + slack


def test_midpoint_refuses_what_is_not_finite():
    for lo, hi in ((0.0, np.inf), (np.nan, 1.0), (2.0, 1.0)):
        with pytest.raises(DataError):
            midpoint(lo, hi)


@given(FINITE)
def test_number_text_reads_back(value):
    assert float(number_text(value)) == value


ROWS = arrays(
    np.float64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.sampled_from([0.0, 1.0, 2.5])
)


@given(ROWS, st.data())
def test_points_ranks_and_splits(X, draw):
    n = len(X)
    y = np.array(draw.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    w = draw.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    data = Dataset.from_user(X, y, w, allow_single_class=True)
    points, ranks = data.points, data.ranks
    assert (points.X[points.index] == data.X).all()
    assert len(np.unique(points.X, axis=0)) == points.n_points
    assert points.index[0] == 0
    assert (points.weights.sum(axis=0) == data.class_weights).all()
    for p in range(points.n_points):
        mine = points.index == p
        expected = [data.weights[mine & (data.y == k)].sum() for k in range(data.n_classes)]
        assert points.weights[p].tolist() == expected
    for f in range(data.n_features):
        values, thresholds = ranks.values[f], ranks.thresholds(f)
        assert (values[ranks.codes[:, f]] == data.X[:, f]).all()
        assert ((values[:-1] <= thresholds) & (thresholds < values[1:])).all()
    _check_splits(data)


def _check_splits(data: Dataset) -> None:
    points = data.points
    every = data.splits()
    weights = data.points.weights.sum(axis=1)
    assert every.lighter(weights).tolist() == [
        min(sum(weights[left]), sum(weights[~left])) for left in every.left
    ]
    assert len(every) == data.n_tests == sum(len(values) - 1 for values in data.ranks.values)
    for f, t, left in zip(every.feature, every.threshold, every.left, strict=True):
        assert (left == (points.X[:, f] <= t)).all()
        assert 0 < left.sum() < points.n_points

    def partitions(splits):
        return {tuple(row ^ row[0]) for row in splits.left}

    distinct = data.splits("global")
    assert len(distinct) == len(partitions(every))
    assert partitions(distinct) == partitions(every)


def test_dedupe_within_a_users_column():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "copy": [0, 1, 0], "x": [1, 2, 3]})
    data = Dataset.from_user(frame, [0, 1, 1])
    assert [len(data.splits(how)) for how in (None, "feature", "global")] == [5, 4, 3]
    with pytest.raises(DataError, match="dedupe"):
        data.splits("all")


def test_too_many_splits_to_list():
    X = np.random.default_rng(0).normal(size=(40_000, 1))
    data = Dataset.from_user(X, X[:, 0] > 0)
    with pytest.raises(DataError, match="39999 different tests on 40000 different rows"):
        data.splits()


MASK = 2**64 - 1


def factor(column):
    """The factor of a column in the hash of native/common/group_rows.cpp."""
    z = (column + 1) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31) | 1


def test_groups_survive_equal_hashes():
    """A row's hash adds up factors times mixed words: another row has the same when one term is moved to the other."""
    mixed = [[word ^ (word >> 32) for word in row] for row in [[4613937818241073152, 4616189618054758400]]]
    mixed += [
        [(one + i * factor(1)) & MASK, (two - i * factor(0)) & MASK]
        for one, two in mixed
        for i in range(1, 40)
    ]
    words = np.array([[m ^ (m >> 32) for m in row] for row in mixed], dtype=np.uint64)  # mixing undoes itself
    X = words.view(np.float64)
    assert len({sum(m * factor(f) for f, m in enumerate(row)) & MASK for row in mixed}) == 1
    index, first = group_rows(np.vstack([X, X[::-1]]))
    assert index.tolist() == [*range(40), *reversed(range(40))]
    assert first.tolist() == list(range(40))


@pytest.mark.parametrize(
    ("n", "columns", "values"), [(0, 3, 2), (5, 0, 1), (1, 1, 1), (3000, 3, 3), (5000, 2, 1000)]
)
def test_groups_are_numbered_by_first_appearance(n, columns, values):
    X = np.random.default_rng(n).integers(0, values, (n, columns)) / 4
    index, first = group_rows(np.asfortranarray(X))
    numbers: dict[tuple[float, ...], int] = {}
    assert index.tolist() == [numbers.setdefault(tuple(row), len(numbers)) for row in X.tolist()]
    assert [index[row] for row in first] == list(range(len(numbers)))
    assert all(index[:row].max(initial=-1) < index[row] for row in first.tolist())


@given(ROWS.map(lambda X: (X - 1.25) * 1e308))
def test_unit_interval(X):
    data = Dataset.from_user(X, np.arange(len(X)))
    unit = data.unit()
    assert ((unit >= 0) & (unit <= 1)).all()
    for f in range(X.shape[1]):
        spread = data.X[:, f].max() > data.X[:, f].min()
        assert unit[:, f].max() == (1.0 if spread else 0.0)


LEVELS = st.one_of(st.text(max_size=4), st.integers(-5, 5), st.sampled_from([0.5, 1.25]), st.booleans())


@settings(max_examples=60)
@given(st.lists(LEVELS, min_size=2, max_size=8), st.lists(LEVELS, min_size=1, max_size=5))
@pytest.mark.filterwarnings("ignore::treeform.errors.UnseenLevels")
def test_encoder_round_trip_with_provenance(values, later):
    frame = pd.DataFrame({"c": pd.Series(values, dtype=object), "n": np.arange(len(values)) + 0.25})
    data = Dataset.from_user(frame, np.arange(len(values)))
    restored = Encoder.from_json(json.loads(json.dumps(data.encoder.to_json())))
    assert restored == data.encoder
    kinds = [[type(level) for level in source.levels] for source in restored.sources]
    assert kinds == [[type(level) for level in source.levels] for source in data.encoder.sources]
    assert (restored.transform(frame) == data.X).all()
    for f, column in enumerate(data.columns):
        if column.kind == "category":
            assert data.X[:, f].tolist() == [float(value == column.category) for value in values]
    _check_unknown_levels(data, later)


def _check_unknown_levels(data: Dataset, later: list[object]) -> None:
    if data.columns[0].kind != "category":
        return
    table = pd.DataFrame({"c": pd.Series(later, dtype=object), "n": 1.0})
    levels = data.encoder.sources[0].levels
    texts = {isinstance(level, str) for level in levels}
    if texts.isdisjoint(isinstance(value, str) for value in later):
        with pytest.raises(DataError, match="no level can match"):
            data.encoder.transform(table)
        return
    encoded = data.encoder.transform(table)
    for f, column in enumerate(data.columns[:-1]):
        assert encoded[:, f].tolist() == [float(value == column.category) for value in later]


@pytest.fixture
def fitted() -> Encoder:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [True, False], "c": ["u", "v"], "g": [0, 1]})
    return Dataset.from_user(frame, [0, 1], exclude=["g"]).encoder


def test_transform_reads_by_name_or_by_position(fitted):
    later = pd.DataFrame({"c": ["v", "new"], "b": [False, True], "a": [7, 8]})
    assert fitted.transform(later).tolist() == [[7, 0, 0, 1], [8, 1, 0, 0]]
    assert fitted.transform(later.assign(g=5)).shape == (2, 4)
    assert fitted.transform(np.array([[7, False, "v"]], dtype=object)).tolist() == [[7, 0, 0, 1]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": [1], "b": [True]}), "lacks 'c'"),
        (np.ones((1, 2)), "2 features, but the model is expecting 3"),
        (pd.DataFrame({"a": [np.nan], "b": [True], "c": ["u"]}), "'a' is missing"),
        (pd.DataFrame({"a": ["x"], "b": [True], "c": ["u"]}), "not numbers"),
        (pd.DataFrame({"a": [1], "b": [2], "c": ["u"]}), "other than 0 and 1"),
        (pd.DataFrame({"a": [1], "b": [True], "c": [3]}), "held text when the model was fitted"),
    ],
)
def test_transform_refuses(fitted, table, message):
    with pytest.raises(DataError, match=message):
        fitted.transform(table)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"sources": [], "ignored": []},
        {"sources": [{"name": "a", "kind": "odd"}], "ignored": []},
        {"sources": [{"name": "a", "kind": "category"}], "ignored": []},
        {"sources": [{"name": "a", "kind": "numeric", "levels": [1]}], "ignored": []},
        {"sources": [{"name": "a", "kind": "category", "levels": [1, 1]}], "ignored": []},
        {"sources": [{"name": "a", "kind": "category", "levels": [[1]]}], "ignored": []},
        {"sources": [{"name": "a", "kind": "numeric"}] * 2, "ignored": []},
        {"sources": [{"name": "a", "kind": "numeric"}], "ignored": [1]},
    ],
)
def test_damaged_encoder(value):
    with pytest.raises(CertificateError):
        Encoder.from_json(value)


def test_level_text_is_unambiguous():
    assert Column("c", "category", "1").name == "c = '1'"
    assert Column("c", "category", 1).name == "c = 1"
    assert Column("c", "category", "").name == "c = ''"
    assert Column("c", "category", "A11").name == "c = A11"


def test_tests_are_counted_as_far_as_asked_and_distinct_rows_are_not_copied() -> None:
    rng = np.random.default_rng(3)
    for n, columns in ((50, 900), (30_000, 3)):  # columns in blocks, and one by one
        X = rng.integers(0, 20, (n, columns)).astype(float)
        X[:, 0] = np.arange(n)
        expected = sum(len(np.unique(column)) - 1 for column in X.T)
        most_seen = Dataset.from_user(X, np.arange(n) % 2)
        for most in (n - 2, expected - 1, expected):
            asked = Dataset.from_user(X, np.arange(n) % 2)
            assert asked.has_more_tests_than(most) == (expected > most)
        assert most_seen.n_tests == expected
        assert most_seen.points.X is most_seen.X and not most_seen.are_bits
    bits = Dataset.from_user((X[:, :2] > 9).astype(float), np.arange(n) % 2)
    assert bits.are_bits and bits.points.n_points <= 4


def test_merged_rows_have_as_many_tests(draw: Draw) -> None:
    for seed in draw(range(40), 10):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (int(rng.integers(2, 60)), 3)).astype(float), np.arange(2)
        rows, merged = (Dataset.from_user(X, np.resize(y, len(X))) for _ in range(2))
        assert merged.points.n_points <= len(X)
        assert rows.n_tests == merged.n_tests == sum(len(np.unique(column)) - 1 for column in X.T)
