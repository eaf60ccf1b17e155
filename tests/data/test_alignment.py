"""A Series, DataFrame or Index is paired with the rows of the table by labels; arrays by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score, train_test_split

import treeform as tf
from treeform.data import Dataset
from treeform.data.roles import in_row_order, positions_of
from treeform.errors import CertificateError, DataError
from treeform.requirements.groups import Groups

N = 24
LABELS = pd.Index([f"r{i}" for i in range(N)])
RNG = np.random.default_rng(5)
X = pd.DataFrame({"a": RNG.integers(0, 6, N), "b": RNG.integers(0, 6, N)}, index=LABELS)
Y = pd.Series((X["a"] + RNG.integers(0, 3, N) > 3).astype(int), name="y")
W = pd.Series(RNG.integers(1, 5, N), index=LABELS)
SEX = pd.Series(RNG.choice(["f", "m"], N), index=LABELS, name="sex")


def problem(x: Any = X, y: Any = Y, w: Any = W, sex: Any = SEX) -> tf.Problem:
    asked = tf.Problem(x, y, shape="tree:2", sample_weight=w, sensitive_features=sex)
    return asked + tf.StatisticalParity(difference="0.2")


labels = st.one_of(
    st.lists(st.integers(-50, 50), min_size=1, max_size=12, unique=True),
    st.lists(st.text("abc", max_size=4), min_size=1, max_size=12, unique=True),
    st.lists(st.datetimes(), min_size=1, max_size=12, unique=True),
)


@given(labels, st.randoms())
def test_what_is_permuted_comes_back_in_order(names: list[Any], random: Any) -> None:
    order = list(range(len(names)))
    random.shuffle(order)
    index = pd.Index(names)
    values = pd.Series(np.arange(len(names)), index=index)
    assert in_row_order(values.iloc[order], index, "it", "it").tolist() == list(range(len(names)))
    assert in_row_order(values, index, "it", "it") is values
    frame = in_row_order(values.to_frame("v").iloc[order], index, "it", "it")
    assert frame["v"].tolist() == list(range(len(names)))
    assert positions_of(index[order], index) == list(range(len(names)))


@pytest.mark.parametrize("moved", ["y", "w", "sex", "all"])
def test_any_order_is_the_same_problem(moved: str) -> None:
    order = np.random.default_rng(1).permutation(N)
    plain = problem()
    changed = {
        name: value.iloc[order]
        for name, value in (("y", Y), ("w", W), ("sex", SEX))
        if moved in (name, "all")
    }
    other = problem(**changed)
    assert other.data.digest == plain.data.digest
    assert other.requirements == plain.requirements
    assert other.solve().objective == plain.solve().objective
    told = [note for note in other.data.notes if "paired by the labels" in note]
    assert len(told) == len(set(changed) & {"y", "w"})


def test_a_check_takes_any_order() -> None:
    certificate = problem().solve().certificate()
    order = np.arange(N)[::-1]
    asked = {"sample_weight": W.iloc[order], "sensitive_features": SEX.iloc[order]}
    assert tf.check(certificate, X, Y.iloc[order], **asked).ok
    with pytest.raises(CertificateError):
        tf.check(certificate, X, Y.to_numpy()[order], W, sensitive_features=SEX)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(N),
        LABELS[:-1].append(pd.Index(["other"])),
        LABELS.str.upper(),
        pd.Index([LABELS[0]] * N),
    ],
    ids=["numbers", "one other", "upper case", "one label"],
)
@pytest.mark.parametrize("what", ["y", "w", "sex"])
def test_other_labels_are_refused_with_what_to_do(what: str, index: pd.Index) -> None:
    values = {"y": Y, "w": W, "sex": SEX}[what].set_axis(index)
    with pytest.raises(DataError, match="different indices") as caught:
        problem(**{what: values})
    assert "to_numpy()" in str(caught.value.fix)
    problem(**{what: values.to_numpy()})


def test_repeated_labels_are_fine_in_one_order_and_refused_in_another() -> None:
    rows = np.array([0, 0, 1, *range(1, N)])
    drawn = (X.iloc[rows], Y.iloc[rows], W.iloc[rows], SEX.iloc[rows])
    assert problem(*drawn).data.n_samples == len(rows)
    with pytest.raises(DataError, match="labels repeat"):
        problem(drawn[0], drawn[1].iloc[::-1], drawn[2], drawn[3])


@pytest.mark.parametrize(
    "wrap", [np.asarray, list, pl.Series, lambda v: pd.Index(v.array), lambda v: v.array]
)
def test_what_has_no_labels_goes_by_position(wrap: Callable[[Any], Any]) -> None:
    assert problem(y=wrap(Y), w=wrap(W), sex=wrap(SEX)).data.digest == problem().data.digest
    bare = problem(x=pl.DataFrame(X.to_dict("list")), y=Y.iloc[:], w=wrap(W), sex=SEX.sort_values()[LABELS])
    assert bare.data.y.tolist() == Y.tolist()


def test_a_split_keeps_its_pairs() -> None:
    parts = train_test_split(X, Y, W, SEX, random_state=0)
    train, held_out = parts[::2], parts[1::2]
    data = problem(*train).data
    assert data.y.tolist() == Y[train[0].index].tolist()
    model = tf.OptimalTreeClassifier(max_depth=2).fit(train[0], train[1])
    assert model.score(held_out[0], held_out[1]) == model.score(held_out[0], held_out[1].sort_index())
    assert len(cross_val_score(model, train[0], train[1], cv=2)) == 2


@pytest.mark.parametrize("table", [X, X.assign(c=pd.Categorical(SEX))], ids=["numbers", "categories"])
def test_estimators_pair_by_labels(table: pd.DataFrame) -> None:
    requirement = [tf.StatisticalParity(groups=SEX.sort_values(), difference="0.2")]
    estimator = tf.OptimalTreeClassifier(max_depth=2, requirements=requirement)
    plain = tf.OptimalTreeClassifier(max_depth=2, requirements=[tf.StatisticalParity(difference="0.2")]).fit(
        table, Y, W, sensitive_features=SEX
    )
    moved = estimator.fit(table, Y.sort_values(), W.sort_values())
    assert moved.graph_ == plain.graph_
    assert moved.score(table, Y.sort_values(), W.sort_values()) == plain.score(table, Y, W)
    with pytest.raises(DataError, match="different indices"):
        estimator.fit(table, Y.reset_index(drop=True))
    values = tf.OptimalTreeRegressor(max_depth=1).fit(table, Y.sort_values())
    assert values.score(table, Y.sort_values()) == values.score(table, Y)
    tf.sweep(tf.OptimalTreeClassifier(), {"max_depth": [1]}, table, Y.sort_values(), cv=2)


def test_signs_and_masks_of_columns_go_by_name() -> None:
    signs = pd.Series({"b": 0, "a": 1})
    mask = pd.Series({"b": True, "a": False})
    model = tf.OptimalTreeClassifier(max_depth=1, monotonic_cst=signs, categorical_features=mask).fit(X, Y)
    same = tf.OptimalTreeClassifier(max_depth=1, monotonic_cst=[1, 0], categorical_features=["b"]).fit(X, Y)
    assert model.certificate_["problem"] == same.certificate_["problem"]
    assert model.graph_.columns == same.graph_.columns


def test_rows_by_their_labels() -> None:
    asked = tf.Problem(X, Y, shape="tree:3") + tf.MustClassifyRight(X.index[[7, 3]])
    assert asked.requirements[0].rows == (3, 7)
    for index, table in ((pd.Index(["nobody"]), X), (X.index[:2], X.to_numpy())):
        with pytest.raises(DataError):
            tf.Problem(table, Y, shape="tree:3").add(tf.MustClassifyRight(index))


def test_groups_in_a_frame_and_rows_for_a_model() -> None:
    frame = pd.DataFrame({"sex": SEX, "old": X["a"] > 2})
    data = Dataset.from_user(X, Y)
    assert Groups.of(frame.iloc[::-1], data) == Groups.of(frame, data)
    graph = tf.Problem(X, Y, shape="tree:2").solve().graph
    later = Dataset.for_model(graph.encoder, graph.classes, X, Y.iloc[::-1], W.iloc[::-1])
    assert (later.y == data.y).all() and (later.weights == W).all()
