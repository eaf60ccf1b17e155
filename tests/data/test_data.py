"""Reading the user's table: what is accepted, what is refused and how it is said."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from treeform.data import Dataset
from treeform.data.labels import encode_labels
from treeform.data.roles import TableOptions
from treeform.errors import DataError

Y4 = ["good", "bad", "good", "bad"]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [37, 20, 38, 61],
            "job": ["skilled", "none", "skilled", "other"],
            "owner": [True, False, True, False],
            "sex": pd.Categorical(["f", "m", "f", "m"]),
        }
    )


def test_columns_keep_their_provenance(frame):
    data = Dataset.from_user(frame, Y4, exclude=["sex"])
    assert [column.name for column in data.columns] == [
        "age",
        "job = none",
        "job = other",
        "job = skilled",
        "owner",
    ]
    assert data.X.tolist()[0] == [37, 0, 0, 1, 1]
    assert data.classes.tolist() == ["bad", "good"]
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.column("sex").tolist() == ["f", "m", "f", "m"]
    assert data.exclude == ("sex",)
    age, skilled, owner = data.columns[0], data.columns[3], data.columns[4]
    assert (age.test(37.5), age.test(20.0, negate=True)) == ("age <= 37.5", "age > 20")
    assert (skilled.test(0.5), skilled.test(0.5, negate=True)) == ("job != skilled", "job = skilled")
    assert (owner.test(0.5), owner.test(0.5, negate=True)) == ("owner is false", "owner is true")
    assert skilled.question(0.5) == ("job = skilled", False)
    assert age.question(37.5) == ("age <= 37.5", True)


def test_target_by_name_is_no_feature(frame):
    table = frame.assign(risk=Y4)
    data = Dataset.from_user(table, "risk")
    assert data.target == "risk"
    assert "risk" not in data.frame.columns
    assert data.digest == Dataset.from_user(frame, Y4).digest


def test_arrays_are_immutable_and_the_users_table_is_left_alone():
    X = np.array([[-0.0, 1.0], [2.0, 3.0]])
    data = Dataset.from_user(X, [0, 1])
    X[0, 1] = 99
    assert data.X[0, 1] == 1.0
    assert not np.signbit(data.X[0, 0])
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5
    assert pickle.loads(pickle.dumps(data)).digest == data.digest


def test_weights_are_exact_and_zero_leaves_a_row_out(frame):
    data = Dataset.from_user(frame, Y4, [0.1, 0, 0.25, 1])
    assert data.weights.tolist() == [2, 5, 20]
    assert data.weight_unit == Fraction(1, 20)
    assert data.kept_rows.tolist() == [0, 2, 3]
    assert data.column("age").tolist() == [37, 38, 61]
    assert data.total_weight == 27
    assert data.class_weights.tolist() == [20, 7]
    assert len(data.frame) == 4
    assert any("weight 0" in note for note in data.notes)
    assert Dataset.from_user(frame, ["x", "y", "z", "z"], [1, 0, 1, 1]).classes.tolist() == ["x", "z"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], "row 1 is negative"),
        ([1, np.nan, 1, 1], "row 1 is NaN"),
        ([0, 0, 0, 0], "all sample weights are zero"),
        ([1, 1], "shape"),
        (["a", 1, 1, 1], "not numbers"),
    ],
)
def test_bad_weights(frame, weights, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_user(frame, Y4, weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": [1.0, np.nan, 2, 3]}, "'age' is missing .* row 1"),
        ({"age": [1.0, 2, np.inf, 3]}, "'age' is missing .* row 2"),
        ({"job": ["a", None, "b", "c"]}, "'job' is missing .* row 1"),
        ({"job": [(1,), "a", "b", "c"]}, "'job' holds values of type tuple"),
        ({"age": pd.to_datetime(["2020-01-01"] * 4)}, "'age' holds dates"),
        ({"age": [1j, 2, 3, 4]}, "complex"),
        ({"age": [2**53 + 1, 2, 3, 4]}, "9007199254740993 in row 0, beyond 2\\*\\*53"),
        ({"age": np.array([2**64 - 1, 2, 3, 4], dtype=np.uint64)}, "beyond"),
        ({"age": np.array([2**70, 2, 3, 4], dtype=object)}, "beyond"),
        ({"age": pd.array([1, None, 2, 3], dtype="Int64")}, "'age' is missing .* row 1"),
        ({"age": pd.array([1, None, np.inf, 3], dtype="Float64")}, "'age' is missing .* 2 rows, .* row 1"),
        ({"age": np.array([1, 2, float("inf"), 3], dtype=object)}, "'age' is missing .* row 2"),
        (
            {"age": [1.0, np.nan, 2, np.inf], "job": ["a", "b", "c", None]},
            "2 columns .*'age' \\(2 rows, the first of them "
            "row 1\\), 'job' \\(row 3\\) \\(rows are counted from 0\\)",
        ),
    ],
)
def test_bad_columns_are_named(frame, change, message):
    with pytest.raises(DataError, match=message) as caught:
        Dataset.from_user(frame.assign(**change), Y4, options=TableOptions(missing="error"))
    assert caught.value.fix


def test_every_column_that_cannot_be_read_is_named_at_once() -> None:
    """A user who leaves out one column after the other would need a call for each."""
    n = 40
    table = pd.DataFrame(
        {
            "opened": pd.date_range("2020-01-01", periods=n),
            "closed": [f"2021-{i % 12 + 1:02}-03" for i in range(n)],
            "x": np.arange(n) % 7,
        }
    )
    with pytest.raises(DataError, match=r"columns 'opened', 'closed' \(text\) hold dates or times"):
        Dataset.from_user(table, np.arange(n) % 2)
    table["name"], table["span"] = [f"C{i}" for i in range(n)], pd.to_timedelta(np.arange(n), unit="D")
    with pytest.raises(DataError) as raised:
        Dataset.from_user(table, np.arange(n) % 2)
    for part in ("'name' has 40 different texts", "'span' holds durations", "columns 'opened', 'closed' (text)",
                 "exclude=['name']", "X['span'].dt.days", "dates='days'"):  # fmt: skip
        assert part in str(raised.value)



@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (pd.DataFrame(), [], "no rows"),
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((3, 0)), [1, 2, 3], "no columns"),
        (np.ones(3), [1, 2, 3], "1 dimension,"),
        (np.ones((2, 2)), [1, 1], "one class only"),
        (np.ones((2, 2)), [1.5, 1.5], "one value only"),
        (np.ones((2, 2)), [1, 2, 3], "2 rows, the target has 3"),
        (np.ones((2, 2)), [1, np.nan], "target of row 1 is missing"),
        (np.ones((2, 2)), ["a", None], "target of row 1 is missing"),
        (np.ones((2, 2)), [1, np.inf], "infinite"),
        (np.ones((2, 2)), None, "there is no target"),
        (np.ones((2, 2)), "risk", "no column names"),
        (np.ones((2, 2)), 3, "single value"),
        (np.ones((2, 2)), np.ones((2, 2)), r"shape \(2, 2\)"),
        (np.ones((2, 2)), [[1], [2]], "hash"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "names repeat: 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]]), "risk", "no column 'risk'"),
        (np.arange(60.0).reshape(60, 1), np.linspace(0, 1, 60), "regressed"),
    ],
)
def test_bad_tables_and_targets(X, y, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_user(X, y)


def test_one_class_is_accepted_on_request():
    assert Dataset.from_user(np.ones((2, 1)), ["a", "a"], allow_single_class=True).n_classes == 1


def test_other_refusals(frame):
    with pytest.raises(DataError, match="no column"):
        Dataset.from_user(frame, Y4).column("height")
    with pytest.raises(DataError, match="exclude names 'height'"):
        Dataset.from_user(frame, Y4, exclude=["height"])
    with pytest.raises(DataError, match="all columns are excluded"):
        Dataset.from_user(frame, Y4, exclude=list(frame.columns))
    with pytest.raises(DataError, match="feature_names has 1"):
        Dataset.from_user(frame, Y4, feature_names=["a"])
    with pytest.raises(DataError, match="several levels"):
        Dataset.from_user(pd.concat({"a": frame}, axis=1), Y4)
    many = pd.DataFrame({"id": [f"p{i}" for i in range(1200)]})
    with pytest.raises(DataError, match="1200 different levels"):
        Dataset.from_user(many, np.arange(1200) % 2)


def test_treatments_are_stated(frame):
    data = Dataset.from_user(frame.assign(same=1.0, land="DE"), pd.Series(Y4, index=[3, 2, 1, 0]))
    assert any("'same' is constant" in note for note in data.notes)
    assert any("'land' is constant" in note for note in data.notes)
    assert any("paired by the labels" in note for note in data.notes)
    assert data.classes[data.y].tolist() == Y4[::-1]


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "boolean", "string", "category", "float32", "int8", "object"]
)
def test_pandas_types(dtype):
    values = ["a", "b", "a"] if dtype in ("string", "category") else [1, 0, 1]
    data = Dataset.from_user(pd.DataFrame({"c": pd.array(values, dtype=dtype)}), [0, 1, 0])
    expected = [[1, 0], [0, 1], [1, 0]] if dtype in ("string", "category") else [[1], [0], [1]]
    assert data.X.tolist() == expected


def test_arrow_types_and_numeric_text_in_object_arrays():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"c": pd.array([1, 2], dtype=pd.ArrowDtype(pa.int64())), "s": pd.array(["u", "v"], "string")}
    )
    assert Dataset.from_user(frame, [0, 1]).X.tolist() == [[1, 1, 0], [2, 0, 1]]
    mixed = Dataset.from_user(np.array([[1, "x"], [2.5, "y"]], dtype=object), [0, 1])
    assert [column.kind for column in mixed.columns] == ["numeric", "category", "category"]


def test_levels_of_ordered_categories_keep_their_order():
    sizes = pd.Categorical(["small", "large", "mid"], categories=["small", "mid", "large"], ordered=True)
    data = Dataset.from_user(pd.DataFrame({"size": sizes}), [0, 1, 0])
    assert [column.levels for column in data.columns] == [("small", "mid", "large")]
    assert data.X[:, 0].tolist() == [0, 2, 1]
    assert data.columns[0].test(0.5) == "size <= small"
    assert data.columns[0].test(1.5, negate=True) == "size > mid"


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        (["b", "a", "b"], ["a", "b"]),
        ([True, False, True], [False, True]),
        ([("x", 1), ("a", 2), ("x", 1)], [("a", 2), ("x", 1)]),
        ([1, "a", 1], [1, "a"]),
        ([frozenset("a"), frozenset("ab"), frozenset("a")], [frozenset("a"), frozenset("ab")]),
        (pd.Categorical(["z", "y", "z"]), ["y", "z"]),
        (pd.Series([2, 1, 2], dtype="Int64"), [1, 2]),
        (np.array([[2], [1], [2]]), [1, 2]),
    ],
)
def test_any_labels(labels, classes):
    codes, found = encode_labels(labels, 3)
    assert sorted(map(str, found.tolist())) == sorted(map(str, classes))
    assert codes[0] == codes[2] != codes[1]
    if not isinstance(classes[0], frozenset):
        assert found.tolist() == classes


def test_digest_sees_everything(frame):
    base = Dataset.from_user(frame, Y4)
    assert base.digest == Dataset.from_user(frame.copy(), list(Y4)).digest
    others = [
        Dataset.from_user(frame.assign(age=[37, 20, 38, 62]), Y4),
        Dataset.from_user(frame, ["good", "bad", "bad", "bad"]),
        Dataset.from_user(frame, ["god", "bad", "god", "bad"]),
        Dataset.from_user(frame, Y4, [1, 1, 1, 2]),
        Dataset.from_user(frame, Y4, [2, 2, 2, 2]),
        Dataset.from_user(frame.rename(columns={"age": "years"}), Y4),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 7
    groups = [["f", "m", "f", "m"], ["f", "m", "m", "f"]]
    one, other = (Dataset.from_user(frame.assign(sex=sex), Y4, exclude=["sex"]) for sex in groups)
    assert one.digest != other.digest


def test_benchmark_table(benchmark_data):
    data = Dataset.from_user(*benchmark_data("continuous/bank"))
    assert (data.points.weights.sum(axis=0) == data.class_weights).all()
