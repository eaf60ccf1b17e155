"""How columns are taken: numbers and dates as text, levels; and what is refused because it is not clear."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.data.roles import TableOptions
from treeform.data.text_numbers import read_numbers
from treeform.errors import DataError


def taken(values: object, **options: object) -> Dataset:
    """One column, five times over, with labels."""
    column = pd.concat([pd.Series(values)] * 5, ignore_index=True)
    given = TableOptions.of(options.get("categorical"), options.get("missing", "value"), options.get("dates"))
    return Dataset.from_user(pd.DataFrame({"c": column}), [0, 1] * (len(column) // 2), options=given)


@pytest.mark.parametrize(
    ("entries", "numbers"),
    [
        (["1,234.50", "12.5", "7", "1,000,000.25"], [1234.5, 12.5, 7, 1000000.25]),
        (["1.234,50", "12,5", "7", "1.000.000,25"], [1234.5, 12.5, 7, 1000000.25]),
        (["€35000.00", "€1.50", "€ 7", "€-2.25"], [35000, 1.5, 7, -2.25]),
        (["12 %", "3.5 %", "100%", "0 %"], [12, 3.5, 100, 0]),
        (["USD 1.5", "USD 2", "USD 3.25", "USD 1,000.5"], [1.5, 2, 3.25, 1000.5]),
        (["1 234,5", "2 000,25", "3,5", "-1"], [1234.5, 2000.25, 3.5, -1]),
        (["1e3", "2.5E-2", ".5", "+4"], [1000, 0.025, 0.5, 4]),
        (["1.5", "n/a", "2.5", "?"], [1.5, None, 2.5, None]),
    ],
)
def test_text_is_read_as_numbers(entries, numbers):
    data = taken(entries)
    found = data.X[: len(entries), 0]
    assert [None if abs(x) > 1e300 else x for x in found] == numbers
    assert "read as numbers" in " ".join(data.notes)
    assert data.encoder.transform(pd.DataFrame({"c": entries})).tolist() == data.X[: len(entries)].tolist()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["1,234", "2,500", "7", "3,100"], "two ways"),
        (["1.5", "2.5", "3.5", "4.5", "5.5", "6.5", "7.5", "8.5", "9.5", "unknown value"], "not in 5 rows"),
        (["€1.5"] * 9 + ["$2.5"], "not in"),
        (["2021-03-05", "2021-04-06", "2020-01-01", "1999-12-31"], "dates or times"),
        ([f"id-{i:05d}" for i in range(100)], "100 different texts in 500 rows"),
    ],
)
def test_what_is_not_clear_is_refused(entries, message):
    if "texts" in message:  # one row for each
        with pytest.raises(DataError, match="different texts") as caught:
            Dataset.from_user(pd.DataFrame({"c": entries}), [0, 1] * 50)
    else:
        with pytest.raises(DataError, match=message) as caught:
            taken(entries)
    assert caught.value.fix
    named = taken(entries, categorical="c")
    assert named.n_features == len(set(entries))


def test_bare_whole_numbers_as_text_stay_levels():
    """Somebody made them text; without any mark they are often codes."""
    assert taken(["1", "2", "10", "2"]).n_features == 3
    assert read_numbers(["007", "12"], 0.9).plain_codes


def test_numbers_may_be_named_categorical():
    data = taken([1, 2, 3, 2], categorical=["c"])
    assert [column.category for column in data.columns] == [1, 2, 3]
    with pytest.raises(DataError, match="no column"):
        taken([1, 2, 3, 4], categorical="d")


@pytest.mark.parametrize(
    ("entries", "order"),
    [
        (["2021-03-05", "2021-04-16", "2020-01-01", "1999-12-31"], "2021-03-05"),
        (["05/03/2021", "16/04/2021", "01/01/2020", "31/12/1999"], "2021-03-05"),
        (["03/05/2021", "04/16/2021", "01/01/2020", "12/31/1999"], "2021-03-05"),
        (["05.03.2021", "16.04.2021", "01.01.2020", "31.12.1999"], "2021-03-05"),
    ],
)
def test_dates_as_text(entries, order):
    data = taken(entries, dates="days")
    days = (pd.to_datetime(order) - pd.Timestamp("1970-01-01")).days
    assert data.X[0, 0] == days
    assert data.columns[0].test(days + 0.5) == f"c <= {order}"
    assert data.columns[0].test(days + 0.5, negate=True) == f"c > {order}"


def test_days_and_months_that_could_be_swapped():
    with pytest.raises(DataError, match="two ways"):
        taken(["05/03/2021", "06/04/2021", "01/01/2020", "11/12/1999"], dates="days")


def test_timestamps():
    moments = pd.to_datetime(["2021-03-05 12:00", "2021-03-05 18:00", "2020-01-01 00:00", None])
    data = taken(moments, dates="days")
    assert data.X[0, 0] == 18691.5
    assert data.columns[0].test(18691.625) == "c <= 2021-03-05 15:00 or missing"
    with pytest.raises(DataError, match="dates='days'"):
        taken(moments)
    with pytest.raises(DataError, match="numbers here"):
        data.encoder.transform(pd.DataFrame({"c": [1.0]}))


def test_ordered_levels_are_thresholds():
    grades = pd.Categorical(list("ACBA"), categories=list("ABC"), ordered=True)
    data = taken(grades)
    assert data.n_features == 1
    graph = tf.Problem(data, None, shape="tree:1").solve().graph
    text = " ".join(graph.rules())
    assert "c <= " in text or "c > " in text or graph.n_nodes == 0
    with pytest.warns(tf.errors.UnseenLevels, match="'D'"):
        assert data.encoder.transform(pd.DataFrame({"c": ["D"]})).tolist() == [[-1]]


def test_summary_tells_how_every_column_was_taken():
    table = pd.DataFrame(
        {
            "income": ["€1,200.50", "€900.00", None, "€2,000.00"] * 5,
            "opened": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01", "2020-06-01"] * 5),
            "job": ["clerk", "cook, chef", None, "clerk"] * 5,
            "grade": pd.Categorical(list("ABCA") * 5, categories=list("ABC"), ordered=True),
            "owner": [True, False, True, True] * 5,
            "sex": list("fmfm") * 5,
        }
    )
    options = TableOptions(dates="days")
    summary = Dataset.from_user(table, [0, 1] * 10, exclude=["sex"], options=options).summary()
    assert summary.loc["income"].tolist()[:6] == ["numeric", 3, 5, "900", "2000", 2]
    assert "in €" in summary.loc["income", "note"]
    assert summary.loc["opened", ["taken as", "lowest", "highest"]].tolist() == [
        "date",
        "2020-01-01",
        "2022-01-01",
    ]
    assert summary.loc["job"].tolist()[:3] == ["category", 2, 5]
    assert summary.loc["job", "features"] == 3
    assert summary.loc["job", "note"] == "clerk, 'cook, chef'"
    assert summary.loc["grade", ["taken as", "lowest", "highest", "note"]].tolist() == [
        "ordered",
        "A",
        "C",
        "A < B < C",
    ]
    assert summary.loc["owner", "taken as"] == "boolean"
    assert summary.loc["sex", ["taken as", "features"]].tolist() == ["excluded", 0]
    assert list(summary.index) == list(table.columns)


def test_a_model_keeps_how_columns_are_read(tmp_path):
    rng = np.random.default_rng(0)
    amounts = rng.integers(100, 9000, 60)
    table = pd.DataFrame(
        {
            "amount": [f"{a:,}.50" for a in amounts],
            "day": pd.date_range("2020-01-01", periods=60).strftime("%d/%m/%Y"),
        }
    )
    y = (amounts > 4000).astype(int)
    result = tf.Problem(table, y, shape="tree:1", dates="days").solve()
    assert result.errors == 0
    result.graph.save(tmp_path / "m.json")
    again = tf.DecisionGraph.load(tmp_path / "m.json")
    assert again == result.graph
    assert again.predict(table).tolist() == y.tolist()
    assert tf.check(result.certificate(), table, y).ok


def test_levels_that_differ_in_spelling_are_named():
    table = pd.DataFrame({"region": ["North", "north", " NORTH ", "South", "East", "east"] * 5})
    data = Dataset.from_user(table, [0, 1] * 15)
    (note,) = (note for note in data.notes if "case or spaces" in note)
    assert "'East' and 'east'" in note and "' NORTH ' and 'North' and 'north'" in note and "South" not in note
    assert not any("case" in note for note in taken(["a", "b"]).notes)


def test_a_column_that_numbers_the_rows_is_named():
    table = pd.DataFrame({"row": range(1001, 1041), "age": [*range(20, 59), 12]})
    data = Dataset.from_user(table, [0, 1] * 20)
    assert [note for note in data.notes if "numbers the rows" in note] == [
        "column 'row' numbers the rows; an identifier is left out with exclude=['row']"
    ]
    fewer = Dataset.from_user(table.drop(index=[3, 17]), [0, 1] * 19)
    assert [note for note in fewer.notes if "numbers" in note] == [note for note in data.notes if "numbers" in note]
    assert not any(
        "numbers the rows" in note for note in Dataset.from_user(table[:9], [0, 1] * 4 + [0]).notes
    )


@pytest.mark.parametrize("word", ["k. A.", "unknown", "#N/A", "n.a."])
def test_words_for_no_value_among_numbers(word):
    data = taken(["1.5", "2,000.5", word, "3.5"])
    assert data.columns[0].missing and data.columns[0].kind == "numeric"
    assert taken(["a", "b", word, "c"]).columns[0].kind == "category"  # a level like any other


def test_the_warning_of_unseen_levels_points_at_the_callers_line():
    table, y = pd.DataFrame({"job": ["a", "b"] * 5}), [0, 1] * 5
    clf = tf.OptimalTreeClassifier(1).fit(table, y)
    for predict in (clf.predict, clf.predict_proba, clf.graph_.predict):
        with pytest.warns(tf.errors.UnseenLevels) as caught:
            predict(pd.DataFrame({"job": ["z"]}))
        assert caught[0].filename == __file__
